//! `repeat`.

use stellar_vm::op::Op;

use super::code::Code;
use crate::tree::{Repeat, Stmt};

impl Code<'_, '_> {
    pub(super) fn repeat(&mut self, stmt: &Stmt, it: &Repeat, in_step: bool) -> Option<()> {
        let times = it.times?;
        let at = self.emit(Op::Repeat { times, end: 0 }, stmt.span);
        self.block(&it.body, in_step)?;
        let end = self.here();
        self.patch(at, Op::Repeat { times, end });
        Some(())
    }
}
