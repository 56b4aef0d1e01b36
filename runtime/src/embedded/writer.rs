//! The one writer thread: what many callers ask is committed together, and each is answered when it is on disk.

use std::{
    io,
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    thread::JoinHandle,
};

use redb::{Database, ReadTransaction, ReadableDatabase, WriteTransaction};
use tokio::sync::{oneshot, watch};

use super::{Hold, lock::FolderLock};
use crate::{
    crash,
    ports::{Reply, StoreError},
};

/// Most jobs of one commit.
const BATCH: usize = 4_096;

type Ack = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
/// Changes tables and gives what answers the caller after the commit; an error of redb ends the store.
type Job = Box<dyn FnOnce(&WriteTransaction) -> Result<Ack, redb::Error> + Send>;
/// What a job gives: redb's error stops the store; the port's error is an answer, and then nothing was changed.
pub(super) type Done<T> = Result<Result<T, StoreError>, redb::Error>;

/// The store's writer, and its reader.
pub(super) struct Writer {
    database: Arc<Database>,
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    hold: Hold,
    stopped: Arc<watch::Sender<Option<String>>>,
}

impl Writer {
    pub(super) fn start(
        database: Database,
        lock: Arc<FolderLock>,
        hold: Hold,
        stopped: Arc<watch::Sender<Option<String>>>,
    ) -> io::Result<Self> {
        let database = Arc::new(database);
        let (jobs, inbox) = channel::<Job>();
        let (for_thread, on_exit) = (database.clone(), StopOnPanic(stopped.clone()));
        let thread = std::thread::Builder::new().name(String::from("stellar-store")).spawn(move || {
            let _lock = lock;
            let result = work(&for_thread, &inbox);
            on_exit.finished(result);
        })?;
        Ok(Self { database, jobs: Some(jobs), thread: Some(thread), hold, stopped })
    }

    /// Runs a job in the next commit and answers after it.
    pub(super) fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&WriteTransaction) -> Done<T> + Send + 'static,
    ) -> Reply<'_, T> {
        let (answer, answered) = oneshot::channel();
        // The guard travels with the answer, so that virtual time stands still until the caller has it.
        let guard = (self.hold)();
        let job: Job = Box::new(move |txn| {
            let outcome = job(txn)?;
            let ack: Ack = Box::new(move |committed| {
                // A caller that went away needs no answer.
                drop(answer.send((committed.and(outcome), guard)));
            });
            Ok(ack)
        });
        let sent = self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
        Box::pin(async move {
            if sent && let Ok((result, _guard)) = answered.await {
                return result;
            }
            let _guard = (self.hold)();
            Err(self.unavailable().await)
        })
    }

    /// Reads what is committed.
    pub(super) fn read<T>(&self, read: impl FnOnce(&ReadTransaction) -> Done<T>) -> Result<T, StoreError> {
        let txn = self.database.begin_read().map_err(|error| unreadable(&error.into()))?;
        read(&txn).map_err(|error| unreadable(&error))?
    }

    /// Why the writer gave no answer. It answers every job that it gets unless it stops, and then it says why: whoever
    /// learns that a write failed finds the whole store stopped.
    async fn unavailable(&self) -> StoreError {
        let mut stopped = self.stopped.subscribe();
        let why = stopped.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
        StoreError::Unavailable(why.unwrap_or_else(|| String::from("it is closed")))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // The thread's own end was told through `stopped`.
            drop(thread.join());
        }
    }
}

/// An error of redb while reading.
pub(super) fn unreadable(error: &redb::Error) -> StoreError {
    match error {
        redb::Error::Corrupted(why) => StoreError::Damaged(why.clone()),
        other => StoreError::Unavailable(other.to_string()),
    }
}

/// Says that the store has stopped, also where its thread panics.
struct StopOnPanic(Arc<watch::Sender<Option<String>>>);

impl StopOnPanic {
    fn finished(&self, result: Result<(), redb::Error>) {
        if let Err(error) = result {
            self.0.send_replace(Some(format!("it cannot be written: {error}")));
        }
    }
}

impl Drop for StopOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.send_replace(Some(String::from("its writer panicked")));
        }
    }
}

fn work(database: &Database, inbox: &Receiver<Job>) -> Result<(), redb::Error> {
    while let Ok(first) = inbox.recv() {
        let mut batch = vec![first];
        batch.extend(inbox.try_iter().take(BATCH - 1));
        let txn = database.begin_write()?;
        let mut acks = Vec::with_capacity(batch.len());
        for job in batch {
            acks.push(job(&txn)?);
        }
        crash::point("commit.before");
        txn.commit()?;
        crash::point("commit.after");
        for ack in acks {
            ack(Ok(()));
        }
    }
    Ok(())
}
