//! A world that does the worst that it can: reports, samples and answers at any time, of any kind, or not at all.
//!
//! It keeps to what every driver keeps to: what is due at once is entered at once, a deadline at the deadline, a sample
//! that settles something when it comes. What the verifier promises is judged at the end of each run: it ends, within
//! its bound and what was added to it, and executes no more statements than are claimed. Only tests have it (the feature
//! `adversary`); nothing of the product runs in such a world.

use alloc::{borrow::ToOwned, collections::BTreeMap, format, string::String, sync::Arc, vec::Vec};

use crate::{
    catalogue::Stage,
    condition::{SampleView, Snapshot},
    event::{
        DecisionOption, Fact, Known, KnownStatus, PendingId, RunOutcome, Schema, TelecommandStatus, TransferStatus,
        Transition,
    },
    machine::{Advance, Machine, Pending, PendingKind},
    op::Op,
    program::{Kind, Unit},
    time::{Instant, Scale},
    value::{Scalar, Type, Value},
    verify::Verified,
};

/// When every run here starts.
pub const START: i64 = 1_800_000_000_000_000_000;
const S: i64 = 1_000_000_000;

/// How often the run is looked at, at most.
const TURNS: u32 = 200_000;

/// Numbers from a seed (splitmix64).
#[derive(Debug, Clone)]
pub struct Dice(pub u64);

impl Dice {
    /// The next number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Less than `n`; 0 for 0.
    pub fn below(&mut self, n: u64) -> u64 {
        self.roll().checked_rem(n).unwrap_or(0)
    }

    /// One in `n`.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of some; `None` of none.
    pub fn choose<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let place = self.below(u64::try_from(of.len()).unwrap_or(u64::MAX));
        of.get(usize::try_from(place).ok()?)
    }

    /// One of some, of which there must be one.
    #[expect(clippy::expect_used, reason = "there is no array of none here")]
    pub fn pick<T: Clone, const N: usize>(&mut self, of: &[T; N]) -> T {
        const { assert!(N > 0, "there is something to pick") };
        self.choose(of).expect("there is one").clone()
    }
}

/// What the operator does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// Nothing but decide what the run cannot go on without, at once, and without a new attempt.
    Absent,
    /// Decides late, for new attempts too.
    Decides,
    /// Suspends, resumes and takes over besides.
    Interferes,
}

/// Target, component, index, name.
type Place = (Arc<str>, Arc<str>, i64, Arc<str>);

#[derive(Debug, Default)]
struct Telemetry(BTreeMap<Place, (Scalar, i64, u64, bool)>);

impl Snapshot for Telemetry {
    fn latest(&self, target: &str, component: &str, index: Option<i64>, name: &str) -> Option<SampleView<'_>> {
        let key = (target.into(), component.into(), index.unwrap_or(0), name.into());
        let (value, at, order, valid) = self.0.get(&key)?;
        Some(SampleView { value, received_at: instant(*at), order: *order, valid: *valid })
    }
}

fn instant(ns: i64) -> Instant {
    Instant { ns, scale: Scale::Utc }
}

/// What was broken, in words.
pub type Broken = String;

/// A world round one run.
#[derive(Debug)]
pub struct Adversary {
    program: Arc<Verified>,
    machine: Machine,
    dice: Dice,
    operator: Operator,
    /// Whether things go well, and whether they come at the last instant: then runs get far, and last long.
    well: bool,
    late: bool,
    now: i64,
    order: u64,
    targets: Vec<(u32, Arc<str>)>,
    /// Values that the code compares with.
    constants: Vec<Value>,
    telemetry: Telemetry,
    sent: Vec<Arc<str>>,
    options: BTreeMap<Arc<str>, Vec<DecisionOption>>,
    choices: BTreeMap<Arc<str>, Vec<Arc<str>>>,
    cancelled: Vec<Arc<str>>,
    /// Statements that were seen to be executed, and starts of steps and calls.
    seen: (u64, u64),
    /// Attempts and statements that the operator's orders began again.
    again: i64,
    /// How many strands one order may begin again.
    strands: i64,
    /// Since when a decision is open or the run suspended, and the sum of all such stretches.
    stopped: (Option<i64>, i64),
    suspended: bool,
}

/// Runs every procedure of a program; gives the number of events.
///
/// # Errors
/// What a run broke of that which the verifier promises.
pub fn run_all(program: &Arc<Verified>, seed: u64, operator: Operator) -> Result<u64, Broken> {
    let mut events = 0_u64;
    for unit in program.units.iter().filter(|unit| unit.kind == Kind::Procedure) {
        events = events.saturating_add(Adversary::new(program, seed, operator).run(unit)?);
    }
    Ok(events)
}

impl Adversary {
    /// A world for one run of a program, which is the same for the same seed.
    #[must_use]
    pub fn new(program: &Arc<Verified>, seed: u64, operator: Operator) -> Self {
        let mut dice = Dice(seed ^ 0x5151);
        let (well, late) = (dice.one_in(2), dice.one_in(2));
        let slice = program.telecommands.iter().flat_map(|one| one.requires.iter().chain(&one.verify.until));
        let exprs = program.units.iter().flat_map(|unit| &unit.exprs).chain(slice);
        let branches = program.units.iter().flat_map(|unit| &unit.code).filter(|op| matches!(op, Op::Branch { .. }));
        Self {
            program: Arc::clone(program),
            machine: Machine::new(Arc::clone(program)),
            dice,
            operator,
            well,
            late,
            now: START,
            order: 0,
            targets: Vec::new(),
            constants: exprs.flat_map(|expr| expr.constants.iter().cloned()).collect(),
            telemetry: Telemetry::default(),
            sent: Vec::new(),
            options: BTreeMap::new(),
            choices: BTreeMap::new(),
            cancelled: Vec::new(),
            seen: (0, 0),
            again: 0,
            strands: i64::try_from(branches.count()).unwrap_or(i64::MAX).saturating_add(1),
            stopped: (None, 0),
            suspended: false,
        }
    }

    /// Runs a procedure to its end and judges what it claims; gives the number of events.
    ///
    /// # Errors
    /// What it broke.
    pub fn run(mut self, unit: &Unit) -> Result<u64, Broken> {
        let names = (1..).map(|number| Arc::<str>::from(format!("sim-{number}")));
        self.targets = unit.targets.iter().zip(names).map(|(target, name)| (target.platform, name)).collect();
        let targets = unit.targets.iter().zip(&self.targets);
        let targets = targets.map(|(target, (_, name))| (Arc::clone(&target.name), Arc::clone(name))).collect();
        let mut inputs = BTreeMap::new();
        for input in &unit.inputs {
            let given = if input.default.is_some() && self.dice.one_in(2) { None } else { self.fitting(&input.ty) };
            let value = given.or_else(|| input.default.as_ref().map(|value| value.to_scalar(&self.program.enums)));
            // An enumeration or a text of which there is no value: nobody can start such a run.
            let Some(value) = value else { return Ok(0) };
            inputs.insert(Arc::clone(&input.name), value);
        }
        self.enter(&Fact::RunStarted {
            schema: Schema,
            run: "01K6A3D3Y4Q8K1P9W2N6R5T7XZ".into(),
            procedure: Arc::clone(&unit.name),
            targets,
            inputs,
            artifact: "00".into(),
            scale: Scale::Utc,
            virtual_clock: true,
            links: BTreeMap::new(),
            by: "os:test".into(),
        })?;
        for _ in 0..TURNS {
            match self.machine.advance(instant(self.now)) {
                Advance::Emit(transition) => self.saw(&transition)?,
                Advance::Done(_) => {
                    self.holds(unit)?;
                    return Ok(self.machine.seq());
                }
                Advance::Await => self.act()?,
            }
            self.stopwatch();
        }
        // What is long by its own claims may still be under way; what is not, goes round in a circle.
        if unit.claims.statements > u64::from(TURNS / 100) {
            return Ok(self.machine.seq());
        }
        Err(format!("{} does not end: {:?}", unit.name, self.machine.pending().collect::<Vec<_>>()))
    }

    fn holds(&mut self, unit: &Unit) -> Result<(), Broken> {
        let claims = unit.claims;
        let (statements, starts) = self.seen;
        let lasted = self.machine.now().ns.saturating_sub(START);
        let longest = self.program.units.iter().map(longest).max().unwrap_or(0);
        let added = self.stopped.1.saturating_add(self.again.saturating_mul(longest));
        let allowed = claims.max.saturating_add(added);
        let told = format!("{}: lasted {lasted} ns of {allowed}, {statements} statements, {starts} starts", unit.name);
        let many = self.again == 0 && (statements > claims.statements || starts > claims.statements.saturating_mul(2));
        if lasted > allowed || many {
            return Err(format!("{told}, {claims:?}"));
        }
        Ok(())
    }

    /// Measures the stretches that do not count.
    fn stopwatch(&mut self) {
        let open = self.suspended
            || self.machine.pending().any(|pending| matches!(pending.kind, PendingKind::Decision { .. }));
        match (open, self.stopped.0) {
            (true, None) => self.stopped.0 = Some(self.now),
            (false, Some(since)) => {
                self.stopped = (None, self.stopped.1.saturating_add(self.now.saturating_sub(since)));
            }
            _ => {}
        }
    }

    fn saw(&mut self, transition: &Transition) -> Result<(), Broken> {
        let statements = &mut self.seen.0;
        match transition {
            Transition::TelecommandSent { id, .. } => {
                self.sent.push(Arc::clone(id));
                *statements = statements.saturating_add(1);
            }
            Transition::TransferRequested { .. } => *statements = statements.saturating_add(1),
            Transition::QuestionAsked { id, choices, .. } => {
                self.choices.insert(Arc::clone(id), choices.clone());
                *statements = statements.saturating_add(1);
            }
            Transition::DecisionRequired { id, options, .. } => {
                self.options.insert(Arc::clone(id), options.clone());
            }
            Transition::StepStarted { .. } | Transition::CallStarted { .. } => {
                self.seen.1 = self.seen.1.saturating_add(1);
            }
            Transition::RunFinished { outcome, reason, .. } => {
                // So ends a run whose code leads nowhere.
                let odd = reason.as_ref().is_some_and(|reason| reason.contains("malformed"));
                if odd || (*outcome != RunOutcome::Passed && reason.is_none()) {
                    return Err(format!("{outcome:?}: {reason:?}"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Enters a fact that fits.
    fn enter(&mut self, fact: &Fact) -> Result<(), Broken> {
        let entered = self.machine.accept(fact, instant(self.now));
        entered.map_err(|refused| format!("{fact:?} is refused: {refused:?}"))
    }

    /// Enters a fact that may come at the wrong time.
    fn offer(&mut self, fact: &Fact) -> bool {
        self.machine.accept(fact, instant(self.now)).is_ok()
    }

    fn observe(&mut self, pending: PendingId, utc: bool) -> Result<(), Broken> {
        let samples = self.machine.evidence(pending, &self.telemetry);
        self.enter(&Fact::Observed { pending, samples, utc: utc.then(|| instant(self.now)) })
    }

    /// One thing that happens.
    fn act(&mut self) -> Result<(), Broken> {
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
        if let Some(acted) = self.at_once(&pending) {
            return acted;
        }
        if self.suspended {
            self.pass(None);
            self.resume();
            return Ok(());
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
            _ if self.operator == Operator::Interferes && self.dice.one_in(20) => {
                self.interfere();
                Ok(())
            }
            _ => self.happen(&pending, deadline),
        }
    }

    /// What every driver does as soon as it is asked for.
    fn at_once(&mut self, pending: &[Pending]) -> Option<Result<(), Broken>> {
        for one in pending {
            match &one.kind {
                PendingKind::Leases => {
                    let taken = self.targets.iter().map(|(_, name)| Arc::clone(name)).collect();
                    return Some(self.enter(&Fact::Leases { taken, shared: false, refused: None }));
                }
                PendingKind::Reading => return Some(self.observe(one.id, false)),
                PendingKind::Utc { until, now } if *now || *until <= self.now => {
                    return Some(self.observe(one.id, true));
                }
                PendingKind::Transfer { id, cancel: true } if !self.cancelled.contains(id) => {
                    self.cancelled.push(Arc::clone(id));
                    let status = TransferStatus::Cancelled;
                    return Some(self.enter(&Fact::TransferStatus { id: Arc::clone(id), status, reason: None }));
                }
                _ => {}
            }
        }
        None
    }

    /// Time goes on, to the limit at most.
    fn pass(&mut self, limit: Option<i64>) {
        let step = self.dice.pick(&[0, 1, 1_000_000, 100_000_000, 400_000_000, S, 2 * S]);
        let then = self.now.saturating_add(step);
        self.now = limit.map_or(then, |limit| then.min(limit)).max(self.now);
    }

    fn pass_to(&mut self, limit: Option<i64>) {
        match limit {
            Some(limit) => self.now = self.now.max(limit),
            None => self.pass(None),
        }
    }

    fn elapse(&mut self, due: Instant, pending: PendingId) -> Result<(), Broken> {
        let kind = self.machine.pending().find(|one| one.id == pending).map(|one| one.kind);
        if matches!(kind, Some(PendingKind::Condition | PendingKind::Telecommand { until: true, .. })) {
            let samples = self.machine.evidence(pending, &self.telemetry);
            if !samples.is_empty() {
                self.enter(&Fact::Observed { pending, samples, utc: None })?;
            }
        }
        let utc = matches!(kind, Some(PendingKind::Utc { .. })).then(|| instant(self.now));
        self.enter(&Fact::Elapsed { pending, due, utc })
    }

    /// A sample, a report, an answer, a decision: whatever is waited for, or not.
    fn happen(&mut self, pending: &[Pending], deadline: Option<(Instant, PendingId)>) -> Result<(), Broken> {
        let entered = match self.dice.below(4) {
            0 if self.sample() => return Ok(()),
            1 if !self.sent.is_empty() => self.status(),
            _ => self.answer(pending),
        };
        if !entered && let Some((due, pending)) = deadline {
            self.pass_to(Some(due.ns));
            if self.machine.settles(&self.telemetry).is_none() {
                return self.elapse(due, pending);
            }
        }
        Ok(())
    }

    /// A sample of a parameter that the code reads; `false` where it reads none.
    fn sample(&mut self) -> bool {
        let program = Arc::clone(&self.program);
        let Some(parameter) = self.dice.choose(&program.parameters) else { return false };
        let of = self.targets.iter().filter(|(platform, _)| *platform == parameter.platform);
        let of: Vec<Arc<str>> = of.map(|(_, name)| Arc::clone(name)).collect();
        let Some(target) = self.dice.choose(&of).cloned() else { return false };
        let (least, greatest) = parameter.index.unwrap_or((0, 0));
        // Procedures mostly look at the first few of many.
        let more = greatest.saturating_sub(least).clamp(0, 3);
        let index = least.saturating_add(self.dice.below(more.unsigned_abs().saturating_add(1)) as i64);
        let value = self.value(&parameter.ty);
        let valid = (self.well && !self.dice.one_in(20)) || !self.dice.one_in(8);
        self.order = self.order.saturating_add(1);
        let place = (target, Arc::clone(&parameter.component), index, Arc::clone(&parameter.name));
        self.telemetry.0.insert(place, (value, self.now, self.order, valid));
        true
    }

    /// What a link may deliver for a type: of the type or not, in its range or not, most often what the code asks for.
    fn value(&mut self, ty: &Type) -> Scalar {
        if self.dice.one_in(20) {
            let odd =
                [Scalar::Bool(true), Scalar::Int(i64::MIN), Scalar::Float(f64::MAX), Scalar::Str("NaN".to_owned())];
            return self.dice.pick(&odd);
        }
        if *ty == Type::Bool && self.well && !self.dice.one_in(5) {
            return Scalar::Bool(true);
        }
        if matches!(ty, Type::Enum(_)) && self.dice.one_in(6) {
            return Scalar::Str("no label".to_owned());
        }
        self.fitting(ty).unwrap_or(Scalar::Int(0))
    }

    /// A value of a type and in its range, near what the code compares with where it can be.
    fn fitting(&mut self, ty: &Type) -> Option<Scalar> {
        let enums = &self.program.enums;
        let value = match ty {
            Type::Bool => Value::Bool(self.dice.one_in(2)),
            Type::Enum(def) => {
                let labels = usize::try_from(*def).ok().and_then(|def| enums.get(def)).map_or(0, |it| it.labels.len());
                let label = self.dice.below(u64::try_from(labels).ok()?);
                Value::Enum { def: *def, label: u32::try_from(label).ok().filter(|_| labels > 0)? }
            }
            Type::Int { min, max } => {
                let near = [*min, *max, 0, self.constant_number() as i64];
                let near = self.dice.pick(&near).saturating_add(self.dice.pick(&[-1, 0, 0, 1]));
                Value::Int(near.clamp(*min, (*max).max(*min)))
            }
            Type::Float { min, max, .. } => {
                let near =
                    [min.unwrap_or(0.0), max.unwrap_or(0.0), 0.0, self.constant_number(), self.constant_number()];
                let near = self.dice.pick(&near) + self.dice.pick(&[-0.5, 0.0, 0.0, 0.5]);
                Value::Float(near.max(min.unwrap_or(f64::MIN)).min(max.unwrap_or(f64::MAX)))
            }
            Type::Str => Value::Str(self.dice.pick(&["", "yes", "A", "é"]).into()),
            Type::Duration => Value::Duration(self.dice.pick(&[0, 1, S, 3_600 * S])),
            Type::Time => Value::Time(self.now.saturating_add(self.dice.pick(&[-S, 0, 1, S, 60 * S]))),
        };
        Some(value.to_scalar(&self.program.enums))
    }

    fn constant_number(&mut self) -> f64 {
        match self.dice.choose(&self.constants) {
            Some(Value::Int(value)) => *value as f64,
            Some(Value::Float(value)) => *value,
            _ => 1.0,
        }
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
            self.order = self.order.saturating_add(1);
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
        let Some(one) = self.dice.choose(pending).cloned() else { return false };
        let by: Arc<str> = "ann".into();
        match one.kind {
            PendingKind::Answer { question } => {
                let Some(choices) = self.choices.get(&question) else { return false };
                let first = if self.well { choices.first() } else { self.dice.choose(choices) };
                let value = first.cloned().unwrap_or_default();
                self.offer(&Fact::Answered { question, value, by, ctl: None })
            }
            PendingKind::Decision { decision } => {
                let Some(options) = self.options.get(&decision) else { return false };
                let skip = self.well && options.contains(&DecisionOption::Skip) && !self.dice.one_in(4);
                let option = if skip { Some(DecisionOption::Skip) } else { self.dice.choose(options).copied() };
                let Some(option) = option else { return false };
                let again = matches!(option, DecisionOption::Replay | DecisionOption::Recheck);
                if again && (self.operator == Operator::Absent || self.again > 5) {
                    return false;
                }
                let entered = self.offer(&Fact::Decided { decision, option, by, ctl: None });
                self.again = self.again.saturating_add(i64::from(again && entered));
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
            self.again = self.again.saturating_add(self.strands);
        }
    }

    fn resume(&mut self) {
        let known = self.known();
        if self.offer(&Fact::Resumed { by: "ann".into(), known, ctl: None }) {
            self.suspended = false;
            // Each strand may begin an attempt again, or an open statement.
            self.again = self.again.saturating_add(self.strands);
        }
    }

    fn known(&self) -> Vec<KnownStatus> {
        self.sent.iter().map(|id| KnownStatus { id: Arc::clone(id), known: Known::MayHaveLeft }).collect()
    }
}

/// The longest attempt of a step in a unit.
fn longest(unit: &Unit) -> i64 {
    let inline = unit.steps.iter().map(|step| step.claims.attempt);
    inline.chain([if unit.kind == Kind::Step { unit.claims.attempt } else { 0 }]).max().unwrap_or(0)
}
