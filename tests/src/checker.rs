//! The checker: judges what a store and its links hold after a campaign, by what must be so whatever was killed when.
//!
//! It reads the logs of all runs and the links' own records as the JSON that they are, and shares no code with the
//! machine but for the one rule that is about it (the replay). Each rule is a file of its own; what it finds is a value that
//! names the rule, the run and the event. `tests/checker.rs` shows that each rule finds what breaks it. What is
//! deliberately not here: whether a run did what its procedure says, which the tests of the runs judge.
//!
//! Steps of branches that run side by side are told apart by their names: two of one name in two branches are one step
//! to the rules `decided` and `told`.

mod control;
mod decided;
pub mod evidence;
mod log;
mod logged_before;
mod once;
mod replayed;
mod shape;
mod tenure;
mod told;

use std::fmt;

pub use evidence::{Evidence, RunEvidence};
use log::{HandedOver, Log};

/// What must be so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A telecommand is handed over to the link at most once.
    Once,
    /// What was handed over was logged before, by the owner that offered it, in order, and within its window.
    LoggedBefore,
    /// The log is dense from 1, has one writer an epoch and one end.
    Shape,
    /// The machine does again what the log says, and ends as its record says.
    Replays,
    /// What changes the on-board state is not sent again without a decision.
    Decided,
    /// Two runs that do not share a target never command it in each other's tenure.
    Tenure,
    /// No message of an operator is lost or applied twice.
    Control,
    /// What the log tells of a telecommand is so by the link's record.
    Told,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 8] = [
        Self::Once,
        Self::LoggedBefore,
        Self::Shape,
        Self::Replays,
        Self::Decided,
        Self::Tenure,
        Self::Control,
        Self::Told,
    ];
}

/// Something that must not be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The rule that it breaks.
    pub rule: Rule,
    /// The run.
    pub run: String,
    /// The event of its log, where it is about one.
    pub seq: Option<u64>,
    /// In words.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: run {}", self.rule, self.run)?;
        if let Some(seq) = self.seq {
            write!(f, ", event {seq}")?;
        }
        write!(f, ": {}", self.what)
    }
}

/// Where the rules put what they find.
#[derive(Debug, Default)]
struct Found(Vec<Violation>);

impl Found {
    fn add(&mut self, rule: Rule, run: &str, seq: impl Into<Option<u64>>, what: impl Into<String>) {
        self.0.push(Violation { rule, run: run.to_owned(), seq: seq.into(), what: what.into() });
    }
}

/// Judges everything; empty where all is as it must be.
#[must_use]
pub fn check(evidence: &Evidence) -> Vec<Violation> {
    let mut found = Found::default();
    let logs: Vec<Log> = evidence.runs.iter().map(|run| Log::read(run, &mut found)).collect();
    let left = HandedOver::read(evidence, &mut found);
    once::check(&left, &mut found);
    logged_before::check(&logs, &left, &mut found);
    tenure::check(&logs, &left, evidence.one_clock, &mut found);
    for (log, run) in logs.iter().zip(&evidence.runs) {
        shape::check(log, run, evidence.ended, &mut found);
        replayed::check(log, run, &mut found);
        decided::check(log, &mut found);
        control::check(log, &mut found);
        told::check(log, &left, &mut found);
    }
    found.0.sort();
    found.0
}
