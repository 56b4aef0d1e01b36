//! Gateways: the one place from which telecommands leave and at which telemetry arrives.
//!
//! A gateway owns the link of one target. It takes the telecommands of the target in order, encodes each, makes a claim
//! durable, hands it to the [`link`] at most once, and makes the result durable. What happens then, and everything else
//! that the link receives, it publishes as one ordered sequence of [`TargetItem`]s, archives it, and keeps the latest
//! samples. What is deliberately not here: who may send (leases), what a condition says (the machine), how bytes look
//! (the links).
//!
//! **Invariant**: an identifier is handed over at most once, and only after its claim is durable.
//! **Invariant**: what the ground received before a telecommand left stands before its release in the order, what it
//! received after stands behind.

pub mod latest;
pub mod link;
mod names;
pub mod order;
mod publisher;
pub(crate) mod resolve;
mod samples;
mod status;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod worker;

use std::sync::Arc;

use stellar_vm::catalogue::Platform;
use tokio::sync::{mpsc, oneshot};

pub use latest::Latest;
pub use order::TelecommandOrder;
pub use publisher::Subscription;
pub use status::{Anomaly, LinkStatus};

use crate::{
    clock::Clock,
    ports::{Archive, StoreError, TargetItem, Telecommands},
};
use link::{Closed, ControlError, Inbox, Link, Past, Start};
use publisher::Publisher;
use status::Status;
use worker::{Request, Worker};

/// Deliveries of a link that may wait to be published.
const INBOX: usize = 1_024;

/// What a gateway is opened with.
#[derive(Clone)]
pub struct GatewayOptions {
    /// The target.
    pub target: Arc<str>,
    /// What kind of target it is.
    pub platform: Arc<Platform>,
    /// The clock of the process.
    pub clock: Clock,
    /// Claims and results.
    pub telecommands: Arc<dyn Telecommands>,
    /// Where everything published is kept.
    pub archive: Arc<dyn Archive>,
    /// Nonce of the instance, for its claims.
    pub nonce: Arc<str>,
}

/// Why a gateway cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GatewayError {
    /// The store refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The link can never work.
    #[error("the link of `{0}` cannot be used: {1}")]
    Link(Arc<str>, String),
}

/// The gateway of one target. Clones are the same gateway; it ends when it is closed or the last one is dropped.
#[derive(Clone)]
pub struct Gateway {
    target: Arc<str>,
    kind: &'static str,
    requests: mpsc::UnboundedSender<Request>,
    inbox: Inbox,
    publisher: Arc<Publisher>,
    status: Arc<Status>,
}

impl Gateway {
    /// Opens the gateway of a target: takes in what the store and the link's record tell of earlier processes, and
    /// starts the link.
    ///
    /// # Errors
    /// Where the store refuses, or the link can never work.
    pub async fn open(options: GatewayOptions, mut link: Box<dyn Link>) -> Result<Self, GatewayError> {
        let GatewayOptions { target, archive, .. } = &options;
        let mut latest = Latest::new(Arc::clone(target));
        archive.latest(target).await?.iter().for_each(|sample| latest.put(sample));
        let claimed: Vec<Past> = options
            .telecommands
            .open(target)
            .await?
            .into_iter()
            .filter_map(|claim| Some(Past { id: claim.id.into(), name: claim.link?.into(), deadline: None }))
            .collect();
        let (inbox, deliveries) = Inbox::channel(INBOX);
        let kind = link.kind();
        let start = Start { inbox: inbox.clone(), claimed: claimed.clone() };
        let recorded = link.start(start).map_err(|why| GatewayError::Link(Arc::clone(target), why))?;
        let publisher = Arc::new(Publisher::new(latest, Arc::clone(archive)));
        let status = Arc::new(Status::default());
        let (requests, asked) = mpsc::unbounded_channel();
        let worker = Worker::new(&options, link, Arc::clone(&publisher), Arc::clone(&status), claimed, recorded);
        let gateway = Self { target: Arc::clone(target), kind, requests, inbox, publisher, status };
        tokio::spawn(worker.run(asked, deliveries));
        Ok(gateway)
    }

    /// The target.
    #[must_use]
    pub fn target(&self) -> &Arc<str> {
        &self.target
    }

    /// What kind of link it has: `sim`, `ccsds`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Offers a telecommand, behind those offered before. What becomes of it is published. One whose identifier is
    /// known to the store is not handed over: its result is published again, if it has one.
    ///
    /// # Errors
    /// Where the gateway has ended; then it never leaves.
    pub fn offer(&self, order: TelecommandOrder) -> Result<(), Closed> {
        self.requests.send(Request::Offer(order)).map_err(|_| Closed)
    }

    /// Takes back every telecommand of a run that is not claimed yet: it never leaves, and that is published. When this
    /// returns, everything that the run offered before has left, never leaves, or may have left.
    ///
    /// # Errors
    /// Where the gateway has ended.
    pub async fn withdraw(&self, run: &str) -> Result<(), Closed> {
        let run = Arc::from(run);
        self.ask(|done| Request::Withdraw { run, done }).await
    }

    /// Returns when everything is published that the link received so far.
    ///
    /// # Errors
    /// Where the gateway has ended.
    pub async fn flush(&self) -> Result<(), Closed> {
        let (done, flushed) = oneshot::channel();
        self.inbox.flush(done).await?;
        flushed.await.map_err(|_| Closed)
    }

    /// The latest samples, and every item published behind them.
    #[must_use]
    pub fn subscribe(&self) -> Subscription {
        self.publisher.subscribe()
    }

    /// The latest samples as they are now.
    #[must_use]
    pub fn latest(&self) -> Latest {
        self.publisher.latest()
    }

    /// Has the link do what an operator asks; `request` is YAML, see the reference of each link.
    ///
    /// # Errors
    /// In words, where the link refuses or the gateway has ended.
    pub async fn control(&self, request: &str) -> Result<String, ControlError> {
        let request = request.to_owned();
        let answer = self.ask(|done| Request::Control { request, done }).await;
        answer.unwrap_or_else(|closed| Err(ControlError(closed.to_string())))
    }

    /// How the link is.
    #[must_use]
    pub fn status(&self) -> LinkStatus {
        self.status.get()
    }

    /// Ends the gateway: what is not claimed never leaves.
    pub async fn close(self) {
        // One that has ended already is closed.
        let _ = self.ask(|done| Request::Close { done }).await;
    }

    async fn ask<T>(&self, request: impl FnOnce(oneshot::Sender<T>) -> Request) -> Result<T, Closed> {
        let (done, answer) = oneshot::channel();
        self.requests.send(request(done)).map_err(|_| Closed)?;
        answer.await.map_err(|_| Closed)
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("target", &self.target).field("kind", &self.kind).finish_non_exhaustive()
    }
}
