//! An inline `step`.

use stellar_vm::{op::Op, program};

use super::code::{Code, append};
use crate::{
    policy::Given,
    tree::{InlineStep, Stmt},
};

impl Code<'_, '_> {
    pub(super) fn step(&mut self, stmt: &Stmt, it: &InlineStep) -> Option<()> {
        let step = program::InlineStep {
            name: it.name.clone(),
            written: true,
            policy: Given::of(it.retry.as_ref()).policy(),
            claims: self.figures.part(stmt.keyword)?.claims?,
        };
        let step = append(&mut self.unit.steps, step);
        let at = self.emit(Op::Step { step, end: 0 }, stmt.span);
        self.block(&it.body, true)?;
        let end = self.here();
        self.patch(at, Op::Step { step, end });
        Some(())
    }
}
