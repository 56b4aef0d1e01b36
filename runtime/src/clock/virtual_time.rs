//! Virtual time: it stands still while anything works, and goes to the earliest sleeper when everything waits.
//!
//! That everything waits is told by tokio: in a paused runtime a timer of tokio's fires only when no task can run and
//! no blocking task is under way. Work that tokio cannot see holds time still itself (`Clock::busy`).

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use stellar_vm::time::{Instant, Scale};
use tokio::{sync::Notify, task::AbortHandle};

use super::{
    Phase,
    sleepers::{Key, Sleepers},
};

#[derive(Debug)]
pub(super) struct Virtual {
    shared: Arc<Shared>,
    advancer: AbortHandle,
}

#[derive(Debug)]
struct Shared {
    scale: Scale,
    now: AtomicI64,
    busy: AtomicUsize,
    sleepers: Sleepers,
    /// There is a sleeper, or nothing is busy any more.
    changed: Notify,
}

/// A runtime for virtual time: one thread, paused.
///
/// # Errors
/// Where the system gives no event queue.
pub fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build()
}

impl Virtual {
    pub(super) fn start(at: Instant) -> Self {
        let shared = Arc::new(Shared {
            scale: at.scale,
            now: AtomicI64::new(at.ns),
            busy: AtomicUsize::new(0),
            sleepers: Sleepers::default(),
            changed: Notify::new(),
        });
        let advancer = tokio::spawn(advance(Arc::clone(&shared))).abort_handle();
        Self { shared, advancer }
    }

    pub(super) fn now(&self) -> Instant {
        self.shared.now()
    }

    pub(super) fn sleepers(&self) -> &Sleepers {
        &self.shared.sleepers
    }

    pub(super) fn register(&self, at: Instant, phase: Phase) -> Key {
        let (key, first) = self.shared.sleepers.add(at.ns.max(self.now().ns), phase);
        if first {
            self.shared.changed.notify_one();
        }
        key
    }

    pub(super) fn busy(&self) {
        self.shared.busy.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn idle(&self) {
        if self.shared.busy.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.shared.changed.notify_one();
        }
    }
}

impl Drop for Virtual {
    fn drop(&mut self) {
        self.advancer.abort();
    }
}

impl Shared {
    fn now(&self) -> Instant {
        Instant { ns: self.now.load(Ordering::Acquire), scale: self.scale }
    }

    fn may_advance(&self) -> Option<Key> {
        if self.busy.load(Ordering::Acquire) > 0 { None } else { self.sleepers.first() }
    }
}

async fn advance(shared: Arc<Shared>) {
    loop {
        if shared.may_advance().is_none() {
            shared.changed.notified().await;
            continue;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
        // Everything waits; what came last may be busy, or have gone to sleep for less.
        if let Some(first) = shared.may_advance() {
            shared.now.fetch_max(first.due, Ordering::AcqRel);
            shared.sleepers.wake_while(|key| (key.due, key.phase) <= (first.due, first.phase));
        }
    }
}
