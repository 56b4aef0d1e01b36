//! `procedure::unverified-send`: nothing but the default window says that a state-changing telecommand worked.

use super::Subject;
use crate::{
    diagnostics::{Code, Diagnostic},
    tree::{Stmt, StmtKind},
};

pub(super) static CODE: Code = Code::warning(
    "procedure::unverified-send",
    "a state-changing telecommand without a verification of its own is followed by no `expect`",
);

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    for block in subject.definition.blocks() {
        backwards(subject, block, false, out);
    }
}

/// Whether an `expect` may come in a block or behind it; `after` tells of what is behind it.
fn backwards(subject: &Subject<'_>, block: &[Stmt], mut after: bool, out: &mut Vec<Diagnostic>) -> bool {
    for stmt in block.iter().rev() {
        after = match &stmt.kind {
            StmtKind::Expect(_) => true,
            StmtKind::Send(send) => {
                let unverified = subject.world.telecommand(send).is_some_and(|found| {
                    found.changes_state && found.verify.default_window && found.verify.until.is_none()
                });
                if unverified && !after {
                    out.push(report(subject, stmt));
                }
                after
            }
            StmtKind::Step(step) => {
                backwards(subject, &step.body, false, out);
                after
            }
            StmtKind::Poison(_) => true,
            _ => stmt.blocks().into_iter().fold(after, |found, inner| backwards(subject, inner, after, out) || found),
        };
    }
    after
}

fn report(subject: &Subject<'_>, stmt: &Stmt) -> Diagnostic {
    let message = "nothing verifies what this telecommand changes";
    Diagnostic::new(&CODE, subject.definition.place(stmt.span), message)
        .help("put an `expect … within …` behind it, or give the telecommand a `verify` in the catalogue")
}
