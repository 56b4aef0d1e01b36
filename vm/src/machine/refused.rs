//! Why a fact does not enter the log.

use alloc::string::String;
use core::fmt;

/// Why a fact is refused; a fact refused changes nothing and is not appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The kind.
    pub why: RefusedKind,
    /// In words.
    pub message: String,
}

/// The kinds of refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedKind {
    /// The first fact is `run_started`, and there is only one.
    Order,
    /// What the run was started with does not fit its procedure.
    Start,
    /// The run has ended, or is about to.
    Ended,
    /// The run is suspended.
    Suspended,
    /// The run has not got its leases yet.
    NoLeases,
    /// The run is not suspended.
    NotSuspended,
    /// Time went back, or is of another scale.
    Time,
    /// A deadline passed before: its `elapsed` comes first.
    Late,
    /// Nothing waits for it (any more).
    NotPending,
    /// The deadline is another, or has not come yet.
    NotDue,
    /// The log has it already.
    Repeated,
    /// The choice or option is not among those offered.
    NotOffered,
}

impl Refused {
    pub(crate) fn new(why: RefusedKind, message: impl Into<String>) -> Self {
        Self { why, message: message.into() }
    }

    /// Code, as in an API error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self.why {
            RefusedKind::Order => "run::out-of-order",
            RefusedKind::Start => "run::bad-start",
            RefusedKind::Ended => "run::ended",
            RefusedKind::Suspended => "run::suspended",
            RefusedKind::NoLeases => "run::no-leases",
            RefusedKind::NotSuspended => "run::not-suspended",
            RefusedKind::Time => "run::time",
            RefusedKind::Late => "run::deadline-passed",
            RefusedKind::NotPending => "run::not-pending",
            RefusedKind::NotDue => "run::not-due",
            RefusedKind::Repeated => "run::repeated",
            RefusedKind::NotOffered => "run::not-offered",
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for Refused {}
