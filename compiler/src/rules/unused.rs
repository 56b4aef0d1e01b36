//! `procedure::unused`: a target, input or name that nothing uses. One that begins with `_` is meant to be unused. Where
//! something has no known meaning, it may be what uses the name, and nothing is said.

use super::Subject;
use crate::{
    diagnostics::{Code, Diagnostic},
    tree::GivenBy,
};

pub(super) static CODE: Code = Code::warning("procedure::unused", "a target, input or name is never used");

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    let definition = subject.definition;
    if definition.faulty {
        return;
    }
    let targets = definition.targets.iter().enumerate().filter(|(id, _)| !definition.used_targets.contains(id));
    let targets = targets.map(|(_, target)| ("target", &target.name, target.span));
    let locals = definition.locals.iter().enumerate().filter(|(id, _)| !definition.used_locals.contains(id));
    let locals = locals.map(|(_, local)| {
        let what = match local.given_by {
            GivenBy::Input => "input",
            GivenBy::Let | GivenBy::ForEach | GivenBy::Ask => "name",
        };
        (what, &local.name, local.span)
    });
    for (what, name, span) in targets.chain(locals) {
        if name.starts_with('_') {
            continue;
        }
        let message = format!("the {what} `{name}` is never used");
        out.push(
            Diagnostic::new(&CODE, definition.place(span), message)
                .help(format!("remove it, or call it `_{name}` where it has to be there")),
        );
    }
}
