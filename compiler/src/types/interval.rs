//! Ranges of numbers, and what arithmetic makes of them.
//!
//! A result is at least as wide as what can come out: a value whose range fits that of another type always fits it.

use std::fmt;

/// A range of integers, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ints {
    /// Least value.
    pub min: i64,
    /// Greatest value.
    pub max: i64,
}

/// A range of floats, both ends included; no end is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floats {
    /// Least value.
    pub min: Option<f64>,
    /// Greatest value.
    pub max: Option<f64>,
}

impl Ints {
    /// Every integer.
    pub const ALL: Self = Self { min: i64::MIN, max: i64::MAX };

    /// One integer.
    #[must_use]
    pub const fn one(value: i64) -> Self {
        Self { min: value, max: value }
    }

    /// Whether every integer of `other` is in it.
    #[must_use]
    pub const fn covers(self, other: Self) -> bool {
        self.min <= other.min && other.max <= self.max
    }

    /// Whether an integer is in it.
    #[must_use]
    pub const fn contains(self, value: i64) -> bool {
        self.min <= value && value <= self.max
    }

    /// As floats.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "the machine widens to the nearest float too")]
    pub fn widened(self) -> Floats {
        if self == Self::ALL {
            return Floats::ALL;
        }
        Floats { min: Some(self.min as f64), max: Some(self.max as f64) }
    }

    /// The range of `op` applied to one of each, where `op` is monotone in both; what overflows has no value.
    #[must_use]
    pub fn combine(self, other: Self, op: impl Fn(i64, i64) -> Option<i64>) -> Self {
        let corners = [(self.min, other.min), (self.min, other.max), (self.max, other.min), (self.max, other.max)];
        let mut range: Option<Self> = None;
        for (a, b) in corners {
            let Some(value) = op(a, b) else { return Self::ALL };
            let so_far = range.unwrap_or(Self::one(value));
            range = Some(Self { min: so_far.min.min(value), max: so_far.max.max(value) });
        }
        range.unwrap_or(Self::ALL)
    }
}

impl Floats {
    /// Every float.
    pub const ALL: Self = Self { min: None, max: None };

    /// One float.
    #[must_use]
    pub const fn one(value: f64) -> Self {
        Self { min: Some(value), max: Some(value) }
    }

    /// Whether every float of `other` is in it.
    #[must_use]
    pub fn covers(self, other: Self) -> bool {
        let below = self.min.is_none_or(|min| other.min.is_some_and(|theirs| min <= theirs));
        let above = self.max.is_none_or(|max| other.max.is_some_and(|theirs| theirs <= max));
        below && above
    }

    /// Whether a float is in it.
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        self.min.is_none_or(|min| min <= value) && self.max.is_none_or(|max| value <= max)
    }

    /// The range of `op` applied to one of each, where `op` is monotone in both.
    #[must_use]
    pub fn combine(self, other: Self, op: impl Fn(f64, f64) -> f64) -> Self {
        let (Some(a), Some(b), Some(c), Some(d)) = (self.min, self.max, other.min, other.max) else { return Self::ALL };
        let corners = [op(a, c), op(a, d), op(b, c), op(b, d)];
        if corners.iter().any(|corner| !corner.is_finite()) {
            return Self::ALL;
        }
        let min = corners.iter().copied().fold(f64::INFINITY, f64::min);
        let max = corners.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { min: Some(min), max: Some(max) }
    }

    /// The range of what stands in it, times a factor, plus a summand.
    #[must_use]
    pub fn scaled(self, factor: f64, offset: f64) -> Self {
        let end = |end: Option<f64>| end.map(|end| end * factor + offset);
        if factor < 0.0 {
            return Self { min: end(self.max), max: end(self.min) };
        }
        Self { min: end(self.min), max: end(self.max) }
    }
}

impl fmt::Display for Ints {
    /// What follows the name of a type: ` from 1 to 4`; nothing where there is no limit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (*self, self.min == self.max) {
            (Self::ALL, _) => Ok(()),
            (_, true) => write!(f, " of the value {}", self.min),
            (Self { min: i64::MIN, max }, _) => write!(f, " up to {max}"),
            (Self { min, max: i64::MAX }, _) => write!(f, " from {min}"),
            (Self { min, max }, _) => write!(f, " from {min} to {max}"),
        }
    }
}

impl fmt::Display for Floats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (None, None) => Ok(()),
            (Some(min), Some(max)) if min.total_cmp(&max).is_eq() => write!(f, " of the value {min}"),
            (Some(min), Some(max)) => write!(f, " from {min} to {max}"),
            (Some(min), None) => write!(f, " from {min}"),
            (None, Some(max)) => write!(f, " up to {max}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_follow_arithmetic() {
        let few = Ints { min: -2, max: 3 };
        assert_eq!(few.combine(few, i64::checked_add), Ints { min: -4, max: 6 });
        assert_eq!(few.combine(few, i64::checked_sub), Ints { min: -5, max: 5 });
        assert_eq!(few.combine(few, i64::checked_mul), Ints { min: -6, max: 9 });
        assert_eq!(few.combine(Ints::ALL, i64::checked_add), Ints::ALL);
        let some = Floats { min: Some(-1.0), max: Some(2.0) };
        assert_eq!(some.combine(some, |a, b| a * b), Floats { min: Some(-2.0), max: Some(4.0) });
        assert_eq!(some.scaled(-2.0, 1.0), Floats { min: Some(-3.0), max: Some(3.0) });
    }

    #[test]
    fn a_range_covers_what_is_in_it() {
        assert!(Floats::ALL.covers(Floats::one(1.0)));
        assert!(!Floats::one(1.0).covers(Floats::ALL));
        assert!(Floats { min: Some(0.0), max: None }.covers(Floats { min: Some(0.0), max: Some(1.0) }));
        assert!(!Floats { min: Some(0.0), max: None }.covers(Floats { min: None, max: Some(1.0) }));
        assert!(Ints { min: 1, max: 4 }.covers(Ints { min: 2, max: 4 }));
        assert!(!Ints { min: 1, max: 4 }.covers(Ints { min: 0, max: 4 }));
    }
}
