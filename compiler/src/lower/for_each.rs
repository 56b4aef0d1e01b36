//! `for each`.

use stellar_vm::{op::Op, program};

use super::code::{Code, append, number};
use crate::tree::{ForEach, Sequence, Stmt};

impl Code<'_, '_> {
    pub(super) fn for_each(&mut self, stmt: &Stmt, it: &ForEach, in_step: bool) -> Option<()> {
        let over = match it.over.as_ref()? {
            Sequence::Range(low, high) => program::Sequence::Range(*low, *high),
            Sequence::List(items) => {
                program::Sequence::List(items.iter().map(|item| item.to_vm(self.tables)).collect())
            }
        };
        let each = append(&mut self.unit.loops, program::ForEach { local: number(it.local), over });
        let at = self.emit(Op::ForEach { each, end: 0 }, stmt.span);
        self.block(&it.body, in_step)?;
        let end = self.here();
        self.patch(at, Op::ForEach { each, end });
        Some(())
    }
}
