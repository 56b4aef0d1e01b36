//! The live view of a run, below the lines of its log: step, attempt, elapsed against its bound, last samples.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use stellar_runtime::ports::Sample;
use stellar_vm::{
    machine::{Doing, View},
    time::{Instant, duration_text},
};

use crate::render::{clock, scalar};

/// Samples shown at most.
const SAMPLES: usize = 4;
/// How often it is drawn.
pub(crate) const EVERY: Duration = Duration::from_millis(200);

/// The live view; draws nothing where standard error is no terminal.
#[derive(Debug)]
pub(crate) struct Live {
    bar: ProgressBar,
}

impl Live {
    /// A view on standard error, if `shown`.
    pub(crate) fn new(shown: bool) -> Self {
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
            bar.set_style(style);
        }
        Self { bar }
    }

    /// Whether anything is drawn.
    pub(crate) fn shown(&self) -> bool {
        !self.bar.is_hidden()
    }

    /// Draws how the run stands.
    pub(crate) fn draw(&self, view: &View, now: Instant, samples: &[Sample]) {
        self.bar.set_message(line(view, now, samples));
        self.bar.tick();
    }

    /// Prints something above the view.
    pub(crate) fn above(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// Takes the view away.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// The view in one line.
fn line(view: &View, now: Instant, samples: &[Sample]) -> String {
    let mut parts = Vec::new();
    if let Some(started) = view.started_at {
        let bound = view.bound_ns.saturating_add(view.added_ns);
        parts.push(format!("{} of {} at most", clock(now.since(started)), duration_text(whole_seconds(bound))));
    }
    for strand in &view.strands {
        if matches!(strand.doing, Doing::Branches | Doing::Ended) {
            continue;
        }
        let name = strand.path.last().map(AsRef::as_ref).unwrap_or_default();
        let attempt = strand.attempt.filter(|attempt| *attempt > 1).map(|n| format!(" ({n})")).unwrap_or_default();
        let left = strand.deadline.map(|due| format!(", {} left", clock(due.since(now)))).unwrap_or_default();
        parts.push(format!("{name}{attempt}: {}{left}", strand.statement));
    }
    let mut latest: Vec<&Sample> = samples.iter().collect();
    latest.sort_by_key(|sample| std::cmp::Reverse(sample.order));
    parts.extend(latest.iter().take(SAMPLES).map(|it| {
        let parameter = stellar_vm::catalogue::path(&it.component, it.index, &it.name);
        format!("{parameter} = {}", scalar(&it.value))
    }));
    parts.join("  ·  ")
}

/// Up to the next whole second, where it is long enough for that not to matter.
const fn whole_seconds(ns: i64) -> i64 {
    const SECOND: i64 = 1_000_000_000;
    if ns < 10 * SECOND { ns } else { (ns / SECOND + (ns % SECOND != 0) as i64) * SECOND }
}
