//! `together`: one strand a branch, side by side.
//!
//! A branch fails when a failure reaches its edge: the retries and `on failure` of what it calls are behind it then.
//! From the first one on, the other branches of the same `together` begin nothing: no step, call or attempt, and no
//! statement that stands directly in a procedure; nor does `on failure` of a procedure that is cut off so. What waits
//! between two attempts fails at once with its own failure. A step's attempt that has begun goes on to its end, its
//! decisions included (an operator's `replay` begins another: it is an order), and so does a statement of a procedure
//! that is waiting. Calls that are cut off are closed in the log as failed with the failure that cut them off.

use alloc::{boxed::Box, sync::Arc, vec::Vec};

use super::state::{Core, Due, Frame, FrameKind, Ids, State, Strand, What, at};
use crate::{event::Failure, op::Op, verify::Verified};

impl Core {
    /// Forks a strand into the branches of a `together`.
    pub(super) fn fork(&mut self, p: &Verified, i: usize, end: u32) -> Option<()> {
        let (act, unit) = self.place(p, i)?;
        let strand = self.strands.get(i)?;
        let mut children = Vec::new();
        let (mut pc, mut id) = (strand.pc.saturating_add(1), self.last_strand);
        while pc < end {
            let Op::Branch { end: stop } = *at(&unit.code, pc)? else { return None };
            id = id.saturating_add(1);
            let prefix: Vec<u32> = match strand.scope {
                Some(_) => strand.place(pc),
                None => Vec::new(),
            };
            children.push(Strand {
                id,
                parent: Some(strand.id),
                pc: pc.saturating_add(1),
                frames: [Frame { stop, kind: FrameKind::Branch }].into(),
                acts: [act.clone()].into(),
                attempts: Vec::new(),
                state: State::Running,
                halted: strand.halted.clone(),
                scope: strand.scope.map(|(scope, _)| (scope, 0)),
                prefix: Arc::from(prefix),
            });
            pc = stop.max(pc.saturating_add(1));
        }
        let strand = self.strands.get_mut(i)?;
        strand.frames.push(Frame { stop: end, kind: FrameKind::Together { failure: None } });
        if children.is_empty() {
            strand.frames.pop();
            strand.pc = end;
            return Some(());
        }
        // `failed` of the activation is the parent's: a failure in a branch inside `on failure` is told by its steps.
        strand.state = State::Branches;
        self.last_strand = id;
        let behind = i.saturating_add(1);
        self.strands.splice(behind..behind, children);
        Some(())
    }

    /// A branch ends.
    pub(super) fn end_strand(&mut self, p: &Verified, i: usize, failure: Option<Box<Failure>>) {
        let Some(strand) = self.strands.get_mut(i) else { return };
        let Some(parent) = strand.parent else { return self.broken(p, i) };
        strand.state = State::Ended;
        strand.frames.clear();
        strand.acts.truncate(1);
        let Some(above) = self.strands.iter().position(|strand| strand.id == parent) else { return };
        if let Some(failure) = failure
            && let Some(first) = self.first_failure(above)
            && first.is_none()
        {
            *first = Some(failure.clone());
            self.halt(p, parent, &failure);
        }
        self.join(p, parent);
    }

    /// Where the first failure of the `together` of a strand is kept.
    fn first_failure(&mut self, i: usize) -> Option<&mut Option<Box<Failure>>> {
        match &mut self.strands.get_mut(i)?.frames.last_mut()?.kind {
            FrameKind::Together { failure } => Some(failure),
            _ => None,
        }
    }

    /// Nothing more begins in the branches below a strand.
    fn halt(&mut self, p: &Verified, parent: u32, failure: &Failure) {
        let mut below = Ids::from([parent]);
        let mut stopped = Vec::new();
        // Depth first: a parent stands before its branches.
        for strand in &mut self.strands {
            if !strand.parent.is_some_and(|parent| below.contains(&parent)) {
                continue;
            }
            below.insert(strand.id);
            if strand.halted.is_none() {
                strand.halted = Some(Box::new(failure.clone()));
            }
            if strand.is_between_attempts() {
                stopped.push(strand.id);
            }
        }
        for id in stopped {
            // Giving up one can halt a `together` inside, and so give up others of these.
            let waits = |strand: &Strand| strand.id == id && strand.is_between_attempts();
            if let Some(i) = self.strands.iter().position(waits) {
                self.give_up(p, i);
            }
        }
    }

    /// Goes on behind a `together` whose branches have all ended.
    fn join(&mut self, p: &Verified, parent: u32) {
        let Some(above) = self.strands.iter().position(|strand| strand.id == parent) else { return };
        let all = |strand: &Strand| strand.parent != Some(parent) || matches!(strand.state, State::Ended);
        if !matches!(self.strands.get(above).map(|strand| &strand.state), Some(State::Branches))
            || !self.strands.iter().all(all)
        {
            return;
        }
        self.strands.retain(|strand| strand.parent != Some(parent));
        let Some(strand) = self.strands.get_mut(above) else { return };
        let Some(frame) = strand.frames.pop() else { return };
        strand.pc = frame.stop;
        strand.state = State::Running;
        if let FrameKind::Together { failure: Some(failure) } = frame.kind {
            self.fail(p, above, failure);
        }
    }
}

impl Strand {
    /// Whether its next attempt, or its first one, has not begun; one that an operator ordered counts as begun.
    fn is_between_attempts(&self) -> bool {
        let waits = match &self.state {
            State::Due(Due::Start | Due::Schedule { .. }) => true,
            State::Wait(wait) => matches!(wait.what, What::Interval),
            _ => false,
        };
        waits && self.attempts.last().is_some_and(|attempt| !attempt.forced)
    }

    /// How many numbers tell the place within these blocks, at most.
    fn numbers(&self, frames: &[Frame]) -> usize {
        let of = |frame: &Frame| match frame.kind {
            FrameKind::Repeat { .. } | FrameKind::Each { .. } => 2,
            FrameKind::Unit | FrameKind::Inline => 1,
            FrameKind::Branch | FrameKind::OnFailure | FrameKind::Then { .. } | FrameKind::Together { .. } => 0,
        };
        frames.iter().map(of).sum()
    }

    /// Where the strand stands within its scope, for `retry_of`: branches, calls, turns of loops, the statement.
    pub(super) fn place(&self, pc: u32) -> Vec<u32> {
        let base = self.scope.map_or(0, |(_, base)| base);
        // Exactly what is needed where every block is a loop, so that a kept place is one allocation.
        let frames = self.frames.get(base..).unwrap_or_default();
        let mut place = Vec::with_capacity(self.prefix.len().saturating_add(self.numbers(frames)).saturating_add(1));
        place.extend_from_slice(&self.prefix);
        let mut calls = self.attempts.iter().filter(|attempt| attempt.frames >= base);
        for frame in frames {
            match &frame.kind {
                FrameKind::Repeat { start, left } => place.extend([*start, *left]),
                FrameKind::Each { start, next, .. } => place.extend([*start, u32::try_from(*next).unwrap_or(u32::MAX)]),
                FrameKind::Unit | FrameKind::Inline => place.extend(calls.next().map(|attempt| attempt.pc)),
                FrameKind::Branch | FrameKind::OnFailure | FrameKind::Then { .. } | FrameKind::Together { .. } => {}
            }
        }
        place.push(pc);
        place
    }
}
