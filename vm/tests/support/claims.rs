//! Claims for hand-made programs, by a walk of their own over the structured code.

use stellar_vm::{
    bounds::{attempts_max, bound, effective_policy},
    op::Op,
    program::{Claims, Kind, Program},
};

#[derive(Clone, Copy, Default)]
struct Sum {
    ns: i64,
    statements: u64,
    eligible: bool,
}

impl Sum {
    const NOTHING: Self = Self { ns: 0, statements: 0, eligible: true };

    fn of(ns: i64) -> Self {
        Self { ns, statements: 1, eligible: true }
    }

    fn then(self, next: Self) -> Self {
        Self {
            ns: self.ns + next.ns,
            statements: self.statements + next.statements,
            eligible: self.eligible && next.eligible,
        }
    }
}

/// Fills the claims of every unit in; callees first.
pub(crate) fn fill(program: &mut Program) {
    let mut done = vec![false; program.units.len()];
    while done.contains(&false) {
        for unit in 0..program.units.len() {
            let ready = |call: &stellar_vm::program::Call| done[call.unit as usize];
            if !done[unit] && program.units[unit].calls.iter().all(ready) {
                fill_unit(program, unit);
                done[unit] = true;
            }
        }
    }
}

fn fill_unit(program: &mut Program, unit: usize) {
    let end = program.units[unit].code.len();
    let mut failure_from = end;
    let mut pc = 0;
    while pc < end {
        pc = match program.units[unit].code[pc] {
            Op::OnFailure { .. } => {
                failure_from = pc;
                end
            }
            op => block_end(op).map_or(pc + 1, |end| end as usize),
        };
    }
    let body = walk(program, unit, 0, failure_from);
    let failure = if failure_from < end { walk(program, unit, failure_from + 1, end) } else { Sum::NOTHING };
    let all = body.then(failure);
    let policy = program.units[unit].policy.filter(|policy| policy.retries());
    program.units[unit].claims = Claims {
        eligible: all.eligible,
        attempt: all.ns,
        on_failure: failure.ns,
        max: bound(all.ns, policy.as_ref()).unwrap(),
        attempts_max: attempts_max(all.ns, policy.as_ref()),
        statements: all.statements * attempts_max(all.ns, policy.as_ref()),
    };
}

fn block_end(op: Op) -> Option<u32> {
    match op {
        Op::If { end, .. }
        | Op::Repeat { end, .. }
        | Op::ForEach { end, .. }
        | Op::Together { end }
        | Op::Branch { end }
        | Op::Step { end, .. } => Some(end),
        _ => None,
    }
}

fn walk(program: &mut Program, unit: usize, from: usize, to: usize) -> Sum {
    let mut sum = Sum::NOTHING;
    let mut pc = from;
    while pc < to {
        let op = program.units[unit].code[pc];
        sum = sum.then(one(program, unit, pc, op));
        pc = block_end(op).map_or(pc + 1, |end| end as usize);
    }
    sum
}

fn one(program: &mut Program, unit: usize, pc: usize, op: Op) -> Sum {
    let of = program.units[unit].clone();
    let default = program.parameters_of_compilation.retry;
    match op {
        Op::Send(send) => {
            let telecommand = &program.telecommands[of.sends[send as usize].telecommand as usize];
            Sum { eligible: !telecommand.changes_state, ..Sum::of(telecommand.verify.window) }
        }
        Op::Expect(expect) => Sum::of(of.expects[expect as usize].within),
        Op::WaitUntil { within, .. } | Op::WaitTime { within, .. } => Sum::of(of.durations[within as usize]),
        Op::Wait(duration) => Sum::of(of.durations[duration as usize]),
        Op::Ask(ask) => Sum::of(of.asks[ask as usize].within),
        Op::Transfer(transfer) => Sum { eligible: false, ..Sum::of(of.transfers[transfer as usize].within) },
        Op::Judge { .. } => Sum::NOTHING,
        Op::If { otherwise, end, .. } => {
            let then = walk(program, unit, pc + 1, otherwise as usize);
            let other = walk(program, unit, otherwise as usize, end as usize);
            Sum {
                ns: then.ns.max(other.ns),
                statements: 1 + then.statements.max(other.statements),
                eligible: then.eligible && other.eligible,
            }
        }
        Op::Repeat { times, end } => turns(walk(program, unit, pc + 1, end as usize), i64::from(times)),
        Op::ForEach { each, end } => {
            let count = match &of.loops[each as usize].over {
                stellar_vm::program::Sequence::Range(from, to) => to - from + 1,
                stellar_vm::program::Sequence::List(values) => values.len() as i64,
            };
            turns(walk(program, unit, pc + 1, end as usize), count)
        }
        Op::Together { end } => {
            let mut sum = Sum::of(0);
            let mut branch = pc + 1;
            while branch < end as usize {
                let Op::Branch { end } = of.code[branch] else { unreachable!() };
                let one = walk(program, unit, branch + 1, end as usize);
                sum = Sum {
                    ns: sum.ns.max(one.ns),
                    statements: sum.statements + one.statements,
                    eligible: sum.eligible && one.eligible,
                };
                branch = end as usize;
            }
            sum
        }
        Op::Step { step, end } => {
            let attempt = walk(program, unit, pc + 1, end as usize);
            let inline = &mut program.units[unit].steps[step as usize];
            let policy = if inline.written {
                effective_policy(Kind::Step, attempt.eligible, None, inline.policy, default)
            } else {
                None
            };
            inline.claims = claims(attempt, 0, policy, inline.written);
            Sum { ns: inline.claims.max, statements: inline.claims.statements, eligible: attempt.eligible }
        }
        Op::Do(call) | Op::Run(call) => {
            let callee = program.units[of.calls[call as usize].unit as usize].clone();
            let eligible = callee.claims.eligible;
            let called = of.calls[call as usize].policy;
            let policy = effective_policy(callee.kind, eligible, called, callee.policy, default);
            let statements = callee.claims.statements / callee.claims.attempts_max;
            let attempt = Sum { ns: callee.claims.attempt, statements, eligible };
            let filled = claims(attempt, callee.claims.on_failure, policy, true);
            program.units[unit].calls[call as usize].claims = filled;
            Sum { ns: filled.max, statements: filled.statements, eligible }
        }
        _ => Sum::of(0),
    }
}

fn turns(body: Sum, count: i64) -> Sum {
    Sum { ns: body.ns * count, statements: 1 + body.statements * count as u64, eligible: body.eligible }
}

fn claims(attempt: Sum, on_failure: i64, policy: Option<stellar_vm::program::Policy>, row: bool) -> Claims {
    let attempts = attempts_max(attempt.ns, policy.as_ref());
    Claims {
        eligible: attempt.eligible,
        attempt: attempt.ns,
        on_failure,
        max: bound(attempt.ns, policy.as_ref()).unwrap(),
        attempts_max: attempts,
        statements: u64::from(row) + attempts * attempt.statements,
    }
}
