//! The leases of targets: which runs hold each.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use stellar_vm::time::Instant;

use super::{Reply, Revision};

/// The lease of a target, as it stands in `stellar_leases`. Without runs it is free.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseRecord {
    /// The runs that hold it, sorted.
    pub runs: Vec<Arc<str>>,
    /// Whether further runs that change nothing on board may join.
    pub shared: bool,
    /// When it was last written.
    pub renewed_at: Instant,
    /// The fence under which telecommands leave; raised whenever the holder changes.
    pub fence: u64,
    /// Epoch of the owner that wrote it.
    pub epoch: u64,
    /// Name of the instance that wrote it.
    pub instance: Arc<str>,
    /// Nonce of the instance that wrote it; a lease of another nonce is an earlier instance's, and free.
    pub nonce: Arc<str>,
    /// Each member of a shared lease.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub members: BTreeMap<Arc<str>, LeaseMember>,
}

/// A member of a shared lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseMember {
    /// Counts its renewals.
    pub n: u64,
    /// Epoch of its owner.
    pub epoch: u64,
    /// Instance of its owner.
    pub instance: Arc<str>,
}

/// The leases of targets.
pub trait Leases: Send + Sync {
    /// Writes the lease of a target where it still has this revision; `None` where it must not exist.
    ///
    /// # Errors
    /// `Conflict` where it has another.
    fn put<'a>(&'a self, target: &'a str, lease: LeaseRecord, expected: Option<Revision>) -> Reply<'a, Revision>;

    /// The lease of a target.
    ///
    /// # Errors
    /// `Damaged` where it cannot be read.
    fn get<'a>(&'a self, target: &'a str) -> Reply<'a, Option<(LeaseRecord, Revision)>>;

    /// All leases, sorted by target.
    ///
    /// # Errors
    /// `Damaged` where one cannot be read.
    fn list(&self) -> Reply<'_, Vec<(Arc<str>, LeaseRecord, Revision)>>;
}
