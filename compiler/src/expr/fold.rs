//! Constants folded, for the checks that need their value. The rules are the machine's.

use std::cmp::Ordering;

use stellar_grammar::Span;
use stellar_vm::condition::ExprOp;

use super::{
    Constant, Typed,
    typed::{Arithmetic, Node},
};
use crate::types::Type;

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
    match constants.and_then(|constants| outcome(op, &constants)) {
        Some(value) => boolean(value, span),
        None => Typed::new(Node::Test(op, operands), Type::Bool, span),
    }
}

fn outcome(op: ExprOp, operands: &[&Constant]) -> Option<bool> {
    match (op, operands) {
        (ExprOp::Is, [a, b]) => equal(a, b),
        (ExprOp::IsNot, [a, b]) => equal(a, b).map(|equal| !equal),
        (ExprOp::Lt, [a, b]) => order(a, b).map(Ordering::is_lt),
        (ExprOp::Le, [a, b]) => order(a, b).map(Ordering::is_le),
        (ExprOp::Gt, [a, b]) => order(a, b).map(Ordering::is_gt),
        (ExprOp::Ge, [a, b]) => order(a, b).map(Ordering::is_ge),
        (ExprOp::Between, [x, low, high]) => Some(order(low, x)?.is_le() && order(x, high)?.is_le()),
        (ExprOp::OneOf(_), [x, items @ ..]) => {
            let equal: Option<Vec<bool>> = items.iter().map(|item| equal(x, item)).collect();
            equal.map(|equal| equal.contains(&true))
        }
        // The machine decides on which side the tolerance is rounded.
        _ => None,
    }
}

fn equal(a: &Constant, b: &Constant) -> Option<bool> {
    match (a, b) {
        (Constant::Bool(a), Constant::Bool(b)) => Some(a == b),
        (Constant::Str(a), Constant::Str(b)) => Some(a == b),
        (Constant::Label(which, a), Constant::Label(other, b)) if which == other => Some(a == b),
        _ => order(a, b).map(Ordering::is_eq),
    }
}

/// The order of two constants of one type that has an order.
pub(super) fn order(a: &Constant, b: &Constant) -> Option<Ordering> {
    match (a, b) {
        (Constant::Int(a), Constant::Int(b))
        | (Constant::Duration(a), Constant::Duration(b))
        | (Constant::Time(a), Constant::Time(b)) => Some(a.cmp(b)),
        (Constant::Float(a), Constant::Float(b)) => a.partial_cmp(b),
        _ => None,
    }
}

/// What arithmetic makes of two constants.
pub(super) enum Folded {
    /// A value.
    Value(Constant),
    /// It overflows, or divides by zero.
    Overflow,
    /// It is left to the machine.
    Later,
}

/// Arithmetic on two constants of types that fit.
pub(super) fn arithmetic(op: Arithmetic, a: &Constant, b: &Constant) -> Folded {
    let checked = |value: Option<i64>, make: fn(i64) -> Constant| match value {
        Some(value) => Folded::Value(make(value)),
        None => Folded::Overflow,
    };
    match (op, a, b) {
        (Arithmetic::Add, Constant::Int(a), Constant::Int(b)) => checked(a.checked_add(*b), Constant::Int),
        (Arithmetic::Sub, Constant::Int(a), Constant::Int(b)) => checked(a.checked_sub(*b), Constant::Int),
        (Arithmetic::Mul, Constant::Int(a), Constant::Int(b)) => checked(a.checked_mul(*b), Constant::Int),
        (_, Constant::Float(a), Constant::Float(b)) => {
            let value = match op {
                Arithmetic::Add => a + b,
                Arithmetic::Sub => a - b,
                Arithmetic::Mul => a * b,
                Arithmetic::Div => a / b,
            };
            if value.is_finite() { Folded::Value(Constant::Float(value)) } else { Folded::Overflow }
        }
        (Arithmetic::Add, Constant::Duration(a), Constant::Duration(b)) => {
            checked(a.checked_add(*b), Constant::Duration)
        }
        (Arithmetic::Sub, Constant::Duration(a), Constant::Duration(b)) => {
            checked(a.checked_sub(*b), Constant::Duration)
        }
        (Arithmetic::Mul, Constant::Duration(a), Constant::Int(b))
        | (Arithmetic::Mul, Constant::Int(a), Constant::Duration(b)) => checked(a.checked_mul(*b), Constant::Duration),
        (Arithmetic::Add, Constant::Time(a), Constant::Duration(b))
        | (Arithmetic::Add, Constant::Duration(a), Constant::Time(b)) => checked(a.checked_add(*b), Constant::Time),
        (Arithmetic::Sub, Constant::Time(a), Constant::Duration(b)) => checked(a.checked_sub(*b), Constant::Time),
        (Arithmetic::Sub, Constant::Time(a), Constant::Time(b)) => checked(a.checked_sub(*b), Constant::Duration),
        (Arithmetic::Div, _, Constant::Int(0) | Constant::Duration(0)) => Folded::Overflow,
        (Arithmetic::Div, _, Constant::Float(zero)) if zero.abs().to_bits() == 0 => Folded::Overflow,
        _ => Folded::Later,
    }
}
