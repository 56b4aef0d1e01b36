//! The types and stack heights of expressions, by one pass over the code of each.

use alloc::vec::Vec;

use super::{
    VerifyError, entry,
    scopes::{Scopes, Stretch},
    told,
};
use crate::{
    condition::{Expr, ExprOp, Read},
    op::ExprId,
    program::{Program, Unit},
    value::{Type, Value},
};

/// A type as far as code goes: without range and unit, which are judged when a value is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Bool,
    Int,
    Float,
    Str,
    Duration,
    Time,
    Enum(u32),
}

impl Shape {
    /// The shape of a type.
    pub(super) fn of(ty: &Type) -> Self {
        match ty {
            Type::Bool => Self::Bool,
            Type::Int { .. } => Self::Int,
            Type::Float { .. } => Self::Float,
            Type::Str => Self::Str,
            Type::Duration => Self::Duration,
            Type::Time => Self::Time,
            Type::Enum(def) => Self::Enum(*def),
        }
    }

    /// The shape of a value.
    pub(super) fn of_value(value: &Value) -> Self {
        match value {
            Value::Bool(_) => Self::Bool,
            Value::Int(_) => Self::Int,
            Value::Float(_) => Self::Float,
            Value::Str(_) => Self::Str,
            Value::Duration(_) => Self::Duration,
            Value::Time(_) => Self::Time,
            Value::Enum { def, .. } => Self::Enum(*def),
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::Float)
    }

    /// Whether two values can be equal or not.
    fn is_like(self, other: Self) -> bool {
        self == other || (self.is_number() && other.is_number())
    }

    fn is_ordered(self) -> bool {
        self.is_number() || matches!(self, Self::Duration | Self::Time)
    }
}

/// What is known of an expression of a unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checked {
    /// Shape of its value.
    pub(super) shape: Shape,
    /// Where the locals that it reads are assigned.
    pub(super) stretch: Stretch,
    /// Whether it reads telemetry.
    pub(super) reads: bool,
    /// Whether it can be unknown although it reads no telemetry.
    pub(super) computes: bool,
}

impl Checked {
    /// Whether its value is always known, without asking telemetry.
    pub(super) fn is_sure(&self) -> bool {
        !self.reads && !self.computes
    }
}

/// What is known of the expressions of a unit.
pub(super) struct Exprs(Vec<Checked>);

impl Exprs {
    /// By index; `None` for one that does not exist.
    pub(super) fn get(&self, id: ExprId) -> Option<Checked> {
        entry(&self.0, id).copied()
    }
}

/// Checks every expression of a unit.
pub(super) fn check(program: &Program, unit: &Unit, scopes: &Scopes) -> Result<Exprs, VerifyError> {
    let platform = |target: u32| entry(&unit.targets, target).map(|target| target.platform);
    let local = |local: u32| entry(&unit.locals, local).map(|def| (Shape::of(&def.ty), scopes.local(local)));
    let mut checked = Vec::with_capacity(unit.exprs.len());
    for (at, expr) in unit.exprs.iter().enumerate() {
        let found = of(program, expr, &platform, &local).map_err(|what| {
            let place = alloc::format!("{}, expression {at}", told(unit.kind, &unit.name));
            VerifyError::malformed(&place, what)
        })?;
        checked.push(found);
    }
    Ok(Exprs(checked))
}

/// Checks a condition of the catalogue: local 0 is the component's index, where it has one; the target is 0.
pub(super) fn condition(program: &Program, expr: &Expr, platform: u32, indexed: bool) -> Result<(), &'static str> {
    let target = |target: u32| (target == 0).then_some(platform);
    let local = |local: u32| (local == 0 && indexed).then_some((Shape::Int, Stretch::ALL));
    match of(program, expr, &target, &local)?.shape {
        Shape::Bool => Ok(()),
        _ => Err("a condition is not true or false"),
    }
}

/// Checks one expression, given the platform of each target and the shape and scope of each local.
fn of(
    program: &Program,
    expr: &Expr,
    platform: &dyn Fn(u32) -> Option<u32>,
    local: &dyn Fn(u32) -> Option<(Shape, Stretch)>,
) -> Result<Checked, &'static str> {
    for constant in &expr.constants {
        super::tables::value(program, constant)?;
    }
    let mut stack = Stack(Vec::new());
    let mut checked = Checked { shape: Shape::Bool, stretch: Stretch::ALL, reads: false, computes: false };
    for op in &expr.code {
        match *op {
            ExprOp::Const(at) => {
                let value = entry(&expr.constants, at).ok_or("a constant does not exist")?;
                stack.0.push(Shape::of_value(value));
            }
            ExprOp::Local(at) => {
                let (shape, stretch) = local(at).ok_or("a local does not exist")?;
                checked.stretch = checked.stretch.and(stretch);
                stack.0.push(shape);
            }
            ExprOp::Read(at) | ExprOp::Known(at) => {
                let read = *entry(&expr.reads, at).ok_or("a read does not exist")?;
                let shape = stack.read(program, read, platform)?;
                stack.0.push(if matches!(op, ExprOp::Known(_)) { Shape::Bool } else { shape });
                checked.reads = true;
            }
            other => {
                checked.computes |= can_be_unknown(other);
                stack.apply(expr, other)?;
            }
        }
    }
    match stack.0.as_slice() {
        &[shape] => Ok(Checked { shape, ..checked }),
        _ => Err("an expression does not leave one value"),
    }
}

/// Whether an op can give unknown of known operands: arithmetic overflows or divides by zero.
fn can_be_unknown(op: ExprOp) -> bool {
    matches!(op, ExprOp::Add | ExprOp::Sub | ExprOp::Mul | ExprOp::Div | ExprOp::Neg | ExprOp::Scale(_) | ExprOp::Near)
}

const MISTYPED: &str = "an operation has operands of the wrong type";

/// The shapes of the values on the stack.
struct Stack(Vec<Shape>);

impl Stack {
    fn pop(&mut self) -> Result<Shape, &'static str> {
        self.0.pop().ok_or("an operation has too few operands")
    }

    /// Pops so many operands, the last pushed last.
    fn pop_all(&mut self, count: u32) -> Result<Vec<Shape>, &'static str> {
        let count = usize::try_from(count).ok();
        let keep =
            count.and_then(|count| self.0.len().checked_sub(count)).ok_or("an operation has too few operands")?;
        Ok(self.0.split_off(keep))
    }

    /// A read: pops the index where the parameter has one, and tells the parameter's shape.
    fn read(
        &mut self,
        program: &Program,
        read: Read,
        platform: &dyn Fn(u32) -> Option<u32>,
    ) -> Result<Shape, &'static str> {
        let parameter = entry(&program.parameters, read.parameter).ok_or("a parameter does not exist")?;
        if platform(read.target).ok_or("a target does not exist")? != parameter.platform {
            return Err("a parameter is read from a target of another platform");
        }
        if parameter.index.is_some() && self.pop()? != Shape::Int {
            return Err("an index is no whole number");
        }
        Ok(Shape::of(&parameter.ty))
    }

    fn apply(&mut self, expr: &Expr, op: ExprOp) -> Result<(), &'static str> {
        let result = match op {
            ExprOp::Not => (self.pop()? == Shape::Bool).then_some(Shape::Bool),
            ExprOp::And(count) | ExprOp::Or(count) => {
                let all = self.pop_all(count)?.iter().all(|shape| *shape == Shape::Bool);
                (count >= 2 && all).then_some(Shape::Bool)
            }
            ExprOp::Is | ExprOp::IsNot => {
                let (b, a) = (self.pop()?, self.pop()?);
                a.is_like(b).then_some(Shape::Bool)
            }
            ExprOp::Lt | ExprOp::Le | ExprOp::Gt | ExprOp::Ge => {
                let (b, a) = (self.pop()?, self.pop()?);
                (a.is_like(b) && a.is_ordered()).then_some(Shape::Bool)
            }
            ExprOp::Between => {
                let (b, a, x) = (self.pop()?, self.pop()?, self.pop()?);
                (x.is_ordered() && x.is_like(a) && x.is_like(b)).then_some(Shape::Bool)
            }
            ExprOp::OneOf(count) => {
                let values = self.pop_all(count)?;
                let x = self.pop()?;
                (count >= 1 && values.iter().all(|value| x.is_like(*value))).then_some(Shape::Bool)
            }
            ExprOp::Near => {
                let (tolerance, value, x) = (self.pop()?, self.pop()?, self.pop()?);
                near(x, value, tolerance).then_some(Shape::Bool)
            }
            ExprOp::Add | ExprOp::Sub | ExprOp::Mul | ExprOp::Div => {
                let (b, a) = (self.pop()?, self.pop()?);
                arithmetic(op, a, b)
            }
            ExprOp::Neg => Some(self.pop()?).filter(|shape| shape.is_number() || *shape == Shape::Duration),
            ExprOp::Widen => (self.pop()? == Shape::Int).then_some(Shape::Float),
            ExprOp::Scale(at) => {
                let next = at.checked_add(1).ok_or("a constant does not exist")?;
                let pair = (entry(&expr.constants, at), entry(&expr.constants, next));
                let (Some(Value::Float(_)), Some(Value::Float(_))) = pair else {
                    return Err("a conversion has no factor or no offset");
                };
                (self.pop()? == Shape::Float).then_some(Shape::Float)
            }
            ExprOp::Seconds => (self.pop()? == Shape::Duration).then_some(Shape::Float),
            ExprOp::Const(_) | ExprOp::Local(_) | ExprOp::Read(_) | ExprOp::Known(_) => None,
        };
        self.0.push(result.ok_or(MISTYPED)?);
        Ok(())
    }
}

/// `X is V +- TOL`: three numbers, three durations, or two times and a duration.
fn near(x: Shape, value: Shape, tolerance: Shape) -> bool {
    x.is_like(value)
        && match x {
            Shape::Int | Shape::Float => tolerance.is_number(),
            Shape::Duration | Shape::Time => tolerance == Shape::Duration,
            Shape::Bool | Shape::Str | Shape::Enum(_) => false,
        }
}

/// The shape of a sum, difference, product or quotient.
fn arithmetic(op: ExprOp, a: Shape, b: Shape) -> Option<Shape> {
    use Shape::{Duration, Float, Int, Time};
    match (op, a, b) {
        (ExprOp::Add | ExprOp::Sub, a, b) if a == b && (a.is_number() || a == Duration) => Some(a),
        (ExprOp::Add, Time, Duration) | (ExprOp::Add, Duration, Time) | (ExprOp::Sub, Time, Duration) => Some(Time),
        (ExprOp::Sub, Time, Time) => Some(Duration),
        (ExprOp::Mul, Int, Int) => Some(Int),
        (ExprOp::Mul, a, b) if a.is_number() && b.is_number() => Some(Float),
        (ExprOp::Mul, Duration, number) | (ExprOp::Mul, number, Duration) if number.is_number() => Some(Duration),
        (ExprOp::Div, Duration, Duration) => Some(Float),
        (ExprOp::Div, Duration, number) if number.is_number() => Some(Duration),
        (ExprOp::Div, a, b) if a.is_number() && b.is_number() => Some(Float),
        _ => None,
    }
}

/// Checks that a value has a type, its range included.
pub(super) fn fits(program: &Program, value: &Value, ty: &Type) -> Result<(), &'static str> {
    super::tables::value(program, value)?;
    let inside = match (ty, value) {
        (Type::Int { min, max }, Value::Int(value)) => min <= value && value <= max,
        (Type::Float { min, max, .. }, Value::Float(value)) => {
            min.is_none_or(|min| min <= *value) && max.is_none_or(|max| *value <= max)
        }
        (ty, value) => Shape::of(ty) == Shape::of_value(value),
    };
    if inside { Ok(()) } else { Err("a value does not fit its type") }
}
