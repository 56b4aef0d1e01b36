//! `procedure::statement-outside-step`: `send`, `expect`, `transfer` and `fail` stand in steps only; calls, inline steps
//! and `together` directly in procedures only.

use stellar_grammar::ast::StmtKind;

use super::{
    Shape,
    syntax::{self, Within},
};
use crate::{
    diagnostics::{Code, Diagnostic},
    source::Place,
};

pub(super) static CODE: Code = Code::error(
    "procedure::statement-outside-step",
    "a statement of steps stands directly in a procedure, or one of procedures in a step",
);

/// Whether a statement may not stand where it does.
pub(crate) fn is_misplaced(kind: &StmtKind, in_step: bool) -> bool {
    match kind {
        StmtKind::Send(_) | StmtKind::Expect(_) | StmtKind::Transfer(_) | StmtKind::Fail(_) => !in_step,
        StmtKind::Call(_) | StmtKind::Step(_) | StmtKind::Together(_) => in_step,
        _ => false,
    }
}

pub(super) fn check(shape: &Shape<'_>, out: &mut Vec<Diagnostic>) {
    let text_of = |kind: &StmtKind| match kind {
        StmtKind::Send(_) => "send",
        StmtKind::Expect(_) => "expect",
        StmtKind::Transfer(_) => "transfer",
        StmtKind::Fail(_) => "fail",
        StmtKind::Call(call) => match call.kind {
            stellar_grammar::ast::CallKind::Do => "do",
            stellar_grammar::ast::CallKind::Run => "run",
        },
        StmtKind::Step(_) => "step",
        _ => "together",
    };
    syntax::statements(shape, &mut |stmt, within| {
        let in_step = match within {
            Within::Step => true,
            Within::Procedure => false,
            Within::Unread => return,
        };
        if !is_misplaced(&stmt.kind, in_step) {
            return;
        }
        let word = text_of(&stmt.kind);
        let place = Place::new(shape.file, stmt.keyword);
        out.push(if in_step {
            Diagnostic::new(&CODE, place, format!("`{word}` stands in procedures only, and this is a step"))
                .help("move it into a procedure that calls this step")
        } else {
            Diagnostic::new(&CODE, place, format!("`{word}` stands in steps only, and this is a procedure"))
                .help("put it into a `step \"…\"` block here, or into a library step")
        });
    });
}
