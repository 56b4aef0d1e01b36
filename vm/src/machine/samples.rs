//! Samples listed in a fact, as a snapshot to judge on; and texts with values.

use alloc::{string::String, vec::Vec};

use super::state::{Core, at};
use crate::{
    catalogue::path,
    condition::{Context, Expr, Observer, Parameter, Read, Reading, SampleView, Snapshot},
    event::SampleRecord,
    program::{Part, Template},
    time::Instant,
    verify::Verified,
};

/// No samples.
pub(super) const NONE: Listed<'static> = Listed(&[]);

/// The samples of a fact; of several of one parameter the last one counts.
pub(super) struct Listed<'a>(pub(super) &'a [SampleRecord]);

impl Snapshot for Listed<'_> {
    fn latest(&self, target: &str, component: &str, index: Option<i64>, name: &str) -> Option<SampleView<'_>> {
        let found =
            |record: &&SampleRecord| *record.target == *target && names(&record.parameter, component, index, name);
        self.0.iter().rev().find(found).map(|record| SampleView {
            value: &record.value,
            received_at: record.received_at,
            order: record.order,
            valid: record.valid,
        })
    }
}

/// Whether a text is the path of a parameter, without writing that path.
fn names(text: &str, component: &str, index: Option<i64>, name: &str) -> bool {
    let Some(rest) = text.strip_prefix(component) else { return false };
    let rest = match index {
        None => rest,
        Some(index) => {
            let Some((digits, rest)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
                return false;
            };
            if digits.parse() != Ok(index) {
                return false;
            }
            rest
        }
    };
    rest.strip_prefix('.') == Some(name)
}

/// The latest time at which a sample was received that an evaluation finds.
pub(super) struct Latest(pub(super) Option<Instant>);

impl<'a> Observer<'a> for Latest {
    fn read(&mut self, _: &Read, _: &Parameter<'a>, _: Option<i64>, found: &Reading<'a>) {
        if let Some(sample) = sample_of(found) {
            self.0 = self.0.max(Some(sample.received_at));
        }
    }
}

fn sample_of<'a>(found: &Reading<'a>) -> Option<SampleView<'a>> {
    match found {
        Reading::NoIndex | Reading::Never => None,
        Reading::Before(sample)
        | Reading::Invalid(sample)
        | Reading::Stale(sample, ..)
        | Reading::NoValue(sample)
        | Reading::Good(sample) => Some(*sample),
    }
}

/// Keeps every sample that an evaluation finds, once each.
struct Keeper<'a> {
    targets: &'a [alloc::sync::Arc<str>],
    records: Vec<SampleRecord>,
}

impl<'a> Observer<'a> for Keeper<'a> {
    fn read(&mut self, read: &Read, parameter: &Parameter<'a>, index: Option<i64>, found: &Reading<'a>) {
        let (Some(sample), Some(target)) = (sample_of(found), at(self.targets, read.target)) else { return };
        let parameter = path(parameter.component, index, parameter.name);
        if self.records.iter().any(|record| record.target == *target && *record.parameter == *parameter) {
            return;
        }
        self.records.push(SampleRecord {
            target: target.clone(),
            parameter: parameter.into(),
            value: sample.value.clone(),
            received_at: sample.received_at,
            order: sample.order,
            valid: sample.valid,
        });
    }
}

/// The samples that expressions read, as a snapshot has them.
pub(super) fn keep<'a>(parts: impl IntoIterator<Item = (&'a Expr, Context<'a>)>) -> Vec<SampleRecord> {
    let mut records = Vec::new();
    for (expr, context) in parts {
        let mut keeper = Keeper { targets: context.targets, records };
        let _ = expr.evaluate_observed(&context, &mut keeper);
        records = keeper.records;
    }
    records
}

impl Core {
    /// A text with the values of a strand's names.
    pub(super) fn render(&self, p: &Verified, i: usize, template: &Template) -> Option<String> {
        let (act, unit) = self.place(p, i)?;
        let mut text = String::new();
        for part in &template.parts {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Local(local) => {
                    let value = at(&act.locals, *local)?;
                    let ty = &at(&unit.locals, *local)?.ty;
                    text.push_str(&value.as_ref().map_or(String::from("?"), |value| value.text(ty, &p.enums)));
                }
            }
        }
        Some(text)
    }
}
