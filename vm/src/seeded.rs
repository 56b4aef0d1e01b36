//! Bugs that can be switched on, so that it can be tried whether a property finds them.
//!
//! Only with the feature `seeded-bugs`, which is for tests; without it `on` is `false` for the compiler already. One bug
//! at a time, for the whole process; none at the start.

#[cfg(feature = "seeded-bugs")]
use core::sync::atomic::{AtomicU8, Ordering};

/// A bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Bug {
    /// What comes at the deadline itself is refused.
    AtTheDeadline = 1,
    /// A sample that is false does not break a `held for`.
    HeldNotBroken,
    /// `every` counts from the end of an attempt.
    EveryFromTheEnd,
    /// `for` does not count the attempt's own duration.
    ForWithoutAttempt,
    /// A takeover goes on in a step that changed the on-board state.
    TakeoverGoesOn,
    /// `not` of what is unknown is true.
    NotOfUnknown,
    /// A stale sample is judged.
    StaleIsJudged,
    /// `retry_of` names the telecommand of the attempt before.
    RetryOfTheLast,
    /// `on failure` is left out.
    NoOnFailure,
    /// A suspended run takes answers and decisions.
    SuspendedAnswers,
}

impl Bug {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::AtTheDeadline,
        Self::HeldNotBroken,
        Self::EveryFromTheEnd,
        Self::ForWithoutAttempt,
        Self::TakeoverGoesOn,
        Self::NotOfUnknown,
        Self::StaleIsJudged,
        Self::RetryOfTheLast,
        Self::NoOnFailure,
        Self::SuspendedAnswers,
    ];
}

#[cfg(feature = "seeded-bugs")]
static ON: AtomicU8 = AtomicU8::new(0);

/// Switches a bug on, or all off.
#[cfg(feature = "seeded-bugs")]
pub fn switch(bug: Option<Bug>) {
    ON.store(bug.map_or(0, |bug| bug as u8), Ordering::SeqCst);
}

/// Whether a bug is switched on.
#[cfg(feature = "seeded-bugs")]
pub(crate) fn on(bug: Bug) -> bool {
    ON.load(Ordering::Relaxed) == bug as u8
}

/// No bug is.
#[cfg(not(feature = "seeded-bugs"))]
#[inline]
pub(crate) const fn on(_: Bug) -> bool {
    false
}
