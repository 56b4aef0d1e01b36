//! The claims of a program, computed from its bytecode: one walk over each unit, callees first.

use alloc::{vec, vec::Vec};

use super::{OverLimit, add, attempts_max, bound, effective_policy, statements, times};
use crate::{
    op::Op,
    program::{Call, Claims, InlineStep, Kind, Policy, Program, Sequence, Unit},
    verify::{
        VerifyError,
        blocks::{self, Event},
        calls, entry, place, told,
    },
};

/// The claims of one unit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitClaims {
    /// Of the unit itself.
    pub unit: Claims,
    /// Of each of its inline steps.
    pub steps: Vec<Claims>,
    /// Of each of its calls.
    pub calls: Vec<Claims>,
    /// Statements of one attempt, `on failure` included.
    pub attempt_statements: u64,
}

impl UnitClaims {
    /// Writes them where a program carries them.
    pub fn write(&self, unit: &mut Unit) {
        unit.claims = self.unit;
        for (step, claims) in unit.steps.iter_mut().zip(&self.steps) {
            step.claims = *claims;
        }
        for (call, claims) in unit.calls.iter_mut().zip(&self.calls) {
            call.claims = *claims;
        }
    }
}

/// The policy that applies to an inline step: none to one that was not written.
#[must_use]
pub fn policy_of_step(step: &InlineStep, eligible: bool, default: Option<Policy>) -> Option<Policy> {
    if !step.written {
        return None;
    }
    effective_policy(Kind::Step, eligible, None, step.policy, default)
}

/// The policy that applies to a call.
#[must_use]
pub fn policy_of_call(call: &Call, callee: &Unit, eligible: bool, default: Option<Policy>) -> Option<Policy> {
    effective_policy(callee.kind, eligible, call.policy, callee.policy, default)
}

/// Computes the claims of every unit, in the order of [`Program::units`].
///
/// # Errors
/// Code whose structure is broken, calls in a circle, a bound or count past its limit, a retry of what may not be
/// retried.
pub fn claims(program: &Program) -> Result<Vec<UnitClaims>, VerifyError> {
    let mut found = vec![UnitClaims::default(); program.units.len()];
    for at in calls::order(program)? {
        let Some(unit) = program.units.get(at) else { continue };
        let claims = of_unit(program, unit, &found)?;
        if let Some(place) = found.get_mut(at) {
            *place = claims;
        }
    }
    Ok(found)
}

/// What a stretch of code comes to.
#[derive(Debug, Clone, Copy)]
struct Sum {
    ns: i64,
    statements: u64,
    eligible: bool,
}

impl Sum {
    const NOTHING: Self = Self { ns: 0, statements: 0, eligible: true };

    /// One after the other.
    fn then(self, next: Self) -> Result<Self, OverLimit> {
        Ok(Self {
            ns: add(self.ns, next.ns)?,
            statements: statements(self.statements, 1, next.statements)?,
            eligible: self.eligible && next.eligible,
        })
    }

    /// Either of two.
    fn or(self, other: Self) -> Self {
        Self {
            ns: self.ns.max(other.ns),
            statements: self.statements.max(other.statements),
            eligible: self.eligible && other.eligible,
        }
    }

    /// Side by side.
    fn beside(self, other: Self) -> Result<Self, OverLimit> {
        Ok(Self { ns: self.ns.max(other.ns), ..self.then(Self { ns: 0, ..other })? })
    }

    /// So many turns, in a statement that is one itself.
    fn turns(self, count: u64) -> Result<Self, OverLimit> {
        Ok(Self { ns: times(count, self.ns)?, statements: statements(1, count, self.statements)?, ..self })
    }
}

/// One open block: what came to it so far, and the other part of an `if`.
struct Open {
    sum: Sum,
    then: Option<Sum>,
}

fn of_unit(program: &Program, unit: &Unit, found: &[UnitClaims]) -> Result<UnitClaims, VerifyError> {
    let whole = || told(unit.kind, &unit.name);
    let over = |limit: OverLimit| VerifyError::malformed(&whole(), limit);
    let mut walk = Walk {
        program,
        unit,
        steps: vec![Claims::default(); unit.steps.len()],
        calls: of_calls(program, unit, found)?,
        open: vec![Open { sum: Sum::NOTHING, then: None }],
        on_failure: Sum::NOTHING,
    };
    for event in blocks::events(unit)? {
        walk.event(event)?;
    }
    let Walk { steps, calls, open, on_failure, .. } = walk;
    let body = open.last().map_or(Sum::NOTHING, |open| open.sum);
    let attempt = body.then(on_failure).map_err(over)?;
    let policy = unit.policy.filter(Policy::retries);
    if policy.is_some() && !attempt.eligible {
        return Err(VerifyError::malformed(&whole(), NOT_ELIGIBLE));
    }
    let attempts = attempts_max(attempt.ns, policy.as_ref());
    let claims = Claims {
        eligible: attempt.eligible,
        attempt: attempt.ns,
        on_failure: on_failure.ns,
        max: bound(attempt.ns, policy.as_ref()).map_err(over)?,
        attempts_max: attempts,
        statements: statements(0, attempts, attempt.statements).map_err(over)?,
    };
    Ok(UnitClaims { unit: claims, steps, calls, attempt_statements: attempt.statements })
}

const NOT_ELIGIBLE: &str = "a retry policy stands on what changes the on-board state";

/// The claims of the calls of a unit, all callees being known.
fn of_calls(program: &Program, unit: &Unit, found: &[UnitClaims]) -> Result<Vec<Claims>, VerifyError> {
    let default = program.parameters_of_compilation.retry;
    let mut claims = Vec::with_capacity(unit.calls.len());
    for (at, call) in unit.calls.iter().enumerate() {
        let refuse = |what: &dyn core::fmt::Display| {
            VerifyError::malformed(&alloc::format!("{}, call {at}", told(unit.kind, &unit.name)), what)
        };
        let (Some(callee), Some(computed)) = (entry(&program.units, call.unit), entry(found, call.unit)) else {
            return Err(refuse(&"it calls a unit that does not exist"));
        };
        let one = computed.unit;
        if call.policy.is_some_and(|policy| policy.retries()) && !one.eligible {
            return Err(refuse(&NOT_ELIGIBLE));
        }
        let policy = policy_of_call(call, callee, one.eligible, default);
        let attempts = attempts_max(one.attempt, policy.as_ref());
        claims.push(Claims {
            max: bound(one.attempt, policy.as_ref()).map_err(|over| refuse(&over))?,
            attempts_max: attempts,
            statements: statements(1, attempts, computed.attempt_statements).map_err(|over| refuse(&over))?,
            ..one
        });
    }
    Ok(claims)
}

struct Walk<'a> {
    program: &'a Program,
    unit: &'a Unit,
    steps: Vec<Claims>,
    calls: Vec<Claims>,
    open: Vec<Open>,
    on_failure: Sum,
}

impl Walk<'_> {
    fn event(&mut self, event: Event) -> Result<(), VerifyError> {
        let (pc, sum) = match event {
            Event::Op(pc, op) => (pc, self.plain(op)),
            Event::Open(..) => {
                self.open.push(Open { sum: Sum::NOTHING, then: None });
                return Ok(());
            }
            Event::Else => {
                if let Some(open) = self.open.last_mut() {
                    open.then = Some(core::mem::replace(&mut open.sum, Sum::NOTHING));
                }
                return Ok(());
            }
            Event::Close(pc, op) => {
                let Some(block) = self.open.pop() else { return Ok(()) };
                (pc, self.block(op, block))
            }
        };
        let refuse = |what| VerifyError::malformed(&place(self.unit, pc), what);
        let sum = sum.map_err(refuse)?;
        let Some(around) = self.open.last_mut() else { return Ok(()) };
        let beside = matches!(event, Event::Close(_, Op::Branch { .. }));
        let both = if beside { around.sum.beside(sum) } else { around.sum.then(sum) };
        around.sum = both.map_err(|over| refuse(over.as_str()))?;
        Ok(())
    }

    /// What a plain op comes to.
    fn plain(&self, op: Op) -> Result<Sum, &'static str> {
        let unit = self.unit;
        let duration = |at| entry(&unit.durations, at).copied();
        let mut sum = Sum { statements: 1, ..Sum::NOTHING };
        let ns = match op {
            Op::Send(at) => entry(&unit.sends, at)
                .and_then(|send| entry(&self.program.telecommands, send.telecommand))
                .map(|telecommand| {
                    sum.eligible = !telecommand.changes_state;
                    telecommand.verify.window
                }),
            Op::Expect(at) => entry(&unit.expects, at).map(|expect| expect.within),
            Op::Wait(within) | Op::WaitUntil { within, .. } | Op::WaitTime { within, .. } => duration(within),
            Op::Ask(at) => entry(&unit.asks, at).map(|ask| ask.within),
            Op::Transfer(at) => {
                sum.eligible = false;
                entry(&unit.transfers, at).map(|transfer| transfer.within)
            }
            Op::Judge { .. } => return Ok(Sum::NOTHING),
            Op::Do(at) | Op::Run(at) => entry(&self.calls, at).map(|claims| {
                sum.eligible = claims.eligible;
                sum.statements = claims.statements;
                claims.max
            }),
            _ => Some(0),
        };
        match ns {
            Some(ns) if ns >= 0 => Ok(Sum { ns, ..sum }),
            _ => Err("its operands do not exist"),
        }
    }

    /// What a block comes to, its contents being known.
    fn block(&mut self, op: Op, block: Open) -> Result<Sum, &'static str> {
        let inside = block.sum;
        let sum = match op {
            Op::If { .. } => block.then.map_or(inside, |then| then.or(inside)).turns(1),
            Op::Repeat { times, .. } => inside.turns(u64::from(times)),
            Op::ForEach { each, .. } => {
                let each = entry(&self.unit.loops, each).ok_or("its operands do not exist")?;
                inside.turns(turns(&each.over))
            }
            Op::Together { .. } => inside.turns(1),
            Op::Step { step, .. } => self.step(step, inside)?,
            Op::OnFailure { .. } => {
                self.on_failure = inside;
                Ok(Sum::NOTHING)
            }
            _ => Ok(inside),
        };
        sum.map_err(OverLimit::as_str)
    }

    /// An inline step, with the policy that applies to it.
    fn step(&mut self, step: u32, inside: Sum) -> Result<Result<Sum, OverLimit>, &'static str> {
        let index = usize::try_from(step).unwrap_or(usize::MAX);
        let Some(step) = self.unit.steps.get(index) else { return Err("its operands do not exist") };
        if step.policy.is_some_and(|policy| policy.retries()) && !inside.eligible {
            return Err(NOT_ELIGIBLE);
        }
        let policy = policy_of_step(step, inside.eligible, self.program.parameters_of_compilation.retry);
        let attempts_max = attempts_max(inside.ns, policy.as_ref());
        let (max, statements) = match (
            bound(inside.ns, policy.as_ref()),
            statements(u64::from(step.written), attempts_max, inside.statements),
        ) {
            (Ok(max), Ok(statements)) => (max, statements),
            (Err(over), _) | (_, Err(over)) => return Ok(Err(over)),
        };
        let claims =
            Claims { eligible: inside.eligible, attempt: inside.ns, on_failure: 0, max, attempts_max, statements };
        if let Some(place) = self.steps.get_mut(index) {
            *place = claims;
        }
        Ok(Ok(Sum { ns: max, statements, eligible: inside.eligible }))
    }
}

/// Turns of a `for each`.
fn turns(over: &Sequence) -> u64 {
    let count = match over {
        Sequence::Range(first, last) => i128::from(*last) - i128::from(*first) + 1,
        Sequence::List(values) => return u64::try_from(values.len()).unwrap_or(u64::MAX),
    };
    u64::try_from(count.max(0)).unwrap_or(u64::MAX)
}
