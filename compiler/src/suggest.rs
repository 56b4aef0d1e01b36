//! The nearest known name to one that is not known.

/// The candidate that is nearest to `name`, where one is near enough to be a slip of the pen: at most a third of its
/// characters differ (a swap of two neighbours counts one), or only upper and lower case. The first of several as near.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // What is this long is no slip, and the distance costs the product of the lengths.
    const LONGEST: usize = 128;
    let length = name.chars().count();
    if length == 0 || length > LONGEST {
        return None;
    }
    let limit = length.div_ceil(3);
    let lower = name.to_lowercase();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate.chars().count().abs_diff(length) > limit {
            continue;
        }
        let distance = if candidate.to_lowercase() == lower { 0 } else { strsim::osa_distance(name, candidate) };
        if distance <= limit && distance < length && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The help that offers the nearest known name.
#[must_use]
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(name, candidates).map(|near| format!("is it `{near}`?"))
}

/// So many findings get help of this kind: each may have to look at every name there is, and nobody reads more.
pub const MOST_HELPED: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        assert_eq!(nearest("pign", ["ping", "standby"]), Some("ping"));
        assert_eq!(nearest("standy", ["ping", "standby"]), Some("standby"));
        assert_eq!(nearest("STANDBY", ["standby"]), Some("standby"));
        assert_eq!(nearest("a", ["b"]), None);
        assert_eq!(nearest("reset", ["standby", "set_heater"]), None);
        assert_eq!(nearest("", ["a"]), None);
        assert_eq!(nearest(&"x".repeat(10_000), ["x"]), None);
    }
}
