//! The typed tree: what the texts mean, before it becomes code.
//!
//! Made by [`crate::resolve`], read by the rules, the bounds and the lowering. Names are places in tables here, types
//! are known, durations are nanoseconds. What was wrong and has been reported is missing (`None`) or
//! [`StmtKind::Poison`]; nobody who reads the tree reports it again, and a tree with such holes is never lowered.

use std::{collections::BTreeSet, sync::Arc};

use stellar_grammar::{Span, ast};
use stellar_vm::program::Kind;

use crate::{
    expr::{Constant, Typed},
    source::{FileId, Place},
    types::Type,
};

/// Number of a definition: its place in [`crate::pipeline::Checked`]'s list, sorted by kind and name.
pub type DefinitionId = usize;
/// Number of a local of a definition, inputs first.
pub type LocalId = usize;
/// Number of a target of a definition, in the order of its `uses`.
pub type TargetId = usize;

/// A step or procedure.
#[derive(Debug)]
pub struct Definition {
    /// Step or procedure.
    pub kind: Kind,
    /// Its name.
    pub name: Arc<str>,
    /// Where its name stands.
    pub name_place: Place,
    /// Its file.
    pub file: FileId,
    /// Its header, first token to last.
    pub header: Span,
    /// The first word of its header.
    pub keyword: Span,
    /// The header and all that belongs to it.
    pub span: Span,
    /// Whether something in it has no known meaning: then what seems to be missing may be there.
    pub faulty: bool,
    /// The policy on its header.
    pub retry: Option<ast::Retry>,
    /// Its documentation.
    pub doc: Option<Arc<str>>,
    /// Its targets.
    pub targets: Vec<Target>,
    /// Its inputs, the first locals.
    pub inputs: Vec<Input>,
    /// Its names, inputs included.
    pub locals: Vec<Local>,
    /// Its statements.
    pub body: Block,
    /// Its `on failure` block.
    pub on_failure: Option<Block>,
    /// The header of that.
    pub on_failure_header: Span,
    /// The names that something uses, rightly or wrongly.
    pub used_locals: BTreeSet<LocalId>,
    /// The targets that something uses, rightly or wrongly.
    pub used_targets: BTreeSet<TargetId>,
    /// Words that stand in lines which could not be read: what they use is not known, nothing is said of it.
    pub unread: BTreeSet<Arc<str>>,
}

impl Definition {
    /// A place in its file.
    #[must_use]
    pub const fn place(&self, span: Span) -> Place {
        Place::new(self.file, span)
    }

    /// Its blocks: the body, then `on failure`.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        std::iter::once(&self.body).chain(self.on_failure.as_ref())
    }
}

/// A `uses` line.
#[derive(Debug)]
pub struct Target {
    /// Its name in the definition.
    pub name: Arc<str>,
    /// Where that stands.
    pub span: Span,
    /// Its platform, by its place in the catalogue.
    pub platform: Option<u32>,
}

/// An `input` line.
#[derive(Debug)]
pub struct Input {
    /// Its default.
    pub default: Option<Constant>,
    /// Whether a default was written, right or wrong.
    pub has_default: bool,
}

/// A name that keeps a value.
#[derive(Debug)]
pub struct Local {
    /// As written.
    pub name: Arc<str>,
    /// Where it is given.
    pub span: Span,
    /// Its type; `None` after an error.
    pub ty: Option<Type>,
    /// What gives it.
    pub given_by: GivenBy,
}

/// What gives a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenBy {
    /// `input`.
    Input,
    /// `let`.
    Let,
    /// `for each`.
    ForEach,
    /// `ask … as`.
    Ask,
}

/// Statements, one after the other.
pub type Block = Vec<Stmt>;

/// A statement.
#[derive(Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Its first word.
    pub keyword: Span,
    /// Its own text: the whole statement, or its header.
    pub span: Span,
}

/// What a statement does.
#[derive(Debug)]
pub enum StmtKind {
    /// `send`.
    Send(Box<Send>),
    /// `expect`.
    Expect(Expect),
    /// `check`.
    Check(Option<Typed>),
    /// `wait until COND`.
    WaitUntil(Until),
    /// `wait until TIME`.
    WaitTime(Until),
    /// `wait D`.
    Wait(Option<i64>),
    /// `ask`.
    Ask(Ask),
    /// `transfer`.
    Transfer(Box<Transfer>),
    /// `note`.
    Note(Vec<Piece>),
    /// `let`.
    Let(Let),
    /// `fail`.
    Fail(Arc<str>),
    /// `if`.
    If(Box<If>),
    /// `repeat`.
    Repeat(Repeat),
    /// `for each`.
    ForEach(ForEach),
    /// `together`, with its branches.
    Together(Vec<Branch>),
    /// `do` and `run`.
    Call(Box<Call>),
    /// An inline `step`.
    Step(Box<InlineStep>),
    /// Something that was reported; what stands in its block, if anything.
    Poison(Block),
}

/// `send`.
#[derive(Debug)]
pub struct Send {
    /// The target.
    pub target: Option<TargetId>,
    /// The platform and the telecommand in it.
    pub telecommand: Option<(u32, u32)>,
    /// Index of the component, where it has one.
    pub index: Option<Typed>,
    /// Values of the arguments, in the order of the catalogue; `None` where the default or fixed value is taken.
    pub args: Vec<Option<Typed>>,
    /// The route, in the platform.
    pub route: Option<u32>,
}

/// `expect`.
#[derive(Debug)]
pub struct Expect {
    /// What is expected.
    pub condition: Option<Typed>,
    /// `held for`.
    pub held: Option<ast::Duration>,
    /// The limit.
    pub within: Option<i64>,
}

/// `wait until`.
#[derive(Debug)]
pub struct Until {
    /// The condition or the time.
    pub until: Option<Typed>,
    /// The limit.
    pub within: Option<i64>,
}

/// `ask`.
#[derive(Debug)]
pub struct Ask {
    /// The question.
    pub text: Arc<str>,
    /// The choices; empty for yes or no.
    pub choices: Vec<Arc<str>>,
    /// The limit.
    pub within: Option<i64>,
    /// The name that keeps the choice.
    pub local: Option<LocalId>,
}

/// `transfer`.
#[derive(Debug)]
pub struct Transfer {
    /// The file.
    pub file: Arc<str>,
    /// The target.
    pub target: Option<TargetId>,
    /// The component, in the platform.
    pub component: Option<(u32, u32)>,
    /// Its index, where it has one.
    pub index: Option<Typed>,
    /// The limit.
    pub within: Option<i64>,
}

/// A piece of a note.
#[derive(Debug)]
pub enum Piece {
    /// Words.
    Words(Arc<str>),
    /// The value of a name.
    Local(LocalId),
}

/// `let`.
#[derive(Debug)]
pub struct Let {
    /// The name.
    pub local: LocalId,
    /// The value.
    pub value: Option<Typed>,
}

/// `if`.
#[derive(Debug)]
pub struct If {
    /// What is judged.
    pub condition: Option<Typed>,
    /// Where it is true.
    pub then: Block,
    /// Where it is false.
    pub otherwise: Block,
    /// The line of the `else`, if there is one.
    pub otherwise_header: Option<Span>,
}

/// `repeat`.
#[derive(Debug)]
pub struct Repeat {
    /// How often.
    pub times: Option<u32>,
    /// What.
    pub body: Block,
}

/// `for each`.
#[derive(Debug)]
pub struct ForEach {
    /// The name of the value of each turn.
    pub local: LocalId,
    /// The values.
    pub over: Option<Sequence>,
    /// What.
    pub body: Block,
}

/// The values of a `for each`, one or more.
#[derive(Debug)]
pub enum Sequence {
    /// `A..B`, both included.
    Range(i64, i64),
    /// `[A, B, …]`, all of one type.
    List(Vec<Constant>),
}

impl Sequence {
    /// How many they are; of the one range that has 2^64, one less, which is as much too many. `None` where the range is
    /// the wrong way round.
    #[must_use]
    pub fn turns(&self) -> Option<u64> {
        match self {
            Self::Range(low, high) => (low <= high).then(|| high.abs_diff(*low).saturating_add(1)),
            Self::List(items) => u64::try_from(items.len()).ok(),
        }
    }
}

/// A branch of a `together`.
#[derive(Debug)]
pub struct Branch {
    /// Its header.
    pub header: Span,
    /// Its statements.
    pub body: Block,
}

/// `do` and `run`.
#[derive(Debug)]
pub struct Call {
    /// Which of the two.
    pub kind: Kind,
    /// What is called.
    pub callee: Option<DefinitionId>,
    /// Its name.
    pub name: Arc<str>,
    /// Where that stands.
    pub name_span: Span,
    /// The caller's targets, in the callee's order.
    pub targets: Vec<Option<TargetId>>,
    /// The inputs, in the callee's order; `None` where the default is taken.
    pub inputs: Vec<Option<Typed>>,
    /// The policy of this call.
    pub retry: Option<ast::Retry>,
}

/// An inline step.
#[derive(Debug)]
pub struct InlineStep {
    /// Its name.
    pub name: Arc<str>,
    /// Its policy.
    pub retry: Option<ast::Retry>,
    /// Its statements.
    pub body: Block,
}

impl Stmt {
    /// The blocks that stand in it.
    #[must_use]
    pub fn blocks(&self) -> Vec<&Block> {
        match &self.kind {
            StmtKind::If(it) => vec![&it.then, &it.otherwise],
            StmtKind::Repeat(it) => vec![&it.body],
            StmtKind::ForEach(it) => vec![&it.body],
            StmtKind::Together(branches) => branches.iter().map(|branch| &branch.body).collect(),
            StmtKind::Step(it) => vec![&it.body],
            StmtKind::Poison(body) => vec![body],
            _ => Vec::new(),
        }
    }
}

/// Calls `visit` with every statement of a block and of the blocks in it, in source order.
pub fn walk<'a>(block: &'a Block, visit: &mut impl FnMut(&'a Stmt)) {
    for stmt in block {
        visit(stmt);
        for inner in stmt.blocks() {
            walk(inner, visit);
        }
    }
}
