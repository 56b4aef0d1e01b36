//! `together` and its branches.

use stellar_vm::op::Op;

use super::code::Code;
use crate::tree::{Branch, Stmt};

impl Code<'_, '_> {
    pub(super) fn together(&mut self, stmt: &Stmt, branches: &[Branch]) -> Option<()> {
        let whole = self.emit(Op::Together { end: 0 }, stmt.span);
        for branch in branches {
            let at = self.emit(Op::Branch { end: 0 }, branch.header);
            self.block(&branch.body, false)?;
            let end = self.here();
            self.patch(at, Op::Branch { end });
        }
        let end = self.here();
        self.patch(whole, Op::Together { end });
        Some(())
    }
}
