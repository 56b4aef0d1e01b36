//! `fail`.

use std::sync::Arc;

use stellar_vm::op::Op;

use super::code::{Code, append};
use crate::tree::Stmt;

impl Code<'_, '_> {
    pub(super) fn fail(&mut self, stmt: &Stmt, text: &Arc<str>) -> Option<()> {
        let at = append(&mut self.unit.texts, text.clone());
        self.emit(Op::Fail(at), stmt.span);
        Some(())
    }
}
