//! The verifier: what it lets through can neither make the machine panic nor exceed its bounds.
//!
//! It takes a decoded program, checks every rule that the machine relies on, computes every claim again from the
//! bytecode and refuses a program whose claims differ. Nothing here trusts an index, a length or a depth.

use alloc::{string::String, sync::Arc, vec::Vec};
use core::{fmt, ops::Deref};

use crate::{
    op::Pc,
    program::{Kind, Policy, Program},
};

mod policies;

/// What the verifier and the comparison with the catalogue can find, with what each means.
pub const CODES: &[(&str, &str)] =
    &[(MALFORMED, "the code of an artifact breaks a rule that every compiled program keeps")];

/// A broken rule of the code.
const MALFORMED: &str = "artifact::malformed-code";

/// Why a program is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyError {
    code: &'static str,
    message: String,
}

impl VerifyError {
    /// Code of the diagnostic, one of [`CODES`].
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// What is wrong and where: unit, and the statement or call.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    fn malformed(message: String) -> Self {
        Self { code: MALFORMED, message }
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for VerifyError {}

/// A program that keeps every rule, with what the machine needs to know of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Verified {
    program: Program,
    units: Vec<UnitFacts>,
}

impl Deref for Verified {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.program
    }
}

impl Verified {
    /// What was found out about a unit, by its index in [`Program::units`].
    #[must_use]
    pub fn facts(&self, unit: u32) -> Option<&UnitFacts> {
        self.units.get(usize::try_from(unit).ok()?)
    }

    /// Index of a unit by kind and name.
    #[must_use]
    pub fn find(&self, kind: Kind, name: &str) -> Option<u32> {
        let at = self.program.units.iter().position(|unit| unit.kind == kind && &*unit.name == name)?;
        u32::try_from(at).ok()
    }
}

/// What the verifier found out about a unit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitFacts {
    /// Whether a telecommand (or transfer) in its call tree changes the on-board state.
    pub changes_state: bool,
    /// Behind the last op of the body: where [`crate::op::Op::OnFailure`] stands, else the end of the code.
    pub body_end: Pc,
    /// The ops of the `on failure` block, from its first to behind its last.
    pub on_failure: Option<(Pc, Pc)>,
    /// For each of the unit's inline steps, the policy that applies to it.
    pub steps: Vec<CallFacts>,
    /// For each of the unit's calls, the policy that applies to it.
    pub calls: Vec<CallFacts>,
}

/// What the verifier found out about a call or an inline step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallFacts {
    /// Whether nothing in its call tree changes the on-board state.
    pub eligible: bool,
    /// The policy that applies to it, if it can be retried at all.
    pub policy: Option<Policy>,
}

/// Checks a program.
///
/// # Errors
/// The first rule that it breaks, or the first claim that differs from what its code says.
pub fn verify(program: Program) -> Result<Verified, VerifyError> {
    policies::check(&program)?;
    Ok(Verified { program, units: Vec::new() })
}

/// `` step `TCU answers` ``: how a message names a unit.
fn told(kind: Kind, name: &Arc<str>) -> String {
    let kind = match kind {
        Kind::Step => "step",
        Kind::Procedure => "procedure",
    };
    alloc::format!("{kind} `{name}`")
}
