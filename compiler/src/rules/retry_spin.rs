//! `procedure::retry-spin`: attempts without a count that can fail in no time, one right after the other.
//!
//! The machine starts such attempts 100 ms apart, whatever `every` says.

use stellar_grammar::ast::Retry;
use stellar_vm::bounds::FLOOR;

use super::{Subject, World};
use crate::{
    diagnostics::{Code, Diagnostic},
    policy::Given,
    sure::is_sure,
    tree::{Stmt, StmtKind, walk},
};

pub(super) static CODE: Code =
    Code::warning("procedure::retry-spin", "attempts without a count can fail in no time, one right after the other");

/// How an attempt begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Beginning {
    /// Nothing in it takes time or fails.
    #[default]
    Empty,
    /// It can fail before it took any time.
    Fails,
    /// It takes time first.
    Waits,
}

/// How the statements of a block begin an attempt.
pub(super) fn beginning(world: &World<'_>, block: &[Stmt]) -> Beginning {
    let mut each = block.iter().map(|stmt| match &stmt.kind {
        StmtKind::Check(_) | StmtKind::If(_) | StmtKind::Fail(_) => Beginning::Fails,
        StmtKind::Let(it) if it.value.as_ref().is_some_and(|value| !is_sure(value)) => Beginning::Fails,
        StmtKind::Let(_) | StmtKind::Note(_) => Beginning::Empty,
        StmtKind::Call(call) => {
            call.callee.and_then(|id| world.beginnings.get(id)).copied().unwrap_or(Beginning::Waits)
        }
        StmtKind::Repeat(it) => beginning(world, &it.body),
        StmtKind::ForEach(it) => beginning(world, &it.body),
        StmtKind::Step(it) => beginning(world, &it.body),
        StmtKind::Together(branches) => {
            let all = || branches.iter().map(|branch| beginning(world, &branch.body));
            if all().any(|it| it == Beginning::Fails) {
                Beginning::Fails
            } else {
                all().find(|it| *it == Beginning::Waits).unwrap_or_default()
            }
        }
        _ => Beginning::Waits,
    });
    each.find(|it| *it != Beginning::Empty).unwrap_or_default()
}

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    let definition = subject.definition;
    let mut report = |retry: Option<&Retry>, beginning: Beginning| {
        let Some(retry) = retry.filter(|_| beginning == Beginning::Fails) else { return };
        let Some(policy) = Given::of(Some(retry)).policy() else { return };
        if policy.times.is_some() || policy.every.unwrap_or(0) >= FLOOR {
            return;
        }
        let message = "an attempt can fail at once and the next one follows: they are started 100 ms apart";
        out.push(
            Diagnostic::new(&CODE, definition.place(retry.span), message)
                .help("write an interval of 100 ms or more (`every 1 s`), or a count"),
        );
    };
    report(definition.retry.as_ref(), beginning(subject.world, &definition.body));
    for block in definition.blocks() {
        walk(block, &mut |stmt| match &stmt.kind {
            StmtKind::Call(call) => {
                let beginning = call.callee.and_then(|id| subject.world.beginnings.get(id)).copied();
                report(call.retry.as_ref(), beginning.unwrap_or_default());
            }
            StmtKind::Step(step) => report(step.retry.as_ref(), beginning(subject.world, &step.body)),
            _ => {}
        });
    }
}
