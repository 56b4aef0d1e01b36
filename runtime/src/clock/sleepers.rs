//! Who sleeps until when: the table that both kinds of time share.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    task,
};

use super::Phase;

/// A sleeper: ordered by instant, phase, and who came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) due: i64,
    pub(super) phase: Phase,
    number: u64,
}

#[derive(Debug, Default)]
pub(super) struct Sleepers(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    next: u64,
    /// The waker is that of the last poll; a sleeper whose entry is gone has been woken.
    waiting: BTreeMap<Key, Option<task::Waker>>,
}

impl Sleepers {
    fn table(&self) -> MutexGuard<'_, Table> {
        // Nothing that holds the lock can panic half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a sleeper, and says whether it is the first to wake.
    pub(super) fn add(&self, due: i64, phase: Phase) -> (Key, bool) {
        let mut table = self.table();
        let key = Key { due, phase, number: table.next };
        table.next += 1;
        table.waiting.insert(key, None);
        let first = table.waiting.first_key_value().is_some_and(|(first, _)| *first == key);
        (key, first)
    }

    /// Calls `set` with the first to wake, while no other can be added: of two calls the later one sees both.
    pub(super) fn at_first(&self, set: impl FnOnce(Key)) {
        let table = self.table();
        if let Some((first, _)) = table.waiting.first_key_value() {
            set(*first);
        }
    }

    /// The first to wake.
    pub(super) fn first(&self) -> Option<Key> {
        self.table().waiting.first_key_value().map(|(key, _)| *key)
    }

    pub(super) fn poll(&self, key: Key, context: &task::Context<'_>) -> task::Poll<()> {
        match self.table().waiting.get_mut(&key) {
            None => task::Poll::Ready(()),
            Some(waker) => {
                *waker = Some(context.waker().clone());
                task::Poll::Pending
            }
        }
    }

    pub(super) fn forget(&self, key: Key) {
        self.table().waiting.remove(&key);
    }

    /// Wakes those that `wakes` says, in order, up to the first that it does not.
    pub(super) fn wake_while(&self, wakes: impl Fn(Key) -> bool) {
        let mut woken = Vec::new();
        {
            let mut table = self.table();
            while let Some(first) = table.waiting.first_entry().filter(|first| wakes(*first.key())) {
                woken.extend(first.remove());
            }
        }
        for waker in woken {
            waker.wake();
        }
    }
}
