//! The state of a run, for those who look at it.

use alloc::{string::String, sync::Arc, vec::Vec};

use serde::Serialize;

use crate::{
    event::{DecisionOption, Failure, Path, PendingId, RunOutcome},
    time::Instant,
};

/// The state of a run at a place in its log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct View {
    /// Events so far.
    pub seq: u64,
    /// Time of the last event; `None` before `run_started`.
    pub at: Option<Instant>,
    /// Identifier of the run.
    pub run: Option<Arc<str>>,
    /// Procedure.
    pub procedure: Option<Arc<str>>,
    /// Where it stands as a whole.
    pub state: RunState,
    /// Why it is suspended, who holds the leases, or why it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Time of `run_started`.
    pub started_at: Option<Instant>,
    /// The bound of the run: what it does by itself takes no longer, in nanoseconds.
    pub bound_ns: i64,
    /// What was added to the bound: decisions, suspensions, takeovers, attempts begun by them, in nanoseconds.
    pub added_ns: i64,
    /// The strands, in their fixed order.
    pub strands: Vec<StrandView>,
    /// The first failure of the run, once it has ended failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// Where a run stands as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Not started yet: no `run_started`.
    New,
    /// Waits for its leases.
    Leases,
    /// Runs.
    Running,
    /// Suspended.
    Suspended,
    /// An abort was asked for, the end is not logged yet.
    Aborting,
    /// Ended: passed.
    Passed,
    /// Ended: failed.
    Failed,
    /// Ended: aborted.
    Aborted,
}

impl From<RunOutcome> for RunState {
    fn from(outcome: RunOutcome) -> Self {
        match outcome {
            RunOutcome::Passed => Self::Passed,
            RunOutcome::Failed => Self::Failed,
            RunOutcome::Aborted => Self::Aborted,
        }
    }
}

/// One strand.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StrandView {
    /// Its number; 0 is the run itself.
    pub strand: u32,
    /// The strand whose `together` it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// Names from the run down to where it stands.
    pub path: Path,
    /// Attempt of the step, or of the call, that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// File of the statement.
    pub file: Arc<str>,
    /// Line of the statement.
    pub line: u32,
    /// Text of the statement.
    pub statement: Arc<str>,
    /// What it does or waits for.
    pub doing: Doing,
    /// What it waits for, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<PendingId>,
    /// Until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Instant>,
}

/// What a strand does or waits for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Doing {
    /// About to log a transition.
    Transition,
    /// Waits for its branches.
    Branches,
    /// Has ended; waits for the other branches.
    Ended,
    /// Waits for samples as they are now.
    Reading,
    /// Waits for a condition.
    Condition {
        /// Since when it has held, where it must hold for a time.
        #[serde(skip_serializing_if = "Option::is_none")]
        held_since: Option<Instant>,
    },
    /// Waits for the verification of a telecommand.
    Telecommand {
        /// Its identifier.
        id: Arc<str>,
        /// What is still awaited: `release`, `accepted`, `started`, `completed`, `until`.
        awaits: Vec<&'static str>,
    },
    /// Waits for time to pass.
    Timer,
    /// Waits for the start of the next attempt.
    Interval,
    /// Waits for an instant of UTC.
    Utc,
    /// Waits for an answer.
    Answer {
        /// Identifier of the question.
        question: Arc<str>,
        /// The question.
        text: String,
        /// The choices.
        choices: Vec<Arc<str>>,
    },
    /// Waits for a decision.
    Decision {
        /// Identifier of the decision.
        decision: Arc<str>,
        /// Why.
        reason: String,
        /// What can be chosen.
        options: Vec<DecisionOption>,
    },
    /// Waits for the end of a file transfer.
    Transfer {
        /// Its identifier.
        id: Arc<str>,
        /// Whether it is being cancelled.
        cancel: bool,
    },
}
