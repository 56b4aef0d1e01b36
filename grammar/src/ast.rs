//! The syntax tree: the shape of a text, without meaning.
//!
//! What could not be parsed is an error node ([`StmtKind::Error`], [`ExprKind::Error`], a `None` where a part is
//! missing) and has been reported; whoever reads the tree passes over it in silence. Comments are not in the tree.
//! Its depth is bounded by the limits of nesting, chains of operators are flat, so that walking and dropping it never
//! needs a deep stack.

use crate::span::Span;

mod expr;

pub use expr::*;

/// A file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ast {
    /// The definitions, in source order.
    pub definitions: Vec<Definition>,
    /// What stands at the top of the file and could not be read as a definition.
    pub broken: Vec<ErrorStmt>,
}

/// A word that the user chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// As written.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A text between quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// What it says, escapes resolved.
    pub value: String,
    /// Where, quotes included.
    pub span: Span,
}

/// What a definition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionKind {
    /// `step "…"` at the top of a file: a library step.
    Step,
    /// `procedure "…"`.
    Procedure,
}

/// A library step or a procedure.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Which of the two.
    pub kind: DefinitionKind,
    /// Its name.
    pub name: Text,
    /// The policy on its header; a procedure with one has been reported.
    pub retry: Option<Retry>,
    /// The text directly below the header.
    pub doc: Option<Text>,
    /// Its targets, in the order of declaration.
    pub uses: Vec<Uses>,
    /// Its inputs, in the order of declaration.
    pub inputs: Vec<Input>,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// Its `on failure` block; a step with one has been reported.
    pub on_failure: Option<OnFailure>,
    /// The keyword of the header.
    pub keyword: Span,
    /// The header, first token to last.
    pub header: Span,
    /// The header and all that belongs to it.
    pub span: Span,
}

/// `uses NAME: PLATFORM`.
#[derive(Clone, Debug, PartialEq)]
pub struct Uses {
    /// The name of the target in this definition.
    pub name: Name,
    /// Its platform; `None` after an error.
    pub platform: Option<Name>,
    /// The whole line.
    pub span: Span,
}

/// `input NAME: TYPE [= DEFAULT]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The name.
    pub name: Name,
    /// The type; `None` after an error.
    pub ty: Option<Name>,
    /// The default.
    pub default: Option<Expr>,
    /// The whole line.
    pub span: Span,
}

/// The `on failure` block of a procedure.
#[derive(Clone, Debug, PartialEq)]
pub struct OnFailure {
    /// Its statements.
    pub body: Vec<Stmt>,
    /// `on failure`.
    pub header: Span,
    /// The header and the block.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Its first word.
    pub keyword: Span,
    /// Its own text, first token to last: a whole statement, or the header of one with a block. The text it covers
    /// is what a log shows of the statement.
    pub span: Span,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `send TC [with ARG = V, …] to COMPONENT [via ROUTE]`.
    Send(Send),
    /// `expect COND [held for H] within D`.
    Expect(Expect),
    /// `check COND`.
    Check(Check),
    /// `wait D` and `wait until …`.
    Wait(Wait),
    /// `ask "text" [of "A", "B"] within D [as NAME]`.
    Ask(Ask),
    /// `transfer "FILE" to COMPONENT within D`.
    Transfer(Transfer),
    /// `note "text {NAME}"`.
    Note(Note),
    /// `let NAME = VALUE`.
    Let(Let),
    /// `fail "text"`.
    Fail(Fail),
    /// `if COND` … `else` ….
    If(If),
    /// `repeat N times` ….
    Repeat(Repeat),
    /// `for each NAME in …` ….
    ForEach(ForEach),
    /// `together` with its `branch` blocks.
    Together(Together),
    /// `do "Step"` and `run "Procedure"`.
    Call(Call),
    /// An inline `step "Name"` with its block.
    Step(InlineStep),
    /// A line that could not be read; it has been reported.
    Error(ErrorStmt),
}

/// `send TC [with ARG = V, …] to COMPONENT [via ROUTE]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Send {
    /// The telecommand.
    pub telecommand: Name,
    /// Its arguments; one without a name has been reported.
    pub args: Vec<Arg>,
    /// The component: a target's name and the way to the component, `sat.tcu[2]`.
    pub component: Path,
    /// The route.
    pub route: Option<Name>,
}

/// An argument of a `send` or of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// The name before the `=`; `None` for a positional one.
    pub name: Option<Name>,
    /// The value.
    pub value: Expr,
    /// Name and value.
    pub span: Span,
}

/// `expect COND [held for H] within D`.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    /// What is expected.
    pub condition: Expr,
    /// How long it has to hold.
    pub held: Option<Duration>,
    /// By when.
    pub within: Duration,
}

/// `check COND`.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What has to be true now.
    pub condition: Expr,
}

/// `wait D`, `wait until X within D`.
#[derive(Clone, Debug, PartialEq)]
pub enum Wait {
    /// `wait D`.
    For(Duration),
    /// `wait until COND within D` and `wait until TIME within D`: which of the two, the type of `until` tells.
    Until {
        /// The condition or the time.
        until: Expr,
        /// At most this long.
        within: Duration,
    },
}

/// `ask "text" [of "A", "B"] within D [as NAME]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// The question.
    pub text: Text,
    /// The choices; empty for a question that yes or no answers.
    pub choices: Vec<Text>,
    /// At most this long.
    pub within: Duration,
    /// The name that keeps the choice.
    pub name: Option<Name>,
}

/// `transfer "FILE" to COMPONENT within D`.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// The file.
    pub file: Text,
    /// The component.
    pub component: Path,
    /// At most this long.
    pub within: Duration,
}

/// `note "text {NAME}"`.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The text as one string, placeholders as written.
    pub text: Text,
    /// The same text cut at its placeholders.
    pub pieces: Vec<Piece>,
}

/// A piece of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Words, escapes and doubled braces resolved.
    Words(String),
    /// `{NAME}`; the span is that of the name alone.
    Name(Name),
}

/// `let NAME = VALUE`.
#[derive(Clone, Debug, PartialEq)]
pub struct Let {
    /// The name.
    pub name: Name,
    /// The value.
    pub value: Expr,
}

/// `fail "text"`.
#[derive(Clone, Debug, PartialEq)]
pub struct Fail {
    /// The reason.
    pub text: Text,
}

/// `if COND` … `else` ….
#[derive(Clone, Debug, PartialEq)]
pub struct If {
    /// What is judged.
    pub condition: Expr,
    /// The statements where it is true.
    pub then: Vec<Stmt>,
    /// `else` and its statements.
    pub otherwise: Option<Else>,
}

/// `else` ….
#[derive(Clone, Debug, PartialEq)]
pub struct Else {
    /// The line of the `else`.
    pub header: Span,
    /// Its statements.
    pub body: Vec<Stmt>,
}

/// `repeat N times` ….
#[derive(Clone, Debug, PartialEq)]
pub struct Repeat {
    /// How often.
    pub count: Count,
    /// What.
    pub body: Vec<Stmt>,
}

/// `for each NAME in …` ….
#[derive(Clone, Debug, PartialEq)]
pub struct ForEach {
    /// The name of the value of each turn.
    pub name: Name,
    /// The values.
    pub domain: Domain,
    /// What each turn does.
    pub body: Vec<Stmt>,
}

/// The values of a `for each`.
#[derive(Clone, Debug, PartialEq)]
pub enum Domain {
    /// `A..B`, both included.
    Range(Box<Range>),
    /// `[A, B, …]`.
    List {
        /// The values.
        items: Vec<Expr>,
        /// Brackets included.
        span: Span,
    },
    /// Could not be read; it has been reported.
    Error(Span),
}

/// `A..B`, both ends included.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The lower end.
    pub low: Expr,
    /// The upper end.
    pub high: Expr,
    /// Both ends.
    pub span: Span,
}

/// `together` with its branches.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    /// The branches, in source order.
    pub branches: Vec<Branch>,
}

/// `branch` ….
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The line of the `branch`.
    pub header: Span,
    /// Its statements.
    pub body: Vec<Stmt>,
}

/// What a call calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// `do`: a library step.
    Do,
    /// `run`: a procedure.
    Run,
}

/// `do "Step" with ARGS [retry …]` and `run "Procedure" with ARGS [retry …]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Which of the two.
    pub kind: CallKind,
    /// The name of what is called.
    pub name: Text,
    /// The arguments, in source order.
    pub args: Vec<Arg>,
    /// The policy of this call.
    pub retry: Option<Retry>,
}

/// An inline step.
#[derive(Clone, Debug, PartialEq)]
pub struct InlineStep {
    /// Its name.
    pub name: Text,
    /// Its policy.
    pub retry: Option<Retry>,
    /// The text directly below the header.
    pub doc: Option<Text>,
    /// Its statements.
    pub body: Vec<Stmt>,
}

/// A line that could not be read, with what is known of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorStmt {
    /// The names in the line. One of them may be given by it, so that its uses elsewhere are no errors of their own.
    pub words: Vec<Name>,
    /// The texts in the line. One of them may be the name of a definition.
    pub texts: Vec<Text>,
    /// The line.
    pub span: Span,
    /// The block below it.
    pub body: Vec<Stmt>,
}

/// `retry [N times] [every D] [for D]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    /// `N times`.
    pub times: Option<Count>,
    /// `every D`.
    pub every: Option<Duration>,
    /// `for D`.
    pub total: Option<Duration>,
    /// The keyword alone.
    pub keyword: Span,
    /// The whole clause, `retry` to its end.
    pub span: Span,
}

/// A whole number that says how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The number; `None` where something else stands, which has been reported.
    pub value: Option<u64>,
    /// The number alone.
    pub span: Span,
}

/// A duration that a statement asks for: always a literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duration {
    /// Nanoseconds, 0 to 365 d; `None` where something else stands, which has been reported.
    pub nanos: Option<i64>,
    /// As written.
    pub span: Span,
}
