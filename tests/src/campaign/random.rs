//! Draws from a seed: the same seed, the same draws (SplitMix64).

/// A sequence of draws.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The draws of a seed.
    #[must_use]
    pub const fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number less than `limit`; 0 where that is 0.
    pub const fn below(&mut self, limit: u64) -> u64 {
        if limit == 0 { 0 } else { self.next() % limit }
    }

    /// Yes, `of_hundred` times of a hundred.
    pub const fn chance(&mut self, of_hundred: u64) -> bool {
        self.below(100) < of_hundred
    }

    /// One of these; `None` where there is none.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let place = self.below(of.len() as u64);
        of.get(usize::try_from(place).unwrap_or(0))
    }
}
