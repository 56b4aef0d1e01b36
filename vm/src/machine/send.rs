//! `send`: judged, sent, verified.
//!
//! A telecommand is verified once it left, every declared stage is met by its own good report or a later stage's, and
//! `until` held on samples received since it left. A report without a release before it tells that it left. A report is
//! judged by its reception time, as a sample is: one received by the deadline is accepted until `elapsed` is.

use alloc::{boxed::Box, collections::btree_map::Entry as Slot, format, string::String, sync::Arc, vec::Vec};

use super::{
    emit::component_text,
    identifiers,
    samples::Listed,
    state::{Core, Due, Outgoing, Sent, SentEnd, State, Verifying, Wait, What, at},
};
use crate::{
    catalogue::Stage,
    command::{self, Entry, Given, NotSent},
    condition::{Context, Expr, Since, Snapshot, describe},
    event::{FailureCode, Known, SampleRecord, TelecommandKnown, Transition},
    op::Op,
    program::{Program, Send, TelecommandUse, Unit},
    seeded::{self, Bug},
    time::{Instant, duration_text},
    value::{Operand, Value},
    verify::Verified,
};

impl Core {
    pub(super) fn send(&mut self, p: &Verified, i: usize, send: u32, samples: Option<&[SampleRecord]>) -> Option<()> {
        let (act, unit) = self.place(p, i)?;
        let operands = at(&unit.sends, send)?;
        let telecommand = at(&p.telecommands, operands.telecommand)?;
        if samples.is_none() && reads_telemetry(p, unit, Op::Send(send)) {
            return self.ask_for_samples(i);
        }
        let listed = Listed(samples.unwrap_or(&[]));
        let context = self.context(p, act, &listed);
        let index = match operands.index {
            None => None,
            Some(index) => match at(&unit.exprs, index)?.evaluate(&context) {
                Operand::Int(index) => Some(index),
                _ => None,
            },
        };
        let mut given = Vec::with_capacity(operands.args.len());
        for arg in &operands.args {
            given.push(match arg {
                None => Given::Nothing,
                Some(expr) => at(&unit.exprs, *expr)?.evaluate(&context).value().map_or(Given::Unknown, Given::Value),
            });
        }
        let entry = Entry::of_program(p, telecommand);
        let target = at(&act.targets, operands.target)?;
        match command::judge(&entry, target, index, &given, &listed, self.instant(self.now)) {
            Ok(args) => {
                let outgoing = Box::new(Outgoing { send, index, args });
                self.strands.get_mut(i)?.state = State::Due(Due::Send(outgoing));
            }
            Err(NotSent::Rejected(why)) => self.statement_failed(p, i, FailureCode::Rejected, why),
            Err(NotSent::EncodeFailed(why)) => self.statement_failed(p, i, FailureCode::EncodeFailed, why),
        }
        Some(())
    }

    /// `telecommand_sent`.
    pub(super) fn emit_sent(&mut self, p: &Verified, i: usize, outgoing: Outgoing) -> Option<Transition> {
        let id = self.new_id()?;
        let now = self.now;
        let (act, unit) = self.place(p, i)?;
        let operands = at(&unit.sends, outgoing.send)?;
        let telecommand = at(&p.telecommands, operands.telecommand)?;
        let target = Arc::clone(at(&act.targets, operands.target)?);
        let strand = self.strands.get(i)?;
        let line = at(&unit.source, strand.pc)?.line;
        let attempt = strand.attempts.last()?;
        let transition = Transition::TelecommandSent {
            id: identifiers::text(id),
            target,
            telecommand: Arc::clone(&telecommand.name),
            component: component_text(&telecommand.component, outgoing.index),
            args: outgoing.args,
            route: Arc::clone(&at(&p.routes, operands.route)?.name),
            step: Arc::clone(&attempt.path),
            attempt: attempt.number,
            retry_of: self.retry_of(i, id).map(identifiers::text),
            changes_state: telecommand.changes_state,
            file: Arc::clone(at(&p.files, unit.file)?),
            line,
        };
        self.strands.get_mut(i)?.attempts.last_mut()?.sent.push(Sent {
            id,
            send: outgoing.send,
            index: outgoing.index,
            changes: telecommand.changes_state,
            released: None,
            reports: 0,
            end: None,
            known: None,
        });
        self.verify_from(p, i, now)?;
        Some(transition)
    }

    /// What was sent first at the place of a strand; the first one is kept.
    fn retry_of(&mut self, i: usize, id: u128) -> Option<u128> {
        let strand = self.strands.get(i)?;
        let (scope, _) = strand.scope?;
        let place = strand.place(strand.pc).into_boxed_slice();
        match self.scopes.get_mut(&scope)?.entry(place) {
            Slot::Occupied(mut first) if seeded::on(Bug::RetryOfTheLast) => Some(first.insert(id)),
            Slot::Occupied(first) => Some(*first.get()),
            Slot::Vacant(first) => {
                first.insert(id);
                None
            }
        }
    }

    /// Waits for the verification of the attempt's last telecommand, its window counted from a time on.
    pub(super) fn verify_from(&mut self, p: &Verified, i: usize, from: i64) -> Option<()> {
        let (_, telecommand) = self.last_sent(p, i)?;
        let until_met = telecommand.verify.until.is_none();
        self.begin_wait(i, None, What::Verification(Verifying { from, until_met, last: Vec::new() }))?;
        self.verify(p, i);
        Some(())
    }

    /// The attempt's last telecommand and its entry.
    pub(super) fn last_sent<'a>(&'a self, p: &'a Verified, i: usize) -> Option<(&'a Sent, &'a TelecommandUse)> {
        let sent = self.strands.get(i)?.attempts.last()?.sent.last()?;
        let (_, unit) = self.place(p, i)?;
        Some((sent, at(&p.telecommands, at(&unit.sends, sent.send)?.telecommand)?))
    }

    /// Judges the verification that a strand waits for by what is known of its telecommand.
    pub(super) fn verify(&mut self, p: &Verified, i: usize) {
        let Some((sent, telecommand)) = self.last_sent(p, i) else { return self.broken(p, i) };
        let Some(State::Wait(Wait { what: What::Verification(verifying), .. })) =
            self.strands.get(i).map(|strand| &strand.state)
        else {
            return;
        };
        let name = &telecommand.name;
        if let Some(end) = sent.end.as_deref() {
            let (code, message) = match end {
                SentEnd::NotReleased(why) => (FailureCode::SendFailed, with_why(&format!("`{name}` never left"), why)),
                SentEnd::EncodeFailed(why) => {
                    (FailureCode::EncodeFailed, with_why(&format!("`{name}` could not be encoded, it never left"), why))
                }
                SentEnd::Failed { stage, code } => {
                    let stage = stage.map_or("its execution", stage_text);
                    (FailureCode::VerifyFailed, with_why(&format!("`{name}` failed at {stage}"), code))
                }
            };
            return self.telecommand_failed(p, i, code, message);
        }
        if sent.released.is_some() && verifying.until_met && unmet(sent, telecommand).next().is_none() {
            if self.next(i).is_none() {
                self.broken(p, i);
            }
            return;
        }
        let deadline = deadline(sent, telecommand, verifying.from);
        if let Some(State::Wait(wait)) = self.strands.get_mut(i).map(|strand| &mut strand.state) {
            wait.deadline = Some(deadline);
        }
    }

    /// A deadline of the verification passed.
    pub(super) fn verification_elapsed(&mut self, p: &Verified, i: usize) {
        let Some((sent, telecommand)) = self.last_sent(p, i) else { return self.broken(p, i) };
        let Some(State::Wait(Wait { deadline: Some(due), what: What::Verification(verifying), .. })) =
            self.strands.get(i).map(|strand| &strand.state)
        else {
            return;
        };
        let (due, name) = (*due, &telecommand.name);
        let window = duration_text(telecommand.verify.window);
        let message = match (sent.released, unmet_by(sent, telecommand, verifying.from, due)) {
            (None, _) => format!("`{name}`: within {window} nothing told that it left; it may have left"),
            (Some(_), Some((stage, limit))) => {
                format!("`{name}` left, but was not reported {} within {}", reported(stage), duration_text(limit))
            }
            (Some(_), None) => {
                let told = self.until_told(p, i, due).unwrap_or_default();
                format!("`{name}` left, but what verifies it did not hold within {window}, {told}")
            }
        };
        self.telecommand_failed(p, i, FailureCode::VerifyTimeout, message);
    }

    fn until_told(&self, p: &Verified, i: usize, due: i64) -> Option<String> {
        let State::Wait(Wait { what: What::Verification(verifying), .. }) = &self.strands.get(i)?.state else {
            return None;
        };
        let listed = Listed(&verifying.last);
        self.with_until(p, i, &listed, due, describe)
    }

    /// Evaluates `until` of the telecommand that a strand waits for: it reads its target and index alone.
    pub(super) fn with_until<T>(
        &self,
        p: &Verified,
        i: usize,
        snapshot: &dyn Snapshot,
        now: i64,
        then: impl FnOnce(&Expr, &Context<'_>) -> T,
    ) -> Option<T> {
        let (sent, telecommand) = self.last_sent(p, i)?;
        let (act, unit) = self.place(p, i)?;
        let target = at(&act.targets, at(&unit.sends, sent.send)?.target)?;
        let since = sent.since(|ns| self.instant(ns))?;
        let locals = [sent.index.map(Value::Int)];
        let context = Context {
            parameters: &**p,
            locals: &locals,
            targets: core::slice::from_ref(target),
            snapshot,
            at: self.instant(now),
            since: Some(since),
        };
        Some(then(telecommand.verify.until.as_ref()?, &context))
    }

    fn telecommand_failed(&mut self, p: &Verified, i: usize, code: FailureCode, message: String) {
        let id = self.last_sent(p, i).map(|(sent, _)| identifiers::text(sent.id));
        let Some(mut failure) = self.failure(p, i, code, message) else { return self.broken(p, i) };
        failure.telecommand = id;
        self.failed(p, i, Box::new(failure));
    }

    /// What is known of each telecommand of the attempt.
    pub(super) fn known_telecommands(&self, p: &Verified, i: usize) -> Option<Vec<TelecommandKnown>> {
        let (_, unit) = self.place(p, i)?;
        let mut known = Vec::new();
        for sent in &self.strands.get(i)?.attempts.last()?.sent {
            let telecommand = at(&p.telecommands, at(&unit.sends, sent.send)?.telecommand)?;
            known.push(TelecommandKnown {
                id: identifiers::text(sent.id),
                telecommand: Arc::clone(&telecommand.name),
                component: component_text(&telecommand.component, sent.index),
                known: sent.is_known(),
            });
        }
        Some(known)
    }
}

/// Whether an op is a `send` that is judged on telemetry.
pub(super) fn reads_telemetry(p: &Program, unit: &Unit, op: Op) -> bool {
    let Op::Send(send) = op else { return false };
    at(&unit.sends, send).is_some_and(|operands| {
        at(&p.telecommands, operands.telecommand)
            .is_some_and(|telecommand| exprs_of(unit, operands, telecommand).any(|expr| !expr.reads.is_empty()))
    })
}

/// The expressions of a unit that a `send` is judged by, and `requires`.
fn exprs_of<'a>(unit: &'a Unit, operands: &'a Send, telecommand: &'a TelecommandUse) -> impl Iterator<Item = &'a Expr> {
    let own = operands.args.iter().flatten().chain(&operands.index);
    own.filter_map(|expr| at(&unit.exprs, *expr)).chain(&telecommand.requires)
}

/// What happened and why; a reason that says itself that nothing left does not say it twice.
fn with_why(what: &str, why: &Option<String>) -> String {
    let why = why.as_deref().map(|why| why.strip_prefix("never left: ").unwrap_or(why));
    why.map_or_else(|| String::from(what), |why| format!("{what}: {why}"))
}

fn stage_text(stage: Stage) -> &'static str {
    match stage {
        Stage::Accepted => "acceptance",
        Stage::Started => "start",
        Stage::Completed => "completion",
    }
}

pub(super) fn reported(stage: Stage) -> &'static str {
    match stage {
        Stage::Accepted => "accepted",
        Stage::Started => "started",
        Stage::Completed => "completed",
    }
}

/// The bit of a stage in [`Sent::reports`].
pub(super) fn bit(stage: Stage) -> u8 {
    match stage {
        Stage::Accepted => 1,
        Stage::Started => 2,
        Stage::Completed => 4,
    }
}

/// The declared stages that neither their own report nor a later stage's has met.
pub(super) fn unmet<'a>(sent: &Sent, telecommand: &'a TelecommandUse) -> impl Iterator<Item = (Stage, i64)> + 'a {
    let reports = sent.reports;
    telecommand.verify.stages.iter().copied().filter(move |(stage, _)| reports < bit(*stage))
}

/// When a stage is over: its limit from the release, or from where the window counts anew, and the window's end at the
/// latest.
fn stage_due(sent: &Sent, telecommand: &TelecommandUse, from: i64, limit: i64) -> i64 {
    let window = from.saturating_add(telecommand.verify.window);
    sent.released.map_or(window, |released| released.at.max(from).saturating_add(limit).min(window))
}

fn unmet_by(sent: &Sent, telecommand: &TelecommandUse, from: i64, due: i64) -> Option<(Stage, i64)> {
    unmet(sent, telecommand).find(|(_, limit)| stage_due(sent, telecommand, from, *limit) <= due)
}

fn deadline(sent: &Sent, telecommand: &TelecommandUse, from: i64) -> i64 {
    let window = from.saturating_add(telecommand.verify.window);
    unmet(sent, telecommand).map(|(_, limit)| stage_due(sent, telecommand, from, limit)).fold(window, i64::min)
}

impl Sent {
    /// From when on samples count as received since it left.
    pub(super) fn since(&self, instant: impl Fn(i64) -> Instant) -> Option<Since> {
        let released = self.released?;
        Some(match released.order {
            Some(order) => Since { order: Some(order), received_at: instant(i64::MIN) },
            None => Since { order: None, received_at: instant(released.at) },
        })
    }

    /// Whether it left, by statuses first, by what a takeover or resumption told else.
    pub(super) fn is_known(&self) -> Known {
        match (self.released, self.end.as_deref()) {
            (Some(_), _) | (None, Some(SentEnd::Failed { .. })) => Known::Left,
            (None, Some(SentEnd::NotReleased(_) | SentEnd::EncodeFailed(_))) => Known::NeverLeft,
            (None, None) => self.known.unwrap_or(Known::MayHaveLeft),
        }
    }
}

impl Core {
    /// Whether `until` of the telecommand that a strand waits for holds, judged when the latest sample was received.
    fn until_holds(&self, p: &Verified, i: usize, snapshot: &dyn Snapshot) -> Option<(bool, i64)> {
        let (sent, telecommand) = self.last_sent(p, i)?;
        let begun = sent.released?.at;
        let expr = telecommand.verify.until.as_ref()?;
        let when = self.with_until(p, i, snapshot, begun, |_, context| self.judged_when(expr, context, begun, None))?;
        let holds = self.with_until(p, i, snapshot, when.ns, |expr, context| expr.judge(context) == Some(true))?;
        Some((holds, when.ns))
    }

    /// Whether samples as they are now meet the `until` that a strand waits for.
    pub(super) fn until_settles(&self, p: &Verified, i: usize, snapshot: &dyn Snapshot) -> bool {
        let Some(State::Wait(Wait { deadline, what: What::Verification(verifying), .. })) =
            self.strands.get(i).map(|strand| &strand.state)
        else {
            return false;
        };
        !verifying.until_met
            && self
                .until_holds(p, i, snapshot)
                .is_some_and(|(holds, when)| holds && deadline.is_none_or(|deadline| when <= deadline))
    }

    /// `observed` for `until`.
    pub(super) fn until_observed(&mut self, p: &Verified, i: usize, samples: &[SampleRecord]) -> Option<()> {
        let (holds, _) = self.until_holds(p, i, &Listed(samples))?;
        let State::Wait(Wait { what: What::Verification(verifying), .. }) = &mut self.strands.get_mut(i)?.state else {
            return None;
        };
        if holds {
            verifying.until_met = true;
        } else {
            verifying.last = samples.to_vec();
        }
        self.verify(p, i);
        Some(())
    }
}
