//! Values and conditions. One tree for both: which is due where, is a matter of types.

use super::{Name, Text};
use crate::{span::Span, units::Unit};

/// A value or a condition. Parentheses leave no node, but the span of what they hold covers them.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `true`, `false`.
    Bool(bool),
    /// A number without unit.
    Number(Number),
    /// A number with a unit that is not one of a duration.
    Quantity(Box<Quantity>),
    /// A number and `ms`, `s`, `min`, `h` or `d`.
    Duration(Box<DurationLiteral>),
    /// A time.
    Time(Box<Time>),
    /// A text.
    Text(Text),
    /// A name, telemetry, or a label: `tcu`, `sat.tcu[tcu].mode`, `STANDBY`.
    Path(Path),
    /// `a + b - c`, two operands or more.
    Sum(Box<Chain<SumOp>>),
    /// `a * b / c`, two operands or more.
    Product(Box<Chain<ProductOp>>),
    /// A comparison.
    Compare(Box<Comparison>),
    /// `not a`.
    Not(Box<Expr>),
    /// `a and b and c`, two operands or more.
    And(Vec<Expr>),
    /// `a or b or c`, two operands or more.
    Or(Vec<Expr>),
    /// Could not be read; it has been reported.
    Error,
}

/// Operands joined by operators of one precedence, to be taken from left to right.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain<Op> {
    /// The first operand.
    pub first: Expr,
    /// The others, each with the operator before it and that operator's place. Never empty.
    pub rest: Vec<(Op, Span, Expr)>,
}

/// `+`, `-`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumOp {
    /// `+`.
    Plus,
    /// `-`.
    Minus,
}

/// `*`, `/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProductOp {
    /// `*`.
    Times,
    /// `/`.
    Over,
}

/// `LEFT TEST`.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What is compared.
    pub left: Expr,
    /// With what, and how.
    pub test: Test,
    /// The operator: `is`, `is not`, `<`, `between`, `in`, `is known`, ….
    pub operator: Span,
}

/// The right side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// `is V`, `is not V`, `is V +- TOL`. `=`, `==` and `!=` come out as this too, reported as `syntax::use-is`.
    Is {
        /// Whether `not` stands there.
        negated: bool,
        /// The value.
        value: Expr,
        /// The tolerance.
        tolerance: Option<Expr>,
    },
    /// `< V`, `<= V`, `> V`, `>= V`.
    Order {
        /// Which.
        op: OrderOp,
        /// The value.
        value: Expr,
    },
    /// `between A and B`, both ends included.
    Between {
        /// The lower end.
        low: Expr,
        /// The upper end.
        high: Expr,
    },
    /// `in [A, B, …]`.
    In {
        /// The values.
        items: Vec<Expr>,
        /// Brackets included.
        list: Span,
    },
    /// `is known`, `is not known`.
    Known {
        /// Whether `not` stands there.
        negated: bool,
    },
}

/// An ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderOp {
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
}

/// A number.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// Its value.
    pub value: NumberValue,
    /// As written, sign included and without the underscores: `0x1F`, `-2.5`, `1e-3`.
    pub text: String,
    /// Where, sign included.
    pub span: Span,
}

/// The value of a number. One with a fraction or an exponent is a float, any other an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumberValue {
    /// A whole number.
    Int(i64),
    /// The nearest finite 64-bit float.
    Float(f64),
}

impl Number {
    /// The value as a float.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a quantity is a float: the nearest one is what is asked for")]
    pub fn as_f64(&self) -> f64 {
        match self.value {
            NumberValue::Int(value) => value as f64,
            NumberValue::Float(value) => value,
        }
    }
}

/// A number with a unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// The number.
    pub number: Number,
    /// The unit.
    pub unit: UnitText,
}

/// A unit in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitText {
    /// As written: `degC`, `m/s^2`.
    pub text: String,
    /// What it stands for.
    pub unit: Unit,
    /// Where.
    pub span: Span,
}

/// A duration as a value, negative ones included. It is a quantity of time too.
#[derive(Clone, Debug, PartialEq)]
pub struct DurationLiteral {
    /// Nanoseconds, at most 365 d either way.
    pub nanos: i64,
    /// The number.
    pub number: Number,
    /// The unit.
    pub unit: UnitText,
}

/// A time: RFC 3339 with a zone. It exists in the Gregorian calendar; second 60 is let through at the end of a minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Time {
    /// Year, 0 to 9999.
    pub year: u16,
    /// Month, 1 to 12.
    pub month: u8,
    /// Day of the month, from 1.
    pub day: u8,
    /// Hour, 0 to 23.
    pub hour: u8,
    /// Minute, 0 to 59.
    pub minute: u8,
    /// Second, 0 to 60.
    pub second: u8,
    /// Nanosecond, 0 to 999,999,999.
    pub nanosecond: u32,
    /// Minutes by which the zone is ahead of UTC.
    pub offset_minutes: i16,
    /// As written.
    pub text: String,
}

/// Names joined by points, each with an index or without: `sat.tcu[tcu].mode`.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The first name.
    pub root: Segment,
    /// The names behind the points.
    pub rest: Vec<Segment>,
    /// Where, from the first name to the last name or bracket.
    pub span: Span,
}

impl Path {
    /// The name, where it is one name without index and nothing else.
    #[must_use]
    pub fn as_name(&self) -> Option<&Name> {
        (self.rest.is_empty() && self.root.index.is_none()).then_some(&self.root.name)
    }

    /// Its segments, the first one included.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        core::iter::once(&self.root).chain(&self.rest)
    }
}

/// One name of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// The name.
    pub name: Name,
    /// What stands between brackets behind it.
    pub index: Option<Box<Expr>>,
    /// Name and index, brackets included.
    pub span: Span,
}
