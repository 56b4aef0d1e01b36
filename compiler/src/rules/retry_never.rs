//! `procedure::retry-never`: a total duration in which no second attempt can ever start.

use stellar_grammar::ast::Retry;
use stellar_vm::{bounds::attempts_max, time::duration_text};

use super::Subject;
use crate::{
    bounds::Cost,
    diagnostics::{Code, Diagnostic},
    policy::Given,
    tree::{StmtKind, walk},
};

pub(super) static CODE: Code =
    Code::warning("procedure::retry-never", "the total duration of a retry leaves no time for a second attempt");

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    let definition = subject.definition;
    let mut report = |retry: Option<&Retry>, one: Cost| {
        let Some((retry, attempt)) = retry.zip(one.ns) else { return };
        let Some(policy) = Given::of(Some(retry)).policy() else { return };
        if policy.total.is_none() || !policy.retries() || attempts_max(attempt, Some(&policy)) > 1 {
            return;
        }
        let least = attempt.saturating_add(attempt.max(policy.interval()));
        let place = definition.place(retry.total.as_ref().map_or(retry.span, |total| total.span));
        let message = format!(
            "no second attempt ever starts: one attempt can last {}, and another has to end within the total",
            duration_text(attempt)
        );
        out.push(
            Diagnostic::new(&CODE, place, message).help(format!("give it at least `for {}`", duration_text(least))),
        );
    };
    report(definition.retry.as_ref(), subject.figures.one);
    for block in definition.blocks() {
        walk(block, &mut |stmt| {
            let retry = match &stmt.kind {
                StmtKind::Call(call) => call.retry.as_ref(),
                StmtKind::Step(step) => step.retry.as_ref(),
                _ => return,
            };
            if let Some(part) = subject.figures.part(stmt.keyword) {
                report(retry, part.one);
            }
        });
    }
}
