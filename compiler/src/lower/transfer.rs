//! `transfer`.

use stellar_vm::{
    op::Op,
    program::{self, Part, Template},
};

use super::code::{Code, append, number};
use crate::tree::{Stmt, Transfer};

impl Code<'_, '_> {
    pub(super) fn transfer(&mut self, stmt: &Stmt, it: &Transfer) -> Option<()> {
        let (platform, component) = it.component?;
        let component = self.tables.catalogue.get(platform)?.component_at(component)?;
        let transfer = program::Transfer {
            file: Template { parts: vec![Part::Text(it.file.clone())] },
            target: number(it.target?),
            component: component.name.clone(),
            component_index: component.index,
            index: it.index.as_ref().map(|index| self.expr(index)),
            within: it.within?,
        };
        let at = append(&mut self.unit.transfers, transfer);
        self.emit(Op::Transfer(at), stmt.span);
        Some(())
    }
}
