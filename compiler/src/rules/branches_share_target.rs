//! `procedure::branches-share-target`: two branches that both change the state of one target would command it in an
//! order that nobody wrote.

use std::collections::{BTreeMap, BTreeSet};

use stellar_grammar::Span;

use super::{Subject, World};
use crate::{
    diagnostics::{Code, Diagnostic},
    tree::{Definition, Stmt, StmtKind, TargetId, walk},
};

pub(super) static CODE: Code = Code::error(
    "procedure::branches-share-target",
    "two branches of a `together` both send state-changing telecommands to one target",
);

/// The targets of a definition that get state-changing telecommands.
pub(super) fn commanded(world: &World<'_>, definition: &Definition) -> BTreeSet<TargetId> {
    let mut targets = BTreeSet::new();
    for block in definition.blocks() {
        walk(block, &mut |stmt| targets.extend(of_statement(world, stmt)));
    }
    targets
}

/// The targets that a statement itself commands.
fn of_statement(world: &World<'_>, stmt: &Stmt) -> Vec<TargetId> {
    match &stmt.kind {
        StmtKind::Send(send) if world.telecommand(send).is_some_and(|found| found.changes_state) => {
            send.target.into_iter().collect()
        }
        StmtKind::Transfer(transfer) => transfer.target.into_iter().collect(),
        StmtKind::Call(call) => {
            let Some(inner) = call.callee.and_then(|id| world.commanded.get(id)) else { return Vec::new() };
            inner.iter().filter_map(|target| call.targets.get(*target).copied().flatten()).collect()
        }
        _ => Vec::new(),
    }
}

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    for block in subject.definition.blocks() {
        walk(block, &mut |stmt| {
            if let StmtKind::Together(branches) = &stmt.kind {
                let blocks = branches.iter().map(|branch| first_commands(subject.world, &branch.body));
                clashes(subject, blocks, out);
            }
        });
    }
}

/// The first statement of a branch that commands each target.
fn first_commands(world: &World<'_>, body: &Vec<Stmt>) -> BTreeMap<TargetId, Span> {
    let mut first = BTreeMap::new();
    walk(body, &mut |stmt| {
        for target in of_statement(world, stmt) {
            first.entry(target).or_insert(stmt.span);
        }
    });
    first
}

fn clashes(subject: &Subject<'_>, branches: impl Iterator<Item = BTreeMap<TargetId, Span>>, out: &mut Vec<Diagnostic>) {
    let definition = subject.definition;
    let mut seen: BTreeMap<TargetId, Span> = BTreeMap::new();
    for branch in branches {
        for (target, span) in branch {
            let Some(before) = seen.get(&target) else {
                seen.insert(target, span);
                continue;
            };
            let name = definition.targets.get(target).map_or("", |target| &target.name);
            let message = format!("two branches change the state of `{name}`, side by side");
            out.push(
                Diagnostic::new(&CODE, definition.place(span), message)
                    .label(definition.place(*before), "an earlier branch does here")
                    .help("put what commands one target into one branch"),
            );
        }
    }
}
