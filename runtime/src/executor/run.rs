//! The task of one run: facts into its machine, transitions out of it, each durable before anything acts on it.
//!
//! One turn: [`RunTask::next`](super::next) waits for something and gives it to the machine; [`RunTask::drive`] lets the
//! machine go on until it waits again, appends all of that as one batch, and then acts on it in order.

use std::{collections::VecDeque, sync::Arc};

use stellar_vm::{
    event::{Body, Event, Fact, RunOutcome, Transition},
    machine::{Advance, Machine, Refused},
    time::Instant,
};
use tokio::sync::mpsc::UnboundedReceiver;

use super::{
    Command, Shared,
    inbox::Inbox,
    sent::{Open, Sent},
    snapshot::RunSnapshot,
};
use crate::{
    crash,
    journal::Journal,
    leases::{Fences, Wanted},
    ports::{ControlMessage, Revision, RunRecord, StoreError},
};

/// Most events of one append: a run that does not wait is seen to go on.
const BATCH: usize = 256;

/// Why a run cannot go on; it is halted with this as its reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The machine refused what it had asked for.
    #[error("the machine refused {fact}: {refused}")]
    Refused {
        /// The kind of fact.
        fact: &'static str,
        /// Why.
        refused: Refused,
    },
}

/// A run that is under way in this process.
pub(super) struct RunTask {
    pub(super) shared: Arc<Shared>,
    pub(super) run: Arc<str>,
    pub(super) machine: Machine,
    pub(super) journal: Journal,
    pub(super) wanted: Wanted,
    pub(super) fences: Fences,
    pub(super) snapshot: RunSnapshot,
    pub(super) inbox: Inbox,
    pub(super) sent: Sent,
    pub(super) record: RunRecord,
    pub(super) revision: Revision,
    pub(super) commands: UnboundedReceiver<Command>,
    /// Messages of operators that are read and not yet applied.
    pub(super) messages: VecDeque<(u64, ControlMessage)>,
    /// The last message that was read.
    pub(super) last_ctl: u64,
    /// There may be messages that are not read.
    pub(super) poked: bool,
    /// What the run's clock is ahead of the process's: its time never goes back.
    pub(super) offset: i64,
    /// Accepted or emitted, not yet appended.
    pub(super) batch: Vec<Event>,
    /// The gateways have told all that they had received by this deadline.
    pub(super) read_past: Option<Instant>,
    /// Everything else that happened at this instant of virtual time, and before it, has happened.
    pub(super) came_last: Option<Instant>,
}

impl RunTask {
    /// Runs to the end of the run.
    pub(super) async fn run(mut self) -> Result<RunOutcome, RunError> {
        loop {
            if let Some(outcome) = self.drive().await? {
                self.finish(outcome).await?;
                return Ok(outcome);
            }
            self.next().await?;
        }
    }

    /// Now, on the run's clock.
    pub(super) fn now(&self) -> Instant {
        self.shared.clock.now().after(self.offset).max(self.machine.now())
    }

    /// The time of something that came by the next deadline and is taken in now: the deadline itself where that has
    /// passed meanwhile.
    pub(super) fn now_by_deadline(&self) -> Instant {
        let now = self.now();
        let limit = self.machine.next_deadline().map_or(now, |(due, _)| due);
        now.min(limit).max(self.machine.now())
    }

    /// Gives a fact to the machine; what it accepts is appended by the next [`RunTask::drive`].
    pub(super) fn accept(&mut self, fact: Fact, at: Instant) -> Result<(), Refused> {
        self.machine.accept(&fact, at)?;
        self.sent.settle(&fact);
        let event = self.journal.event(self.machine.seq(), self.machine.now(), None, Body::Fact(fact));
        self.batch.push(event);
        Ok(())
    }

    /// Gives a fact to the machine that it has asked for.
    pub(super) fn enter(&mut self, kind: &'static str, fact: Fact, at: Instant) -> Result<(), RunError> {
        self.accept(fact, at).map_err(|refused| RunError::Refused { fact: kind, refused })
    }

    /// Lets the machine go on until it waits, append before act. `Some` when the run has ended.
    pub(super) async fn drive(&mut self) -> Result<Option<RunOutcome>, RunError> {
        loop {
            let mut waits = None;
            while self.batch.len() < BATCH {
                match self.machine.advance(self.now()) {
                    Advance::Emit(transition) => self.emitted(transition),
                    Advance::Await => {
                        waits = Some(None);
                        break;
                    }
                    Advance::Done(outcome) => {
                        waits = Some(Some(outcome));
                        break;
                    }
                }
            }
            self.append().await?;
            if let Some(outcome) = waits
                && self.batch.is_empty()
            {
                return Ok(outcome);
            }
        }
    }

    fn emitted(&mut self, transition: Transition) {
        let fence = match &transition {
            Transition::TelecommandSent { target, .. } => self.fences.get(target).copied(),
            _ => None,
        };
        let (seq, at) = (self.machine.seq(), self.machine.now());
        self.batch.push(self.journal.event(seq, at, fence, Body::Transition(transition)));
    }

    /// Appends what is in the batch, and acts on it when it is durable. That may put new facts into the batch.
    pub(super) async fn append(&mut self) -> Result<(), RunError> {
        let events = std::mem::take(&mut self.batch);
        self.journal.append(&events).await?;
        let last = events.last().map(|event| event.seq);
        for event in events {
            match event.body {
                Body::Transition(transition) => self.act(&transition, event.at),
                Body::Fact(fact) => self.entered(&fact).await?,
            }
        }
        if let Some(last) = last {
            self.journal.tell(last);
        }
        Ok(())
    }

    fn act(&mut self, transition: &Transition, at: Instant) {
        if let Some(open) = self.sent.note(transition, at) {
            self.offer(&open);
        }
    }

    /// Offers a telecommand to the gateway of its target, in the process's time.
    pub(super) fn offer(&mut self, open: &Open) {
        let mut order = open.order.clone();
        order.deadline = order.deadline.after(-self.offset);
        self.sent.offered(&order.id);
        if let Some(gateway) = self.shared.gateway(&open.target) {
            crash::point("offer.before");
            gateway.offer(order);
            crash::point("offer.after");
        }
    }

    /// Acts on a fact that is durable.
    async fn entered(&mut self, fact: &Fact) -> Result<(), RunError> {
        match fact {
            Fact::Suspended { why, by, .. } => self.suspended(format!("suspended by {by}: {why}")).await,
            Fact::Leases { refused: Some(refusal), .. } => self.lease_refused(&refusal.reason).await,
            Fact::Leases { refused: None, .. } => self.running().await,
            _ => Ok(()),
        }
    }
}
