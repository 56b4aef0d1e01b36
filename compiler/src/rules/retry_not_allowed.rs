//! `procedure::retry-not-allowed`: what changes the on-board state is never repeated automatically.

use stellar_grammar::{Span, ast::Retry};
use stellar_vm::program::Kind;

use super::Subject;
use crate::{
    bounds::Changes,
    diagnostics::{Code, Diagnostic},
    policy,
    tree::{StmtKind, walk},
};

pub(super) static CODE: Code = Code::error(
    "procedure::retry-not-allowed",
    "a retry stands on something that sends telecommands changing the on-board state",
);

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    let definition = subject.definition;
    let mut report = |kind: Kind, retry: Option<&Retry>, changes: Changes| {
        let Some(retry) = retry.filter(|retry| changes == Changes::Yes && !policy::is_never(retry)) else { return };
        let what = match kind {
            Kind::Step => "step",
            Kind::Procedure => "procedure",
        };
        let message = format!("this {what} cannot be retried: it sends telecommands that change the on-board state");
        out.push(Diagnostic::new(&CODE, definition.place(retry.span), message));
    };
    report(definition.kind, definition.retry.as_ref(), subject.figures.changes);
    let changes = |keyword: Span| subject.figures.part(keyword).map_or(Changes::Unknown, |part| part.changes);
    for block in definition.blocks() {
        walk(block, &mut |stmt| match &stmt.kind {
            StmtKind::Call(call) => report(call.kind, call.retry.as_ref(), changes(stmt.keyword)),
            StmtKind::Step(step) => report(Kind::Step, step.retry.as_ref(), changes(stmt.keyword)),
            _ => {}
        });
    }
}
