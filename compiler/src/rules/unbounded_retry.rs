//! `procedure::unbounded-retry`: `every` alone, or nothing, bounds neither the number nor the duration of the attempts.

use super::{Shape, syntax};
use crate::{
    diagnostics::{Code, Diagnostic},
    source::Place,
};

pub(super) static CODE: Code =
    Code::error("procedure::unbounded-retry", "a retry has neither a count nor a total duration");

pub(super) fn check(shape: &Shape<'_>, out: &mut Vec<Diagnostic>) {
    syntax::retries(shape, &mut |retry| {
        if retry.times.is_some() || retry.total.is_some() {
            return;
        }
        let message = if retry.every.is_some() {
            "this retry has no end: `every` limits neither the count nor the duration of the attempts"
        } else {
            "this retry has no end: it has neither a count nor a total duration"
        };
        out.push(
            Diagnostic::new(&CODE, Place::new(shape.file, retry.span), message)
                .help("add a count (`retry 3 times`) or a total duration (`retry for 1 min`), or both"),
        );
    });
}
