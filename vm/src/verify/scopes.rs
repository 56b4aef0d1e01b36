//! The scope of names: each local is given once, and where it can be read is one stretch of the code.
//!
//! A name is block-scoped, so it is assigned on every path exactly from behind the op that gives it to the end of the
//! block around that op. A step that was not written is no block: its name belongs to the procedure.

use alloc::{vec, vec::Vec};

use super::{VerifyError, blocks::Event, entry, place, told};
use crate::{
    op::{Local, Op, Pc},
    program::{Part, Template, Unit},
};

/// A stretch of the code: from the first op to behind the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    from: Pc,
    to: Pc,
}

impl Stretch {
    /// All code.
    pub(super) const ALL: Self = Self { from: 0, to: Pc::MAX };
    const NOWHERE: Self = Self { from: Pc::MAX, to: 0 };

    /// What both have in common.
    pub(super) fn and(self, other: Self) -> Self {
        Self { from: self.from.max(other.from), to: self.to.min(other.to) }
    }

    /// Whether a place is in it.
    pub(super) fn has(self, pc: Pc) -> bool {
        self.from <= pc && pc < self.to
    }
}

/// Where each local of a unit can be read.
pub(super) struct Scopes {
    locals: Vec<Stretch>,
}

impl Scopes {
    /// Where a local can be read; nowhere for one that does not exist.
    pub(super) fn local(&self, local: Local) -> Stretch {
        entry(&self.locals, local).copied().unwrap_or(Stretch::NOWHERE)
    }

    /// Where a text with values can be made.
    pub(super) fn template(&self, template: &Template) -> Stretch {
        template.parts.iter().fold(Stretch::ALL, |stretch, part| match part {
            Part::Text(_) => stretch,
            Part::Local(local) => stretch.and(self.local(*local)),
        })
    }
}

/// Finds the scope of every local.
pub(super) fn of(unit: &Unit, events: &[Event]) -> Result<Scopes, VerifyError> {
    if unit.inputs.len() > unit.locals.len()
        || unit.inputs.iter().zip(&unit.locals).any(|(input, local)| input.ty != local.ty)
    {
        return Err(VerifyError::malformed(&told(unit.kind, &unit.name), "its inputs are not its first locals"));
    }
    let mut locals = vec![Stretch::NOWHERE; unit.locals.len()];
    for input in locals.iter_mut().take(unit.inputs.len()) {
        *input = Stretch::ALL;
    }
    let mut walk = Walk { unit, locals, open: vec![Vec::new()], limits: Vec::new() };
    for event in events {
        walk.event(*event)?;
    }
    Ok(Scopes { locals: walk.locals })
}

struct Walk<'a> {
    unit: &'a Unit,
    locals: Vec<Stretch>,
    /// The locals given in each open block, the unit's own body the first.
    open: Vec<Vec<Local>>,
    /// Where the first part of each open block ends.
    limits: Vec<Pc>,
}

impl Walk<'_> {
    fn event(&mut self, event: Event) -> Result<(), VerifyError> {
        match event {
            Event::Op(pc, op) => match op {
                Op::Let { local, .. } | Op::Judge { local, .. } => self.give(local, pc),
                Op::Ask(ask) => match entry(&self.unit.asks, ask).and_then(|ask| ask.local) {
                    Some(local) => self.give(local, pc),
                    None => Ok(()),
                },
                _ => Ok(()),
            },
            Event::Open(pc, op) => {
                if matches!(op, Op::OnFailure { .. }) {
                    self.end(pc);
                }
                if self.is_single(op) {
                    return Ok(());
                }
                self.open.push(Vec::new());
                self.limits.push(op.block().map_or(pc, |(first, _)| first));
                let each = match op {
                    Op::ForEach { each, .. } => entry(&self.unit.loops, each),
                    _ => None,
                };
                each.map_or(Ok(()), |each| self.give(each.local, pc))
            }
            Event::Else => {
                self.end(self.limits.last().copied().unwrap_or(0));
                Ok(())
            }
            Event::Close(pc, op) => {
                if !self.is_single(op) {
                    self.end(op.block().map_or(pc, |(_, end)| end));
                    self.open.pop();
                    self.limits.pop();
                }
                Ok(())
            }
        }
    }

    fn is_single(&self, op: Op) -> bool {
        matches!(op, Op::Step { step, .. } if entry(&self.unit.steps, step).is_some_and(|step| !step.written))
    }

    /// The op at `pc` gives a local its value.
    fn give(&mut self, local: Local, pc: Pc) -> Result<(), VerifyError> {
        let stretch = usize::try_from(local).ok().and_then(|local| self.locals.get_mut(local));
        let what = match stretch {
            None => "it gives a local that does not exist",
            Some(stretch) if *stretch != Stretch::NOWHERE => "it gives a local that is given elsewhere",
            Some(stretch) => {
                *stretch = Stretch { from: pc.saturating_add(1), to: Pc::MAX };
                if let Some(open) = self.open.last_mut() {
                    open.push(local);
                }
                return Ok(());
            }
        };
        Err(VerifyError::malformed(&place(self.unit, pc), what))
    }

    /// The names given in the innermost block end at `pc`.
    fn end(&mut self, pc: Pc) {
        for local in self.open.last_mut().map(core::mem::take).unwrap_or_default() {
            if let Some(stretch) = usize::try_from(local).ok().and_then(|local| self.locals.get_mut(local)) {
                stretch.to = pc;
            }
        }
    }
}
