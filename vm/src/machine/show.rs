//! Makes the [`View`] of a run.

use alloc::{sync::Arc, vec::Vec};

use super::{
    emit::choices,
    identifiers,
    send::{reported, unmet},
    state::{Core, State, Strand, Wait, What, at},
    view::{Doing, RunState, StrandView, View},
};
use crate::{event::RunOutcome, verify::Verified};

impl Core {
    pub(super) fn view(&self, p: &Verified) -> View {
        let unit = self.run.as_ref().and_then(|run| at(&p.units, run.unit));
        let quiet = self.added.since.map_or(0, |since| self.now.saturating_sub(since));
        View {
            seq: self.seq,
            at: self.run.as_ref().map(|_| self.instant(self.now)),
            run: self.run.as_ref().map(|run| Arc::clone(&run.id)),
            procedure: unit.map(|unit| Arc::clone(&unit.name)),
            state: self.state(),
            reason: self.reason(),
            started_at: self.run.as_ref().map(|run| self.instant(run.started_at)),
            bound_ns: unit.map_or(0, |unit| unit.claims.max),
            added_ns: self.added.ns.saturating_add(quiet),
            strands: (0..self.strands.len()).filter_map(|i| self.strand_view(p, i)).collect(),
            failure: self.ending.as_ref().and_then(|ending| ending.failure.as_deref().cloned()),
        }
    }

    fn state(&self) -> RunState {
        if let Some(outcome) = self.ended {
            return outcome.into();
        }
        let aborting = self.ending.as_ref().is_some_and(|ending| ending.outcome == RunOutcome::Aborted);
        match (&self.run, &self.suspended, &self.leases) {
            (None, ..) => RunState::New,
            _ if aborting => RunState::Aborting,
            (_, Some(_), _) => RunState::Suspended,
            (_, None, Some(_)) => RunState::Leases,
            (_, None, None) => RunState::Running,
        }
    }

    fn reason(&self) -> Option<alloc::string::String> {
        match (&self.ending, &self.suspended) {
            (Some(ending), _) => ending.reason.clone(),
            (None, suspension) => suspension.as_ref().map(|suspension| suspension.why.clone()),
        }
    }

    fn strand_view(&self, p: &Verified, i: usize) -> Option<StrandView> {
        let strand = self.strands.get(i)?;
        let act = strand.acts.last()?;
        let unit = at(&p.units, act.unit)?;
        // Behind the last op of a block the one before is shown.
        let source = at(&unit.source, strand.pc).or_else(|| at(&unit.source, strand.pc.checked_sub(1)?));
        let (pending, deadline) = match &strand.state {
            State::Wait(wait) => (Some(wait.id), wait.deadline.map(|deadline| self.instant(deadline))),
            _ => (None, None),
        };
        let attempt = strand.attempts.last();
        Some(StrandView {
            strand: strand.id,
            parent: strand.parent,
            path: Arc::clone(attempt.map_or(&act.path, |attempt| &attempt.path)),
            attempt: attempt.map(|attempt| attempt.number),
            file: at(&p.files, unit.file).cloned().unwrap_or_default(),
            line: source.map_or(unit.line, |source| source.line),
            statement: source.map(|source| Arc::clone(&source.text)).unwrap_or_default(),
            doing: self.doing(p, i, strand)?,
            pending,
            deadline,
        })
    }

    fn doing(&self, p: &Verified, i: usize, strand: &Strand) -> Option<Doing> {
        let wait = match &strand.state {
            State::Running | State::Due(_) => return Some(Doing::Transition),
            State::Branches => return Some(Doing::Branches),
            State::Ended => return Some(Doing::Ended),
            State::Wait(wait) => wait,
        };
        Some(match &wait.what {
            What::Reading => Doing::Reading,
            What::Condition(window) => {
                Doing::Condition { held_since: window.held_since.map(|since| self.instant(since)) }
            }
            What::Verification(_) => self.awaits(p, i, wait)?,
            What::Timer => Doing::Timer,
            What::Interval => Doing::Interval,
            What::Utc { .. } => Doing::Utc,
            What::Answer { question, text } => Doing::Answer {
                question: identifiers::text(*question),
                text: text.clone(),
                choices: choices(&self.ask_at(p, i)?.choices),
            },
            What::Decision { id, of } => Doing::Decision {
                decision: identifiers::text(*id),
                reason: of.reason.clone(),
                options: of.options.clone(),
            },
            What::Transfer { id, cancel } => Doing::Transfer { id: identifiers::text(*id), cancel: cancel.is_some() },
        })
    }

    fn awaits(&self, p: &Verified, i: usize, wait: &Wait) -> Option<Doing> {
        let What::Verification(verifying) = &wait.what else { return None };
        let (sent, telecommand) = self.last_sent(p, i)?;
        let mut awaits = Vec::new();
        if sent.released.is_none() {
            awaits.push("release");
        }
        awaits.extend(unmet(sent, telecommand).map(|(stage, _)| reported(stage)));
        if !verifying.until_met {
            awaits.push("until");
        }
        Some(Doing::Telecommand { id: identifiers::text(sent.id), awaits })
    }
}
