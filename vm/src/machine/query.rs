//! What the driver asks without changing anything: what is pending, what samples would decide, what they are.

use alloc::{vec, vec::Vec};

use super::{
    identifiers,
    pending::{Pending, PendingKind},
    samples::keep,
    state::{Core, State, Strand, What, at},
};
use crate::{
    condition::{Context, Expr, Snapshot},
    event::{PendingId, SampleRecord},
    op::Op,
    program::Unit,
    verify::Verified,
};

impl Core {
    pub(super) fn pending(&self) -> Vec<Pending> {
        let held = self.ending.is_some() || self.suspended.is_some() || self.leases.is_some();
        let mut pending = Vec::new();
        if self.leases.is_some() && self.ending.is_none() {
            pending.push(Pending { id: 0, strand: 0, deadline: None, kind: PendingKind::Leases });
        }
        for (i, strand) in self.strands.iter().enumerate() {
            let State::Wait(wait) = &strand.state else { continue };
            if held && !matches!(wait.what, What::Transfer { cancel: Some(_), .. }) {
                continue;
            }
            let Some(kind) = self.kind(i, strand, &wait.what) else { continue };
            let deadline = wait.deadline.map(|deadline| self.instant(deadline));
            pending.push(Pending { id: wait.id, strand: strand.id, deadline, kind });
        }
        pending
    }

    fn kind(&self, i: usize, strand: &Strand, what: &What) -> Option<PendingKind> {
        Some(match what {
            What::Reading => PendingKind::Reading,
            What::Condition(_) => PendingKind::Condition,
            What::Verification(verifying) => {
                let id = identifiers::text(strand.attempts.last()?.sent.last()?.id);
                PendingKind::Telecommand { id, until: !verifying.until_met && self.has_left(i) }
            }
            What::Timer | What::Interval => PendingKind::Timer,
            What::Utc { until, first } => PendingKind::Utc { until: *until, now: *first },
            What::Answer { question, .. } => PendingKind::Answer { question: identifiers::text(*question) },
            What::Decision { id, .. } => PendingKind::Decision { decision: identifiers::text(*id) },
            What::Transfer { id, cancel } => {
                PendingKind::Transfer { id: identifiers::text(*id), cancel: cancel.is_some() }
            }
        })
    }

    /// The first pending thing that samples decide: of what waits for them first, of readings, which any decide, last.
    pub(super) fn settles(&self, p: &Verified, snapshot: &dyn Snapshot) -> Option<PendingId> {
        if self.ending.is_some() || self.suspended.is_some() || self.leases.is_some() {
            return None;
        }
        let mut reading = None;
        for (i, strand) in self.strands.iter().enumerate() {
            let State::Wait(wait) = &strand.state else { continue };
            let settles = match wait.what {
                What::Reading => {
                    reading = reading.or(Some(wait.id));
                    false
                }
                What::Condition(_) => self.condition_settles(p, i, snapshot).unwrap_or(false),
                What::Verification(_) => self.until_settles(p, i, snapshot),
                _ => false,
            };
            if settles {
                return Some(wait.id);
            }
        }
        reading
    }

    /// The samples that a pending thing is judged by, as a snapshot has them.
    pub(super) fn evidence(&self, p: &Verified, pending: PendingId, snapshot: &dyn Snapshot) -> Vec<SampleRecord> {
        let is = |strand: &Strand| matches!(&strand.state, State::Wait(wait) if wait.id == pending);
        let Some(i) = self.strands.iter().position(is) else { return Vec::new() };
        let found = match self.strands.get(i).and_then(|strand| strand.state.wait()) {
            Some(What::Reading) => self.reading_evidence(p, i, snapshot),
            // All that can matter whenever it is judged: nothing is stale that early.
            Some(What::Condition(_)) => {
                self.with_condition(p, i, snapshot, Some(i64::MIN), |expr, context| keep([(expr, *context)]))
            }
            Some(What::Verification(_)) => {
                self.with_until(p, i, snapshot, i64::MIN, |expr, context| keep([(expr, *context)]))
            }
            _ => None,
        };
        found.unwrap_or_default()
    }

    fn reading_evidence(&self, p: &Verified, i: usize, snapshot: &dyn Snapshot) -> Option<Vec<SampleRecord>> {
        let (act, unit) = self.place(p, i)?;
        let op = *at(&unit.code, self.strands.get(i)?.pc)?;
        let context = self.context(p, act, snapshot);
        let mut parts: Vec<(&Expr, Context<'_>)> = exprs(unit, op)?.into_iter().map(|expr| (expr, context)).collect();
        let Op::Send(send) = op else { return Some(keep(parts)) };
        let operands = at(&unit.sends, send)?;
        let index = operands.index.and_then(|index| at(&unit.exprs, index));
        let locals = [index.and_then(|index| index.evaluate(&context).value())];
        let target = at(&act.targets, operands.target)?;
        let requires = at(&p.telecommands, operands.telecommand)?.requires.as_ref();
        let targets = core::slice::from_ref(target);
        parts.extend(requires.map(|requires| (requires, Context { locals: &locals, targets, ..context })));
        Some(keep(parts))
    }
}

/// The expressions of a unit that an op values, `requires` apart.
fn exprs(unit: &Unit, op: Op) -> Option<Vec<&Expr>> {
    let ids = match op {
        Op::Check(cond) | Op::Judge { cond, .. } | Op::If { cond, .. } => vec![cond],
        Op::Let { value, .. } => vec![value],
        Op::WaitTime { time, .. } => vec![time],
        Op::Send(send) => {
            let send = at(&unit.sends, send)?;
            send.index.iter().chain(send.args.iter().flatten()).copied().collect()
        }
        Op::Transfer(transfer) => at(&unit.transfers, transfer)?.index.into_iter().collect(),
        Op::Do(call) | Op::Run(call) => at(&unit.calls, call)?.inputs.iter().flatten().copied().collect(),
        _ => Vec::new(),
    };
    ids.into_iter().map(|id| at(&unit.exprs, id)).collect()
}
