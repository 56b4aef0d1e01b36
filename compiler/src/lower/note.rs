//! `note`.

use stellar_vm::{
    op::Op,
    program::{self, Part, Template},
};

use super::code::{Code, append, number};
use crate::tree::{Piece, Stmt};

impl Code<'_, '_> {
    pub(super) fn note(&mut self, stmt: &Stmt, pieces: &[Piece]) -> Option<()> {
        let part = |piece: &Piece| match piece {
            Piece::Words(words) => Part::Text(words.clone()),
            Piece::Local(local) => Part::Local(number(*local)),
        };
        let text = Template { parts: pieces.iter().map(part).collect() };
        let at = append(&mut self.unit.notes, program::Note { text });
        self.emit(Op::Note(at), stmt.span);
        Some(())
    }
}
