//! What a mission's store keeps of a run, read in this process while no other has the store.
#![expect(clippy::expect_used, reason = "a harness fails its test at once")]

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use stellar_runtime::{
    embedded::{Embedded, OpenError, no_hold},
    journal,
    ports::{Line, RunRecord, Store},
};
use stellar_vm::{
    artifact,
    verify::{self, Verified},
};

use crate::mission::{HANG, Mission};

/// A run as the store has it.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Its record.
    pub record: RunRecord,
    /// The lines of its log.
    pub lines: Vec<String>,
    /// The program that it is bound to.
    pub program: Arc<Verified>,
}

/// Reads a run out of the store of a mission.
#[must_use]
pub fn kept(mission: &Mission, run: &str) -> Kept {
    in_store(mission, async |store| {
        let (record, _) = store.records.get(run).await.expect("the store reads").expect("the run is in the store");
        let lines = journal::read_all(&*store.log, run).await.expect("the log reads");
        let bytes =
            store.artifacts.get(&record.artifact).await.expect("the store reads").expect("its artifact is kept");
        let program = artifact::decode(&bytes).expect("a kept artifact decodes");
        let program = Arc::new(verify::verify(program).expect("a kept artifact is proved"));
        Kept { record, lines: lines.into_iter().map(|line| line.text.to_string()).collect(), program }
    })
}

/// The runs of a mission's store, the oldest first.
#[must_use]
pub fn runs(mission: &Mission) -> Vec<String> {
    in_store(mission, async |store| {
        let all = store.records.list().await.expect("the store lists");
        all.into_iter().map(|(run, _, _)| run.to_string()).collect()
    })
}

/// Writes a line behind the log of a run, as no process would.
pub fn spoil(mission: &Mission, run: &str, text: &str) {
    in_store(mission, async |store| {
        let last = store.log.last(run).await.expect("the store reads").expect("the run has a log");
        let line = Line { seq: last.seq + 1, epoch: last.epoch, text: text.into() };
        store.log.append(run, vec![line]).await.expect("the line is appended");
    });
}

fn in_store<T>(mission: &Mission, work: impl AsyncFnOnce(Store) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let embedded = open(&mission.path().join(".stellar"));
        work(embedded.store()).await
    })
}

/// Opens a store that no other process has. A child that another thread starts holds the lock between its fork and its
/// program, so that it is waited for.
pub(crate) fn open(folder: &Path) -> Embedded {
    let began = Instant::now();
    loop {
        match Embedded::open(folder, "test", no_hold()) {
            Err(OpenError::InUse { .. }) if began.elapsed() < HANG => std::thread::sleep(Duration::from_millis(1)),
            other => return other.expect("nobody has the store"),
        }
    }
}
