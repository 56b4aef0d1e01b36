//! The program model of the oracle: its own tree, which is printed for the compiler and interpreted by the reference.

use std::collections::BTreeMap;

/// Nanoseconds.
pub(super) type Ns = i64;
pub(super) const MS: Ns = 1_000_000;
pub(super) const S: Ns = 1_000 * MS;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ty {
    Bool,
    Int(Option<(i64, i64)>),
    Float(Option<&'static str>, Option<(f64, f64)>),
    Str,
    Duration,
    Time,
    /// By its place in [`Catalogue::enums`].
    Enum(usize),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    Duration(Ns),
    Time(Ns),
    Label(usize, usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Accepted,
    Started,
    Completed,
}

#[derive(Debug, Clone)]
pub(super) struct Component {
    pub(super) name: &'static str,
    pub(super) index: Option<(i64, i64)>,
}

#[derive(Debug, Clone)]
pub(super) struct Param {
    pub(super) component: usize,
    pub(super) name: &'static str,
    pub(super) ty: Ty,
    /// `None` is `on-change`.
    pub(super) freshness: Option<Ns>,
    /// Whether samples can be invalid.
    pub(super) valid_when: Option<&'static str>,
}

#[derive(Debug, Clone)]
pub(super) struct Arg {
    pub(super) name: &'static str,
    pub(super) ty: Ty,
    pub(super) default: Option<Value>,
    pub(super) fixed: Option<Value>,
}

#[derive(Debug, Clone)]
pub(super) struct Telecommand {
    pub(super) component: usize,
    pub(super) name: &'static str,
    pub(super) changes: bool,
    pub(super) hazardous: bool,
    pub(super) args: Vec<Arg>,
    pub(super) requires: Option<Expr>,
    pub(super) window: Ns,
    pub(super) stages: Vec<(Stage, Ns)>,
    pub(super) until: Option<Expr>,
    /// What stands under `verify`, conditions apart.
    pub(super) verify: String,
}

/// One enumeration: its name and its labels.
pub(super) type Labels = (&'static str, Vec<&'static str>);

#[derive(Debug, Clone)]
pub(super) struct Catalogue {
    pub(super) enums: Vec<Labels>,
    pub(super) components: Vec<Component>,
    pub(super) params: Vec<Param>,
    pub(super) telecommands: Vec<Telecommand>,
}

#[derive(Debug, Clone)]
pub(super) struct Read {
    /// Place of the `uses` name; 0 in a condition of the catalogue.
    pub(super) target: usize,
    pub(super) param: usize,
    /// Where the component is an array; in a condition of the catalogue `None` is the own instance.
    pub(super) index: Option<Box<Expr>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cmp {
    Is,
    IsNot,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Calc {
    Add,
    Sub,
    Mul,
    Div,
}

#[derive(Debug, Clone)]
pub(super) enum Expr {
    /// A value and how it is written.
    Literal(Value, String),
    /// A name of the definition.
    Name(usize),
    Read(Read),
    Known(Read),
    Not(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Compare(Cmp, Box<Expr>, Box<Expr>),
    Between(Box<Expr>, Box<Expr>, Box<Expr>),
    OneOf(Box<Expr>, Vec<Expr>),
    Near(Box<Expr>, Box<Expr>, Box<Expr>),
    Calc(Calc, Box<Expr>, Box<Expr>),
}

impl Expr {
    /// Calls `visit` with every part.
    pub(super) fn visit(&self, visit: &mut dyn FnMut(&Self)) {
        visit(self);
        match self {
            Self::Literal(..) | Self::Name(_) => {}
            Self::Read(read) | Self::Known(read) => {
                if let Some(index) = &read.index {
                    index.visit(visit);
                }
            }
            Self::Not(a) => a.visit(visit),
            Self::And(all) | Self::Or(all) => all.iter().for_each(|one| one.visit(visit)),
            Self::Compare(_, a, b) | Self::Calc(_, a, b) => {
                a.visit(visit);
                b.visit(visit);
            }
            Self::Between(a, b, c) | Self::Near(a, b, c) => {
                a.visit(visit);
                b.visit(visit);
                c.visit(visit);
            }
            Self::OneOf(a, all) => {
                a.visit(visit);
                all.iter().for_each(|one| one.visit(visit));
            }
        }
    }

    pub(super) fn reads_telemetry(&self) -> bool {
        let mut reads = false;
        self.visit(&mut |part| reads |= matches!(part, Self::Read(_) | Self::Known(_)));
        reads
    }

    /// Whether it can be without a value: it reads telemetry, or computes with what is no constant.
    pub(super) fn can_fail(&self) -> bool {
        let mut fails = self.reads_telemetry();
        self.visit(&mut |part| fails |= matches!(part, Self::Calc(..) | Self::Near(..)) && !part.is_constant());
        fails
    }

    fn is_constant(&self) -> bool {
        let mut constant = true;
        self.visit(&mut |part| constant &= !matches!(part, Self::Name(_) | Self::Read(_) | Self::Known(_)));
        constant
    }
}

/// A text with names in it.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Text(String),
    Name(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Policy {
    pub(super) times: Option<u32>,
    pub(super) every: Option<Ns>,
    pub(super) total: Option<Ns>,
}

#[derive(Debug, Clone)]
pub(super) struct Stmt {
    /// Line, from 1, and text on one line; the printer fills both in.
    pub(super) line: u32,
    pub(super) text: String,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone)]
pub(super) struct Send {
    pub(super) telecommand: usize,
    pub(super) target: usize,
    pub(super) index: Option<Expr>,
    pub(super) args: Vec<Option<Expr>>,
    pub(super) route: Option<&'static str>,
}

#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) text: String,
    pub(super) choices: Vec<&'static str>,
    pub(super) within: Ns,
    pub(super) name: Option<usize>,
}

#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) def: usize,
    pub(super) targets: Vec<usize>,
    pub(super) inputs: Vec<Option<Expr>>,
    pub(super) by_name: bool,
    pub(super) policy: Option<Policy>,
}

#[derive(Debug, Clone)]
pub(super) enum Over {
    Range(i64, i64),
    List(Vec<(Value, String)>),
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Send(Send),
    Expect { cond: Expr, held: Option<Ns>, within: Ns },
    Check(Expr),
    WaitUntil { cond: Expr, within: Ns },
    Wait(Ns),
    WaitTime { time: Expr, within: Ns },
    Ask(Ask),
    Transfer { file: String, target: usize, component: usize, index: Option<Expr>, within: Ns },
    Note(Vec<Part>),
    Let { name: usize, value: Expr },
    Fail(String),
    If { cond: Expr, then: Vec<Stmt>, other: Vec<Stmt> },
    Repeat { times: u32, body: Vec<Stmt> },
    ForEach { name: usize, over: Over, body: Vec<Stmt> },
    Together(Vec<Vec<Stmt>>),
    Do(Call),
    Run(Call),
    Step { name: String, policy: Option<Policy>, body: Vec<Stmt> },
}

#[derive(Debug, Clone)]
pub(super) struct Input {
    pub(super) name: usize,
    pub(super) default: Option<(Value, String)>,
}

#[derive(Debug, Clone)]
pub(super) struct Def {
    pub(super) is_step: bool,
    pub(super) title: String,
    pub(super) targets: Vec<&'static str>,
    pub(super) inputs: Vec<Input>,
    /// Every name of the definition with its type.
    pub(super) names: Vec<(String, Ty)>,
    pub(super) policy: Option<Policy>,
    pub(super) body: Vec<Stmt>,
    pub(super) on_failure: Option<Vec<Stmt>>,
}

#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) catalogue: Catalogue,
    pub(super) defs: Vec<Def>,
    /// The procedure that is run.
    pub(super) entry: usize,
    pub(super) default_retry: Option<Policy>,
    /// The value of each input of the run.
    pub(super) inputs: BTreeMap<String, Value>,
}

pub(super) const FILE: &str = "procedures/all.proc";
pub(super) const PLATFORM: &str = "craft";
