//! `procedure::unreachable`: statements behind a `fail`.

use super::Subject;
use crate::{
    diagnostics::{Code, Diagnostic},
    tree::{Stmt, StmtKind},
};

pub(super) static CODE: Code = Code::warning("procedure::unreachable", "a statement can never be reached");

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    for block in subject.definition.blocks() {
        ends(subject, block, out);
    }
}

/// Whether a block always fails before its end.
fn ends(subject: &Subject<'_>, block: &[Stmt], out: &mut Vec<Diagnostic>) -> bool {
    let mut ended: Option<&Stmt> = None;
    let mut told = false;
    for stmt in block {
        if let (Some(by), false) = (ended, told) {
            let place = subject.definition.place(stmt.span);
            let diagnostic = Diagnostic::new(&CODE, place, "this statement can never be reached");
            out.push(diagnostic.label(subject.definition.place(by.span), "the attempt always fails here"));
            told = true;
        }
        let inner: Vec<bool> = stmt.blocks().into_iter().map(|inner| ends(subject, inner, out)).collect();
        let always = match &stmt.kind {
            StmtKind::Fail(_) => true,
            StmtKind::If(_) => inner.iter().all(|ends| *ends),
            StmtKind::Repeat(_) | StmtKind::ForEach(_) => inner.iter().any(|ends| *ends),
            _ => false,
        };
        if always && ended.is_none() {
            ended = Some(stmt);
        }
    }
    ended.is_some()
}
