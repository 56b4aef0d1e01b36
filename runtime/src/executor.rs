//! The executor: many runs at once, each a task of its own, over one store and the gateways of one process.
//!
//! [`Executor::start`] checks a start and begins a run, [`Executor::resume`] takes one over. A run's task owns its
//! machine; everything that happens to the run goes through its log. A task that fails or panics halts its run, with the
//! reason in its record, and no other. What is deliberately not here: what a step means (the machine), who encodes (the
//! gateways), where things are kept (the ports).

mod control;
mod handle;
mod inbox;
mod next;
mod run;
mod sent;
mod snapshot;
mod stand;
mod start;
mod supervise;
mod takeover;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use stellar_vm::{
    catalogue::Catalogue,
    event::{Body, Event, Transition},
    machine::{Machine, View},
    program::Program,
    verify::Verified,
};
use tokio::sync::{
    mpsc::{UnboundedSender, unbounded_channel},
    oneshot, watch,
};

pub use self::{
    handle::{ControlError, ControlReply, Ending, RunHandle},
    run::RunError,
    start::{StartError, StartRequest},
    takeover::ResumeError,
};
use self::{inbox::Inbox, run::RunTask, sent::Sent, snapshot::RunSnapshot, takeover::Past};
use crate::{
    clock::Clock,
    commanding::{Subscribed, TargetGateway},
    journal::{Journal, Progress},
    leases::{Fences, LeaseKeeper, Owner, Wanted},
    ports::{Revision, RunRecord, RunState, Store, StoreError},
};

/// A target of the configuration.
#[derive(Clone)]
pub struct Target {
    /// Its platform.
    pub platform: Arc<str>,
    /// The gateway that owns its link; none where the configuration gives it no link.
    pub gateway: Option<Arc<dyn TargetGateway>>,
}

/// What an executor is made of.
pub struct Setup {
    /// The store.
    pub store: Store,
    /// The clock of the process.
    pub clock: Clock,
    /// The catalogue of every platform.
    pub catalogue: Arc<Catalogue>,
    /// The targets of the configuration.
    pub targets: BTreeMap<Arc<str>, Target>,
    /// The instance.
    pub owner: Owner,
    /// Most runs that are under way at once; limits starts, not takeovers.
    pub max_runs: usize,
}

/// The executor of a process. Clones are the same executor.
#[derive(Clone)]
pub struct Executor {
    shared: Arc<Shared>,
}

/// What all runs of a process share.
pub(crate) struct Shared {
    store: Store,
    clock: Clock,
    catalogue: Arc<Catalogue>,
    targets: BTreeMap<Arc<str>, Target>,
    owner: Owner,
    leases: LeaseKeeper,
    max_runs: usize,
    active: Mutex<BTreeMap<Arc<str>, Active>>,
    /// One start or takeover at a time: who resumes a run twice at once takes it over once.
    beginning: tokio::sync::Mutex<()>,
    /// Everything with a greater order was received by this process.
    opened_order: u64,
}

/// What reaches the task of a run.
enum Command {
    /// There may be new messages of operators.
    Poke,
    /// Asks for the state.
    View(oneshot::Sender<View>),
}

/// A run whose task lives in this process, or did.
#[derive(Clone)]
struct Active {
    commands: UnboundedSender<Command>,
    progress: watch::Receiver<Progress>,
    ending: watch::Receiver<Option<Ending>>,
    /// Code of the refusal of each message that was declined.
    declined: Arc<Mutex<BTreeMap<u64, &'static str>>>,
}

impl Shared {
    fn gateway(&self, target: &str) -> Option<Arc<dyn TargetGateway>> {
        self.targets.get(target)?.gateway.clone()
    }

    fn active(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Active>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run's task, if it is under way.
    fn under_way(&self, run: &str) -> Option<Active> {
        self.active().get(run).filter(|active| active.ending.borrow().is_none()).cloned()
    }

    fn declined(&self, run: &str, ctl: u64, code: &'static str) {
        if let Some(active) = self.active().get(run) {
            active.declined.lock().unwrap_or_else(PoisonError::into_inner).insert(ctl, code);
        }
    }
}

/// A run about to become a task.
struct Beginning {
    run: Arc<str>,
    program: Arc<Verified>,
    machine: Machine,
    record: RunRecord,
    revision: Revision,
    epoch: u64,
    shared_leases: bool,
    offset: i64,
}

impl Executor {
    /// An executor without runs.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let Setup { store, clock, catalogue, targets, owner, max_runs } = setup;
        let leases = LeaseKeeper::new(store.leases.clone(), owner.clone());
        let active = Mutex::default();
        let beginning = tokio::sync::Mutex::default();
        let opened_order = store.archive.next_order();
        let shared =
            Shared { store, clock, catalogue, targets, owner, leases, max_runs, active, beginning, opened_order };
        Self { shared: Arc::new(shared) }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.shared.store
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// The catalogue.
    #[must_use]
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.shared.catalogue
    }

    /// The targets.
    #[must_use]
    pub fn targets(&self) -> &BTreeMap<Arc<str>, Target> {
        &self.shared.targets
    }

    /// The leases that runs of this process hold.
    #[must_use]
    pub fn leases(&self) -> &LeaseKeeper {
        &self.shared.leases
    }

    /// A handle of a run that has a record.
    ///
    /// # Errors
    /// The store's.
    pub async fn handle(&self, run: &str) -> Result<Option<RunHandle>, StoreError> {
        let known = self.shared.store.records.get(run).await?.is_some();
        Ok(known.then(|| RunHandle::new(run.into(), self.shared.clone())))
    }

    /// All records of runs, sorted by run.
    ///
    /// # Errors
    /// The store's.
    pub async fn runs(&self) -> Result<Vec<(Arc<str>, RunRecord)>, StoreError> {
        let all = self.shared.store.records.list().await?;
        Ok(all.into_iter().map(|(run, record, _)| (run, record)).collect())
    }

    /// Whether a run's task is under way in this process.
    #[must_use]
    pub fn is_under_way(&self, run: &str) -> bool {
        self.shared.under_way(run).is_some()
    }

    /// Writes into their records what the logs of runs have as their end, where an earlier process got no further.
    ///
    /// # Errors
    /// The store's.
    pub async fn settle_ended(&self) -> Result<(), StoreError> {
        for run in self.left_behind().await? {
            let Some(last) = self.shared.store.log.last(&run).await? else { continue };
            if !last.text.contains("\"run_finished\"") {
                continue;
            }
            let event = Event::from_json(&last.text).map_err(|error| StoreError::Damaged(error.to_string()))?;
            let Body::Transition(Transition::RunFinished { outcome, reason, .. }) = event.body else { continue };
            let Some((mut record, revision)) = self.shared.store.records.get(&run).await? else { continue };
            record.state = RunState::Ended;
            record.outcome = Some(outcome);
            record.reason = reason;
            record.renewed_at = self.shared.clock.now();
            self.shared.store.records.update(&run, record, revision).await?;
        }
        Ok(())
    }

    /// The runs whose record says that somebody owns them, though nobody in this process does: what an earlier process
    /// left. Only the holder of the store's lock is an instance, so that they are free at once.
    ///
    /// # Errors
    /// The store's.
    pub async fn left_behind(&self) -> Result<Vec<Arc<str>>, StoreError> {
        let all = self.runs().await?;
        let open = |state| matches!(state, RunState::Requested | RunState::Running | RunState::Suspended);
        let left = all.into_iter().filter(|(run, record)| open(record.state) && !self.is_under_way(run));
        Ok(left.map(|(run, _)| run).collect())
    }
}

impl Shared {
    /// Makes the task of a run, subscribed to its gateways.
    fn task(
        self: &Arc<Self>,
        beginning: Beginning,
        past: Option<Past>,
    ) -> (RunTask, Active, watch::Sender<Option<Ending>>) {
        let Beginning { run, program, machine, record, revision, epoch, shared_leases, offset } = beginning;
        let mut targets: Vec<Arc<str>> = record.targets.values().cloned().collect();
        targets.sort();
        let (commands, inbox_of_commands) = unbounded_channel();
        let (progress_sender, progress) = watch::channel(Progress { seq: machine.seq(), over: false });
        let (ending_sender, ending) = watch::channel(None);
        let journal =
            Journal::new(self.store.log.clone(), run.clone(), epoch, self.owner.nonce.clone(), progress_sender);
        let mut inbox = Inbox::new(offset);
        let mut snapshot = RunSnapshot::new(&program, &targets);
        for target in &targets {
            let Some(gateway) = self.gateway(target) else { continue };
            let Subscribed { latest, items } = gateway.subscribe();
            inbox.add(items);
            for sample in latest {
                // After a takeover the archive gives what the log does not go beyond, in order.
                let judged = past.as_ref().is_none_or(|past| sample.order <= past.order);
                if judged && snapshot.wants(&sample) {
                    snapshot.put(&snapshot::moved(sample, offset));
                }
            }
        }
        let sent = match past {
            Some(past) => past.sent,
            None => Sent::new(run.clone(), &program, &self.platforms(&targets)),
        };
        let wanted = Wanted { run: run.clone(), epoch, targets, shared: shared_leases };
        let task = RunTask {
            shared: self.clone(),
            run,
            machine,
            journal,
            wanted,
            fences: Fences::new(),
            snapshot,
            inbox,
            sent,
            record,
            revision,
            commands: inbox_of_commands,
            messages: std::collections::VecDeque::new(),
            last_ctl: 0,
            poked: true,
            offset,
            batch: Vec::new(),
            read_past: None,
            came_last: None,
        };
        (task, Active { commands, progress, ending, declined: Arc::default() }, ending_sender)
    }

    fn platforms(&self, targets: &[Arc<str>]) -> BTreeMap<Arc<str>, Arc<str>> {
        let of = |target: &Arc<str>| Some((target.clone(), self.targets.get(target)?.platform.clone()));
        targets.iter().filter_map(of).collect()
    }
}

/// Whether a run of this procedure changes nothing on board, so that it shares its targets.
fn shares(program: &Program, unit: u32) -> bool {
    let unit = usize::try_from(unit).ok().and_then(|unit| program.units.get(unit));
    unit.is_some_and(|unit| unit.claims.eligible)
}

#[cfg(test)]
mod tests;
