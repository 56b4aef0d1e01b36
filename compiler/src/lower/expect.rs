//! `expect`.

use stellar_vm::{op::Op, program};

use super::code::{Code, append};
use crate::tree::{Expect, Stmt};

impl Code<'_, '_> {
    pub(super) fn expect(&mut self, stmt: &Stmt, it: &Expect) -> Option<()> {
        let cond = self.expr(it.condition.as_ref()?);
        let held = match &it.held {
            Some(held) => Some(held.nanos?),
            None => None,
        };
        let at = append(&mut self.unit.expects, program::Expect { cond, held, within: it.within? });
        self.emit(Op::Expect(at), stmt.span);
        Some(())
    }
}
