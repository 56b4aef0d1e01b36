//! `procedure::answer-without-choices`: a question that yes or no answers fails on no, so its answer needs no name.

use stellar_grammar::ast::StmtKind;

use super::{Shape, syntax};
use crate::{
    diagnostics::{Code, Diagnostic},
    source::Place,
};

pub(super) static CODE: Code =
    Code::error("procedure::answer-without-choices", "a yes/no question keeps its answer under a name");

pub(super) fn check(shape: &Shape<'_>, out: &mut Vec<Diagnostic>) {
    syntax::statements(shape, &mut |stmt, _| {
        let StmtKind::Ask(ask) = &stmt.kind else { return };
        let Some(name) = &ask.name else { return };
        if ask.choices.is_empty() {
            let message = format!("`{}` would always be yes: a question without choices fails on no", name.text);
            out.push(
                Diagnostic::new(&CODE, Place::new(shape.file, name.span), message)
                    .help("name the choices: `of \"A\", \"B\"` before `within`"),
            );
        }
    });
}
