//! The critical path of a definition: which statements make its maximum duration.
//!
//! Of an `if` and of a `together` only the longest part is on it. A called definition is opened where it is met first;
//! further calls of it are one line, so that the path is no longer than the texts.

use std::collections::BTreeSet;

use stellar_grammar::Span;

use super::Figures;
use crate::{
    catalogue::Catalogue,
    source::Place,
    tree::{Definition, DefinitionId, Sequence, Stmt, StmtKind},
};

/// A line of the critical path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// How deep it is nested.
    pub depth: usize,
    /// The text of the statement.
    pub place: Place,
    /// What it lasts at most, all its turns and attempts together.
    pub ns: i64,
    /// Turns or attempts, where there can be several.
    pub times: u64,
}

/// Deepest chain of calls that is opened.
const DEEPEST: usize = 64;

/// The critical path of a definition, in the order of execution: what takes time. Empty where a figure is unknown.
#[must_use]
pub fn critical_path(
    definitions: &[Definition],
    figures: &[Figures],
    catalogue: &Catalogue,
    id: DefinitionId,
) -> Vec<Link> {
    let mut walk = Path { definitions, figures, catalogue, opened: BTreeSet::new(), links: Vec::new() };
    walk.definition(id, 0);
    walk.links
}

struct Path<'a> {
    definitions: &'a [Definition],
    figures: &'a [Figures],
    catalogue: &'a Catalogue,
    opened: BTreeSet<DefinitionId>,
    links: Vec<Link>,
}

#[derive(Clone, Copy)]
struct Here<'a> {
    definition: &'a Definition,
    figures: &'a Figures,
}

impl<'a> Path<'a> {
    fn definition(&mut self, id: DefinitionId, depth: usize) {
        let (Some(definition), Some(figures)) = (self.definitions.get(id), self.figures.get(id)) else { return };
        if depth > DEEPEST || figures.claims.is_none() || !self.opened.insert(id) {
            return;
        }
        let here = Here { definition, figures };
        for block in definition.blocks() {
            self.block(here, block, depth);
        }
    }

    fn block(&mut self, here: Here<'a>, block: &'a [Stmt], depth: usize) {
        for stmt in block {
            let ns = self.lasts(here, stmt);
            if ns > 0 {
                self.stmt(here, stmt, ns, depth);
            }
        }
    }

    fn stmt(&mut self, here: Here<'a>, stmt: &'a Stmt, ns: i64, depth: usize) {
        let deeper = depth.saturating_add(1);
        match &stmt.kind {
            StmtKind::If(it) => {
                let then = self.block_lasts(here, &it.then);
                let longer = if then < ns { &it.otherwise } else { &it.then };
                self.push(here, stmt.span, ns, 1, depth);
                self.block(here, longer, deeper);
            }
            StmtKind::Together(branches) => {
                self.push(here, stmt.span, ns, 1, depth);
                if let Some(longest) = branches.iter().find(|branch| self.block_lasts(here, &branch.body) == ns) {
                    self.block(here, &longest.body, deeper);
                }
            }
            StmtKind::Repeat(it) => {
                self.push(here, stmt.span, ns, it.times.map_or(1, u64::from), depth);
                self.block(here, &it.body, deeper);
            }
            StmtKind::ForEach(it) => {
                self.push(here, stmt.span, ns, it.over.as_ref().and_then(Sequence::turns).unwrap_or(1), depth);
                self.block(here, &it.body, deeper);
            }
            StmtKind::Call(call) => {
                self.push(here, stmt.span, ns, attempts(here, stmt), depth);
                if let Some(id) = call.callee {
                    self.definition(id, deeper);
                }
            }
            StmtKind::Step(step) => {
                self.push(here, stmt.span, ns, attempts(here, stmt), depth);
                self.block(here, &step.body, deeper);
            }
            _ => self.push(here, stmt.span, ns, 1, depth),
        }
    }

    fn push(&mut self, here: Here<'_>, span: Span, ns: i64, times: u64, depth: usize) {
        self.links.push(Link { depth, place: here.definition.place(span), ns, times });
    }

    fn block_lasts(&self, here: Here<'_>, block: &[Stmt]) -> i64 {
        block.iter().fold(0, |sum: i64, stmt| sum.saturating_add(self.lasts(here, stmt)))
    }

    /// What a statement lasts at most; the figures are known to be within their limits.
    fn lasts(&self, here: Here<'_>, stmt: &Stmt) -> i64 {
        match &stmt.kind {
            StmtKind::Send(send) => {
                super::telecommand(self.catalogue, send.telecommand).map_or(0, |it| it.verify.window)
            }
            StmtKind::Transfer(it) => it.within.unwrap_or(0),
            StmtKind::Expect(it) => it.within.unwrap_or(0),
            StmtKind::Wait(ns) => ns.unwrap_or(0),
            StmtKind::WaitUntil(it) | StmtKind::WaitTime(it) => it.within.unwrap_or(0),
            StmtKind::Ask(it) => it.within.unwrap_or(0),
            StmtKind::If(it) => self.block_lasts(here, &it.then).max(self.block_lasts(here, &it.otherwise)),
            StmtKind::Repeat(it) => self.block_lasts(here, &it.body).saturating_mul(it.times.map_or(1, i64::from)),
            StmtKind::ForEach(it) => {
                let turns = it.over.as_ref().and_then(Sequence::turns).and_then(|turns| i64::try_from(turns).ok());
                self.block_lasts(here, &it.body).saturating_mul(turns.unwrap_or(1))
            }
            StmtKind::Together(branches) => {
                branches.iter().map(|branch| self.block_lasts(here, &branch.body)).max().unwrap_or(0)
            }
            StmtKind::Call(_) | StmtKind::Step(_) => {
                here.figures.part(stmt.keyword).and_then(|part| part.claims).map_or(0, |claims| claims.max)
            }
            StmtKind::Check(_) | StmtKind::Note(_) | StmtKind::Let(_) | StmtKind::Fail(_) | StmtKind::Poison(_) => 0,
        }
    }
}

fn attempts(here: Here<'_>, stmt: &Stmt) -> u64 {
    here.figures.part(stmt.keyword).and_then(|part| part.claims).map_or(1, |claims| claims.attempts_max)
}
