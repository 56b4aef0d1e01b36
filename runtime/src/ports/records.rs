//! The records of runs: who owns each, and how it stands.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use stellar_vm::{event::RunOutcome, time::Instant, value::Scalar};

use super::{Reply, Revision};

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Asked for, not begun.
    Requested,
    /// Under way.
    Running,
    /// Suspended: sends nothing until it is resumed.
    Suspended,
    /// Stopped because something is wrong with it: `reason` says what. No owner, no leases.
    Halted,
    /// Over.
    Ended,
}

/// The record of a run, as it stands in `stellar_runs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// How it stands.
    pub state: RunState,
    /// Procedure.
    pub procedure: Arc<str>,
    /// Hash of its artifact, in hexadecimal.
    pub artifact: Arc<str>,
    /// Target of each `uses` name.
    pub targets: BTreeMap<Arc<str>, Arc<str>>,
    /// Inputs as they were given, defaults included.
    #[serde(default)]
    pub inputs: BTreeMap<Arc<str>, Scalar>,
    /// Who asked for it.
    pub by: Arc<str>,
    /// The owner's configured name.
    pub instance: Arc<str>,
    /// The owner's nonce, made at its start.
    pub nonce: Arc<str>,
    /// The owner's epoch.
    pub epoch: u64,
    /// When it was asked for.
    pub requested_at: Instant,
    /// When the owner last wrote it.
    pub renewed_at: Instant,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub outcome: Option<RunOutcome>,
    /// Why it is halted, suspended or not passed, in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}

/// The records of runs.
pub trait Records: Send + Sync {
    /// Creates the record of a run.
    ///
    /// # Errors
    /// `Conflict` where the run has one.
    fn create<'a>(&'a self, run: &'a str, record: RunRecord) -> Reply<'a, Revision>;

    /// Replaces the record, if it still has this revision.
    ///
    /// # Errors
    /// `Conflict` where it has another or does not exist.
    fn update<'a>(&'a self, run: &'a str, record: RunRecord, revision: Revision) -> Reply<'a, Revision>;

    /// The record.
    ///
    /// # Errors
    /// `Damaged` where it cannot be read.
    fn get<'a>(&'a self, run: &'a str) -> Reply<'a, Option<(RunRecord, Revision)>>;

    /// All records, sorted by run.
    ///
    /// # Errors
    /// `Damaged` where one cannot be read.
    fn list(&self) -> Reply<'_, Vec<(Arc<str>, RunRecord, Revision)>>;
}
