//! `ask`.

use stellar_vm::{
    op::Op,
    program::{self, Part, Template},
};

use super::code::{Code, append, number};
use crate::tree::{Ask, Stmt};

impl Code<'_, '_> {
    pub(super) fn ask(&mut self, stmt: &Stmt, it: &Ask, in_step: bool) -> Option<()> {
        let ask = program::Ask {
            text: Template { parts: vec![Part::Text(it.text.clone())] },
            choices: it.choices.clone(),
            within: it.within?,
            local: it.local.map(number),
        };
        let at = append(&mut self.unit.asks, ask);
        self.judged(stmt, in_step, Op::Ask(at))
    }
}
