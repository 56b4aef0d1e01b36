//! `procedure::duration-out-of-range`: what a definition can last at most is 365 d.

use stellar_vm::bounds::OverLimit;

use super::Subject;
use crate::diagnostics::{Code, Diagnostic};

pub(super) static CODE: Code =
    Code::error("procedure::duration-out-of-range", "the maximum duration is longer than 365 d");

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    for (over, span) in &subject.figures.over {
        if *over == OverLimit::Duration {
            let place = subject.definition.place(*span);
            let message = "the maximum duration passes 365 d here";
            out.push(Diagnostic::new(&CODE, place, message).help("shorten its windows, loops or retries"));
        }
    }
}
