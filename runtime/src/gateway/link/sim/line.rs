//! What the record of a simulated target holds: hand-overs, and beside it when the target began.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    path::Path,
};

use serde::{Deserialize, Serialize};
use stellar_vm::{catalogue::Stage, time::Instant};

use crate::gateway::TelecommandOrder;

/// One hand-over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct HandedOver {
    /// When.
    pub(super) at: Instant,
    /// The telecommand.
    #[serde(flatten)]
    pub(super) order: TelecommandOrder,
    /// What becomes of it, where that is not as usual.
    #[serde(skip_serializing_if = "Fate::is_usual", default)]
    pub(super) fate: Fate,
}

/// What faults make of a telecommand that left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fate {
    /// It never arrives.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub(super) lost: bool,
    /// It is executed and nothing is reported.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub(super) unreported: bool,
    /// It fails at a stage, with a code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) fails: Option<(Stage, String)>,
    /// Nanoseconds by which it arrives later.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub(super) delay: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(delay: &i64) -> bool {
    *delay == 0
}

impl Fate {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// When the target of this record first began: written once beside the record, and never later than `now`.
pub(super) fn began(record: &Path, now: Instant) -> io::Result<Instant> {
    let path = record.with_extension("began");
    match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(mut file) => {
            file.write_all(format!("{now}\n").as_bytes())?;
            Ok(now)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let text = std::fs::read_to_string(&path)?;
            // A piece of an instant is what a crash at the very first start left.
            let began = text.trim_end().parse().ok().filter(|began: &Instant| began.scale == now.scale);
            Ok(began.map_or(now, |began| began.min(now)))
        }
        Err(error) => Err(error),
    }
}
