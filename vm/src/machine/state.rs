//! What the machine remembers of a run: strands with their stacks, and what each waits for.
//!
//! Nothing recurses: a strand has a stack of blocks, one of activations (units being run) and one of attempts (steps and
//! calls that can be begun again). Times are nanoseconds in the scale of the run.

use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet},
    string::String,
    sync::Arc,
    vec::Vec,
};

use crate::{
    catalogue::Stage,
    event::{DecisionOption, Failure, Known, Path, PendingId, RunOutcome, SampleRecord, StepOutcome},
    op::Pc,
    program::Policy,
    time::Scale,
    value::{Scalar, Value},
};

/// Everything but the program.
#[derive(Debug, Clone, Default)]
pub(super) struct Core {
    pub(super) seq: u64,
    pub(super) now: i64,
    pub(super) scale: Scale,
    pub(super) run: Option<Run>,
    /// Depth first in the order of the branches: the order in which they advance.
    pub(super) strands: Vec<Strand>,
    /// Numbers given to strands, pending things and retry scopes.
    pub(super) last_strand: u32,
    pub(super) last_pending: PendingId,
    pub(super) last_scope: u32,
    /// For each scope what was sent first at each place.
    pub(super) scopes: BTreeMap<u32, BTreeMap<Box<[u32]>, u128>>,
    /// The greatest order in any fact.
    pub(super) max_order: Option<u64>,
    pub(super) leases: Option<LeaseWait>,
    pub(super) suspended: Option<Suspension>,
    /// Nanoseconds spent suspended, ended suspensions alone.
    pub(super) stood_still: i64,
    pub(super) ending: Option<Ending>,
    pub(super) ended: Option<RunOutcome>,
    pub(super) added: Added,
}

/// What a run was started with.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) id: Arc<str>,
    pub(super) unit: u32,
    pub(super) targets: Arc<[Arc<str>]>,
    pub(super) inputs: Vec<Value>,
    pub(super) started_at: i64,
}

/// The leases are awaited; what is to be done with the strands once they are there.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LeaseWait {
    /// Taken over at this time.
    pub(super) taken_over: Option<i64>,
    /// Resumed.
    pub(super) resumed: bool,
}

/// A suspension.
#[derive(Debug, Clone)]
pub(super) struct Suspension {
    pub(super) since: i64,
    pub(super) why: String,
}

/// `run_finished` is due.
#[derive(Debug, Clone)]
pub(super) struct Ending {
    pub(super) outcome: RunOutcome,
    pub(super) reason: Option<String>,
    pub(super) failure: Option<Box<Failure>>,
}

/// What was added to the bound of the run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Added {
    pub(super) ns: i64,
    /// Since when a decision is open or the run suspended.
    pub(super) since: Option<i64>,
}

/// One line of execution: the run itself, or a branch.
#[derive(Debug, Clone)]
pub(super) struct Strand {
    pub(super) id: u32,
    pub(super) parent: Option<u32>,
    pub(super) pc: Pc,
    pub(super) frames: Vec<Frame>,
    pub(super) acts: Vec<Activation>,
    pub(super) attempts: Vec<Attempt>,
    pub(super) state: State,
    /// Another branch failed first: nothing more begins here.
    pub(super) halted: Option<Box<Failure>>,
    /// The scope of `retry_of`, its number and how many frames stand outside of it.
    pub(super) scope: Option<(u32, usize)>,
    /// Where the strand stands within the scope of its parent.
    pub(super) prefix: Arc<[u32]>,
}

/// An open block.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// Where it ends.
    pub(super) stop: Pc,
    pub(super) kind: FrameKind,
}

/// What block.
#[derive(Debug, Clone)]
pub(super) enum FrameKind {
    /// The code of a unit.
    Unit,
    /// An inline step.
    Inline,
    /// A `repeat`: its first op and the turns left behind this one.
    Repeat { start: Pc, left: u32 },
    /// A `for each`: its first op, its operands and the next place in its values.
    Each { start: Pc, each: u32, next: u64 },
    /// The first branch of an `if`; where the statement ends.
    Then { end: Pc },
    /// A branch of a `together`.
    Branch,
    /// `on failure`.
    OnFailure,
    /// A `together` whose branches run; the first failure among them.
    Together { failure: Option<Box<Failure>> },
}

/// A unit being run.
#[derive(Debug, Clone)]
pub(super) struct Activation {
    pub(super) unit: u32,
    pub(super) locals: Vec<Option<Value>>,
    pub(super) targets: Arc<[Arc<str>]>,
    pub(super) path: Path,
    /// The failure for which `on failure` runs.
    pub(super) failed: Option<Box<Failure>>,
    /// `on failure` was entered.
    pub(super) handled: bool,
}

/// What is attempted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempted {
    /// An inline step, by its place in `steps`.
    Inline(u32),
    /// A library step, by the call's place in `calls`.
    Do(u32),
    /// A procedure, by the call's place in `calls`.
    Run(u32),
}

/// A step or call with its attempts.
#[derive(Debug, Clone)]
pub(super) struct Attempt {
    pub(super) what: Attempted,
    /// The op of the step or call, in the activation outside of it.
    pub(super) pc: Pc,
    pub(super) path: Path,
    /// Height of the stacks outside of it.
    pub(super) frames: usize,
    pub(super) acts: usize,
    /// Of this attempt, from 1 within the enclosing attempt.
    pub(super) number: u32,
    /// New attempts by the policy so far.
    pub(super) used: u32,
    /// Whether it is under way: started and not finished.
    pub(super) open: bool,
    /// An operator or a resumption begins this attempt: it always starts.
    pub(super) forced: bool,
    pub(super) eligible: bool,
    pub(super) policy: Option<Policy>,
    /// The bound of one attempt.
    pub(super) bound: i64,
    /// Start of the first attempt, suspensions left out.
    pub(super) begin: i64,
    /// Start of this attempt.
    pub(super) start: i64,
    /// The greatest order in a fact before it started.
    pub(super) start_order: Option<u64>,
    /// Values of the inputs, for a call.
    pub(super) inputs: Vec<Option<Value>>,
    /// Whether the scope of `retry_of` began with it.
    pub(super) owns_scope: bool,
    /// The failure of the attempt before.
    pub(super) failure: Option<Box<Failure>>,
    /// Telecommands of this attempt.
    pub(super) sent: Vec<Sent>,
    /// A transfer was requested in this attempt.
    pub(super) transferred: bool,
}

impl Attempt {
    pub(super) fn is_step(&self) -> bool {
        !matches!(self.what, Attempted::Run(_))
    }

    /// Whether a telecommand of this attempt changes the on-board state.
    pub(super) fn changed_state(&self) -> bool {
        self.sent.iter().any(|sent| sent.changes)
    }
}

/// A telecommand sent in the attempt.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub(super) id: u128,
    /// Its place in the unit's `sends`.
    pub(super) send: u32,
    pub(super) index: Option<i64>,
    pub(super) changes: bool,
    pub(super) released: Option<Release>,
    /// Which reports came, a bit a stage, accepted first.
    pub(super) reports: u8,
    pub(super) end: Option<Box<SentEnd>>,
    pub(super) known: Option<Known>,
}

/// That a telecommand left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Release {
    pub(super) at: i64,
    pub(super) order: Option<u64>,
    /// Not told itself: a report came, so it must have left.
    pub(super) implied: bool,
}

/// How a telecommand ended badly.
#[derive(Debug, Clone)]
pub(super) enum SentEnd {
    NotReleased(Option<String>),
    EncodeFailed(Option<String>),
    Failed { stage: Option<Stage>, code: Option<String> },
}

/// What a strand does.
#[derive(Debug, Clone)]
pub(super) enum State {
    /// Has ops to run.
    Running,
    /// A transition is due.
    Due(Due),
    /// Waits for a fact.
    Wait(Wait),
    /// Waits for its branches.
    Branches,
    /// Ended, with the failure if it failed.
    Ended,
}

/// A transition that is due.
#[derive(Debug, Clone)]
pub(super) enum Due {
    /// The next attempt of the innermost step or call starts.
    Start,
    /// The attempt ends.
    Finish { outcome: StepOutcome, failure: Option<Box<Failure>>, then: Then },
    /// The next attempt is scheduled.
    Schedule { due: i64 },
    /// A telecommand leaves.
    Send(Box<Outgoing>),
    /// A question is asked.
    Question { text: String },
    /// A decision is asked for.
    Decision(Box<Deciding>),
    /// A line for the log.
    Note { text: String },
    /// A transfer is requested.
    Transfer { file: String, component: Arc<str> },
}

/// What follows the end of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// The run goes on behind the step or call.
    Next,
    /// The step or call fails.
    Fail,
    /// A new attempt by the policy, if it still fits.
    Retry,
    /// A new attempt at once, whatever the policy says.
    Again,
}

/// A telecommand that is about to leave.
#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    pub(super) send: u32,
    pub(super) index: Option<i64>,
    pub(super) args: BTreeMap<Arc<str>, Scalar>,
}

/// A decision, asked for or about to be.
#[derive(Debug, Clone)]
pub(super) struct Deciding {
    pub(super) reason: String,
    pub(super) options: Vec<DecisionOption>,
    pub(super) failure: Option<Box<Failure>>,
    /// Whether it tells what is known of the telecommands: after an interruption.
    pub(super) interrupted: bool,
    /// How `recheck` takes the statement up again.
    pub(super) recheck: Recheck,
}

/// How `recheck` takes the statement up again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recheck {
    /// From its beginning.
    Statement,
    /// At the verification of the attempt's last telecommand.
    Verification,
    /// At a time that goes on counting.
    Timer(i64),
}

/// Something waited for.
#[derive(Debug, Clone)]
pub(super) struct Wait {
    pub(super) id: PendingId,
    pub(super) deadline: Option<i64>,
    pub(super) what: What,
}

/// What is waited for.
#[derive(Debug, Clone)]
pub(super) enum What {
    /// Samples as they are now, for the op.
    Reading,
    /// The condition of an `expect` or `wait until`.
    Condition(Window),
    /// The verification of the attempt's last telecommand.
    Verification(Verifying),
    /// `wait D`.
    Timer,
    /// The start of the next attempt.
    Interval,
    /// `wait until TIME`.
    Utc { until: i64, first: bool },
    /// An answer.
    Answer { question: u128, text: String },
    /// A decision.
    Decision { id: u128, of: Box<Deciding> },
    /// The end of a transfer; why it is being cancelled, if it is.
    Transfer { id: u128, cancel: Option<Cancel> },
}

/// A window in which a condition is to become true.
#[derive(Debug, Clone)]
pub(super) struct Window {
    /// When it closes.
    pub(super) limit: i64,
    /// Nothing is judged as of an earlier time: when the statement began, or when it was judged last.
    pub(super) from: i64,
    /// Since when it has held, where it must hold for a time.
    pub(super) held_since: Option<i64>,
    /// The last samples told.
    pub(super) last: Vec<SampleRecord>,
}

/// A verification under way.
#[derive(Debug, Clone)]
pub(super) struct Verifying {
    /// From when the window counts: `telecommand_sent`, a takeover, a decision.
    pub(super) from: i64,
    /// Whether `until` is met (or there is none).
    pub(super) until_met: bool,
    /// The last samples told.
    pub(super) last: Vec<SampleRecord>,
}

/// Why a transfer is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cancel {
    /// Its time is over.
    Elapsed,
    /// A takeover or suspension interrupted its step; whether by a takeover.
    Interrupted { taken_over: bool },
    /// The run ends.
    Abort,
}

/// The strands of ids, for a walk over a `together`.
pub(super) type Ids = BTreeSet<u32>;

/// An entry of a table by an index of the program.
pub(super) fn at<T>(table: &[T], index: u32) -> Option<&T> {
    table.get(usize::try_from(index).ok()?)
}
