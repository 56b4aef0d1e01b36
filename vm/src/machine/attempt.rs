//! Steps and calls, attempt by attempt: how one starts, ends, and is followed by another.
//!
//! An attempt is scheduled by the policy (`attempt_scheduled`, then its start), or begins at once because an operator
//! decided `replay` or the run was resumed. `for` is applied when an attempt's end is logged and again when the next is
//! about to start; there, with nothing to log, a step that no longer fits fails silently: see [`Core::settle`].

use alloc::{boxed::Box, collections::BTreeMap, sync::Arc, vec::Vec};

use super::{
    samples::NONE,
    state::{Activation, Attempt, Attempted, Core, Due, Frame, FrameKind, State, Then, What, at},
};
use crate::{
    event::{Failure, FailureCode, StepOutcome, Transition},
    op::Op,
    program::{Policy, Unit},
    seeded::{self, Bug},
    value::Value,
    verify::Verified,
};

/// What is known of a step or call before it begins.
struct Site {
    name: Arc<str>,
    policy: Option<Policy>,
    eligible: bool,
    bound: i64,
}

/// Whether a failure is followed by a new attempt, where the policy has one.
fn is_retried(code: FailureCode) -> bool {
    use FailureCode as F;
    match code {
        F::ExpectFailed
        | F::CheckFailed
        | F::WaitFailed
        | F::ReadFailed
        | F::Rejected
        | F::SendFailed
        | F::VerifyTimeout
        | F::TransferFailed => true,
        F::EncodeFailed | F::VerifyFailed | F::AskRefused | F::AskTimeout | F::TransferNotCreated | F::Failed => false,
    }
}

fn site(p: &Verified, of: u32, unit: &Unit, what: Attempted) -> Option<Site> {
    let facts = p.facts(of)?;
    let (name, known, bound) = match what {
        Attempted::Inline(step) => {
            let inline = at(&unit.steps, step)?;
            (&inline.name, at(&facts.steps, step)?, inline.claims.attempt)
        }
        Attempted::Do(place) | Attempted::Run(place) => {
            let call = at(&unit.calls, place)?;
            (&at(&p.units, call.unit)?.name, at(&facts.calls, place)?, call.claims.attempt)
        }
    };
    Some(Site { name: Arc::clone(name), policy: known.policy, eligible: known.eligible, bound })
}

impl Core {
    /// Begins a step or call: its inputs are valued once, for all of its attempts.
    pub(super) fn open_attempt(&mut self, p: &Verified, i: usize, what: Attempted) -> Option<()> {
        let (act, unit) = self.place(p, i)?;
        let site = site(p, act.unit, unit, what)?;
        let mut inputs = Vec::new();
        if let Attempted::Do(call) | Attempted::Run(call) = what {
            let call = at(&unit.calls, call)?;
            let context = self.context(p, act, &NONE);
            for (input, given) in at(&p.units, call.unit)?.inputs.iter().zip(&call.inputs) {
                inputs.push(match given {
                    None => input.default.clone(),
                    // The verifier lets no input through that can fail.
                    Some(given) => Some(at(&unit.exprs, *given)?.evaluate(&context).value()?),
                });
            }
        }
        let path = act.path.iter().cloned().chain([site.name]).collect();
        let strand = self.strands.get_mut(i)?;
        strand.attempts.push(Attempt {
            what,
            pc: strand.pc,
            path,
            frames: strand.frames.len(),
            acts: strand.acts.len(),
            number: 1,
            used: 0,
            open: false,
            forced: false,
            eligible: site.eligible,
            policy: site.policy,
            bound: site.bound,
            begin: 0,
            start: 0,
            start_order: None,
            inputs,
            owns_scope: false,
            failure: None,
            sent: Vec::new(),
            transferred: false,
        });
        strand.state = State::Due(Due::Start);
        Some(())
    }

    /// `step_started` or `call_started`.
    pub(super) fn emit_start(&mut self, p: &Verified, i: usize) -> Option<Transition> {
        let (act, unit) = self.place(p, i)?;
        let (max_order, now, active) = (self.max_order, self.now, self.active(self.now));
        let scope = self.last_scope.saturating_add(1);
        let targets = Arc::clone(&act.targets);
        let strand = self.strands.get_mut(i)?;
        let attempt = strand.attempts.last_mut()?;
        let (step, number) = (Arc::clone(&attempt.path), attempt.number);
        let file = Arc::clone(at(&p.files, unit.file)?);
        let line = at(&unit.source, attempt.pc)?.line;
        if number == 1 {
            attempt.begin = active;
        }
        attempt.start = now;
        attempt.start_order = max_order;
        attempt.open = true;
        attempt.forced = false;
        attempt.sent.clear();
        attempt.transferred = false;
        if strand.scope.is_none() && (attempt.is_step() || attempt.policy.is_some()) {
            attempt.owns_scope = true;
            strand.scope = Some((scope, strand.frames.len()));
            self.scopes.insert(scope, BTreeMap::new());
            self.last_scope = scope;
        }
        let transition = match attempt.what {
            Attempted::Run(_) => Transition::CallStarted { step, attempt: number, file, line },
            _ => Transition::StepStarted { step, attempt: number, file, line },
        };
        match attempt.what {
            Attempted::Inline(_) => {
                let Op::Step { end, .. } = *at(&unit.code, attempt.pc)? else { return None };
                strand.pc = attempt.pc.saturating_add(1);
                strand.frames.push(Frame { stop: end, kind: FrameKind::Inline });
            }
            Attempted::Do(call) | Attempted::Run(call) => {
                let call = at(&unit.calls, call)?;
                let callee = at(&p.units, call.unit)?;
                let given: Option<Vec<_>> = call.targets.iter().map(|place| at(&targets, *place).cloned()).collect();
                let path = Arc::clone(&attempt.path);
                let act = Activation::new(call.unit, callee, attempt.inputs.clone(), given?.into(), path);
                strand.acts.push(act);
                strand.frames.push(Frame { stop: p.facts(call.unit)?.body_end, kind: FrameKind::Unit });
                strand.pc = 0;
            }
        }
        strand.state = State::Running;
        Some(transition)
    }

    /// The code of a step, or of a called procedure, is done.
    pub(super) fn attempt_passed(&mut self, i: usize) {
        self.finish(i, StepOutcome::Passed, None, Then::Next);
    }

    /// The end of the innermost attempt is due.
    pub(super) fn finish(&mut self, i: usize, outcome: StepOutcome, failure: Option<Box<Failure>>, then: Then) {
        if let Some(strand) = self.strands.get_mut(i) {
            strand.state = State::Due(Due::Finish { outcome, failure, then });
        }
    }

    /// `step_finished` or `call_finished`, and what follows it.
    pub(super) fn emit_finish(
        &mut self,
        p: &Verified,
        i: usize,
        outcome: StepOutcome,
        failure: Option<Box<Failure>>,
        then: Then,
    ) -> Option<Transition> {
        let now = self.now;
        let strand = self.strands.get_mut(i)?;
        let halted = strand.halted.is_some();
        let attempt = strand.attempts.last_mut()?;
        let (step, number) = (Arc::clone(&attempt.path), attempt.number);
        let told = failure.as_deref().cloned();
        let transition = match attempt.what {
            Attempted::Run(_) => Transition::CallFinished { step, attempt: number, outcome, failure: told },
            _ => Transition::StepFinished { step, attempt: number, outcome, failure: told },
        };
        attempt.open = false;
        attempt.failure.clone_from(&failure);
        strand.frames.truncate(attempt.frames);
        strand.acts.truncate(attempt.acts);
        strand.pc = attempt.pc;
        let again = match then {
            Then::Again => Some(now),
            Then::Retry if !halted => attempt.next_start(now).filter(|due| attempt.fits(self.stood_still, *due)),
            _ => None,
        };
        let attempt = self.strands.get_mut(i)?.attempts.last_mut()?;
        match (again, then) {
            (Some(_), Then::Again) => {
                attempt.number = attempt.number.saturating_add(1);
                attempt.forced = true;
                self.strands.get_mut(i)?.state = State::Due(Due::Start);
            }
            (Some(due), _) => {
                attempt.number = attempt.number.saturating_add(1);
                attempt.used = attempt.used.saturating_add(1);
                self.strands.get_mut(i)?.state = State::Due(Due::Schedule { due });
            }
            (None, Then::Next) => {
                self.close_attempt(i)?;
                self.next_behind(p, i)?;
            }
            (None, _) => {
                self.close_attempt(i)?;
                self.fail(p, i, failure?);
            }
        }
        Some(transition)
    }

    /// `attempt_scheduled`: the start waits for its time, or is due at once.
    pub(super) fn emit_schedule(&mut self, i: usize, due: i64) -> Option<Transition> {
        let (now, instant) = (self.now, self.instant(due));
        let strand = self.strands.get_mut(i)?;
        let attempt = strand.attempts.last()?;
        let transition =
            Transition::AttemptScheduled { step: Arc::clone(&attempt.path), attempt: attempt.number, due: instant };
        if due <= now {
            strand.state = State::Due(Due::Start);
        } else {
            self.begin_wait(i, Some(due), What::Interval)?;
        }
        Some(transition)
    }

    /// Takes the innermost attempt off: the step or call is over.
    pub(super) fn close_attempt(&mut self, i: usize) -> Option<()> {
        let strand = self.strands.get_mut(i)?;
        let attempt = strand.attempts.pop()?;
        strand.frames.truncate(attempt.frames);
        strand.acts.truncate(attempt.acts);
        strand.pc = attempt.pc;
        if attempt.owns_scope
            && let Some((scope, _)) = strand.scope.take()
        {
            self.scopes.remove(&scope);
        }
        Some(())
    }

    /// On behind the step or call at which the strand stands.
    fn next_behind(&mut self, p: &Verified, i: usize) -> Option<()> {
        let (_, unit) = self.place(p, i)?;
        let strand = self.strands.get_mut(i)?;
        strand.pc = match at(&unit.code, strand.pc)? {
            Op::Step { end, .. } => *end,
            _ => strand.pc.saturating_add(1),
        };
        strand.state = State::Running;
        Some(())
    }

    /// A statement of a step failed: retried, failed, or an operator decides.
    pub(super) fn step_failed(&mut self, i: usize, failure: Box<Failure>) {
        let Some(strand) = self.strands.get_mut(i) else { return };
        let Some(attempt) = strand.attempts.last() else { return };
        if attempt.eligible {
            let then = then(attempt, &failure);
            self.finish(i, StepOutcome::Failed, Some(failure), then);
        } else {
            self.decide_on_failure(i, failure);
        }
    }

    /// A called procedure failed, its `on failure` done.
    pub(super) fn call_failed(&mut self, i: usize, failure: Box<Failure>) {
        let Some(attempt) = self.strands.get(i).and_then(|strand| strand.attempts.last()) else { return };
        let then = then(attempt, &failure);
        self.finish(i, StepOutcome::Failed, Some(failure), then);
    }

    /// Time of the run with suspensions left out: `for T` counts by it.
    pub(super) fn active(&self, now: i64) -> i64 {
        let standing = self.suspended.as_ref().map_or(0, |suspension| now.saturating_sub(suspension.since));
        now.saturating_sub(self.stood_still).saturating_sub(standing)
    }

    /// Lets the steps fail whose next attempt is due and no longer fits into `for`. That leaves no event, so it must not
    /// matter when it is looked at: what did not fit once never fits later, and nothing else is done here.
    pub(super) fn settle(&mut self, p: &Verified, now: i64) {
        if self.suspended.is_some() || self.leases.is_some() {
            return;
        }
        let misfit = |core: &Self| {
            core.strands.iter().position(|strand| {
                let due = matches!(strand.state, State::Due(Due::Start));
                due && strand
                    .attempts
                    .last()
                    .is_some_and(|next| !next.forced && next.number > 1 && !next.fits(core.stood_still, now))
            })
        };
        while self.ending.is_none() && self.ended.is_none() {
            let Some(i) = misfit(self) else { return };
            self.give_up(p, i);
            self.run_all(p);
        }
    }

    /// Fails a step or call between two attempts.
    pub(super) fn give_up(&mut self, p: &Verified, i: usize) {
        let failure = self.strands.get_mut(i).and_then(|strand| strand.attempts.last_mut()?.failure.take());
        let halted = self.strands.get(i).and_then(|strand| strand.halted.clone());
        self.close_attempt(i);
        match failure.or(halted) {
            Some(failure) => self.fail(p, i, failure),
            None => self.broken(p, i),
        }
    }
}

fn then(attempt: &Attempt, failure: &Failure) -> Then {
    let counted = attempt.policy.is_some_and(|policy| policy.times.is_none_or(|times| attempt.used < times));
    if counted && is_retried(failure.code) { Then::Retry } else { Then::Fail }
}

impl Attempt {
    /// When the next attempt starts by the policy, this one ending now.
    fn next_start(&self, now: i64) -> Option<i64> {
        let start = if seeded::on(Bug::EveryFromTheEnd) { now } else { self.start };
        Some(start.saturating_add(self.policy?.interval()).max(now))
    }

    /// Whether an attempt that starts at a time of the run ends within `for`.
    fn fits(&self, stood_still: i64, start: i64) -> bool {
        let Some(total) = self.policy.and_then(|policy| policy.total) else { return true };
        let start = i128::from(start.saturating_sub(stood_still));
        let bound = if seeded::on(Bug::ForWithoutAttempt) { 0 } else { self.bound };
        start + i128::from(bound) <= i128::from(self.begin) + i128::from(total)
    }
}

impl Activation {
    /// A unit about to run: its inputs valued, no other name yet.
    pub(super) fn new(
        unit: u32,
        of: &Unit,
        mut locals: Vec<Option<Value>>,
        targets: Arc<[Arc<str>]>,
        path: crate::event::Path,
    ) -> Self {
        locals.resize(of.locals.len(), None);
        Self { unit, locals, targets, path, failed: None, handled: false }
    }
}
