//! The instructions of a unit: flat, structured, small.
//!
//! An op that opens a block carries the end of it, so that verifying, bounding and running are one walk each and a jump
//! to anywhere cannot be written. Operands too large for an op stand in the tables of [`crate::program::Unit`].

use serde::{Deserialize, Serialize};

/// Index of an expression in [`crate::program::Unit::exprs`].
pub type ExprId = u32;
/// Index of a local in [`crate::program::Unit::locals`].
pub type Local = u32;
/// A position in [`crate::program::Unit::code`].
pub type Pc = u32;

/// One instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// `send`: index into the unit's `sends`.
    Send(u32),
    /// `expect`: index into the unit's `expects`.
    Expect(u32),
    /// `check COND`.
    Check(ExprId),
    /// `wait until COND within D`: the condition, and the index of D in the unit's `durations`.
    WaitUntil {
        /// The condition.
        cond: ExprId,
        /// Index of the limit in the unit's `durations`.
        within: u32,
    },
    /// `wait D`: index into the unit's `durations`.
    Wait(u32),
    /// `wait until TIME within D`: an expression of type time, and the index of D.
    WaitTime {
        /// The instant.
        time: ExprId,
        /// Index of the limit in the unit's `durations`.
        within: u32,
    },
    /// `ask`: index into the unit's `asks`.
    Ask(u32),
    /// `transfer`: index into the unit's `transfers`.
    Transfer(u32),
    /// `note`: index into the unit's `notes`.
    Note(u32),
    /// `let NAME = VALUE`.
    Let {
        /// The name given.
        local: Local,
        /// Its value.
        value: ExprId,
    },
    /// `fail "text"`: index into the unit's `texts`.
    Fail(u32),
    /// The condition of an `if` that stands directly in a procedure, judged by a step of its own: like `if`, an unknown
    /// fails with `CHECK_FAILED`; the outcome is kept in a boolean local that an [`Op::If`] behind the step reads.
    Judge {
        /// The condition.
        cond: ExprId,
        /// Where its outcome is kept.
        local: Local,
    },
    /// `if COND`: the body follows, the `else` branch begins at `otherwise` (equal to `end` without one).
    If {
        /// The condition.
        cond: ExprId,
        /// Where the `else` branch begins.
        otherwise: Pc,
        /// Behind the statement.
        end: Pc,
    },
    /// `repeat N times`.
    Repeat {
        /// N, 1 to 10,000.
        times: u32,
        /// Behind the statement.
        end: Pc,
    },
    /// `for each`: index into the unit's `loops`.
    ForEach {
        /// Index into the unit's `loops`.
        each: u32,
        /// Behind the statement.
        end: Pc,
    },
    /// `together`: only [`Op::Branch`] blocks stand directly in it.
    Together {
        /// Behind the statement.
        end: Pc,
    },
    /// A branch of a `together`.
    Branch {
        /// Behind the branch.
        end: Pc,
    },
    /// An inline step, or the step that a failing statement directly in a procedure is: index into the unit's `steps`.
    Step {
        /// Index into the unit's `steps`.
        step: u32,
        /// Behind the step.
        end: Pc,
    },
    /// `on failure`: the last block of a procedure's code, never entered from above.
    OnFailure {
        /// Behind the block: the end of the code.
        end: Pc,
    },
    /// `do "Step"`: index into the unit's `calls`.
    Do(u32),
    /// `run "Procedure"`: index into the unit's `calls`.
    Run(u32),
}

const _: () = assert!(core::mem::size_of::<Op>() <= 16, "an op is 16 bytes or less");
