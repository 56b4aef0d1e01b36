//! Calls: targets and inputs as the callee asks for them, and no circle.

use alloc::{collections::BTreeSet, vec, vec::Vec};

use super::{
    VerifyError, entry,
    exprs::{Exprs, Shape},
    scopes::Stretch,
    told,
};
use crate::program::{Call, Program, Unit};

/// What a call calls.
pub(crate) fn callee<'a>(program: &'a Program, call: &Call) -> Option<&'a Unit> {
    entry(&program.units, call.unit)
}

/// Checks the operands of one call.
pub(super) fn check(program: &Program, unit: &Unit, call: &Call, exprs: &Exprs) -> Result<Stretch, &'static str> {
    let callee = callee(program, call).ok_or("it calls a unit that does not exist")?;
    if call.targets.len() != callee.targets.len() || call.inputs.len() != callee.inputs.len() {
        return Err("it has not as many targets and inputs as its callee");
    }
    for (given, wanted) in call.targets.iter().zip(&callee.targets) {
        let given = entry(&unit.targets, *given).ok_or("a target does not exist")?;
        if given.platform != wanted.platform {
            return Err("it gives a target of another platform");
        }
    }
    if call.targets.iter().collect::<BTreeSet<_>>().len() != call.targets.len() {
        return Err("it gives one target twice");
    }
    let mut stretch = Stretch::ALL;
    for (given, wanted) in call.inputs.iter().zip(&callee.inputs) {
        let Some(given) = given else {
            if wanted.default.is_none() {
                return Err("it lacks an input that has no default");
            }
            continue;
        };
        let given = exprs.get(*given).ok_or("an expression does not exist")?;
        if given.shape != Shape::of(&wanted.ty) {
            return Err("it gives an input of the wrong type");
        }
        if !given.is_sure() {
            return Err("it gives an input that can fail, but stands in no step");
        }
        stretch = stretch.and(given.stretch);
    }
    Ok(stretch)
}

/// The units so that each stands behind all that it calls.
///
/// # Errors
/// A circle of calls, with all that are in it.
pub(crate) fn order(program: &Program) -> Result<Vec<usize>, VerifyError> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Never,
        Open,
        Done,
    }
    let mut seen = vec![Seen::Never; program.units.len()];
    let mut order = Vec::with_capacity(program.units.len());
    for first in 0..program.units.len() {
        let mut path = vec![(first, 0)];
        while let Some((at, next)) = path.last_mut() {
            let (Some(unit), Some(state)) = (program.units.get(*at), seen.get_mut(*at)) else {
                path.pop();
                continue;
            };
            if *state == Seen::Done {
                path.pop();
                continue;
            }
            *state = Seen::Open;
            let Some(call) = unit.calls.get(*next) else {
                *state = Seen::Done;
                order.push(*at);
                path.pop();
                continue;
            };
            *next += 1;
            let Ok(callee) = usize::try_from(call.unit) else { continue };
            if seen.get(callee) == Some(&Seen::Open) {
                let circle: Vec<usize> = path.iter().map(|(at, _)| *at).collect();
                return Err(circular(program, &circle, callee));
            }
            path.push((callee, 0));
        }
    }
    Ok(order)
}

/// The message for a circle; of a long one its beginning.
fn circular(program: &Program, path: &[usize], again: usize) -> VerifyError {
    const TOLD: usize = 16;
    let circle: Vec<_> = path.iter().skip_while(|at| **at != again).chain([&again]).collect();
    let units = circle.iter().take(TOLD).filter_map(|at| program.units.get(**at));
    let names: Vec<_> = units.map(|unit| told(unit.kind, &unit.name)).collect();
    let more = if circle.len() > TOLD { " → …" } else { "" };
    VerifyError::malformed("calls", alloc::format!("they form a circle: {}{more}", names.join(" → ")))
}
