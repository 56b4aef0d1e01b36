//! The table of units: SI and accepted units with prefixes, their products and quotients.
//!
//! A factor to SI is an exact fraction, times powers of ten and of π, so that a conversion between two units rounds
//! once. The table is used by the lexer (a word that is no unit is not fused with a number), by the compiler
//! (dimensions and conversions) and by the reference manual.

use core::{f64::consts::PI, fmt};

mod table;

pub use table::{BINARY_PREFIXES, DECIMAL_PREFIXES, Prefix, Prefixes, UNITS, UnitDef};

/// What a unit measures: exponents of the base units, in the order of [`Dimension::NAMES`].
///
/// Angles, information and levels are bases of their own: a degree is no bit and no plain number.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dimension {
    /// The exponents.
    pub exponents: [i8; 11],
}

impl Dimension {
    /// The base units, in the order of the exponents.
    pub const NAMES: [&'static str; 11] = ["m", "kg", "s", "A", "K", "mol", "cd", "rad", "bit", "dBm", "dB"];
    /// No dimension: a plain number, a percentage.
    pub const NONE: Self = Self { exponents: [0; 11] };
    /// That of a duration.
    pub const TIME: Self = Self { exponents: [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0] };

    /// `self` times `other` to the power `by`; `None` past the range of an exponent.
    fn and(self, other: Self, by: i8) -> Option<Self> {
        let mut exponents = self.exponents;
        for (mine, theirs) in exponents.iter_mut().zip(other.exponents) {
            *mine = mine.checked_add(theirs.checked_mul(by)?)?;
        }
        Some(Self { exponents })
    }
}

impl fmt::Display for Dimension {
    /// The product of base units: `m*kg*s^-2`, and `1` for none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (name, exponent) in Self::NAMES.iter().zip(self.exponents).filter(|(_, exponent)| *exponent != 0) {
            f.write_str(if first { "" } else { "*" })?;
            f.write_str(name)?;
            first = false;
            if exponent != 1 {
                write!(f, "^{exponent}")?;
            }
        }
        if first { f.write_str("1") } else { Ok(()) }
    }
}

impl fmt::Debug for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// How much of the SI unit of its dimension a unit is: `numerator / denominator * 10^ten * π^pi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Above the line.
    pub numerator: u64,
    /// Below the line, never 0.
    pub denominator: u64,
    /// Power of ten.
    pub ten: i16,
    /// Power of π.
    pub pi: i8,
}

impl Scale {
    /// One to one.
    pub const ONE: Self = Self { numerator: 1, denominator: 1, ten: 0, pi: 0 };

    const fn inverse(self) -> Option<Self> {
        let (Some(ten), Some(pi)) = (self.ten.checked_neg(), self.pi.checked_neg()) else { return None };
        if self.numerator == 0 {
            return None;
        }
        Some(Self { numerator: self.denominator, denominator: self.numerator, ten, pi })
    }

    fn times(self, other: Self) -> Option<Self> {
        let above = u128::from(self.numerator).checked_mul(u128::from(other.numerator))?;
        let below = u128::from(self.denominator).checked_mul(u128::from(other.denominator))?;
        let divisor = greatest_common_divisor(above, below);
        Some(Self {
            numerator: u64::try_from(above.checked_div(divisor)?).ok()?,
            denominator: u64::try_from(below.checked_div(divisor)?).ok()?,
            ten: self.ten.checked_add(other.ten)?,
            pi: self.pi.checked_add(other.pi)?,
        })
    }

    /// `value` of this scale in ones. Rounds the product and the quotient, no more, while the powers of ten are small.
    #[expect(clippy::cast_precision_loss, reason = "the table's fractions are far below 2^53")]
    fn apply(self, value: f64) -> f64 {
        let ten = 10_f64.powi(i32::from(self.ten).abs());
        let pi = PI.powi(i32::from(self.pi).abs());
        let mut above = value * self.numerator as f64;
        let mut below = self.denominator as f64;
        if self.ten > 0 {
            above *= ten
        } else {
            below *= ten
        }
        if self.pi > 0 {
            above *= pi
        } else {
            below *= pi
        }
        above / below
    }
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a.checked_rem(b).unwrap_or_default());
    }
    a
}

/// A unit: one of the table, with or without a prefix, or a product or quotient of such.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// What it measures.
    pub dimension: Dimension,
    /// How much of the SI unit it is.
    pub scale: Scale,
    /// What is added after scaling to come to the SI unit: 273.15 for `degC`, else 0.
    pub offset: f64,
}

impl Unit {
    /// The unit of a plain number.
    pub const NONE: Self = Self { dimension: Dimension::NONE, scale: Scale::ONE, offset: 0.0 };

    /// Reads a unit as it is written in a procedure or in a catalogue: `V`, `mV`, `deg/s`, `m/s^2`, `N*m`, without
    /// spaces. `None` where a word in it is no unit, or where it is past what a unit can be.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut unit: Option<Self> = None;
        let mut rest = text;
        let mut sign: i8 = 1;
        loop {
            let end = rest.find(['*', '/']).unwrap_or(rest.len());
            let (factor, behind) = rest.split_at_checked(end)?;
            let (word, power) = match factor.split_once('^') {
                Some((word, power)) => (word, parse_power(power)?),
                None => (factor, 1),
            };
            let word = Self::word(word)?;
            let power = power.checked_mul(sign)?;
            unit = Some(match unit {
                None if power == 1 => word,
                None => Self::NONE.and(word, power)?,
                Some(before) => before.and(word, power)?,
            });
            let mut characters = behind.chars();
            match characters.next() {
                None => return unit,
                Some('/') => sign = -1,
                Some(_) => sign = 1,
            }
            rest = characters.as_str();
        }
    }

    /// One word of the table, with or without a prefix: `V`, `mV`, `KiB`. A whole symbol goes before a prefixed one.
    #[must_use]
    pub fn word(word: &str) -> Option<Self> {
        if let Some(def) = UNITS.iter().find(|def| def.symbol == word) {
            return Some(def.unit());
        }
        UNITS.iter().find_map(|def| {
            let prefix = word.strip_suffix(def.symbol)?;
            let scale = def.prefixes.scale_of(prefix)?;
            Some(Self { scale: def.scale.times(scale)?, ..def.unit() })
        })
    }

    fn and(self, other: Self, power: i8) -> Option<Self> {
        let factor = if power < 0 { other.scale.inverse()? } else { other.scale };
        let mut scale = self.scale;
        for _ in 0..power.unsigned_abs() {
            scale = scale.times(factor)?;
        }
        Some(Self { dimension: self.dimension.and(other.dimension, power)?, scale, offset: 0.0 })
    }

    /// The factor by which a difference in this unit is multiplied to be one in `target`; `None` where the dimensions
    /// differ. Offsets do not enter: a difference of 1 degC is one of 1 K.
    #[must_use]
    pub fn factor_to(&self, target: &Self) -> Option<f64> {
        Some(self.ratio_to(target)?.apply(1.0))
    }

    /// `value` of this unit in `target`, offsets included: 0 degC is 273.15 K. `None` where the dimensions differ.
    #[must_use]
    pub fn convert(&self, value: f64, target: &Self) -> Option<f64> {
        let ratio = self.ratio_to(target)?;
        if self.offset.total_cmp(&target.offset).is_eq() {
            return Some(ratio.apply(value));
        }
        let in_si = self.scale.apply(value) + self.offset;
        Some(target.scale.inverse()?.apply(in_si - target.offset))
    }

    fn ratio_to(&self, target: &Self) -> Option<Scale> {
        if self.dimension != target.dimension {
            return None;
        }
        self.scale.times(target.scale.inverse()?)
    }
}

fn parse_power(text: &str) -> Option<i8> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || digits.len() > 2 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(text: &str) -> Unit {
        Unit::parse(text).unwrap_or_else(|| panic!("{text} is a unit"))
    }

    fn convert(value: f64, from: &str, to: &str) -> f64 {
        unit(from).convert(value, &unit(to)).unwrap_or_else(|| panic!("{from} goes into {to}"))
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "these conversions are exact, and have to stay so")]
    fn conversions_round_once() {
        assert_eq!(convert(27_500.0, "mV", "V"), 27.5);
        assert_eq!(convert(0.1, "V", "mV"), 100.0);
        assert_eq!(convert(1.0, "rpm", "deg/s"), 6.0);
        assert_eq!(convert(90.0, "km/h", "m/s"), 25.0);
        assert_eq!(convert(12.0, "%", "ppm"), 120_000.0);
        assert_eq!(convert(2.0, "KiB", "bit"), 16_384.0);
        assert_eq!(convert(20.0, "degC", "K"), 293.15);
        assert_eq!(convert(180.0, "deg", "rad"), PI);
        assert_eq!(convert(1.0, "kN*m", "J"), 1000.0);
        assert_eq!(unit("degC").factor_to(&unit("mK")), Some(1000.0));
    }

    #[test]
    fn unlike_dimensions_do_not_convert() {
        for (from, to) in [("V", "A"), ("deg", "%"), ("bit", "%"), ("dBm", "W"), ("dB", "dBm"), ("Hz", "rad/s")] {
            assert_eq!(unit(from).convert(1.0, &unit(to)), None, "{from} to {to}");
        }
    }

    #[test]
    fn derived_units_agree_with_their_products() {
        for (derived, product) in [
            ("N", "kg*m/s^2"),
            ("Pa", "N/m^2"),
            ("J", "N*m"),
            ("W", "J/s"),
            ("C", "A*s"),
            ("V", "W/A"),
            ("F", "C/V"),
            ("ohm", "V/A"),
            ("S", "A/V"),
            ("Wb", "V*s"),
            ("T", "Wb/m^2"),
            ("H", "Wb/A"),
            ("lx", "lm/m^2"),
            ("Gy", "J/kg"),
            ("Hz", "s^-1"),
            ("Wh", "W*h"),
            ("Ah", "A*h"),
            ("L", "dm^3"),
        ] {
            assert_eq!(unit(derived).factor_to(&unit(product)), Some(1.0), "{derived} is {product}");
        }
    }

    #[test]
    fn words_that_are_no_unit() {
        for text in
            ["", "sat", "at", "as", "times", "Ks^", "V/", "/s", "V^0x", "m^100", "mmin", "V V", "in", "is", "to"]
        {
            assert_eq!(Unit::parse(text), None, "{text}");
        }
        let endless = vec!["m"; 200].join("*");
        assert_eq!(Unit::parse(&endless), None);
    }

    #[test]
    fn every_symbol_stands_for_itself() {
        for def in UNITS {
            assert_eq!(Unit::word(def.symbol), Some(def.unit()), "{}", def.symbol);
        }
    }
}
