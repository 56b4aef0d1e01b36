//! Processes that live and die within this one, in virtual time: store, gateways and executor on one folder, dropped at one
//! of their operations and opened again, until every run has ended.
//!
//! A seed decides the target's faults, which runs are started when, at which operation each process dies, how much time
//! passes until the next one, and what operators say and when: answers, decisions, suspensions, aborts, each now and then
//! sent twice.
#![expect(clippy::expect_used, reason = "a harness fails its test at once")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use stellar_runtime::{
    clock::{Clock, Phase, virtual_runtime},
    commanding::TargetGateway,
    embedded::{Embedded, Hold},
    executor::{Ending, Executor, ResumeError, RunHandle, Setup, StartRequest, Target},
    gateway::{
        Gateway, GatewayOptions,
        link::sim::{SimLink, SimOptions},
    },
    ident,
    leases::Owner,
    ports::ControlAction,
};
use stellar_vm::{
    catalogue::Catalogue,
    event::DecisionOption,
    time::{Instant, Scale},
};
use tokio::task::JoinSet;

use super::{
    missions::{self, PROCEDURES, Procedure, SCENARIOS, TARGETS},
    mortal::{self, Fate, MortalLink},
    open::{self, Asked},
    random::Random,
};
use crate::{
    checker::{self, Evidence},
    instance,
    mission::Mission,
};

const S: i64 = 1_000_000_000;
/// When the first process of a seed begins.
const START: Instant = Instant { ns: 1_790_000_000 * S, scale: Scale::Utc };
/// How long a process may live before its runs are said not to end, in virtual time.
const LIFE: i64 = 1_200 * S;

/// What the campaign in virtual time did and found.
#[derive(Debug, Default)]
pub struct Report {
    /// Seeds.
    pub seeds: u64,
    /// Processes.
    pub lives: u64,
    /// Deaths at each operation of store and link.
    pub deaths: BTreeMap<(&'static str, &'static str), u64>,
    /// Runs judged.
    pub runs: u64,
    /// Their events.
    pub events: u64,
    /// Telecommands that left.
    pub left: u64,
    /// What was found, with the seed that finds it.
    pub found: Vec<(u64, String)>,
}

/// Runs so many seeds from the first one on.
#[must_use]
pub fn campaign(first: u64, seeds: u64, workers: usize) -> Report {
    let (next, report) = (AtomicU64::new(first), Mutex::new(Report::default()));
    thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            scope.spawn(|| {
                let compiled = Compiled::new();
                loop {
                    let seed = next.fetch_add(1, Ordering::SeqCst);
                    if seed >= first.saturating_add(seeds) {
                        break;
                    }
                    let one = one(&compiled, seed);
                    report.lock().unwrap_or_else(PoisonError::into_inner).add(one);
                }
            });
        }
    });
    report.into_inner().unwrap_or_else(PoisonError::into_inner)
}

impl Report {
    fn add(&mut self, other: Self) {
        self.seeds += other.seeds;
        self.lives += other.lives;
        for (at, times) in other.deaths {
            *self.deaths.entry(at).or_default() += times;
        }
        self.runs += other.runs;
        self.events += other.events;
        self.left += other.left;
        self.found.extend(other.found);
        self.found.sort();
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<12} {:>8} {:>8}", "died at", "before", "after")?;
        let kinds: BTreeSet<&str> = self.deaths.keys().map(|(kind, _)| *kind).collect();
        let times = |kind, side| self.deaths.get(&(kind, side)).copied().unwrap_or(0);
        for kind in kinds {
            writeln!(f, "{kind:<12} {:>8} {:>8}", times(kind, "before"), times(kind, "after"))?;
        }
        let (deaths, seeds): (u64, u64) = (self.deaths.values().sum(), self.seeds);
        writeln!(
            f,
            "{seeds} seeds, {} processes, {deaths} deaths; {} runs with {} events judged, {} telecommands left",
            self.lives, self.runs, self.events, self.left
        )?;
        writeln!(f, "{} violations", self.found.len())?;
        for (seed, what) in &self.found {
            writeln!(f, "seed {seed}: {what}")?;
        }
        Ok(())
    }
}

/// What all seeds share.
struct Compiled {
    catalogue: Arc<Catalogue>,
    artifact: Vec<u8>,
}

impl Compiled {
    fn new() -> Self {
        let mission = missions::mission("", "");
        let catalogue = Arc::new(instance::checked(&mission, &[]).catalogue().compiled());
        Self { catalogue, artifact: instance::artifact(&mission, &[]) }
    }
}

fn one(compiled: &Compiled, seed: u64) -> Report {
    let mut random = Random::of(seed);
    let scenario = random.one(&SCENARIOS).copied().unwrap_or_default();
    let mission = missions::mission("", scenario);
    let mut report = Report { seeds: 1, ..Report::default() };
    let count = 1 + random.below(3);
    let mut starts: Vec<(Procedure, i64)> = Vec::new();
    for _ in 0..count {
        let procedure = random.one(&PROCEDURES).copied().unwrap_or(PROCEDURES[0]);
        starts.push((procedure, i64::try_from(random.below(4_000)).unwrap_or(0) * 1_000_000));
    }
    let deaths = 1 + random.below(4);
    let mut now = START;
    for life in 0..=deaths {
        let at = (life < deaths).then(|| 1 + random.below(if life == 0 { 90 } else { 40 }));
        let fate = Fate::new(at, random.chance(50));
        let plan = Plan { mission: &mission, compiled, fate: fate.clone(), start: now, patient: life == deaths };
        let came = plan.live(&starts, random.next());
        starts = came.not_started;
        report.lives += 1;
        report.found.extend(came.found.into_iter().map(|what| (seed, what)));
        if let Some(at) = fate.died_at() {
            *report.deaths.entry(at).or_default() += 1;
        } else if came.ended {
            break;
        }
        let gap = [0, 1_000_000, S / 3, 3 * S, 60 * S];
        now = came.now.after(random.one(&gap).copied().unwrap_or(0));
    }
    let evidence = Evidence::of_folder(&mission.path().join(".stellar"));
    report.runs = evidence.runs.len() as u64;
    report.events = evidence.runs.iter().map(|run| run.lines.len() as u64).sum();
    report.left = evidence.links.values().map(|lines| lines.len() as u64).sum();
    report.found.extend(checker::check(&evidence).iter().map(|violation| (seed, violation.to_string())));
    if !report.found.is_empty() {
        // What is needed to see why, without running the seed again.
        report.found.extend(evidence.runs.iter().map(|run| (seed, format!("log:\n{}", run.lines.join("\n")))));
    }
    report
}

/// A process of a seed.
struct Plan<'a> {
    mission: &'a Mission,
    compiled: &'a Compiled,
    fate: Arc<Fate>,
    start: Instant,
    /// Whether it lives until all has ended.
    patient: bool,
}

/// How a process ended.
struct Came {
    now: Instant,
    ended: bool,
    not_started: Vec<(Procedure, i64)>,
    found: Vec<String>,
}

impl Plan<'_> {
    /// Lives until all runs have ended, or to its death; then everything is dropped where it stands.
    fn live(self, starts: &[(Procedure, i64)], seed: u64) -> Came {
        let runtime = virtual_runtime().expect("a runtime");
        let folder = self.mission.path().join(".stellar");
        let (now, embedded, ended, found, started) = runtime.block_on(async {
            let clock = Clock::virtual_from(self.start);
            let holder = clock.clone();
            let hold: Hold = Arc::new(move || Box::new(holder.busy()));
            let embedded = Embedded::open(&folder, "exec-a", hold).expect("the store opens");
            let started = Mutex::new(0);
            let found = Arc::new(Mutex::new(Vec::new()));
            let life = async {
                let executor = self.executor(&embedded, &clock, &folder).await;
                self.work(&executor, starts, seed, &started, &found).await;
            };
            let limit = clock.sleep_until(self.start.after(LIFE), Phase::Run);
            let ended = tokio::select! {
                biased;
                () = self.fate.death() => false,
                () = life => true,
                () = limit => {
                    found.lock().unwrap_or_else(PoisonError::into_inner).push("a run does not end".to_owned());
                    true
                }
            };
            let found = found.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let started = *started.lock().unwrap_or_else(PoisonError::into_inner);
            (clock.now(), embedded, ended, found, started)
        });
        // The tasks are dropped first, wherever they stand; then nobody else has the store.
        drop(runtime);
        drop(embedded);
        let not_started = starts.get(started..).unwrap_or_default().to_vec();
        Came { now, ended, not_started, found }
    }

    async fn executor(&self, embedded: &Embedded, clock: &Clock, folder: &Path) -> Executor {
        let ports = mortal::store(embedded.store(), &self.fate, clock);
        let owner = Owner { instance: Arc::from("exec-a"), nonce: ident::random_id().into() };
        let catalogue = self.compiled.catalogue.clone();
        let mut targets = BTreeMap::new();
        for (seed, (name, platform)) in (1..).zip(TARGETS) {
            let of = catalogue.platforms.iter().find(|one| *one.name == *platform).expect("its platform is there");
            let of = Arc::new(of.clone());
            let sim = SimLink::open(SimOptions {
                platform: of.clone(),
                clock: clock.clone(),
                behaviours: Some(self.mission.path().join("sim.yaml")),
                seed,
                record: folder.join(format!("links/{name}.jsonl")),
            });
            let link = MortalLink { link: Box::new(sim.expect("the scenario is right")), fate: self.fate.clone() };
            let options = GatewayOptions {
                target: Arc::from(name),
                platform: of,
                clock: clock.clone(),
                telecommands: ports.telecommands.clone(),
                archive: ports.archive.clone(),
                nonce: owner.nonce.clone(),
            };
            let gateway = Gateway::open(options, Box::new(link)).await.expect("the gateway opens");
            let gateway: Arc<dyn TargetGateway> = Arc::new(gateway);
            targets.insert(Arc::from(name), Target { platform: Arc::from(platform), gateway: Some(gateway) });
        }
        let executor =
            Executor::new(Setup { store: ports, clock: clock.clone(), catalogue, targets, owner, max_runs: 100 });
        executor.settle_ended().await.expect("the store takes it");
        executor
    }

    /// Takes up what was left, starts what is to be started, and sees to all of it.
    async fn work(
        &self,
        executor: &Executor,
        starts: &[(Procedure, i64)],
        seed: u64,
        started: &Mutex<usize>,
        found: &Arc<Mutex<Vec<String>>>,
    ) {
        let mut random = Random::of(seed);
        let mut operators = JoinSet::new();
        let mut operate = |handle: RunHandle, from: u64, random: &mut Random| {
            let operator = Operator {
                executor: executor.clone(),
                handle,
                from,
                random: Random::of(random.next()),
                patient: self.patient,
                found: found.clone(),
            };
            operators.spawn(operator.see_to_it());
        };
        for run in executor.left_behind().await.expect("the store lists") {
            let last = executor.store().log.last(&run).await.expect("the log reads").map_or(0, |line| line.seq);
            let taken =
                if random.chance(50) { executor.resume(&run, "os:ada").await } else { executor.take_over(&run).await };
            match taken {
                Ok(handle) => operate(handle, last + 1, &mut random),
                Err(ResumeError::Ended(_)) => {}
                Err(error) => found
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(format!("run {run} cannot be taken up: {error}")),
            }
        }
        for (procedure, after) in starts {
            let clock = executor.clock();
            clock.sleep_until(clock.now().after(*after), Phase::Run).await;
            *started.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            let request = StartRequest {
                artifact: self.compiled.artifact.clone(),
                procedure: procedure.name.to_owned(),
                targets: procedure.targets.iter().map(|(name, of)| (Arc::from(*name), Arc::from(*of))).collect(),
                inputs: BTreeMap::new(),
                by: "os:ada".to_owned(),
            };
            let handle = executor.start(request).await.expect("it starts");
            operate(handle, 1, &mut random);
        }
        while let Some(done) = operators.join_next().await {
            done.expect("an operator sees to it");
        }
    }
}

/// Who sees to a run in a process.
struct Operator {
    executor: Executor,
    handle: RunHandle,
    from: u64,
    random: Random,
    patient: bool,
    found: Arc<Mutex<Vec<String>>>,
}

impl Operator {
    async fn see_to_it(mut self) {
        let mut events = self.handle.events(1);
        let (mut lines, mut served) = (Vec::new(), BTreeSet::new());
        while let Some(line) = events.next().await.expect("the log reads") {
            let new = line.seq >= self.from;
            lines.push(line.text.to_string());
            if line.text.contains("\"type\":\"resumed\"") {
                // What was said while it was suspended was declined: it is said again.
                served.clear();
            }
            if new {
                self.mischief(lines.len()).await;
                for asked in open::of(&lines) {
                    self.serve(&asked, &mut served, lines.len()).await;
                }
            }
        }
        match self.handle.ended().await {
            Some(Ending::Finished(_)) | None => {}
            Some(other) => self.tell(format!("run {} is left: {other:?}", self.handle.id())),
        }
    }

    fn tell(&self, what: String) {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    async fn sleep(&mut self, most_ms: u64) {
        let clock = self.executor.clock().clone();
        let pause = i64::try_from(self.random.below(most_ms)).unwrap_or(0) * 1_000_000;
        clock.sleep_until(clock.now().after(pause), Phase::Run).await;
    }

    /// Now and then a suspension or an abort that nobody asked for.
    async fn mischief(&mut self, events: usize) {
        if self.patient && events > 200 {
            return;
        }
        if self.random.chance(4) {
            self.sleep(600).await;
            self.say(ControlAction::Suspend).await;
        } else if self.random.below(400) == 0 {
            self.say(ControlAction::Abort).await;
        }
    }

    async fn serve(&mut self, asked: &Asked, served: &mut BTreeSet<String>, events: usize) {
        let suspended = *asked == Asked::Suspended;
        // A suspension has no name: its place in the log is one.
        let name = if suspended { format!("suspended at {events}") } else { asked.id().to_owned() };
        if !served.insert(name) {
            return;
        }
        let tired = events > 150;
        let action = match asked {
            Asked::Suspended if self.random.chance(5) => Some(ControlAction::Abort),
            Asked::Suspended => Some(ControlAction::Resume),
            Asked::Question { id, choices } if self.random.chance(90) => {
                let value = self.random.one(choices).cloned().unwrap_or_default();
                Some(ControlAction::Answer { question: id.clone(), value })
            }
            Asked::Question { .. } => None,
            Asked::Decision { id, options, .. } => {
                let ends = |option: &&String| !tired || !matches!(option.as_str(), "replay" | "recheck");
                let bounded: Vec<&String> = options.iter().filter(ends).collect();
                let option = self.random.one(&bounded).map_or("abort", |option| option.as_str());
                Some(ControlAction::Decide { decision: id.clone(), option: named(option) })
            }
        };
        self.sleep(3_000).await;
        if let Some(action) = action {
            self.say(action).await;
        }
    }

    /// Sends a message, now and then twice under one key.
    async fn say(&mut self, action: ControlAction) {
        let key = format!("key-{}", self.random.next());
        let times = if self.random.chance(10) { 2 } else { 1 };
        for _ in 0..times {
            // What does not fit any more is declined, and stands in the log.
            drop(self.handle.send("os:ada", Some(&key), action.clone()).await);
        }
    }
}

fn named(option: &str) -> DecisionOption {
    match option {
        "replay" => DecisionOption::Replay,
        "skip" => DecisionOption::Skip,
        "fail" => DecisionOption::Fail,
        "recheck" => DecisionOption::Recheck,
        _ => DecisionOption::Abort,
    }
}
