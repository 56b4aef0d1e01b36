//! The telemetry archive: releases, reports and samples of each target, as the ground received them, in one order.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stellar_vm::{
    catalogue::{Stage, path},
    event::SampleRecord,
    time::Instant,
    value::Scalar,
};

use super::Reply;

/// One sample of a parameter, as received.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Target.
    pub target: Arc<str>,
    /// Component.
    pub component: Arc<str>,
    /// Index of the component, where it has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub index: Option<i64>,
    /// Name within the component.
    pub name: Arc<str>,
    /// Value.
    pub value: Scalar,
    /// Ground reception time.
    pub received_at: Instant,
    /// Place in the one order of all that the ground received.
    pub order: u64,
    /// Whether it is valid (`valid_when`, calibration).
    pub valid: bool,
    /// Whether the link marked it as a replay of old telemetry: archived, never judged.
    #[serde(skip_serializing_if = "core::ops::Not::not", default)]
    pub replayed: bool,
}

impl Sample {
    /// The sample as evidence in a log.
    #[must_use]
    pub fn record(&self) -> SampleRecord {
        SampleRecord {
            target: self.target.clone(),
            parameter: path(&self.component, self.index, &self.name).into(),
            value: self.value.clone(),
            received_at: self.received_at,
            order: self.order,
            valid: self.valid,
        }
    }
}

/// One thing that happened at a target, in the order in which the ground learnt of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "item", rename_all = "snake_case")]
pub enum TargetItem {
    /// A telecommand left.
    Release {
        /// Its identifier.
        id: Arc<str>,
        /// Place in the order.
        order: u64,
        /// When.
        at: Instant,
    },
    /// A telecommand never left, and never will.
    NotReleased {
        /// Its identifier.
        id: Arc<str>,
        /// Place in the order.
        order: u64,
        /// When that was known.
        at: Instant,
        /// Why, in words.
        reason: String,
    },
    /// A telecommand could not be encoded; it never left.
    EncodeFailed {
        /// Its identifier.
        id: Arc<str>,
        /// Place in the order.
        order: u64,
        /// When that was known.
        at: Instant,
        /// Why, in words.
        reason: String,
    },
    /// A verification report.
    Report {
        /// Identifier of the telecommand it is of.
        id: Arc<str>,
        /// Place in the order.
        order: u64,
        /// Ground reception time.
        at: Instant,
        /// The stage.
        stage: Stage,
        /// Whether it is good.
        ok: bool,
        /// The failure's code, with its label: `3 (invalid length)`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        code: Option<String>,
    },
    /// Samples received together (one packet, or up to 100 ms), in order.
    Samples {
        /// The samples; never empty.
        samples: Vec<Sample>,
    },
}

impl TargetItem {
    /// Its place in the order; of samples, that of the last one.
    #[must_use]
    pub fn order(&self) -> u64 {
        match self {
            Self::Release { order, .. }
            | Self::NotReleased { order, .. }
            | Self::EncodeFailed { order, .. }
            | Self::Report { order, .. } => *order,
            Self::Samples { samples } => samples.last().map_or(0, |sample| sample.order),
        }
    }

    /// The telecommand it is about, if it is about one.
    #[must_use]
    pub fn telecommand(&self) -> Option<&Arc<str>> {
        match self {
            Self::Release { id, .. }
            | Self::NotReleased { id, .. }
            | Self::EncodeFailed { id, .. }
            | Self::Report { id, .. } => Some(id),
            Self::Samples { .. } => None,
        }
    }
}

/// The telemetry archive.
///
/// Unlike the other ports it may lose what was received in the last 100 ms before a crash; numbers of the order are not
/// used again all the same.
pub trait Archive: Send + Sync {
    /// The next number of the one order: greater than every one given before, also by earlier processes.
    fn next_order(&self) -> u64;

    /// Archives what a target's gateway publishes, in order. Does not wait: it is on disk 100 ms later at the latest.
    fn append(&self, target: &Arc<str>, items: Vec<TargetItem>);

    /// Answers when all that was appended before is on disk.
    ///
    /// # Errors
    /// `Unavailable` where it cannot be written.
    fn flush(&self) -> Reply<'_, ()>;

    /// At most `limit` items of a target with an order greater than `after`, in order, those not yet on disk included.
    ///
    /// # Errors
    /// `Damaged` where an item cannot be read.
    fn since<'a>(&'a self, target: &'a str, after: u64, limit: usize) -> Reply<'a, Vec<TargetItem>>;

    /// The last sample of each parameter of a target that is no replay of old telemetry, sorted by parameter.
    ///
    /// # Errors
    /// `Damaged` where a sample cannot be read.
    fn latest<'a>(&'a self, target: &'a str) -> Reply<'a, Vec<Sample>>;
}
