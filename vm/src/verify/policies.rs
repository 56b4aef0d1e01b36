//! Retry policies: bounded, within their limits, and only where a policy can stand.

use alloc::{format, string::String};

use super::{VerifyError, told};
use crate::{
    bounds::{MAX_DURATION, MAX_RETRIES},
    program::{Kind, Policy, Program},
};

/// Checks every policy of a program by itself; whether it stands on something eligible is found with the claims.
pub(super) fn check(program: &Program) -> Result<(), VerifyError> {
    one(program.parameters_of_compilation.retry, || String::from("the default policy"))?;
    for unit in &program.units {
        let here = || told(unit.kind, &unit.name);
        if unit.kind == Kind::Procedure && unit.policy.is_some() {
            return Err(VerifyError::malformed(format!("{} has a retry policy: only a step has one", here())));
        }
        one(unit.policy, here)?;
        for step in &unit.steps {
            one(step.policy, || format!("{}, step `{}`", here(), step.name))?;
            if !step.written && step.policy.is_some() {
                let message = format!("{}: `{}` has no step line, but a retry policy", here(), step.name);
                return Err(VerifyError::malformed(message));
            }
        }
        for (at, call) in unit.calls.iter().enumerate() {
            one(call.policy, || format!("{}, call {at}", here()))?;
        }
    }
    Ok(())
}

fn one(policy: Option<Policy>, place: impl Fn() -> String) -> Result<(), VerifyError> {
    let Some(policy) = policy else { return Ok(()) };
    let refuse = |what: &str| Err(VerifyError::malformed(format!("{}: retry policy {what}", place())));
    if !policy.is_bounded() {
        return refuse("has neither a count nor a total duration");
    }
    if policy.times.is_some_and(|times| times > MAX_RETRIES) {
        return refuse("counts more than 10000 new attempts");
    }
    if [policy.every, policy.total].iter().flatten().any(|ns| !(0..=MAX_DURATION).contains(ns)) {
        return refuse("has a duration outside 0 s to 365 d");
    }
    Ok(())
}
