//! What the gateways of a run's targets publish, waiting to be taken in.
//!
//! Kept in the order of arrival. What was received after a deadline that has not been dealt with stays here until it has.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
    task::Poll,
};

use stellar_vm::{event::Fact, time::Instant};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::{
    commanding::status_fact,
    ports::{Sample, TargetItem},
};

use super::snapshot::moved;

/// One thing to take in.
pub(super) enum Entry {
    /// A status of a telecommand, perhaps of another run's.
    Status {
        /// Identifier of the telecommand.
        id: Arc<str>,
        /// The status.
        fact: Fact,
        /// Reception time, on the run's clock.
        at: Instant,
    },
    /// Samples that were received together, as those of one packet are; of no parameter two.
    Samples {
        /// The samples.
        samples: Vec<Sample>,
        /// Reception time, on the run's clock.
        at: Instant,
    },
}

impl Entry {
    /// Reception time, on the run's clock.
    pub(super) fn at(&self) -> Instant {
        match self {
            Self::Status { at, .. } | Self::Samples { at, .. } => *at,
        }
    }
}

/// The entries of an item's samples: one for what was received together, so that nothing is judged on half a packet.
fn entries(all: &[Sample], offset: i64) -> Vec<Entry> {
    let same = |one: &Sample, other: &Sample| {
        one.name == other.name && one.index == other.index && one.component == other.component
    };
    let mut entries = Vec::new();
    for sample in all {
        let sample = moved(sample.clone(), offset);
        match entries.last_mut() {
            Some(Entry::Samples { samples, at })
                if *at == sample.received_at && !samples.iter().any(|before| same(before, &sample)) =>
            {
                samples.push(sample);
            }
            _ => entries.push(Entry::Samples { at: sample.received_at, samples: vec![sample] }),
        }
    }
    entries
}

/// The inbox of a run.
pub(super) struct Inbox {
    receivers: Vec<UnboundedReceiver<Arc<TargetItem>>>,
    queue: VecDeque<Entry>,
    /// What the run's clock is ahead of the process's.
    offset: i64,
    /// Orders of items that were taken in from the archive and may arrive as well.
    archived: BTreeSet<u64>,
}

impl Inbox {
    pub(super) fn new(offset: i64) -> Self {
        Self { receivers: Vec::new(), queue: VecDeque::new(), offset, archived: BTreeSet::new() }
    }

    /// Takes in what a gateway publishes.
    pub(super) fn add(&mut self, items: UnboundedReceiver<Arc<TargetItem>>) {
        self.receivers.push(items);
    }

    /// Puts what the archive holds in front of what comes; what gateways publish as well is left out there. What an
    /// earlier process received, before `opened`, is on the run's clock as it is.
    pub(super) fn replay(&mut self, items: &[TargetItem], opened: u64) {
        for item in items {
            let here = item.order() > opened;
            if here {
                self.archived.insert(item.order());
            }
            self.push(item, if here { self.offset } else { 0 });
        }
    }

    /// Takes over what has arrived, without waiting.
    pub(super) fn pull(&mut self) {
        let mut arrived = Vec::new();
        for receiver in &mut self.receivers {
            while let Ok(item) = receiver.try_recv() {
                arrived.push(item);
            }
        }
        self.arrived(arrived);
    }

    /// Waits until something arrives. Cancel-safe.
    pub(super) async fn arrive(&mut self) {
        let first = std::future::poll_fn(|context| {
            for receiver in &mut self.receivers {
                // A gateway that has ended publishes no more.
                if let Poll::Ready(Some(item)) = receiver.poll_recv(context) {
                    return Poll::Ready(item);
                }
            }
            Poll::Pending
        });
        let first = first.await;
        self.arrived(vec![first]);
    }

    /// The next entry that was received by `limit`.
    pub(super) fn take(&mut self, limit: Option<Instant>) -> Option<Entry> {
        match limit {
            None => self.queue.pop_front(),
            Some(limit) => {
                let place = self.queue.iter().position(|entry| entry.at() <= limit)?;
                self.queue.remove(place)
            }
        }
    }

    fn arrived(&mut self, mut items: Vec<Arc<TargetItem>>) {
        // Each gateway publishes in order; what arrived together of several is put into one order.
        if self.receivers.len() > 1 {
            items.sort_by_key(|item| item.order());
        }
        for item in items {
            if !self.archived.remove(&item.order()) {
                self.push(&item, self.offset);
            }
        }
    }

    fn push(&mut self, item: &TargetItem, offset: i64) {
        if let TargetItem::Samples { samples } = item {
            self.queue.extend(entries(samples, offset));
        } else if let (Some(id), Some(mut fact)) = (item.telecommand(), status_fact(item))
            && let Fact::TelecommandStatus { received_at, .. } = &mut fact
        {
            *received_at = received_at.after(offset);
            let at = *received_at;
            self.queue.push_back(Entry::Status { id: id.clone(), fact, at });
        }
    }
}
