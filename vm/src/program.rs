//! The program: what an artifact holds.
//!
//! Units (steps and procedures) with their code, the slice of the catalogue that the code uses, the compilation
//! parameters, the claims (bounds, attempts, statements, eligibility) that the verifier computes again, and the source
//! map. Durations are nanoseconds. The order of every table is the compiler's and is the same for the same inputs:
//! units sorted by kind and name, entries of the slice by platform and path.

use alloc::{sync::Arc, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    catalogue::{Argument, Freshness, Verification},
    condition::Expr,
    op::{ExprId, Local, Op},
    value::{EnumDef, Type, Value},
};

/// A compiled program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// Version of the compiler that made it.
    pub compiler: Arc<str>,
    /// Compilation parameters of the configuration.
    pub parameters_of_compilation: Defaults,
    /// Platforms named by `uses`.
    pub platforms: Vec<Arc<str>>,
    /// Enumerations, referred to by [`Type::Enum`].
    pub enums: Vec<EnumDef>,
    /// Parameters that the code reads.
    pub parameters: Vec<ParameterUse>,
    /// Telecommands that the code sends.
    pub telecommands: Vec<TelecommandUse>,
    /// Routes that the code names or takes by default.
    pub routes: Vec<RouteUse>,
    /// Source files, relative to the mission folder, with `/`.
    pub files: Vec<Arc<str>>,
    /// Steps and procedures.
    pub units: Vec<Unit>,
}

/// What the configuration gave to the compilation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Defaults {
    /// `executor.default_retry`; `None` where it allows no new attempt.
    pub retry: Option<Policy>,
    /// `executor.default_window`.
    pub window: i64,
    /// `executor.freshness`.
    pub freshness: i64,
}

/// A retry policy. At least one of `times` and `total` is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// New attempts after the first, 0 to 10,000.
    pub times: Option<u32>,
    /// Interval between the starts of two attempts.
    pub every: Option<i64>,
    /// Total duration of the attempts.
    pub total: Option<i64>,
}

/// A parameter in the slice of the catalogue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParameterUse {
    /// Index into [`Program::platforms`].
    pub platform: u32,
    /// Component.
    pub component: Arc<str>,
    /// Range of the component's index, if it has one.
    pub index: Option<(i64, i64)>,
    /// Name within the component.
    pub name: Arc<str>,
    /// Type, unit and range.
    pub ty: Type,
    /// Nanoseconds between two samples.
    pub period: Option<i64>,
    /// Greatest age at which it may be judged.
    pub freshness: Freshness,
    /// Hash of the whole catalogue entry, encoding included.
    pub hash: [u8; 32],
}

/// A telecommand in the slice of the catalogue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TelecommandUse {
    /// Index into [`Program::platforms`].
    pub platform: u32,
    /// Component.
    pub component: Arc<str>,
    /// Range of the component's index, if it has one.
    pub index: Option<(i64, i64)>,
    /// Name within the component.
    pub name: Arc<str>,
    /// Whether it changes the on-board state.
    pub changes_state: bool,
    /// Why it is hazardous, if it is.
    pub hazardous: Option<Arc<str>>,
    /// Arguments.
    pub args: Vec<Argument>,
    /// What must hold just before it is sent; its reads index [`Program::parameters`], its target is 0.
    pub requires: Option<Expr>,
    /// How it is verified; the reads of `until` likewise.
    pub verify: Verification,
    /// Hash of the whole catalogue entry, encoding included.
    pub hash: [u8; 32],
}

/// A route in the slice of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteUse {
    /// Index into [`Program::platforms`].
    pub platform: u32,
    /// Name.
    pub name: Arc<str>,
    /// Hash of the whole catalogue entry.
    pub hash: [u8; 32],
}

/// Step or procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A step: sends and judges, calls nothing.
    Step,
    /// A procedure: calls steps and procedures, sends nothing itself.
    Procedure,
}

/// A step or procedure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unit {
    /// Step or procedure.
    pub kind: Kind,
    /// Name.
    pub name: Arc<str>,
    /// Documentation.
    pub doc: Option<Arc<str>>,
    /// Index into [`Program::files`].
    pub file: u32,
    /// Line of the header, from 1.
    pub line: u32,
    /// Targets, in the order of `uses`.
    pub targets: Vec<TargetUse>,
    /// Inputs, in the order of `input`; they are the first locals.
    pub inputs: Vec<Input>,
    /// Types of the locals: inputs first, then every name given in the unit (and the outcomes of `Judge`).
    pub locals: Vec<LocalDef>,
    /// The policy on the header.
    pub policy: Option<Policy>,
    /// The code.
    pub code: Vec<Op>,
    /// Where each op comes from, one for one.
    pub source: Vec<Source>,
    /// Expressions of the code.
    pub exprs: Vec<Expr>,
    /// Durations of the code.
    pub durations: Vec<i64>,
    /// Texts of `fail`.
    pub texts: Vec<Arc<str>>,
    /// Operands of `send`.
    pub sends: Vec<Send>,
    /// Operands of `expect`.
    pub expects: Vec<Expect>,
    /// Operands of `ask`.
    pub asks: Vec<Ask>,
    /// Operands of `transfer`.
    pub transfers: Vec<Transfer>,
    /// Operands of `note`.
    pub notes: Vec<Note>,
    /// Operands of `for each`.
    pub loops: Vec<ForEach>,
    /// Inline steps.
    pub steps: Vec<InlineStep>,
    /// Calls.
    pub calls: Vec<Call>,
    /// What the compiler says of it.
    pub claims: Claims,
}

/// A `uses` line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetUse {
    /// Name within the definition.
    pub name: Arc<str>,
    /// Index into [`Program::platforms`].
    pub platform: u32,
}

/// An `input` line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Name.
    pub name: Arc<str>,
    /// Type.
    pub ty: Type,
    /// Default.
    pub default: Option<Value>,
}

/// A local.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LocalDef {
    /// Name as written; empty for the outcome of a `Judge`.
    pub name: Arc<str>,
    /// Type.
    pub ty: Type,
}

/// Where an op comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Text of the statement, one line, white space folded.
    pub text: Arc<str>,
}

/// Operands of `send`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Send {
    /// Index into [`Program::telecommands`].
    pub telecommand: u32,
    /// Index into [`Unit::targets`].
    pub target: u32,
    /// Index of the component, where it has one.
    pub index: Option<ExprId>,
    /// Value of each argument of the telecommand, in its order; `None` where its default or fixed value is taken.
    pub args: Vec<Option<ExprId>>,
    /// Index into [`Program::routes`].
    pub route: u32,
}

/// Operands of `expect`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expect {
    /// The condition.
    pub cond: ExprId,
    /// For how long it must hold.
    pub held: Option<i64>,
    /// The limit.
    pub within: i64,
}

/// Operands of `ask`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// The question, with values.
    pub text: Template,
    /// The choices; empty for yes or no.
    pub choices: Vec<Arc<str>>,
    /// The limit.
    pub within: i64,
    /// Where the answer is kept.
    pub local: Option<Local>,
}

/// Operands of `transfer`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// Name of the file, with values.
    pub file: Template,
    /// Index into [`Unit::targets`].
    pub target: u32,
    /// Component.
    pub component: Arc<str>,
    /// Range of the component's index, if it has one.
    pub component_index: Option<(i64, i64)>,
    /// Index of the component, where it has one.
    pub index: Option<ExprId>,
    /// The limit.
    pub within: i64,
}

/// Operands of `note`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The text, with values.
    pub text: Template,
}

/// A text with values in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// Its parts in order.
    pub parts: Vec<Part>,
}

/// A part of a text with values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// Plain text.
    Text(Arc<str>),
    /// The value of a local, written as a scalar of JSON is, with its unit.
    Local(Local),
}

/// Operands of `for each`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForEach {
    /// The name that takes each value.
    pub local: Local,
    /// The values.
    pub over: Sequence,
}

/// The values of a `for each`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Sequence {
    /// `A..B`, ends included.
    Range(i64, i64),
    /// `[..]`.
    List(Vec<Value>),
}

/// An inline step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InlineStep {
    /// Name; for a statement that stands directly in a procedure its source text.
    pub name: Arc<str>,
    /// Whether it was written as `step`; if not, no policy applies to it and it is no row of its own in the count.
    pub written: bool,
    /// The policy on its line.
    pub policy: Option<Policy>,
    /// What the compiler says of it.
    pub claims: Claims,
}

/// Operands of `do` and `run`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Index into [`Program::units`].
    pub unit: u32,
    /// Targets given, indices into the caller's [`Unit::targets`], in the callee's order.
    pub targets: Vec<u32>,
    /// Inputs given, in the callee's order; `None` where its default is taken.
    pub inputs: Vec<Option<ExprId>>,
    /// The policy on the call.
    pub policy: Option<Policy>,
    /// What the compiler says of it, with the policy that applies here.
    pub claims: Claims,
}

/// What the compiler says of a unit, inline step or call; the verifier computes each again.
///
/// For a unit, `max`, `attempts_max` and `statements` are with its own policy alone; for an inline step or a call with
/// the one that applies to it there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Whether no telecommand in its call tree changes the on-board state.
    pub eligible: bool,
    /// One attempt, `on failure` included.
    pub attempt: i64,
    /// The part of `attempt` that is `on failure`.
    pub on_failure: i64,
    /// All attempts.
    pub max: i64,
    /// Attempts at most.
    pub attempts_max: u64,
    /// Statements executed at most.
    pub statements: u64,
}
