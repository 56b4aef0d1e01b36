//! Takeover and resumption: how each strand goes on once the run has its leases.
//!
//! The first that fits, for each strand: a decision that is open stays open; a step whose open statement failed, or that
//! is through with its statements, goes to its end (statements that neither wait nor log have run already: a step whose
//! last ones they are is at its end); what stands between steps or attempts goes on. In a step under way a takeover
//! raises a decision where a telecommand that changes the on-board state was sent, else it goes on where it stands, its
//! `send`, `expect`, `wait until COND` or `ask` counting anew. A resumption never goes on in the middle of a step: it
//! raises the decision (after a `transfer`, too), or begins a new attempt. A telecommand about to leave whose arguments
//! or `requires` read telemetry is judged again, on samples of now.

use super::{
    decision::within,
    state::{Cancel, Core, Due, Recheck, State, What, at},
};
use crate::{
    event::KnownStatus,
    op::Op,
    seeded::{self, Bug},
    verify::Verified,
};

/// What a strand does, as far as an interruption asks.
enum Stand {
    /// Whatever it is, it goes on as it is.
    Stays,
    /// In a transfer.
    Transfer { cancelled: bool },
    /// In a step under way.
    InStep(Option<Recheck>),
}

impl Core {
    /// Keeps what the store and the gateway tell of open telecommands.
    pub(super) fn told_known(&mut self, known: &[KnownStatus]) {
        for KnownStatus { id, known } in known {
            let Some(id) = super::identifiers::parse(id) else { continue };
            if let Some((i, place)) = self.find_sent(id)
                && let Some(sent) = self.sent_mut(i, place)
            {
                sent.known = Some(*known);
            }
        }
    }

    /// A transfer under way is cancelled when the run is suspended.
    pub(super) fn cancel_transfers(&mut self) {
        for i in 0..self.strands.len() {
            if matches!(self.strand_wait(i), Some(What::Transfer { cancel: None, .. })) {
                self.cancel_transfer(i, Cancel::Interrupted { taken_over: false });
            }
        }
    }

    fn strand_wait(&self, i: usize) -> Option<&What> {
        self.strands.get(i)?.state.wait()
    }

    /// The leases are there: every strand goes on.
    pub(super) fn take_up(&mut self, p: &Verified, taken_over: Option<i64>, resumed: bool) {
        // What statuses told meanwhile counts first.
        for i in 0..self.strands.len() {
            if matches!(self.strand_wait(i), Some(What::Verification(_))) {
                self.verify(p, i);
            }
        }
        self.run_all(p);
        for i in 0..self.strands.len() {
            let done = match (self.stand(i), resumed, taken_over) {
                (Stand::Stays, ..) | (_, false, None) => Some(()),
                (Stand::Transfer { cancelled: true }, ..) => Some(()),
                (Stand::Transfer { .. }, true, _) => {
                    self.cancel_transfer(i, Cancel::Interrupted { taken_over: false });
                    Some(())
                }
                (Stand::Transfer { .. }, false, Some(_)) => {
                    if self.step_changed_state(i) {
                        self.cancel_transfer(i, Cancel::Interrupted { taken_over: true });
                    }
                    Some(())
                }
                (Stand::InStep(recheck), true, _) => self.interrupt_step(p, i, false, recheck),
                (Stand::InStep(recheck), false, Some(_))
                    if self.step_changed_state(i) && !seeded::on(Bug::TakeoverGoesOn) =>
                {
                    self.interrupt_step(p, i, true, recheck)
                }
                (Stand::InStep(_), false, Some(from)) => self.count_anew(p, i, from),
            };
            if done.is_none() {
                self.broken(p, i);
            }
        }
    }

    fn step_changed_state(&self, i: usize) -> bool {
        let attempt = self.strands.get(i).and_then(|strand| strand.attempts.last());
        attempt.is_some_and(super::state::Attempt::changed_state)
    }

    fn stand(&self, i: usize) -> Stand {
        let Some(strand) = self.strands.get(i) else { return Stand::Stays };
        if !strand.in_step() {
            return Stand::Stays;
        }
        match &strand.state {
            State::Running | State::Branches | State::Ended => Stand::Stays,
            State::Due(Due::Start | Due::Finish { .. } | Due::Schedule { .. } | Due::Decision(_)) => Stand::Stays,
            State::Due(_) => Stand::InStep(Some(Recheck::Statement)),
            State::Wait(wait) => match &wait.what {
                What::Decision { .. } | What::Interval => Stand::Stays,
                What::Transfer { cancel, .. } => Stand::Transfer { cancelled: cancel.is_some() },
                What::Verification(_) => Stand::InStep(Some(Recheck::Verification)),
                What::Timer => Stand::InStep(wait.deadline.map(Recheck::Timer)),
                What::Reading | What::Condition(_) | What::Utc { .. } | What::Answer { .. } => {
                    Stand::InStep(Some(Recheck::Statement))
                }
            },
        }
    }

    /// The open statement goes on; what waits for telemetry or for somebody counts from the takeover on.
    fn count_anew(&mut self, p: &Verified, i: usize, from: i64) -> Option<()> {
        let (_, unit) = self.place(p, i)?;
        let strand = self.strands.get(i)?;
        let op = *at(&unit.code, strand.pc)?;
        let within = within(p, unit, op);
        let reads = matches!(strand.state, State::Due(Due::Send(_))) && self.send_reads(p, i, op)?;
        let limit = from.saturating_add(within);
        let strand = self.strands.get_mut(i)?;
        match &mut strand.state {
            State::Due(Due::Send(_)) if reads => {
                strand.state = State::Running;
                return Some(());
            }
            State::Wait(wait) => match &mut wait.what {
                What::Condition(window) => {
                    window.limit = limit;
                    if window.held_since.is_none() {
                        wait.deadline = Some(limit);
                    }
                }
                What::Answer { .. } => wait.deadline = Some(limit),
                What::Verification(verifying) => verifying.from = from,
                _ => return Some(()),
            },
            _ => return Some(()),
        }
        self.added.ns = self.added.ns.saturating_add(within);
        if matches!(self.strand_wait(i), Some(What::Verification(_))) {
            self.verify(p, i);
        }
        Some(())
    }

    fn send_reads(&self, p: &Verified, i: usize, op: Op) -> Option<bool> {
        let (_, unit) = self.place(p, i)?;
        Some(super::send::reads_telemetry(p, unit, op))
    }

    /// Where a telecommand of an attempt under way is kept.
    pub(super) fn find_sent(&self, id: u128) -> Option<(usize, usize)> {
        self.strands.iter().enumerate().find_map(|(i, strand)| {
            let attempt = strand.attempts.last()?;
            let place = attempt.sent.iter().rposition(|sent| sent.id == id)?;
            Some((i, place))
        })
    }

    pub(super) fn sent_mut(&mut self, i: usize, place: usize) -> Option<&mut super::state::Sent> {
        self.strands.get_mut(i)?.attempts.last_mut()?.sent.get_mut(place)
    }
}
