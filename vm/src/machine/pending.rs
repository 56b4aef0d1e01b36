//! What a run waits for, as the driver sees it.

use alloc::sync::Arc;

use crate::{event::PendingId, time::Instant};

/// Something that a run waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// Its name; the facts that settle it carry it. 0 for [`PendingKind::Leases`].
    pub id: PendingId,
    /// The strand that waits: 0 is the run itself, others are branches of a `together`.
    pub strand: u32,
    /// When it is over: then the driver enters `elapsed` with exactly this instant as `due`.
    pub deadline: Option<Instant>,
    /// What for.
    pub kind: PendingKind,
}

/// What for.
#[derive(Debug, Clone, PartialEq)]
pub enum PendingKind {
    /// The leases of the run's targets: a `leases` fact.
    Leases,
    /// Samples as they are now, at once: an `observed` with [`super::Machine::evidence`], whatever it holds.
    Reading,
    /// A condition: an `observed` as soon as [`super::Machine::settles`] names it; at the deadline an `observed` with
    /// the last samples seen, if there are any, then `elapsed`.
    Condition,
    /// What becomes of a telecommand: every `telecommand_status` of it. Its `until` may settle by samples as a
    /// [`PendingKind::Condition`] does.
    Telecommand {
        /// Its identifier.
        id: Arc<str>,
        /// Whether `until` is still to be judged by samples.
        until: bool,
    },
    /// Time: `elapsed` at the deadline.
    Timer,
    /// An instant of UTC.
    Utc {
        /// The instant, in nanoseconds of POSIX time.
        until: i64,
        /// Whether an `observed` with `utc` as it reads now is wanted at once; else one as soon as `utc` reads `until`.
        now: bool,
    },
    /// The answer to a question: `answered`.
    Answer {
        /// Its identifier.
        question: Arc<str>,
    },
    /// A decision: `decided`.
    Decision {
        /// Its identifier.
        decision: Arc<str>,
    },
    /// The end of a file transfer: a `transfer_status`.
    Transfer {
        /// Its identifier.
        id: Arc<str>,
        /// Whether it is to be cancelled: the run goes on only when its status has come.
        cancel: bool,
    },
}
