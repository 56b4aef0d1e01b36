//! `do` and `run`.

use stellar_vm::{
    op::Op,
    program::{self, Kind},
};

use super::code::{Code, append, number};
use crate::{
    policy::Given,
    tree::{Call, Stmt},
};

impl Code<'_, '_> {
    pub(super) fn call(&mut self, stmt: &Stmt, it: &Call) -> Option<()> {
        // Inputs that can fail come first: they are steps of their own.
        let inputs = it.inputs.iter().map(|input| input.as_ref().map(|input| self.sure(input, stmt.span))).collect();
        let call = program::Call {
            unit: number(it.callee?),
            targets: it.targets.iter().map(|target| target.map(number)).collect::<Option<_>>()?,
            inputs,
            policy: Given::of(it.retry.as_ref()).policy(),
            claims: self.figures.part(stmt.keyword)?.claims?,
        };
        let at = append(&mut self.unit.calls, call);
        self.emit(if it.kind == Kind::Step { Op::Do(at) } else { Op::Run(at) }, stmt.span);
        Some(())
    }
}
