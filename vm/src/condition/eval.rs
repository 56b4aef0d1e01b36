//! The evaluation of expressions.
//!
//! Three-valued: what cannot be known is [`Operand::Unknown`] and stays so through every operation but Kleene's `and`
//! and `or`. All operands are evaluated, always: there is nothing to be saved and the reads of a condition are then the
//! same whatever its value. A range of the catalogue is not applied to samples: a reading outside of it is a reading.
//! Nothing here allocates but for an expression of more than 64 ops.

use alloc::{sync::Arc, vec};
use core::cmp::Ordering;

use super::{Expr, ExprOp, Read, SampleView, Snapshot};
use crate::{
    catalogue::{Freshness, Platform},
    program::Program,
    seeded::{self, Bug},
    time::Instant,
    value::{EnumDef, Operand, Type, Value},
};

/// What an evaluation needs to know of a parameter.
#[derive(Debug, Clone, Copy)]
pub struct Parameter<'a> {
    /// Component.
    pub component: &'a str,
    /// Range of the component's index, if it has one.
    pub index: Option<(i64, i64)>,
    /// Name within the component.
    pub name: &'a str,
    /// Type.
    pub ty: &'a Type,
    /// Greatest age at which it may be judged.
    pub freshness: Freshness,
}

/// A table of parameters that the reads of an expression index: of a program or of a platform.
pub trait Parameters {
    /// The parameter of an index.
    fn parameter(&self, index: u32) -> Option<Parameter<'_>>;
    /// The enumerations that its types refer to.
    fn enums(&self) -> &[EnumDef];
}

impl Parameters for Program {
    fn parameter(&self, index: u32) -> Option<Parameter<'_>> {
        let entry = self.parameters.get(usize::try_from(index).ok()?)?;
        Some(Parameter {
            component: &entry.component,
            index: entry.index,
            name: &entry.name,
            ty: &entry.ty,
            freshness: entry.freshness,
        })
    }

    fn enums(&self) -> &[EnumDef] {
        &self.enums
    }
}

impl Parameters for Platform {
    fn parameter(&self, index: u32) -> Option<Parameter<'_>> {
        let entry = self.parameters.get(usize::try_from(index).ok()?)?;
        let component = self.components.get(usize::try_from(entry.component).ok()?)?;
        Some(Parameter {
            component: &component.name,
            index: component.index,
            name: &entry.name,
            ty: &entry.ty,
            freshness: entry.freshness,
        })
    }

    fn enums(&self) -> &[EnumDef] {
        &self.enums
    }
}

/// From when on samples count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Since {
    /// Only those later in the order of the ground, where there is one.
    pub order: Option<u64>,
    /// Only those received at or after this.
    pub received_at: Instant,
}

impl Since {
    fn counts(&self, sample: &SampleView<'_>) -> bool {
        sample.received_at >= self.received_at && self.order.is_none_or(|order| sample.order > order)
    }
}

/// Where and when an expression is evaluated.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The parameters that its reads index.
    pub parameters: &'a dyn Parameters,
    /// Its locals.
    pub locals: &'a [Option<Value>],
    /// The target of each `uses` name.
    pub targets: &'a [Arc<str>],
    /// The samples.
    pub snapshot: &'a dyn Snapshot,
    /// The instant at which age is judged.
    pub at: Instant,
    /// From when on samples count, where not all do.
    pub since: Option<Since>,
}

/// What stands behind one read of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reading<'a> {
    /// The index of the component is unknown or outside of its range.
    NoIndex,
    /// Never received.
    Never,
    /// Received, but before it counts.
    Before(SampleView<'a>),
    /// Received, not valid.
    Invalid(SampleView<'a>),
    /// Received too long ago: its age and the greatest allowed, in nanoseconds.
    Stale(SampleView<'a>, i64, i64),
    /// No finite number, or no value of the parameter's type.
    NoValue(SampleView<'a>),
    /// Good.
    Good(SampleView<'a>),
}

/// Is told of each read of an evaluation.
pub trait Observer<'a> {
    /// A read: which, of which parameter and index of the component, and what was found.
    fn read(&mut self, read: &Read, parameter: &Parameter<'a>, index: Option<i64>, found: &Reading<'a>);
}

/// Observes nothing.
pub struct Unobserved;

impl<'a> Observer<'a> for Unobserved {
    fn read(&mut self, _: &Read, _: &Parameter<'a>, _: Option<i64>, _: &Reading<'a>) {}
}

impl Expr {
    /// The value, [`Operand::Unknown`] where it has none.
    #[must_use]
    #[inline]
    pub fn evaluate<'a>(&'a self, context: &Context<'a>) -> Operand<'a> {
        self.evaluate_observed(context, &mut Unobserved)
    }

    /// The value of an expression over names and constants alone, by the shortest way for the shapes that most have:
    /// one operand, `a op b`, `a op b op c`. `None` for any other shape, whatever its value.
    #[inline]
    pub(crate) fn evaluate_short<'a>(&'a self, locals: &'a [Option<Value>]) -> Option<Operand<'a>> {
        let leaf = |op: ExprOp| match op {
            ExprOp::Local(index) => Some(local(locals, index)),
            ExprOp::Const(index) => Some(constant(self, index)),
            _ => None,
        };
        match *self.code.as_slice() {
            [a] => leaf(a),
            [a, b, op] => short(op, leaf(a)?, leaf(b)?),
            [a, b, first, c, second] => short(second, short(first, leaf(a)?, leaf(b)?)?, leaf(c)?),
            _ => None,
        }
    }

    /// The same for whole numbers alone, whose values never leave the registers.
    #[inline]
    pub(crate) fn evaluate_ints(&self, locals: &[Option<Value>]) -> Option<Short> {
        let leaf = |op: ExprOp| match op {
            ExprOp::Local(index) => match locals.get(index as usize)? {
                Some(Value::Int(value)) => Some(*value),
                _ => None,
            },
            ExprOp::Const(index) => match self.constants.get(index as usize)? {
                Value::Int(value) => Some(*value),
                _ => None,
            },
            _ => None,
        };
        match *self.code.as_slice() {
            [a, b, op] => ints(op, leaf(a)?, leaf(b)?),
            [a, b, first, c, second] => match ints(first, leaf(a)?, leaf(b)?)? {
                Short::Int(ab) => ints(second, ab, leaf(c)?),
                Short::Bool(_) => None,
            },
            _ => None,
        }
    }

    /// The value, and each read told to `observer`.
    pub fn evaluate_observed<'a>(&'a self, context: &Context<'a>, observer: &mut impl Observer<'a>) -> Operand<'a> {
        match self.code.len() {
            0..=8 => run(self, context, observer, &mut [Operand::Unknown; 8]),
            9..=64 => run(self, context, observer, &mut [Operand::Unknown; 64]),
            more => run(self, context, observer, &mut vec![Operand::Unknown; more]),
        }
    }

    /// The outcome as a condition; `None` is unknown.
    #[must_use]
    pub fn judge(&self, context: &Context<'_>) -> Option<bool> {
        match self.evaluate(context) {
            Operand::Bool(value) => Some(value),
            _ => None,
        }
    }
}

/// A stack in a given place; what is popped from an empty one is unknown, what does not fit is dropped (neither happens
/// in a verified program).
struct Stack<'s, 'a> {
    slots: &'s mut [Operand<'a>],
    len: usize,
}

impl<'a> Stack<'_, 'a> {
    #[inline]
    fn push(&mut self, operand: Operand<'a>) {
        if let Some(slot) = self.slots.get_mut(self.len) {
            *slot = operand;
            self.len += 1;
        }
    }

    #[inline]
    fn pop(&mut self) -> Operand<'a> {
        self.len = self.len.saturating_sub(1);
        self.slots.get(self.len).copied().unwrap_or(Operand::Unknown)
    }

    /// Takes the topmost `count`, in the order in which they were pushed.
    fn pop_many(&mut self, count: u32) -> &[Operand<'a>] {
        let end = self.len;
        self.len = end.saturating_sub(usize::try_from(count).unwrap_or(usize::MAX));
        self.slots.get(self.len..end).unwrap_or(&[])
    }
}

#[inline]
fn constant(expr: &Expr, index: u32) -> Operand<'_> {
    usize::try_from(index).ok().and_then(|index| expr.constants.get(index)).map_or(Operand::Unknown, Operand::of)
}

fn run<'a>(
    expr: &'a Expr,
    context: &Context<'a>,
    observer: &mut impl Observer<'a>,
    slots: &mut [Operand<'a>],
) -> Operand<'a> {
    let mut stack = Stack { slots, len: 0 };
    for op in &expr.code {
        let result = match *op {
            ExprOp::Const(index) => constant(expr, index),
            ExprOp::Local(index) => local(context.locals, index),
            ExprOp::Read(index) => read(expr, index, context, observer, &mut stack).1,
            ExprOp::Known(index) => known(&read(expr, index, context, observer, &mut stack).0),
            ExprOp::Not => not(stack.pop()),
            ExprOp::And(count) => all(stack.pop_many(count)),
            ExprOp::Or(count) => any(stack.pop_many(count)),
            ExprOp::OneOf(count) => {
                let mut found = Operand::Bool(false);
                let values = stack.len;
                let wanted = stack.pop_many(count.saturating_add(1));
                if let Some((x, candidates)) = wanted.split_first() {
                    for candidate in candidates {
                        found = or(found, compare(*x, *candidate, Ordering::is_eq));
                    }
                }
                if values == 0 { Operand::Unknown } else { found }
            }
            ExprOp::Between => {
                let (b, a, x) = (stack.pop(), stack.pop(), stack.pop());
                and(compare(x, a, Ordering::is_ge), compare(x, b, Ordering::is_le))
            }
            ExprOp::Near => {
                let (tolerance, v, x) = (stack.pop(), stack.pop(), stack.pop());
                near(x, v, tolerance)
            }
            ExprOp::Scale(index) => {
                let (factor, offset) = (constant(expr, index), constant(expr, index.saturating_add(1)));
                add(mul(stack.pop(), factor), offset)
            }
            ExprOp::Neg | ExprOp::Widen | ExprOp::Seconds => unary(*op, stack.pop()),
            _ => {
                let b = stack.pop();
                binary(*op, stack.pop(), b)
            }
        };
        stack.push(result);
    }
    stack.pop()
}

#[inline]
fn local(locals: &[Option<Value>], index: u32) -> Operand<'_> {
    let local = usize::try_from(index).ok().and_then(|index| locals.get(index));
    local.and_then(Option::as_ref).map_or(Operand::Unknown, Operand::of)
}

/// What an op of two whole numbers gives.
#[derive(Clone, Copy)]
pub(crate) enum Short {
    Int(i64),
    Bool(bool),
}

/// An op of two whole numbers; `None` where it gives none, or is another op.
#[inline]
fn ints(op: ExprOp, a: i64, b: i64) -> Option<Short> {
    Some(match op {
        ExprOp::Add => Short::Int(a.checked_add(b)?),
        ExprOp::Sub => Short::Int(a.checked_sub(b)?),
        ExprOp::Mul => Short::Int(a.checked_mul(b)?),
        ExprOp::Is => Short::Bool(a == b),
        ExprOp::IsNot => Short::Bool(a != b),
        ExprOp::Lt => Short::Bool(a < b),
        ExprOp::Le => Short::Bool(a <= b),
        ExprOp::Gt => Short::Bool(a > b),
        ExprOp::Ge => Short::Bool(a >= b),
        _ => return None,
    })
}

/// An op of two operands; `None` for any other.
#[inline]
fn short<'a>(op: ExprOp, a: Operand<'a>, b: Operand<'a>) -> Option<Operand<'a>> {
    use ExprOp::{Add, Div, Ge, Gt, Is, IsNot, Le, Lt, Mul, Sub};
    matches!(op, Is | IsNot | Lt | Le | Gt | Ge | Add | Sub | Mul | Div).then(|| binary(op, a, b))
}

#[inline]
fn unary<'a>(op: ExprOp, a: Operand<'a>) -> Operand<'a> {
    match (op, a) {
        (ExprOp::Neg, Operand::Int(a)) => a.checked_neg().map_or(Operand::Unknown, Operand::Int),
        (ExprOp::Neg, Operand::Float(a)) => Operand::Float(-a),
        (ExprOp::Neg, Operand::Duration(a)) => a.checked_neg().map_or(Operand::Unknown, Operand::Duration),
        (ExprOp::Widen, Operand::Int(a)) => Operand::Float(a as f64),
        (ExprOp::Widen, Operand::Float(a)) => Operand::Float(a),
        (ExprOp::Seconds, Operand::Duration(a)) => Operand::Float(a as f64 / 1e9),
        _ => Operand::Unknown,
    }
}

#[inline]
fn binary<'a>(op: ExprOp, a: Operand<'a>, b: Operand<'a>) -> Operand<'a> {
    match op {
        ExprOp::Is => compare(a, b, Ordering::is_eq),
        ExprOp::IsNot => compare(a, b, Ordering::is_ne),
        ExprOp::Lt => ordered(a, b, Ordering::is_lt),
        ExprOp::Le => ordered(a, b, Ordering::is_le),
        ExprOp::Gt => ordered(a, b, Ordering::is_gt),
        ExprOp::Ge => ordered(a, b, Ordering::is_ge),
        ExprOp::Add => add(a, b),
        ExprOp::Sub => sub(a, b),
        ExprOp::Mul => mul(a, b),
        ExprOp::Div => div(a, b),
        _ => Operand::Unknown,
    }
}

/// What a read finds, and its value.
fn read<'a>(
    expr: &'a Expr,
    index: u32,
    context: &Context<'a>,
    observer: &mut impl Observer<'a>,
    stack: &mut Stack<'_, 'a>,
) -> (Reading<'a>, Operand<'a>) {
    let read = usize::try_from(index).ok().and_then(|index| expr.reads.get(index));
    let Some((read, parameter)) = read.and_then(|read| Some((read, context.parameters.parameter(read.parameter)?)))
    else {
        return (Reading::NoIndex, Operand::Unknown);
    };
    let instance = match parameter.index {
        None => Some(None),
        Some((min, max)) => match stack.pop() {
            Operand::Int(instance) if (min..=max).contains(&instance) => Some(Some(instance)),
            _ => None,
        },
    };
    let (found, value) = instance.map_or((Reading::NoIndex, Operand::Unknown), |instance| {
        let target = usize::try_from(read.target).ok().and_then(|target| context.targets.get(target));
        let sample =
            target.and_then(|target| context.snapshot.latest(target, parameter.component, instance, parameter.name));
        found(context, &parameter, sample)
    });
    observer.read(read, &parameter, instance.flatten(), &found);
    (found, value)
}

fn found<'a>(
    context: &Context<'a>,
    parameter: &Parameter<'a>,
    sample: Option<SampleView<'a>>,
) -> (Reading<'a>, Operand<'a>) {
    let Some(sample) = sample else { return (Reading::Never, Operand::Unknown) };
    if context.since.is_some_and(|since| !since.counts(&sample)) {
        return (Reading::Before(sample), Operand::Unknown);
    }
    if !sample.valid {
        return (Reading::Invalid(sample), Operand::Unknown);
    }
    if let Freshness::Within(limit) = parameter.freshness {
        let age = context.at.since(sample.received_at);
        if age > limit && !seeded::on(Bug::StaleIsJudged) {
            return (Reading::Stale(sample, age, limit), Operand::Unknown);
        }
    }
    match Operand::from_scalar(sample.value, parameter.ty, context.parameters.enums()) {
        None => (Reading::NoValue(sample), Operand::Unknown),
        Some(Operand::Float(value)) if !value.is_finite() => (Reading::NoValue(sample), Operand::Unknown),
        Some(value) => (Reading::Good(sample), value),
    }
}

/// `is known`: a valid, fresh sample, be it no number.
fn known<'a>(found: &Reading<'_>) -> Operand<'a> {
    Operand::Bool(matches!(found, Reading::Good(_) | Reading::NoValue(_)))
}

fn not(a: Operand<'_>) -> Operand<'_> {
    match a {
        Operand::Bool(a) => Operand::Bool(!a),
        _ if seeded::on(Bug::NotOfUnknown) => Operand::Bool(true),
        _ => Operand::Unknown,
    }
}

fn and<'a>(a: Operand<'_>, b: Operand<'_>) -> Operand<'a> {
    match (a, b) {
        (Operand::Bool(false), _) | (_, Operand::Bool(false)) => Operand::Bool(false),
        (Operand::Bool(true), Operand::Bool(true)) => Operand::Bool(true),
        _ => Operand::Unknown,
    }
}

fn or<'a>(a: Operand<'_>, b: Operand<'_>) -> Operand<'a> {
    match (a, b) {
        (Operand::Bool(true), _) | (_, Operand::Bool(true)) => Operand::Bool(true),
        (Operand::Bool(false), Operand::Bool(false)) => Operand::Bool(false),
        _ => Operand::Unknown,
    }
}

fn all<'a>(operands: &[Operand<'_>]) -> Operand<'a> {
    operands.iter().fold(Operand::Bool(true), |a, b| and(a, *b))
}

fn any<'a>(operands: &[Operand<'_>]) -> Operand<'a> {
    operands.iter().fold(Operand::Bool(false), |a, b| or(a, *b))
}

/// Compares by equality, or two that have an order.
#[inline]
fn compare<'a>(a: Operand<'_>, b: Operand<'_>, test: fn(Ordering) -> bool) -> Operand<'a> {
    let order = match (a, b) {
        (Operand::Bool(a), Operand::Bool(b)) => a.cmp(&b),
        (Operand::Str(a), Operand::Str(b)) => a.cmp(b),
        (Operand::Enum { def: x, label: a }, Operand::Enum { def: y, label: b }) if x == y => a.cmp(&b),
        _ => return ordered(a, b, test),
    };
    Operand::Bool(test(order))
}

/// Compares two numbers, durations or times.
#[inline]
fn ordered<'a>(a: Operand<'_>, b: Operand<'_>, test: fn(Ordering) -> bool) -> Operand<'a> {
    let order = match (a, b) {
        (Operand::Int(a), Operand::Int(b))
        | (Operand::Duration(a), Operand::Duration(b))
        | (Operand::Time(a), Operand::Time(b)) => Some(a.cmp(&b)),
        (Operand::Float(a), Operand::Float(b)) => a.partial_cmp(&b),
        (Operand::Int(a), Operand::Float(b)) => int_to_float(a, b),
        (Operand::Float(a), Operand::Int(b)) => int_to_float(b, a).map(Ordering::reverse),
        _ => None,
    };
    order.map_or(Operand::Unknown, |order| Operand::Bool(test(order)))
}

/// A whole number and a float by their exact values.
fn int_to_float(a: i64, b: f64) -> Option<Ordering> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if b.is_nan() {
        return None;
    }
    if b >= LIMIT {
        return Some(Ordering::Less);
    }
    if b < -LIMIT {
        return Some(Ordering::Greater);
    }
    let whole = b as i64;
    let fraction = b - whole as f64;
    Some(a.cmp(&whole).then(0.0_f64.partial_cmp(&fraction)?))
}

/// `X is V +- TOL`, ends included: also where the sum or the difference alone is rounded over the end.
fn near<'a>(x: Operand<'a>, v: Operand<'a>, tolerance: Operand<'a>) -> Operand<'a> {
    let inside = and(ordered(x, sub(v, tolerance), Ordering::is_ge), ordered(x, add(v, tolerance), Ordering::is_le));
    if inside != Operand::Bool(false) {
        return inside;
    }
    let distance = match ordered(x, v, Ordering::is_lt) {
        Operand::Bool(true) => sub(v, x),
        _ => sub(x, v),
    };
    or(inside, ordered(distance, tolerance, Ordering::is_le))
}

#[inline]
fn add<'a>(a: Operand<'_>, b: Operand<'_>) -> Operand<'a> {
    use Operand::{Duration, Float, Int, Time, Unknown};
    match (a, b) {
        (Int(a), Int(b)) => a.checked_add(b).map_or(Unknown, Int),
        (Float(a), Float(b)) => Operand::finite(a + b),
        (Int(a), Float(b)) | (Float(b), Int(a)) => Operand::finite(a as f64 + b),
        (Duration(a), Duration(b)) => a.checked_add(b).map_or(Unknown, Duration),
        (Time(a), Duration(b)) | (Duration(b), Time(a)) => a.checked_add(b).map_or(Unknown, Time),
        _ => Unknown,
    }
}

#[inline]
fn sub<'a>(a: Operand<'_>, b: Operand<'_>) -> Operand<'a> {
    use Operand::{Duration, Float, Int, Time, Unknown};
    match (a, b) {
        (Int(a), Int(b)) => a.checked_sub(b).map_or(Unknown, Int),
        (Float(a), Float(b)) => Operand::finite(a - b),
        (Int(a), Float(b)) => Operand::finite(a as f64 - b),
        (Float(a), Int(b)) => Operand::finite(a - b as f64),
        (Duration(a), Duration(b)) | (Time(a), Time(b)) => a.checked_sub(b).map_or(Unknown, Duration),
        (Time(a), Duration(b)) => a.checked_sub(b).map_or(Unknown, Time),
        _ => Unknown,
    }
}

#[inline]
fn mul<'a>(a: Operand<'_>, b: Operand<'_>) -> Operand<'a> {
    use Operand::{Duration, Float, Int, Unknown};
    match (a, b) {
        (Int(a), Int(b)) => a.checked_mul(b).map_or(Unknown, Int),
        (Float(a), Float(b)) => Operand::finite(a * b),
        (Int(a), Float(b)) | (Float(b), Int(a)) => Operand::finite(a as f64 * b),
        (Duration(a), Int(b)) | (Int(b), Duration(a)) => a.checked_mul(b).map_or(Unknown, Duration),
        (Duration(a), Float(b)) | (Float(b), Duration(a)) => rounded(a as f64 * b),
        _ => Unknown,
    }
}

#[inline]
fn div<'a>(a: Operand<'_>, b: Operand<'_>) -> Operand<'a> {
    use Operand::{Duration, Float, Int, Unknown};
    match (a, b) {
        (Int(a), Int(b)) => Operand::finite(a as f64 / b as f64),
        (Float(a), Float(b)) => Operand::finite(a / b),
        (Int(a), Float(b)) => Operand::finite(a as f64 / b),
        (Float(a), Int(b)) => Operand::finite(a / b as f64),
        (Duration(a), Int(b)) => exact_quotient(a, b),
        (Duration(a), Float(b)) => rounded(a as f64 / b),
        (Duration(a), Duration(b)) => Operand::finite(a as f64 / b as f64),
        _ => Unknown,
    }
}

/// A duration by a whole number, to the nearest nanosecond, halves away from zero.
fn exact_quotient<'a>(a: i64, b: i64) -> Operand<'a> {
    if b == 0 {
        return Operand::Unknown;
    }
    let (a, b) = (i128::from(a), i128::from(b));
    let half = b.abs() / 2;
    let shifted = if (a < 0) == (b < 0) { a.abs() + half } else { -(a.abs() + half) };
    i64::try_from(shifted / b.abs()).map_or(Operand::Unknown, Operand::Duration)
}

/// A number of nanoseconds as a duration, to the nearest, halves away from zero.
fn rounded<'a>(ns: f64) -> Operand<'a> {
    const LIMIT: f64 = 9_223_372_036_854_774_784.0;
    if !(-LIMIT..=LIMIT).contains(&ns) {
        return Operand::Unknown;
    }
    let nearest = if ns < 0.0 { ns - 0.5 } else { ns + 0.5 };
    Operand::Duration(nearest as i64)
}
