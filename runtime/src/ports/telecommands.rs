//! Claims and results of telecommands: what makes that each leaves at most once.
//!
//! A gateway claims a telecommand, durably, before it hands it to the link, and writes the result after. A claim without
//! result after a crash means that it may have left; no claim means that it never left.

use serde::{Deserialize, Serialize};
use stellar_vm::time::Instant;

use super::Reply;

/// A gateway's claim on a telecommand, written before the hand-over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Identifier of the telecommand.
    pub id: String,
    /// The run that sent it; none for a direct one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<String>,
    /// Target.
    pub target: String,
    /// Nonce of the gateway's instance.
    pub nonce: String,
    /// What the link will name it by in its reports, as the link writes it (a request id, say).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub link: Option<String>,
    /// When it was claimed.
    pub claimed_at: Instant,
}

/// What became of a telecommand at the link; final.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum TelecommandResult {
    /// The link took it.
    Released {
        /// Place in the telemetry order.
        order: u64,
        /// When, on the ground's clock.
        at: Instant,
    },
    /// It never left, and never will.
    NotReleased {
        /// Why, in words.
        reason: String,
        /// When that was known.
        at: Instant,
    },
    /// It could not be encoded; it never left.
    EncodeFailed {
        /// Why, in words.
        reason: String,
        /// When that was known.
        at: Instant,
    },
}

impl TelecommandResult {
    /// Whether it left.
    #[must_use]
    pub fn left(&self) -> bool {
        matches!(self, Self::Released { .. })
    }
}

/// What is stored of a telecommand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// Neither claim nor result: it never left.
    NotClaimed,
    /// Claimed, without a result: it may have left.
    Claimed(Claim),
    /// Its result.
    Result(TelecommandResult),
}

/// Claims and results of telecommands, each identifier once.
pub trait Telecommands: Send + Sync {
    /// Claims a telecommand; the hand-over follows only an `Ok`.
    ///
    /// # Errors
    /// `Conflict` where it has a claim or a result: it must not be handed over (again).
    fn claim(&self, claim: Claim) -> Reply<'_, ()>;

    /// Writes the result of a telecommand. Without a claim only one that says that it never left is taken: it cuts the
    /// telecommand, so that no later claim on it succeeds.
    ///
    /// # Errors
    /// `Conflict` where another result stands, or where one that left has no claim.
    fn result<'a>(&'a self, id: &'a str, result: TelecommandResult) -> Reply<'a, ()>;

    /// Cuts a telecommand that nobody has claimed, and answers how it stands then: it is either claimed, or has its
    /// result, or has now the result `NotReleased` with this reason.
    ///
    /// # Errors
    /// `Unavailable` or `Damaged`; never a conflict.
    fn cut<'a>(&'a self, id: &'a str, reason: &'a str, at: Instant) -> Reply<'a, Look>;

    /// How a telecommand stands.
    ///
    /// # Errors
    /// `Damaged` where its record cannot be read.
    fn look<'a>(&'a self, id: &'a str) -> Reply<'a, Look>;

    /// Every telecommand of a target that was claimed and has no result, sorted by identifier: what a gateway finds at
    /// its start.
    ///
    /// # Errors
    /// `Damaged` where a record cannot be read.
    fn open<'a>(&'a self, target: &'a str) -> Reply<'a, Vec<Claim>>;
}
