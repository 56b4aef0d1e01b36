//! Decisions: a step that may not simply fail, or was interrupted, stays open until an operator decides.

use alloc::{boxed::Box, format, sync::Arc, vec::Vec};

use super::{
    failing::told,
    state::{Cancel, Core, Deciding, Due, Ending, Recheck, State, Then, Wait, What, at},
    window::judged,
};
use crate::{
    event::{DecisionOption, Failure, FailureCode, Known, RunOutcome, StepOutcome},
    op::Op,
    program::Unit,
    verify::Verified,
};

/// How a failed statement can be judged again, if it can.
fn recheck_after(code: FailureCode) -> Option<Recheck> {
    use FailureCode as F;
    match code {
        F::ExpectFailed | F::CheckFailed | F::WaitFailed | F::ReadFailed => Some(Recheck::Statement),
        F::VerifyTimeout => Some(Recheck::Verification),
        F::Rejected
        | F::EncodeFailed
        | F::SendFailed
        | F::VerifyFailed
        | F::AskRefused
        | F::AskTimeout
        | F::TransferFailed
        | F::TransferNotCreated
        | F::Failed => None,
    }
}

fn options(recheck: Option<Recheck>) -> Vec<DecisionOption> {
    use DecisionOption as O;
    let mut options: Vec<_> = [O::Replay, O::Skip, O::Fail, O::Abort].into();
    options.extend(recheck.map(|_| O::Recheck));
    options
}

impl Core {
    /// A step that is not eligible failed.
    pub(super) fn decide_on_failure(&mut self, i: usize, failure: Box<Failure>) {
        let recheck = recheck_after(failure.code);
        let deciding = Deciding {
            reason: told(&failure),
            options: options(recheck),
            failure: Some(failure),
            interrupted: false,
            recheck: recheck.unwrap_or(Recheck::Statement),
        };
        if let Some(strand) = self.strands.get_mut(i) {
            strand.state = State::Due(Due::Decision(Box::new(deciding)));
        }
    }

    /// The attempt of a step is interrupted: a new one follows, or an operator decides where it changed something.
    pub(super) fn interrupt_step(
        &mut self,
        _p: &Verified,
        i: usize,
        taken_over: bool,
        recheck: Option<Recheck>,
    ) -> Option<()> {
        let attempt = self.strands.get(i)?.attempts.last()?;
        // A transfer sends what changes the on-board state: after a suspension it is not begun again unasked.
        if !attempt.changed_state() && !attempt.transferred {
            self.added.ns = self.added.ns.saturating_add(attempt.bound);
            self.finish(i, StepOutcome::Interrupted, None, Then::Again);
            return Some(());
        }
        let never_left = attempt.sent.last().is_some_and(|sent| sent.is_known() == Known::NeverLeft);
        let recheck = recheck.filter(|how| *how != Recheck::Verification || !never_left);
        let what = if taken_over { "a restart" } else { "a suspension" };
        let deciding = Deciding {
            reason: format!("interrupted by {what} after a telecommand changing the on-board state"),
            options: options(recheck),
            failure: None,
            interrupted: true,
            recheck: recheck.unwrap_or(Recheck::Statement),
        };
        self.strands.get_mut(i)?.state = State::Due(Due::Decision(Box::new(deciding)));
        Some(())
    }

    /// Carries a decision out.
    pub(super) fn decided(&mut self, p: &Verified, i: usize, option: DecisionOption, by: &Arc<str>) -> Option<()> {
        let strand = self.strands.get_mut(i)?;
        let State::Wait(Wait { what: What::Decision { .. }, .. }) = strand.state else { return None };
        let State::Wait(Wait { what: What::Decision { of, .. }, .. }) =
            core::mem::replace(&mut strand.state, State::Running)
        else {
            return None;
        };
        let Deciding { reason, failure, recheck, .. } = *of;
        match option {
            DecisionOption::Replay => {
                let bound = strand.attempts.last()?.bound;
                self.added.ns = self.added.ns.saturating_add(bound);
                let outcome = if failure.is_some() { StepOutcome::Failed } else { StepOutcome::Interrupted };
                self.finish(i, outcome, failure, Then::Again);
            }
            DecisionOption::Skip => self.finish(i, StepOutcome::Skipped, failure, Then::Next),
            DecisionOption::Fail => {
                let failure = match failure {
                    Some(failure) => failure,
                    None => {
                        let message = format!("{reason}; {by} decided `fail`");
                        Box::new(self.failure(p, i, FailureCode::Failed, message)?)
                    }
                };
                self.finish(i, StepOutcome::Failed, Some(failure), Then::Fail);
            }
            DecisionOption::Abort => self.abort(by),
            DecisionOption::Recheck => {
                let (_, unit) = self.place(p, i)?;
                let within = within(p, unit, *at(&unit.code, self.strands.get(i)?.pc)?);
                self.added.ns = self.added.ns.saturating_add(within);
                match recheck {
                    // Running the op again is judging it again: a `send` that was sent is never taken up so.
                    Recheck::Statement => {}
                    Recheck::Verification => self.verify_from(p, i, self.now)?,
                    Recheck::Timer(due) => self.begin_wait(i, Some(due), What::Timer)?,
                }
            }
        }
        Some(())
    }

    /// Ends the run by an operator's word, once the transfers that are open are cancelled.
    pub(super) fn abort(&mut self, by: &Arc<str>) {
        let reason = Some(format!("aborted by {by}"));
        self.ending = Some(Ending { outcome: RunOutcome::Aborted, reason, failure: None });
        for i in 0..self.strands.len() {
            self.cancel_transfer(i, Cancel::Abort);
        }
    }
}

/// The limit of a statement that can be judged again: its `within`, or the window of its telecommand.
pub(super) fn within(p: &Verified, unit: &Unit, op: Op) -> i64 {
    let limit = match op {
        Op::Send(send) => {
            let telecommand = at(&unit.sends, send).and_then(|send| at(&p.telecommands, send.telecommand));
            telecommand.map(|telecommand| telecommand.verify.window)
        }
        Op::Ask(ask) => at(&unit.asks, ask).map(|ask| ask.within),
        Op::WaitTime { within, .. } => at(&unit.durations, within).copied(),
        op => judged(unit, op).map(|judged| judged.within),
    };
    limit.unwrap_or(0)
}
