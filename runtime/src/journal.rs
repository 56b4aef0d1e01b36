//! The log of one run: its envelope, its appends, and reading it back.
//!
//! **Invariant**: an event that is not durable did not happen. [`Journal::append`] answers when it is; nothing acts on
//! an event before. Where an append fails, the machine that made it is ahead of its log and must be dropped.

use std::sync::Arc;

use stellar_vm::{
    event::{Body, Event},
    time::Instant,
};
use tokio::sync::watch;

use crate::crash;
use crate::ports::{Line, Log, StoreError};

/// How many lines are read at once.
const CHUNK: usize = 4_096;

/// How far a log is, for those who follow it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// The last event that is durable and acted on.
    pub seq: u64,
    /// Nothing more is written by this owner.
    pub over: bool,
}

/// One owner's pen on the log of a run.
pub struct Journal {
    log: Arc<dyn Log>,
    run: Arc<str>,
    epoch: u64,
    nonce: Arc<str>,
    progress: watch::Sender<Progress>,
}

impl Journal {
    /// A pen of this epoch and nonce; `progress` is told how far the log is.
    #[must_use]
    pub fn new(
        log: Arc<dyn Log>,
        run: Arc<str>,
        epoch: u64,
        nonce: Arc<str>,
        progress: watch::Sender<Progress>,
    ) -> Self {
        Self { log, run, epoch, nonce, progress }
    }

    /// The epoch it writes under.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// An event in this owner's envelope.
    #[must_use]
    pub fn event(&self, seq: u64, at: Instant, fence: Option<u64>, body: Body) -> Event {
        Event { seq, at, epoch: self.epoch, nonce: Some(self.nonce.clone()), fence, body }
    }

    /// Appends events, all or none, and answers when they are durable.
    ///
    /// # Errors
    /// `Conflict` or `Fenced` where the run is another's; `Unavailable` where the store has stopped.
    pub async fn append(&self, events: &[Event]) -> Result<(), StoreError> {
        if events.is_empty() {
            return Ok(());
        }
        let mut lines = Vec::with_capacity(events.len());
        for event in events {
            let text = event.to_json().map_err(|error| StoreError::Damaged(error.to_string()))?;
            lines.push(Line { seq: event.seq, epoch: event.epoch, text: text.into() });
        }
        crash::of_events("append.before", events);
        self.log.append(&self.run, lines).await?;
        crash::of_events("append.after", events);
        Ok(())
    }

    /// Tells those who follow the log that it has been acted on up to here.
    pub fn tell(&self, seq: u64) {
        self.progress.send_modify(|progress| progress.seq = seq);
    }

    /// Says that this owner writes no more.
    pub fn close(&self) {
        self.progress.send_modify(|progress| progress.over = true);
    }
}

/// Reads the whole log of a run.
///
/// # Errors
/// The store's; `Damaged` where its numbers are not 1, 2, 3….
pub async fn read_all(log: &dyn Log, run: &str) -> Result<Vec<Line>, StoreError> {
    let mut lines: Vec<Line> = Vec::new();
    loop {
        let from = lines.len() as u64 + 1;
        let chunk = log.read(run, from, CHUNK).await?;
        if chunk.is_empty() {
            return Ok(lines);
        }
        for (line, wanted) in chunk.into_iter().zip(from..) {
            if line.seq != wanted {
                let why = format!("the log of run {run} goes from event {} to {}", wanted - 1, line.seq);
                return Err(StoreError::Damaged(why));
            }
            lines.push(line);
        }
    }
}

/// Follows the log of a run: what is there, then what comes, until its owner writes no more.
pub struct Follower {
    log: Arc<dyn Log>,
    run: Arc<str>,
    next: u64,
    progress: Option<watch::Receiver<Progress>>,
    read: std::collections::VecDeque<Line>,
}

impl Follower {
    /// A follower from the event `next` on; without `progress` nobody writes, and it ends with what is there.
    #[must_use]
    pub fn new(log: Arc<dyn Log>, run: Arc<str>, next: u64, progress: Option<watch::Receiver<Progress>>) -> Self {
        Self { log, run, next: next.max(1), progress, read: std::collections::VecDeque::new() }
    }

    /// The next line, waiting for it; `None` when no more will come from this owner. Cancel-safe.
    ///
    /// # Errors
    /// The store's.
    pub async fn next(&mut self) -> Result<Option<Line>, StoreError> {
        loop {
            if let Some(line) = self.read.pop_front() {
                self.next = line.seq + 1;
                return Ok(Some(line));
            }
            // Looked at before reading: what is appended after the read wakes this up again.
            let told = self.progress.as_mut().map(|progress| *progress.borrow_and_update());
            let over = told.is_none_or(|told| told.over);
            let limit = told.filter(|_| !over).map_or(u64::MAX, |told| told.seq);
            if self.next <= limit {
                let lines = self.log.read(&self.run, self.next, CHUNK).await?;
                self.read.extend(lines.into_iter().filter(|line| line.seq <= limit));
            }
            if !self.read.is_empty() {
                continue;
            }
            if over {
                return Ok(None);
            }
            if let Some(progress) = &mut self.progress
                && progress.changed().await.is_err()
            {
                self.progress = None;
            }
        }
    }
}
