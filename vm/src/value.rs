//! Values and types of the language, and the untyped scalars in which values stand in JSON.
//!
//! A [`Value`] is what expressions compute with. A [`Scalar`] is how a value is written in the log, in the API and in
//! YAML: it carries no type of its own and becomes a [`Value`] only against a [`Type`]. Units are not here: every
//! quantity of a parameter is a plain number in the unit of its catalogue entry, and the compiler converts.

use alloc::{string::String, sync::Arc, vec::Vec};

use serde::{Deserialize, Serialize};

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
