//! What operators sent, applied in order: each message becomes one event, or is declined with the reason.

use stellar_vm::{
    event::{Fact, KnownStatus},
    machine::RefusedKind,
};

use super::run::{RunError, RunTask};
use crate::{
    commanding,
    ports::{ControlAction, ControlMessage},
};

impl RunTask {
    /// Applies the next message; whether the machine got a fact.
    pub(super) async fn take_message(&mut self) -> Result<bool, RunError> {
        if self.poked {
            self.poked = false;
            let read = self.shared.store.control.read(&self.run, self.last_ctl).await?;
            if let Some((last, _)) = read.last() {
                self.last_ctl = *last;
            }
            self.messages.extend(read);
        }
        let Some((ctl, message)) = self.messages.pop_front() else { return Ok(false) };
        let fact = self.fact_of(ctl, &message).await?;
        match self.accept(fact, self.now()) {
            Ok(()) => Ok(true),
            Err(refused) if matches!(refused.why, RefusedKind::Late | RefusedKind::NoLeases) => {
                // The deadline is dealt with first, the leases are taken first: then the message is looked at again.
                self.messages.push_front((ctl, message));
                Ok(false)
            }
            Err(refused) => {
                self.shared.declined(&self.run, ctl, refused.code());
                let fact = Fact::Declined { ctl: Some(ctl), why: refused.to_string() };
                // Behind the end of a run nothing is written: the sender is told by the end itself.
                Ok(self.accept(fact, self.now()).is_ok())
            }
        }
    }

    async fn fact_of(&self, ctl: u64, message: &ControlMessage) -> Result<Fact, RunError> {
        let (ctl, by) = (Some(ctl), message.by.as_str().into());
        Ok(match &message.action {
            ControlAction::Answer { question, value } => {
                Fact::Answered { question: question.as_str().into(), value: value.as_str().into(), by, ctl }
            }
            ControlAction::Decide { decision, option } => {
                Fact::Decided { decision: decision.as_str().into(), option: *option, by, ctl }
            }
            ControlAction::Suspend => Fact::Suspended { why: String::from("operator"), by, ctl },
            ControlAction::Resume => Fact::Resumed { by, known: self.known().await?, ctl },
            ControlAction::Abort => Fact::AbortRequested { by, ctl },
        })
    }

    /// What the store knows of each telecommand whose result the log does not have.
    pub(super) async fn known(&self) -> Result<Vec<KnownStatus>, RunError> {
        let mut all = Vec::new();
        for id in self.sent.all_open() {
            all.push(commanding::known(self.shared.store.telecommands.as_ref(), &id).await?);
        }
        Ok(all)
    }
}
