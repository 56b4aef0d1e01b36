//! `procedure::unguarded-hazard`: a hazardous telecommand leaves only after an operator said yes, in the same step and
//! the same turn of a loop, whatever way the step took.

use super::Subject;
use crate::{
    diagnostics::{Code, Diagnostic},
    tree::{Stmt, StmtKind},
};

pub(super) static CODE: Code = Code::error(
    "procedure::unguarded-hazard",
    "a hazardous telecommand is sent without a yes/no question before it in the same step",
);

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    for block in subject.definition.blocks() {
        follow(subject, block, false, out);
    }
}

/// Whether a yes was given on every way to the end of a block, `guarded` telling of its beginning.
fn follow(subject: &Subject<'_>, block: &[Stmt], mut guarded: bool, out: &mut Vec<Diagnostic>) -> bool {
    for stmt in block {
        guarded = match &stmt.kind {
            StmtKind::Ask(ask) => guarded || ask.choices.is_empty(),
            // Behind it there is no way on.
            StmtKind::Fail(_) => true,
            StmtKind::Send(send) => {
                let hazard = subject.world.telecommand(send).and_then(|found| found.hazardous.as_ref());
                if let Some(reason) = hazard.filter(|_| !guarded) {
                    out.push(report(subject, stmt, reason));
                }
                guarded
            }
            StmtKind::If(it) => {
                let then = follow(subject, &it.then, guarded, out);
                let otherwise = follow(subject, &it.otherwise, guarded, out);
                then && otherwise
            }
            StmtKind::Repeat(it) => follow(subject, &it.body, false, out) || guarded,
            StmtKind::ForEach(it) => follow(subject, &it.body, false, out) || guarded,
            StmtKind::Step(it) => {
                follow(subject, &it.body, false, out);
                guarded
            }
            StmtKind::Together(branches) => {
                for branch in branches {
                    follow(subject, &branch.body, guarded, out);
                }
                guarded
            }
            StmtKind::Poison(body) => {
                // What could not be read may have been the question.
                follow(subject, body, true, out);
                true
            }
            _ => guarded,
        };
    }
    guarded
}

fn report(subject: &Subject<'_>, stmt: &Stmt, reason: &str) -> Diagnostic {
    let message = if reason.is_empty() {
        String::from("a hazardous telecommand is sent without asking an operator first")
    } else {
        format!("a hazardous telecommand ({reason}) is sent without asking an operator first")
    };
    Diagnostic::new(&CODE, subject.definition.place(stmt.span), message)
        .help("put `ask \"…\" within 5 min` before it, in the same step and the same turn of a loop")
}
