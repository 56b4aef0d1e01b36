//! Whether a value or condition can fail: what can, and stands directly in a procedure, is a step of its own.

use stellar_vm::condition::ExprOp;

use crate::{
    expr::{Slots, Typed},
    types::{Enumeration, Enumerations},
};

/// Tables that give out no numbers: only the shape of the code is looked at.
struct NoTables;

impl Enumerations for NoTables {
    fn enumeration(&mut self, _: &Enumeration) -> u32 {
        0
    }
}

impl Slots for NoTables {
    fn parameter(&mut self, _: u32, _: u32) -> u32 {
        0
    }
}

/// Whether a value is always known: it reads no telemetry and computes nothing that overflows or divides by zero.
pub(crate) fn is_sure(value: &Typed) -> bool {
    value.lower(&mut NoTables).code.iter().all(|op| match op {
        ExprOp::Read(_) | ExprOp::Known(_) => false,
        ExprOp::Add | ExprOp::Sub | ExprOp::Mul | ExprOp::Div | ExprOp::Neg | ExprOp::Scale(_) | ExprOp::Near => false,
        ExprOp::Const(_)
        | ExprOp::Local(_)
        | ExprOp::Not
        | ExprOp::And(_)
        | ExprOp::Or(_)
        | ExprOp::Is
        | ExprOp::IsNot
        | ExprOp::Lt
        | ExprOp::Le
        | ExprOp::Gt
        | ExprOp::Ge
        | ExprOp::Between
        | ExprOp::OneOf(_)
        | ExprOp::Widen
        | ExprOp::Seconds => true,
    })
}
