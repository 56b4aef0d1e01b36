//! `procedure::window-below-period`: a window shorter than the period of a parameter that it judges can end without a
//! single sample.

use std::collections::BTreeSet;

use stellar_vm::time::duration_text;

use super::Subject;
use crate::{
    diagnostics::{Code, Diagnostic},
    expr::Typed,
    tree::{Stmt, StmtKind, walk},
};

pub(super) static CODE: Code =
    Code::warning("procedure::window-below-period", "a window is shorter than the period of a parameter that it reads");

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    for block in subject.definition.blocks() {
        walk(block, &mut |stmt| match &stmt.kind {
            StmtKind::Expect(it) => window(subject, stmt, it.condition.as_ref(), it.within, out),
            StmtKind::WaitUntil(it) => window(subject, stmt, it.until.as_ref(), it.within, out),
            _ => {}
        });
    }
}

fn window(
    subject: &Subject<'_>,
    stmt: &Stmt,
    condition: Option<&Typed>,
    within: Option<i64>,
    out: &mut Vec<Diagnostic>,
) {
    let Some((condition, within)) = condition.zip(within) else { return };
    let mut told = BTreeSet::new();
    for read in condition.reads() {
        let platform = subject.world.catalogue.get(read.platform);
        let Some(parameter) = platform.and_then(|platform| platform.parameter_at(read.parameter)) else { continue };
        let Some(period) = parameter.period.filter(|period| within < *period) else { continue };
        if !told.insert((read.platform, read.parameter)) {
            continue;
        }
        let message = format!(
            "`{}` comes every {}, and this waits for {}: it can end without a sample",
            parameter.name,
            duration_text(period),
            duration_text(within)
        );
        let diagnostic = Diagnostic::new(&CODE, subject.definition.place(stmt.span), message);
        out.push(diagnostic.label(subject.definition.place(read.span), "read here"));
    }
}
