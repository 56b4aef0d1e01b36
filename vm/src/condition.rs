//! Expressions and their three-valued evaluation.
//!
//! An [`Expr`] is code for a small stack machine, complete in itself: its constants and the parameters that it reads
//! stand beside it, so that a condition of the catalogue and one of a procedure are one thing. Evaluation is pure: the
//! samples come from a [`Snapshot`], the names from the caller.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{
    time::Instant,
    value::{Scalar, Value},
};

mod describe;
mod eval;

pub use describe::{describe, sample_text};
pub(crate) use eval::Short;
pub use eval::{Context, Observer, Parameter, Parameters, Reading, Since, Unobserved};

/// The latest samples, as something that holds them tells of them: telemetry of a target, an archive, a list.
pub trait Snapshot {
    /// The latest sample of a parameter, if there ever was one.
    ///
    /// `target` is the name of the target itself (`sim-1`), `index` is that of the component, where it has one.
    fn latest(&self, target: &str, component: &str, index: Option<i64>, name: &str) -> Option<SampleView<'_>>;
}

/// One sample, borrowed from where it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleView<'a> {
    /// Value.
    pub value: &'a Scalar,
    /// Ground reception time, on the run's clock.
    pub received_at: Instant,
    /// Place in the one order of releases and samples as the ground received them.
    pub order: u64,
    /// Whether the sample is valid.
    pub valid: bool,
}

/// An expression: postfix code with its constants and reads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Expr {
    /// The code; leaves exactly one value.
    pub code: Vec<ExprOp>,
    /// Constants.
    pub constants: Vec<Value>,
    /// Parameters read.
    pub reads: Vec<Read>,
}

/// A parameter that an expression reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Read {
    /// Which target: the place of the `uses` name in its definition; 0 in a condition of the catalogue.
    pub target: u32,
    /// Which parameter: an index into the program's `parameters`, or into the platform's in a condition of the catalogue.
    pub parameter: u32,
}

/// One instruction of an expression.
///
/// In a condition of the catalogue, local 0 is the index of the component, where it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExprOp {
    /// Pushes a constant.
    Const(u32),
    /// Pushes a local.
    Local(u32),
    /// Pushes the value of a read; pops the index first, where the component has one.
    Read(u32),
    /// Pushes whether a read has a valid, fresh sample; pops the index first, likewise.
    Known(u32),
    /// Kleene's not.
    Not,
    /// Kleene's and, of this many operands (two or more).
    And(u32),
    /// Kleene's or, of this many operands (two or more).
    Or(u32),
    /// Equality. Integers and floats compare as numbers.
    Is,
    /// Its negation; unknown stays unknown.
    IsNot,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
    /// `X between A and B`, ends included: pops B, A, X.
    Between,
    /// `X in [..]` of this many values, pushed after X.
    OneOf(u32),
    /// `X is V +- TOL`, ends included: pops TOL, V, X.
    Near,
    /// Sum: int, float, duration of equal types; time + duration, duration + time.
    Add,
    /// Difference: likewise; time - time is a duration, time - duration a time.
    Sub,
    /// Product of numbers; of a duration and a number a duration.
    Mul,
    /// Quotient of numbers, a float; of a duration by a number a duration; of two durations a float.
    Div,
    /// Negation of a number or duration.
    Neg,
    /// Int to float.
    Widen,
    /// Float to float: times the constant (a float), plus the next constant (a float): conversion between units.
    Scale(u32),
    /// Duration to a float of the seconds it lasts.
    Seconds,
}

const _: () = assert!(core::mem::size_of::<ExprOp>() <= 16, "an op is 16 bytes or less");
