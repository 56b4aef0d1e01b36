//! The telemetry archive in the embedded store: a file and a thread of its own, one commit every 100 ms.

use std::{
    collections::BTreeMap,
    future::ready,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant as Elapsed},
};

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use stellar_vm::catalogue::path;
use tokio::sync::{oneshot, watch};

use super::{
    Hold, META,
    lock::FolderLock,
    seal::{seal, unseal},
    writer::unreadable,
};
use crate::{
    crash,
    ports::{Archive, Reply, Sample, StoreError, TargetItem},
};

const NAME: &str = "telemetry";
const TABLE: TableDefinition<'_, (&str, u64), &[u8]> = TableDefinition::new(NAME);
const LATEST_NAME: &str = "telemetry_latest";
const LATEST: TableDefinition<'_, (&str, &str), &[u8]> = TableDefinition::new(LATEST_NAME);
/// Longest time between an append and its commit.
const INTERVAL: Duration = Duration::from_millis(100);
/// Numbers of the order that are reserved on disk ahead of their use; raised when half of them are used, which takes
/// far longer than one interval.
const RESERVED: u64 = 1 << 24;

type Queue = Vec<(Arc<str>, TargetItem)>;

#[derive(Default)]
struct State {
    queue: Queue,
    /// What the thread is committing.
    writing: Arc<Queue>,
    flushes: Vec<oneshot::Sender<Box<dyn Send>>>,
    guards: Vec<Box<dyn Send>>,
    closing: bool,
    stopped: bool,
    latest: BTreeMap<Arc<str>, BTreeMap<String, Sample>>,
}

struct Shared {
    database: Database,
    state: Mutex<State>,
    changed: Condvar,
    order: AtomicU64,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The archive.
pub(super) struct EmbeddedArchive {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    hold: Hold,
}

impl EmbeddedArchive {
    pub(super) fn start(
        database: Database,
        lock: Arc<FolderLock>,
        hold: Hold,
        stopped: Arc<watch::Sender<Option<String>>>,
    ) -> Result<Self, redb::Error> {
        let first = reserve(&database, None)?;
        let latest = read_latest(&database).map_err(|error| match error {
            StoreError::Damaged(why) => redb::Error::Corrupted(why),
            other => redb::Error::Io(std::io::Error::other(other.to_string())),
        })?;
        let shared = Arc::new(Shared {
            database,
            state: Mutex::new(State { latest, ..State::default() }),
            changed: Condvar::new(),
            order: AtomicU64::new(first),
        });
        let for_thread = shared.clone();
        let work = move || {
            let _lock = lock;
            if let Err(error) = work(&for_thread) {
                let mut state = for_thread.state();
                state.stopped = true;
                state.flushes.clear();
                stopped.send_replace(Some(format!("the telemetry archive cannot be written: {error}")));
            }
        };
        let thread =
            std::thread::Builder::new().name(String::from("stellar-archive")).spawn(work).map_err(redb::Error::Io)?;
        Ok(Self { shared, thread: Some(thread), hold })
    }
}

impl Drop for EmbeddedArchive {
    fn drop(&mut self) {
        self.shared.state().closing = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // An error of the thread was told through `stopped`.
            drop(thread.join());
        }
    }
}

impl Archive for EmbeddedArchive {
    fn next_order(&self) -> u64 {
        self.shared.order.fetch_add(1, Ordering::Relaxed)
    }

    fn append(&self, target: &Arc<str>, items: Vec<TargetItem>) {
        let mut state = self.shared.state();
        for item in items {
            if let TargetItem::Samples { samples } = &item {
                let latest = state.latest.entry(target.clone()).or_default();
                for sample in samples.iter().filter(|sample| !sample.replayed) {
                    latest.insert(path(&sample.component, sample.index, &sample.name), sample.clone());
                }
            }
            state.queue.push((target.clone(), item));
        }
        self.shared.changed.notify_all();
    }

    fn flush(&self) -> Reply<'_, ()> {
        let (done, flushed) = oneshot::channel();
        let mut state = self.shared.state();
        if !state.stopped {
            state.flushes.push(done);
            state.guards.push((self.hold)());
            self.shared.changed.notify_all();
        }
        drop(state);
        Box::pin(async move {
            match flushed.await {
                Ok(_guard) => Ok(()),
                Err(_) => Err(StoreError::Unavailable(String::from("the telemetry archive has stopped"))),
            }
        })
    }

    fn since<'a>(&'a self, target: &'a str, after: u64, limit: usize) -> Reply<'a, Vec<TargetItem>> {
        Box::pin(ready(since(&self.shared, target, after, limit)))
    }

    fn latest<'a>(&'a self, target: &'a str) -> Reply<'a, Vec<Sample>> {
        let latest = self.shared.state().latest.get(target).map(|all| all.values().cloned().collect());
        Box::pin(ready(Ok(latest.unwrap_or_default())))
    }
}

fn since(shared: &Shared, target: &str, after: u64, limit: usize) -> Result<Vec<TargetItem>, StoreError> {
    let state = shared.state();
    // Taken under the lock: what is not in this transaction is in `writing` or in the queue.
    let txn = shared.database.begin_read().map_err(|error| unreadable(&error.into()))?;
    let fresh: Vec<TargetItem> = state
        .writing
        .iter()
        .chain(&state.queue)
        .filter(|(of, item)| of.as_ref() == target && item.order() > after)
        .map(|(_, item)| item.clone())
        .collect();
    drop(state);
    let mut found = BTreeMap::new();
    match txn.open_table(TABLE) {
        Ok(rows) => {
            let range = rows.range((target, after.saturating_add(1))..=(target, u64::MAX));
            for row in range.map_err(|error| unreadable(&error.into()))?.take(limit) {
                let (key, value) = row.map_err(|error| unreadable(&error.into()))?;
                let order = key.value().1;
                found.insert(order, decode(NAME, &format!("{target}-{order}"), value.value())?);
            }
        }
        Err(redb::TableError::TableDoesNotExist(_)) => {}
        Err(error) => return Err(unreadable(&error.into())),
    }
    found.extend(fresh.into_iter().map(|item| (item.order(), item)));
    Ok(found.into_values().take(limit).map(|item| behind(item, after)).collect())
}

/// The item without the samples up to `after`.
fn behind(item: TargetItem, after: u64) -> TargetItem {
    match item {
        TargetItem::Samples { mut samples } => {
            samples.retain(|sample| sample.order > after);
            TargetItem::Samples { samples }
        }
        other => other,
    }
}

fn work(shared: &Shared) -> Result<(), redb::Error> {
    loop {
        let (batch, flushes, guards, closing) = next_batch(shared);
        if !batch.is_empty() {
            commit(shared, &batch)?;
        }
        shared.state().writing = Arc::default();
        // The guards live until each answer, which carries one of its own, is on its way.
        for (flush, guard) in flushes.into_iter().zip(guards) {
            drop(flush.send(guard));
        }
        if closing {
            let next = shared.order.load(Ordering::Relaxed);
            reserve(&shared.database, Some(next))?;
            return Ok(());
        }
    }
}

type Batch = (Arc<Queue>, Vec<oneshot::Sender<Box<dyn Send>>>, Vec<Box<dyn Send>>, bool);

/// Waits until there is something to commit, then for what else comes within the interval.
fn next_batch(shared: &Shared) -> Batch {
    let mut state = shared.state();
    while state.queue.is_empty() && state.flushes.is_empty() && !state.closing {
        state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    let began = Elapsed::now();
    while state.flushes.is_empty() && !state.closing {
        let Some(left) = INTERVAL.checked_sub(began.elapsed()) else { break };
        state = shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
    }
    let batch = Arc::new(std::mem::take(&mut state.queue));
    state.writing = batch.clone();
    (batch, std::mem::take(&mut state.flushes), std::mem::take(&mut state.guards), state.closing)
}

fn commit(shared: &Shared, batch: &Queue) -> Result<(), redb::Error> {
    let mut latest = BTreeMap::new();
    let txn = shared.database.begin_write()?;
    {
        let mut rows = txn.open_table(TABLE)?;
        for (target, item) in batch {
            let order = item.order();
            let value = encode(NAME, &format!("{target}-{order}"), item)?;
            rows.insert((target.as_ref(), order), value.as_slice())?;
            if let TargetItem::Samples { samples } = item {
                for sample in samples.iter().filter(|sample| !sample.replayed) {
                    let parameter = path(&sample.component, sample.index, &sample.name);
                    latest.insert((target, parameter), sample);
                }
            }
        }
        let mut rows = txn.open_table(LATEST)?;
        for ((target, parameter), sample) in latest {
            let value = encode(LATEST_NAME, &format!("{target}-{parameter}"), sample)?;
            rows.insert((target.as_ref(), parameter.as_str()), value.as_slice())?;
        }
        let mut meta = txn.open_table(META)?;
        let next = shared.order.load(Ordering::Relaxed);
        let reserved = meta.get("order")?.map_or(0, |found| found.value());
        if next + RESERVED / 2 > reserved {
            meta.insert("order", next + RESERVED)?;
        }
    }
    crash::point("archive.before");
    txn.commit()?;
    crash::point("archive.after");
    Ok(())
}

/// Reserves numbers on disk and gives the first free one; at a clean end, `exact` says which it is.
fn reserve(database: &Database, exact: Option<u64>) -> Result<u64, redb::Error> {
    let txn = database.begin_write()?;
    let first = {
        let mut meta = txn.open_table(META)?;
        let first = meta.get("order")?.map_or(1, |found| found.value());
        meta.insert("order", exact.unwrap_or(first + RESERVED))?;
        first
    };
    txn.commit()?;
    Ok(first)
}

fn read_latest(database: &Database) -> Result<BTreeMap<Arc<str>, BTreeMap<String, Sample>>, StoreError> {
    let read = || -> Result<Vec<(String, String, Vec<u8>)>, redb::Error> {
        let txn = database.begin_read()?;
        let rows = match txn.open_table(LATEST) {
            Ok(rows) => rows,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let mut all = Vec::new();
        for row in rows.iter()? {
            let (key, value) = row?;
            let (target, parameter) = key.value();
            all.push((target.to_owned(), parameter.to_owned(), value.value().to_vec()));
        }
        Ok(all)
    };
    let mut latest: BTreeMap<Arc<str>, BTreeMap<String, Sample>> = BTreeMap::new();
    for (target, parameter, bytes) in read().map_err(|error| unreadable(&error))? {
        let sample = decode(LATEST_NAME, &format!("{target}-{parameter}"), &bytes)?;
        latest.entry(target.into()).or_default().insert(parameter, sample);
    }
    Ok(latest)
}

fn encode<T: serde::Serialize>(table: &str, key: &str, value: &T) -> Result<Vec<u8>, redb::Error> {
    let json = serde_json::to_vec(value).map_err(|error| redb::Error::Io(std::io::Error::other(error)))?;
    Ok(seal(table, key, &json))
}

fn decode<T: serde::de::DeserializeOwned>(table: &str, key: &str, bytes: &[u8]) -> Result<T, StoreError> {
    let body = unseal(table, key, bytes)?;
    serde_json::from_slice(body).map_err(|_| StoreError::Damaged(format!("`{key}` in `{table}` cannot be read")))
}
