//! The structure of the code: blocks properly nested, none empty, each statement where it can stand.
//!
//! The result is the code as a sequence of [`Event`]s, so that every later walk is a plain loop.

use alloc::vec::Vec;

use super::{VerifyError, entry, place, told};
use crate::{
    bounds::MAX_NESTING,
    condition::ExprOp,
    op::{Op, Pc},
    program::{Kind, Unit},
};

/// What a walk over structured code meets, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// A plain op.
    Op(Pc, Op),
    /// A block opens here.
    Open(Pc, Op),
    /// The `else` branch of the innermost open `if` begins.
    Else,
    /// The innermost block ends; it was opened by this op at this place.
    Close(Pc, Op),
}

/// Where a statement stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ground {
    /// In a step, library or inline.
    Step,
    /// In the step that one statement directly in a procedure is.
    Single,
    /// Directly in a procedure.
    Procedure,
    /// Directly in a `together`.
    Together,
}

/// An open block.
struct Block {
    opener: Pc,
    op: Op,
    /// Where the current part of it ends.
    limit: Pc,
    end: Pc,
    ground: Ground,
    /// Nesting as written, this block included.
    depth: usize,
}

impl Op {
    /// For an op that opens a block: where its first part ends, and where it ends.
    pub(crate) fn block(&self) -> Option<(Pc, Pc)> {
        match *self {
            Self::If { otherwise, end, .. } => Some((otherwise, end)),
            Self::Repeat { end, .. }
            | Self::ForEach { end, .. }
            | Self::Together { end }
            | Self::Branch { end }
            | Self::Step { end, .. }
            | Self::OnFailure { end } => Some((end, end)),
            _ => None,
        }
    }
}

/// Checks the structure of a unit's code and lays it out.
pub(crate) fn events(unit: &Unit) -> Result<Vec<Event>, VerifyError> {
    let whole = || told(unit.kind, &unit.name);
    let Ok(len) = Pc::try_from(unit.code.len()) else { return Err(VerifyError::malformed(&whole(), "code too long")) };
    if len == 0 {
        return Err(VerifyError::malformed(&whole(), "it has no code"));
    }
    if unit.source.len() != unit.code.len() {
        return Err(VerifyError::malformed(&whole(), "its source map does not match its code"));
    }
    let outermost = if unit.kind == Kind::Step { Ground::Step } else { Ground::Procedure };
    let mut open: Vec<Block> = Vec::new();
    let mut events = Vec::with_capacity(unit.code.len() + unit.code.len() / 2);
    for (pc, op) in (0..len).zip(&unit.code) {
        close(&mut open, pc, &mut events);
        let (ground, limit, depth) = match open.last() {
            Some(block) => (block.ground, block.limit, block.depth),
            None => (outermost, len, 1),
        };
        let refuse = |what: &str| Err(VerifyError::malformed(&place(unit, pc), what));
        if let Err(what) = stands(unit, op, ground, open.last().map(|block| (block, pc)), pc) {
            return refuse(what);
        }
        let Some((first, end)) = op.block() else {
            events.push(Event::Op(pc, *op));
            continue;
        };
        if first <= pc + 1 || first > end || end > limit {
            return refuse("the block is empty or ends outside of the block around it");
        }
        let single = is_single(unit, op);
        let depth = if single { depth } else { depth + 1 };
        if depth > MAX_NESTING {
            return refuse("blocks are nested deeper than 64");
        }
        let ground = match op {
            Op::Step { .. } if single => Ground::Single,
            Op::Step { .. } => Ground::Step,
            Op::Together { .. } => Ground::Together,
            Op::Branch { .. } => Ground::Procedure,
            _ => ground,
        };
        if single && end != pc + 2 {
            return refuse("a step that was not written holds one statement");
        }
        open.push(Block { opener: pc, op: *op, limit: first, end, ground, depth });
        events.push(Event::Open(pc, *op));
    }
    close(&mut open, len, &mut events);
    judged(unit)?;
    Ok(events)
}

/// Ends what ends at `pc`. Ends never cross, so nothing that should have ended before is still open.
fn close(open: &mut Vec<Block>, pc: Pc, events: &mut Vec<Event>) {
    while let Some(block) = open.last_mut() {
        if block.limit != pc {
            return;
        }
        if block.limit < block.end {
            block.limit = block.end;
            events.push(Event::Else);
            return;
        }
        events.push(Event::Close(block.opener, block.op));
        open.pop();
    }
}

fn is_single(unit: &Unit, op: &Op) -> bool {
    matches!(*op, Op::Step { step, .. } if entry(&unit.steps, step).is_some_and(|step| !step.written))
}

/// Whether an op can stand where it does.
fn stands(unit: &Unit, op: &Op, ground: Ground, within: Option<(&Block, Pc)>, pc: Pc) -> Result<(), &'static str> {
    let allowed = match (op, ground) {
        (Op::Branch { .. }, ground) => ground == Ground::Together,
        (_, Ground::Together) => false,
        (Op::Check(_) | Op::WaitUntil { .. } | Op::WaitTime { .. } | Op::Ask(_), Ground::Step | Ground::Single) => true,
        (Op::Judge { .. }, ground) => ground == Ground::Single,
        (Op::Let { .. }, _) => true,
        (_, Ground::Single) => false,
        (Op::Send(_) | Op::Expect(_) | Op::Transfer(_) | Op::Fail(_), ground) => ground == Ground::Step,
        (Op::Wait(_) | Op::Note(_) | Op::If { .. } | Op::Repeat { .. } | Op::ForEach { .. }, _) => true,
        (Op::Together { .. } | Op::Step { .. } | Op::Do(_) | Op::Run(_), ground) => ground == Ground::Procedure,
        (Op::OnFailure { end }, ground) => {
            let last = usize::try_from(*end) == Ok(unit.code.len());
            ground == Ground::Procedure && within.is_none() && pc > 0 && last
        }
        (Op::Check(_) | Op::WaitUntil { .. } | Op::WaitTime { .. } | Op::Ask(_), Ground::Procedure) => false,
    };
    if allowed { Ok(()) } else { Err("the statement cannot stand here") }
}

/// The step of a [`Op::Judge`] is followed by the [`Op::If`] that reads its outcome.
fn judged(unit: &Unit) -> Result<(), VerifyError> {
    for (pc, op) in (0..).zip(&unit.code) {
        let Op::Judge { local, .. } = op else { continue };
        let reads = match entry(&unit.code, pc + 1) {
            Some(Op::If { cond, .. }) => entry(&unit.exprs, *cond).map(|expr| expr.code.as_slice()),
            _ => None,
        };
        // The step holds this op alone, so the op behind it is behind the step, and in the same block or beyond it.
        if reads != Some(&[ExprOp::Local(*local)]) {
            return Err(VerifyError::malformed(&place(unit, pc), "no `if` follows that reads the outcome"));
        }
    }
    Ok(())
}
