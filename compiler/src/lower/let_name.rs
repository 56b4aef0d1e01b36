//! `let`.

use stellar_vm::op::Op;

use super::code::{Code, number};
use crate::{
    sure::is_sure,
    tree::{Let, Stmt},
};

impl Code<'_, '_> {
    pub(super) fn let_name(&mut self, stmt: &Stmt, it: &Let, in_step: bool) -> Option<()> {
        let typed = it.value.as_ref()?;
        let value = self.expr(typed);
        // One that always has a value is no step of its own.
        self.judged(stmt, in_step || is_sure(typed), Op::Let { local: number(it.local), value })
    }
}
