//! Replay: a log run through the machine again.
//!
//! Each fact of the log is accepted, each transition must be what the machine does there, to the byte but for its
//! envelope (`epoch`, `nonce`, `fence`). A log that another tool has written anew, with other white space or order of
//! keys, is compared by its JSON instead: same fields, same values, no field more.

use alloc::{format, string::String, sync::Arc};
use core::fmt;

use serde_json::Value as Json;

use super::{Advance, Machine};
use crate::{
    event::json::{NotAnEvent, body_json, fact, head, is_transition},
    time::Instant,
    verify::Verified,
};

/// Why a log is not that of a run of this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayError {
    /// A line is no event.
    Garbage {
        /// Number of the line, from 1.
        line: u64,
        /// Why.
        why: String,
    },
    /// Events are missing.
    Gap {
        /// Number of the line, from 1.
        line: u64,
        /// The sequence number that was due.
        expected: u64,
        /// The one that stands there.
        found: u64,
    },
    /// An event stands there again.
    Repeated {
        /// Number of the line, from 1.
        line: u64,
        /// Its sequence number.
        found: u64,
    },
    /// The time of an event is before that of the one before it.
    TimeBack {
        /// Number of the line, from 1.
        line: u64,
        /// Its sequence number.
        seq: u64,
    },
    /// Events follow `run_finished`.
    AfterEnd {
        /// Number of the line, from 1.
        line: u64,
        /// Its sequence number.
        seq: u64,
    },
    /// The machine does something else there.
    Diverged {
        /// Number of the line, from 1.
        line: u64,
        /// Sequence number.
        seq: u64,
        /// What the log says.
        logged: String,
        /// What the machine does: a transition, or in words why the fact does not fit or that nothing is due.
        emitted: String,
    },
}

impl ReplayError {
    /// Code of the error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Garbage { .. } => "run::log-garbage",
            Self::Gap { .. } => "run::log-gap",
            Self::Repeated { .. } => "run::log-repeated",
            Self::TimeBack { .. } => "run::log-time-back",
            Self::AfterEnd { .. } => "run::log-after-end",
            Self::Diverged { .. } => "run::replay-diverged",
        }
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Garbage { line, why } => write!(f, "line {line} of the log is no event: {why}"),
            Self::Gap { line, expected, found } => {
                write!(f, "line {line} of the log: event {expected} is missing, {found} follows")
            }
            Self::Repeated { line, found } => write!(f, "line {line} of the log: event {found} stands there again"),
            Self::TimeBack { line, seq } => {
                write!(f, "line {line} of the log: event {seq} is earlier than the one before it")
            }
            Self::AfterEnd { line, seq } => write!(f, "line {line} of the log: event {seq} follows the end of the run"),
            Self::Diverged { seq, logged, emitted, .. } => {
                write!(f, "event {seq} of the log is not what the run does\n  logged: {logged}\n  run:    {emitted}")
            }
        }
    }
}

impl core::error::Error for ReplayError {}

/// A replay under way.
#[derive(Debug, Clone)]
pub struct Replay {
    machine: Machine,
    line: u64,
    epoch: u64,
}

impl Replay {
    /// At the beginning of a log.
    #[must_use]
    pub fn new(program: Arc<Verified>) -> Self {
        Self { machine: Machine::new(program), line: 0, epoch: 0 }
    }

    /// The machine as it stands behind the last line.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The machine, to go on live where the log ends.
    #[must_use]
    pub fn into_machine(self) -> Machine {
        self.machine
    }

    /// The epoch of the last event; 0 before the first.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Takes the next line of the log.
    ///
    /// # Errors
    /// Why the log is not that of a run of this program; the replay is of no use afterwards.
    pub fn line(&mut self, text: &str) -> Result<(), ReplayError> {
        self.line = self.line.saturating_add(1);
        let line = self.line;
        let garbage = |error: NotAnEvent| ReplayError::Garbage { line, why: error.0 };
        let (head, body) = head(text).map_err(garbage)?;
        let expected = self.machine.seq().saturating_add(1);
        if head.seq > expected {
            return Err(ReplayError::Gap { line, expected, found: head.seq });
        }
        if head.seq < expected {
            return Err(ReplayError::Repeated { line, found: head.seq });
        }
        let seq = head.seq;
        if self.machine.outcome().is_some() {
            return Err(ReplayError::AfterEnd { line, seq });
        }
        if seq > 1 && (head.at < self.machine.now() || head.at.scale != self.machine.now().scale) {
            return Err(ReplayError::TimeBack { line, seq });
        }
        let diverged = |emitted: String| ReplayError::Diverged { line, seq, logged: text.into(), emitted };
        if is_transition(&head.kind) {
            let emitted = match self.machine.advance(head.at) {
                Advance::Emit(transition) => body_json(&transition).map_err(garbage)?,
                Advance::Await | Advance::Done(_) => {
                    return Err(diverged(format!("nothing is due at {}, the run waits", head.at)));
                }
            };
            if !same(text, body, &emitted) {
                return Err(diverged(emitted));
            }
        } else {
            // What is no fact, or none that fits, stands where the run does something else, if it does something.
            match fact(&head.kind, text, body) {
                Ok(fact) => {
                    if let Err(refused) = self.machine.accept(&fact, head.at) {
                        let instead = self.due(head.at).map_err(garbage)?;
                        return Err(diverged(instead.unwrap_or_else(|| format!("{refused} ({})", refused.code()))));
                    }
                }
                Err(error) => {
                    let instead = self.due(head.at).map_err(garbage)?;
                    return Err(instead.map_or_else(|| garbage(error), diverged));
                }
            }
        }
        self.epoch = head.epoch;
        Ok(())
    }

    /// What the run does now, if it does something.
    fn due(&mut self, at: Instant) -> Result<Option<String>, NotAnEvent> {
        match self.machine.advance(at) {
            Advance::Emit(transition) => body_json(&transition).map(Some),
            Advance::Await | Advance::Done(_) => Ok(None),
        }
    }
}

/// Whether the transition of a line is the one emitted.
fn same(line: &str, body: Option<&str>, emitted: &str) -> bool {
    if body.is_some() && body == emitted.get(1..) {
        return true;
    }
    let (Ok(Json::Object(mut logged)), Ok(Json::Object(emitted))) =
        (serde_json::from_str(line), serde_json::from_str::<Json>(emitted))
    else {
        return false;
    };
    for envelope in ["seq", "at", "epoch", "nonce", "fence"] {
        logged.remove(envelope);
    }
    logged == emitted
}

/// Replays a whole log, or the part of it that there is.
///
/// # Errors
/// Why it is not the log of a run of this program.
pub fn replay<'a>(program: Arc<Verified>, lines: impl IntoIterator<Item = &'a str>) -> Result<Replay, ReplayError> {
    let mut replay = Replay::new(program);
    for line in lines {
        replay.line(line)?;
    }
    Ok(replay)
}
