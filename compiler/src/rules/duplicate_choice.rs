//! `procedure::duplicate-choice`: two choices of one question read the same.

use std::collections::BTreeMap;

use stellar_grammar::ast::StmtKind;

use super::{Shape, syntax};
use crate::{
    diagnostics::{Code, Diagnostic},
    source::Place,
};

pub(super) static CODE: Code = Code::error("procedure::duplicate-choice", "a question offers the same choice twice");

pub(super) fn check(shape: &Shape<'_>, out: &mut Vec<Diagnostic>) {
    syntax::statements(shape, &mut |stmt, _| {
        let StmtKind::Ask(ask) = &stmt.kind else { return };
        let mut first = BTreeMap::new();
        for choice in &ask.choices {
            let place = Place::new(shape.file, choice.span);
            if let Some(before) = first.get(choice.value.as_str()) {
                let message = format!("`{}` is offered twice", choice.value);
                out.push(Diagnostic::new(&CODE, place, message).label(*before, "first here"));
            } else {
                first.insert(choice.value.as_str(), place);
            }
        }
    });
}
