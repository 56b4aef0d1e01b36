//! A world that does the worst that it can: reports, samples and answers at any time, of any kind, or not at all.
//!
//! It keeps to what every driver keeps to: what is due at once is entered at once, a deadline at the deadline, a sample
//! that settles something when it comes.

use alloc::{borrow::ToOwned, collections::BTreeMap, format, string::String, sync::Arc, vec::Vec};

use super::Dice;
use crate::{
    catalogue::Stage,
    condition::{SampleView, Snapshot},
    event::{
        DecisionOption, Fact, Known, KnownStatus, PendingId, RunOutcome, Schema, TelecommandStatus, TransferStatus,
        Transition,
    },
    machine::{Advance, Machine, Pending, PendingKind},
    program::Unit,
    time::{Instant, Scale},
    value::Scalar,
    verify::Verified,
};

/// When every run here starts.
pub(crate) const START: i64 = 1_800_000_000_000_000_000;
const S: i64 = 1_000_000_000;

/// What the operator does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Operator {
    /// Nothing but decide what the run cannot go on without, at once, and without a new attempt.
    Absent,
    /// Decides late, for new attempts too.
    Decides,
    /// Suspends, resumes and takes over besides.
    Interferes,
}

/// Target, index, name.
type Place = (String, i64, String);

#[derive(Default)]
struct Telemetry(BTreeMap<Place, (Scalar, i64, u64, bool)>);

impl Snapshot for Telemetry {
    fn latest(&self, target: &str, _: &str, index: Option<i64>, name: &str) -> Option<SampleView<'_>> {
        let key = (target.to_owned(), index.unwrap_or(0), name.to_owned());
        let (value, at, order, valid) = self.0.get(&key)?;
        Some(SampleView { value, received_at: instant(*at), order: *order, valid: *valid })
    }
}

fn instant(ns: i64) -> Instant {
    Instant { ns, scale: Scale::Utc }
}

pub(crate) struct Adversary {
    program: Arc<Verified>,
    machine: Machine,
    dice: Dice,
    operator: Operator,
    /// Whether things go well, and whether they come at the last instant: then runs get far, and last long.
    well: bool,
    late: bool,
    now: i64,
    order: u64,
    telemetry: Telemetry,
    sent: Vec<Arc<str>>,
    options: BTreeMap<Arc<str>, Vec<DecisionOption>>,
    choices: BTreeMap<Arc<str>, Vec<Arc<str>>>,
    cancelled: Vec<Arc<str>>,
    /// Statements that were seen to be executed, and starts of steps and calls.
    seen: (u64, u64),
    /// Attempts and statements that the operator's orders began again.
    again: i64,
    /// Since when a decision is open or the run suspended, and the sum of all such stretches.
    stopped: (Option<i64>, i64),
    suspended: bool,
}

impl Adversary {
    pub(crate) fn new(program: &Arc<Verified>, seed: u64, operator: Operator) -> Self {
        let mut dice = Dice(seed ^ 0x5151);
        let (well, late) = (dice.one_in(2), dice.one_in(2));
        Self {
            program: Arc::clone(program),
            machine: Machine::new(Arc::clone(program)),
            dice,
            operator,
            well,
            late,
            now: START,
            order: 0,
            telemetry: Telemetry::default(),
            sent: Vec::new(),
            options: BTreeMap::new(),
            choices: BTreeMap::new(),
            cancelled: Vec::new(),
            seen: (0, 0),
            again: 0,
            stopped: (None, 0),
            suspended: false,
        }
    }

    /// Runs a procedure to its end and checks what it claims; gives the number of events.
    pub(crate) fn run(mut self, unit: &Unit) -> u64 {
        let names = ["sim-1", "sim-2"];
        let targets = unit.targets.iter().zip(names).map(|(target, name)| (Arc::clone(&target.name), name.into()));
        self.enter(Fact::RunStarted {
            schema: Schema,
            run: "01K6A3D3Y4Q8K1P9W2N6R5T7XZ".into(),
            procedure: Arc::clone(&unit.name),
            targets: targets.collect(),
            inputs: BTreeMap::new(),
            artifact: "00".into(),
            scale: Scale::Utc,
            virtual_clock: true,
            links: BTreeMap::new(),
            by: "os:test".into(),
        });
        for _ in 0..200_000 {
            match self.machine.advance(instant(self.now)) {
                Advance::Emit(transition) => self.saw(&transition),
                Advance::Done(_) => {
                    self.holds(unit);
                    return self.machine.seq();
                }
                Advance::Await => self.act(),
            }
            self.stopwatch();
        }
        panic!("the run does not end: {:?}", self.machine.pending().collect::<Vec<_>>());
    }

    fn holds(&mut self, unit: &Unit) {
        let claims = unit.claims;
        let (statements, starts) = self.seen;
        let lasted = self.machine.now().ns - START;
        let longest = self.program.units.iter().map(longest).max().unwrap_or(0);
        let allowed = claims.max + self.stopped.1 + self.again * longest;
        let told = format!("{}: lasted {lasted} ns of {allowed}, {statements} statements, {starts} starts", unit.name);
        assert!(lasted <= allowed, "{told}, {claims:?}");
        if self.again == 0 {
            assert!(statements <= claims.statements && starts <= 2 * claims.statements, "{told}, {claims:?}");
        }
    }

    /// Measures the stretches that do not count.
    fn stopwatch(&mut self) {
        let open = self.suspended
            || self.machine.pending().any(|pending| matches!(pending.kind, PendingKind::Decision { .. }));
        match (open, self.stopped.0) {
            (true, None) => self.stopped.0 = Some(self.now),
            (false, Some(since)) => self.stopped = (None, self.stopped.1 + self.now - since),
            _ => {}
        }
    }

    fn saw(&mut self, transition: &Transition) {
        match transition {
            Transition::TelecommandSent { id, .. } => {
                self.sent.push(Arc::clone(id));
                self.seen.0 += 1;
            }
            Transition::TransferRequested { .. } => self.seen.0 += 1,
            Transition::QuestionAsked { id, choices, .. } => {
                self.choices.insert(Arc::clone(id), choices.clone());
                self.seen.0 += 1;
            }
            Transition::DecisionRequired { id, options, .. } => {
                self.options.insert(Arc::clone(id), options.clone());
            }
            Transition::StepStarted { .. } | Transition::CallStarted { .. } => self.seen.1 += 1,
            Transition::RunFinished { outcome, reason, .. } => {
                // So ends a run whose code leads nowhere.
                let odd = reason.as_ref().is_some_and(|reason| reason.contains("malformed"));
                assert!(!odd && (*outcome == RunOutcome::Passed || reason.is_some()), "{reason:?}");
            }
            _ => {}
        }
    }

    /// Enters a fact that fits.
    fn enter(&mut self, fact: Fact) {
        if let Err(refused) = self.machine.accept(&fact, instant(self.now)) {
            panic!("{fact:?} is refused: {refused:?}");
        }
    }

    /// Enters a fact that may come at the wrong time.
    fn offer(&mut self, fact: &Fact) -> bool {
        self.machine.accept(fact, instant(self.now)).is_ok()
    }

    fn observe(&mut self, pending: PendingId, utc: bool) {
        let samples = self.machine.evidence(pending, &self.telemetry);
        self.enter(Fact::Observed { pending, samples, utc: utc.then(|| instant(self.now)) });
    }

    /// One thing that happens.
    fn act(&mut self) {
        // Overdue after a suspension: first of all.
        if let Some((due, pending)) = self.machine.next_deadline()
            && due.ns < self.now
            && !self.suspended
        {
            return self.elapse(due, pending);
        }
        if let Some(pending) = self.machine.settles(&self.telemetry) {
            return self.observe(pending, false);
        }
        let pending: Vec<Pending> = self.machine.pending().collect();
        for one in &pending {
            match &one.kind {
                PendingKind::Leases => {
                    let taken = alloc::vec!["sim-1".into(), "sim-2".into()];
                    return self.enter(Fact::Leases { taken, shared: false, refused: None });
                }
                PendingKind::Reading => return self.observe(one.id, false),
                PendingKind::Utc { until, now } if *now || *until <= self.now => return self.observe(one.id, true),
                PendingKind::Transfer { id, cancel: true } if !self.cancelled.contains(id) => {
                    self.cancelled.push(Arc::clone(id));
                    let status = TransferStatus::Cancelled;
                    return self.enter(Fact::TransferStatus { id: Arc::clone(id), status, reason: None });
                }
                _ => {}
            }
        }
        if self.suspended {
            self.pass(None);
            return self.resume();
        }
        let deadline = self.machine.next_deadline();
        let due = deadline.map(|(due, _)| due.ns);
        let utc = pending.iter().filter_map(|one| match one.kind {
            PendingKind::Utc { until, .. } => Some(until),
            _ => None,
        });
        let limit = due.into_iter().chain(utc).min();
        if pending.is_empty() || (self.late && !self.dice.one_in(5)) || self.dice.one_in(3) {
            self.pass_to(limit);
        } else {
            self.pass(limit);
        }
        match deadline {
            Some((due, pending)) if due.ns <= self.now && self.dice.one_in(2) => self.elapse(due, pending),
            _ if self.operator == Operator::Interferes && self.dice.one_in(20) => self.interfere(),
            _ => self.happen(&pending, deadline),
        }
    }

    /// Time goes on, to the limit at most.
    fn pass(&mut self, limit: Option<i64>) {
        let step = self.dice.pick(&[0, 1, 1_000_000, 100_000_000, 400_000_000, S, 2 * S]);
        let then = self.now + step;
        self.now = limit.map_or(then, |limit| then.min(limit)).max(self.now);
    }

    fn pass_to(&mut self, limit: Option<i64>) {
        match limit {
            Some(limit) => self.now = self.now.max(limit),
            None => self.pass(None),
        }
    }

    fn elapse(&mut self, due: Instant, pending: PendingId) {
        let kind = self.machine.pending().find(|one| one.id == pending).map(|one| one.kind);
        if matches!(kind, Some(PendingKind::Condition | PendingKind::Telecommand { until: true, .. })) {
            let samples = self.machine.evidence(pending, &self.telemetry);
            if !samples.is_empty() {
                self.enter(Fact::Observed { pending, samples, utc: None });
            }
        }
        let utc = matches!(kind, Some(PendingKind::Utc { .. })).then(|| instant(self.now));
        self.enter(Fact::Elapsed { pending, due, utc });
    }

    /// A sample, a report, an answer, a decision: whatever is waited for, or not.
    fn happen(&mut self, pending: &[Pending], deadline: Option<(Instant, PendingId)>) {
        let entered = match self.dice.below(4) {
            0 => {
                self.sample();
                return;
            }
            1 if !self.sent.is_empty() => self.status(),
            _ => self.answer(pending),
        };
        if !entered && let Some((due, pending)) = deadline {
            self.pass_to(Some(due.ns));
            if self.machine.settles(&self.telemetry).is_none() {
                self.elapse(due, pending);
            }
        }
    }

    fn sample(&mut self) {
        self.order += 1;
        let target = self.dice.pick(&["sim-1", "sim-2"]);
        let index = 1 + self.dice.below(2) as i64;
        if self.well && !self.dice.one_in(5) {
            let value = (Scalar::Bool(true), self.now, self.order, true);
            self.telemetry.0.insert((target.to_owned(), index, "responding".to_owned()), value);
            return;
        }
        let (name, value) = match self.dice.below(2) {
            0 => ("responding", Scalar::Bool(self.dice.one_in(2))),
            _ => ("mode", Scalar::Str(self.dice.pick(&["STANDBY", "OPERATIONAL", "no label"]).to_owned())),
        };
        let valid = !self.dice.one_in(8);
        self.telemetry.0.insert((target.to_owned(), index, name.to_owned()), (value, self.now, self.order, valid));
    }

    fn status(&mut self) -> bool {
        use TelecommandStatus::{Accepted, Completed, EncodeFailed, Failed, NotReleased, Released, Started};
        let late = self.dice.one_in(4);
        let Some(id) = (if late { self.sent.first() } else { self.sent.last() }).cloned() else { return false };
        let status = self.dice.pick(&[
            Released,
            Released,
            Completed,
            Completed,
            Accepted,
            Started,
            Failed,
            NotReleased,
            EncodeFailed,
        ]);
        let mut order = None;
        if status == Released {
            self.order += 1;
            order = Some(self.order);
        }
        self.offer(&Fact::TelecommandStatus {
            id,
            status,
            received_at: instant(self.now),
            order,
            stage: (status == Failed).then_some(Stage::Started),
            code: None,
            reason: None,
        })
    }

    fn answer(&mut self, pending: &[Pending]) -> bool {
        if pending.is_empty() {
            return false;
        }
        let one = self.dice.pick(pending);
        let by: Arc<str> = "ann".into();
        match one.kind {
            PendingKind::Answer { question } => {
                let Some(choices) = self.choices.get(&question) else { return false };
                let first = choices.first().cloned();
                let value = if self.well { first.unwrap_or_default() } else { self.dice.pick(choices) };
                self.offer(&Fact::Answered { question, value, by, ctl: None })
            }
            PendingKind::Decision { decision } => {
                let Some(options) = self.options.get(&decision) else { return false };
                let skip = self.well && options.contains(&DecisionOption::Skip) && !self.dice.one_in(4);
                let option = if skip { DecisionOption::Skip } else { self.dice.pick(options) };
                let again = matches!(option, DecisionOption::Replay | DecisionOption::Recheck);
                if again && (self.operator == Operator::Absent || self.again > 5) {
                    return false;
                }
                let entered = self.offer(&Fact::Decided { decision, option, by, ctl: None });
                self.again += i64::from(again && entered);
                entered
            }
            PendingKind::Transfer { id, cancel: false } => {
                use TransferStatus::{Completed, Failed, NotCreated};
                let status = self.dice.pick(&[Completed, Failed, NotCreated]);
                self.offer(&Fact::TransferStatus { id, status, reason: None })
            }
            _ => false,
        }
    }

    /// Suspends the run, or takes it over.
    fn interfere(&mut self) {
        if self.again > 5 {
            return;
        }
        if self.dice.one_in(2) {
            let suspended = self.offer(&Fact::Suspended { why: "operator".into(), by: "ann".into(), ctl: None });
            self.suspended |= suspended;
        } else if self.offer(&Fact::TakenOver { instance: "exec-b".into(), known: self.known() }) {
            self.again += 3;
        }
    }

    fn resume(&mut self) {
        let known = self.known();
        if self.offer(&Fact::Resumed { by: "ann".into(), known, ctl: None }) {
            self.suspended = false;
            // Each of up to three strands may begin an attempt again, or an open statement.
            self.again += 3;
        }
    }

    fn known(&self) -> Vec<KnownStatus> {
        self.sent.iter().map(|id| KnownStatus { id: Arc::clone(id), known: Known::MayHaveLeft }).collect()
    }
}

/// The longest attempt of a step in a unit.
fn longest(unit: &Unit) -> i64 {
    let inline = unit.steps.iter().map(|step| step.claims.attempt);
    inline.chain([if unit.kind == crate::program::Kind::Step { unit.claims.attempt } else { 0 }]).max().unwrap_or(0)
}
