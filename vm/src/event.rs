//! The log of a run: facts that happen to it and transitions that it does, in one sequence.
//!
//! In JSON one event is one object: the envelope (`seq`, `at`, `epoch`, then `nonce` and `fence` where the runtime wrote
//! them), `type`, and the fields of its kind in the order of the types below. Fields that are `None` or empty where the
//! type says so are left out. Values are [`Scalar`]s. `docs/schemas/event.json` describes it for other programs.

use alloc::{collections::BTreeMap, string::String, sync::Arc, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    catalogue::Stage,
    time::{Instant, Scale},
    value::Scalar,
};

pub(crate) mod json;
mod schema;

pub use json::{NotAnEvent, body_json};
pub use schema::Schema;

/// One event of the log of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Place in the log, from 1, without gap.
    pub seq: u64,
    /// When it happened, in the scale of the system; never less than that of the event before.
    pub at: Instant,
    /// Which owner wrote it; 1 at the start.
    pub epoch: u64,
    /// The writer's nonce. Envelope: not compared by replay.
    pub nonce: Option<Arc<str>>,
    /// The fence under which a telecommand leaves. Envelope: not compared by replay.
    pub fence: Option<u64>,
    /// What happened.
    pub body: Body,
}

/// What an event is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Body {
    /// Done by the run.
    Transition(Transition),
    /// Happened to the run.
    Fact(Fact),
}

/// Names from the run down to a step: procedure, called procedures, step.
pub type Path = Arc<[Arc<str>]>;

/// The name of a thing that waits for a fact; counted by the machine from 1, the same at every replay.
pub type PendingId = u64;

/// What a run does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Transition {
    /// An attempt of a step begins.
    StepStarted {
        /// The step.
        step: Path,
        /// Attempt, from 1 within the enclosing attempt.
        attempt: u32,
        /// File of its header (or call).
        file: Arc<str>,
        /// Line of the call, or of the inline step's own header.
        line: u32,
    },
    /// A telecommand is about to leave: logged first.
    TelecommandSent {
        /// ULID, derived from run, seq and time.
        id: Arc<str>,
        /// Target.
        target: Arc<str>,
        /// Name within its component.
        telecommand: Arc<str>,
        /// Component, with its index: `tcu[2]`.
        component: Arc<str>,
        /// Every argument, defaults and fixed values included.
        args: BTreeMap<Arc<str>, Scalar>,
        /// Route.
        route: Arc<str>,
        /// The step.
        step: Path,
        /// The step's attempt.
        attempt: u32,
        /// The telecommand at the same place in the first attempt.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        retry_of: Option<Arc<str>>,
        /// Whether it changes the on-board state.
        changes_state: bool,
        /// File of the statement.
        file: Arc<str>,
        /// Line of the statement.
        line: u32,
    },
    /// An attempt of a step ends.
    StepFinished {
        /// The step.
        step: Path,
        /// Attempt.
        attempt: u32,
        /// How.
        outcome: StepOutcome,
        /// Why, where something failed.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        failure: Option<Failure>,
    },
    /// An attempt of a `run` begins.
    CallStarted {
        /// The call, its procedure's name last.
        step: Path,
        /// Attempt.
        attempt: u32,
        /// File of the call.
        file: Arc<str>,
        /// Line of the call.
        line: u32,
    },
    /// An attempt of a `run` ends.
    CallFinished {
        /// The call.
        step: Path,
        /// Attempt.
        attempt: u32,
        /// `passed` or `failed`.
        outcome: StepOutcome,
        /// The failure that came up.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        failure: Option<Failure>,
    },
    /// An operator is asked.
    QuestionAsked {
        /// ULID of the question.
        id: Arc<str>,
        /// The step.
        step: Path,
        /// Attempt.
        attempt: u32,
        /// The question.
        text: String,
        /// The choices; `yes` and `no` where the procedure names none.
        choices: Vec<Arc<str>>,
        /// Until when.
        due: Instant,
    },
    /// An operator must decide.
    DecisionRequired {
        /// ULID of the decision.
        id: Arc<str>,
        /// The step.
        step: Path,
        /// Attempt.
        attempt: u32,
        /// Why, in words.
        reason: String,
        /// What can be chosen.
        options: Vec<DecisionOption>,
        /// What failed, if something did.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        failure: Option<Failure>,
        /// After an interruption: what is known of each telecommand of the attempt.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        telecommands: Vec<TelecommandKnown>,
    },
    /// A new attempt is scheduled.
    AttemptScheduled {
        /// The step or call.
        step: Path,
        /// The attempt to come.
        attempt: u32,
        /// When it is due.
        due: Instant,
    },
    /// A line for the log.
    Noted {
        /// The step or procedure.
        step: Path,
        /// The text.
        text: String,
    },
    /// A file transfer is wanted.
    TransferRequested {
        /// ULID of the transfer.
        id: Arc<str>,
        /// The step.
        step: Path,
        /// Attempt.
        attempt: u32,
        /// Name of the file.
        transfer: String,
        /// Target.
        target: Arc<str>,
        /// Component, with its index.
        component: Arc<str>,
        /// Until when.
        due: Instant,
    },
    /// The run has ended; always the last event.
    RunFinished {
        /// How.
        outcome: RunOutcome,
        /// Why, in words, where it did not pass.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<String>,
        /// The first failure.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        failure: Option<Failure>,
    },
}

/// What happens to a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Fact {
    /// The run exists; always the first event.
    RunStarted {
        /// The version of the log's JSON.
        #[serde(default)]
        schema: Schema,
        /// ULID of the run.
        run: Arc<str>,
        /// Procedure.
        procedure: Arc<str>,
        /// Target of each `uses` name.
        targets: BTreeMap<Arc<str>, Arc<str>>,
        /// Every input, defaults included.
        inputs: BTreeMap<Arc<str>, Scalar>,
        /// BLAKE3 of the artifact, in hexadecimal.
        artifact: Arc<str>,
        /// The scale of all times.
        scale: Scale,
        /// Whether time is virtual.
        #[serde(skip_serializing_if = "core::ops::Not::not", default)]
        virtual_clock: bool,
        /// For each target how it is linked: `sim`, `ccsds`.
        #[serde(default)]
        links: BTreeMap<Arc<str>, Arc<str>>,
        /// Who started it.
        by: Arc<str>,
    },
    /// The leases were taken, at the start, after a takeover or at a resumption.
    Leases {
        /// The targets taken, sorted; empty where refused.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        taken: Vec<Arc<str>>,
        /// Whether they are shared.
        #[serde(skip_serializing_if = "core::ops::Not::not", default)]
        shared: bool,
        /// Why not.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        refused: Option<LeaseRefusal>,
    },
    /// What became of a telecommand.
    TelecommandStatus {
        /// Its identifier.
        id: Arc<str>,
        /// What is told.
        status: TelecommandStatus,
        /// When the ground received it, on the run's clock.
        received_at: Instant,
        /// Place in the telemetry order (see [`SampleRecord::order`]); set for `released`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        order: Option<u64>,
        /// The stage a failure report is of.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        stage: Option<Stage>,
        /// The failure's code, with its label: `3 (invalid length)`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        code: Option<String>,
        /// Why it was not released, in words.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<String>,
    },
    /// Samples that decide a condition or give a value; on a time-out the last ones seen.
    Observed {
        /// What waits for it.
        pending: PendingId,
        /// The samples.
        samples: Vec<SampleRecord>,
        /// UTC as it reads, for `wait until TIME`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        utc: Option<Instant>,
    },
    /// A deadline passed.
    Elapsed {
        /// What waited for it.
        pending: PendingId,
        /// The deadline.
        due: Instant,
        /// UTC as it reads, for `wait until TIME`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        utc: Option<Instant>,
    },
    /// A question was answered.
    Answered {
        /// Identifier of the question.
        question: Arc<str>,
        /// The choice.
        value: Arc<str>,
        /// Who.
        by: Arc<str>,
        /// The operator's message.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        ctl: Option<u64>,
    },
    /// A decision was taken.
    Decided {
        /// Identifier of the decision.
        decision: Arc<str>,
        /// What.
        option: DecisionOption,
        /// Who.
        by: Arc<str>,
        /// The operator's message.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        ctl: Option<u64>,
    },
    /// The run is suspended.
    Suspended {
        /// Why: `operator`, `preempted`, `lease_lost`, `lease_refused`…
        why: String,
        /// Who.
        by: Arc<str>,
        /// The operator's message.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        ctl: Option<u64>,
    },
    /// The run goes on.
    Resumed {
        /// Who.
        by: Arc<str>,
        /// What is known of each open telecommand.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        known: Vec<KnownStatus>,
        /// The operator's message.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        ctl: Option<u64>,
    },
    /// An operator ends the run.
    AbortRequested {
        /// Who.
        by: Arc<str>,
        /// The operator's message.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        ctl: Option<u64>,
    },
    /// Another owner goes on with the run.
    TakenOver {
        /// The instance.
        instance: Arc<str>,
        /// What is known of each open telecommand.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        known: Vec<KnownStatus>,
    },
    /// What an operator sent does not fit.
    Declined {
        /// The operator's message.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        ctl: Option<u64>,
        /// Why.
        why: String,
    },
    /// What became of a transfer.
    TransferStatus {
        /// Its identifier.
        id: Arc<str>,
        /// What is told.
        status: TransferStatus,
        /// Why, in words.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<String>,
    },
}

/// What is told of a telecommand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TelecommandStatus {
    /// It left: the link took it.
    Released,
    /// It never left and never will: `SEND_FAILED`.
    NotReleased,
    /// A good acceptance report.
    Accepted,
    /// A good start report.
    Started,
    /// A good completion report.
    Completed,
    /// A failure report, at `stage`, with `code`.
    Failed,
    /// It could not be encoded; it never left: `ENCODE_FAILED`.
    EncodeFailed,
}

/// What is told of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransferStatus {
    /// It could not be created.
    NotCreated,
    /// It ended well.
    Completed,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
}

/// How a step, or a call, ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// All statements did what they had to.
    Passed,
    /// A statement failed.
    Failed,
    /// An operator skipped it: it counts as passed.
    Skipped,
    /// Nothing failed; a new attempt follows.
    Interrupted,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// Passed.
    Passed,
    /// Failed.
    Failed,
    /// Aborted by an operator.
    Aborted,
}

/// What an operator can decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionOption {
    /// A new attempt, with new identifiers.
    Replay,
    /// The step counts as passed.
    Skip,
    /// The step fails.
    Fail,
    /// The run ends.
    Abort,
    /// The open statement is judged again, nothing is sent.
    Recheck,
}

/// Why something failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The kind.
    pub code: FailureCode,
    /// What happened, in words, with the last values.
    pub message: String,
    /// File of the statement.
    pub file: Arc<str>,
    /// Line of the statement.
    pub line: u32,
    /// Text of the statement.
    pub statement: Arc<str>,
    /// The telecommand, where it is about one that has an identifier.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub telecommand: Option<Arc<str>>,
}

/// The kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the language reference describes each under this name")]
pub enum FailureCode {
    ExpectFailed,
    CheckFailed,
    WaitFailed,
    ReadFailed,
    Rejected,
    EncodeFailed,
    SendFailed,
    VerifyFailed,
    VerifyTimeout,
    AskRefused,
    AskTimeout,
    TransferFailed,
    TransferNotCreated,
    Failed,
}

/// One sample as evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampleRecord {
    /// Target.
    pub target: Arc<str>,
    /// Parameter, with component and index: `tcu[2].responding`.
    pub parameter: Arc<str>,
    /// Value.
    pub value: Scalar,
    /// Ground reception time, on the run's clock.
    pub received_at: Instant,
    /// Place in the one order of releases and samples as the ground received them; "received since" compares these.
    pub order: u64,
    /// Whether the sample is valid.
    #[serde(skip_serializing_if = "is_true", default = "yes")]
    pub valid: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_true(valid: &bool) -> bool {
    *valid
}

fn yes() -> bool {
    true
}

/// What is known of a telecommand, in a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TelecommandKnown {
    /// Its identifier.
    pub id: Arc<str>,
    /// Its name.
    pub telecommand: Arc<str>,
    /// Its component.
    pub component: Arc<str>,
    /// What is known.
    pub known: Known,
}

/// What the store and the gateway tell of an open telecommand after an interruption.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownStatus {
    /// Its identifier.
    pub id: Arc<str>,
    /// What is known.
    pub known: Known,
}

/// Whether a telecommand left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Known {
    /// It left.
    #[serde(rename = "left")]
    Left,
    /// It never left, and never will under this claim.
    #[serde(rename = "never left")]
    NeverLeft,
    /// It was claimed and its result is lost.
    #[serde(rename = "may have left")]
    MayHaveLeft,
}

/// Why leases were refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseRefusal {
    /// The target that is held.
    pub target: Arc<str>,
    /// The runs that hold it.
    pub holders: Vec<Arc<str>>,
    /// In words: `` `flatsat-1` is held by run 01K6… ``.
    pub reason: String,
}
