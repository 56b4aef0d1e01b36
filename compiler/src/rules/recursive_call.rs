//! `procedure::recursive-call`: a procedure that calls itself, directly or through others, has no maximum duration.

use super::World;
use crate::{
    diagnostics::{Code, Diagnostic},
    resolve::Circle,
};

pub(super) static CODE: Code = Code::error("procedure::recursive-call", "calls form a circle");

pub(super) fn check(world: &World<'_>, circles: &[Circle], out: &mut Vec<Diagnostic>) {
    for circle in circles {
        let names: Vec<&str> = circle
            .iter()
            .map(|call| world.definitions.get(call.caller).map_or("", |definition| &definition.name))
            .collect();
        // The circle is shown from the call that stands first in the sources, so that it is the same however found.
        let first = circle.iter().enumerate().min_by_key(|(_, call)| call.place).map_or(0, |(at, _)| at);
        let turned = |at: usize| first.saturating_add(at).checked_rem(names.len().max(1)).unwrap_or(0);
        let name = |at: usize| names.get(turned(at)).copied().unwrap_or_default();
        let mut round: Vec<String> = (0..names.len()).map(|at| format!("`{}`", name(at))).collect();
        round.push(format!("`{}`", name(0)));
        let Some(call) = circle.get(first) else { continue };
        let message = format!("calls form a circle: {}", round.join(" → "));
        let mut diagnostic = Diagnostic::new(&CODE, call.place, message);
        for at in 1..names.len() {
            if let Some(call) = circle.get(turned(at)) {
                diagnostic =
                    diagnostic.label(call.place, format!("`{}` calls `{}` here", name(at), name(at.saturating_add(1))));
            }
        }
        out.push(diagnostic.help("loops are written with `repeat` and `for each`, new attempts with `retry`"));
    }
}
