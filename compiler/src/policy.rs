//! Retry policies as they are written.

use stellar_grammar::ast;
use stellar_vm::{
    bounds::{MAX_RETRIES, effective_policy},
    program::{Kind, Policy},
};

use crate::bounds::Changes;

/// What a `retry` clause says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Given {
    /// There is none.
    #[default]
    Nothing,
    /// It is wrong, which is reported.
    Broken,
    /// A policy, bounded and within its limits.
    Policy(Policy),
}

impl Given {
    /// Reads a clause.
    #[must_use]
    pub fn of(retry: Option<&ast::Retry>) -> Self {
        let Some(retry) = retry else { return Self::Nothing };
        if retry.times.is_none() && retry.total.is_none() {
            return Self::Broken;
        }
        let times = retry.times.as_ref().map(count);
        let every = retry.every.as_ref().map(|every| every.nanos);
        let total = retry.total.as_ref().map(|total| total.nanos);
        match (times, every, total) {
            (Some(None), ..) | (_, Some(None), _) | (.., Some(None)) => Self::Broken,
            _ => Self::Policy(Policy { times: times.flatten(), every: every.flatten(), total: total.flatten() }),
        }
    }

    /// The policy, `None` where nothing (or something wrong) is written.
    #[must_use]
    pub const fn policy(self) -> Option<Policy> {
        match self {
            Self::Policy(policy) => Some(policy),
            Self::Nothing | Self::Broken => None,
        }
    }
}

/// The count of a clause, where it is one that a policy may have.
fn count(count: &ast::Count) -> Option<u32> {
    let value = u32::try_from(count.value?).ok()?;
    (value <= MAX_RETRIES).then_some(value)
}

/// Whether a clause says `0 times`: no retry, allowed everywhere.
#[must_use]
pub fn is_never(retry: &ast::Retry) -> bool {
    retry.times.as_ref().is_some_and(|times| times.value == Some(0))
}

/// Where the policy of a call comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// Its own `retry`.
    Call,
    /// The `retry` of the step.
    Step,
    /// The configuration.
    Default,
}

/// Something that was reported keeps a policy from being known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unknown;

/// The policy that applies to a `do`, a `run` or an inline step, and where it comes from.
///
/// # Errors
/// Where a clause is broken, or where it depends on what is not known.
pub fn applying(
    kind: Kind,
    changes: Changes,
    called: Given,
    own: Given,
    default: Option<Policy>,
) -> Result<Option<(Policy, From)>, Unknown> {
    if called == Given::Broken || own == Given::Broken {
        return Err(Unknown);
    }
    let eligible = match changes {
        Changes::No => true,
        Changes::Yes => false,
        // Only the default policy asks for eligibility; whether the others are allowed is a rule's matter.
        Changes::Unknown => {
            if kind == Kind::Step && called == Given::Nothing && own == Given::Nothing && default.is_some() {
                return Err(Unknown);
            }
            false
        }
    };
    let policy = effective_policy(kind, eligible, called.policy(), own.policy(), default);
    let from = match (called, own) {
        (Given::Policy(_), _) => From::Call,
        (_, Given::Policy(_)) => From::Step,
        _ => From::Default,
    };
    Ok(policy.map(|policy| (policy, from)))
}
