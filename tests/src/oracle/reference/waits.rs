//! How what strands wait for is judged: windows, verifications, readings, instants of UTC.

use super::{
    judge::{Closed, Latest, Outcome, Since},
    kernel::{Doing, Kernel, Slot, Wake, What, Window},
};
use crate::oracle::{
    model::*,
    text::{instant, span},
    world::{Sample, Status, TARGETS},
};

/// Looks samples up in a list; of what is not in it nothing is known.
pub(crate) fn listed(samples: &[Sample]) -> impl Fn(&str, usize, Option<i64>) -> Option<Sample> + '_ {
    move |target, param, index| {
        let is = |it: &&Sample| (it.target, it.param, it.index) == (target, param, index);
        samples.iter().find(is).cloned()
    }
}

/// So early that nothing is stale: every sample is found that a condition can read, through an index that is telemetry too.
const EARLY: Ns = Ns::MIN / 2;

impl Kernel {
    fn latest(&self) -> impl Fn(&str, usize, Option<i64>) -> Option<Sample> + '_ {
        move |target, param, index| {
            let target = TARGETS.into_iter().find(|one| *one == target)?;
            self.telemetry.get(&(target, param, index)).cloned()
        }
    }

    /// Evaluates as of when the latest of its samples was received, not before `from`; gives that time as well.
    fn as_received(&self, of: &Closed, latest: Latest<'_>, from: Ns, since: Option<Since>) -> (Outcome, Ns) {
        let catalogue = &self.program.catalogue;
        let at = of.evaluate(catalogue, latest, EARLY, since).received().map_or(from, |latest| latest.max(from));
        (of.evaluate(catalogue, latest, at, since), at)
    }

    /// From when on samples count for an `expect`: the last telecommand of the attempt that left, else its start.
    fn expect_since(slot: &Slot) -> Option<Since> {
        let attempt = slot.attempt.as_ref()?.borrow();
        let left = attempt.sent.iter().rev().find_map(|sent| sent.since());
        Some(left.unwrap_or(Since::Time(attempt.start, attempt.start_order)))
    }

    fn window(&self, slot: &Slot, window: &Window, latest: Latest<'_>) -> (Outcome, Ns) {
        let since = if window.expect { Self::expect_since(slot) } else { None };
        self.as_received(&window.cond, latest, window.from, since)
    }

    /// What `until` of the attempt's last telecommand comes to; `None` before it left.
    fn until(&self, slot: &Slot, until: &Closed, latest: Latest<'_>) -> Option<(Outcome, Ns)> {
        let attempt = slot.attempt.as_ref()?.borrow();
        let sent = attempt.sent.last()?;
        let (left, _) = sent.released?;
        Some(self.as_received(until, latest, left, sent.since()))
    }

    /// The first pending thing that waits for samples and is decided by those of now.
    pub(crate) fn settled(&self) -> Option<u64> {
        if self.held() {
            return None;
        }
        self.slots.iter().find_map(|slot| {
            let Doing::Wait { id, deadline, what } = &slot.doing else { return None };
            let in_time = |at: Ns| deadline.is_none_or(|deadline| at <= deadline);
            let settles = match what {
                What::Window(window) => {
                    let (outcome, at) = self.window(slot, window, &self.latest());
                    in_time(at)
                        && match (window.held, window.held_since) {
                            (None, _) => outcome.is_true(),
                            (Some(held), None) => outcome.is_true() && at + held <= window.limit,
                            (Some(_), Some(_)) => !outcome.is_true(),
                        }
                }
                What::Verification { until: Some(until), met: false, .. } => self
                    .until(slot, until, &self.latest())
                    .is_some_and(|(outcome, at)| outcome.is_true() && in_time(at)),
                _ => false,
            };
            settles.then_some(*id)
        })
    }

    /// The first reading, which any samples decide.
    pub(crate) fn reading(&self) -> Option<u64> {
        if self.held() {
            return None;
        }
        self.slots.iter().find_map(|slot| match &slot.doing {
            Doing::Wait { id, what: What::Reading(..), .. } => Some(*id),
            _ => None,
        })
    }

    fn place(&self, pending: u64) -> Option<usize> {
        self.slots.iter().position(|slot| matches!(slot.doing, Doing::Wait { id, .. } if id == pending))
    }

    /// The samples that a pending thing is judged by, as they are now.
    pub(crate) fn evidence(&self, pending: u64) -> Vec<Sample> {
        let mut samples = Vec::new();
        let Some(slot) = self.place(pending).map(|at| &self.slots[at]) else { return samples };
        let Doing::Wait { what, .. } = &slot.doing else { return samples };
        match what {
            What::Reading(all, requires) => {
                let now = |one: &Closed| one.evaluate(&self.program.catalogue, &self.latest(), self.now, None);
                for one in all {
                    now(one).samples(&mut samples);
                }
                if let Some(requires) = requires {
                    let index = requires.index.as_ref().and_then(|index| match now(index).value {
                        Some(Value::Int(index)) => Some(index),
                        _ => None,
                    });
                    now(&Closed { own: Some(index), ..requires.condition.clone() }).samples(&mut samples);
                }
            }
            What::Window(window) => {
                let since = if window.expect { Self::expect_since(slot) } else { None };
                window.cond.evaluate(&self.program.catalogue, &self.latest(), EARLY, since).samples(&mut samples);
            }
            What::Verification { until: Some(until), .. } => {
                let attempt = slot.attempt.as_ref().expect("an attempt").borrow();
                if let Some(since) = attempt.sent.last().and_then(|sent| sent.since()) {
                    let catalogue = &self.program.catalogue;
                    until.evaluate(catalogue, &self.latest(), EARLY, Some(since)).samples(&mut samples);
                }
            }
            _ => {}
        }
        samples
    }

    /// Whether `observed` can be entered for a deadline that passes.
    pub(crate) fn takes_samples(&self, pending: u64) -> bool {
        let Some(slot) = self.place(pending).map(|at| &self.slots[at]) else { return false };
        match &slot.doing {
            Doing::Wait { what: What::Window(_), .. } => true,
            Doing::Wait { what: What::Verification { until: Some(_), met: false, .. }, .. } => slot
                .attempt
                .as_ref()
                .is_some_and(|attempt| attempt.borrow().sent.last().is_some_and(|it| it.released.is_some())),
            _ => false,
        }
    }

    pub(crate) fn waits_for_utc(&self, pending: u64) -> bool {
        let Some(at) = self.place(pending) else { return false };
        matches!(self.slots[at].doing, Doing::Wait { what: What::Utc { .. }, .. })
    }

    /// `observed` with samples or UTC.
    pub(crate) fn observed(&mut self, pending: u64, samples: Vec<Sample>, utc: Option<Ns>) {
        let Some(place) = self.place(pending) else { return };
        let slot = self.slots[place].clone();
        let Doing::Wait { deadline, what, .. } = slot.doing.clone() else { return };
        let told = samples.iter().map(|sample| sample.order).max();
        match what {
            What::Reading(..) => self.wake(slot.id, Wake::Samples(samples)),
            What::Window(window) => self.window_observed(&slot, *window, deadline, samples),
            What::Verification { until: Some(until), .. } => {
                let holds = self.until(&slot, &until, &listed(&samples)).is_some_and(|(outcome, _)| outcome.is_true());
                if let Doing::Wait { what: What::Verification { met, last, .. }, .. } = &mut self.slots[place].doing {
                    if holds {
                        *met = true;
                    } else {
                        *last = samples;
                    }
                }
                self.verify(slot.id);
            }
            What::Utc { until, first, within } => self.utc_read(slot.id, until, first, within, utc.unwrap_or(0), false),
            _ => {}
        }
        self.max_order = self.max_order.max(told);
    }

    fn window_observed(&mut self, slot: &Slot, mut window: Window, deadline: Option<Ns>, samples: Vec<Sample>) {
        let (outcome, at) = self.window(slot, &window, &listed(&samples));
        let holds = outcome.is_true();
        window.last = samples;
        let mut deadline = deadline;
        match window.held {
            None if holds => return self.wake(slot.id, Wake::Done),
            None => {}
            Some(held) => {
                window.from = at;
                if !holds {
                    if window.held_since.take().is_some() {
                        self.count("held for: broken");
                    }
                    deadline = Some(window.limit);
                } else if window.held_since.is_none() && at + held <= window.limit {
                    window.held_since = Some(at);
                    deadline = Some(at + held);
                }
            }
        }
        if let Doing::Wait { deadline: of, what, .. } = &mut self.slot(slot.id).doing {
            *of = deadline;
            *what = What::Window(Box::new(window));
        }
    }

    fn utc_read(&mut self, strand: u32, until: Ns, is_first: bool, within: Ns, utc: Ns, elapsed: bool) {
        let away = until - utc;
        if away <= 0 {
            return self.wake(strand, Wake::Done);
        }
        let failed = if elapsed {
            format!("{} was not reached within {}: UTC reads {} less", instant(until), span(within), span(away))
        } else if is_first && away > within {
            format!("{} is {} away, more than {}", instant(until), span(away), span(within))
        } else {
            if let Doing::Wait { what: What::Utc { first, .. }, .. } = &mut self.slot(strand).doing {
                *first = false;
            }
            return;
        };
        self.wake(strand, Wake::Failed("WAIT_FAILED", failed));
    }

    /// A deadline passed.
    pub(crate) fn elapsed(&mut self, pending: u64, due: Ns, utc: Ns) {
        let Some(place) = self.place(pending) else { return };
        let slot = self.slots[place].clone();
        let Doing::Wait { what, .. } = slot.doing.clone() else { return };
        match what {
            What::Timer | What::Interval => self.wake(slot.id, Wake::Done),
            What::Window(window) => self.window_elapsed(&slot, *window, due),
            What::Verification { .. } => self.verification_elapsed(&slot, due),
            What::Utc { until, first, within } => self.utc_read(slot.id, until, first, within, utc, true),
            What::Answer { within, .. } => {
                self.wake(slot.id, Wake::Failed("ASK_TIMEOUT", format!("not answered within {}", span(within))));
            }
            What::Transfer { .. } => {
                if let Doing::Wait { deadline, what: What::Transfer { cancel, .. }, .. } = &mut self.slots[place].doing
                {
                    *deadline = None;
                    *cancel = Some(super::kernel::Cancel::Elapsed);
                }
            }
            What::Reading(..) | What::Decision { .. } => {}
        }
    }

    fn window_elapsed(&mut self, slot: &Slot, mut window: Window, due: Ns) {
        let since = if window.expect { Self::expect_since(slot) } else { None };
        let at_the_end = window.cond.evaluate(&self.program.catalogue, &listed(&window.last), due, since);
        if window.held_since.take().is_some() {
            if at_the_end.is_true() {
                return self.wake(slot.id, Wake::Done);
            }
            self.count("held for: not fresh at its end");
            window.from = due;
            if due < window.limit {
                if let Doing::Wait { deadline, what, .. } = &mut self.slot(slot.id).doing {
                    *deadline = Some(window.limit);
                    *what = What::Window(Box::new(window));
                }
                return;
            }
        }
        let told = at_the_end.told(&self.program.catalogue);
        let held = window.held.map_or(String::new(), |held| format!(" for {}", span(held)));
        let message = format!("not satisfied{held} within {}, {told}", span(window.within));
        let code = if window.expect { "EXPECT_FAILED" } else { "WAIT_FAILED" };
        self.wake(slot.id, Wake::Failed(code, message));
    }

    /// Judges the verification that a strand waits for, by what is known of its telecommand.
    pub(crate) fn verify(&mut self, strand: u32) {
        let slot = self.slot(strand).clone();
        let Doing::Wait { what: What::Verification { from, met, .. }, .. } = &slot.doing else { return };
        let attempt = slot.attempt.as_ref().expect("an attempt").borrow();
        let sent = attempt.sent.last().expect("a telecommand");
        let of = self.program.catalogue.telecommands[sent.telecommand].clone();
        let name = of.name;
        if let Some((end, why)) = &sent.end {
            let why = why.as_deref().map(|why| why.strip_prefix("never left: ").unwrap_or(why));
            let why = why.map_or(String::new(), |why| format!(": {why}"));
            let (code, what) = match end {
                Status::NotReleased => ("SEND_FAILED", format!("`{name}` never left")),
                Status::EncodeFailed => ("ENCODE_FAILED", format!("`{name}` could not be encoded, it never left")),
                Status::Failed(stage) => {
                    let stage = match stage {
                        Some(Stage::Accepted) => "acceptance",
                        Some(Stage::Started) => "start",
                        Some(Stage::Completed) => "completion",
                        None => "its execution",
                    };
                    ("VERIFY_FAILED", format!("`{name}` failed at {stage}"))
                }
                Status::Released | Status::Reported(_) => unreachable!("no end"),
            };
            return self.wake(strand, Wake::Failed(code, format!("{what}{why}")));
        }
        let open = unmet(&of, sent);
        if sent.released.is_some() && *met && open.is_empty() {
            return self.wake(strand, Wake::Done);
        }
        let window = from + of.window;
        let first = open.iter().map(|(_, limit)| stage_due(sent, *from, *limit, window)).min();
        let due = first.map_or(window, |first| first.min(window));
        if let Doing::Wait { deadline, .. } = &mut self.slot(strand).doing {
            *deadline = Some(due);
        }
    }

    fn verification_elapsed(&mut self, slot: &Slot, due: Ns) {
        let Doing::Wait { what: What::Verification { from, until, last, .. }, .. } = &slot.doing else { return };
        let attempt = slot.attempt.as_ref().expect("an attempt").borrow();
        let sent = attempt.sent.last().expect("a telecommand");
        let of = &self.program.catalogue.telecommands[sent.telecommand];
        let (name, window) = (of.name, span(of.window));
        let late =
            unmet(of, sent).into_iter().find(|(_, limit)| stage_due(sent, *from, *limit, from + of.window) <= due);
        let message = match (sent.released, late, until) {
            (None, ..) => format!("`{name}`: within {window} nothing told that it left; it may have left"),
            (Some(_), Some((stage, limit)), _) => {
                let stage = match stage {
                    Stage::Accepted => "accepted",
                    Stage::Started => "started",
                    Stage::Completed => "completed",
                };
                format!("`{name}` left, but was not reported {stage} within {}", span(limit))
            }
            (Some(_), None, until) => {
                let told = until.as_ref().map_or(String::new(), |until| {
                    let catalogue = &self.program.catalogue;
                    until.evaluate(catalogue, &listed(last), due, sent.since()).told(catalogue)
                });
                format!("`{name}` left, but what verifies it did not hold within {window}, {told}")
            }
        };
        drop(attempt);
        self.wake(slot.id, Wake::Failed("VERIFY_TIMEOUT", message));
    }
}

/// The declared stages that neither their own report nor a later stage's has met.
fn unmet(of: &Telecommand, sent: &super::kernel::Sent) -> Vec<(Stage, Ns)> {
    let met = |stage: Stage| sent.reports.iter().any(|report| *report >= stage);
    of.stages.iter().copied().filter(|(stage, _)| !met(*stage)).collect()
}

/// A stage counts from the release, or from where the window counts anew, and is over with the window.
fn stage_due(sent: &super::kernel::Sent, from: Ns, limit: Ns, window: Ns) -> Ns {
    sent.released.map_or(window, |(left, _)| (left.max(from) + limit).min(window))
}
