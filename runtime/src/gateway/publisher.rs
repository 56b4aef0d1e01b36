//! Publishing: every item into the archive, into the latest samples, to every subscriber, in one order.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

use super::{Latest, TargetItem};
use crate::ports::Archive;

/// The latest samples at an instant, and every item published behind it: nothing is missed and nothing comes twice.
#[derive(Debug)]
pub struct Subscription {
    /// The latest samples.
    pub latest: Latest,
    /// What is published behind them; it ends with the gateway. What is not read is kept.
    pub items: mpsc::UnboundedReceiver<Arc<TargetItem>>,
}

pub(super) struct Publisher {
    archive: Arc<dyn Archive>,
    state: Mutex<State>,
}

struct State {
    latest: Latest,
    subscribers: Vec<mpsc::UnboundedSender<Arc<TargetItem>>>,
}

impl Publisher {
    pub(super) fn new(latest: Latest, archive: Arc<dyn Archive>) -> Self {
        Self { archive, state: Mutex::new(State { latest, subscribers: Vec::new() }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock can panic half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next place in the order.
    pub(super) fn next_order(&self) -> u64 {
        self.archive.next_order()
    }

    pub(super) fn publish(&self, item: TargetItem) {
        let mut state = self.state();
        self.archive.append(state.latest.target(), vec![item.clone()]);
        state.latest.apply(&item);
        let item = Arc::new(item);
        state.subscribers.retain(|subscriber| subscriber.send(Arc::clone(&item)).is_ok());
    }

    pub(super) fn subscribe(&self) -> Subscription {
        let (sender, items) = mpsc::unbounded_channel();
        let mut state = self.state();
        state.subscribers.push(sender);
        Subscription { latest: state.latest.clone(), items }
    }

    pub(super) fn latest(&self) -> Latest {
        self.state().latest.clone()
    }

    pub(super) fn with_latest<T>(&self, read: impl FnOnce(&Latest) -> T) -> T {
        read(&self.state().latest)
    }

    /// Ends every subscription.
    pub(super) fn close(&self) {
        self.state().subscribers.clear();
    }
}
