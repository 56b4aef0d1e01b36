//! Random programs: every statement, every policy, calls of calls.

use alloc::{format, vec, vec::Vec};

use super::Dice;
use crate::{
    condition::{ExprOp, Read},
    op::{ExprId, Op},
    program::{Ask, Call, Claims, ForEach, Kind, Part, Policy, Program, Sequence, Template, Transfer, Unit},
    sample::{self, Build, MODE, PING, RESPONDING, S, STANDBY, text},
    value::{Type, Value},
};

const MS: i64 = 1_000_000;

fn duration(dice: &mut Dice) -> i64 {
    dice.pick(&[0, MS, 50 * MS, 100 * MS, 500 * MS, S, 3 * S])
}

fn policy(dice: &mut Dice) -> Option<Policy> {
    if dice.one_in(3) {
        return None;
    }
    let times = if dice.one_in(2) { Some(dice.below(4) as u32) } else { None };
    let total = if times.is_none() || dice.one_in(3) { Some(dice.pick(&[0, 300 * MS, 2 * S, 10 * S])) } else { None };
    let every = if dice.one_in(2) { Some(duration(dice)) } else { None };
    Some(Policy { times, every, total })
}

/// Two to four steps, then as many procedures, each of which calls only what stands behind it.
pub(super) fn program(dice: &mut Dice) -> Program {
    let steps = 2 + dice.below(3) as u32;
    let procedures = 2 + dice.below(3) as u32;
    let mut units: Vec<Unit> = Vec::new();
    for at in 0..steps {
        let mut b = Build::step(&format!("S{at}"));
        // The first two never change the state, so that policies meet eligible steps.
        let mut make = Make {
            dice,
            b: &mut b,
            target: 0,
            safe: at < 2,
            in_step: true,
            library: 0,
            first_procedure: 0,
            end: 0,
            depth: 0,
        };
        make.body(4);
        if at < 2 {
            b.0.policy = policy(dice);
        }
        units.push(b.0);
    }
    let end = steps + procedures;
    for at in steps..end {
        let mut b = Build::procedure(&format!("P{at}"));
        b.target("other");
        // The last of all is safe, for the retries of a `run`.
        let safe = at + 1 == end;
        let target = dice.below(2) as u32;
        let mut make = Make {
            dice,
            b: &mut b,
            target,
            safe,
            in_step: false,
            library: steps,
            first_procedure: at + 1,
            end,
            depth: 0,
        };
        make.body(4);
        if make.dice.one_in(2) {
            let failure = make.b.op(Op::OnFailure { end: 0 });
            make.body(2);
            make.b.end(failure);
        }
        units.push(b.0);
    }
    let mut program = Program { units, ..sample::program(vec![]) };
    program.parameters_of_compilation.retry = policy(dice);
    for telecommand in &mut program.telecommands {
        let window = dice.pick(&[500 * MS, 2 * S]);
        telecommand.verify.default_window = false;
        telecommand.verify.window = window;
        telecommand.verify.stages = vec![(crate::catalogue::Stage::Completed, window)];
    }
    program
}

struct Make<'a> {
    dice: &'a mut Dice,
    b: &'a mut Build,
    /// The target of what is sent here; branches have one each.
    target: u32,
    /// Whether nothing here changes the state.
    safe: bool,
    in_step: bool,
    /// How many library steps there are.
    library: u32,
    first_procedure: u32,
    end: u32,
    depth: u32,
}

impl Make<'_> {
    fn body(&mut self, most: u64) {
        for _ in 0..1 + self.dice.below(most) {
            if self.in_step { self.in_step() } else { self.directly() }
        }
    }

    fn condition(&mut self) -> ExprId {
        let index = 1 + self.dice.below(2) as i64;
        let read = |parameter| vec![Read { target: self.target, parameter }];
        match self.dice.below(3) {
            0 => self.b.responding(self.target, index),
            1 => {
                let constants = vec![Value::Int(index), Value::Enum { def: 0, label: 1 }];
                let code = vec![ExprOp::Const(0), ExprOp::Read(0), ExprOp::Const(1), ExprOp::IsNot];
                self.b.expr(code, constants, read(MODE))
            }
            _ => {
                let constants = vec![Value::Int(index)];
                self.b.expr(vec![ExprOp::Const(0), ExprOp::Known(0)], constants, read(RESPONDING))
            }
        }
    }

    fn within(&mut self) -> u32 {
        let ns = duration(self.dice);
        self.b.0.durations.push(ns);
        self.b.0.durations.len() as u32 - 1
    }

    fn in_step(&mut self) {
        match self.dice.below(if self.depth < 2 { 13 } else { 10 }) {
            0 | 1 => {
                let index = 1 + self.dice.below(2) as i64;
                let index = self.b.value(Value::Int(index));
                let telecommand = if self.safe || self.dice.one_in(2) { PING } else { STANDBY };
                self.b.send(telecommand, self.target, index, vec![]);
            }
            2 => {
                let cond = self.condition();
                let within = duration(self.dice);
                let held = if self.dice.one_in(2) { Some(within / 2) } else { None };
                self.b.expect(cond, held, within);
            }
            3 => self.single(0),
            4 => self.single(1),
            5 => self.single(2),
            6 => self.single(3),
            7 => self.single(4),
            8 if !self.safe => {
                let within = duration(self.dice);
                let file = Template { parts: vec![Part::Text(text("f"))] };
                let component = text("eps");
                let (target, component_index, index) = (self.target, None, None);
                self.b.0.transfers.push(Transfer { file, target, component, component_index, index, within });
                let at = self.b.0.transfers.len() as u32 - 1;
                self.b.op(Op::Transfer(at));
            }
            8 | 9 => {
                if self.dice.one_in(4) {
                    self.b.0.texts.push(text("no"));
                    let at = self.b.0.texts.len() as u32 - 1;
                    self.b.op(Op::Fail(at));
                } else {
                    self.wait();
                }
            }
            10 => {
                let cond = self.condition();
                self.if_else(cond);
            }
            _ => self.looped(),
        }
    }

    fn wait(&mut self) {
        let ns = duration(self.dice);
        self.b.wait(ns);
    }

    /// A statement that can stand in a step of its own.
    fn single(&mut self, which: u64) {
        match which {
            0 => {
                let cond = self.condition();
                self.b.op(Op::Check(cond));
            }
            1 => {
                let (cond, within) = (self.condition(), self.within());
                self.b.op(Op::WaitUntil { cond, within });
            }
            2 => {
                let until = self.dice.pick(&[-S, S / 2, 2 * S]);
                let (time, within) = (self.b.value(Value::Time(crate::adversary::START + until)), self.within());
                self.b.op(Op::WaitTime { time, within });
            }
            3 => {
                let within = duration(self.dice);
                let choices = if self.dice.one_in(2) { vec![] } else { vec![text("A"), text("B")] };
                let text = Template { parts: vec![Part::Text(text("?"))] };
                self.b.0.asks.push(Ask { text, choices, within, local: None });
                let at = self.b.0.asks.len() as u32 - 1;
                self.b.op(Op::Ask(at));
            }
            _ => {
                let name = format!("x{}", self.b.0.locals.len());
                let local = self.b.local(&name, Type::Bool);
                let value = self.b.responding(self.target, 1);
                self.b.op(Op::Let { local, value });
            }
        }
    }

    fn if_else(&mut self, cond: ExprId) {
        let at = self.b.op(Op::If { cond, otherwise: 0, end: 0 });
        self.deeper(2);
        if self.dice.one_in(2) {
            self.b.otherwise(at);
            self.deeper(2);
        }
        self.b.end(at);
    }

    fn deeper(&mut self, most: u64) {
        self.depth += 1;
        self.body(most);
        self.depth -= 1;
    }

    fn looped(&mut self) {
        let at = if self.dice.one_in(2) {
            let times = 1 + self.dice.below(3) as u32;
            self.b.op(Op::Repeat { times, end: 0 })
        } else {
            let name = format!("n{}", self.b.0.locals.len());
            let local = self.b.local(&name, Type::Int { min: 0, max: 9 });
            let last = self.dice.below(3) as i64;
            self.b.0.loops.push(ForEach { local, over: Sequence::Range(0, last) });
            let each = self.b.0.loops.len() as u32 - 1;
            self.b.op(Op::ForEach { each, end: 0 })
        };
        self.deeper(2);
        self.b.end(at);
    }

    fn directly(&mut self) {
        match self.dice.below(if self.depth < 2 { 10 } else { 7 }) {
            0 | 1 => {
                let steps = u64::from(if self.safe { 2 } else { self.library });
                let unit = self.dice.below(steps) as u32;
                let policy = if unit < 2 && self.dice.one_in(2) { policy(self.dice) } else { None };
                self.call(unit, Kind::Step, vec![self.target], policy);
            }
            2 if self.first_procedure < self.end => {
                let safe = self.safe || self.dice.one_in(2);
                let unit = match self.end - 1 {
                    last if safe => last,
                    _ => self.first_procedure + self.dice.below(u64::from(self.end - self.first_procedure)) as u32,
                };
                let policy = if unit == self.end - 1 { policy(self.dice) } else { None };
                self.call(unit, Kind::Procedure, vec![self.target, 1 - self.target], policy);
            }
            2 | 3 => {
                let policy = if self.safe { policy(self.dice) } else { None };
                let step = self.b.open_step("inline", true, policy);
                self.in_step = true;
                self.deeper(3);
                self.in_step = false;
                self.b.end(step);
            }
            4 => {
                let step = self.b.open_step("statement", false, None);
                let which = self.dice.below(5);
                self.single(which);
                self.b.end(step);
            }
            5 => self.wait(),
            6 => {
                self.b.note(vec![Part::Text(text("here"))]);
            }
            7 => {
                let local = self.b.local("", Type::Bool);
                let step = self.b.open_step("if", false, None);
                let cond = self.condition();
                self.b.op(Op::Judge { cond, local });
                self.b.end(step);
                let cond = self.b.name(local);
                self.if_else(cond);
            }
            8 => self.looped(),
            _ => {
                let together = self.b.op(Op::Together { end: 0 });
                let (target, safe) = (self.target, self.safe);
                for branch in 0..2 {
                    let at = self.b.op(Op::Branch { end: 0 });
                    // The second one only looks where it has the first one's target.
                    self.target = branch;
                    self.deeper(2);
                    self.b.end(at);
                }
                (self.target, self.safe) = (target, safe);
                self.b.end(together);
            }
        }
    }

    fn call(&mut self, unit: u32, kind: Kind, targets: Vec<u32>, policy: Option<Policy>) {
        self.b.0.calls.push(Call { unit, targets, inputs: vec![], policy, claims: Claims::default() });
        let at = self.b.0.calls.len() as u32 - 1;
        self.b.op(if kind == Kind::Step { Op::Do(at) } else { Op::Run(at) });
    }
}
