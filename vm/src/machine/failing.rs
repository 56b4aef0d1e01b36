//! How a failure goes up: from a statement through blocks, `on failure`, calls and branches, to the run.

use alloc::{boxed::Box, format, string::String};

use super::state::{Core, Ending, Frame, FrameKind, State, Strand};
use crate::{
    event::{Failure, RunOutcome},
    seeded::{self, Bug},
    verify::Verified,
};

/// What a failure meets on its way up.
enum Met {
    /// A block that it ends.
    Block,
    /// The `on failure` in which it happened: it ends it, the first failure stands.
    OnFailure,
    /// A unit.
    Unit,
    /// The edge of a branch.
    Branch,
    /// Nothing.
    Nothing,
}

impl Core {
    /// A statement failed.
    pub(super) fn failed(&mut self, p: &Verified, i: usize, failure: Box<Failure>) {
        if self.strands.get(i).is_some_and(Strand::in_step) {
            return self.step_failed(i, failure);
        }
        self.fail(p, i, failure);
    }

    /// A failure that no step holds (any more) goes up.
    pub(super) fn fail(&mut self, p: &Verified, i: usize, mut failure: Box<Failure>) {
        loop {
            let Some(strand) = self.strands.get_mut(i) else { return };
            let met = match strand.frames.last().map(|frame| &frame.kind) {
                None | Some(FrameKind::Inline) => Met::Nothing,
                Some(FrameKind::Unit) => Met::Unit,
                Some(FrameKind::Branch) => Met::Branch,
                Some(FrameKind::OnFailure) => Met::OnFailure,
                Some(_) => Met::Block,
            };
            match met {
                Met::Nothing => return self.broken(p, i),
                Met::Block => {
                    strand.frames.pop();
                }
                Met::OnFailure => {
                    strand.frames.pop();
                    if let Some(first) = strand.acts.last_mut().and_then(|act| act.failed.take()) {
                        failure = first;
                    }
                }
                Met::Branch => return self.end_strand(p, i, Some(failure)),
                Met::Unit => return self.unit_failed(p, i, failure),
            }
        }
    }

    fn unit_failed(&mut self, p: &Verified, i: usize, failure: Box<Failure>) {
        let Some(strand) = self.strands.get_mut(i) else { return };
        let halted = strand.halted.is_some();
        if let Some(act) = strand.acts.last_mut()
            && !act.handled
            && !halted
            && !seeded::on(Bug::NoOnFailure)
            && let Some((from, end)) = p.facts(act.unit).and_then(|facts| facts.on_failure)
        {
            act.handled = true;
            act.failed = Some(failure);
            strand.frames.push(Frame { stop: end, kind: FrameKind::OnFailure });
            strand.pc = from;
            strand.state = State::Running;
            return;
        }
        if strand.attempts.is_empty() {
            let reason = told(&failure);
            self.end_run(Ending { outcome: RunOutcome::Failed, reason: Some(reason), failure: Some(failure) });
        } else {
            self.call_failed(i, failure);
        }
    }

    /// The procedure of the run is done.
    pub(super) fn run_passed(&mut self, _i: usize) {
        self.end_run(Ending { outcome: RunOutcome::Passed, reason: None, failure: None });
    }

    /// The run ends with code that no verified program has.
    pub(super) fn finish_broken(&mut self, reason: String) {
        self.end_run(Ending { outcome: RunOutcome::Failed, reason: Some(reason), failure: None });
    }

    /// `run_finished` is due; the first end stands.
    pub(super) fn end_run(&mut self, ending: Ending) {
        if self.ending.is_none() {
            self.ending = Some(ending);
        }
    }
}

/// A failure in one line: where, what, why.
pub(super) fn told(failure: &Failure) -> String {
    format!("{}:{}: `{}`: {}", failure.file, failure.line, failure.statement, failure.message)
}
