//! Facts: what may enter the log, and what it does.
//!
//! A fact is checked whole before it changes anything. Time: no fact is earlier than the event before; one later than a
//! deadline that is pending is refused, the `elapsed` comes first. A sample and a telecommand's status are as late as
//! they were received, whatever `at` says; that a telecommand never left is certain whenever it is learnt, so its own
//! window does not refuse that. Control facts, `leases` and `declined` come at any time. A status that tells of a
//! telecommand of an attempt that is over is logged and does nothing.

use alloc::{boxed::Box, format, sync::Arc};

use super::{
    identifiers,
    refused::{Refused, RefusedKind},
    send::bit,
    start,
    state::{
        Activation, Cancel, Core, Due, Ending, Frame, FrameKind, LeaseWait, Release, Run, SentEnd, State, Strand,
        Suspension, Wait, What, at,
    },
    waits::is_control,
};
use crate::{
    catalogue::Stage,
    event::{Fact, LeaseRefusal, PendingId, RunOutcome, SampleRecord, TelecommandStatus},
    seeded::{self, Bug},
    time::Instant,
    verify::Verified,
};

type Checked = Result<Option<usize>, Refused>;

fn refuse<T>(why: RefusedKind, message: impl Into<alloc::string::String>) -> Result<T, Refused> {
    Err(Refused::new(why, message))
}

impl Core {
    pub(super) fn accept(&mut self, p: &Verified, fact: &Fact, now: Instant) -> Result<(), Refused> {
        if let Fact::RunStarted { .. } = fact {
            return self.run_started(p, fact, now);
        }
        if self.run.is_none() {
            return refuse(RefusedKind::Order, "the first event of a run is `run_started`");
        }
        if now.scale != self.scale || now.ns < self.now {
            let last = self.instant(self.now);
            return refuse(RefusedKind::Time, format!("{now} is before the last event, {last}, or of another scale"));
        }
        self.settle(p, now.ns);
        let strand = self.check_fact(p, fact, now.ns)?;
        let before = self.now;
        self.now = now.ns;
        self.seq = self.seq.saturating_add(1);
        if self.apply(p, fact, strand, before).is_none() {
            self.broken(p, strand.unwrap_or(0));
        }
        self.run_all(p);
        // The log alone says where the run stands: what no longer fits is seen here, whoever asks next and when.
        self.settle(p, self.now);
        self.count_quiet();
        Ok(())
    }

    fn run_started(&mut self, p: &Verified, fact: &Fact, now: Instant) -> Result<(), Refused> {
        let Fact::RunStarted { run, procedure, targets, inputs, scale, .. } = fact else {
            return refuse(RefusedKind::Order, "no `run_started`");
        };
        if self.run.is_some() {
            return refuse(RefusedKind::Order, "the run has started already");
        }
        if now.scale != *scale {
            return refuse(RefusedKind::Time, format!("{now} is not of the scale of the run"));
        }
        let start =
            start::check(p, procedure, targets, inputs).map_err(|error| Refused::new(RefusedKind::Start, error.0))?;
        self.seq = 1;
        self.now = now.ns;
        self.scale = now.scale;
        self.run = Some(Run {
            id: Arc::clone(run),
            unit: start.unit,
            targets: start.targets,
            inputs: start.inputs,
            started_at: now.ns,
        });
        self.leases = Some(LeaseWait::default());
        Ok(())
    }

    /// Whether a fact may enter now; the strand that it is for.
    fn check_fact(&self, p: &Verified, fact: &Fact, now: i64) -> Checked {
        if self.ended.is_some() {
            return refuse(RefusedKind::Ended, "the run has ended");
        }
        let aborting = self.ending.as_ref().is_some_and(|ending| ending.outcome == RunOutcome::Aborted);
        match fact {
            Fact::AbortRequested { .. } if aborting => {
                return refuse(RefusedKind::Ended, "the run is being aborted already");
            }
            Fact::Resumed { .. } if self.suspended.is_none() => {
                return refuse(RefusedKind::NotSuspended, "the run is not suspended");
            }
            Fact::Leases { taken, refused, .. } => return self.check_leases(taken, refused.as_ref()),
            _ if is_control(fact) => return Ok(None),
            Fact::TelecommandStatus { id, status, received_at, stage, .. } => {
                return self.check_status(id, *status, *stage, received_at.ns, now);
            }
            Fact::TransferStatus { id, .. } => return self.check_transfer(id, now),
            _ => {}
        }
        if self.ending.is_some() {
            return refuse(RefusedKind::Ended, "the run is about to end");
        }
        if let Some(suspension) = self.suspended.as_ref().filter(|_| !seeded::on(Bug::SuspendedAnswers)) {
            return refuse(RefusedKind::Suspended, format!("the run is suspended: {}", suspension.why));
        }
        if self.leases.is_some() {
            return refuse(RefusedKind::NoLeases, "the run has not got its leases yet");
        }
        match fact {
            Fact::Observed { pending, samples, utc } => self.check_observed(*pending, samples, utc.is_some(), now),
            Fact::Elapsed { pending, due, .. } => self.check_elapsed(*pending, *due, now),
            Fact::Answered { question, value, .. } => self.check_answer(p, question, value, now),
            Fact::Decided { decision, option, .. } => {
                let id = identifiers::parse(decision);
                let i = self.find(|what| matches!(what, What::Decision { id: open, .. } if Some(*open) == id))?;
                match self.strands.get(i).and_then(|strand| strand.state.wait()) {
                    Some(What::Decision { of, .. }) if of.options.contains(option) => self.in_time(now, i, false),
                    _ => refuse(RefusedKind::NotOffered, "this option is not offered"),
                }
            }
            _ => refuse(RefusedKind::Order, "no such fact is expected"),
        }
    }

    /// The strand that waits for something.
    fn find(&self, is: impl Fn(&What) -> bool) -> Result<usize, Refused> {
        let found = self.strands.iter().position(|strand| strand.state.wait().is_some_and(&is));
        found.ok_or_else(|| Refused::new(RefusedKind::NotPending, "nothing waits for this"))
    }

    fn find_pending(&self, pending: PendingId) -> Result<usize, Refused> {
        let is = |strand: &Strand| matches!(&strand.state, State::Wait(wait) if wait.id == pending);
        let found = self.strands.iter().position(is);
        found.ok_or_else(|| Refused::new(RefusedKind::NotPending, format!("nothing waits under the number {pending}")))
    }

    /// Refuses what is later than a pending deadline; `own_too`: not that of the strand itself.
    fn in_time(&self, time: i64, i: usize, own_exempt: bool) -> Checked {
        let Some((due, _)) = self.first_deadline(own_exempt.then_some(i)) else { return Ok(Some(i)) };
        if time > due || (time == due && seeded::on(Bug::AtTheDeadline)) {
            let due = self.instant(due);
            return refuse(RefusedKind::Late, format!("the deadline {due} passed before: its `elapsed` comes first"));
        }
        Ok(Some(i))
    }

    /// The first deadline and the place of its strand; a strand can be left out.
    pub(super) fn first_deadline(&self, without: Option<usize>) -> Option<(i64, usize)> {
        if self.ending.is_some() || self.suspended.is_some() || self.leases.is_some() {
            return None;
        }
        let deadlines = self.strands.iter().enumerate().filter(|(i, _)| Some(*i) != without);
        let due = deadlines.filter_map(|(i, strand)| match &strand.state {
            State::Wait(wait) => wait.deadline.map(|deadline| (deadline, i)),
            _ => None,
        });
        due.min()
    }

    fn check_leases(&self, taken: &[Arc<str>], refused: Option<&LeaseRefusal>) -> Checked {
        let Some(run) = self.run.as_ref().filter(|_| self.leases.is_some()) else {
            return refuse(RefusedKind::NotPending, "no leases are awaited");
        };
        if refused.is_none()
            && let Some(missing) = run.targets.iter().find(|target| !taken.contains(target))
        {
            return refuse(RefusedKind::NotPending, format!("the lease of `{missing}` is missing"));
        }
        Ok(None)
    }

    fn check_status(
        &self,
        id: &str,
        status: TelecommandStatus,
        stage: Option<Stage>,
        received_at: i64,
        now: i64,
    ) -> Checked {
        let unknown = || Refused::new(RefusedKind::NotPending, format!("`{id}` is no telecommand of this run"));
        let number = identifiers::parse(id).ok_or_else(unknown)?;
        let Some((i, place)) = self.find_sent(number) else {
            let started = self.run.as_ref().map_or(i64::MAX, |run| run.started_at.saturating_sub(1_000_000));
            if (started..=now).contains(&identifiers::made_at(number)) {
                return self.in_time(received_at, usize::MAX, false).map(|_| None);
            }
            return Err(unknown());
        };
        let sent =
            self.strands.get(i).and_then(|strand| strand.attempts.last()?.sent.get(place)).ok_or_else(unknown)?;
        let repeated = match status {
            TelecommandStatus::Released => sent.released.is_some_and(|release| !release.implied),
            TelecommandStatus::NotReleased | TelecommandStatus::EncodeFailed => sent.end.is_some(),
            TelecommandStatus::Accepted => sent.reports & bit(Stage::Accepted) != 0,
            TelecommandStatus::Started => sent.reports & bit(Stage::Started) != 0,
            TelecommandStatus::Completed => sent.reports & bit(Stage::Completed) != 0,
            TelecommandStatus::Failed => {
                matches!(sent.end.as_deref(), Some(SentEnd::Failed { stage: told, .. }) if *told == stage)
            }
        };
        if repeated {
            return refuse(RefusedKind::Repeated, format!("the log has this status of `{id}` already"));
        }
        let never_left = matches!(status, TelecommandStatus::NotReleased | TelecommandStatus::EncodeFailed);
        self.in_time(received_at, i, never_left)
    }

    fn check_transfer(&self, id: &str, now: i64) -> Checked {
        let number = identifiers::parse(id);
        let i = self.find(|what| matches!(what, What::Transfer { id: open, .. } if Some(*open) == number))?;
        self.in_time(now, i, false)
    }

    fn check_observed(&self, pending: PendingId, samples: &[SampleRecord], utc: bool, now: i64) -> Checked {
        let i = self.find_pending(pending)?;
        let time = match self.strands.get(i).and_then(|strand| strand.state.wait()) {
            Some(What::Reading) => now,
            Some(What::Utc { .. }) if utc => now,
            Some(What::Utc { .. }) => return refuse(RefusedKind::NotPending, "UTC is asked for, and not told"),
            Some(What::Condition(_)) => received(samples),
            Some(What::Verification(verifying)) if !verifying.until_met && self.has_left(i) => received(samples),
            _ => return refuse(RefusedKind::NotPending, "no samples are asked for there"),
        };
        self.in_time(time, i, false)
    }

    /// Whether the telecommand that a strand waits for is known to have left.
    pub(super) fn has_left(&self, i: usize) -> bool {
        let sent = self.strands.get(i).and_then(|strand| strand.attempts.last()?.sent.last());
        sent.is_some_and(|sent| sent.released.is_some())
    }

    fn check_elapsed(&self, pending: PendingId, due: Instant, now: i64) -> Checked {
        let i = self.find_pending(pending)?;
        match self.first_deadline(None) {
            Some((deadline, first))
                if first == i && deadline == due.ns && due.scale == self.scale && now >= deadline =>
            {
                Ok(Some(i))
            }
            _ => refuse(RefusedKind::NotDue, format!("{due} is not the first deadline, or has not come")),
        }
    }

    fn check_answer(&self, p: &Verified, question: &str, value: &str, now: i64) -> Checked {
        let id = identifiers::parse(question);
        let i = self.find(|what| matches!(what, What::Answer { question: open, .. } if Some(*open) == id))?;
        if !self.offers(p, i, value) {
            return refuse(RefusedKind::NotOffered, format!("`{value}` is not among the choices"));
        }
        self.in_time(now, i, false)
    }

    fn apply(&mut self, p: &Verified, fact: &Fact, strand: Option<usize>, before: i64) -> Option<()> {
        match fact {
            Fact::RunStarted { .. } | Fact::Declined { .. } => Some(()),
            Fact::Leases { refused, .. } => self.leases_told(p, refused.as_ref()),
            Fact::TelecommandStatus { id, .. } => {
                let Some(i) = strand else { return Some(()) };
                let (_, place) = self.find_sent(identifiers::parse(id)?)?;
                self.status(p, i, place, fact)
            }
            Fact::Observed { samples, utc, .. } => {
                let told = samples.iter().map(|sample| sample.order).max();
                self.observed(p, strand?, samples, utc.map(|utc| utc.ns))?;
                self.max_order = self.max_order.max(told);
                Some(())
            }
            Fact::Elapsed { due, utc, .. } => self.elapsed(p, strand?, due.ns, utc.map(|utc| utc.ns)),
            Fact::Answered { value, by, .. } => self.answered(p, strand?, value, by),
            Fact::Decided { option, by, .. } => self.decided(p, strand?, *option, by),
            Fact::Suspended { why, by, .. } => {
                self.suspend(format!("{why}, by {by}"));
                Some(())
            }
            Fact::Resumed { known, .. } => {
                let suspension = self.suspended.take()?;
                self.stood_still = self.stood_still.saturating_add(self.now.saturating_sub(suspension.since));
                self.told_known(known);
                self.leases = self.ending.is_none().then_some(LeaseWait { taken_over: None, resumed: true });
                Some(())
            }
            Fact::AbortRequested { by, .. } => {
                self.abort(by);
                Some(())
            }
            Fact::TakenOver { known, .. } => {
                self.told_known(known);
                if self.added.since.is_none() {
                    self.added.ns = self.added.ns.saturating_add(self.now.saturating_sub(before));
                }
                if self.ending.is_none() && self.suspended.is_none() {
                    let resumed = self.leases.is_some_and(|leases| leases.resumed);
                    self.leases = Some(LeaseWait { taken_over: Some(self.now), resumed });
                }
                Some(())
            }
            Fact::TransferStatus { status, reason, .. } => self.transfer_status(p, strand?, *status, reason.as_ref()),
        }
    }

    fn suspend(&mut self, why: alloc::string::String) {
        let since = self.suspended.as_ref().map_or(self.now, |suspension| suspension.since);
        self.suspended = Some(Suspension { since, why });
        self.leases = None;
        self.cancel_transfers();
    }

    fn leases_told(&mut self, p: &Verified, refused: Option<&LeaseRefusal>) -> Option<()> {
        let wait = self.leases.take()?;
        let starting = self.strands.is_empty();
        match refused {
            Some(refusal) if starting => {
                let reason = Some(refusal.reason.clone());
                self.end_run(Ending { outcome: RunOutcome::Failed, reason, failure: None });
            }
            Some(refusal) => self.suspend(refusal.reason.clone()),
            None if starting => self.start(p)?,
            None => self.take_up(p, wait.taken_over, wait.resumed),
        }
        Some(())
    }

    /// The first strand begins.
    fn start(&mut self, p: &Verified) -> Option<()> {
        let run = self.run.as_ref()?;
        let unit = at(&p.units, run.unit)?;
        let inputs = run.inputs.iter().cloned().map(Some).collect();
        let path = Arc::from([Arc::clone(&unit.name)]);
        self.strands.push(Strand {
            id: 0,
            parent: None,
            pc: 0,
            frames: [Frame { stop: p.facts(run.unit)?.body_end, kind: FrameKind::Unit }].into(),
            acts: [Activation::new(run.unit, unit, inputs, Arc::clone(&run.targets), path)].into(),
            attempts: alloc::vec::Vec::new(),
            state: State::Running,
            halted: None,
            scope: None,
            prefix: Arc::from([]),
        });
        Some(())
    }

    fn status(&mut self, p: &Verified, i: usize, place: usize, fact: &Fact) -> Option<()> {
        let Fact::TelecommandStatus { status, received_at, order, stage, code, reason, .. } = fact else {
            return None;
        };
        let max_order = self.max_order.max(*order);
        let sent = self.sent_mut(i, place)?;
        let implied = Release { at: received_at.ns, order: max_order, implied: true };
        let report = |stage| (bit(stage), None);
        let (reported, end) = match status {
            TelecommandStatus::Released => {
                sent.released = Some(Release { at: received_at.ns, order: *order, implied: false });
                (0, None)
            }
            TelecommandStatus::NotReleased => (0, Some(SentEnd::NotReleased(reason.clone()))),
            TelecommandStatus::EncodeFailed => (0, Some(SentEnd::EncodeFailed(reason.clone()))),
            TelecommandStatus::Accepted => report(Stage::Accepted),
            TelecommandStatus::Started => report(Stage::Started),
            TelecommandStatus::Completed => report(Stage::Completed),
            TelecommandStatus::Failed => (0, Some(SentEnd::Failed { stage: *stage, code: code.clone() })),
        };
        let left = reported != 0 || matches!(end, Some(SentEnd::Failed { .. }));
        if left && sent.released.is_none() {
            sent.released = Some(implied);
        }
        sent.reports |= reported;
        if let Some(end) = end {
            sent.end = Some(Box::new(end));
        }
        let last = self.strands.get(i)?.attempts.last()?.sent.len().checked_sub(1) == Some(place);
        self.max_order = max_order;
        let held = self.suspended.is_some() || self.leases.is_some() || self.ending.is_some();
        if last && !held && matches!(self.strands.get(i)?.state.wait(), Some(What::Verification(_))) {
            self.verify(p, i);
        }
        Some(())
    }

    fn observed(&mut self, p: &Verified, i: usize, samples: &[SampleRecord], utc: Option<i64>) -> Option<()> {
        match self.strands.get(i)?.state.wait()? {
            What::Reading => {
                let (_, unit) = self.place(p, i)?;
                let op = *at(&unit.code, self.strands.get(i)?.pc)?;
                self.execute(p, i, op, Some(samples))
            }
            What::Condition(_) => self.condition_observed(p, i, samples),
            What::Verification(_) => self.until_observed(p, i, samples),
            What::Utc { .. } => self.utc_read(p, i, utc?, false),
            _ => None,
        }
    }

    fn elapsed(&mut self, p: &Verified, i: usize, due: i64, utc: Option<i64>) -> Option<()> {
        match self.strands.get(i)?.state.wait()? {
            What::Timer => self.next(i),
            What::Interval => {
                self.strands.get_mut(i)?.state = State::Due(Due::Start);
                Some(())
            }
            What::Condition(_) => self.condition_elapsed(p, i, due),
            What::Verification(_) => {
                self.verification_elapsed(p, i);
                Some(())
            }
            What::Utc { .. } => match utc {
                Some(utc) => self.utc_read(p, i, utc, true),
                None => self.utc_elapsed(p, i),
            },
            What::Answer { .. } => self.ask_elapsed(p, i),
            What::Transfer { .. } => {
                self.cancel_transfer(i, Cancel::Elapsed);
                Some(())
            }
            What::Reading | What::Decision { .. } => None,
        }
    }

    /// Counts the time that decisions and suspensions add to the bound; called behind every event.
    pub(super) fn count_quiet(&mut self) {
        let open = |strand: &Strand| matches!(&strand.state, State::Wait(Wait { what: What::Decision { .. }, .. }));
        let quiet = self.ended.is_none() && (self.suspended.is_some() || self.strands.iter().any(open));
        match (self.added.since, quiet) {
            (None, true) => self.added.since = Some(self.now),
            (Some(since), false) => {
                self.added.ns = self.added.ns.saturating_add(self.now.saturating_sub(since));
                self.added.since = None;
            }
            _ => {}
        }
    }
}

/// When the latest of some samples was received.
fn received(samples: &[SampleRecord]) -> i64 {
    samples.iter().map(|sample| sample.received_at.ns).max().unwrap_or(i64::MIN)
}
