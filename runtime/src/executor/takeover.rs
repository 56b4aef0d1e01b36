//! Taking a run over: its log is read and checked, run through a new machine, and goes on where it ends.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use stellar_vm::{
    artifact,
    catalogue::Stage,
    event::{Body, Event, Fact, TelecommandStatus},
    machine::{self, Machine, PendingKind, RunState as MachineState},
    time::Instant,
    verify::{self, Verified},
};

use super::{Beginning, Executor, RunHandle, Shared, StartError, run::RunTask, sent::Sent, shares};
use crate::{
    commanding::{result_fact, status_fact},
    crash, ident,
    journal::read_all,
    ports::{ControlAction, ControlMessage, Line, Look, RunRecord, RunState, StoreError, TargetItem},
};

/// How many items of the archive are read at once.
const CHUNK: usize = 4_096;

/// Why a run is not resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// There is no such run.
    #[error("there is no run {0}")]
    Unknown(Arc<str>),
    /// It has ended.
    #[error("run {0} has ended")]
    Ended(Arc<str>),
    /// Its artifact, catalogue or targets do not let it go on.
    #[error("run {run} cannot go on: {error}")]
    Start {
        /// The run.
        run: Arc<str>,
        /// What does not fit.
        error: StartError,
    },
    /// Its log is damaged or its machine does otherwise than it: it is halted, and nothing was sent.
    #[error("run {run} is halted: {reason}")]
    Halted {
        /// The run.
        run: Arc<str>,
        /// Why.
        reason: String,
        /// The error's code: `run::replay-diverged`.
        code: &'static str,
    },
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ResumeError {
    /// The error's code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "run::unknown",
            Self::Ended(_) => "run::ended",
            Self::Start { error, .. } => error.code(),
            Self::Halted { code, .. } => code,
            Self::Store(error) => error.code(),
        }
    }
}

impl Executor {
    /// Takes a run over if nobody owns it, and lets it go on if it is suspended.
    ///
    /// # Errors
    /// [`ResumeError`].
    pub async fn resume(&self, run: &str, by: &str) -> Result<RunHandle, ResumeError> {
        let shared = &self.shared;
        let (handle, suspended) = shared.take_over(run).await?;
        if suspended {
            let id = ident::random_id();
            let message = ControlMessage { id, by: by.to_owned(), action: ControlAction::Resume };
            shared.store.control.send(run, message).await?;
            handle.poke();
        }
        Ok(handle)
    }

    /// Takes a run over if nobody owns it; a suspended one stays suspended.
    ///
    /// # Errors
    /// [`ResumeError`].
    pub async fn take_over(&self, run: &str) -> Result<RunHandle, ResumeError> {
        Ok(self.shared.take_over(run).await?.0)
    }
}

impl Shared {
    /// The run's handle, and whether it is suspended.
    async fn take_over(self: &Arc<Self>, run: &str) -> Result<(RunHandle, bool), ResumeError> {
        let _gate = self.beginning.lock().await;
        let run: Arc<str> = run.into();
        let Some((record, revision)) = self.store.records.get(&run).await? else {
            return Err(ResumeError::Unknown(run));
        };
        if self.under_way(&run).is_some() {
            let suspended = record.state == RunState::Suspended;
            return Ok((RunHandle::new(run, self.clone()), suspended));
        }
        if record.state == RunState::Ended {
            return Err(ResumeError::Ended(run));
        }
        let wrong = |error| ResumeError::Start { run: run.clone(), error };
        let program = self.program_of(&run, &record).await?;
        self.check_targets(&record).map_err(wrong)?;
        self.check_catalogue(&program, record.targets.values()).map_err(|error| wrong(error.into()))?;
        let start = machine::start::check(&program, &record.procedure, &record.targets, &record.inputs)
            .map_err(|error| wrong(StartError::Input(error.to_string())))?;
        let shared_leases = shares(&program, start.unit);
        let lines = match read_all(self.store.log.as_ref(), &run).await {
            Err(StoreError::Damaged(why)) => return Err(self.halted(&run, why, "store::damaged").await),
            other => other?,
        };
        let machine = match machine::replay(program.clone(), lines.iter().map(|line| line.text.as_ref())) {
            Ok(replay) => replay.into_machine(),
            Err(error) => return Err(self.halted(&run, error.to_string(), error.code()).await),
        };
        let last_epoch = lines.last().map_or(0, |line| line.epoch);
        let epoch = record.epoch.max(last_epoch) + 1;
        // The log says how the run stands; its record may be behind it.
        let view = machine.view();
        let (state, reason) = match view.state {
            MachineState::Suspended => (RunState::Suspended, view.reason),
            _ => (record.state, record.reason.clone()),
        };
        let mut record = RunRecord {
            state,
            reason,
            instance: self.owner.instance.clone(),
            nonce: self.owner.nonce.clone(),
            epoch,
            renewed_at: self.clock.now(),
            ..record
        };
        crash::point("take-over.before");
        let revision = self.store.records.update(&run, record.clone(), revision).await?;
        crash::point("take-over.after");
        if lines.is_empty() {
            record.epoch = epoch;
            let beginning =
                Beginning { run: run.clone(), program, machine, record, revision, epoch, shared_leases, offset: 0 };
            let handle = self.begin_new(beginning).await.map_err(wrong)?;
            return Ok((handle, false));
        }
        let offset = machine.now().since(self.clock.now()).max(0);
        let beginning =
            Beginning { run: run.clone(), program, machine, record, revision, epoch, shared_leases, offset };
        self.go_on(beginning, &lines).await
    }

    async fn go_on(self: &Arc<Self>, beginning: Beginning, lines: &[Line]) -> Result<(RunHandle, bool), ResumeError> {
        let run = beginning.run.clone();
        let view = beginning.machine.view();
        let targets: Vec<Arc<str>> = beginning.record.targets.values().cloned().collect();
        let sent = Sent::new(run.clone(), &beginning.program, &self.platforms(&targets));
        let mut past = Past::read(sent, lines)?;
        let (unread, judged, last_ctl) = (past.unread_from(&beginning.machine), past.order, past.last_ctl);
        let told = std::mem::take(&mut past.told);
        let (mut task, active, ending) = self.task(beginning, Some(past));
        task.last_ctl = last_ctl;
        if matches!(view.state, MachineState::Passed | MachineState::Failed | MachineState::Aborted) {
            // The log has its end; what follows from it is done now.
            self.spawn(task, active, ending);
            return Err(ResumeError::Ended(run));
        }
        let at = task.now();
        let known = task.known().await.map_err(|error| failed(&run, &error))?;
        let fact = Fact::TakenOver { instance: self.owner.instance.clone(), known };
        if let Err(refused) = task.accept(fact, at) {
            return Err(self.halted(&run, refused.to_string(), refused.code()).await);
        }
        let events = std::mem::take(&mut task.batch);
        task.journal.append(&events).await?;
        task.journal.tell(task.machine.seq());
        task.sent.count_anew(at);
        task.enter_results().await?;
        task.enter_archive(unread, judged, &told).await?;
        let suspended = view.state == MachineState::Suspended;
        self.spawn(task, active, ending);
        Ok((RunHandle::new(run, self.clone()), suspended))
    }

    async fn halted(&self, run: &Arc<str>, reason: String, code: &'static str) -> ResumeError {
        self.halt(run, &reason).await;
        ResumeError::Halted { run: run.clone(), reason, code }
    }

    async fn program_of(&self, run: &Arc<str>, record: &RunRecord) -> Result<Arc<Verified>, ResumeError> {
        let Some(bytes) = self.store.artifacts.get(&record.artifact).await? else {
            let why = format!("the artifact {} of run {run} is missing", record.artifact);
            return Err(StoreError::Damaged(why).into());
        };
        let wrong = |error| ResumeError::Start { run: run.clone(), error };
        let program = artifact::decode(&bytes).map_err(|error| wrong(error.into()))?;
        Ok(Arc::new(verify::verify(program).map_err(|error| wrong(error.into()))?))
    }

    fn check_targets(&self, record: &RunRecord) -> Result<(), StartError> {
        for name in record.targets.values() {
            match self.targets.get(name) {
                None => {
                    return Err(StartError::Target(format!("there is no target `{name}` in the configuration")));
                }
                Some(target) if target.gateway.is_none() => {
                    return Err(StartError::Target(format!("target `{name}` has no link in the configuration")));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

fn failed(run: &Arc<str>, error: &super::RunError) -> ResumeError {
    match error {
        super::RunError::Store(error) => ResumeError::Store(error.clone()),
        super::RunError::Refused { refused, .. } => {
            ResumeError::Halted { run: run.clone(), reason: error.to_string(), code: refused.code() }
        }
    }
}

/// What the log says beside what the machine keeps of it.
pub(super) struct Past {
    /// The telecommands of the run.
    pub(super) sent: Sent,
    /// The greatest order in the log.
    pub(super) order: u64,
    /// The last message of an operator.
    last_ctl: u64,
    /// Order of the release of each telecommand.
    releases: BTreeMap<Arc<str>, u64>,
    /// What the log tells of telecommands.
    told: Told,
}

/// Statuses, each with its telecommand and the stage that it is of.
type Told = BTreeSet<(Arc<str>, TelecommandStatus, Option<Stage>)>;

impl Past {
    /// Reads the log again for telecommands, orders and messages.
    fn read(sent: Sent, lines: &[Line]) -> Result<Self, StoreError> {
        let mut past = Self { sent, order: 0, last_ctl: 0, releases: BTreeMap::new(), told: Told::new() };
        let says = ["telecommand_sent", "telecommand_status", "observed", "\"ctl\":"];
        for line in lines.iter().filter(|line| says.iter().any(|word| line.text.contains(word))) {
            let event = Event::from_json(&line.text)
                .map_err(|error| StoreError::Damaged(format!("event {}: {error}", line.seq)))?;
            past.note(&event.body, event.at);
        }
        Ok(past)
    }

    fn note(&mut self, body: &Body, at: Instant) {
        let fact = match body {
            Body::Transition(transition) => {
                self.sent.note(transition, at);
                return;
            }
            Body::Fact(fact) => fact,
        };
        self.sent.settle(fact);
        if let Fact::TelecommandStatus { id, status, stage, .. } = fact {
            self.told.insert((id.clone(), *status, *stage));
        }
        match fact {
            Fact::TelecommandStatus { id, order: Some(order), .. } => {
                self.order = self.order.max(*order);
                self.releases.insert(id.clone(), *order);
            }
            Fact::Observed { samples, .. } => {
                let last = samples.iter().map(|sample| sample.order).max().unwrap_or(0);
                self.order = self.order.max(last);
            }
            _ => {}
        }
        self.last_ctl = self.last_ctl.max(ctl_of(fact).unwrap_or(0));
    }

    /// From where on the archive can hold what the machine does not know: reports of what it awaits, and samples.
    fn unread_from(&self, machine: &Machine) -> u64 {
        let awaited = machine.pending().filter_map(|pending| match pending.kind {
            PendingKind::Telecommand { id, .. } => self.releases.get(&id).copied(),
            _ => None,
        });
        awaited.min().unwrap_or(self.order).min(self.order)
    }
}

/// The operator's message that a fact comes from.
pub(super) fn ctl_of(fact: &Fact) -> Option<u64> {
    match fact {
        Fact::Answered { ctl, .. }
        | Fact::Decided { ctl, .. }
        | Fact::Suspended { ctl, .. }
        | Fact::Resumed { ctl, .. }
        | Fact::AbortRequested { ctl, .. }
        | Fact::Declined { ctl, .. } => *ctl,
        _ => None,
    }
}

impl RunTask {
    /// Enters the results that the store has of telecommands whose log has none.
    async fn enter_results(&mut self) -> Result<(), StoreError> {
        for id in self.sent.all_open() {
            if let Look::Result(result) = self.shared.store.telecommands.look(&id).await? {
                // What the machine refuses says nothing new.
                drop(self.accept(result_fact(&id, &result), self.now()));
            }
        }
        Ok(())
    }

    /// Puts what the archive received from `unread` on and the log does not have in front of what comes, in order.
    async fn enter_archive(&mut self, unread: u64, judged: u64, told: &Told) -> Result<(), StoreError> {
        let mut items: Vec<TargetItem> = Vec::new();
        for target in self.wanted.targets.clone() {
            let mut after = unread;
            loop {
                let chunk = self.shared.store.archive.since(&target, after, CHUNK).await?;
                let Some(last) = chunk.last() else { break };
                after = last.order();
                items.extend(chunk.into_iter().filter_map(|item| self.matters(item, judged, told)));
            }
        }
        items.sort_by_key(TargetItem::order);
        self.inbox.replay(&items, self.shared.opened_order);
        Ok(())
    }

    /// What of an item of the archive can matter to the run: what the log goes beyond has been judged, and is not judged
    /// again; a report that the log has is not entered again, though the machine may have forgotten its telecommand.
    fn matters(&self, item: TargetItem, judged: u64, told: &Told) -> Option<TargetItem> {
        match item {
            TargetItem::Samples { mut samples } => {
                samples.retain(|sample| sample.order > judged && self.snapshot.wants(sample));
                (!samples.is_empty()).then_some(TargetItem::Samples { samples })
            }
            status => {
                let Fact::TelecommandStatus { id, status: what, stage, .. } = status_fact(&status)? else {
                    return None;
                };
                (self.sent.contains(&id) && !told.contains(&(id, what, stage))).then_some(status)
            }
        }
    }
}
