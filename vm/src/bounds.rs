//! Bounds: how long a call lasts at most, how often it is attempted, how many statements it executes.
//!
//! The formulas of retry policies stand here once; the compiler applies them to its tree, the verifier to the bytecode.
//! All arithmetic is exact: what is past a limit is an error, nothing saturates.

use core::fmt;

use crate::program::{Kind, Policy};

mod claims;

pub use claims::{UnitClaims, claims, policy_of_call, policy_of_step};

/// Longest duration anywhere, and longest bound: 365 d, in nanoseconds.
pub const MAX_DURATION: i64 = 365 * 24 * 3_600 * 1_000_000_000;
/// Least distance between the starts of two attempts of a policy without a count: 100 ms, in nanoseconds.
pub const FLOOR: i64 = 100_000_000;
/// Most new attempts that a policy may count.
pub const MAX_RETRIES: u32 = 10_000;
/// Most turns of a `repeat`.
pub const MAX_TURNS: u32 = 10_000;
/// Most statements that a run may execute.
pub const MAX_STATEMENTS: u64 = 1_000_000;
/// Deepest nesting of blocks, the definition's own body the first.
pub const MAX_NESTING: usize = 64;

/// A limit that was passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverLimit {
    /// It lasts longer than [`MAX_DURATION`].
    Duration,
    /// It executes more than [`MAX_STATEMENTS`].
    Statements,
}

impl OverLimit {
    /// In words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Duration => "it can last longer than 365 d",
            Self::Statements => "it can execute more than 1000000 statements",
        }
    }
}

impl fmt::Display for OverLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::error::Error for OverLimit {}

impl Policy {
    /// Whether it ever allows a new attempt: `0 times` does not, and is allowed where nothing may be retried.
    #[must_use]
    pub fn retries(&self) -> bool {
        self.times != Some(0)
    }

    /// Whether it has a count or a total duration; `every` alone bounds nothing.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.times.is_some() || self.total.is_some()
    }

    /// Nanoseconds between the starts of two attempts at least: `every`, and not less than [`FLOOR`] without a count.
    #[must_use]
    pub fn interval(&self) -> i64 {
        let every = self.every.unwrap_or(0);
        if self.times.is_none() { every.max(FLOOR) } else { every }
    }
}

/// The policy that applies to a `do`, a `run` or a written inline step.
///
/// `called` is the policy on the call, `own` the one on the line of the step (library or inline), `default` the
/// configuration's. The default applies to eligible steps only, a `run` has nothing but the policy on the call. A
/// policy that never retries (`0 times`) counts as one and gives `None`.
#[must_use]
pub fn effective_policy(
    kind: Kind,
    eligible: bool,
    called: Option<Policy>,
    own: Option<Policy>,
    default: Option<Policy>,
) -> Option<Policy> {
    let chosen = match kind {
        Kind::Procedure => called,
        Kind::Step => called.or(own).or(if eligible { default } else { None }),
    };
    chosen.filter(Policy::retries)
}

/// The longest that all attempts together last, in nanoseconds, one lasting at most `attempt`.
///
/// # Errors
/// [`OverLimit::Duration`] past 365 d.
pub fn bound(attempt: i64, policy: Option<&Policy>) -> Result<i64, OverLimit> {
    let Some(policy) = policy else { return within(i128::from(attempt)) };
    let one = i128::from(attempt);
    let counted = policy.times.map(|times| one + i128::from(times) * one.max(i128::from(policy.every.unwrap_or(0))));
    let timed = policy.total.map(|total| one.max(i128::from(total)));
    within(match (counted, timed) {
        (Some(counted), Some(timed)) => counted.min(timed),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => i128::MAX,
    })
}

fn within(ns: i128) -> Result<i64, OverLimit> {
    match i64::try_from(ns) {
        Ok(ns) if ns <= MAX_DURATION => Ok(ns),
        _ => Err(OverLimit::Duration),
    }
}

/// The greatest number of attempts, the first one counted, one lasting at most `attempt` nanoseconds.
///
/// A policy without count and total has no such number and gives `u64::MAX`; every use refuses it before.
#[must_use]
pub fn attempts_max(attempt: i64, policy: Option<&Policy>) -> u64 {
    let Some(policy) = policy else { return 1 };
    let counted = policy.times.map(|times| 1 + u64::from(times));
    let Some(total) = policy.total else { return counted.unwrap_or(u64::MAX) };
    let Ok(spare) = u64::try_from(i128::from(total) - i128::from(attempt)) else { return 1 };
    let timed = match u64::try_from(policy.interval()) {
        Ok(interval @ 1..) => 1 + spare / interval,
        _ => u64::MAX,
    };
    timed.min(counted.unwrap_or(u64::MAX))
}

/// Sum of two durations that are not negative.
///
/// # Errors
/// [`OverLimit::Duration`] past 365 d.
pub fn add(a: i64, b: i64) -> Result<i64, OverLimit> {
    within(i128::from(a) + i128::from(b))
}

/// A duration that is not negative, so many times.
///
/// # Errors
/// [`OverLimit::Duration`] past 365 d.
pub fn times(count: u64, each: i64) -> Result<i64, OverLimit> {
    within(i128::from(count).saturating_mul(i128::from(each)))
}

/// `own` statements and `count` times `each` more.
///
/// # Errors
/// [`OverLimit::Statements`] past 1,000,000.
pub fn statements(own: u64, count: u64, each: u64) -> Result<u64, OverLimit> {
    count
        .checked_mul(each)
        .and_then(|all| all.checked_add(own))
        .filter(|all| *all <= MAX_STATEMENTS)
        .ok_or(OverLimit::Statements)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;
    const MIN: i64 = 60 * S;

    fn policy(times: Option<u32>, every: Option<i64>, total: Option<i64>) -> Policy {
        Policy { times, every, total }
    }

    #[test]
    fn the_examples_of_the_specification() {
        // "TCU answers": ping's window 5 s, expect within 5 s.
        let attempt = 10 * S;
        let own = policy(Some(3), Some(2 * S), None);
        assert_eq!(bound(attempt, Some(&own)), Ok(40 * S));
        assert_eq!(attempts_max(attempt, Some(&own)), 4);
        let called = policy(None, Some(5 * S), Some(3 * MIN));
        assert_eq!(bound(attempt, Some(&called)), Ok(3 * MIN));
        assert_eq!(attempts_max(attempt, Some(&called)), 1 + 170 / 5);
        let default = policy(Some(1), Some(2 * S), None);
        assert_eq!(bound(attempt, Some(&default)), Ok(20 * S));
        assert_eq!(bound(S, Some(&default)), Ok(3 * S));
        assert_eq!(bound(attempt, None), Ok(attempt));
        assert_eq!(attempts_max(attempt, None), 1);
    }

    #[test]
    fn both_limits_take_the_smaller() {
        let both = policy(Some(3), Some(2 * S), Some(15 * S));
        assert_eq!(bound(S, Some(&both)), Ok(7 * S));
        assert_eq!(bound(10 * S, Some(&both)), Ok(15 * S));
        assert_eq!(attempts_max(10 * S, Some(&both)), 3);
        assert_eq!(attempts_max(14 * S, Some(&both)), 1);
        assert_eq!(attempts_max(S, Some(&both)), 4);
        let spin = policy(Some(10_000), None, Some(S));
        assert_eq!(attempts_max(0, Some(&spin)), 10_001);
        assert_eq!(attempts_max(0, Some(&policy(Some(7), Some(0), Some(S)))), 8);
    }

    #[test]
    fn without_a_count_attempts_start_a_tenth_of_a_second_apart() {
        let spin = policy(None, None, Some(S));
        assert_eq!(attempts_max(0, Some(&spin)), 11);
        assert_eq!(attempts_max(0, Some(&policy(None, Some(99_000_000), Some(S)))), 11);
        assert_eq!(attempts_max(0, Some(&policy(None, Some(101_000_000), Some(S)))), 10);
        assert_eq!(spin.interval(), FLOOR);
        assert_eq!(policy(Some(1), None, Some(S)).interval(), 0);
        assert_eq!(bound(0, Some(&spin)), Ok(S));
    }

    #[test]
    fn a_total_shorter_than_one_attempt_allows_no_other() {
        let short = policy(None, None, Some(S));
        assert_eq!(bound(10 * S, Some(&short)), Ok(10 * S));
        assert_eq!(attempts_max(10 * S, Some(&short)), 1);
        assert_eq!(attempts_max(S, Some(&short)), 1);
        assert_eq!(attempts_max(S + 1, Some(&short)), 1);
        let both = policy(Some(5), None, Some(S));
        assert_eq!(bound(10 * S, Some(&both)), Ok(10 * S));
        assert_eq!(attempts_max(10 * S, Some(&both)), 1);
        assert_eq!(attempts_max(S, Some(&both)), 6);
    }

    #[test]
    fn a_bound_of_365_days_holds_and_a_nanosecond_more_does_not() {
        let once = policy(Some(1), None, None);
        assert_eq!(bound(MAX_DURATION / 2, Some(&once)), Ok(MAX_DURATION));
        assert_eq!(bound(MAX_DURATION / 2 + 1, Some(&once)), Err(OverLimit::Duration));
        assert_eq!(bound(MAX_DURATION, Some(&policy(Some(10_000), None, Some(MAX_DURATION)))), Ok(MAX_DURATION));
        assert_eq!(bound(MAX_DURATION, Some(&policy(Some(10_000), None, None))), Err(OverLimit::Duration));
        assert_eq!(bound(0, Some(&policy(None, Some(S), None))), Err(OverLimit::Duration));
        assert_eq!(add(MAX_DURATION, 0), Ok(MAX_DURATION));
        assert_eq!(add(MAX_DURATION, 1), Err(OverLimit::Duration));
        assert_eq!(times(365, MAX_DURATION / 365), Ok(MAX_DURATION));
        assert_eq!(times(u64::MAX, MAX_DURATION), Err(OverLimit::Duration));
    }

    #[test]
    fn a_million_statements_hold_and_one_more_does_not() {
        assert_eq!(statements(0, 1_000, 1_000), Ok(MAX_STATEMENTS));
        assert_eq!(statements(1, 1_000, 1_000), Err(OverLimit::Statements));
        assert_eq!(statements(0, u64::MAX, u64::MAX), Err(OverLimit::Statements));
    }

    #[test]
    fn the_policy_that_applies() {
        let [called, own, default] = [1, 2, 3].map(|n| Some(policy(Some(n), None, None)));
        let never = Some(policy(Some(0), None, None));
        assert_eq!(effective_policy(Kind::Step, true, called, own, default), called);
        assert_eq!(effective_policy(Kind::Step, true, None, own, default), own);
        assert_eq!(effective_policy(Kind::Step, true, None, None, default), default);
        assert_eq!(effective_policy(Kind::Step, false, None, None, default), None);
        assert_eq!(effective_policy(Kind::Step, true, None, None, None), None);
        assert_eq!(effective_policy(Kind::Procedure, true, called, None, default), called);
        assert_eq!(effective_policy(Kind::Procedure, true, None, None, default), None);
        assert_eq!(effective_policy(Kind::Step, true, never, own, default), None);
        assert_eq!(effective_policy(Kind::Step, true, None, never, default), None);
    }
}
