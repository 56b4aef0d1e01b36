//! The scripted world and the driver.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use stellar_vm::{
    condition::{SampleView, Snapshot},
    event::{
        Body, DecisionOption, Event, Fact, Known, KnownStatus, LeaseRefusal, RunOutcome, Schema, TelecommandStatus,
        TransferStatus, Transition,
    },
    machine::{Advance, Machine, PendingKind, Refused, Replay, replay},
    time::{Instant, Scale},
    value::Scalar,
    verify::Verified,
};

use super::{
    build::S,
    story::{Names, tell},
};

/// When every scenario starts.
pub(crate) const START: i64 = 1_790_936_100_000_000_000;
pub(crate) const RUN: &str = "01K6A3D3Y4Q8K1P9W2N6R5T7XZ";

pub(crate) fn instant(ns: i64) -> Instant {
    Instant { ns: START + ns, scale: Scale::Utc }
}

/// What a telecommand brings about, some time after it was sent.
#[derive(Debug, Clone)]
pub(crate) enum Reaction {
    Status(TelecommandStatus),
    /// A sample of a parameter of `tcu[2]`, or of `eps`.
    Sample(&'static str, Scalar),
}

pub(crate) const RELEASED: Reaction = Reaction::Status(TelecommandStatus::Released);
pub(crate) const COMPLETED: Reaction = Reaction::Status(TelecommandStatus::Completed);
pub(crate) const NOT_RELEASED: Reaction = Reaction::Status(TelecommandStatus::NotReleased);

#[derive(Debug, Clone)]
enum Act {
    Sample(&'static str, Scalar),
    Status(Arc<str>, TelecommandStatus),
    Answer(Arc<str>, &'static str),
    Decide(Arc<str>, DecisionOption),
    Transfer(Arc<str>, TransferStatus),
    Suspend,
    Resume,
    Abort,
    TakeOver,
}

#[derive(Debug, Clone)]
struct Sample {
    value: Scalar,
    at: Instant,
    order: u64,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Telemetry(BTreeMap<String, Sample>);

impl Telemetry {
    pub(crate) fn put(&mut self, name: &str, value: Scalar, at: Instant, order: u64) {
        self.0.insert(name.to_owned(), Sample { value, at, order });
    }
}

impl Snapshot for Telemetry {
    fn latest(&self, target: &str, component: &str, index: Option<i64>, name: &str) -> Option<SampleView<'_>> {
        let wanted = match component {
            "eps" => index.is_none(),
            _ => index == Some(2),
        };
        let sample = self.0.get(name).filter(|_| wanted && target == "sim-1")?;
        Some(SampleView { value: &sample.value, received_at: sample.at, order: sample.order, valid: true })
    }
}

pub(crate) struct World {
    program: Arc<Verified>,
    pub(crate) machine: Machine,
    pub(crate) now: i64,
    order: u64,
    ties: u64,
    epoch: u64,
    pub(crate) telemetry: Telemetry,
    agenda: BTreeMap<(i64, u64), Act>,
    reactions: BTreeMap<&'static str, VecDeque<Vec<(i64, Reaction)>>>,
    answers: BTreeMap<&'static str, VecDeque<(i64, &'static str)>>,
    decisions: VecDeque<(i64, DecisionOption)>,
    transfers: VecDeque<(i64, TransferStatus)>,
    refusals: VecDeque<bool>,
    released: BTreeSet<Arc<str>>,
    /// What UTC reads less than the run's clock.
    pub(crate) utc_behind: i64,
    cancelled: BTreeSet<Arc<str>>,
    names: Names,
    pub(crate) lines: Vec<String>,
    pub(crate) events: Vec<Event>,
    story: Vec<String>,
}

impl World {
    pub(crate) fn new(program: &Arc<Verified>) -> Self {
        Self {
            program: Arc::clone(program),
            machine: Machine::new(Arc::clone(program)),
            now: 0,
            order: 0,
            ties: 0,
            epoch: 1,
            telemetry: Telemetry::default(),
            agenda: BTreeMap::new(),
            reactions: BTreeMap::new(),
            answers: BTreeMap::new(),
            decisions: VecDeque::new(),
            transfers: VecDeque::new(),
            refusals: VecDeque::new(),
            released: BTreeSet::new(),
            utc_behind: 0,
            cancelled: BTreeSet::new(),
            names: Names::default(),
            lines: vec![],
            events: vec![],
            story: vec![],
        }
    }

    fn plan(&mut self, at: i64, act: Act) {
        self.ties += 1;
        self.agenda.insert((at, self.ties), act);
    }

    pub(crate) fn sample(mut self, at: i64, name: &'static str, value: Scalar) -> Self {
        self.plan(at, Act::Sample(name, value));
        self
    }

    /// A sample that was received a second before the start.
    pub(crate) fn had(mut self, name: &'static str, value: Scalar) -> Self {
        self.order += 1;
        self.telemetry.put(name, value, instant(-S), self.order);
        self
    }

    /// What the next `send` of a telecommand brings about; the last one told goes on.
    pub(crate) fn react(mut self, telecommand: &'static str, reactions: &[(i64, Reaction)]) -> Self {
        self.reactions.entry(telecommand).or_default().push_back(reactions.to_vec());
        self
    }

    pub(crate) fn answer(mut self, text: &'static str, after: i64, value: &'static str) -> Self {
        self.answers.entry(text).or_default().push_back((after, value));
        self
    }

    pub(crate) fn decide(mut self, after: i64, option: DecisionOption) -> Self {
        self.decisions.push_back((after, option));
        self
    }

    pub(crate) fn transfer(mut self, after: i64, status: TransferStatus) -> Self {
        self.transfers.push_back((after, status));
        self
    }

    /// Whether the leases are refused, each time they are asked for; granted when the list is through.
    pub(crate) fn refuse(mut self, refusals: &[bool]) -> Self {
        self.refusals = refusals.iter().copied().collect();
        self
    }

    pub(crate) fn suspend(mut self, at: i64) -> Self {
        self.plan(at, Act::Suspend);
        self
    }

    pub(crate) fn resume(mut self, at: i64) -> Self {
        self.plan(at, Act::Resume);
        self
    }

    pub(crate) fn abort(mut self, at: i64) -> Self {
        self.plan(at, Act::Abort);
        self
    }

    pub(crate) fn take_over(mut self, at: i64) -> Self {
        self.plan(at, Act::TakeOver);
        self
    }

    /// Enters a fact now.
    pub(crate) fn enter(&mut self, fact: Fact) -> Result<(), Refused> {
        self.machine.accept(&fact, instant(self.now))?;
        self.log(Body::Fact(fact));
        Ok(())
    }

    fn log(&mut self, body: Body) {
        let event = Event {
            seq: self.machine.seq(),
            at: self.machine.now(),
            epoch: self.epoch,
            nonce: None,
            fence: None,
            body,
        };
        let line = event.to_json().unwrap();
        assert_eq!(Event::from_json(&line).as_ref(), Ok(&event), "{line}");
        self.story.push(tell(&event, START, &mut self.names));
        self.lines.push(line);
        self.events.push(event);
    }

    /// The fact that starts a procedure.
    pub(crate) fn started(procedure: &str) -> Fact {
        Fact::RunStarted {
            schema: Schema,
            run: RUN.into(),
            procedure: procedure.into(),
            targets: BTreeMap::from([("sat".into(), "sim-1".into())]),
            inputs: BTreeMap::new(),
            artifact: "00".into(),
            scale: Scale::Utc,
            virtual_clock: true,
            links: BTreeMap::from([("sim-1".into(), "sim".into())]),
            by: "os:test".into(),
        }
    }

    /// Runs a procedure until it ends or nothing happens any more; gives the story, one event a line.
    pub(crate) fn run(mut self, procedure: &str) -> Told {
        self.enter(Self::started(procedure)).unwrap();
        self.go_on()
    }

    /// Goes on with a scenario that was begun by hand.
    pub(crate) fn go_on(mut self) -> Told {
        for _ in 0..10_000_000 {
            if !self.turn() {
                return self.told();
            }
        }
        panic!("the run does not end");
    }

    /// Goes on at once until the run waits for more than leases and readings.
    pub(crate) fn until_await(&mut self) {
        loop {
            match self.machine.advance(instant(self.now)) {
                Advance::Emit(transition) => self.log(Body::Transition(transition)),
                _ => {
                    if !self.tend() {
                        return;
                    }
                }
            }
        }
    }

    /// Goes on at once until the last event is of this kind.
    pub(crate) fn until_due(&mut self, told: &str) {
        while !self.story.last().is_some_and(|line| line.contains(told)) {
            assert!(self.turn(), "there is no {told}");
        }
    }

    /// Another owner takes the run over.
    pub(crate) fn enter_take_over(&mut self) {
        self.happen(Act::TakeOver);
    }

    /// A status of the telecommand that was sent last.
    pub(crate) fn enter_status_of_last(&mut self, status: TelecommandStatus) {
        let id = self.last_sent();
        self.happen(Act::Status(id, status));
    }

    pub(crate) fn last_sent(&self) -> Arc<str> {
        let sent = |event: &Event| match &event.body {
            Body::Transition(Transition::TelecommandSent { id, .. }) => Some(Arc::clone(id)),
            _ => None,
        };
        self.events.iter().rev().find_map(sent).expect("a telecommand")
    }

    /// One thing that happens; false where nothing does any more.
    pub(crate) fn turn(&mut self) -> bool {
        match self.machine.advance(instant(self.now)) {
            Advance::Emit(transition) => {
                self.log(Body::Transition(transition.clone()));
                self.act(&transition);
                return true;
            }
            Advance::Done(_) => return false,
            Advance::Await => {}
        }
        // A reading made now is behind the deadlines that passed while the run was suspended: those come first.
        if let Some((due, pending)) = self.machine.next_deadline().filter(|(due, _)| due.ns - START < self.now) {
            self.elapse(due.ns - START, pending);
            return true;
        }
        if self.tend() {
            return true;
        }
        let deadline = self.machine.next_deadline().map(|(due, pending)| (due.ns - START, pending));
        let reached = self.machine.pending().filter_map(|pending| match pending.kind {
            PendingKind::Utc { until, now: false } => Some((until - START + self.utc_behind, pending.id)),
            _ => None,
        });
        let reached = reached.min();
        let planned = self.agenda.keys().next().copied();
        // At the deadline itself the fact wins.
        let first = reached.filter(|(at, _)| deadline.is_none_or(|(due, _)| *at <= due));
        match (planned, first.or(deadline)) {
            (None, Some((at, pending))) if first.is_some() => self.reach(at, pending),
            (Some(key), Some((at, pending))) if first.is_some() && at < key.0 => self.reach(at, pending),
            (Some(key), deadline) if deadline.is_none_or(|(due, _)| key.0 <= due) => {
                let act = self.agenda.remove(&key).unwrap();
                self.now = self.now.max(key.0);
                self.happen(act);
                true
            }
            (_, Some((due, pending))) => {
                self.now = self.now.max(due);
                self.elapse(due, pending);
                true
            }
            _ => false,
        }
    }

    /// What the driver does at once: leases, readings, what samples settle, transfers to be cancelled.
    fn tend(&mut self) -> bool {
        if let Some(pending) = self.machine.settles(&self.telemetry) {
            assert!(self.machine.would_settle(&self.telemetry));
            self.observe(pending, None);
            return true;
        }
        for pending in self.machine.pending().collect::<Vec<_>>() {
            match pending.kind {
                PendingKind::Leases => {
                    self.leases();
                    return true;
                }
                PendingKind::Utc { now: true, .. } => {
                    self.observe(pending.id, Some(self.utc()));
                    return true;
                }
                PendingKind::Transfer { id, cancel: true } if self.cancelled.insert(Arc::clone(&id)) => {
                    let status = TransferStatus::Cancelled;
                    self.enter(Fact::TransferStatus { id, status, reason: None }).unwrap();
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    fn utc(&self) -> Instant {
        instant(self.now - self.utc_behind)
    }

    /// UTC reads what a strand waits for.
    fn reach(&mut self, at: i64, pending: u64) -> bool {
        self.now = self.now.max(at);
        self.observe(pending, Some(self.utc()));
        true
    }

    fn leases(&mut self) {
        let fact = if self.refusals.pop_front().unwrap_or(false) {
            let holder: Arc<str> = "01K6B".into();
            let reason = "`sim-1` is held by run 01K6B".to_owned();
            let refused = Some(LeaseRefusal { target: "sim-1".into(), holders: vec![holder], reason });
            Fact::Leases { taken: vec![], shared: false, refused }
        } else {
            Fact::Leases { taken: vec!["sim-1".into()], shared: false, refused: None }
        };
        self.enter(fact).unwrap();
    }

    fn observe(&mut self, pending: u64, utc: Option<Instant>) {
        let samples = self.machine.evidence(pending, &self.telemetry);
        self.enter(Fact::Observed { pending, samples, utc }).unwrap();
    }

    fn elapse(&mut self, due: i64, pending: u64) {
        let kind = self.machine.pending().find(|one| one.id == pending).unwrap().kind;
        let utc = matches!(kind, PendingKind::Utc { .. }).then(|| self.utc());
        if matches!(kind, PendingKind::Condition | PendingKind::Telecommand { until: true, .. }) {
            let samples = self.machine.evidence(pending, &self.telemetry);
            if !samples.is_empty() {
                self.enter(Fact::Observed { pending, samples, utc: None }).unwrap();
            }
        }
        self.enter(Fact::Elapsed { pending, due: instant(due), utc }).unwrap();
    }

    /// What a transition brings about.
    fn act(&mut self, transition: &Transition) {
        match transition {
            Transition::TelecommandSent { id, telecommand, .. } => {
                let Some(queue) = self.reactions.get_mut(&**telecommand) else { return };
                let next = if queue.len() > 1 { queue.pop_front() } else { queue.front().cloned() };
                for (after, reaction) in next.unwrap_or_default() {
                    let act = match reaction {
                        Reaction::Status(status) => Act::Status(Arc::clone(id), status),
                        Reaction::Sample(name, value) => Act::Sample(name, value),
                    };
                    self.plan(self.now + after, act);
                }
            }
            Transition::QuestionAsked { id, text, .. } => {
                if let Some((after, value)) = self.answers.get_mut(text.as_str()).and_then(VecDeque::pop_front) {
                    self.plan(self.now + after, Act::Answer(Arc::clone(id), value));
                }
            }
            Transition::DecisionRequired { id, .. } => {
                if let Some((after, option)) = self.decisions.pop_front() {
                    self.plan(self.now + after, Act::Decide(Arc::clone(id), option));
                }
            }
            Transition::TransferRequested { id, .. } => {
                if let Some((after, status)) = self.transfers.pop_front() {
                    self.plan(self.now + after, Act::Transfer(Arc::clone(id), status));
                }
            }
            _ => {}
        }
    }

    /// What the world does at its time; what the machine refuses is told and not logged.
    fn happen(&mut self, act: Act) {
        let fact = match act {
            Act::Sample(name, value) => {
                self.order += 1;
                self.telemetry.put(name, value, instant(self.now), self.order);
                return;
            }
            Act::Status(id, status) => self.status(id, status),
            Act::Answer(question, value) => {
                Fact::Answered { question, value: value.into(), by: "ann".into(), ctl: None }
            }
            Act::Decide(decision, option) => Fact::Decided { decision, option, by: "ann".into(), ctl: None },
            Act::Transfer(id, status) => Fact::TransferStatus { id, status, reason: None },
            Act::Suspend => Fact::Suspended { why: "operator".into(), by: "ann".into(), ctl: None },
            Act::Resume => Fact::Resumed { by: "ann".into(), known: self.known(), ctl: None },
            Act::Abort => Fact::AbortRequested { by: "ann".into(), ctl: None },
            Act::TakeOver => {
                self.epoch += 1;
                let replayed = self.replayed();
                assert_eq!(replayed.machine().view(), self.machine.view());
                self.machine = replayed.into_machine();
                Fact::TakenOver { instance: "exec-b".into(), known: self.known() }
            }
        };
        if let Err(refused) = self.enter(fact) {
            self.story.push(format!("{} refused {}", super::story::seconds(self.now), refused.code()));
        }
    }

    fn status(&mut self, id: Arc<str>, status: TelecommandStatus) -> Fact {
        let mut order = None;
        if status == TelecommandStatus::Released {
            self.order += 1;
            order = Some(self.order);
            self.released.insert(Arc::clone(&id));
        }
        let failed = status == TelecommandStatus::Failed;
        Fact::TelecommandStatus {
            id,
            status,
            received_at: instant(self.now),
            order,
            stage: failed.then_some(stellar_vm::catalogue::Stage::Started),
            code: failed.then(|| "3 (invalid length)".to_owned()),
            reason: (status == TelecommandStatus::NotReleased).then(|| "the link is down".to_owned()),
        }
    }

    fn known(&self) -> Vec<KnownStatus> {
        let sent = self.events.iter().filter_map(|event| match &event.body {
            Body::Transition(Transition::TelecommandSent { id, .. }) => Some(id),
            _ => None,
        });
        let known = |id: &Arc<str>| if self.released.contains(id) { Known::Left } else { Known::NeverLeft };
        sent.map(|id| KnownStatus { id: Arc::clone(id), known: known(id) }).collect()
    }

    fn replayed(&self) -> Replay {
        let lines = self.lines.iter().map(String::as_str);
        replay(Arc::clone(&self.program), lines).unwrap_or_else(|error| panic!("{error}\n{}", self.story.join("\n")))
    }

    pub(crate) fn told(self) -> Told {
        let replayed = self.replayed();
        assert_eq!(replayed.machine().view(), self.machine.view());
        Told { story: self.story, lines: self.lines, events: self.events, program: self.program, machine: self.machine }
    }
}

/// How a scenario went.
pub(crate) struct Told {
    pub(crate) story: Vec<String>,
    pub(crate) lines: Vec<String>,
    pub(crate) events: Vec<Event>,
    pub(crate) program: Arc<Verified>,
    pub(crate) machine: Machine,
}

impl Told {
    /// Asserts the whole story; the lines of `expected` are trimmed.
    #[track_caller]
    pub(crate) fn is(self, expected: &str) -> Self {
        let expected: Vec<_> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(self.story, expected, "\n{}\n", self.story.join("\n"));
        self
    }

    /// Asserts the end of the story.
    #[track_caller]
    pub(crate) fn ends(self, expected: &str) -> Self {
        let expected: Vec<_> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let tail = &self.story[self.story.len().saturating_sub(expected.len())..];
        assert_eq!(tail, expected, "\n{}\n", self.story.join("\n"));
        self
    }

    /// The message of the first failure in the log.
    pub(crate) fn message(&self) -> String {
        let failure = self.events.iter().find_map(|event| match &event.body {
            Body::Transition(
                Transition::StepFinished { failure: Some(failure), .. }
                | Transition::DecisionRequired { failure: Some(failure), .. }
                | Transition::RunFinished { failure: Some(failure), .. },
            ) => Some(failure.message.clone()),
            _ => None,
        });
        failure.expect("a failure")
    }

    pub(crate) fn outcome(&self) -> Option<RunOutcome> {
        self.machine.outcome()
    }
}
