//! Walking the syntax tree, for rules that need nothing else.

use stellar_grammar::ast::{self, DefinitionKind, Retry, Stmt, StmtKind};

use super::Shape;

/// Where a statement stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Within {
    /// In a step, library or inline.
    Step,
    /// Directly in a procedure.
    Procedure,
    /// Below a line that could not be read: either may be meant.
    Unread,
}

/// Calls `visit` with every statement of a definition, in source order.
pub(super) fn statements<'a>(shape: &Shape<'a>, visit: &mut impl FnMut(&'a Stmt, Within)) {
    let within = match shape.definition.kind {
        DefinitionKind::Step => Within::Step,
        DefinitionKind::Procedure => Within::Procedure,
    };
    block(&shape.definition.body, within, visit);
    if let Some(on_failure) = &shape.definition.on_failure {
        block(&on_failure.body, within, visit);
    }
}

fn block<'a>(body: &'a [Stmt], within: Within, visit: &mut impl FnMut(&'a Stmt, Within)) {
    for stmt in body {
        visit(stmt, within);
        match &stmt.kind {
            StmtKind::If(it) => {
                block(&it.then, within, visit);
                if let Some(otherwise) = &it.otherwise {
                    block(&otherwise.body, within, visit);
                }
            }
            StmtKind::Repeat(it) => block(&it.body, within, visit),
            StmtKind::ForEach(it) => block(&it.body, within, visit),
            StmtKind::Together(it) => {
                for branch in &it.branches {
                    block(&branch.body, within, visit);
                }
            }
            StmtKind::Step(it) => block(&it.body, Within::Step, visit),
            StmtKind::Error(it) => block(&it.body, Within::Unread, visit),
            _ => {}
        }
    }
}

/// Every `retry` clause of a definition, in source order.
pub(super) fn retries<'a>(shape: &Shape<'a>, visit: &mut impl FnMut(&'a Retry)) {
    if let Some(retry) = &shape.definition.retry {
        visit(retry);
    }
    statements(shape, &mut |stmt, _| {
        let retry = match &stmt.kind {
            StmtKind::Call(ast::Call { retry, .. }) | StmtKind::Step(ast::InlineStep { retry, .. }) => retry,
            _ => return,
        };
        if let Some(retry) = retry {
            visit(retry);
        }
    });
}
