//! Digits to values: numbers, durations, times, texts. Nothing here knows where they stand.

use crate::ast::{NumberValue, Time};

/// A number without its sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Magnitude {
    /// At most 2^63, which only a negative number reaches.
    Int(u64),
    Float(f64),
}

/// The largest magnitude of a negative integer.
const LARGEST: u64 = 1 << 63;

/// The value of a number as it is written; `None` where the digits make no number of 64 bits.
pub(crate) fn magnitude(text: &str) -> Option<Magnitude> {
    let (digits, radix) = match text.get(..2) {
        Some("0x") => (text.get(2..)?, 16),
        Some("0b") => (text.get(2..)?, 2),
        _ => (text, 10),
    };
    let between = |end: char| digits.starts_with(end) || digits.ends_with(end);
    if digits.is_empty() || between('_') || digits.contains("__") {
        return None;
    }
    if radix == 10 && ["_.", "._", "_e", "_E", "e_", "E_"].iter().any(|pair| digits.contains(pair)) {
        return None;
    }
    let digits = without_underscores(digits);
    if radix == 10 && digits.contains(['.', 'e', 'E']) {
        return digits.parse().ok().filter(|value: &f64| value.is_finite()).map(Magnitude::Float);
    }
    // `from_str_radix` takes a sign; the lexer hands over none.
    u64::from_str_radix(&digits, radix).ok().filter(|value| *value <= LARGEST).map(Magnitude::Int)
}

/// The number as the tree keeps it: without underscores.
pub(crate) fn without_underscores(text: &str) -> String {
    text.chars().filter(|character| *character != '_').collect()
}

/// A magnitude with its sign; `None` for an integer past 64 bits.
pub(crate) fn signed(magnitude: Magnitude, negative: bool) -> Option<NumberValue> {
    Some(match magnitude {
        Magnitude::Float(value) => NumberValue::Float(if negative { -value } else { value }),
        Magnitude::Int(value) if negative => NumberValue::Int(0_i64.checked_sub_unsigned(value)?),
        Magnitude::Int(value) => NumberValue::Int(i64::try_from(value).ok()?),
    })
}

/// Why a duration is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DurationError {
    /// Past 365 d.
    TooLong,
    /// No whole number of nanoseconds.
    Inexact,
}

/// 365 d in nanoseconds.
pub(crate) const LONGEST_NANOS: i64 = 365 * 86_400 * 1_000_000_000;

/// Nanoseconds of one `ms`, `s`, `min`, `h`, `d`.
const fn nanos_of(unit: &str) -> i128 {
    match unit.as_bytes() {
        b"ms" => 1_000_000,
        b"s" => 1_000_000_000,
        b"min" => 60_000_000_000,
        b"h" => 3_600_000_000_000,
        _ => 86_400_000_000_000,
    }
}

/// `number` of `unit` in nanoseconds, by integer arithmetic alone. The number has passed [`magnitude`].
pub(crate) fn nanos(number: &str, unit: &str) -> Result<i64, DurationError> {
    let (digits, exponent) = match magnitude(number) {
        Some(Magnitude::Int(value)) => (i128::from(value), 0),
        _ => decimal(&without_underscores(number))?,
    };
    let mut nanos = digits.checked_mul(nanos_of(unit)).ok_or(DurationError::TooLong)?;
    if nanos == 0 {
        return Ok(0);
    }
    for _ in 0..exponent {
        nanos = nanos.checked_mul(10).ok_or(DurationError::TooLong)?;
    }
    for _ in exponent..0 {
        if nanos % 10 != 0 {
            return Err(DurationError::Inexact);
        }
        nanos /= 10;
    }
    i64::try_from(nanos).ok().filter(|nanos| *nanos <= LONGEST_NANOS).ok_or(DurationError::TooLong)
}

/// Digits and power of ten of a decimal number.
fn decimal(text: &str) -> Result<(i128, i64), DurationError> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let joined = format!("{whole}{fraction}");
    let digits = joined.trim_start_matches('0');
    if digits.is_empty() {
        return Ok((0, 0));
    }
    // 30 digits hold 365 d in steps far below the nanosecond: more of them are too many on the one side or the other.
    let refused = if fraction.is_empty() { DurationError::TooLong } else { DurationError::Inexact };
    if digits.len() > 30 {
        return Err(refused);
    }
    let digits = digits.parse().map_err(|_| refused)?;
    let places = i64::try_from(fraction.len()).map_err(|_| refused)?;
    // A float has passed with this exponent, so a large one is negative: it leaves less than a nanosecond.
    let exponent: i64 = exponent.parse().map_err(|_| DurationError::Inexact)?;
    Ok((digits, exponent.clamp(-400, 400) - places))
}

/// A time of RFC 3339 with its zone; `None` where it is none, or where the calendar does not have it.
pub(crate) fn time(text: &str) -> Option<Time> {
    let (date, rest) = text.split_once(['T', 't'])?;
    let [year, month, day] = fields(date, '-', [4, 2, 2])?;
    let zone = rest.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = rest.split_at_checked(zone)?;
    let (clock, nanosecond) = match clock.split_once('.') {
        Some((clock, fraction)) => (clock, nanoseconds(fraction)?),
        None => (clock, 0),
    };
    let [hour, minute, second] = fields(clock, ':', [2, 2, 2])?;
    let offset_minutes = offset(zone)?;
    let exists = (1..=12).contains(&month)
        && (1..=days_in(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !exists {
        return None;
    }
    Some(Time {
        year,
        month: u8::try_from(month).ok()?,
        day: u8::try_from(day).ok()?,
        hour: u8::try_from(hour).ok()?,
        minute: u8::try_from(minute).ok()?,
        second: u8::try_from(second).ok()?,
        nanosecond,
        offset_minutes,
        text: text.to_owned(),
    })
}

fn fields<const N: usize>(text: &str, separator: char, widths: [usize; N]) -> Option<[u16; N]> {
    let mut parts = text.split(separator);
    let mut values = [0; N];
    for (value, width) in values.iter_mut().zip(widths) {
        let part = parts.next()?;
        if part.len() != width || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *value = part.parse().ok()?;
    }
    parts.next().is_none().then_some(values)
}

/// Nanoseconds of a fraction of a second with one to nine digits.
fn nanoseconds(fraction: &str) -> Option<u32> {
    let known = (1..=9).contains(&fraction.len()) && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if known { format!("{fraction:0<9}").parse().ok() } else { None }
}

fn offset(zone: &str) -> Option<i16> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let [hours, minutes] = fields(zone.get(1..)?, ':', [2, 2])?;
    if hours > 23 || minutes > 59 {
        return None;
    }
    let minutes = i16::try_from(hours * 60 + minutes).ok()?;
    Some(if zone.starts_with('-') { -minutes } else { minutes })
}

const fn days_in(year: u16, month: u16) -> u16 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}

/// One character of a text: what it stands for, and where it is written, counted from the opening quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// `None` for an escape that means nothing.
    pub(crate) character: Option<char>,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) escaped: bool,
}

/// The characters of a text as it is written, its quotes left out.
pub(crate) fn characters(written: &str) -> Vec<Written> {
    let inner = written.get(1..).unwrap_or_default();
    let mut found = Vec::with_capacity(inner.len());
    let mut rest = inner.char_indices().peekable();
    while let Some((at, character)) = rest.next() {
        let start = at + 1;
        match character {
            '"' => break,
            '\\' => {
                let (character, length) = escape(inner.get(at..).unwrap_or_default());
                while rest.peek().is_some_and(|(next, _)| *next < at + length) {
                    rest.next();
                }
                found.push(Written { character, start, end: start + length, escaped: true });
            }
            _ => found.push(Written {
                character: Some(character),
                start,
                end: start + character.len_utf8(),
                escaped: false,
            }),
        }
    }
    found
}

/// The character that the escape at the beginning of `text` stands for, and how many bytes it takes.
fn escape(text: &str) -> (Option<char>, usize) {
    let Some(kind) = text.chars().nth(1) else { return (None, 1) };
    match kind {
        '"' | '\\' => (Some(kind), 2),
        'n' => (Some('\n'), 2),
        't' => (Some('\t'), 2),
        'u' => {
            let digits = text.get(2..).and_then(|rest| rest.strip_prefix('{')).and_then(|rest| rest.split_once('}'));
            match digits {
                Some((digits, _)) if digits.len() <= 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                    (u32::from_str_radix(digits, 16).ok().and_then(char::from_u32), digits.len() + 4)
                }
                _ => (None, 2),
            }
        }
        _ => (None, 1 + kind.len_utf8()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_exact_or_refused() {
        for (number, unit, expected) in [
            ("200", "ms", Ok(200_000_000)),
            ("1.5", "s", Ok(1_500_000_000)),
            ("0.1", "s", Ok(100_000_000)),
            ("0.000000001", "s", Ok(1)),
            ("1.50000000000000000000000000000000000000000000", "s", Ok(1_500_000_000)),
            ("1e-3", "s", Ok(1_000_000)),
            ("0x10", "s", Ok(16_000_000_000)),
            ("1_000", "ms", Ok(1_000_000_000)),
            ("0", "d", Ok(0)),
            ("0.0e-350", "d", Ok(0)),
            ("365", "d", Ok(LONGEST_NANOS)),
            ("8760.0", "h", Ok(LONGEST_NANOS)),
            ("31536000.000000001", "s", Err(DurationError::TooLong)),
            ("365.1", "d", Err(DurationError::TooLong)),
            ("9223372036854775807", "d", Err(DurationError::TooLong)),
            ("1e300", "s", Err(DurationError::TooLong)),
            ("0.0000000001", "s", Err(DurationError::Inexact)),
            ("1.0000000000000000000000000000000000001", "s", Err(DurationError::Inexact)),
            ("1e-99999999999999999999", "s", Err(DurationError::Inexact)),
        ] {
            assert_eq!(nanos(number, unit), expected, "{number} {unit}");
        }
    }

    #[test]
    fn integers_reach_both_ends() {
        let most = magnitude("9223372036854775808").unwrap();
        assert_eq!(signed(most, true), Some(NumberValue::Int(i64::MIN)));
        assert_eq!(signed(most, false), None);
        assert_eq!(magnitude("9223372036854775809"), None);
        assert_eq!(magnitude("0x1F"), Some(Magnitude::Int(31)));
        assert_eq!(magnitude("0b1010"), Some(Magnitude::Int(10)));
        assert_eq!(magnitude("1_000"), Some(Magnitude::Int(1000)));
        assert_eq!(magnitude("2.5e1"), Some(Magnitude::Float(25.0)));
        for text in ["", "0x", "_1", "1_", "1__0", "1_.0", "0x_1", "1e999"] {
            assert_eq!(magnitude(text), None, "{text}");
        }
    }

    #[test]
    fn times_exist_in_the_calendar() {
        for text in [
            "2026-10-02T10:15:00Z",
            "2024-02-29t00:00:00z",
            "2016-12-31T23:59:60Z",
            "2026-10-02T10:15:00.123456789+02:30",
        ] {
            assert!(time(text).is_some(), "{text}");
        }
        for text in [
            "2026-10-02",
            "2026-10-02T10:15:00",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-10-02T24:00:00Z",
            "2026-10-02T10:15Z",
            "2026-10-02T10:15:00.Z",
            "2026-10-02T10:15:00.1234567891Z",
            "2026-10-02T10:15:00+2:00",
            "2026-10-02T10:15:00Zulu",
        ] {
            assert!(time(text).is_none(), "{text}");
        }
        let early = time("2026-10-02T10:15:00.5-02:30").unwrap();
        assert_eq!((early.nanosecond, early.offset_minutes), (500_000_000, -150));
    }

    #[test]
    fn escapes_stand_for_characters() {
        let text =
            |written: &str| -> Option<String> { characters(written).into_iter().map(|one| one.character).collect() };
        assert_eq!(text(r#""a \"b\" \\ \n \t \u{e9}""#).as_deref(), Some("a \"b\" \\ \n \t é"));
        assert_eq!(text("\"open").as_deref(), Some("open"));
        for written in [r#""\x""#, r#""\u{}""#, r#""\u{110000}""#, r#""\u{d800}""#, r#""\u00e9""#, "\"\\"] {
            assert_eq!(text(written), None, "{written}");
        }
    }
}
