//! A store and links whose process ends at one of their operations: before it or behind it, and then nothing more is done.
//!
//! Every write of a port and every hand-over is an operation. At the chosen one the process is dead: no operation is done
//! any more, none that is under way ever answers, and whoever drives the process is told, so that it drops everything. The
//! archive keeps back what it took within the last 100 ms, which is what a killed process may lose.

use std::{
    collections::VecDeque,
    future::pending,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use stellar_runtime::{
    clock::Clock,
    gateway::link::{Boxed, Command, EncodeError, Frame, HandOver, HandOverError, Link, Past, Start},
    ports::{
        Archive, Artifacts, Claim, Control, ControlMessage, LeaseRecord, Leases, Line, Log, Look, Records, Reply,
        Revision, RunRecord, Sample, Store, TargetItem, TelecommandResult, Telecommands,
    },
};
use stellar_vm::time::Instant;
use tokio::sync::Notify;

/// How long the archive may keep back what it took, in nanoseconds.
const INTERVAL: i64 = 100_000_000;

/// When a process dies.
#[derive(Debug)]
pub struct Fate {
    done: AtomicU64,
    at: Option<u64>,
    before: bool,
    dead: AtomicBool,
    told: Notify,
    died_at: Mutex<Option<&'static str>>,
}

impl Fate {
    /// Death at this operation, counted from 1, before it or behind it; none where there is no number.
    #[must_use]
    pub fn new(at: Option<u64>, before: bool) -> Arc<Self> {
        Arc::new(Self {
            done: AtomicU64::new(0),
            at,
            before,
            dead: AtomicBool::new(false),
            told: Notify::new(),
            died_at: Mutex::new(None),
        })
    }

    /// Resolves when the process is dead.
    pub async fn death(&self) {
        while !self.dead.load(Ordering::SeqCst) {
            self.told.notified().await;
        }
    }

    /// The kind of operation that it died at, with the side.
    #[must_use]
    pub fn died_at(&self) -> Option<(&'static str, &'static str)> {
        let kind = *self.died_at.lock().unwrap_or_else(PoisonError::into_inner);
        kind.map(|kind| (kind, if self.before { "before" } else { "after" }))
    }

    fn die(&self, kind: &'static str) {
        *self.died_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(kind);
        self.dead.store(true, Ordering::SeqCst);
        self.told.notify_one();
    }

    /// Whether nothing is done any more.
    fn is_dead(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    /// Does an operation, unless the process is dead or dies at it.
    async fn meet<T>(&self, kind: &'static str, operation: impl Future<Output = T>) -> T {
        if self.is_dead() {
            return pending().await;
        }
        let now = self.at == Some(self.done.fetch_add(1, Ordering::SeqCst) + 1);
        if now && self.before {
            self.die(kind);
            return pending().await;
        }
        let answer = operation.await;
        if now {
            self.die(kind);
        }
        if self.is_dead() { pending().await } else { answer }
    }
}

/// A port whose process dies.
struct Mortal<P: ?Sized> {
    fate: Arc<Fate>,
    port: Arc<P>,
}

/// The ports of a store whose process dies.
#[must_use]
pub fn store(store: Store, fate: &Arc<Fate>, clock: &Clock) -> Store {
    fn mortal<P: ?Sized>(fate: &Arc<Fate>, port: Arc<P>) -> Arc<Mortal<P>> {
        Arc::new(Mortal { fate: fate.clone(), port })
    }
    Store {
        log: mortal(fate, store.log),
        control: mortal(fate, store.control),
        records: mortal(fate, store.records),
        leases: mortal(fate, store.leases),
        artifacts: mortal(fate, store.artifacts),
        telecommands: mortal(fate, store.telecommands),
        archive: Arc::new(MortalArchive {
            fate: fate.clone(),
            archive: store.archive,
            clock: clock.clone(),
            kept: Mutex::default(),
        }),
    }
}

impl Log for Mortal<dyn Log> {
    fn append<'a>(&'a self, run: &'a str, lines: Vec<Line>) -> Reply<'a, ()> {
        Box::pin(self.fate.meet("append", async move { self.port.append(run, lines).await }))
    }

    fn read<'a>(&'a self, run: &'a str, from: u64, limit: usize) -> Reply<'a, Vec<Line>> {
        self.port.read(run, from, limit)
    }

    fn last<'a>(&'a self, run: &'a str) -> Reply<'a, Option<Line>> {
        self.port.last(run)
    }
}

impl Control for Mortal<dyn Control> {
    fn send<'a>(&'a self, run: &'a str, message: ControlMessage) -> Reply<'a, (u64, bool)> {
        Box::pin(self.fate.meet("control", async move { self.port.send(run, message).await }))
    }

    fn read<'a>(&'a self, run: &'a str, after: u64) -> Reply<'a, Vec<(u64, ControlMessage)>> {
        self.port.read(run, after)
    }
}

impl Records for Mortal<dyn Records> {
    fn create<'a>(&'a self, run: &'a str, record: RunRecord) -> Reply<'a, Revision> {
        Box::pin(self.fate.meet("create", async move { self.port.create(run, record).await }))
    }

    fn update<'a>(&'a self, run: &'a str, record: RunRecord, revision: Revision) -> Reply<'a, Revision> {
        Box::pin(self.fate.meet("record", async move { self.port.update(run, record, revision).await }))
    }

    fn get<'a>(&'a self, run: &'a str) -> Reply<'a, Option<(RunRecord, Revision)>> {
        self.port.get(run)
    }

    fn list(&self) -> Reply<'_, Vec<(Arc<str>, RunRecord, Revision)>> {
        self.port.list()
    }
}

impl Leases for Mortal<dyn Leases> {
    fn put<'a>(&'a self, target: &'a str, lease: LeaseRecord, expected: Option<Revision>) -> Reply<'a, Revision> {
        Box::pin(self.fate.meet("lease", async move { self.port.put(target, lease, expected).await }))
    }

    fn get<'a>(&'a self, target: &'a str) -> Reply<'a, Option<(LeaseRecord, Revision)>> {
        self.port.get(target)
    }

    fn list(&self) -> Reply<'_, Vec<(Arc<str>, LeaseRecord, Revision)>> {
        self.port.list()
    }
}

impl Artifacts for Mortal<dyn Artifacts> {
    fn put<'a>(&'a self, hash: &'a str, bytes: Vec<u8>) -> Reply<'a, ()> {
        Box::pin(self.fate.meet("artifact", async move { self.port.put(hash, bytes).await }))
    }

    fn get<'a>(&'a self, hash: &'a str) -> Reply<'a, Option<Vec<u8>>> {
        self.port.get(hash)
    }
}

impl Telecommands for Mortal<dyn Telecommands> {
    fn claim(&self, claim: Claim) -> Reply<'_, ()> {
        Box::pin(self.fate.meet("claim", async move { self.port.claim(claim).await }))
    }

    fn result<'a>(&'a self, id: &'a str, result: TelecommandResult) -> Reply<'a, ()> {
        Box::pin(self.fate.meet("result", async move { self.port.result(id, result).await }))
    }

    fn cut<'a>(&'a self, id: &'a str, reason: &'a str, at: Instant) -> Reply<'a, Look> {
        Box::pin(self.fate.meet("cut", async move { self.port.cut(id, reason, at).await }))
    }

    fn look<'a>(&'a self, id: &'a str) -> Reply<'a, Look> {
        self.port.look(id)
    }

    fn open<'a>(&'a self, target: &'a str) -> Reply<'a, Vec<Claim>> {
        self.port.open(target)
    }
}

/// What the archive took: when, of which target, what.
type Taken = (Instant, Arc<str>, Vec<TargetItem>);

struct MortalArchive {
    fate: Arc<Fate>,
    archive: Arc<dyn Archive>,
    clock: Clock,
    kept: Mutex<VecDeque<Taken>>,
}

impl MortalArchive {
    fn kept(&self) -> MutexGuard<'_, VecDeque<Taken>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes on what was taken by this instant.
    fn pass(&self, until: Instant) {
        let mut kept = self.kept();
        while kept.front().is_some_and(|(at, ..)| *at <= until) && !self.fate.is_dead() {
            let Some((_, target, items)) = kept.pop_front() else { break };
            self.archive.append(&target, items);
        }
    }
}

impl Archive for MortalArchive {
    fn next_order(&self) -> u64 {
        self.archive.next_order()
    }

    fn append(&self, target: &Arc<str>, items: Vec<TargetItem>) {
        let now = self.clock.now();
        self.kept().push_back((now, target.clone(), items));
        self.pass(now.after(-INTERVAL));
    }

    fn flush(&self) -> Reply<'_, ()> {
        self.pass(self.clock.now());
        self.archive.flush()
    }

    fn since<'a>(&'a self, target: &'a str, after: u64, limit: usize) -> Reply<'a, Vec<TargetItem>> {
        // Read by a run that is taken up, before which nothing of this process matters to it.
        self.pass(self.clock.now());
        self.archive.since(target, after, limit)
    }

    fn latest<'a>(&'a self, target: &'a str) -> Reply<'a, Vec<Sample>> {
        self.archive.latest(target)
    }
}

/// A link whose process dies.
pub struct MortalLink {
    /// The link.
    pub link: Box<dyn Link>,
    /// When.
    pub fate: Arc<Fate>,
}

impl Link for MortalLink {
    fn kind(&self) -> &'static str {
        self.link.kind()
    }

    fn start(&mut self, start: Start) -> Result<Vec<Past>, String> {
        self.link.start(start)
    }

    fn encode(&mut self, command: &Command) -> Result<Frame, EncodeError> {
        self.link.encode(command)
    }

    fn hand_over<'a>(&'a mut self, hand_over: HandOver<'a>) -> Boxed<'a, Result<(), HandOverError>> {
        let fate = self.fate.clone();
        Box::pin(async move { fate.meet("hand-over", async { self.link.hand_over(hand_over).await }).await })
    }
}
