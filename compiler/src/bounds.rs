//! How long, how often, how many: the figures of every definition, call and step, on the typed tree.
//!
//! The formulas of retry policies are [`stellar_vm::bounds`]'; the verifier applies them to the bytecode and must come to
//! the same figures. Definitions are worked through callees first, so that each is looked at once. What was reported is
//! unknown here and makes everything above it unknown; a limit passed is told once, where it is passed.

use std::collections::BTreeMap;

use stellar_grammar::{Span, ast};
use stellar_vm::{
    bounds::{self, OverLimit},
    catalogue::Telecommand,
    program::{Claims, Kind, Policy},
};

use crate::{
    catalogue::Catalogue,
    policy::{self, Given, Unknown},
    sure::is_sure,
    tree::{Call, Definition, DefinitionId, InlineStep, Sequence, Stmt, StmtKind},
};

mod critical;

pub use critical::{Link, critical_path};

/// Whether something changes the on-board state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Changes {
    /// No telecommand in its call tree does.
    #[default]
    No,
    /// It depends on something that was reported.
    Unknown,
    /// One does.
    Yes,
}

/// How long and how many statements, at most; `None` where unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Nanoseconds.
    pub ns: Option<i64>,
    /// Statements.
    pub statements: Option<u64>,
}

impl Cost {
    const NOTHING: Self = Self { ns: Some(0), statements: Some(0) };
    const UNKNOWN: Self = Self { ns: None, statements: None };

    const fn statement(ns: Option<i64>) -> Self {
        Self { ns, statements: Some(1) }
    }

    /// The greater of both, figure by figure.
    fn or(self, other: Self) -> Self {
        Self {
            ns: self.ns.zip(other.ns).map(|(a, b)| a.max(b)),
            statements: self.statements.zip(other.statements).map(|(a, b)| a.max(b)),
        }
    }
}

/// The figures of a call, an inline step, or a statement that is a step of its own.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// Whether it changes the on-board state.
    pub changes: Changes,
    /// One attempt.
    pub one: Cost,
    /// The policy that applies, and where it comes from.
    pub policy: Option<(Policy, policy::From)>,
    /// What the artifact says of it; `None` where something is unknown.
    pub claims: Option<Claims>,
}

/// The figures of a definition.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// Whether it changes the on-board state.
    pub changes: Changes,
    /// One attempt, `on failure` included.
    pub one: Cost,
    /// The part of it that is `on failure`.
    pub on_failure: Option<i64>,
    /// What the artifact says of it; `None` where something is unknown.
    pub claims: Option<Claims>,
    /// The policy on its header.
    pub own: Given,
    /// Its calls and steps, by the offset of their keyword.
    pub parts: BTreeMap<usize, Part>,
    /// Limits that are passed in it, and where.
    pub over: Vec<(OverLimit, Span)>,
}

impl Figures {
    /// The figures of the call or step that begins with `keyword`.
    #[must_use]
    pub fn part(&self, keyword: Span) -> Option<&Part> {
        self.parts.get(&keyword.start)
    }
}

/// The figures of all definitions; `order` names callees before their callers and leaves out what calls itself.
#[must_use]
pub fn figures(
    definitions: &[Definition],
    order: &[DefinitionId],
    catalogue: &Catalogue,
    default: Option<Policy>,
) -> Vec<Figures> {
    let unknown = || Figures { changes: Changes::Unknown, own: Given::Broken, ..Figures::default() };
    let mut all: Vec<Figures> = definitions.iter().map(|_| unknown()).collect();
    for id in order {
        let Some(definition) = definitions.get(*id) else { continue };
        let walk = Walk { known: &all, catalogue, default, figures: Figures::default() };
        let figures = walk.definition(definition);
        if let Some(slot) = all.get_mut(*id) {
            *slot = figures;
        }
    }
    all
}

struct Walk<'a> {
    known: &'a [Figures],
    catalogue: &'a Catalogue,
    default: Option<Policy>,
    figures: Figures,
}

/// What a statement or block comes to.
#[derive(Clone, Copy, Default)]
struct Sum {
    cost: Cost,
    changes: Changes,
}

impl Walk<'_> {
    fn definition(mut self, definition: &Definition) -> Figures {
        let in_step = definition.kind == Kind::Step;
        let body = self.body(&definition.body, in_step);
        let on_failure = definition.on_failure.as_ref().map(|block| self.body(block, in_step));
        let failure = on_failure.map_or(Sum { cost: Cost::NOTHING, changes: Changes::No }, |sum| sum);
        let one = self.plus(body.cost, failure.cost, definition.header);
        let changes = body.changes.max(failure.changes);
        let own = Given::of(definition.retry.as_ref());
        let span = definition.retry.as_ref().map_or(definition.header, |retry| retry.span);
        let policy = match own {
            Given::Broken => Err(Unknown),
            _ => Ok(own.policy().filter(Policy::retries)),
        };
        let (max, attempts_max) = self.attempts(one.ns, changes, policy, span);
        let statements = self.repeated(0, attempts_max, one.statements, span);
        let figures = &mut self.figures;
        figures.own = own;
        figures.changes = changes;
        figures.one = one;
        figures.on_failure = failure.cost.ns;
        figures.claims = claims(changes, one.ns, failure.cost.ns, max, attempts_max, statements);
        self.figures
    }

    /// The body of an opener. One without a statement was reported (it is missing, or too deep to be read): what it
    /// would take is not known.
    fn body(&mut self, block: &[Stmt], in_step: bool) -> Sum {
        if block.is_empty() {
            return Sum { cost: Cost::UNKNOWN, changes: Changes::Unknown };
        }
        self.block(block, in_step)
    }

    fn block(&mut self, block: &[Stmt], in_step: bool) -> Sum {
        let mut sum = Sum { cost: Cost::NOTHING, changes: Changes::No };
        for stmt in block {
            let next = self.stmt(stmt, in_step);
            sum.cost = self.plus(sum.cost, next.cost, stmt.span);
            sum.changes = sum.changes.max(next.changes);
        }
        sum
    }

    fn stmt(&mut self, stmt: &Stmt, in_step: bool) -> Sum {
        let plain = |ns: Option<i64>| Sum { cost: Cost::statement(ns), changes: Changes::No };
        match &stmt.kind {
            StmtKind::Send(send) => self.send(send.telecommand),
            StmtKind::Transfer(it) => Sum { changes: Changes::Yes, ..plain(it.within) },
            StmtKind::Expect(it) => plain(it.within),
            StmtKind::Wait(ns) => plain(*ns),
            StmtKind::Note(_) | StmtKind::Fail(_) => plain(Some(0)),
            StmtKind::Check(_) => self.own_step(stmt, in_step, Some(0)),
            StmtKind::WaitUntil(it) | StmtKind::WaitTime(it) => self.own_step(stmt, in_step, it.within),
            StmtKind::Ask(it) => self.own_step(stmt, in_step, it.within),
            StmtKind::Let(it) => {
                let fails = it.value.as_ref().is_some_and(|value| !is_sure(value));
                if fails { self.own_step(stmt, in_step, Some(0)) } else { plain(Some(0)) }
            }
            StmtKind::If(it) => {
                if !in_step && it.condition.as_ref().is_some_and(|condition| !is_sure(condition)) {
                    self.judge(stmt);
                }
                let (then, otherwise) = (self.body(&it.then, in_step), self.block(&it.otherwise, in_step));
                let longer = then.cost.or(otherwise.cost);
                Sum {
                    cost: self.plus(Cost::statement(Some(0)), longer, stmt.span),
                    changes: then.changes.max(otherwise.changes),
                }
            }
            StmtKind::Repeat(it) => {
                let body = self.body(&it.body, in_step);
                self.turns(it.times.map(u64::from), body, stmt.span)
            }
            StmtKind::ForEach(it) => {
                let body = self.body(&it.body, in_step);
                self.turns(it.over.as_ref().and_then(Sequence::turns), body, stmt.span)
            }
            StmtKind::Together(branches) => {
                let mut sum = plain(Some(0));
                for branch in branches {
                    let next = self.body(&branch.body, in_step);
                    sum.cost.ns = sum.cost.ns.zip(next.cost.ns).map(|(a, b)| a.max(b));
                    let both = sum.cost.statements.zip(next.cost.statements);
                    sum.cost.statements = both.and_then(|(a, b)| self.limited(bounds::statements(a, 1, b), stmt.span));
                    sum.changes = sum.changes.max(next.changes);
                }
                sum
            }
            StmtKind::Call(call) => self.call(stmt, call),
            StmtKind::Step(step) => self.step(stmt, step),
            StmtKind::Poison(body) => {
                let body = self.block(body, in_step);
                Sum { cost: Cost::UNKNOWN, changes: body.changes.max(Changes::Unknown) }
            }
        }
    }

    fn send(&self, found: Option<(u32, u32)>) -> Sum {
        let Some(found) = telecommand(self.catalogue, found) else {
            return Sum { cost: Cost::statement(None), changes: Changes::Unknown };
        };
        let changes = if found.changes_state { Changes::Yes } else { Changes::No };
        Sum { cost: Cost::statement(Some(found.verify.window)), changes }
    }

    /// A statement that is a step of its own where it stands directly in a procedure.
    fn own_step(&mut self, stmt: &Stmt, in_step: bool, ns: Option<i64>) -> Sum {
        let one = Cost::statement(ns);
        if !in_step {
            self.without_policy(stmt, one);
        }
        Sum { cost: one, changes: Changes::No }
    }

    /// The step that judges the condition of an `if`: it counts nothing, the `if` does.
    fn judge(&mut self, stmt: &Stmt) {
        self.without_policy(stmt, Cost::NOTHING);
    }

    fn without_policy(&mut self, stmt: &Stmt, one: Cost) {
        let claims = claims(Changes::No, one.ns, Some(0), one.ns, Some(1), one.statements);
        let part = Part { changes: Changes::No, one, policy: None, claims };
        self.figures.parts.insert(stmt.keyword.start, part);
    }

    fn turns(&mut self, count: Option<u64>, body: Sum, span: Span) -> Sum {
        let ns = count.zip(body.cost.ns).and_then(|(count, ns)| self.limited(bounds::times(count, ns), span));
        let statements = self.repeated(1, count, body.cost.statements, span);
        Sum { cost: Cost { ns, statements }, changes: body.changes }
    }

    fn call(&mut self, stmt: &Stmt, call: &Call) -> Sum {
        let known = call.callee.and_then(|id| self.known.get(id));
        let changes = known.map_or(Changes::Unknown, |figures| figures.changes);
        let one = known.map_or(Cost::UNKNOWN, |figures| figures.one);
        let on_failure = known.and_then(|figures| figures.on_failure);
        let own = known.map_or(Given::Broken, |figures| figures.own);
        let retried = Retried { kind: call.kind, changes, one, on_failure, own };
        let mut sum = self.retried(stmt, retried, call.retry.as_ref());
        // An input that can fail is a step of its own before the call.
        let unsure = call.inputs.iter().flatten().filter(|input| !is_sure(input)).count();
        let unsure = u64::try_from(unsure).unwrap_or(u64::MAX);
        sum.cost.statements = self.repeated(unsure, Some(1), sum.cost.statements, stmt.span);
        sum
    }

    fn step(&mut self, stmt: &Stmt, step: &InlineStep) -> Sum {
        let body = self.body(&step.body, true);
        let own = Given::of(step.retry.as_ref());
        let retried = Retried { kind: Kind::Step, changes: body.changes, one: body.cost, on_failure: Some(0), own };
        let mut sum = self.retried(stmt, retried, None);
        sum.changes = body.changes;
        sum
    }

    fn retried(&mut self, stmt: &Stmt, it: Retried, retry: Option<&ast::Retry>) -> Sum {
        let applying = policy::applying(it.kind, it.changes, Given::of(retry), it.own, self.default);
        let policy = applying.map(|found| found.map(|(policy, _)| policy));
        let (max, attempts_max) = self.attempts(it.one.ns, it.changes, policy, stmt.span);
        let statements = self.repeated(1, attempts_max, it.one.statements, stmt.span);
        let claims = claims(it.changes, it.one.ns, it.on_failure, max, attempts_max, statements);
        let part = Part { changes: it.changes, one: it.one, policy: applying.ok().flatten(), claims };
        self.figures.parts.insert(stmt.keyword.start, part);
        Sum { cost: Cost { ns: max, statements }, changes: it.changes }
    }

    fn attempts(
        &mut self,
        one: Option<i64>,
        changes: Changes,
        policy: Result<Option<Policy>, Unknown>,
        span: Span,
    ) -> (Option<i64>, Option<u64>) {
        // A retry of what changes the on-board state is refused, so there is no figure with it.
        let refused = |policy: &Option<Policy>| policy.is_some() && changes == Changes::Yes;
        let (Some(one), Some(policy)) = (one, policy.ok().filter(|policy| !refused(policy))) else {
            return (None, None);
        };
        let max = self.limited(bounds::bound(one, policy.as_ref()), span);
        (max, Some(bounds::attempts_max(one, policy.as_ref())))
    }

    fn plus(&mut self, a: Cost, b: Cost, span: Span) -> Cost {
        let ns = a.ns.zip(b.ns).and_then(|(a, b)| self.limited(bounds::add(a, b), span));
        let statements =
            a.statements.zip(b.statements).and_then(|(a, b)| self.limited(bounds::statements(a, 1, b), span));
        Cost { ns, statements }
    }

    fn repeated(&mut self, own: u64, count: Option<u64>, each: Option<u64>, span: Span) -> Option<u64> {
        let (count, each) = count.zip(each)?;
        self.limited(bounds::statements(own, count, each), span)
    }

    /// The figure, or `None` where it passes its limit, which is noted.
    fn limited<T>(&mut self, figure: Result<T, OverLimit>, span: Span) -> Option<T> {
        match figure {
            Ok(figure) => Some(figure),
            Err(over) => {
                self.figures.over.push((over, span));
                None
            }
        }
    }
}

/// A call or an inline step, before the policy that applies to it.
struct Retried {
    kind: Kind,
    changes: Changes,
    one: Cost,
    on_failure: Option<i64>,
    own: Given,
}

/// The telecommand of a platform, by the places of both in the catalogue.
#[must_use]
pub(crate) fn telecommand(catalogue: &Catalogue, which: Option<(u32, u32)>) -> Option<&Telecommand> {
    let (platform, telecommand) = which?;
    catalogue.get(platform)?.telecommand_at(telecommand)
}

fn claims(
    changes: Changes,
    attempt: Option<i64>,
    on_failure: Option<i64>,
    max: Option<i64>,
    attempts_max: Option<u64>,
    statements: Option<u64>,
) -> Option<Claims> {
    if changes == Changes::Unknown {
        return None;
    }
    Some(Claims {
        eligible: changes == Changes::No,
        attempt: attempt?,
        on_failure: on_failure?,
        max: max?,
        attempts_max: attempts_max?,
        statements: statements?,
    })
}
