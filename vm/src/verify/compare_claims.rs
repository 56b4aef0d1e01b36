//! Compares what a program claims with what its code says.

use alloc::format;

use super::{ATTEMPTS, BOUND, ELIGIBILITY, STATEMENTS, VerifyError, told};
use crate::{
    bounds::UnitClaims,
    program::{Claims, Program},
    time::duration_text,
};

/// Compares every claim of a program.
pub(super) fn check(program: &Program, computed: &[UnitClaims]) -> Result<(), VerifyError> {
    for (unit, computed) in program.units.iter().zip(computed) {
        let whole = told(unit.kind, &unit.name);
        for (step, computed) in unit.steps.iter().zip(&computed.steps) {
            one(|| format!("{whole}, step `{}`", step.name), &step.claims, computed)?;
        }
        for (at, (call, computed)) in unit.calls.iter().zip(&computed.calls).enumerate() {
            let name = super::calls::callee(program, call).map(|callee| told(callee.kind, &callee.name));
            one(|| format!("{whole}, call {at} of {}", name.unwrap_or_default()), &call.claims, computed)?;
        }
        one(|| whole.clone(), &unit.claims, &computed.unit)?;
    }
    Ok(())
}

fn one(place: impl FnOnce() -> alloc::string::String, claimed: &Claims, computed: &Claims) -> Result<(), VerifyError> {
    let durations = [
        ("one attempt", claimed.attempt, computed.attempt),
        ("`on failure`", claimed.on_failure, computed.on_failure),
        ("all attempts", claimed.max, computed.max),
    ];
    let (code, difference) = if let Some((what, claimed, computed)) = durations.into_iter().find(|(_, a, b)| a != b) {
        let (claimed, computed) = (duration_text(claimed), duration_text(computed));
        (BOUND, format!("claims at most {claimed} for {what}, its code says {computed}"))
    } else if claimed.attempts_max != computed.attempts_max {
        let (claimed, computed) = (claimed.attempts_max, computed.attempts_max);
        (ATTEMPTS, format!("claims at most {claimed} attempts, its code says {computed}"))
    } else if claimed.statements != computed.statements {
        let (claimed, computed) = (claimed.statements, computed.statements);
        (STATEMENTS, format!("claims at most {claimed} statements, its code says {computed}"))
    } else if claimed.eligible != computed.eligible {
        let told = |eligible| if eligible { "eligible" } else { "not eligible" };
        let (claimed, computed) = (told(claimed.eligible), told(computed.eligible));
        (ELIGIBILITY, format!("claims to be {claimed} for retry, by its code it is {computed}"))
    } else {
        return Ok(());
    };
    Err(VerifyError { code, message: format!("{}: {difference}", place()) })
}
