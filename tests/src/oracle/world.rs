//! The world of a run: telemetry, reports, operators, leases, interruptions. What it does depends on the seed, on the time
//! and on the place in the log alone, so that machine and reference meet the same world as long as their logs agree.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{
    conditions::floats,
    model::*,
    rng::Rng,
    text::{instant, scalar},
};

/// When every run starts.
pub(super) const START: Ns = 1_790_936_100 * S;
pub(super) const RUN: &str = "01K6A3D3Y4Q8K1P9W2N6R5T7XZ";
/// Target of each `uses` name of the procedure that is run.
pub(super) const TARGETS: [&str; 2] = ["sim-1", "sim-2"];

#[derive(Debug, Clone)]
pub(super) struct Sample {
    pub(super) target: &'static str,
    pub(super) param: usize,
    pub(super) index: Option<i64>,
    pub(super) value: Json,
    pub(super) received_at: Ns,
    pub(super) order: u64,
    pub(super) valid: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Released,
    NotReleased,
    EncodeFailed,
    Reported(Stage),
    Failed(Option<Stage>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Opt {
    Replay,
    Skip,
    Fail,
    Abort,
    Recheck,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Left,
    NeverLeft,
    MayHaveLeft,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransferEnd {
    NotCreated,
    Completed,
    Failed,
    Cancelled,
}

/// Something that happens.
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// The next telemetry, by its number.
    Tick(u64),
    Samples(Vec<Sample>),
    Status {
        id: String,
        status: Status,
        reason: Option<String>,
        code: Option<String>,
    },
    Answer {
        question: String,
        value: String,
    },
    Decide {
        decision: String,
        option: Opt,
    },
    Transfer {
        id: String,
        status: TransferEnd,
        reason: Option<String>,
    },
    Suspend,
    Resume,
    Abort,
    /// The owner is gone; another takes over so long after.
    TakeOver(Ns),
}

/// The scripted world of a seed.
#[derive(Debug, Clone)]
pub(super) struct World {
    seed: u64,
    catalogue: Catalogue,
    agenda: BTreeMap<(Ns, u64), Act>,
    ties: u64,
    order: u64,
    decisions: u64,
    controls: BTreeMap<u64, Act>,
    /// How far UTC reads behind the run's clock.
    pub(super) utc_behind: Ns,
    /// How many of a hundred telecommands go well.
    good: usize,
    refuses_leases: bool,
    /// How many samples a tick brings at most, and how many of a hundred are as a target in good order has them.
    /// How many interruptions may still come by chance.
    interruptions: usize,
    samples: usize,
    healthy: usize,
}

/// What of a random number is for what.
mod salt {
    pub(super) const WORLD: u64 = 1;
    pub(super) const TICK: u64 = 2;
    pub(super) const SENT: u64 = 3;
    pub(super) const ASKED: u64 = 4;
    pub(super) const DECISION: u64 = 5;
    pub(super) const TRANSFER: u64 = 6;
    pub(super) const SUSPENDED: u64 = 7;
    pub(super) const LEASES: u64 = 8;
    pub(super) const KNOWN: u64 = 9;
    pub(super) const CANCEL: u64 = 10;
    pub(super) const CHANCE: u64 = 11;
}

/// For how long a run has no owner.
const OUTAGES: [Ns; 5] = [0, 0, S, 8 * S, 15 * S];

fn delay(rng: &mut Rng) -> Ns {
    rng.pick(&[0, 0, 100 * MS, 100 * MS, 200 * MS, 500 * MS, S, 2 * S, 3 * S])
}

impl World {
    pub(super) fn new(seed: u64, catalogue: &Catalogue) -> Self {
        let mut rng = Rng::new(&[seed, salt::WORLD]);
        let mut world = Self {
            seed,
            catalogue: catalogue.clone(),
            agenda: BTreeMap::new(),
            ties: 0,
            order: 0,
            decisions: 0,
            controls: BTreeMap::new(),
            utc_behind: rng.pick(&[0, 0, 0, 3 * S, -2 * S, 500 * MS]),
            good: rng.pick(&[50, 75, 75, 90]),
            refuses_leases: rng.chance(25),
            interruptions: 0,
            samples: rng.pick(&[8, 14, 30, 60]),
            healthy: rng.pick(&[0, 50, 80, 95]),
        };
        world.plan_controls(&mut rng);
        world.plan(START, Act::Tick(0));
        world
    }

    /// Interruptions at places of the log and at times.
    fn plan_controls(&mut self, rng: &mut Rng) {
        if rng.chance(33) {
            return;
        }
        self.interruptions = rng.below(7);
        for _ in 0..1 + rng.below(4) {
            let act = match rng.below(100) {
                0..45 => Act::Suspend,
                45..90 => Act::TakeOver(rng.pick(&[0, 0, 100 * MS, S, 5 * S])),
                90..96 => Act::Resume,
                _ => Act::Abort,
            };
            if rng.chance(75) {
                let last = rng.pick(&[12, 30, 60, 120]);
                self.controls.insert(u64::try_from(rng.between(1, last)).unwrap(), act);
            } else {
                let at = START + rng.between(0, 80) * 100 * MS;
                self.plan(at, act);
            }
        }
    }

    /// What of it is not seen in a log, in words.
    pub(super) fn told(&self) -> String {
        let controls: Vec<_> = self.controls.iter().map(|(seq, act)| format!("{act:?} behind event {seq}")).collect();
        format!(
            "world: UTC reads {} ms less, {} of 100 telecommands go well, leases {}, {} of 100 samples in good order, {} \
             samples a tick; {}",
            self.utc_behind / MS,
            self.good,
            if self.refuses_leases { "are refused at times" } else { "are there" },
            self.healthy,
            self.samples,
            controls.join(", ")
        )
    }

    pub(super) fn plan(&mut self, at: Ns, act: Act) {
        self.ties += 1;
        self.agenda.insert((at, self.ties), act);
    }

    fn rng(&self, salt: u64, place: u64) -> Rng {
        Rng::new(&[self.seed, salt, place])
    }

    /// The control fact that comes right behind an event.
    pub(super) fn control(&mut self, seq: u64) -> Option<Act> {
        self.controls.remove(&seq)
    }

    /// When the next thing happens, and whether it is an operator's doing.
    pub(super) fn next(&self) -> Option<(Ns, bool)> {
        let ((at, _), act) = self.agenda.first_key_value()?;
        let by_operator = !matches!(act, Act::Tick(_) | Act::Samples(_) | Act::Status { .. });
        Some((*at, by_operator))
    }

    /// What happens next; a tick makes its samples.
    pub(super) fn pop(&mut self) -> Option<(Ns, Act)> {
        let ((at, _), act) = self.agenda.pop_first()?;
        Some((
            at,
            match act {
                Act::Tick(number) => {
                    self.tick(at, number);
                    Act::Samples(Vec::new())
                }
                Act::Samples(mut samples) => {
                    for sample in &mut samples {
                        sample.order = self.next_order();
                    }
                    Act::Samples(samples)
                }
                act => act,
            },
        ))
    }

    pub(super) fn next_order(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    /// What was received before the start.
    pub(super) fn before(&mut self) -> Vec<Sample> {
        let mut rng = self.rng(salt::TICK, u64::MAX);
        let mut samples = Vec::new();
        for target in TARGETS {
            for param in 0..self.catalogue.params.len() {
                for index in self.indices(param) {
                    if rng.chance(25) {
                        continue;
                    }
                    let fresh = self.catalogue.params[param].freshness.unwrap_or(S);
                    let age = rng.pick(&[0, 100 * MS, 500 * MS, fresh, fresh + 1, 20 * S]);
                    let mut sample = self.sample(&mut rng, target, param, index, START - age);
                    sample.order = self.next_order();
                    samples.push(sample);
                }
            }
        }
        samples
    }

    fn indices(&self, param: usize) -> Vec<Option<i64>> {
        match self.catalogue.components[self.catalogue.params[param].component].index {
            None => vec![None],
            Some((low, high)) => (low..=high).map(Some).collect(),
        }
    }

    fn tick(&mut self, at: Ns, number: u64) {
        let mut rng = self.rng(salt::TICK, number);
        let mut packet = Vec::new();
        for _ in 0..rng.below(self.samples) {
            let target = rng.pick(&TARGETS);
            let param = rng.below(self.catalogue.params.len());
            let index = rng.pick(&self.indices(param));
            let lag = match rng.below(40) {
                0 => 100 * MS,
                1 => 700 * MS,
                2 => 30 * S,
                _ => 0,
            };
            let sample = self.sample(&mut rng, target, param, index, at - lag);
            if rng.chance(70) {
                packet.push(sample);
            } else {
                self.plan(at, Act::Samples(vec![sample]));
            }
        }
        self.plan(at, Act::Samples(packet));
        let gap = match rng.below(12) {
            0 => 0,
            1 => 1,
            2 => 100 * MS - 1,
            3..6 => 100 * MS,
            6..8 => 200 * MS,
            8 | 9 => 500 * MS,
            _ => S,
        };
        let slower = if at > START + 60 * S { 3 * S } else { 0 };
        self.plan(at + gap + slower, Act::Tick(number + 1));
    }

    fn sample(&self, rng: &mut Rng, target: &'static str, param: usize, index: Option<i64>, received_at: Ns) -> Sample {
        let of = &self.catalogue.params[param];
        let value: Json = match &of.ty {
            Ty::Bool => (rng.chance(self.healthy) || rng.chance(60)).into(),
            Ty::Int(Some((1, 3))) => rng.pick(&[1, 1, 2, 2, 3, 3, 1, 2, 3, 7]).into(),
            Ty::Int(_) => rng.pick(&[0, 1, 2, 3, 5, 8, 9, 12]).into(),
            Ty::Float(unit, _) => {
                let near = rng.pick(floats(*unit));
                match rng.below(20) {
                    0 => "NaN".into(),
                    1 => "inf".into(),
                    2 => (near as i64).into(),
                    3..6 => (near + 0.5).into(),
                    6..9 => (near - 5.5).into(),
                    _ => near.into(),
                }
            }
            Ty::Str => rng.pick(&["abc", "abc", "a b", "A", ""]).into(),
            Ty::Duration => rng.pick(&["0 s", "500 ms", "1 s", "5 s", "2 min"]).into(),
            Ty::Time => instant(START + rng.pick(&[-60, 0, 2, 5, 10]) * S).into(),
            Ty::Enum(which) => {
                let at = if rng.chance(self.healthy) { 1 } else { rng.pick(&[0, 1, 2]) };
                scalar(&self.catalogue, &Value::Label(*which, at))
            }
        };
        // Now and then something of another type.
        let value = if rng.chance(2) { "?".into() } else { value };
        let valid = of.valid_when.is_none() || rng.chance(80);
        Sample { target, param, index, value, received_at, order: 0, valid }
    }

    /// A telecommand was sent.
    pub(super) fn sent(&mut self, seq: u64, now: Ns, id: &str, telecommand: usize, target: &str, index: Option<i64>) {
        let mut rng = self.rng(salt::SENT, seq);
        let of = self.catalogue.telecommands[telecommand].clone();
        let mut planned: Vec<(Ns, Status)> = Vec::new();
        let released = rng.pick(&[0, 0, 0, 100 * MS, 300 * MS]);
        let good = rng.chance(self.good);
        match if good { 0 } else { rng.below(9) } {
            0 => {
                planned.push((released, Status::Released));
                for (stage, limit) in &of.stages {
                    let at = rng.pick(&[100 * MS, limit / 2 / (100 * MS) * (100 * MS), *limit, 0]);
                    planned.push((released + at.min(*limit), Status::Reported(*stage)));
                }
            }
            1 => planned.push((released, Status::Released)),
            2 => {}
            3 => planned.push((rng.pick(&[0, S, of.window, of.window + 1]), Status::NotReleased)),
            4 => planned.push((rng.pick(&[0, 100 * MS]), Status::EncodeFailed)),
            5 => {
                let stage = rng.pick(&[Some(Stage::Accepted), Some(Stage::Started), Some(Stage::Completed), None]);
                planned.push((released, Status::Released));
                planned.push((released + rng.pick(&[0, 200 * MS, S]), Status::Failed(stage)));
            }
            6 => {
                // At the end of everything, or just behind it.
                planned.push((rng.pick(&[released, of.window, of.window - 1]), Status::Released));
                let late = rng.pick(&[0, 1, 100 * MS]);
                planned
                    .extend(of.stages.iter().map(|(stage, limit)| (released + limit + late, Status::Reported(*stage))));
            }
            7 => {
                // A report tells that it left; the release is told later or never.
                planned.push((rng.pick(&[0, 200 * MS, S]), Status::Reported(Stage::Completed)));
                if rng.chance(50) {
                    planned.push((rng.pick(&[0, 200 * MS, 2 * S]), Status::Released));
                }
            }
            _ => {
                let any = [
                    Status::Released,
                    Status::Released,
                    Status::NotReleased,
                    Status::Reported(Stage::Accepted),
                    Status::Reported(Stage::Started),
                    Status::Reported(Stage::Completed),
                    Status::Reported(Stage::Completed),
                    Status::Failed(Some(Stage::Completed)),
                ];
                for _ in 0..1 + rng.below(5) {
                    planned.push((delay(&mut rng), rng.pick(&any)));
                }
            }
        }
        for (after, status) in planned {
            let reason = matches!(status, Status::NotReleased | Status::EncodeFailed)
                .then(|| rng.pick(&[None, Some("never left: the link is down"), Some("no field")]).map(str::to_owned));
            let code = matches!(status, Status::Failed(_)).then(|| rng.pick(&[None, Some("3 (invalid length)")]));
            let (reason, code) = (reason.flatten(), code.flatten().map(str::to_owned));
            self.plan(now + after, Act::Status { id: id.to_owned(), status, reason, code });
        }
        self.effects(&mut rng, now, &of, target, index);
    }

    /// The samples by which a telecommand shows its effect.
    fn effects(&mut self, rng: &mut Rng, now: Ns, of: &Telecommand, target: &str, index: Option<i64>) {
        if of.until.is_none() && !rng.chance(30) {
            return;
        }
        let Some(target) = TARGETS.into_iter().find(|one| *one == target) else { return };
        let after = rng.pick(&[0, 0, 100 * MS, 300 * MS, S, of.window, of.window + 1, 2 * of.window]);
        let (param, value): (usize, Json) = match of.name {
            "go" => (super::catalogue::MODE, rng.pick(&["OPERATIONAL", "OPERATIONAL", "SAFE"]).into()),
            "ping" | "set" | "heat" | "query" => (super::catalogue::ON, rng.chance(80).into()),
            _ => (super::catalogue::FLAG, rng.chance(80).into()),
        };
        let index = self.catalogue.components[self.catalogue.params[param].component].index.and(index.or(Some(1)));
        let sample = Sample { target, param, index, value, received_at: now + after, order: 0, valid: true };
        self.plan(now + after, Act::Samples(vec![sample]));
    }

    /// An interruption by chance, up to so long from now.
    fn interrupt(&mut self, seq: u64, percent: usize, now: Ns, within: Ns, outages: &[Ns]) {
        let mut rng = self.rng(salt::CHANCE, seq);
        if self.interruptions == 0 || !rng.chance(percent) {
            return;
        }
        self.interruptions -= 1;
        let act = if rng.chance(38) { Act::Suspend } else { Act::TakeOver(rng.pick(outages)) };
        let after = rng.pick(&[0, 50 * MS, within / 2, within]).min(within);
        self.plan(now + after, act);
    }

    /// An attempt is scheduled.
    pub(super) fn scheduled(&mut self, seq: u64, now: Ns, due: Ns) {
        self.interrupt(seq, 60, now, due - now, &[S, 4 * S, 12 * S, 20 * S]);
    }

    /// Samples decided something: perhaps the beginning of a `held for`.
    pub(super) fn observed(&mut self, seq: u64, now: Ns) {
        self.interrupt(seq, 11, now, 50 * MS, &OUTAGES);
    }

    /// A question was asked.
    pub(super) fn asked(&mut self, seq: u64, now: Ns, id: &str, choices: &[&str], due: Ns) {
        let mut rng = self.rng(salt::ASKED, seq);
        let within = due - now;
        self.interrupt(seq, 12, now, within, &OUTAGES);
        if rng.chance(8) {
            self.plan(now, Act::Answer { question: id.to_owned(), value: "perhaps".to_owned() });
        }
        let after = match rng.below(10) {
            0 => return,
            1 => within,
            2 => within + 1,
            3 => within + S,
            4 => 0,
            _ => delay(&mut rng).min(within),
        };
        let value = if rng.chance(80) { choices[0] } else { rng.pick(choices) };
        self.plan(now + after, Act::Answer { question: id.to_owned(), value: value.to_owned() });
        if rng.chance(5) {
            self.plan(now + after, Act::Answer { question: id.to_owned(), value: value.to_owned() });
        }
    }

    /// A decision is required.
    pub(super) fn decision(&mut self, seq: u64, now: Ns, id: &str, options: &[Opt]) {
        let mut rng = self.rng(salt::DECISION, seq);
        self.decisions += 1;
        let decision = id.to_owned();
        if rng.chance(8) {
            self.plan(now, Act::Decide { decision: decision.clone(), option: Opt::Recheck });
        }
        let option = match rng.below(if self.decisions > 8 { 40 } else { 100 }) {
            0..22 => Opt::Skip,
            22..36 => Opt::Fail,
            36..40 => Opt::Abort,
            40..65 => Opt::Replay,
            _ if options.contains(&Opt::Recheck) => Opt::Recheck,
            _ => Opt::Replay,
        };
        let after = rng.pick(&[0, 0, 100 * MS, S, 2 * S, 7 * S]);
        self.plan(now + after, Act::Decide { decision: decision.clone(), option });
        if rng.chance(5) {
            self.plan(now + after, Act::Decide { decision: decision.clone(), option: Opt::Skip });
        }
        // A suspended run refuses a decision: somebody decides again.
        for again in 1..6 {
            self.plan(now + after + again * 11 * S, Act::Decide { decision: decision.clone(), option: Opt::Skip });
        }
    }

    /// A transfer is requested.
    pub(super) fn transfer(&mut self, seq: u64, now: Ns, id: &str, due: Ns) {
        self.interrupt(seq, 85, now, due - now, &OUTAGES);
        let mut rng = self.rng(salt::TRANSFER, seq);
        let (status, reason) = match rng.below(10) {
            0 => (TransferEnd::NotCreated, rng.pick(&[None, Some("no such file")])),
            1 => (TransferEnd::Failed, rng.pick(&[None, Some("checksum")])),
            2 => (TransferEnd::Cancelled, None),
            3 => return,
            _ => (TransferEnd::Completed, None),
        };
        let after = rng.pick(&[0, 100 * MS, S, due - now, due - now, due - now + 1]);
        self.plan(now + after, Act::Transfer { id: id.to_owned(), status, reason: reason.map(str::to_owned) });
    }

    /// How a transfer that is to be cancelled ends.
    pub(super) fn cancelled(&self, seq: u64) -> TransferEnd {
        let ends = [TransferEnd::Cancelled, TransferEnd::Cancelled, TransferEnd::Completed, TransferEnd::Failed];
        self.rng(salt::CANCEL, seq).pick(&ends)
    }

    /// The run was suspended, or refused its leases while it ran.
    pub(super) fn suspended(&mut self, seq: u64, now: Ns) {
        let mut rng = self.rng(salt::SUSPENDED, seq);
        let after = rng.pick(&[0, 100 * MS, S, 3 * S, 8 * S]);
        self.plan(now + after, Act::Resume);
        match rng.below(20) {
            0 | 1 => self.plan(now + after / 2, Act::TakeOver(0)),
            2 => self.plan(now + after, Act::Resume),
            3 => self.plan(now + after / 2, Act::Suspend),
            4 => self.plan(now + after / 2, Act::Abort),
            _ => {}
        }
    }

    /// Whether the leases are refused.
    pub(super) fn refuses(&self, seq: u64) -> bool {
        let percent = if seq <= 3 { 6 } else { 25 };
        self.refuses_leases && self.rng(salt::LEASES, seq).chance(percent)
    }

    /// What the store tells of a telecommand whose result the log does not have.
    pub(super) fn known(&self, sent: u64) -> Known {
        let all = [Known::Left, Known::Left, Known::NeverLeft, Known::MayHaveLeft];
        self.rng(salt::KNOWN, sent).pick(&all)
    }
}
