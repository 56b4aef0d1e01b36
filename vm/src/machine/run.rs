//! Running the code of a strand until it waits for a fact or a transition is due.
//!
//! Whatever neither waits nor logs runs at once, in one flat loop, as far as it goes: the state at each place of the log
//! is then defined, and a loop over it ends because the verifier counted its statements.

use alloc::{boxed::Box, format, string::String, sync::Arc};

use super::{
    samples::{Listed, NONE},
    state::{Activation, Attempted, Core, Due, Frame, FrameKind, State, Strand, Wait, What, at},
};
use crate::{
    condition::{Context, Short, Snapshot, describe},
    event::{Failure, FailureCode, SampleRecord},
    op::{ExprId, Op, Pc},
    program::{Sequence, Unit},
    time::Instant,
    value::{Type, Value},
    verify::Verified,
};

/// Where the plain ops of a strand end.
enum Stop {
    /// At an op that waits, logs or calls.
    Op(Op),
    /// At the end of a block that is no loop and no `if`.
    Block,
    /// A plain statement has no value.
    Failed(FailureCode, ExprId),
    /// Nothing is there to run: no verified program gets here.
    Broken,
}

impl Core {
    /// Runs every strand until none has anything to run.
    pub(super) fn run_all(&mut self, p: &Verified) {
        while self.ending.is_none() {
            let Some(i) = self.strands.iter().position(|strand| matches!(strand.state, State::Running)) else { return };
            self.run(p, i);
        }
    }

    fn run(&mut self, p: &Verified, i: usize) {
        while let Some(strand) = self.strands.get_mut(i) {
            if self.ending.is_some() || !matches!(strand.state, State::Running) {
                return;
            }
            if let Some(failure) = strand.halted.clone().filter(|_| !strand.in_step()) {
                self.fail(p, i, failure);
                return;
            }
            match plain(p, strand, Instant { ns: self.now, scale: self.scale }) {
                Stop::Op(op) => {
                    if self.execute(p, i, op, None).is_none() {
                        self.broken(p, i);
                    }
                }
                Stop::Block => self.end_of_block(p, i),
                Stop::Failed(code, expr) => self.no_value(p, i, code, expr, &NONE),
                Stop::Broken => self.broken(p, i),
            }
        }
    }

    /// The last op of a block that is no loop and no `if` is done.
    fn end_of_block(&mut self, p: &Verified, i: usize) {
        let Some(strand) = self.strands.get_mut(i) else { return };
        match strand.frames.last().map(|frame| &frame.kind) {
            Some(FrameKind::Inline) => self.attempt_passed(i),
            Some(FrameKind::Unit) if !strand.attempts.is_empty() => self.attempt_passed(i),
            Some(FrameKind::Unit) => self.run_passed(i),
            Some(FrameKind::Branch) => self.end_strand(p, i, None),
            Some(FrameKind::OnFailure) => {
                strand.frames.pop();
                match strand.acts.last_mut().and_then(|act| act.failed.take()) {
                    Some(failure) => self.fail(p, i, failure),
                    None => self.broken(p, i),
                }
            }
            _ => self.broken(p, i),
        }
    }

    /// Runs an op that is not plain, or a plain one that reads telemetry. `samples` are those that it asked for.
    pub(super) fn execute(&mut self, p: &Verified, i: usize, op: Op, samples: Option<&[SampleRecord]>) -> Option<()> {
        match op {
            Op::Send(send) => self.send(p, i, send, samples),
            Op::Expect(_) | Op::WaitUntil { .. } => self.open_window(p, i, op),
            Op::Check(cond) => self.check(p, i, cond, samples),
            Op::Wait(duration) => self.wait(p, i, duration),
            Op::WaitTime { time, within } => self.wait_time(p, i, time, within, samples),
            Op::Ask(ask) => self.ask(p, i, ask),
            Op::Transfer(transfer) => self.transfer(p, i, transfer, samples),
            Op::Note(note) => self.note(p, i, note),
            Op::Let { local, value } => self.let_read(p, i, local, value, samples),
            Op::Fail(text) => self.fail_op(p, i, text),
            Op::Judge { cond, local } => self.judge_op(p, i, cond, local, samples),
            Op::If { cond, otherwise, end } => self.if_read(p, i, (cond, otherwise, end), samples),
            Op::Together { end } => self.fork(p, i, end),
            Op::Step { step, .. } => self.open_attempt(p, i, Attempted::Inline(step)),
            Op::Do(call) => self.open_attempt(p, i, Attempted::Do(call)),
            Op::Run(call) => self.open_attempt(p, i, Attempted::Run(call)),
            Op::Repeat { .. } | Op::ForEach { .. } | Op::Branch { .. } | Op::OnFailure { .. } => None,
        }
    }

    /// Waits for the samples that an op reads.
    pub(super) fn ask_for_samples(&mut self, i: usize) -> Option<()> {
        self.begin_wait(i, None, What::Reading)
    }

    /// Waits for something from now on.
    pub(super) fn begin_wait(&mut self, i: usize, deadline: Option<i64>, what: What) -> Option<()> {
        let id = self.last_pending.saturating_add(1);
        let strand = self.strands.get_mut(i)?;
        self.last_pending = id;
        strand.state = State::Wait(Wait { id, deadline, what });
        Some(())
    }

    /// The statement is done: on behind it.
    pub(super) fn next(&mut self, i: usize) -> Option<()> {
        let strand = self.strands.get_mut(i)?;
        strand.pc = strand.pc.saturating_add(1);
        strand.state = State::Running;
        Some(())
    }

    fn check(&mut self, p: &Verified, i: usize, cond: ExprId, samples: Option<&[SampleRecord]>) -> Option<()> {
        match self.judge_now(p, i, cond, samples)? {
            None => self.ask_for_samples(i),
            Some(Some(true)) => self.next(i),
            Some(_) => {
                self.no_value(p, i, FailureCode::CheckFailed, cond, &Listed(samples.unwrap_or(&[])));
                Some(())
            }
        }
    }

    fn judge_op(
        &mut self,
        p: &Verified,
        i: usize,
        cond: ExprId,
        local: u32,
        samples: Option<&[SampleRecord]>,
    ) -> Option<()> {
        match self.judge_now(p, i, cond, samples)? {
            None => self.ask_for_samples(i),
            Some(Some(outcome)) => {
                self.set_local(i, local, Value::Bool(outcome))?;
                self.next(i)
            }
            Some(None) => {
                self.no_value(p, i, FailureCode::CheckFailed, cond, &Listed(samples.unwrap_or(&[])));
                Some(())
            }
        }
    }

    fn if_read(
        &mut self,
        p: &Verified,
        i: usize,
        (cond, otherwise, end): (ExprId, Pc, Pc),
        samples: Option<&[SampleRecord]>,
    ) -> Option<()> {
        match self.judge_now(p, i, cond, samples)? {
            None => self.ask_for_samples(i),
            Some(Some(outcome)) => {
                let strand = self.strands.get_mut(i)?;
                branch(strand, outcome, otherwise, end);
                strand.state = State::Running;
                Some(())
            }
            Some(None) => {
                self.no_value(p, i, FailureCode::CheckFailed, cond, &Listed(samples.unwrap_or(&[])));
                Some(())
            }
        }
    }

    fn let_read(
        &mut self,
        p: &Verified,
        i: usize,
        local: u32,
        value: ExprId,
        samples: Option<&[SampleRecord]>,
    ) -> Option<()> {
        let Some(samples) = samples else { return self.ask_for_samples(i) };
        let (act, unit) = self.place(p, i)?;
        let expr = at(&unit.exprs, value)?;
        let listed = Listed(samples);
        match expr.evaluate(&self.context(p, act, &listed)).value() {
            Some(value) => {
                self.set_local(i, local, value)?;
                self.next(i)
            }
            None => {
                self.no_value(p, i, FailureCode::ReadFailed, value, &listed);
                Some(())
            }
        }
    }

    fn fail_op(&mut self, p: &Verified, i: usize, text: u32) -> Option<()> {
        let (_, unit) = self.place(p, i)?;
        let text = String::from(&**at(&unit.texts, text)?);
        self.statement_failed(p, i, FailureCode::Failed, text);
        Some(())
    }

    /// Judges a condition on samples as they are now; `Some(None)` is unknown, `None` says that samples are wanted.
    fn judge_now(
        &self,
        p: &Verified,
        i: usize,
        cond: ExprId,
        samples: Option<&[SampleRecord]>,
    ) -> Option<Option<Option<bool>>> {
        let (act, unit) = self.place(p, i)?;
        let expr = at(&unit.exprs, cond)?;
        if samples.is_none() && !expr.reads.is_empty() {
            return Some(None);
        }
        let listed = Listed(samples.unwrap_or(&[]));
        Some(Some(expr.judge(&self.context(p, act, &listed))))
    }

    /// The activation that a strand is in, and its unit.
    pub(super) fn place<'p>(&self, p: &'p Verified, i: usize) -> Option<(&Activation, &'p Unit)> {
        let act = self.strands.get(i)?.acts.last()?;
        Some((act, at(&p.units, act.unit)?))
    }

    /// What an expression of an activation is evaluated in, now.
    pub(super) fn context<'a>(&self, p: &'a Verified, act: &'a Activation, snapshot: &'a dyn Snapshot) -> Context<'a> {
        context(p, act, snapshot, self.instant(self.now))
    }

    /// An instant of the run's scale.
    pub(super) fn instant(&self, ns: i64) -> Instant {
        Instant { ns, scale: self.scale }
    }

    pub(super) fn set_local(&mut self, i: usize, local: u32, value: Value) -> Option<()> {
        let act = self.strands.get_mut(i)?.acts.last_mut()?;
        *act.locals.get_mut(usize::try_from(local).ok()?)? = Some(value);
        Some(())
    }

    /// A condition does not hold, or a value is not known.
    pub(super) fn no_value(
        &mut self,
        p: &Verified,
        i: usize,
        code: FailureCode,
        expr: ExprId,
        snapshot: &dyn Snapshot,
    ) {
        let told = self.place(p, i).and_then(|(act, unit)| {
            let expr = at(&unit.exprs, expr)?;
            Some(describe(expr, &self.context(p, act, snapshot)))
        });
        let told = told.unwrap_or_default();
        let message = match code {
            FailureCode::ReadFailed => {
                format!("the value is not known: {}", told.strip_prefix("unknown: ").unwrap_or("arithmetic gives none"))
            }
            _ => format!("not satisfied, {told}"),
        };
        self.statement_failed(p, i, code, message);
    }

    /// The statement at which a strand stands fails.
    pub(super) fn statement_failed(&mut self, p: &Verified, i: usize, code: FailureCode, message: String) {
        let Some(failure) = self.failure(p, i, code, message) else { return self.broken(p, i) };
        self.failed(p, i, Box::new(failure));
    }

    /// A failure of the statement at which a strand stands.
    pub(super) fn failure(&self, p: &Verified, i: usize, code: FailureCode, message: String) -> Option<Failure> {
        let (_, unit) = self.place(p, i)?;
        let source = at(&unit.source, self.strands.get(i)?.pc)?;
        Some(Failure {
            code,
            message,
            file: Arc::clone(at(&p.files, unit.file)?),
            line: source.line,
            statement: Arc::clone(&source.text),
            telecommand: None,
        })
    }

    /// The code is not what a verified program's is: the run ends, saying so, rather than guess.
    pub(super) fn broken(&mut self, p: &Verified, i: usize) {
        let place = self.place(p, i).map_or(String::new(), |(_, unit)| format!(" in `{}`", unit.name));
        let pc = self.strands.get(i).map_or(0, |strand| strand.pc);
        self.finish_broken(format!("the code is malformed{place}, at op {pc}"));
    }
}

impl Strand {
    /// Whether an attempt of a step is under way.
    pub(super) fn in_step(&self) -> bool {
        self.attempts.last().is_some_and(|attempt| attempt.is_step() && attempt.open)
    }
}

/// What an expression of an activation is evaluated in.
pub(super) fn context<'a>(
    p: &'a Verified,
    act: &'a Activation,
    snapshot: &'a dyn Snapshot,
    at: Instant,
) -> Context<'a> {
    Context { parameters: &**p, locals: &act.locals, targets: &act.targets, snapshot, at, since: None }
}

/// Enters the branch of an `if`.
fn branch(strand: &mut Strand, outcome: bool, otherwise: Pc, end: Pc) {
    if outcome {
        strand.frames.push(Frame { stop: otherwise, kind: FrameKind::Then { end } });
        strand.pc = strand.pc.saturating_add(1);
    } else {
        strand.pc = otherwise;
    }
}

/// Runs plain ops as long as there are any.
fn plain(p: &Verified, strand: &mut Strand, now: Instant) -> Stop {
    let Strand { pc, frames, acts, .. } = strand;
    let Some(act) = acts.last_mut() else { return Stop::Broken };
    let Some(unit) = at(&p.units, act.unit) else { return Stop::Broken };
    loop {
        let Some(frame) = frames.last_mut() else { return Stop::Broken };
        if *pc >= frame.stop {
            match &mut frame.kind {
                FrameKind::Repeat { start, left } if *left > 0 => {
                    *left -= 1;
                    *pc = *start;
                }
                FrameKind::Each { start, each, next } => match turn(unit, *each, *next, act) {
                    Some(true) => {
                        *next += 1;
                        *pc = *start;
                    }
                    Some(false) => drop(frames.pop()),
                    None => return Stop::Broken,
                },
                FrameKind::Repeat { .. } => drop(frames.pop()),
                FrameKind::Then { end } => {
                    *pc = *end;
                    frames.pop();
                }
                _ => return Stop::Block,
            }
            continue;
        }
        let Some(op) = at(&unit.code, *pc) else { return Stop::Broken };
        match *op {
            Op::Let { local, value } => match plain_value(p, unit, act, value, now) {
                Plain::Reads => return Stop::Op(*op),
                Plain::Value(result) => {
                    let Some(slot) = usize::try_from(local).ok().and_then(|local| act.locals.get_mut(local)) else {
                        return Stop::Broken;
                    };
                    *slot = Some(result);
                    *pc += 1;
                }
                Plain::Unknown => return Stop::Failed(FailureCode::ReadFailed, value),
                Plain::Broken => return Stop::Broken,
            },
            Op::If { cond, otherwise, end } => match plain_value(p, unit, act, cond, now) {
                Plain::Reads => return Stop::Op(*op),
                Plain::Value(Value::Bool(true)) => {
                    frames.push(Frame { stop: otherwise, kind: FrameKind::Then { end } });
                    *pc += 1;
                }
                Plain::Value(Value::Bool(false)) => *pc = otherwise,
                Plain::Value(_) | Plain::Unknown => return Stop::Failed(FailureCode::CheckFailed, cond),
                Plain::Broken => return Stop::Broken,
            },
            Op::Repeat { times, end } => {
                frames.push(Frame { stop: end, kind: FrameKind::Repeat { start: *pc + 1, left: times } });
                *pc = end;
            }
            Op::ForEach { each, end } => {
                frames.push(Frame { stop: end, kind: FrameKind::Each { start: *pc + 1, each, next: 0 } });
                *pc = end;
            }
            other => return Stop::Op(other),
        }
    }
}

/// The value of an expression that needs no telemetry.
enum Plain {
    Value(Value),
    Unknown,
    Reads,
    Broken,
}

#[inline]
fn plain_value(p: &Verified, unit: &Unit, act: &Activation, expr: ExprId, now: Instant) -> Plain {
    let Some(expr) = at(&unit.exprs, expr) else { return Plain::Broken };
    match expr.evaluate_ints(&act.locals) {
        Some(Short::Int(value)) => return Plain::Value(Value::Int(value)),
        Some(Short::Bool(value)) => return Plain::Value(Value::Bool(value)),
        None => {}
    }
    let operand = match expr.evaluate_short(&act.locals) {
        Some(operand) => operand,
        None if !expr.reads.is_empty() => return Plain::Reads,
        None => expr.evaluate(&context(p, act, &NONE, now)),
    };
    operand.value().map_or(Plain::Unknown, Plain::Value)
}

/// Gives the name of a `for each` its next value; false where there is none left.
fn turn(unit: &Unit, each: u32, next: u64, act: &mut Activation) -> Option<bool> {
    let each = at(&unit.loops, each)?;
    let value = match &each.over {
        Sequence::Range(from, to) => {
            i64::try_from(next).ok().and_then(|next| from.checked_add(next)).filter(|at| at <= to).map(Value::Int)
        }
        Sequence::List(values) => usize::try_from(next).ok().and_then(|next| values.get(next)).cloned(),
    };
    let Some(value) = value else { return Some(false) };
    let value = match (value, &at(&unit.locals, each.local)?.ty) {
        (Value::Int(whole), Type::Float { .. }) => Value::Float(whole as f64),
        (value, _) => value,
    };
    *act.locals.get_mut(usize::try_from(each.local).ok()?)? = Some(value);
    Some(true)
}

impl Core {
    fn note(&mut self, p: &Verified, i: usize, note: u32) -> Option<()> {
        let (_, unit) = self.place(p, i)?;
        let text = self.render(p, i, &at(&unit.notes, note)?.text)?;
        self.strands.get_mut(i)?.state = State::Due(Due::Note { text });
        Some(())
    }
}
