//! Two branches of a `together` never both change the state of one target.

use alloc::{collections::BTreeSet, vec, vec::Vec};

use super::{
    VerifyError,
    blocks::{self, Event},
    calls, entry, place,
};
use crate::{
    op::{Op, Pc},
    program::{Program, Unit},
};

/// Targets of a unit, by their place in its `uses` lines.
type Targets = BTreeSet<u32>;

/// Checks every `together`.
pub(super) fn check(program: &Program) -> Result<(), VerifyError> {
    let mut changed = vec![Targets::new(); program.units.len()];
    for at in calls::order(program)? {
        let Some(unit) = program.units.get(at) else { continue };
        let targets = of_unit(program, unit, &changed)?;
        if let Some(place) = changed.get_mut(at) {
            *place = targets;
        }
    }
    Ok(())
}

/// The targets whose state a unit changes, given those of what it calls.
fn of_unit(program: &Program, unit: &Unit, changed: &[Targets]) -> Result<Targets, VerifyError> {
    let mut open: Vec<Targets> = vec![Targets::new()];
    for event in blocks::events(unit)? {
        match event {
            Event::Op(_, op) => {
                if let Some(around) = open.last_mut() {
                    add(program, unit, changed, op, around);
                }
            }
            Event::Open(..) => open.push(Targets::new()),
            Event::Else => {}
            Event::Close(pc, op) => {
                let (Some(inside), Some(around)) = (open.pop(), open.last_mut()) else { continue };
                let branch = matches!(op, Op::Branch { .. });
                for target in inside {
                    if !around.insert(target) && branch {
                        return Err(shared(unit, pc, target));
                    }
                }
            }
        }
    }
    Ok(open.pop().unwrap_or_default())
}

/// Adds the targets whose state an op changes.
fn add(program: &Program, unit: &Unit, changed: &[Targets], op: Op, targets: &mut Targets) {
    match op {
        Op::Send(at) => {
            let send = entry(&unit.sends, at);
            let changes = send.and_then(|send| entry(&program.telecommands, send.telecommand));
            if changes.is_some_and(|telecommand| telecommand.changes_state) {
                targets.extend(send.map(|send| send.target));
            }
        }
        Op::Transfer(at) => targets.extend(entry(&unit.transfers, at).map(|transfer| transfer.target)),
        Op::Do(at) | Op::Run(at) => {
            let Some(call) = entry(&unit.calls, at) else { return };
            let Some(changed) = entry(changed, call.unit) else { return };
            targets.extend(changed.iter().filter_map(|target| entry(&call.targets, *target)));
        }
        _ => {}
    }
}

fn shared(unit: &Unit, pc: Pc, target: u32) -> VerifyError {
    let name = entry(&unit.targets, target).map_or("", |target| &*target.name);
    let what = alloc::format!("another branch changes the state of the target `{name}` too");
    VerifyError::malformed(&place(unit, pc), what)
}
