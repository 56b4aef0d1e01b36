//! Values and types of the language, and the untyped scalars in which values stand in JSON.
//!
//! A [`Value`] is what expressions compute with. A [`Scalar`] is how a value is written in the log, in the API and in
//! YAML: it carries no type of its own and becomes a [`Value`] only against a [`Type`]. Units are not here: every
//! quantity of a parameter is a plain number in the unit of its catalogue entry, and the compiler converts.

use alloc::{string::String, sync::Arc, vec::Vec};
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::time::{Instant, Scale, duration_text, parse_duration};

/// A value, typed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number, in the unit of the parameter, argument or input it belongs to.
    Float(f64),
    /// A text.
    Str(Arc<str>),
    /// A duration in nanoseconds.
    Duration(i64),
    /// An instant of UTC, in nanoseconds since 1970-01-01T00:00:00Z (as POSIX counts, without leap seconds).
    Time(i64),
    /// A label of an enumeration, by its number in the table of enumerations and by the label's place in it.
    Enum {
        /// Index into the table of enumerations (of the program or of the platform).
        def: u32,
        /// Index into [`EnumDef::labels`].
        label: u32,
    },
}

/// The type of an input, name, parameter or argument.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Type {
    /// `bool`.
    Bool,
    /// `int`, with its inclusive range; `int` alone is the whole range of `i64`.
    Int {
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
    },
    /// `float`, with its unit as written in the catalogue and its inclusive range.
    Float {
        /// Unit as written, `None` for a plain number.
        unit: Option<Arc<str>>,
        /// Least value.
        min: Option<f64>,
        /// Greatest value.
        max: Option<f64>,
    },
    /// `string`.
    Str,
    /// `duration`.
    Duration,
    /// `time`.
    Time,
    /// An enumeration, by its index in the table of enumerations.
    Enum(u32),
}

/// An enumeration of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnumDef {
    /// Name of the type in the catalogue, or the dotted place of an anonymous one.
    pub name: Arc<str>,
    /// Labels with the number each stands for on the link, in the order of the catalogue.
    pub labels: Vec<(Arc<str>, i64)>,
}

/// A value as it stands in JSON: no type of its own.
///
/// NaN and the infinities are the texts `"NaN"`, `"inf"` and `"-inf"`; an enumeration is its label; a duration is the
/// text of the language with the unit `ns`, `ms`, `s`… (`"1500 ms"`); a time is RFC 3339.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number; only finite ones are written so.
    Float(f64),
    /// Any other value, as text.
    Str(String),
}

impl Value {
    /// The value that a scalar stands for, read as a type; the range is not looked at (see [`Value::fits`]).
    ///
    /// A whole number is read where a float is asked for, and a float without fraction where a whole number is; an
    /// enumeration is read by its label alone.
    #[must_use]
    pub fn from_scalar(scalar: &Scalar, ty: &Type, enums: &[EnumDef]) -> Option<Self> {
        Some(match Operand::from_scalar(scalar, ty, enums)? {
            Operand::Unknown => return None,
            Operand::Bool(value) => Self::Bool(value),
            Operand::Int(value) => Self::Int(value),
            Operand::Float(value) => Self::Float(value),
            Operand::Str(value) => Self::Str(Arc::from(value)),
            Operand::Duration(value) => Self::Duration(value),
            Operand::Time(value) => Self::Time(value),
            Operand::Enum { def, label } => Self::Enum { def, label },
        })
    }

    /// The value as a scalar.
    #[must_use]
    pub fn to_scalar(&self, enums: &[EnumDef]) -> Scalar {
        match self {
            Self::Bool(value) => Scalar::Bool(*value),
            Self::Int(value) => Scalar::Int(*value),
            Self::Float(value) => Scalar::from_float(*value),
            Self::Str(value) => Scalar::Str(String::from(&**value)),
            Self::Duration(ns) => Scalar::Str(duration_text(*ns)),
            Self::Time(ns) => Scalar::Str(alloc::format!("{}", Instant { ns: *ns, scale: Scale::Utc })),
            Self::Enum { def, label } => Scalar::Str(label_of(enums, *def, *label).into()),
        }
    }

    /// Whether the value is of a type and within its range; a whole number fits a float.
    #[must_use]
    pub fn fits(&self, ty: &Type) -> bool {
        match (self, ty) {
            (Self::Bool(_), Type::Bool)
            | (Self::Str(_), Type::Str)
            | (Self::Duration(_), Type::Duration)
            | (Self::Time(_), Type::Time) => true,
            (Self::Int(value), Type::Int { min, max }) => (min..=max).contains(&value),
            (Self::Float(value), Type::Float { min, max, .. }) => float_fits(*value, *min, *max),
            (Self::Int(value), Type::Float { min, max, .. }) => float_fits(*value as f64, *min, *max),
            (Self::Enum { def, .. }, Type::Enum(wanted)) => def == wanted,
            _ => false,
        }
    }

    /// The value in words: as its scalar, with the unit of its type.
    #[must_use]
    pub fn text(&self, ty: &Type, enums: &[EnumDef]) -> String {
        self.to_scalar(enums).text(ty)
    }
}

fn float_fits(value: f64, min: Option<f64>, max: Option<f64>) -> bool {
    value.is_finite() && min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max)
}

/// The label of an enumeration by its place; empty where there is none.
fn label_of(enums: &[EnumDef], def: u32, label: u32) -> &str {
    let entry = usize::try_from(def).ok().and_then(|def| enums.get(def));
    let label = usize::try_from(label).ok().and_then(|label| entry?.labels.get(label));
    label.map_or("", |(name, _)| name)
}

impl Scalar {
    /// A number as a scalar: a text where JSON has no number for it.
    #[must_use]
    pub fn from_float(value: f64) -> Self {
        if value.is_finite() {
            return Self::Float(value);
        }
        Self::Str(String::from(match (value.is_nan(), value > 0.0) {
            (true, _) => "NaN",
            (false, true) => "inf",
            (false, false) => "-inf",
        }))
    }

    /// The scalar in words, with the unit of its type.
    #[must_use]
    pub fn text(&self, ty: &Type) -> String {
        match ty {
            Type::Float { unit: Some(unit), .. } => alloc::format!("{self} {unit}"),
            _ => alloc::format!("{self}"),
        }
    }
}

impl fmt::Display for Scalar {
    /// As JSON writes it, a text without its quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Str(value) => f.write_str(value),
        }
    }
}

/// A value on the stack of an evaluation: copied freely, borrowed from where it stands; or unknown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operand<'a> {
    /// Unknown: a missing, stale or invalid sample, a number that is none, arithmetic without result.
    Unknown,
    /// See [`Value::Bool`].
    Bool(bool),
    /// See [`Value::Int`].
    Int(i64),
    /// See [`Value::Float`]; finite where an evaluation made it.
    Float(f64),
    /// See [`Value::Str`].
    Str(&'a str),
    /// See [`Value::Duration`].
    Duration(i64),
    /// See [`Value::Time`].
    Time(i64),
    /// See [`Value::Enum`].
    Enum {
        /// The enumeration.
        def: u32,
        /// The label's place.
        label: u32,
    },
}

impl<'a> Operand<'a> {
    /// The operand of a value; a number that is not finite is unknown.
    #[must_use]
    #[inline]
    pub fn of(value: &'a Value) -> Self {
        match value {
            Value::Bool(value) => Self::Bool(*value),
            Value::Int(value) => Self::Int(*value),
            Value::Float(value) => Self::finite(*value),
            Value::Str(value) => Self::Str(value),
            Value::Duration(value) => Self::Duration(*value),
            Value::Time(value) => Self::Time(*value),
            Value::Enum { def, label } => Self::Enum { def: *def, label: *label },
        }
    }

    /// A float, unknown where it is not finite.
    #[must_use]
    #[inline]
    pub fn finite(value: f64) -> Self {
        if value.is_finite() { Self::Float(value) } else { Self::Unknown }
    }

    /// The value, if it is known.
    #[must_use]
    #[inline]
    pub fn value(self) -> Option<Value> {
        Some(match self {
            Self::Unknown => return None,
            Self::Bool(value) => Value::Bool(value),
            Self::Int(value) => Value::Int(value),
            Self::Float(value) => Value::Float(value),
            Self::Str(value) => Value::Str(Arc::from(value)),
            Self::Duration(value) => Value::Duration(value),
            Self::Time(value) => Value::Time(value),
            Self::Enum { def, label } => Value::Enum { def, label },
        })
    }

    /// The operand that a scalar stands for, read as a type; `None` where it is no value of the type. Numbers that are
    /// not finite are read as they are.
    #[must_use]
    pub fn from_scalar(scalar: &'a Scalar, ty: &Type, enums: &[EnumDef]) -> Option<Self> {
        Some(match (ty, scalar) {
            (Type::Bool, Scalar::Bool(value)) => Self::Bool(*value),
            (Type::Int { .. }, Scalar::Int(value)) => Self::Int(*value),
            (Type::Int { .. }, Scalar::Float(value)) => Self::Int(whole(*value)?),
            (Type::Float { .. }, Scalar::Float(value)) => Self::Float(*value),
            (Type::Float { .. }, Scalar::Int(value)) => Self::Float(*value as f64),
            (Type::Float { .. }, Scalar::Str(text)) => Self::Float(match text.as_str() {
                "NaN" => f64::NAN,
                "inf" => f64::INFINITY,
                "-inf" => f64::NEG_INFINITY,
                _ => return None,
            }),
            (Type::Str, Scalar::Str(text)) => Self::Str(text),
            (Type::Duration, Scalar::Str(text)) => Self::Duration(parse_duration(text)?),
            (Type::Time, Scalar::Str(text)) => {
                Self::Time(text.parse::<Instant>().ok().filter(|at| at.scale == Scale::Utc)?.ns)
            }
            (Type::Enum(def), Scalar::Str(text)) => {
                let entry = enums.get(usize::try_from(*def).ok()?)?;
                let label = entry.labels.iter().position(|(name, _)| **name == **text)?;
                Self::Enum { def: *def, label: u32::try_from(label).ok()? }
            }
            _ => return None,
        })
    }
}

/// A float without fraction as a whole number.
fn whole(value: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let int = (-LIMIT..LIMIT).contains(&value).then_some(value as i64)?;
    let back = int as f64;
    (back == value).then_some(int)
}
