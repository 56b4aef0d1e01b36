//! Why a condition does not hold, or a value is not known, in words: with the last values and their age.
//!
//! Told apart: never received, not received since it counts, stale, invalid, no number, false, unknown.

use alloc::{format, string::String, sync::Arc, vec::Vec};

use super::{
    Expr, Read, SampleView,
    eval::{Context, Observer, Parameter, Reading},
};
use crate::{
    catalogue::path,
    time::{Instant, duration_text},
    value::{Operand, Type},
};

struct Collector<'a> {
    targets: &'a [Arc<str>],
    at: Instant,
    parts: Vec<String>,
}

impl<'a> Observer<'a> for Collector<'a> {
    fn read(&mut self, read: &Read, parameter: &Parameter<'a>, index: Option<i64>, found: &Reading<'a>) {
        let target = usize::try_from(read.target).ok().and_then(|target| self.targets.get(target));
        let target = target.map_or("", |target| &**target);
        let name = match (found, parameter.index) {
            (Reading::NoIndex, Some(_)) => format!("{target} {}[?].{}", parameter.component, parameter.name),
            _ => format!("{target} {}", path(parameter.component, index, parameter.name)),
        };
        let last = |sample: &SampleView<'_>| sample_text(sample, parameter.ty, self.at);
        let part = match found {
            Reading::NoIndex => format!("{name} has no such index"),
            Reading::Never => format!("{name} was never received"),
            Reading::Before(sample) => format!("{name} was not received since; before it was {}", last(sample)),
            Reading::Invalid(sample) => format!("{name} is invalid, last {}", last(sample)),
            Reading::Stale(sample, _, limit) => {
                format!("{name} is stale, last {} (fresh up to {})", last(sample), duration_text(*limit))
            }
            Reading::NoValue(sample) => format!("{name} has no usable value, last {}", last(sample)),
            Reading::Good(sample) => format!("{name} is {}", last(sample)),
        };
        if !self.parts.contains(&part) {
            self.parts.push(part);
        }
    }
}

/// A sample in words: its value with the unit, and its age at an instant.
#[must_use]
pub fn sample_text(sample: &SampleView<'_>, ty: &Type, at: Instant) -> String {
    let age = at.since(sample.received_at);
    let told = if age < 0 { String::from("0 s") } else { duration_text(age) };
    format!("{}, {told} old", sample.value.text(ty))
}

/// Why an expression is not true, or has no value: `false: …`, `unknown: …`, with each of its reads.
#[must_use]
pub fn describe(expr: &Expr, context: &Context<'_>) -> String {
    let mut collector = Collector { targets: context.targets, at: context.at, parts: Vec::new() };
    let outcome = match expr.evaluate_observed(context, &mut collector) {
        Operand::Bool(true) => "true",
        Operand::Bool(false) => "false",
        Operand::Unknown => "unknown",
        _ => "known",
    };
    if collector.parts.is_empty() {
        return String::from(outcome);
    }
    format!("{outcome}: {}", collector.parts.join("; "))
}
