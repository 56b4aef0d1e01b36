//! `procedure::too-many-statements`: a run executes at most 1,000,000 statements, loops, attempts and calls counted.

use stellar_vm::bounds::OverLimit;

use super::Subject;
use crate::diagnostics::{Code, Diagnostic};

pub(super) static CODE: Code =
    Code::error("procedure::too-many-statements", "a run could execute more than 1,000,000 statements");

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    for (over, span) in &subject.figures.over {
        if *over == OverLimit::Statements {
            let place = subject.definition.place(*span);
            let message = "the statements that a run could execute pass 1,000,000 here";
            out.push(
                Diagnostic::new(&CODE, place, message)
                    .help("loops, attempts and calls multiply: make one of them fewer"),
            );
        }
    }
}
