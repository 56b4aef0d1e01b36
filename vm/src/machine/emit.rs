//! What a run does: the transitions that are due, one at a time.

use alloc::{boxed::Box, string::String, sync::Arc, vec::Vec};

use super::{
    Advance, identifiers,
    state::{Core, Deciding, Due, State, What, at},
};
use crate::{
    event::{Path, RunOutcome, Transition},
    op::Op,
    verify::Verified,
};

impl Core {
    pub(super) fn advance(&mut self, p: &Verified, now: i64) -> Advance {
        if let Some(outcome) = self.ended {
            return Advance::Done(outcome);
        }
        let now = now.max(self.now);
        if self.run.is_none() {
            return Advance::Await;
        }
        self.settle(p, now);
        loop {
            if let Some(transition) = self.emit_end(now) {
                return Advance::Emit(transition);
            }
            if self.ending.is_some() || self.suspended.is_some() || self.leases.is_some() {
                return Advance::Await;
            }
            let Some(i) = self.strands.iter().position(|strand| matches!(strand.state, State::Due(_))) else {
                return Advance::Await;
            };
            let before = (self.now, self.seq);
            self.now = now;
            self.seq = self.seq.saturating_add(1);
            if let Some(transition) = self.emit(p, i) {
                self.run_all(p);
                self.settle(p, self.now);
                self.count_quiet();
                return Advance::Emit(transition);
            }
            (self.now, self.seq) = before;
            self.broken(p, i);
        }
    }

    /// `run_finished`, where it is due and nothing holds it: a suspension holds all but an abort, an abort waits for the
    /// transfers that it cancels.
    fn emit_end(&mut self, now: i64) -> Option<Transition> {
        let ending = self.ending.as_ref()?;
        let aborted = ending.outcome == RunOutcome::Aborted;
        if !aborted && (self.suspended.is_some() || self.leases.is_some()) {
            return None;
        }
        if self.strands.iter().any(|strand| matches!(strand.state.wait(), Some(What::Transfer { .. }))) {
            return None;
        }
        self.now = now;
        self.seq = self.seq.saturating_add(1);
        let outcome = ending.outcome;
        let transition = Transition::RunFinished {
            outcome,
            reason: ending.reason.clone(),
            failure: ending.failure.as_deref().cloned(),
        };
        self.ended = Some(outcome);
        self.count_quiet();
        self.strands.clear();
        self.scopes.clear();
        Some(transition)
    }

    fn emit(&mut self, p: &Verified, i: usize) -> Option<Transition> {
        let strand = self.strands.get_mut(i)?;
        let State::Due(due) = core::mem::replace(&mut strand.state, State::Running) else { return None };
        match due {
            Due::Start => self.emit_start(p, i),
            Due::Finish { outcome, failure, then } => self.emit_finish(p, i, outcome, failure, then),
            Due::Schedule { due } => self.emit_schedule(i, due),
            Due::Send(outgoing) => self.emit_sent(p, i, *outgoing),
            Due::Question { text } => self.emit_question(p, i, text),
            Due::Decision(deciding) => self.emit_decision(p, i, deciding),
            Due::Note { text } => self.emit_note(i, text),
            Due::Transfer { file, component } => self.emit_transfer(p, i, file, component),
        }
    }

    /// The identifier that the event being made gives.
    pub(super) fn new_id(&self) -> Option<u128> {
        Some(identifiers::identifier(&self.run.as_ref()?.id, self.seq, self.now))
    }

    /// The step that a strand is in, and its attempt.
    pub(super) fn step(&self, i: usize) -> Option<(Path, u32)> {
        let attempt = self.strands.get(i)?.attempts.last()?;
        Some((Arc::clone(&attempt.path), attempt.number))
    }

    fn emit_note(&mut self, i: usize, text: String) -> Option<Transition> {
        let strand = self.strands.get(i)?;
        let step = match strand.attempts.last() {
            Some(attempt) if attempt.is_step() => &attempt.path,
            _ => &strand.acts.last()?.path,
        };
        let transition = Transition::Noted { step: Arc::clone(step), text };
        self.next(i)?;
        Some(transition)
    }

    fn emit_question(&mut self, p: &Verified, i: usize, text: String) -> Option<Transition> {
        let id = self.new_id()?;
        let (step, attempt) = self.step(i)?;
        let (_, unit) = self.place(p, i)?;
        let Op::Ask(ask) = *at(&unit.code, self.strands.get(i)?.pc)? else { return None };
        let ask = at(&unit.asks, ask)?;
        let due = self.now.saturating_add(ask.within);
        self.begin_wait(i, Some(due), What::Answer { question: id, text: text.clone() })?;
        let choices = choices(&ask.choices);
        let id = identifiers::text(id);
        Some(Transition::QuestionAsked { id, step, attempt, text, choices, due: self.instant(due) })
    }

    fn emit_decision(&mut self, p: &Verified, i: usize, deciding: Box<Deciding>) -> Option<Transition> {
        let id = self.new_id()?;
        let (step, attempt) = self.step(i)?;
        let telecommands = if deciding.interrupted { self.known_telecommands(p, i)? } else { Vec::new() };
        let transition = Transition::DecisionRequired {
            id: identifiers::text(id),
            step,
            attempt,
            reason: deciding.reason.clone(),
            options: deciding.options.clone(),
            failure: deciding.failure.as_deref().cloned(),
            telecommands,
        };
        self.begin_wait(i, None, What::Decision { id, of: deciding })?;
        Some(transition)
    }

    fn emit_transfer(&mut self, p: &Verified, i: usize, file: String, component: Arc<str>) -> Option<Transition> {
        let id = self.new_id()?;
        let (step, attempt) = self.step(i)?;
        let (act, unit) = self.place(p, i)?;
        let Op::Transfer(transfer) = *at(&unit.code, self.strands.get(i)?.pc)? else { return None };
        let transfer = at(&unit.transfers, transfer)?;
        let target = Arc::clone(at(&act.targets, transfer.target)?);
        let due = self.now.saturating_add(transfer.within);
        self.strands.get_mut(i)?.attempts.last_mut()?.transferred = true;
        self.begin_wait(i, Some(due), What::Transfer { id, cancel: None })?;
        let (id, due) = (identifiers::text(id), self.instant(due));
        Some(Transition::TransferRequested { id, step, attempt, transfer: file, target, component, due })
    }
}

/// The choices of a question as they are logged.
pub(super) fn choices(named: &[Arc<str>]) -> Vec<Arc<str>> {
    if named.is_empty() { [Arc::from("yes"), Arc::from("no")].into() } else { named.to_vec() }
}

/// A component with its index: `tcu[2]`.
pub(super) fn component_text(component: &Arc<str>, index: Option<i64>) -> Arc<str> {
    match index {
        None => Arc::clone(component),
        Some(index) => {
            let mut digits = [0_u8; 20];
            let digits = identifiers::decimal(index.unsigned_abs(), &mut digits);
            let mut text = String::with_capacity(component.len().saturating_add(digits.len()).saturating_add(3));
            text.push_str(component);
            text.push_str(if index < 0 { "[-" } else { "[" });
            text.extend(digits.iter().copied().map(char::from));
            text.push(']');
            Arc::from(text)
        }
    }
}

impl State {
    /// What is waited for, if anything is.
    pub(super) fn wait(&self) -> Option<&What> {
        match self {
            Self::Wait(wait) => Some(&wait.what),
            _ => None,
        }
    }
}
