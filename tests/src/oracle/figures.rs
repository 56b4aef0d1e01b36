//! Maximum duration, attempts, statements and eligibility, computed from the tree by the formulas of the text.

use super::model::*;

/// What a statement, a block or a call comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) ns: i128,
    pub(super) statements: u128,
    pub(super) eligible: bool,
}

impl Cost {
    const NOTHING: Self = Self { ns: 0, statements: 0, eligible: true };

    fn of(ns: Ns) -> Self {
        Self { ns: i128::from(ns), statements: 1, eligible: true }
    }
}

/// A step or call with the policy that applies to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) policy: Option<Policy>,
    pub(super) eligible: bool,
    pub(super) attempt: Ns,
    pub(super) on_failure: Ns,
    pub(super) max: Ns,
    pub(super) attempts_max: u64,
    pub(super) statements: u64,
}

/// The figures of every definition.
#[derive(Debug, Clone)]
pub(super) struct Figures {
    /// With its own policy, and the statements of one attempt.
    pub(super) defs: Vec<(Part, u128)>,
}

const LONGEST: i128 = 365 * 86_400 * S as i128;
const MOST: u128 = 1_000_000;

/// All attempts together.
fn bound(attempt: i128, policy: Option<Policy>) -> i128 {
    let Some(policy) = policy else { return attempt };
    let counted = policy.times.map(|n| attempt + i128::from(n) * attempt.max(i128::from(policy.every.unwrap_or(0))));
    let timed = policy.total.map(|total| attempt.max(i128::from(total)));
    match (counted, timed) {
        (Some(a), Some(b)) => a.min(b),
        (a, b) => a.or(b).expect("a limit"),
    }
}

fn attempts_max(attempt: i128, policy: Option<Policy>) -> u128 {
    let Some(policy) = policy else { return 1 };
    let counted = policy.times.map(|n| 1 + u128::from(n));
    let Some(total) = policy.total.map(i128::from) else { return counted.expect("a limit") };
    if total < attempt {
        return 1;
    }
    let every = i128::from(policy.every.unwrap_or(0));
    match counted {
        None => 1 + ((total - attempt) / every.max(i128::from(100 * MS))) as u128,
        Some(counted) if every == 0 => counted,
        Some(counted) => counted.min(1 + ((total - attempt) / every) as u128),
    }
}

impl Figures {
    /// The figures of a program; `None` where one is past its limit.
    pub(super) fn of(program: &Program) -> Option<Self> {
        let mut figures = Self { defs: Vec::new() };
        for def in &program.defs {
            let body = figures.block(program, &def.body)?;
            let after = def.on_failure.as_ref().map_or(Some(Cost::NOTHING), |block| figures.block(program, block))?;
            let one = Cost {
                ns: body.ns + after.ns,
                statements: body.statements + after.statements,
                eligible: body.eligible && after.eligible,
            };
            let policy = def.policy.filter(|policy| policy.times != Some(0));
            let mut part = part(one, policy, 0)?;
            part.on_failure = Ns::try_from(after.ns).ok()?;
            figures.defs.push((part, one.statements));
        }
        Some(figures)
    }

    pub(super) fn of_call(&self, program: &Program, call: &Call) -> Part {
        self.call(program, call).expect("within the limits")
    }

    fn call(&self, program: &Program, call: &Call) -> Option<Part> {
        let (own, statements) = self.defs[call.def];
        let def = &program.defs[call.def];
        let default = program.default_retry.filter(|_| own.eligible);
        let chosen = if def.is_step { call.policy.or(def.policy).or(default) } else { call.policy };
        let one = Cost { ns: i128::from(own.attempt), statements, eligible: own.eligible };
        let mut part = part(one, chosen.filter(|policy| policy.times != Some(0)), 1)?;
        part.on_failure = own.on_failure;
        Some(part)
    }

    pub(super) fn of_inline(&self, program: &Program, policy: Option<&Policy>, block: &[Stmt]) -> Part {
        self.inline(program, policy, block).expect("within the limits")
    }

    fn inline(&self, program: &Program, policy: Option<&Policy>, block: &[Stmt]) -> Option<Part> {
        let one = self.block(program, block)?;
        let default = program.default_retry.filter(|_| one.eligible);
        part(one, policy.copied().or(default).filter(|policy| policy.times != Some(0)), 1)
    }

    /// The longest that a statement without a block lasts.
    pub(super) fn longest(&self, program: &Program, stmt: &Stmt) -> Ns {
        match &stmt.kind {
            Kind::If { .. } => 0,
            _ => Ns::try_from(self.stmt(program, stmt).expect("within the limits").ns).expect("within the limits"),
        }
    }

    /// Whether a statement that stands directly in a procedure is a step of its own; those that hold others apart.
    pub(super) fn is_step_of_its_own(stmt: &Stmt) -> bool {
        match &stmt.kind {
            Kind::Let { value, .. } => value.can_fail(),
            Kind::Check(_) | Kind::WaitUntil { .. } | Kind::WaitTime { .. } | Kind::Ask(_) => true,
            _ => false,
        }
    }

    fn block(&self, program: &Program, block: &[Stmt]) -> Option<Cost> {
        let mut sum = Cost::NOTHING;
        for stmt in block {
            let one = self.stmt(program, stmt)?;
            sum.ns += one.ns;
            sum.statements += one.statements;
            sum.eligible &= one.eligible;
        }
        (sum.ns <= LONGEST && sum.statements <= MOST).then_some(sum)
    }

    fn stmt(&self, program: &Program, stmt: &Stmt) -> Option<Cost> {
        let turns = |count: usize, body: &[Stmt]| {
            let one = self.block(program, body)?;
            Some(Cost {
                ns: one.ns * count as i128,
                statements: 1 + one.statements * count as u128,
                eligible: one.eligible,
            })
        };
        Some(match &stmt.kind {
            Kind::Send(send) => {
                let of = &program.catalogue.telecommands[send.telecommand];
                Cost { eligible: !of.changes, ..Cost::of(of.window) }
            }
            Kind::Expect { within, .. } | Kind::WaitUntil { within, .. } | Kind::WaitTime { within, .. } => {
                Cost::of(*within)
            }
            Kind::Wait(ns) => Cost::of(*ns),
            Kind::Ask(ask) => Cost::of(ask.within),
            Kind::Transfer { within, .. } => Cost { eligible: false, ..Cost::of(*within) },
            Kind::Check(_) | Kind::Note(_) | Kind::Let { .. } | Kind::Fail(_) => Cost::of(0),
            Kind::If { then, other, .. } => {
                let (a, b) = (self.block(program, then)?, self.block(program, other)?);
                Cost {
                    ns: a.ns.max(b.ns),
                    statements: 1 + a.statements.max(b.statements),
                    eligible: a.eligible && b.eligible,
                }
            }
            Kind::Repeat { times, body } => turns(*times as usize, body)?,
            Kind::ForEach { over, body, .. } => {
                let count = match over {
                    Over::Range(low, high) => usize::try_from(high - low + 1).ok()?,
                    Over::List(all) => all.len(),
                };
                turns(count, body)?
            }
            Kind::Together(branches) => {
                let mut sum = Cost { statements: 1, ..Cost::NOTHING };
                for branch in branches {
                    let one = self.block(program, branch)?;
                    sum.ns = sum.ns.max(one.ns);
                    sum.statements += one.statements;
                    sum.eligible &= one.eligible;
                }
                sum
            }
            Kind::Do(call) | Kind::Run(call) => {
                let part = self.call(program, call)?;
                // An input that can be without a value is read by a step of its own before.
                let read = call.inputs.iter().flatten().filter(|input| input.can_fail()).count();
                let statements = u128::from(part.statements) + read as u128;
                Cost { ns: i128::from(part.max), statements, eligible: part.eligible }
            }
            Kind::Step { policy, body, .. } => {
                let part = self.inline(program, policy.as_ref(), body)?;
                Cost { ns: i128::from(part.max), statements: u128::from(part.statements), eligible: part.eligible }
            }
        })
    }

    /// The parts of a definition that are steps or calls, in the order of the text.
    pub(super) fn parts(&self, program: &Program, block: &[Stmt], steps: &mut Vec<Part>, calls: &mut Vec<Part>) {
        for stmt in block {
            match &stmt.kind {
                Kind::Do(call) | Kind::Run(call) => calls.push(self.of_call(program, call)),
                Kind::Step { policy, body, .. } => steps.push(self.of_inline(program, policy.as_ref(), body)),
                Kind::If { then, other, .. } => {
                    self.parts(program, then, steps, calls);
                    self.parts(program, other, steps, calls);
                }
                Kind::Repeat { body, .. } | Kind::ForEach { body, .. } => self.parts(program, body, steps, calls),
                Kind::Together(branches) => branches.iter().for_each(|it| self.parts(program, it, steps, calls)),
                _ => {}
            }
        }
    }
}

fn part(one: Cost, policy: Option<Policy>, own: u128) -> Option<Part> {
    let (max, attempts) = (bound(one.ns, policy), attempts_max(one.ns, policy));
    let statements = own + attempts * one.statements;
    if max > LONGEST || statements > MOST || one.ns > LONGEST {
        return None;
    }
    Some(Part {
        policy,
        eligible: one.eligible,
        attempt: Ns::try_from(one.ns).ok()?,
        on_failure: 0,
        max: Ns::try_from(max).ok()?,
        attempts_max: u64::try_from(attempts).ok()?,
        statements: u64::try_from(statements).ok()?,
    })
}

/// Where the artifact's claims are not the figures.
pub(super) fn differences(
    program: &Program,
    figures: &Figures,
    compiled: &stellar_vm::program::Program,
) -> Vec<String> {
    let mut found = Vec::new();
    let mut same = |what: String, part: &Part, claims: &stellar_vm::program::Claims| {
        let claimed = Part {
            policy: part.policy,
            eligible: claims.eligible,
            attempt: claims.attempt,
            on_failure: claims.on_failure,
            max: claims.max,
            attempts_max: claims.attempts_max,
            statements: claims.statements,
        };
        if claimed != *part {
            found.push(format!("{what}: computed {part:?}, claimed {claimed:?}"));
        }
    };
    for (def, (part, _)) in program.defs.iter().zip(&figures.defs) {
        let Some(unit) = compiled.units.iter().find(|unit| *unit.name == *def.title) else { continue };
        same(def.title.clone(), part, &unit.claims);
        let (mut steps, mut calls) = (Vec::new(), Vec::new());
        for block in std::iter::once(&def.body).chain(&def.on_failure) {
            figures.parts(program, block, &mut steps, &mut calls);
        }
        let written: Vec<_> = unit.steps.iter().filter(|step| step.written).collect();
        if (written.len(), unit.calls.len()) != (steps.len(), calls.len()) {
            same(format!("{}: numbers of parts", def.title), part, &unit.claims);
            continue;
        }
        for (at, (step, part)) in written.iter().zip(&steps).enumerate() {
            same(format!("{}, inline step {at}", def.title), part, &step.claims);
        }
        for (at, (call, part)) in unit.calls.iter().zip(&calls).enumerate() {
            same(format!("{}, call {at}", def.title), part, &call.claims);
        }
    }
    found
}
