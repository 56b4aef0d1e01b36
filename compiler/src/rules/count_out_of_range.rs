//! `procedure::count-out-of-range`: a `repeat` goes 1 to 10,000 times, a `retry` 0 to 10,000 times.

use stellar_grammar::ast::{Count, StmtKind};
use stellar_vm::bounds::{MAX_RETRIES, MAX_TURNS};

use super::{Shape, syntax};
use crate::{
    diagnostics::{Code, Diagnostic},
    source::Place,
};

pub(super) static CODE: Code =
    Code::error("procedure::count-out-of-range", "a loop or a retry goes more often than it may, or a loop never");

pub(super) fn check(shape: &Shape<'_>, out: &mut Vec<Diagnostic>) {
    let mut report = |count: &Count, what: &str, least: u64, most: u32| {
        let Some(value) = count.value else { return };
        if !(least..=u64::from(most)).contains(&value) {
            let message = format!("a `{what}` goes {least} to {most} times, not {value}");
            out.push(Diagnostic::new(&CODE, Place::new(shape.file, count.span), message));
        }
    };
    syntax::statements(shape, &mut |stmt, _| {
        if let StmtKind::Repeat(repeat) = &stmt.kind {
            report(&repeat.count, "repeat", 1, MAX_TURNS);
        }
    });
    syntax::retries(shape, &mut |retry| {
        if let Some(times) = &retry.times {
            report(times, "retry", 0, MAX_RETRIES);
        }
    });
}
