//! `wait`, `wait until TIME`, `ask` and `transfer`.

use alloc::{format, string::String, sync::Arc};

use super::{
    emit::{choices, component_text},
    samples::Listed,
    state::{Cancel, Core, Due, State, Wait, What, at},
};
use crate::{
    event::{Fact, FailureCode, SampleRecord, TransferStatus},
    op::{ExprId, Op},
    program::{Ask, Transfer},
    time::{Instant, duration_text},
    value::{Operand, Type, Value},
    verify::Verified,
};

impl Core {
    pub(super) fn wait(&mut self, p: &Verified, i: usize, duration: u32) -> Option<()> {
        let (_, unit) = self.place(p, i)?;
        let due = self.now.saturating_add(*at(&unit.durations, duration)?);
        if due <= self.now {
            return self.next(i);
        }
        self.begin_wait(i, Some(due), What::Timer)
    }

    pub(super) fn wait_time(
        &mut self,
        p: &Verified,
        i: usize,
        time: ExprId,
        within: u32,
        samples: Option<&[SampleRecord]>,
    ) -> Option<()> {
        let (act, unit) = self.place(p, i)?;
        let limit = self.now.saturating_add(*at(&unit.durations, within)?);
        let expr = at(&unit.exprs, time)?;
        if samples.is_none() && !expr.reads.is_empty() {
            return self.ask_for_samples(i);
        }
        let listed = Listed(samples.unwrap_or(&[]));
        let Operand::Time(until) = expr.evaluate(&self.context(p, act, &listed)) else {
            self.no_value(p, i, FailureCode::WaitFailed, time, &listed);
            return Some(());
        };
        self.begin_wait(i, Some(limit), What::Utc { until, first: true })
    }

    /// UTC as it reads, for a `wait until TIME`.
    pub(super) fn utc_read(&mut self, p: &Verified, i: usize, utc: i64, elapsed: bool) -> Option<()> {
        let (_, unit) = self.place(p, i)?;
        let strand = self.strands.get_mut(i)?;
        let State::Wait(Wait { what: What::Utc { until, first }, .. }) = &mut strand.state else { return None };
        let until = *until;
        if utc >= until {
            return self.next(i);
        }
        let Op::WaitTime { within, .. } = *at(&unit.code, strand.pc)? else { return None };
        let within = *at(&unit.durations, within)?;
        let away = until.saturating_sub(utc);
        let message = if elapsed {
            format!(
                "{} was not reached within {}: UTC reads {} less",
                utc_text(until),
                duration_text(within),
                duration_text(away)
            )
        } else if *first && away > within {
            format!("{} is {} away, more than {}", utc_text(until), duration_text(away), duration_text(within))
        } else {
            *first = false;
            return Some(());
        };
        self.statement_failed(p, i, FailureCode::WaitFailed, message);
        Some(())
    }

    /// The limit of a `wait until TIME` passed without a reading of UTC.
    pub(super) fn utc_elapsed(&mut self, p: &Verified, i: usize) -> Option<()> {
        let State::Wait(Wait { what: What::Utc { until, .. }, .. }) = &self.strands.get(i)?.state else { return None };
        let message = format!("{} was not reached in time", utc_text(*until));
        self.statement_failed(p, i, FailureCode::WaitFailed, message);
        Some(())
    }

    pub(super) fn ask(&mut self, p: &Verified, i: usize, ask: u32) -> Option<()> {
        let (_, unit) = self.place(p, i)?;
        let text = self.render(p, i, &at(&unit.asks, ask)?.text)?;
        self.strands.get_mut(i)?.state = State::Due(Due::Question { text });
        Some(())
    }

    /// The operands of the `ask` at which a strand stands.
    pub(super) fn ask_at<'p>(&self, p: &'p Verified, i: usize) -> Option<&'p Ask> {
        let (_, unit) = self.place(p, i)?;
        match *at(&unit.code, self.strands.get(i)?.pc)? {
            Op::Ask(ask) => at(&unit.asks, ask),
            _ => None,
        }
    }

    /// Whether a question offers a choice.
    pub(super) fn offers(&self, p: &Verified, i: usize, choice: &str) -> bool {
        self.ask_at(p, i).is_some_and(|ask| choices(&ask.choices).iter().any(|offered| **offered == *choice))
    }

    pub(super) fn answered(&mut self, p: &Verified, i: usize, choice: &Arc<str>, by: &Arc<str>) -> Option<()> {
        let ask = self.ask_at(p, i)?;
        if ask.choices.is_empty() && **choice == *"no" {
            self.statement_failed(p, i, FailureCode::AskRefused, format!("answered `no` by {by}"));
            return Some(());
        }
        if let Some(local) = ask.local {
            let (_, unit) = self.place(p, i)?;
            let value = match at(&unit.locals, local)?.ty {
                Type::Bool => Value::Bool(true),
                _ => Value::Str(Arc::clone(choice)),
            };
            self.set_local(i, local, value)?;
        }
        self.next(i)
    }

    pub(super) fn ask_elapsed(&mut self, p: &Verified, i: usize) -> Option<()> {
        let within = duration_text(self.ask_at(p, i)?.within);
        self.statement_failed(p, i, FailureCode::AskTimeout, format!("not answered within {within}"));
        Some(())
    }

    pub(super) fn transfer(
        &mut self,
        p: &Verified,
        i: usize,
        transfer: u32,
        samples: Option<&[SampleRecord]>,
    ) -> Option<()> {
        let (act, unit) = self.place(p, i)?;
        let transfer = at(&unit.transfers, transfer)?;
        let file = self.render(p, i, &transfer.file)?;
        let index = match (transfer.index, transfer.component_index) {
            (None, _) | (_, None) => None,
            (Some(index), Some((min, max))) => {
                let expr = at(&unit.exprs, index)?;
                if samples.is_none() && !expr.reads.is_empty() {
                    return self.ask_for_samples(i);
                }
                let listed = Listed(samples.unwrap_or(&[]));
                match expr.evaluate(&self.context(p, act, &listed)) {
                    Operand::Int(index) if (min..=max).contains(&index) => Some(index),
                    _ => {
                        let message = format!("the index of `{}` is not known", transfer.component);
                        self.statement_failed(p, i, FailureCode::TransferNotCreated, message);
                        return Some(());
                    }
                }
            }
        };
        let component = component_text(&transfer.component, index);
        self.strands.get_mut(i)?.state = State::Due(Due::Transfer { file, component });
        Some(())
    }

    /// What became of the transfer that a strand waits for.
    pub(super) fn transfer_status(
        &mut self,
        p: &Verified,
        i: usize,
        status: TransferStatus,
        reason: Option<&String>,
    ) -> Option<()> {
        let State::Wait(Wait { what: What::Transfer { cancel, .. }, .. }) = &self.strands.get(i)?.state else {
            return None;
        };
        let why = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        let within = duration_text(self.transfer_at(p, i)?.within);
        let (code, message) = match (*cancel, status) {
            (Some(Cancel::Abort), _) => {
                self.strands.get_mut(i)?.state = State::Ended;
                return Some(());
            }
            (Some(Cancel::Interrupted { taken_over }), _) => return self.interrupt_step(p, i, taken_over, None),
            (None, TransferStatus::Completed) => return self.next(i),
            (_, TransferStatus::NotCreated) => {
                (FailureCode::TransferNotCreated, format!("the transfer could not be created{why}"))
            }
            (Some(Cancel::Elapsed), _) => {
                (FailureCode::TransferFailed, format!("not ended within {within}, cancelled{why}"))
            }
            (None, TransferStatus::Failed) => (FailureCode::TransferFailed, format!("the transfer failed{why}")),
            (None, TransferStatus::Cancelled) => {
                (FailureCode::TransferFailed, format!("the transfer was cancelled{why}"))
            }
        };
        self.statement_failed(p, i, code, message);
        Some(())
    }

    fn transfer_at<'p>(&self, p: &'p Verified, i: usize) -> Option<&'p Transfer> {
        let (_, unit) = self.place(p, i)?;
        match *at(&unit.code, self.strands.get(i)?.pc)? {
            Op::Transfer(transfer) => at(&unit.transfers, transfer),
            _ => None,
        }
    }

    /// Has the transfer that a strand waits for cancelled; its status is awaited without a limit.
    pub(super) fn cancel_transfer(&mut self, i: usize, why: Cancel) {
        if let Some(State::Wait(Wait { deadline, what: What::Transfer { cancel, .. }, .. })) =
            self.strands.get_mut(i).map(|strand| &mut strand.state)
        {
            *deadline = None;
            *cancel = Some(why);
        }
    }
}

fn utc_text(ns: i64) -> Instant {
    Instant { ns, scale: crate::time::Scale::Utc }
}

/// Whether a fact may come at any time, whatever deadline has passed: control facts, and what an owner logs of leases.
pub(super) fn is_control(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::TakenOver { .. }
            | Fact::Suspended { .. }
            | Fact::Resumed { .. }
            | Fact::AbortRequested { .. }
            | Fact::Leases { .. }
            | Fact::Declined { .. }
    )
}
