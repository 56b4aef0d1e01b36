//! Random numbers of one seed: splitmix64, the same everywhere.

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub(super) struct Rng(u64);

impl Rng {
    /// The stream of a seed and what it is for.
    pub(super) fn new(parts: &[u64]) -> Self {
        let mut rng = Self(0x9e37_79b9_7f4a_7c15);
        for part in parts {
            rng.0 ^= part.wrapping_mul(0xd134_2543_de82_ef95);
            rng.next();
        }
        rng
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.below(usize::try_from(high - low + 1).unwrap())).unwrap()
    }

    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}
