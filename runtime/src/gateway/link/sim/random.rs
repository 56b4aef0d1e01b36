//! Chance without state: a number for each seed and place, the same whenever it is asked for.

/// A number from 0 (included) to 1 (excluded).
pub(super) fn unit(seed: u64, place: &[u64]) -> f64 {
    let mut state = mix(seed);
    for part in place {
        state = mix(state ^ mix(*part));
    }
    // The 53 bits that a float holds exactly.
    (state >> 11) as f64 / (1_u64 << 53) as f64
}

/// A number for a text.
pub(super) fn of_text(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |state, byte| mix(state ^ u64::from(byte)))
}

/// SplitMix64.
fn mix(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_even_enough_and_the_same_each_time() {
        let numbers: Vec<f64> = (0..10_000).map(|place| unit(7, &[place])).collect();
        assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
        let mean = numbers.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
        assert_eq!(unit(7, &[3]).to_bits(), numbers[3].to_bits());
        assert_ne!(unit(8, &[3]).to_bits(), numbers[3].to_bits());
        assert_ne!(of_text("A"), of_text("B"));
    }
}
