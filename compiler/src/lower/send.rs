//! `send`.

use stellar_vm::{op::Op, program};

use super::code::{Code, append, number};
use crate::tree::{Send, Stmt};

impl Code<'_, '_> {
    pub(super) fn send(&mut self, stmt: &Stmt, it: &Send) -> Option<()> {
        let (platform, telecommand) = it.telecommand?;
        let send = program::Send {
            telecommand: self.tables.telecommands.number((platform, telecommand)),
            target: number(it.target?),
            index: it.index.as_ref().map(|index| self.expr(index)),
            args: it.args.iter().map(|arg| arg.as_ref().map(|arg| self.expr(arg))).collect(),
            route: self.tables.routes.number((platform, it.route?)),
        };
        let at = append(&mut self.unit.sends, send);
        self.emit(Op::Send(at), stmt.span);
        Some(())
    }
}
