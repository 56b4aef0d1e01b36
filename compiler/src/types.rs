//! Types of values, with units and ranges; what converts into what.
//!
//! A [`Type`] is `stellar_vm::value::Type` with its unit read and its enumeration at hand; [`Type::to_vm`] gives the
//! other. A quantity is a float in its unit. Degrees Celsius count from a zero of their own, so the difference of two
//! is kept apart from a temperature: it converts by the factor alone.

use std::{fmt, sync::Arc};

use stellar_grammar::units::{Dimension, Unit};
use stellar_vm::value::{self, EnumDef};

use crate::diagnostics::Code;

pub mod interval;

use interval::{Floats, Ints};

/// A name that is no type of the catalogue and no basic one.
pub static UNKNOWN_TYPE: Code = Code::error("name::unknown-type", "a type is not known");
/// A value of one type where another is due.
pub static MISMATCH: Code = Code::error("type::mismatch", "a value of one type stands where another is due");
/// Quantities of different dimensions, or a bare number with one.
pub static UNIT_MISMATCH: Code =
    Code::error("type::unit-mismatch", "a quantity meets one of another dimension, or a bare number");
/// A constant outside of the range of its type.
pub static OUT_OF_RANGE: Code = Code::error("type::out-of-range", "a constant is outside of the range that is due");
/// A value that may be outside of the range of the type that is due.
pub static NARROWING: Code = Code::error("type::narrowing", "a value may be outside of the range that is due");

/// The codes of this module.
pub(crate) const CODES: &[&Code] = &[&UNKNOWN_TYPE, &MISMATCH, &UNIT_MISMATCH, &OUT_OF_RANGE, &NARROWING];

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// `bool`.
    Bool,
    /// `int` in a range.
    Int(Ints),
    /// `float`, with or without a unit.
    Float(Measure, Floats),
    /// `string`.
    Str,
    /// `duration`.
    Duration,
    /// `time`.
    Time,
    /// An enumeration of the catalogue.
    Enum(Enumeration),
}

/// What a float measures.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// The unit as written; `None` for a plain number.
    pub text: Option<Arc<str>>,
    /// The unit.
    pub unit: Unit,
    /// Whether it is the difference of two quantities: then the zero of the unit does not count.
    pub difference: bool,
}

impl Measure {
    /// A plain number.
    pub const PLAIN: Self = Self { text: None, unit: Unit::NONE, difference: false };

    /// A quantity in a unit; `None` where the text is no unit.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Some(Self { text: Some(text.into()), unit: Unit::parse(text)?, difference: false })
    }

    /// Seconds.
    #[must_use]
    pub fn seconds() -> Self {
        Self::parse("s").unwrap_or(Self::PLAIN)
    }

    /// Whether it has no unit at all. A percentage has one.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        self.text.is_none()
    }

    /// Whether both measure the same.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.unit.dimension == other.unit.dimension
    }

    /// Whether it is a quantity of time.
    #[must_use]
    pub fn is_time(&self) -> bool {
        self.unit.dimension == Dimension::TIME
    }

    /// Factor and summand by which a number of this measure becomes one of `target`; `None` where the dimensions
    /// differ. Of a difference only the factor counts.
    #[must_use]
    pub fn scale_to(&self, target: &Self) -> Option<(f64, f64)> {
        let factor = self.unit.factor_to(&target.unit)?;
        let offset = if self.difference || target.difference { 0.0 } else { self.unit.convert(0.0, &target.unit)? };
        Some((factor, offset))
    }

    /// A constant of this measure in `target`, rounded once.
    #[must_use]
    pub fn convert(&self, value: f64, target: &Self) -> Option<f64> {
        if !self.difference && !target.difference {
            return self.unit.convert(value, &target.unit);
        }
        let without = |unit: &Unit| Unit { offset: 0.0, ..*unit };
        without(&self.unit).convert(value, &without(&target.unit))
    }
}

/// An enumeration: its platform and its place in the platform's table say which, the definition what it holds.
#[derive(Clone, Debug)]
pub struct Enumeration {
    /// Name of the platform.
    pub platform: Arc<str>,
    /// Index into the platform's table.
    pub index: u32,
    /// Name and labels.
    pub def: Arc<EnumDef>,
}

impl PartialEq for Enumeration {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && self.platform == other.platform
    }
}

impl Enumeration {
    /// The place of a label.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<u32> {
        let at = self.def.labels.iter().position(|(label, _)| &**label == name)?;
        u32::try_from(at).ok()
    }

    /// The label at a place.
    #[must_use]
    pub fn label_at(&self, label: u32) -> Option<&str> {
        let (name, _) = self.def.labels.get(usize::try_from(label).ok()?)?;
        Some(name)
    }

    /// Its labels, in the order of the catalogue.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.def.labels.iter().map(|(label, _)| &**label)
    }
}

/// Tables in which the numbers of a program are given out.
pub trait Enumerations {
    /// The number of an enumeration.
    fn enumeration(&mut self, which: &Enumeration) -> u32;
}

impl Type {
    /// `int` of any size.
    pub const INT: Self = Self::Int(Ints::ALL);
    /// `float` without unit.
    pub const FLOAT: Self = Self::Float(Measure::PLAIN, Floats::ALL);

    /// The basic types by name.
    pub const BASIC: [(&'static str, Self); 6] = [
        ("bool", Self::Bool),
        ("int", Self::INT),
        ("float", Self::FLOAT),
        ("string", Self::Str),
        ("duration", Self::Duration),
        ("time", Self::Time),
    ];

    /// The basic type of that name.
    #[must_use]
    pub fn basic(name: &str) -> Option<Self> {
        Self::BASIC.into_iter().find(|(basic, _)| *basic == name).map(|(_, ty)| ty)
    }

    /// Whether its values have an order.
    #[must_use]
    pub const fn is_ordered(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Float(..) | Self::Duration | Self::Time)
    }

    /// The type as the machine has it.
    #[must_use]
    pub fn to_vm(&self, tables: &mut dyn Enumerations) -> value::Type {
        match self {
            Self::Bool => value::Type::Bool,
            Self::Int(Ints { min, max }) => value::Type::Int { min: *min, max: *max },
            Self::Float(measure, range) => {
                value::Type::Float { unit: measure.text.clone(), min: range.min, max: range.max }
            }
            Self::Str => value::Type::Str,
            Self::Duration => value::Type::Duration,
            Self::Time => value::Type::Time,
            Self::Enum(which) => value::Type::Enum(tables.enumeration(which)),
        }
    }
}

impl fmt::Display for Type {
    /// As a message names it: ``` `int` from 1 to 4```, ``` `float` in `V` ```, ``` `tcu_mode` ```.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("`bool`"),
            Self::Int(range) => write!(f, "`int`{range}"),
            Self::Float(measure, range) => {
                f.write_str("`float`")?;
                if let Some(unit) = &measure.text {
                    write!(f, " in `{unit}`")?;
                }
                write!(f, "{range}")
            }
            Self::Str => f.write_str("`string`"),
            Self::Duration => f.write_str("`duration`"),
            Self::Time => f.write_str("`time`"),
            Self::Enum(which) => write!(f, "`{}`", which.def.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(text: &str) -> Measure {
        Measure::parse(text).unwrap()
    }

    #[test]
    fn a_difference_has_no_zero() {
        let degree = measure("degC");
        let kelvin = measure("K");
        assert_eq!(degree.scale_to(&kelvin), Some((1.0, 273.15)));
        assert_eq!(degree.convert(20.0, &kelvin), Some(293.15));
        let difference = Measure { difference: true, ..degree };
        assert_eq!(difference.scale_to(&kelvin), Some((1.0, 0.0)));
        assert_eq!(kelvin.convert(5.0, &difference), Some(5.0));
        assert_eq!(measure("mK").convert(5000.0, &difference), Some(5.0));
    }

    #[test]
    fn types_are_named_as_they_are_written() {
        assert_eq!(Type::Int(Ints { min: 1, max: 4 }).to_string(), "`int` from 1 to 4");
        assert_eq!(Type::INT.to_string(), "`int`");
        let range = Floats { min: Some(0.0), max: Some(20.5) };
        assert_eq!(Type::Float(measure("W"), range).to_string(), "`float` in `W` from 0 to 20.5");
        assert_eq!(
            Type::Float(measure("W"), Floats { min: None, max: Some(3.0) }).to_string(),
            "`float` in `W` up to 3"
        );
    }
}
