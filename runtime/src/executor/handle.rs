//! A run as those see it who follow it and send to it.

use std::sync::{Arc, PoisonError};

use stellar_vm::{
    event::{Body, DecisionOption, Event, Fact, RunOutcome},
    machine::View,
};
use tokio::sync::oneshot;

use super::{Active, Command, Shared, takeover::ctl_of};
use crate::{
    clock::Phase,
    crash, ident,
    journal::Follower,
    ports::{ControlAction, ControlMessage, Line, RunRecord, RunState, StoreError},
};

/// How long a sender waits for the run's log, in nanoseconds.
const PATIENCE: i64 = 2_000_000_000;

/// How a run's task ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The run has ended.
    Finished(RunOutcome),
    /// The run is halted, for this reason.
    Halted(String),
    /// The process leaves the run as it stands: it can be taken over.
    Left(String),
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum ControlReply {
    /// It is in the log as this event.
    Applied {
        /// Its number.
        ctl: u64,
        /// The event.
        event: Line,
        /// Whether it had been sent before: this is what became of the first.
        repeated: bool,
    },
    /// It does not fit: the log says so.
    Declined {
        /// Its number.
        ctl: u64,
        /// Code of the refusal, `run::declined` where it is not known any more.
        code: &'static str,
        /// Why, in words.
        why: String,
    },
    /// It is stored; nobody has applied it yet.
    Stored {
        /// Its number.
        ctl: u64,
    },
}

/// Why a message is not taken.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// There is no such run.
    #[error("there is no run {0}")]
    Unknown(Arc<str>),
    /// The run has ended.
    #[error("run {0} has ended")]
    Ended(Arc<str>),
    /// The run is halted.
    #[error("run {run} is halted: {reason}")]
    Halted {
        /// The run.
        run: Arc<str>,
        /// Why.
        reason: String,
    },
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ControlError {
    /// The error's code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "run::unknown",
            Self::Ended(_) => "run::ended",
            Self::Halted { .. } => "run::halted",
            Self::Store(error) => error.code(),
        }
    }
}

/// A run. Clones are the same run; dropping them changes nothing.
#[derive(Clone)]
pub struct RunHandle {
    run: Arc<str>,
    shared: Arc<Shared>,
}

impl RunHandle {
    pub(super) fn new(run: Arc<str>, shared: Arc<Shared>) -> Self {
        Self { run, shared }
    }

    /// Its identifier.
    #[must_use]
    pub fn id(&self) -> &Arc<str> {
        &self.run
    }

    fn active(&self) -> Option<Active> {
        self.shared.active().get(&self.run).cloned()
    }

    /// Its record.
    ///
    /// # Errors
    /// The store's.
    pub async fn record(&self) -> Result<Option<RunRecord>, StoreError> {
        Ok(self.shared.store.records.get(&self.run).await?.map(|(record, _)| record))
    }

    /// Its events from number `from` on: those there are, then those that come, until this process's owner of the run
    /// writes no more. Where nobody owns it here, those there are.
    #[must_use]
    pub fn events(&self, from: u64) -> Follower {
        let progress = self.active().map(|active| active.progress);
        Follower::new(self.shared.store.log.clone(), self.run.clone(), from, progress)
    }

    /// How it stands, where it is under way in this process.
    pub async fn view(&self) -> Option<View> {
        let (answer, answered) = oneshot::channel();
        self.active()?.commands.send(Command::View(answer)).ok()?;
        answered.await.ok()
    }

    /// Waits until its task in this process has ended; `None` where it never had one here.
    pub async fn ended(&self) -> Option<Ending> {
        let mut ending = self.active()?.ending;
        let told = ending.wait_for(Option::is_some).await.ok()?;
        told.clone()
    }

    /// Tells the task that there may be messages.
    pub(super) fn poke(&self) {
        if let Some(active) = self.active() {
            // A task that has ended reads no messages; whoever sent one is told by the run's end.
            drop(active.commands.send(Command::Poke));
        }
    }

    /// Answers a question.
    ///
    /// # Errors
    /// [`ControlError`].
    pub async fn answer(
        &self,
        by: &str,
        key: Option<&str>,
        question: &str,
        value: &str,
    ) -> Result<ControlReply, ControlError> {
        let action = ControlAction::Answer { question: question.to_owned(), value: value.to_owned() };
        self.send(by, key, action).await
    }

    /// Takes a decision.
    ///
    /// # Errors
    /// [`ControlError`].
    pub async fn decide(
        &self,
        by: &str,
        key: Option<&str>,
        decision: &str,
        option: DecisionOption,
    ) -> Result<ControlReply, ControlError> {
        self.send(by, key, ControlAction::Decide { decision: decision.to_owned(), option }).await
    }

    /// Suspends the run.
    ///
    /// # Errors
    /// [`ControlError`].
    pub async fn suspend(&self, by: &str, key: Option<&str>) -> Result<ControlReply, ControlError> {
        self.send(by, key, ControlAction::Suspend).await
    }

    /// Lets the run go on.
    ///
    /// # Errors
    /// [`ControlError`].
    pub async fn resume(&self, by: &str, key: Option<&str>) -> Result<ControlReply, ControlError> {
        self.send(by, key, ControlAction::Resume).await
    }

    /// Ends the run.
    ///
    /// # Errors
    /// [`ControlError`].
    pub async fn abort(&self, by: &str, key: Option<&str>) -> Result<ControlReply, ControlError> {
        self.send(by, key, ControlAction::Abort).await
    }

    /// Sends a message, and waits up to 2 s for what becomes of it. The same sender's same key is the same message: it
    /// is applied once, and told what became of it the first time.
    ///
    /// # Errors
    /// [`ControlError`].
    pub async fn send(&self, by: &str, key: Option<&str>, action: ControlAction) -> Result<ControlReply, ControlError> {
        let record = self.record().await?.ok_or_else(|| ControlError::Unknown(self.run.clone()))?;
        let id = key.map_or_else(ident::random_id, |key| ident::message_id(by, key));
        if record.state == RunState::Ended || record.state == RunState::Halted {
            return self.told_before(&id, &record).await;
        }
        let from = self.active().map_or(0, |active| active.progress.borrow().seq) + 1;
        let message = ControlMessage { id, by: by.to_owned(), action };
        crash::point("control.before");
        let (ctl, repeated) = self.shared.store.control.send(&self.run, message).await?;
        crash::point("control.after");
        self.poke();
        let clock = self.shared.clock.clone();
        let limit = clock.now().after(PATIENCE);
        tokio::select! {
            biased;
            found = self.find(ctl, if repeated { 1 } else { from }, repeated) => {
                match found? {
                    Some(reply) => Ok(reply),
                    None => self.unanswered(ctl).await,
                }
            }
            () = clock.sleep_until(limit, Phase::Run) => Ok(ControlReply::Stored { ctl }),
        }
    }

    /// The owner writes no more, and the message is not in the log.
    async fn unanswered(&self, ctl: u64) -> Result<ControlReply, ControlError> {
        match self.record().await? {
            Some(record) if record.state == RunState::Ended => Err(ControlError::Ended(self.run.clone())),
            _ => Ok(ControlReply::Stored { ctl }),
        }
    }

    /// A run that takes no messages still tells what became of one that it took.
    async fn told_before(&self, id: &str, record: &RunRecord) -> Result<ControlReply, ControlError> {
        let messages = self.shared.store.control.read(&self.run, 0).await?;
        if let Some((ctl, _)) = messages.iter().find(|(_, message)| message.id == id)
            && let Some(reply) = self.find(*ctl, 1, true).await?
        {
            return Ok(reply);
        }
        if record.state == RunState::Ended {
            return Err(ControlError::Ended(self.run.clone()));
        }
        let reason = record.reason.clone().unwrap_or_default();
        Err(ControlError::Halted { run: self.run.clone(), reason })
    }

    /// Follows the log for the event of a message.
    async fn find(&self, ctl: u64, from: u64, repeated: bool) -> Result<Option<ControlReply>, StoreError> {
        let mut events = self.events(from);
        let mark = format!("\"ctl\":{ctl}");
        while let Some(line) = events.next().await? {
            if !line.text.contains(&mark) {
                continue;
            }
            let event = Event::from_json(&line.text).map_err(|error| StoreError::Damaged(error.to_string()))?;
            let Body::Fact(fact) = event.body else { continue };
            if ctl_of(&fact) != Some(ctl) {
                continue;
            }
            return Ok(Some(match fact {
                Fact::Declined { why, .. } => ControlReply::Declined { ctl, code: self.code_of(ctl), why },
                _ => ControlReply::Applied { ctl, event: line, repeated },
            }));
        }
        Ok(None)
    }

    fn code_of(&self, ctl: u64) -> &'static str {
        let code = self
            .active()
            .and_then(|active| active.declined.lock().unwrap_or_else(PoisonError::into_inner).get(&ctl).copied());
        code.unwrap_or("run::declined")
    }
}
