//! Real processes of `stellar`, killed at the crash points of the runtime and resumed until their runs end.
//!
//! A case kills one `run` at a point, or one `resume` behind a kill anywhere, or two in a row; what an operator answers
//! and decides is drawn from all that is offered. Most cases live in virtual time, the others in real time, where a second
//! run may take the target before the first is resumed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use stellar_runtime::ports::RunState;

use super::{
    missions::{self, PROCEDURES, Procedure, SCENARIOS},
    open::{self, Asked},
    random::Random,
};
use crate::{
    checker::{self, Evidence},
    kept,
    mission::{Mission, Ran},
};

/// Most processes that a case takes before its runs are said not to end.
const PROCESSES: usize = 40;
/// Behind so many processes of a case nothing is replayed or judged again any more.
const PATIENCE: usize = 14;
/// How often a case is drawn anew where its point was not passed.
const DRAWS: u64 = 8;

/// The points that only a `resume` passes.
const ONLY_RESUMED: [&str; 4] =
    ["append.before taken_over", "append.after taken_over", "take-over.before", "take-over.after"];

/// In which process the point is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// In `stellar run`.
    Run,
    /// In `stellar resume`.
    Resume,
    /// In two `stellar resume` one after the other.
    Twice,
}

/// What a campaign does.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program.
    pub stellar: String,
    /// Kills of each phase at each point.
    pub kills: u64,
    /// Decides everything that is drawn.
    pub seed: u64,
    /// Processes at once.
    pub workers: usize,
    /// Only this case.
    pub case: Option<usize>,
    /// Cases at most, evenly drawn from all; all where there is none.
    pub cases: Option<usize>,
}

/// What a campaign did and found.
#[derive(Debug, Default)]
pub struct Report {
    /// Kills of each phase at each point.
    pub kills: BTreeMap<(Phase, String), u64>,
    /// Cases whose point was not passed in any draw.
    pub missed: BTreeMap<(Phase, String), u64>,
    /// Cases, draws that missed their point included.
    pub cases: u64,
    /// Processes started.
    pub processes: u64,
    /// Runs judged.
    pub runs: u64,
    /// Telecommands that left.
    pub left: u64,
    /// What was found, with the case that finds it.
    pub found: Vec<(usize, String)>,
}

#[derive(Debug, Clone)]
struct Case {
    number: usize,
    phase: Phase,
    point: String,
}

/// Points, each with the procedures that pass it and how often.
type Passes = BTreeMap<String, Vec<(Procedure, u64)>>;

/// Runs a campaign.
#[must_use]
pub fn campaign(options: &Options) -> Report {
    let passes = passes(options);
    let mut cases = Vec::new();
    for _ in 0..options.kills {
        for phase in [Phase::Run, Phase::Resume, Phase::Twice] {
            // A run is created once, and never in a `resume`.
            let points = passes.keys().filter(|point| phase == Phase::Run || !point.starts_with("create."));
            cases.extend(points.map(|point| (phase, point.clone())));
        }
        for point in ONLY_RESUMED {
            cases.extend([(Phase::Resume, point.to_owned()), (Phase::Twice, point.to_owned())]);
        }
    }
    let all = cases.into_iter().enumerate().map(|(number, (phase, point))| Case { number, phase, point });
    let mut all: Vec<Case> = all.filter(|case| options.case.is_none_or(|only| only == case.number)).collect();
    if let Some(limit) = options.cases {
        let step = all.len().div_ceil(limit.max(1)).max(1);
        all = all.into_iter().step_by(step).collect();
    }
    let (next, report) = (AtomicUsize::new(0), Mutex::new(Report::default()));
    thread::scope(|scope| {
        for _ in 0..options.workers.max(1) {
            scope.spawn(|| {
                while let Some(case) = all.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let done = one(options, &passes, case);
                    report.lock().unwrap_or_else(PoisonError::into_inner).add(case, done);
                }
            });
        }
    });
    report.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The points that an undisturbed run of each procedure passes.
fn passes(options: &Options) -> Passes {
    let mut all = Passes::new();
    for procedure in PROCEDURES {
        let mission = missions::mission(&options.stellar, "");
        let mut command = mission.command(&arguments(procedure, true));
        command.args(["--answer", "go on?=yes", "--answer", "did it click?=yes", "--decide", "Switch back=skip"]);
        command.env("STELLAR_CRASH_PASSES", mission.path().join("passes"));
        let _ = crate::mission::finish(command, &["run"]);
        let mut count: BTreeMap<String, u64> = BTreeMap::new();
        for point in mission.read("passes").lines() {
            *count.entry(point.to_owned()).or_default() += 1;
        }
        for (point, times) in count {
            all.entry(point).or_default().push((procedure, times));
        }
    }
    all
}

fn arguments(procedure: Procedure, virtual_time: bool) -> Vec<&'static str> {
    let mut all = vec!["run", procedure.name, "--format", "json"];
    for (name, target) in procedure.targets {
        // The mission's own names, so that they live as long as the program.
        all.extend(["-t", named(name, target)]);
    }
    if virtual_time {
        all.extend(["--clock", "virtual"]);
    }
    all
}

fn named(name: &str, target: &str) -> &'static str {
    match (name, target) {
        ("one", "probe-1") => "one=probe-1",
        ("two", "probe-2") => "two=probe-2",
        (_, "probe-2") => "sat=probe-2",
        _ => "sat=probe-1",
    }
}

/// What a case came to.
struct Done {
    killed: bool,
    cases: u64,
    processes: u64,
    runs: u64,
    left: u64,
    found: Vec<String>,
}

impl Report {
    fn add(&mut self, case: &Case, done: Done) {
        let key = (case.phase, case.point.clone());
        *if done.killed { self.kills.entry(key) } else { self.missed.entry(key) }.or_default() += 1;
        self.cases += done.cases;
        self.processes += done.processes;
        self.runs += done.runs;
        self.left += done.left;
        self.found.extend(done.found.into_iter().map(|what| (case.number, what)));
    }
}

fn one(options: &Options, passes: &Passes, case: &Case) -> Done {
    let mut total = Done { killed: false, cases: 0, processes: 0, runs: 0, left: 0, found: Vec::new() };
    for draw in 0..DRAWS {
        let number = case.number as u64;
        let mut random = Random::of(options.seed ^ number.wrapping_mul(0x9E37_79B9) ^ (draw << 48));
        let mut going = Going::new(options, passes, case, &mut random);
        going.live(&mut random);
        total.cases += 1;
        total.processes += going.processes as u64;
        total.runs += going.runs;
        total.left += going.left;
        total.found.append(&mut going.found);
        total.killed = going.kills_left == 0;
        if total.killed || !total.found.is_empty() {
            break;
        }
    }
    total
}

/// A case under way.
struct Going {
    mission: Mission,
    phase: Phase,
    procedure: Procedure,
    /// The point, with its number.
    point: String,
    /// Where a `resume` is killed, the kill of the `run` before it.
    first: String,
    kills_left: usize,
    virtual_time: bool,
    second: Option<Procedure>,
    processes: usize,
    runs: u64,
    left: u64,
    found: Vec<String>,
}

impl Going {
    fn new(options: &Options, passes: &Passes, case: &Case, random: &mut Random) -> Self {
        let anywhere: Vec<(Procedure, u64)> = passes.get("append.after").cloned().unwrap_or_default();
        // What only a `resume` passes, it passes with any procedure.
        let of = passes.get(&case.point).unwrap_or(&anywhere);
        let (procedure, times) = random.one(of).copied().unwrap_or((PROCEDURES[0], 1));
        let nth = 1 + random.below(if case.phase == Phase::Run { times } else { times.min(3) });
        // A `run` that is killed early leaves most points to the `resume`.
        let appends = anywhere.iter().find(|(one, _)| *one == procedure).map_or(1, |(_, appends)| *appends);
        let scenario = if random.chance(50) { SCENARIOS[0] } else { random.one(&SCENARIOS).copied().unwrap_or("") };
        let virtual_time = random.chance(75);
        let second = (!virtual_time && random.chance(60)).then(|| random.one(&PROCEDURES).copied()).flatten();
        Self {
            mission: missions::mission(&options.stellar, scenario),
            phase: case.phase,
            procedure,
            point: format!("{}:{nth}", case.point),
            first: format!("append.after:{}", 1 + random.below(appends.div_ceil(2))),
            kills_left: if case.phase == Phase::Twice { 2 } else { 1 },
            virtual_time,
            second,
            processes: 0,
            runs: 0,
            left: 0,
            found: Vec::new(),
        }
    }

    fn live(&mut self, random: &mut Random) {
        let point = if self.phase == Phase::Run { self.point.clone() } else { self.first.clone() };
        let killed = self.process(&arguments(self.procedure, self.virtual_time), Some(&point), &[], random).code == -1;
        if killed && self.phase == Phase::Run {
            self.kills_left = 0;
        }
        if let Some(second) = self.second {
            let _ = self.process(&arguments(second, self.virtual_time), None, &[], random);
        }
        let mut decided: BTreeMap<String, usize> = BTreeMap::new();
        loop {
            let open: Vec<String> = kept::runs(&self.mission).into_iter().filter(|run| !self.ended(run)).collect();
            let Some(run) = random.one(&open).cloned() else { break };
            if self.processes > PROCESSES {
                self.found.push(format!(
                    "after {} processes run {run} has not ended: {}",
                    self.processes,
                    self.log(&run)
                ));
                break;
            }
            let asked = open::of(&kept::kept(&self.mission, &run).lines);
            let replies = self.replies(&asked, &mut decided, random);
            let armed = (self.kills_left > 0 && self.phase != Phase::Run).then(|| self.point.clone());
            let ran = self.process(&["resume", &run, "--format", "json"], armed.as_deref(), &replies, random);
            match ran.code {
                -1 if armed.is_some() => self.kills_left -= 1,
                0 | 3 => {}
                1 if self.ended(&run) => {}
                code => {
                    self.found.push(format!("`resume` ends with {code}: {}", ran.err));
                    break;
                }
            }
        }
        self.judge();
    }

    fn ended(&self, run: &str) -> bool {
        // A process that is killed behind the end of the log leaves the record to the next one.
        kept::kept(&self.mission, run).record.state == RunState::Ended
    }

    fn log(&self, run: &str) -> String {
        kept::kept(&self.mission, run).lines.join("\n")
    }

    /// What the operator says to what is open: anything that is offered, but nothing without end.
    fn replies(&self, asked: &[Asked], decided: &mut BTreeMap<String, usize>, random: &mut Random) -> Vec<String> {
        let mut all = Vec::new();
        for one in asked {
            let Asked::Decision { step, options, .. } = one else { continue };
            let times = decided.entry(step.clone()).or_default();
            *times += 1;
            let tired = self.processes > PATIENCE || *times > 4;
            let bounded: Vec<&String> =
                options.iter().filter(|option| !tired || !matches!(option.as_str(), "replay" | "recheck")).collect();
            if let Some(option) = random.one(&bounded) {
                all.extend(["--decide".to_owned(), format!("{step}={option}")]);
            }
        }
        all
    }

    fn process(&mut self, arguments: &[&str], point: Option<&str>, more: &[String], random: &mut Random) -> Ran {
        self.processes += 1;
        let mut command = self.mission.command(arguments);
        command.args(more);
        // What is asked is mostly answered at once; an answer that is held back leaves the question open.
        if random.chance(85) || self.processes > PATIENCE {
            let yes = |random: &mut Random| if random.chance(80) { "yes" } else { "no" };
            command.arg("--answer").arg(format!("go on?={}", yes(random)));
            command.arg("--answer").arg(format!("did it click?={}", random.one(&["yes", "perhaps"]).unwrap_or(&"yes")));
        }
        if more.is_empty() && random.chance(70) {
            let option = random.one(&["replay", "skip", "fail", "abort", "recheck"]).unwrap_or(&"skip");
            command.arg("--decide").arg(format!("Switch back={option}"));
        }
        if let Some(point) = point {
            command.env("STELLAR_CRASH_POINT", point);
        }
        let said = crate::mission::finish(command, arguments);
        if !matches!((said.code, point), (-1, Some(_)) | (0 | 1 | 3, _)) {
            self.found.push(format!("{arguments:?} ends with {}: {}", said.code, said.err));
        }
        Ran { code: said.code, events: Vec::new(), err: said.err }
    }

    fn judge(&mut self) {
        let folder = self.mission.path().join(".stellar");
        if fs::metadata(folder.join("store.redb")).is_err() {
            return;
        }
        let evidence = Evidence { one_clock: !self.virtual_time, ..Evidence::of_folder(&folder) };
        self.runs = evidence.runs.len() as u64;
        self.left = evidence.links.values().map(|lines| lines.len() as u64).sum();
        let what = format!("{:?} at {} of {}", self.phase, self.point, self.procedure.name);
        self.found.extend(checker::check(&evidence).iter().map(|violation| format!("{what}: {violation}")));
    }
}

impl Report {
    /// The points at which no process was ever killed.
    #[must_use]
    pub fn never(&self) -> BTreeSet<&(Phase, String)> {
        self.missed.keys().filter(|key| !self.kills.contains_key(*key)).collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phases = [Phase::Run, Phase::Resume, Phase::Twice];
        writeln!(f, "{:<40} {:>8} {:>8} {:>8}", "killed at", "run", "resume", "twice")?;
        let points: BTreeSet<&String> = self.kills.keys().chain(self.missed.keys()).map(|(_, point)| point).collect();
        for point in points {
            write!(f, "{point:<40}")?;
            for phase in phases {
                write!(f, " {:>8}", self.kills.get(&(phase, point.clone())).copied().unwrap_or(0))?;
            }
            writeln!(f)?;
        }
        let total: u64 = self.kills.values().sum();
        let missed: u64 = self.missed.values().sum();
        writeln!(
            f,
            "{total} cases killed at their point, {missed} that never passed it; {} processes, {} runs judged, {} telecommands left",
            self.processes, self.runs, self.left
        )?;
        writeln!(f, "{} violations", self.found.len())?;
        for (case, what) in &self.found {
            writeln!(f, "case {case}: {what}")?;
        }
        Ok(())
    }
}
