//! Constants folded, for the checks that need their value. What an operation makes of them, the machine itself says.

use stellar_grammar::Span;
use stellar_vm::{
    condition::{Context, Expr, ExprOp, Parameter, Parameters, SampleView, Snapshot},
    time::Instant,
    value::{EnumDef, Operand, Value},
};

use super::{
    Constant, Typed,
    typed::{Arithmetic, Node},
};
use crate::types::{Enumeration, Enumerations, Type};

fn boolean(value: bool, span: Span) -> Typed {
    Typed::constant_of(Constant::Bool(value), span)
}

fn truth(typed: &Typed) -> Option<bool> {
    match typed.constant() {
        Some(Constant::Bool(value)) => Some(*value),
        _ => None,
    }
}

/// `not`.
pub(super) fn not(inner: Typed, span: Span) -> Typed {
    match truth(&inner) {
        Some(value) => boolean(!value, span),
        None => Typed::new(Node::Not(Box::new(inner)), Type::Bool, span),
    }
}

/// `and`: false as soon as one operand is.
pub(super) fn all(operands: Vec<Typed>, span: Span) -> Typed {
    if operands.iter().any(|operand| truth(operand) == Some(false)) {
        return boolean(false, span);
    }
    if operands.iter().all(|operand| truth(operand) == Some(true)) {
        return boolean(true, span);
    }
    Typed::new(Node::All(operands), Type::Bool, span)
}

/// `or`: true as soon as one operand is.
pub(super) fn any(operands: Vec<Typed>, span: Span) -> Typed {
    if operands.iter().any(|operand| truth(operand) == Some(true)) {
        return boolean(true, span);
    }
    if operands.iter().all(|operand| truth(operand) == Some(false)) {
        return boolean(false, span);
    }
    Typed::new(Node::Any(operands), Type::Bool, span)
}

/// A comparison of operands of one type.
pub(super) fn test(op: ExprOp, operands: Vec<Typed>, span: Span) -> Typed {
    let constants: Option<Vec<&Constant>> = operands.iter().map(Typed::constant).collect();
    match constants.and_then(|constants| computed(op, &constants)) {
        Some(Constant::Bool(value)) => boolean(value, span),
        _ => Typed::new(Node::Test(op, operands), Type::Bool, span),
    }
}

/// Arithmetic on two constants of types that fit; `None` where it overflows or divides by zero.
pub(super) fn arithmetic(op: Arithmetic, a: &Constant, b: &Constant) -> Option<Constant> {
    computed(op.code(), &[a, b])
}

/// Whether one constant is greater than another of its type.
pub(super) fn is_greater(a: &Constant, b: &Constant) -> bool {
    computed(ExprOp::Gt, &[a, b]) == Some(Constant::Bool(true))
}

/// What the machine makes of constants by one operation; `None` where that is unknown. Never a label.
fn computed(op: ExprOp, operands: &[&Constant]) -> Option<Constant> {
    let constants: Vec<Value> = operands.iter().map(|operand| operand.to_vm(&mut Own)).collect();
    let code = (0_u32..).zip(operands).map(|(at, _)| ExprOp::Const(at)).chain([op]).collect();
    let expr = Expr { code, constants, reads: Vec::new() };
    let context = Context {
        parameters: &Nothing,
        locals: &[],
        targets: &[],
        snapshot: &Nothing,
        at: Instant::default(),
        since: None,
    };
    Some(match expr.evaluate(&context) {
        Operand::Bool(value) => Constant::Bool(value),
        Operand::Int(value) => Constant::Int(value),
        Operand::Float(value) => Constant::Float(value),
        Operand::Str(text) => Constant::Str(text.into()),
        Operand::Duration(ns) => Constant::Duration(ns),
        Operand::Time(ns) => Constant::Time(ns),
        Operand::Unknown | Operand::Enum { .. } => return None,
    })
}

/// No telemetry: constants read none.
struct Nothing;

impl Parameters for Nothing {
    fn parameter(&self, _: u32) -> Option<Parameter<'_>> {
        None
    }

    fn enums(&self) -> &[EnumDef] {
        &[]
    }
}

impl Snapshot for Nothing {
    fn latest(&self, _: &str, _: &str, _: Option<i64>, _: &str) -> Option<SampleView<'_>> {
        None
    }
}

/// Labels are compared with those of one enumeration only: any number tells it from itself.
struct Own;

impl Enumerations for Own {
    fn enumeration(&mut self, which: &Enumeration) -> u32 {
        which.index
    }
}
