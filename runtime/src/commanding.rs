//! From `telecommand_sent` to the gateway and back.
//!
//! A telecommand is offered to the gateway of its target once its event is durable, followed by the items that the
//! gateway publishes, and settled when its run leaves: what nobody has claimed by then is cut in the store, so that it
//! can never leave later. What is deliberately not here: verification (the machine judges stages and windows), claims
//! and hand-over (the gateway's).

mod status;

use std::{future::Future, pin::Pin, sync::Arc};

use stellar_vm::{
    event::{Fact, Known, KnownStatus, TelecommandStatus},
    time::Instant,
};
use tokio::sync::mpsc::UnboundedReceiver;

pub use self::status::{result_fact, status_fact};
use crate::{
    gateway::{Gateway, Subscription, TelecommandOrder},
    ports::{Look, Sample, StoreError, TargetItem, TelecommandResult, Telecommands},
};

/// What a target's gateway has published, and what it will.
pub struct Subscribed {
    /// The latest samples.
    pub latest: Vec<Sample>,
    /// Every item behind them, in order.
    pub items: UnboundedReceiver<Arc<TargetItem>>,
}

/// What a run needs of the gateway of a target.
pub trait TargetGateway: Send + Sync {
    /// How the target is linked: `sim`, `ccsds`.
    fn kind(&self) -> &'static str;

    /// The latest samples up to here, and everything that is published from here on. Who drops the receiver has
    /// unsubscribed.
    fn subscribe(&self) -> Subscribed;

    /// Takes a telecommand whose `telecommand_sent` is durable. It leaves at most once; what becomes of it is published.
    fn offer(&self, order: TelecommandOrder);

    /// Takes back every telecommand of a run that is not claimed yet. When this resolves, everything that the run
    /// offered before has left, never leaves, or may have left, for good.
    fn withdraw<'a>(&'a self, run: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

    /// Resolves when everything that the link has received so far is published.
    fn flush(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

impl TargetGateway for Gateway {
    fn kind(&self) -> &'static str {
        self.kind()
    }

    fn subscribe(&self) -> Subscribed {
        let Subscription { latest, items } = self.subscribe();
        Subscribed { latest: latest.iter().cloned().collect(), items }
    }

    fn offer(&self, order: TelecommandOrder) {
        // A gateway that has ended takes nothing: the telecommand is cut at the end of its window.
        let _ = self.offer(order);
    }

    fn withdraw<'a>(&'a self, run: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        // One that has ended hands nothing over.
        Box::pin(async move { _ = self.withdraw(run).await })
    }

    fn flush(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        // One that has ended has published all that it ever will.
        Box::pin(async move { _ = self.flush().await })
    }
}

/// What the store knows of a telecommand that the log says nothing more of.
///
/// # Errors
/// The store's.
pub async fn known(telecommands: &dyn Telecommands, id: &Arc<str>) -> Result<KnownStatus, StoreError> {
    let known = match telecommands.look(id).await? {
        Look::NotClaimed => Known::NeverLeft,
        Look::Claimed(_) => Known::MayHaveLeft,
        Look::Result(result) if result.left() => Known::Left,
        Look::Result(_) => Known::NeverLeft,
    };
    Ok(KnownStatus { id: id.clone(), known })
}

/// Cuts a telecommand that nobody has claimed. `Some` is the status that this gives; `None` means that it was claimed
/// or has its result, which the gateway publishes.
///
/// # Errors
/// The store's.
pub async fn cut(
    telecommands: &dyn Telecommands,
    id: &Arc<str>,
    reason: &str,
    at: Instant,
) -> Result<Option<Fact>, StoreError> {
    Ok(match telecommands.cut(id, reason, at).await? {
        Look::Result(TelecommandResult::NotReleased { reason, at }) => Some(Fact::TelecommandStatus {
            id: id.clone(),
            status: TelecommandStatus::NotReleased,
            received_at: at,
            order: None,
            stage: None,
            code: None,
            reason: Some(reason),
        }),
        _ => None,
    })
}
