//! How a link is: up or down, and what it received that it could not use.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::Serialize;

/// Kinds of anomaly that are told apart; further ones are counted together.
const KINDS: usize = 64;
/// The kind of those that are counted together.
const OTHER: &str = "other";

/// How a link is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkStatus {
    /// Whether it is up, as far as it can tell.
    pub up: bool,
    /// Why it is down, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why the gateway has ended, where something failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// What it received and could not use, by kind.
    pub anomalies: BTreeMap<String, Anomaly>,
}

/// What a link received and could not use, of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Anomaly {
    /// How often.
    pub count: u64,
    /// The first of them, in words.
    pub first: String,
}

#[derive(Debug)]
pub(super) struct Status(Mutex<LinkStatus>);

impl Default for Status {
    fn default() -> Self {
        Self(Mutex::new(LinkStatus { up: true, reason: None, failed: None, anomalies: BTreeMap::new() }))
    }
}

impl Status {
    fn lock(&self) -> MutexGuard<'_, LinkStatus> {
        // Nothing that holds the lock can panic half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self) -> LinkStatus {
        self.lock().clone()
    }

    pub(super) fn link(&self, up: bool, reason: Option<String>) {
        let mut status = self.lock();
        (status.up, status.reason) = (up, reason);
    }

    pub(super) fn failed(&self, why: String) {
        self.lock().failed = Some(why);
    }

    pub(super) fn anomaly(&self, kind: &str, detail: String) {
        let mut status = self.lock();
        let kind = if status.anomalies.len() < KINDS || status.anomalies.contains_key(kind) { kind } else { OTHER };
        let anomaly = status.anomalies.entry(kind.to_owned()).or_insert(Anomaly { count: 0, first: detail });
        anomaly.count = anomaly.count.saturating_add(1);
    }
}
