//! What the runtime asks of its surroundings: one small trait a file, each with its contract.
//!
//! Every method that changes something answers only when the change is durable: what was acknowledged is never lost, and
//! what was not acknowledged may or may not have happened. The implementations pass the suite in [`crate::conformance`].

pub mod artifacts;
pub mod control;
pub mod leases;
pub mod log;
pub mod records;
pub mod telecommands;
pub mod telemetry;

use std::{future::Future, pin::Pin, sync::Arc};

pub use artifacts::Artifacts;
pub use control::{Control, ControlAction, ControlMessage};
pub use leases::{LeaseRecord, Leases};
pub use log::{Line, Log};
pub use records::{Records, RunRecord, RunState};
pub use telecommands::{Claim, Look, TelecommandResult, Telecommands};
pub use telemetry::{Archive, Sample, TargetItem};

/// What a port's method answers, some time later.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// The version of a key's value; a conditional write names the one it replaces.
pub type Revision = u64;

/// Why a store did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The condition of a write did not hold: something else stands there. Nothing was changed.
    #[error("conflict: {0}")]
    Conflict(String),
    /// The writer is not the owner any more: a later epoch has written. Nothing was changed.
    #[error("fenced: epoch {found} has written, this is epoch {own}")]
    Fenced {
        /// The writer's epoch.
        own: u64,
        /// The greater epoch that was found.
        found: u64,
    },
    /// The store does not answer, or has stopped. Whether the change was made is unknown.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// What is stored is damaged: a record does not match its checksum, or is no record. Never repaired silently.
    #[error("the store is damaged: {0}")]
    Damaged(String),
}

impl StoreError {
    /// The error's code, as the API and the command line show it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Conflict(_) => "store::conflict",
            Self::Fenced { .. } => "store::fenced",
            Self::Unavailable(_) => "store::unavailable",
            Self::Damaged(_) => "store::damaged",
        }
    }
}

/// All ports of one store.
#[derive(Clone)]
pub struct Store {
    /// Logs of runs.
    pub log: Arc<dyn Log>,
    /// What operators sent.
    pub control: Arc<dyn Control>,
    /// Records of runs.
    pub records: Arc<dyn Records>,
    /// Leases of targets.
    pub leases: Arc<dyn Leases>,
    /// Artifacts by hash.
    pub artifacts: Arc<dyn Artifacts>,
    /// Claims and results of telecommands.
    pub telecommands: Arc<dyn Telecommands>,
    /// The telemetry archive.
    pub archive: Arc<dyn Archive>,
}
