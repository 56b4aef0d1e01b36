//! `if` and `else`. Directly in a procedure a condition that can fail is judged by a step of its own.

use stellar_vm::{op::Op, value::Type};

use super::code::{Code, append, local_expr};
use crate::{
    sure::is_sure,
    tree::{If, Stmt},
};

impl Code<'_, '_> {
    pub(super) fn if_else(&mut self, stmt: &Stmt, it: &If, in_step: bool) -> Option<()> {
        let condition = it.condition.as_ref()?;
        let mut cond = self.expr(condition);
        if !in_step && !is_sure(condition) {
            let local = self.unnamed(Type::Bool);
            self.judged(stmt, false, Op::Judge { cond, local })?;
            cond = append(&mut self.unit.exprs, local_expr(local));
        }
        let at = self.emit(Op::If { cond, otherwise: 0, end: 0 }, stmt.span);
        self.block(&it.then, in_step)?;
        let otherwise = self.here();
        self.block(&it.otherwise, in_step)?;
        let end = self.here();
        self.patch(at, Op::If { cond, otherwise, end });
        Some(())
    }
}
