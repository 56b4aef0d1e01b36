//! `procedure::held-too-long`: `held for H within D` with H longer than D can never be satisfied.

use stellar_grammar::ast::StmtKind;

use super::{Shape, syntax};
use crate::{
    diagnostics::{Code, Diagnostic},
    source::Place,
};

pub(super) static CODE: Code =
    Code::error("procedure::held-too-long", "a condition is to hold for longer than the window in which it is judged");

pub(super) fn check(shape: &Shape<'_>, out: &mut Vec<Diagnostic>) {
    syntax::statements(shape, &mut |stmt, _| {
        let StmtKind::Expect(expect) = &stmt.kind else { return };
        let Some(held) = &expect.held else { return };
        let Some((long, window)) = held.nanos.zip(expect.within.nanos) else { return };
        if long > window {
            let place = |span| Place::new(shape.file, span);
            out.push(
                Diagnostic::new(&CODE, place(held.span), "the condition is to hold for longer than its window")
                    .here("for this long")
                    .label(place(expect.within.span), "by then")
                    .help("make the window at least as long as the condition has to hold"),
            );
        }
    });
}
