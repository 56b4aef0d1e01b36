//! `check`.

use stellar_vm::op::Op;

use super::code::Code;
use crate::{expr::Typed, tree::Stmt};

impl Code<'_, '_> {
    pub(super) fn check(&mut self, stmt: &Stmt, condition: &Typed, in_step: bool) -> Option<()> {
        let cond = self.expr(condition);
        self.judged(stmt, in_step, Op::Check(cond))
    }
}
