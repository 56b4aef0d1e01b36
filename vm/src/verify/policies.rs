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
            return Err(VerifyError::malformed(&here(), "only a step has a retry policy of its own"));
        }
        one(unit.policy, here)?;
        for step in &unit.steps {
            let here = || format!("{}, step `{}`", here(), step.name);
            one(step.policy, here)?;
            if !step.written && step.policy.is_some() {
                return Err(VerifyError::malformed(&here(), "a statement without a step line has a retry policy"));
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
    let refuse = |what: &str| Err(VerifyError::malformed(&place(), what));
    if !policy.is_bounded() {
        return refuse("the retry policy has neither a count nor a total duration");
    }
    if policy.times.is_some_and(|times| times > MAX_RETRIES) {
        return refuse("the retry policy counts more than 10000 new attempts");
    }
    if [policy.every, policy.total].iter().flatten().any(|ns| !(0..=MAX_DURATION).contains(ns)) {
        return refuse("the retry policy has a duration outside 0 s to 365 d");
    }
    Ok(())
}
