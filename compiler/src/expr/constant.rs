//! Constants, and their conversion where the program is compiled.

use std::{fmt, sync::Arc};

use stellar_vm::{time::Instant, value::Value};

use super::typed::Conversion;
use crate::types::{
    Enumeration, Enumerations, Measure, Type,
    interval::{Floats, Ints},
};

/// A value that is known while compiling.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// `true`, `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number in the unit of its type.
    Float(f64),
    /// A text.
    Str(Arc<str>),
    /// Nanoseconds.
    Duration(i64),
    /// Nanoseconds of UTC since 1970.
    Time(i64),
    /// A label, by its place.
    Label(Enumeration, u32),
}

impl Constant {
    /// The value as the machine has it.
    #[must_use]
    pub fn to_vm(&self, tables: &mut dyn Enumerations) -> Value {
        match self {
            Self::Bool(value) => Value::Bool(*value),
            Self::Int(value) => Value::Int(*value),
            Self::Float(value) => Value::Float(*value),
            Self::Str(text) => Value::Str(text.clone()),
            Self::Duration(ns) => Value::Duration(*ns),
            Self::Time(ns) => Value::Time(*ns),
            Self::Label(which, label) => Value::Enum { def: tables.enumeration(which), label: *label },
        }
    }

    /// The narrowest type that it has by itself.
    #[must_use]
    pub fn ty(&self) -> Type {
        match self {
            Self::Bool(_) => Type::Bool,
            Self::Int(value) => Type::Int(Ints::one(*value)),
            Self::Float(value) => Type::Float(Measure::PLAIN, Floats::one(*value)),
            Self::Str(_) => Type::Str,
            Self::Duration(_) => Type::Duration,
            Self::Time(_) => Type::Time,
            Self::Label(which, _) => Type::Enum(which.clone()),
        }
    }

    /// The constant after a conversion; `None` where the conversion does not fit it.
    #[expect(clippy::cast_precision_loss, reason = "the machine widens to the nearest float too")]
    pub(super) fn converted(&self, conversion: &Conversion) -> Option<Self> {
        Some(match (self, conversion) {
            (Self::Int(value), Conversion::Widen) => Self::Float(*value as f64),
            (Self::Duration(ns), Conversion::Seconds) => Self::Float(seconds(*ns)),
            (Self::Float(value), Conversion::Scale { from, to }) => Self::Float(from.convert(*value, to)?),
            _ => return None,
        })
    }
}

/// Nanoseconds as seconds, rounded once.
#[expect(clippy::cast_precision_loss, reason = "the nearest float is what is asked for")]
fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

impl fmt::Display for Constant {
    /// As the language writes it, without unit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Str(text) => write!(f, "\"{text}\""),
            Self::Duration(ns) => f.write_str(&stellar_vm::time::duration_text(*ns)),
            Self::Time(ns) => write!(f, "{}", Instant { ns: *ns, scale: stellar_vm::time::Scale::Utc }),
            Self::Label(which, label) => f.write_str(which.label_at(*label).unwrap_or_default()),
        }
    }
}
