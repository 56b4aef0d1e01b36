//! The verifier: what it lets through can neither make the machine panic nor exceed its bounds.
//!
//! It takes a decoded program, checks every rule that the machine relies on, computes every claim again from the
//! bytecode and refuses a program whose claims differ. Nothing here trusts an index, a length or a depth; the work is
//! linear in the size of the program, and nothing recurses.
//!
//! The rules, in the order of the modules: the tables of the program, retry policies, the structure of the code, the
//! scope of names, the types of expressions, the operands of statements, calls; then the claims, then branches that
//! share a target.

use alloc::{format, string::String, sync::Arc, vec::Vec};
use core::{fmt, ops::Deref};

use crate::{
    op::{Op, Pc},
    program::{Kind, Policy, Program, Unit},
};

pub(crate) mod blocks;
mod branches;
pub(crate) mod calls;
mod compare_claims;
mod exprs;
mod operands;
mod policies;
mod scopes;
mod tables;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;

/// What the verifier can find, with what each means.
pub const CODES: &[(&str, &str)] = &[
    (MALFORMED, "the code of an artifact breaks a rule that every compiled program keeps"),
    (BOUND, "a maximum duration that an artifact claims is not what its code says"),
    (ATTEMPTS, "a number of attempts that an artifact claims is not what its code says"),
    (STATEMENTS, "a number of statements that an artifact claims is not what its code says"),
    (ELIGIBILITY, "an artifact claims the wrong eligibility for retry"),
];

/// A broken rule of the code.
const MALFORMED: &str = "artifact::malformed-code";
const BOUND: &str = "artifact::bound-mismatch";
const ATTEMPTS: &str = "artifact::attempts-mismatch";
const STATEMENTS: &str = "artifact::statements-mismatch";
const ELIGIBILITY: &str = "artifact::eligibility-mismatch";

/// Longest text in bytes: a name, a line of documentation, a statement's source.
pub const MAX_TEXT: usize = 1 << 20;

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

    pub(crate) fn malformed(place: &str, what: impl fmt::Display) -> Self {
        Self { code: MALFORMED, message: format!("{place}: {what}") }
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
    facts: Vec<UnitFacts>,
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
        self.facts.get(usize::try_from(unit).ok()?)
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
    /// Behind the last op of the body: where [`Op::OnFailure`] stands, else the end of the code.
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
    tables::check(&program)?;
    policies::check(&program)?;
    for unit in &program.units {
        let events = blocks::events(unit)?;
        let scopes = scopes::of(unit, &events)?;
        let exprs = exprs::check(&program, unit, &scopes)?;
        operands::check(&program, unit, &events, &scopes, &exprs)?;
    }
    let computed = crate::bounds::claims(&program)?;
    compare_claims::check(&program, &computed)?;
    branches::check(&program)?;
    let facts = program.units.iter().zip(&computed).map(|(unit, computed)| facts(&program, unit, computed)).collect();
    Ok(Verified { program, facts })
}

fn facts(program: &Program, unit: &Unit, computed: &crate::bounds::UnitClaims) -> UnitFacts {
    let end = Pc::try_from(unit.code.len()).unwrap_or(Pc::MAX);
    let block = unit.code.iter().position(|op| matches!(op, Op::OnFailure { .. }));
    let block = block.and_then(|at| Pc::try_from(at).ok());
    let default = program.parameters_of_compilation.retry;
    let step = |(at, step): (usize, &crate::program::InlineStep)| {
        let eligible = computed.steps.get(at).is_some_and(|claims| claims.eligible);
        CallFacts { eligible, policy: crate::bounds::policy_of_step(step, eligible, default) }
    };
    let call = |(at, call): (usize, &crate::program::Call)| {
        let eligible = computed.calls.get(at).is_some_and(|claims| claims.eligible);
        let callee = calls::callee(program, call);
        let policy = callee.and_then(|callee| crate::bounds::policy_of_call(call, callee, eligible, default));
        CallFacts { eligible, policy }
    };
    UnitFacts {
        changes_state: !computed.unit.eligible,
        body_end: block.unwrap_or(end),
        on_failure: block.map(|at| (at.saturating_add(1), end)),
        steps: unit.steps.iter().enumerate().map(step).collect(),
        calls: unit.calls.iter().enumerate().map(call).collect(),
    }
}

/// An entry of a table by an index as the code has it.
pub(crate) fn entry<T>(table: &[T], index: u32) -> Option<&T> {
    table.get(usize::try_from(index).ok()?)
}

/// `` step `TCU answers` ``: how a message names a unit.
pub(crate) fn told(kind: Kind, name: &Arc<str>) -> String {
    let kind = match kind {
        Kind::Step => "step",
        Kind::Procedure => "procedure",
    };
    format!("{kind} `{name}`")
}

/// `` step `TCU answers`, op 3 (line 12: `wait 5 s`) ``: how a message names an op.
pub(crate) fn place(unit: &Unit, pc: Pc) -> String {
    let unit_name = told(unit.kind, &unit.name);
    match entry(&unit.source, pc) {
        Some(source) => format!("{unit_name}, op {pc} (line {}: `{}`)", source.line, source.text),
        None => format!("{unit_name}, op {pc}"),
    }
}
