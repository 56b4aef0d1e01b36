//! `wait` and `wait until`.

use stellar_vm::op::Op;

use super::code::Code;
use crate::tree::{Stmt, Until};

impl Code<'_, '_> {
    pub(super) fn wait(&mut self, stmt: &Stmt, ns: i64) -> Option<()> {
        let duration = self.duration(ns);
        self.emit(Op::Wait(duration), stmt.span);
        Some(())
    }

    pub(super) fn wait_until(&mut self, stmt: &Stmt, it: &Until, in_step: bool) -> Option<()> {
        let cond = self.expr(it.until.as_ref()?);
        let within = self.duration(it.within?);
        self.judged(stmt, in_step, Op::WaitUntil { cond, within })
    }

    pub(super) fn wait_time(&mut self, stmt: &Stmt, it: &Until, in_step: bool) -> Option<()> {
        let time = self.expr(it.until.as_ref()?);
        let within = self.duration(it.within?);
        self.judged(stmt, in_step, Op::WaitTime { time, within })
    }
}
