//! The operands of statements: they exist, have the asked types, and read only what is assigned where they stand.
//!
//! Each entry of a table is checked once, whatever refers to it; at an op there is only its stretch left to ask.

use alloc::{format, vec, vec::Vec};

use super::{
    VerifyError,
    blocks::Event,
    calls, entry,
    exprs::{self, Checked, Exprs, Shape},
    place,
    scopes::{Scopes, Stretch},
    told,
};
use crate::{
    bounds::MAX_TURNS,
    op::{ExprId, Local, Op},
    program::{Ask, ForEach, Kind, Program, Send, Sequence, Transfer, Unit},
    value::Value,
};

type Found = Result<Stretch, &'static str>;

const NO_ENTRY: &str = "its operands do not exist";

/// Checks all operands of a unit, then every op.
pub(super) fn check(
    program: &Program,
    unit: &Unit,
    events: &[Event],
    scopes: &Scopes,
    exprs: &Exprs,
) -> Result<(), VerifyError> {
    let within = Within { program, unit, scopes, exprs };
    let mut ops = Ops {
        sends: within.table("send", &unit.sends, |send| within.send(send))?,
        expects: within.table("expect", &unit.expects, |expect| within.shaped(expect.cond, Shape::Bool))?,
        asks: within.table("ask", &unit.asks, |ask| within.ask(ask))?,
        transfers: within.table("transfer", &unit.transfers, |transfer| within.transfer(transfer))?,
        notes: within.table("note", &unit.notes, |note| Ok(scopes.template(&note.text)))?,
        loops: within.table("loop", &unit.loops, |each| within.each(each))?,
        calls: within.table("call", &unit.calls, |call| calls::check(program, unit, call, exprs))?,
        steps_used: vec![false; unit.steps.len()],
        calls_used: vec![false; unit.calls.len()],
        in_step: unit.kind == Kind::Step,
        within,
    };
    for event in events {
        let (pc, op) = match *event {
            Event::Op(pc, op) | Event::Open(pc, op) => (pc, op),
            Event::Else => continue,
            Event::Close(_, op) => {
                ops.in_step &= !matches!(op, Op::Step { .. });
                continue;
            }
        };
        let refuse = |what| VerifyError::malformed(&place(unit, pc), what);
        if !ops.op(op).map_err(refuse)?.has(pc) {
            return Err(refuse("it reads a name that is not given on every path to it"));
        }
        ops.in_step |= matches!(op, Op::Step { .. });
    }
    if ops.steps_used.iter().chain(&ops.calls_used).all(|used| *used) {
        return Ok(());
    }
    Err(VerifyError::malformed(&told(unit.kind, &unit.name), "a step or call stands in its tables but not in its code"))
}

#[derive(Clone, Copy)]
struct Within<'a> {
    program: &'a Program,
    unit: &'a Unit,
    scopes: &'a Scopes,
    exprs: &'a Exprs,
}

impl Within<'_> {
    fn table<T>(&self, kind: &str, table: &[T], check: impl Fn(&T) -> Found) -> Result<Vec<Stretch>, VerifyError> {
        let at = |(index, one)| {
            check(one).map_err(|what| {
                let place = format!("{}, {kind} {index}", told(self.unit.kind, &self.unit.name));
                VerifyError::malformed(&place, what)
            })
        };
        table.iter().enumerate().map(at).collect()
    }

    fn expr(&self, id: ExprId) -> Result<Checked, &'static str> {
        self.exprs.get(id).ok_or("an expression does not exist")
    }

    fn shaped(&self, id: ExprId, shape: Shape) -> Found {
        let expr = self.expr(id)?;
        if expr.shape == shape { Ok(expr.stretch) } else { Err("an expression has the wrong type") }
    }

    fn local_shape(&self, local: Local) -> Result<Shape, &'static str> {
        let def = entry(&self.unit.locals, local).ok_or("a local does not exist")?;
        Ok(Shape::of(&def.ty))
    }

    /// An index stands where the component has one, and nowhere else.
    fn index(&self, range: Option<(i64, i64)>, index: Option<ExprId>) -> Found {
        match (range, index) {
            (None, None) => Ok(Stretch::ALL),
            (Some(_), Some(index)) => self.shaped(index, Shape::Int),
            _ => Err("it names a component with a missing or superfluous index"),
        }
    }

    fn send(&self, send: &Send) -> Found {
        let telecommand = entry(&self.program.telecommands, send.telecommand).ok_or("a telecommand does not exist")?;
        let target = entry(&self.unit.targets, send.target).ok_or("a target does not exist")?;
        let route = entry(&self.program.routes, send.route).ok_or("a route does not exist")?;
        if target.platform != telecommand.platform || route.platform != telecommand.platform {
            return Err("target, telecommand and route are not of one platform");
        }
        if send.args.len() != telecommand.args.len() {
            return Err("it has not the telecommand's number of arguments");
        }
        let mut stretch = self.index(telecommand.index, send.index)?;
        for (given, arg) in send.args.iter().zip(&telecommand.args) {
            match given {
                Some(_) if arg.fixed.is_some() => return Err("it gives an argument that has a fixed value"),
                Some(value) => stretch = stretch.and(self.shaped(*value, Shape::of(&arg.ty))?),
                None if arg.default.is_none() && arg.fixed.is_none() => return Err("it lacks an argument"),
                None => {}
            }
        }
        Ok(stretch)
    }

    fn ask(&self, ask: &Ask) -> Found {
        let wanted = if ask.choices.is_empty() { Shape::Bool } else { Shape::Str };
        if let Some(local) = ask.local
            && self.local_shape(local)? != wanted
        {
            return Err("its answer is kept under a name of another type");
        }
        Ok(self.scopes.template(&ask.text))
    }

    fn transfer(&self, transfer: &Transfer) -> Found {
        entry(&self.unit.targets, transfer.target).ok_or("a target does not exist")?;
        let index = self.index(transfer.component_index, transfer.index)?;
        Ok(index.and(self.scopes.template(&transfer.file)))
    }

    fn each(&self, each: &ForEach) -> Found {
        let local = entry(&self.unit.locals, each.local).ok_or("a local does not exist")?;
        let fits = |value: &Value| exprs::fits(self.program, value, &local.ty);
        match &each.over {
            Sequence::Range(first, last) if first > last => Err("it goes over nothing"),
            Sequence::Range(first, last) => {
                [*first, *last].into_iter().try_for_each(|end| fits(&Value::Int(end)))?;
                Ok(Stretch::ALL)
            }
            Sequence::List(values) if values.is_empty() => Err("it goes over nothing"),
            Sequence::List(values) => {
                values.iter().try_for_each(fits)?;
                Ok(Stretch::ALL)
            }
        }
    }
}

/// What is known of the operands while the ops are gone through.
struct Ops<'a> {
    within: Within<'a>,
    sends: Vec<Stretch>,
    expects: Vec<Stretch>,
    asks: Vec<Stretch>,
    transfers: Vec<Stretch>,
    notes: Vec<Stretch>,
    loops: Vec<Stretch>,
    calls: Vec<Stretch>,
    steps_used: Vec<bool>,
    calls_used: Vec<bool>,
    in_step: bool,
}

impl Ops<'_> {
    /// Checks what an op refers to, and tells where its operands are assigned.
    fn op(&mut self, op: Op) -> Found {
        let listed = |table: &[Stretch], index| entry(table, index).copied().ok_or(NO_ENTRY);
        let within = self.within;
        let unit = within.unit;
        match op {
            Op::Send(at) => listed(&self.sends, at),
            Op::Expect(at) => listed(&self.expects, at),
            Op::Ask(at) => listed(&self.asks, at),
            Op::Transfer(at) => listed(&self.transfers, at),
            Op::Note(at) => listed(&self.notes, at),
            Op::ForEach { each, .. } => listed(&self.loops, each),
            Op::Check(cond) => within.shaped(cond, Shape::Bool),
            Op::Wait(duration) => self.limited(duration, Stretch::ALL),
            Op::WaitUntil { cond, within: limit } => self.limited(limit, within.shaped(cond, Shape::Bool)?),
            Op::WaitTime { time, within: limit } => self.limited(limit, within.shaped(time, Shape::Time)?),
            Op::Let { local, value } => {
                let stretch = within.shaped(value, within.local_shape(local)?)?;
                self.sure(value).map(|()| stretch)
            }
            Op::Fail(text) => entry(&unit.texts, text).map(|_| Stretch::ALL).ok_or(NO_ENTRY),
            Op::Judge { cond, local } if within.local_shape(local)? == Shape::Bool => within.shaped(cond, Shape::Bool),
            Op::Judge { .. } => Err("its outcome is kept in a local that is not true or false"),
            Op::If { cond, .. } => {
                let stretch = within.shaped(cond, Shape::Bool)?;
                self.sure(cond).map(|()| stretch)
            }
            Op::Repeat { times, .. } if (1..=MAX_TURNS).contains(&times) => Ok(Stretch::ALL),
            Op::Repeat { .. } => Err("it repeats less than once or more than 10000 times"),
            Op::Together { .. } | Op::Branch { .. } | Op::OnFailure { .. } => Ok(Stretch::ALL),
            Op::Step { step, .. } => once(&mut self.steps_used, step).map(|()| Stretch::ALL),
            Op::Do(at) => self.call(at, Kind::Step),
            Op::Run(at) => self.call(at, Kind::Procedure),
        }
    }

    fn limited(&self, duration: u32, stretch: Stretch) -> Found {
        entry(&self.within.unit.durations, duration).map(|_| stretch).ok_or(NO_ENTRY)
    }

    /// What stands directly in a procedure has no step that could fail for it.
    fn sure(&self, value: ExprId) -> Result<(), &'static str> {
        let expr = self.within.expr(value)?;
        if self.in_step || expr.is_sure() { Ok(()) } else { Err("it can fail, but stands in no step") }
    }

    fn call(&mut self, at: u32, kind: Kind) -> Found {
        let call = entry(&self.within.unit.calls, at).ok_or(NO_ENTRY)?;
        let callee = calls::callee(self.within.program, call).ok_or(NO_ENTRY)?;
        if callee.kind != kind {
            return Err("`do` calls a step, `run` a procedure");
        }
        once(&mut self.calls_used, at)?;
        entry(&self.calls, at).copied().ok_or(NO_ENTRY)
    }
}

/// Marks an entry as used by an op; each is used by one.
fn once(used: &mut [bool], at: u32) -> Result<(), &'static str> {
    let used = usize::try_from(at).ok().and_then(|at| used.get_mut(at)).ok_or(NO_ENTRY)?;
    if core::mem::replace(used, true) { Err("two statements share one entry") } else { Ok(()) }
}
