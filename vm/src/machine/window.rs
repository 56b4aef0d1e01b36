//! `expect` and `wait until COND`: a condition that is to become true within a window.
//!
//! Judged whenever `observed` tells of samples, as of the time at which the latest of them was received, not before the
//! statement began, nor before it was judged last. An `expect` counts only samples received since the last telecommand of its attempt left (since the
//! attempt started, if none was sent); `wait until` counts all. `held for H` begins at a sample that makes the condition
//! true while H still fits into the window, ends with the first at which it is not true, and is won at its end where it
//! is still true, and fresh, on the last samples told: the driver tells them before it enters `elapsed`.

use alloc::{format, string::String, vec::Vec};

use super::{
    samples::{Latest, Listed},
    state::{Core, State, Wait, What, Window, at},
};
use crate::{
    condition::{Context, Expr, Since, Snapshot, describe},
    event::{FailureCode, SampleRecord},
    op::{ExprId, Op},
    program::Unit,
    seeded::{self, Bug},
    time::{Instant, duration_text},
    verify::Verified,
};

/// What an op says of its window.
#[derive(Clone, Copy)]
pub(super) struct Judged {
    cond: ExprId,
    held: Option<i64>,
    pub(super) within: i64,
    /// An `expect`: only samples received since count.
    expect: bool,
}

/// The window of an op, if it has one.
pub(super) fn judged(unit: &Unit, op: Op) -> Option<Judged> {
    match op {
        Op::Expect(expect) => {
            let expect = at(&unit.expects, expect)?;
            Some(Judged { cond: expect.cond, held: expect.held, within: expect.within, expect: true })
        }
        Op::WaitUntil { cond, within } => {
            Some(Judged { cond, held: None, within: *at(&unit.durations, within)?, expect: false })
        }
        _ => None,
    }
}

impl Core {
    pub(super) fn open_window(&mut self, p: &Verified, i: usize, op: Op) -> Option<()> {
        let (_, unit) = self.place(p, i)?;
        let from = self.now;
        let limit = from.saturating_add(judged(unit, op)?.within);
        self.begin_wait(i, Some(limit), What::Condition(Window { limit, from, held_since: None, last: Vec::new() }))
    }

    fn window(&self, i: usize) -> Option<(&Wait, &Window)> {
        match &self.strands.get(i)?.state {
            State::Wait(wait) => match &wait.what {
                What::Condition(window) => Some((wait, window)),
                _ => None,
            },
            _ => None,
        }
    }

    fn window_mut(&mut self, i: usize) -> Option<(&mut Option<i64>, &mut Window)> {
        match &mut self.strands.get_mut(i)?.state {
            State::Wait(Wait { deadline, what: What::Condition(window), .. }) => Some((deadline, window)),
            _ => None,
        }
    }

    /// The op at which a strand stands, and its window.
    fn judged_at(&self, p: &Verified, i: usize) -> Option<Judged> {
        let (_, unit) = self.place(p, i)?;
        judged(unit, *at(&unit.code, self.strands.get(i)?.pc)?)
    }

    /// Evaluates the condition that a strand waits for: at a given time, else when the latest sample was received.
    pub(super) fn with_condition<T>(
        &self,
        p: &Verified,
        i: usize,
        snapshot: &dyn Snapshot,
        now: Option<i64>,
        then: impl FnOnce(&Expr, &Context<'_>) -> T,
    ) -> Option<T> {
        let judged = self.judged_at(p, i)?;
        let (act, unit) = self.place(p, i)?;
        let (_, window) = self.window(i)?;
        let expr = at(&unit.exprs, judged.cond)?;
        let mut context = self.context(p, act, snapshot);
        if judged.expect {
            context.since = self.since(i);
        }
        context.at = self.judged_when(expr, &context, window.from, now);
        Some(then(expr, &context))
    }

    /// The time at which samples are judged.
    pub(super) fn judged_when(&self, expr: &Expr, context: &Context<'_>, begun: i64, now: Option<i64>) -> Instant {
        if let Some(now) = now {
            return self.instant(now);
        }
        let mut latest = Latest(None);
        // An index that is telemetry leads on to its sample even where it is stale by the time at which that came.
        let _ = expr.evaluate_observed(&Context { at: self.instant(i64::MIN), ..*context }, &mut latest);
        self.instant(latest.0.map_or(begun, |latest| latest.ns.max(begun)))
    }

    /// From when on samples count for an `expect`.
    fn since(&self, i: usize) -> Option<Since> {
        let attempt = self.strands.get(i)?.attempts.last()?;
        let left = attempt.sent.iter().rev().find_map(|sent| sent.since(|ns| self.instant(ns)));
        Some(left.unwrap_or(Since { order: attempt.start_order, received_at: self.instant(attempt.start) }))
    }

    /// Whether a condition is true that a strand waits for, and when it was judged.
    pub(super) fn holds(
        &self,
        p: &Verified,
        i: usize,
        snapshot: &dyn Snapshot,
        now: Option<i64>,
    ) -> Option<(bool, i64)> {
        self.with_condition(p, i, snapshot, now, |expr, context| (expr.judge(context) == Some(true), context.at.ns))
    }

    /// Whether samples as they are now decide the condition that a strand waits for.
    pub(super) fn condition_settles(&self, p: &Verified, i: usize, snapshot: &dyn Snapshot) -> Option<bool> {
        let (wait, window) = self.window(i)?;
        let (holds, when) = self.holds(p, i, snapshot, None)?;
        if wait.deadline.is_some_and(|deadline| when > deadline) {
            return Some(false);
        }
        Some(match (self.judged_at(p, i)?.held, window.held_since) {
            (None, _) => holds,
            (Some(held), None) => holds && when.saturating_add(held) <= window.limit,
            (Some(_), Some(_)) => !holds,
        })
    }

    /// `observed` for a condition.
    pub(super) fn condition_observed(&mut self, p: &Verified, i: usize, samples: &[SampleRecord]) -> Option<()> {
        let (holds, when) = self.holds(p, i, &Listed(samples), None)?;
        let held = self.judged_at(p, i)?.held;
        let (deadline, window) = self.window_mut(i)?;
        let Some(held) = held else {
            if holds {
                return self.next(i);
            }
            window.last = samples.to_vec();
            return Some(());
        };
        window.last = samples.to_vec();
        window.from = when;
        match (holds, window.held_since) {
            (true, None) if when.saturating_add(held) <= window.limit => {
                window.held_since = Some(when);
                *deadline = Some(when.saturating_add(held));
            }
            (true, _) => {}
            (false, Some(_)) if seeded::on(Bug::HeldNotBroken) => {}
            (false, _) => {
                window.held_since = None;
                *deadline = Some(window.limit);
            }
        }
        Some(())
    }

    /// A deadline of a condition passed: the end of `held for`, or of the window.
    pub(super) fn condition_elapsed(&mut self, p: &Verified, i: usize, due: i64) -> Option<()> {
        let judged = self.judged_at(p, i)?;
        let (_, window) = self.window(i)?;
        let last = Listed(&window.last);
        if window.held_since.is_some() {
            let (holds, _) = self.holds(p, i, &last, Some(due))?;
            if holds {
                return self.next(i);
            }
            let (deadline, window) = self.window_mut(i)?;
            window.held_since = None;
            window.from = due;
            *deadline = Some(window.limit);
            if due < window.limit {
                return Some(());
            }
        }
        let (_, window) = self.window(i)?;
        let told = self.with_condition(p, i, &Listed(&window.last), Some(due), describe)?;
        let for_how_long = judged.held.map_or_else(String::new, |held| format!(" for {}", duration_text(held)));
        let message = format!("not satisfied{for_how_long} within {}, {told}", duration_text(judged.within));
        let code = if judged.expect { FailureCode::ExpectFailed } else { FailureCode::WaitFailed };
        self.statement_failed(p, i, code, message);
        Some(())
    }
}
