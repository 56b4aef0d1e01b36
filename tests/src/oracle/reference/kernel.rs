//! The log of the reference, what its strands wait for, and what facts do to that.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use serde_json::{Map, Value as Json, json};

use super::judge::{Closed, Since};
use crate::oracle::{
    driver::Emitted,
    model::*,
    text::instant,
    world::{Known, Opt, RUN, Sample, Status, TransferEnd},
};

/// Why something failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) line: u32,
    pub(crate) statement: String,
    pub(crate) telecommand: Option<String>,
}

impl Failure {
    pub(crate) fn json(&self) -> Json {
        let mut json = json!({
            "code": self.code, "message": self.message, "file": FILE, "line": self.line, "statement": self.statement,
        });
        if let Some(id) = &self.telecommand {
            json["telecommand"] = id.clone().into();
        }
        json
    }

    /// In one line: where, what, why.
    pub(crate) fn told(&self) -> String {
        format!("{FILE}:{}: `{}`: {}", self.line, self.statement, self.message)
    }
}

/// A telecommand of an attempt.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) id: String,
    pub(crate) telecommand: usize,
    pub(crate) target: &'static str,
    pub(crate) index: Option<i64>,
    /// When it left, and its place in the order of the ground.
    pub(crate) released: Option<(Ns, Option<u64>)>,
    /// The release was told itself.
    pub(crate) told: bool,
    pub(crate) reports: BTreeSet<Stage>,
    /// How it ended badly.
    pub(crate) end: Option<(Status, Option<String>)>,
    pub(crate) known: Option<Known>,
}

impl Sent {
    /// Whether it left, by its statuses first.
    pub(crate) fn knowledge(&self) -> Known {
        match (&self.released, &self.end) {
            (Some(_), _) | (None, Some((Status::Failed(_), _))) => Known::Left,
            (None, Some(_)) => Known::NeverLeft,
            (None, None) => self.known.unwrap_or(Known::MayHaveLeft),
        }
    }

    pub(crate) fn since(&self) -> Option<Since> {
        let (at, order) = self.released?;
        Some(order.map_or(Since::Time(at, None), Since::Release))
    }
}

/// One attempt of a step.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub(crate) path: Vec<String>,
    pub(crate) number: u32,
    pub(crate) start: Ns,
    /// The greatest order in a fact before it started.
    pub(crate) start_order: Option<u64>,
    pub(crate) bound: Ns,
    pub(crate) eligible: bool,
    pub(crate) sent: Vec<Sent>,
    pub(crate) transferred: bool,
}

impl Attempt {
    pub(crate) fn changed_state(&self, catalogue: &Catalogue) -> bool {
        self.sent.iter().any(|sent| catalogue.telecommands[sent.telecommand].changes)
    }
}

/// A window of `expect` or `wait until COND`.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    pub(crate) cond: Closed,
    pub(crate) expect: bool,
    pub(crate) held: Option<Ns>,
    pub(crate) within: Ns,
    pub(crate) limit: Ns,
    /// Nothing is judged as of an earlier time.
    pub(crate) from: Ns,
    pub(crate) held_since: Option<Ns>,
    pub(crate) last: Vec<Sample>,
}

/// Why a transfer is being cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cancel {
    Elapsed,
    Interrupted { taken_over: bool },
    Abort,
}

/// What a telecommand requires; its instance is that of the index as it is then.
#[derive(Debug, Clone)]
pub(crate) struct Requires {
    pub(crate) condition: Closed,
    pub(crate) index: Option<Closed>,
}

/// What a strand waits for.
#[derive(Debug, Clone)]
pub(crate) enum What {
    /// Samples as they are now, for expressions; and for what a telecommand requires of the instance that it goes to.
    Reading(Vec<Closed>, Option<Requires>),
    Window(Box<Window>),
    /// The attempt's last telecommand.
    Verification {
        from: Ns,
        until: Option<Closed>,
        met: bool,
        last: Vec<Sample>,
    },
    Timer,
    Interval,
    Utc {
        until: Ns,
        first: bool,
        within: Ns,
    },
    Answer {
        id: String,
        choices: Vec<String>,
        within: Ns,
    },
    Decision {
        id: String,
        options: Vec<Opt>,
    },
    Transfer {
        id: String,
        within: Ns,
        cancel: Option<Cancel>,
    },
}

/// When a scheduled attempt still fits into `for`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fits {
    pub(crate) begin: Ns,
    pub(crate) bound: Ns,
    pub(crate) total: Ns,
}

/// A transition that is due.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Due {
    /// It belongs to the statement at which the strand stands.
    pub(crate) of_statement: bool,
    /// An attempt is to begin that nobody ordered.
    pub(crate) between: bool,
    pub(crate) fits: Option<Fits>,
    /// A telecommand leaves that was judged on telemetry.
    pub(crate) judged: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Doing {
    Running,
    Due(Due),
    Wait { id: u64, deadline: Option<Ns>, what: What },
    Branches,
    Ended,
}

/// What a strand is told.
#[derive(Debug, Clone)]
pub(crate) enum Wake {
    /// Its transition is made: it logs it.
    Granted,
    /// No attempt begins any more.
    GiveUp,
    /// What it waited for is there.
    Done,
    Samples(Vec<Sample>),
    Answered(String),
    Decided(Opt),
    /// It failed: code and words.
    Failed(&'static str, String),
    Interrupted {
        taken_over: bool,
    },
    /// Its telecommand is to be judged again.
    Again,
}

/// One line of execution.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(crate) id: u32,
    pub(crate) parent: Option<u32>,
    pub(crate) doing: Doing,
    pub(crate) wake: Option<Wake>,
    /// The attempt of the innermost step; it stands until the step is over.
    pub(crate) attempt: Option<Rc<RefCell<Attempt>>>,
    /// The attempt is under way.
    pub(crate) in_step: bool,
}

/// The leases are waited for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Leasing {
    pub(crate) taken_over: Option<Ns>,
    pub(crate) resumed: bool,
}

pub(crate) struct Ending {
    pub(crate) outcome: &'static str,
    pub(crate) reason: Option<String>,
    pub(crate) failure: Option<Failure>,
}

pub(crate) struct Kernel {
    pub(crate) program: Rc<Program>,
    pub(crate) log: Vec<Json>,
    pub(crate) seq: u64,
    pub(crate) now: Ns,
    pub(crate) epoch: u64,
    /// Depth first.
    pub(crate) slots: Vec<Slot>,
    pub(crate) last_strand: u32,
    pub(crate) last_pending: u64,
    pub(crate) max_order: Option<u64>,
    pub(crate) leases: Option<Leasing>,
    pub(crate) suspended: Option<Ns>,
    /// Time spent suspended, ended suspensions alone.
    pub(crate) stood_still: Ns,
    pub(crate) ending: Option<Ending>,
    pub(crate) ended: bool,
    pub(crate) started: bool,
    pub(crate) telemetry: BTreeMap<(&'static str, usize, Option<i64>), Sample>,
    /// Every telecommand of the run.
    pub(crate) ids: BTreeSet<String>,
    /// What was added to the bound, and since when a decision is open or the run suspended.
    pub(crate) added: Ns,
    pub(crate) quiet_since: Option<Ns>,
    /// What the transition that was made last is for the world.
    pub(crate) emitted: Emitted,
    /// What was reached, for the histogram.
    pub(crate) tally: BTreeMap<String, u64>,
}

impl Kernel {
    pub(crate) fn new(program: &Rc<Program>) -> Self {
        Self {
            program: Rc::clone(program),
            log: Vec::new(),
            seq: 0,
            now: 0,
            epoch: 1,
            slots: Vec::new(),
            last_strand: 0,
            last_pending: 0,
            max_order: None,
            leases: None,
            suspended: None,
            stood_still: 0,
            ending: None,
            ended: false,
            started: false,
            telemetry: BTreeMap::new(),
            ids: BTreeSet::new(),
            added: 0,
            quiet_since: None,
            emitted: Emitted::Other,
            tally: BTreeMap::new(),
        }
    }

    pub(crate) fn count(&mut self, what: &str) {
        *self.tally.entry(what.to_owned()).or_default() += 1;
    }

    /// Logs the event that is being made.
    pub(crate) fn write(&mut self, kind: &str, fields: Json) {
        let mut event = Map::new();
        event.insert("seq".to_owned(), self.seq.into());
        event.insert("at".to_owned(), instant(self.now).into());
        event.insert("epoch".to_owned(), self.epoch.into());
        event.insert("type".to_owned(), kind.into());
        if let Json::Object(fields) = fields {
            event.extend(fields.into_iter().filter(|(_, value)| !value.is_null()));
        }
        self.log.push(Json::Object(event));
    }

    /// The identifier that the event being made gives.
    pub(crate) fn identifier(&self) -> String {
        let hash = blake3::hash(format!("{RUN}-{}", self.seq).as_bytes());
        let mut bytes = [0; 16];
        bytes[..6].copy_from_slice(&u64::try_from(self.now / MS).unwrap().to_be_bytes()[2..]);
        bytes[6..].copy_from_slice(&hash.as_bytes()[..10]);
        ulid::Ulid::from_bytes(bytes).to_string()
    }

    pub(crate) fn slot(&mut self, strand: u32) -> &mut Slot {
        self.slots.iter_mut().find(|slot| slot.id == strand).expect("a strand")
    }

    pub(crate) fn wake(&mut self, strand: u32, wake: Wake) {
        let slot = self.slot(strand);
        slot.doing = Doing::Running;
        slot.wake = Some(wake);
    }

    /// Waits for something from now on; gives its number.
    pub(crate) fn begin(&mut self, strand: u32, what: What, deadline: Option<Ns>) {
        self.last_pending += 1;
        let id = self.last_pending;
        self.slot(strand).doing = Doing::Wait { id, deadline, what };
    }

    /// Whether nothing goes on for now.
    pub(crate) fn held(&self) -> bool {
        self.ending.is_some() || self.suspended.is_some() || self.leases.is_some()
    }

    /// Time of the run with suspensions left out.
    pub(crate) fn active(&self, now: Ns) -> Ns {
        now - self.stood_still
    }

    pub(crate) fn fits(&self, fits: Option<Fits>, start: Ns) -> bool {
        fits.is_none_or(|it| self.active(start) + it.bound <= it.begin + it.total)
    }

    /// Attempts whose time has come and that fit no more end without an event.
    pub(crate) fn misfit(&mut self, now: Ns) -> bool {
        if self.held() || self.ended {
            return false;
        }
        let misfit = self.slots.iter().find_map(|slot| match slot.doing {
            Doing::Due(Due { fits: Some(fits), .. }) if !self.fits(Some(fits), now) => Some(slot.id),
            _ => None,
        });
        if let Some(strand) = misfit {
            self.count("for: no longer fits");
            self.wake(strand, Wake::GiveUp);
        }
        misfit.is_some()
    }

    /// Nothing more begins in the branches below a strand.
    pub(crate) fn halt(&mut self, parent: u32) {
        let mut below = BTreeSet::from([parent]);
        for slot in &mut self.slots {
            if !slot.parent.is_some_and(|parent| below.contains(&parent)) {
                continue;
            }
            below.insert(slot.id);
            let between = match &slot.doing {
                Doing::Due(due) => due.between,
                Doing::Wait { what: What::Interval, .. } => true,
                _ => false,
            };
            if between {
                slot.doing = Doing::Running;
                slot.wake = Some(Wake::GiveUp);
            }
        }
    }

    /// The deadline that passes first, by time, then by strand.
    pub(crate) fn deadline(&self) -> Option<(Ns, u64)> {
        if self.held() {
            return None;
        }
        let mut first: Option<(Ns, u64)> = None;
        for slot in &self.slots {
            if let Doing::Wait { id, deadline: Some(deadline), .. } = slot.doing
                && first.is_none_or(|(due, _)| deadline < due)
            {
                first = Some((deadline, id));
            }
        }
        first
    }

    /// Behind each event: what a decision or a suspension adds to the bound.
    pub(crate) fn count_quiet(&mut self) {
        let decides = |slot: &Slot| matches!(slot.doing, Doing::Wait { what: What::Decision { .. }, .. });
        let quiet = !self.ended && (self.suspended.is_some() || self.slots.iter().any(decides));
        match (self.quiet_since, quiet) {
            (None, true) => self.quiet_since = Some(self.now),
            (Some(since), false) => {
                self.added += self.now - since;
                self.quiet_since = None;
            }
            _ => {}
        }
    }

    pub(crate) fn transfer_end(&mut self, strand: u32, status: TransferEnd, reason: Option<String>) {
        let Doing::Wait { what: What::Transfer { within, cancel, .. }, .. } = &self.slot(strand).doing else { return };
        let (within, cancel) = (crate::oracle::text::span(*within), *cancel);
        let why = reason.map_or(String::new(), |reason| format!(": {reason}"));
        let wake = match (cancel, status) {
            (Some(Cancel::Abort), _) => {
                self.slot(strand).doing = Doing::Ended;
                return;
            }
            (Some(Cancel::Interrupted { taken_over }), _) => Wake::Interrupted { taken_over },
            (None, TransferEnd::Completed) => Wake::Done,
            (_, TransferEnd::NotCreated) => {
                Wake::Failed("TRANSFER_NOT_CREATED", format!("the transfer could not be created{why}"))
            }
            (Some(Cancel::Elapsed), _) => {
                Wake::Failed("TRANSFER_FAILED", format!("not ended within {within}, cancelled{why}"))
            }
            (None, TransferEnd::Failed) => Wake::Failed("TRANSFER_FAILED", format!("the transfer failed{why}")),
            (None, TransferEnd::Cancelled) => {
                Wake::Failed("TRANSFER_FAILED", format!("the transfer was cancelled{why}"))
            }
        };
        self.wake(strand, wake);
    }

    /// Has transfers cancelled: all for an abort, else those that are not being cancelled yet.
    pub(crate) fn cancel_transfers(&mut self, why: Cancel) {
        for slot in &mut self.slots {
            if let Doing::Wait { deadline, what: What::Transfer { cancel, .. }, .. } = &mut slot.doing
                && (why == Cancel::Abort || cancel.is_none())
            {
                *deadline = None;
                *cancel = Some(why);
            }
        }
    }
}
