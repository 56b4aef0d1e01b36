//! What is judged: the logs of the runs of a store, bound to their programs, and the records of its links.
#![expect(clippy::expect_used, reason = "a harness fails its test at once")]

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use stellar_runtime::{
    journal,
    ports::{RunRecord, Store},
};
use stellar_vm::{
    artifact,
    verify::{self, Verified},
};

/// What a store and its links hold.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// Every run of the store, the oldest first.
    pub runs: Vec<RunEvidence>,
    /// The lines of each link's own record, by target.
    pub links: BTreeMap<String, Vec<String>>,
    /// Whether every run must have ended.
    pub ended: bool,
    /// Whether the times of all processes are of one clock. Virtual time that begins anew with each process says nothing
    /// of the order between runs.
    pub one_clock: bool,
}

/// What a store holds of a run.
#[derive(Debug, Clone)]
pub struct RunEvidence {
    /// Its identifier.
    pub run: String,
    /// The lines of its log, in order.
    pub lines: Vec<String>,
    /// Its record.
    pub record: RunRecord,
    /// The program that it is bound to.
    pub program: Arc<Verified>,
}

impl Evidence {
    /// Reads a store's folder, which nobody has open.
    #[must_use]
    pub fn of_folder(folder: &Path) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let embedded = crate::kept::open(folder);
            Self::of_store(&embedded.store(), folder).await
        })
    }

    /// Reads an open store and the links' records in its folder.
    pub async fn of_store(store: &Store, folder: &Path) -> Self {
        let mut runs = Vec::new();
        for (run, record, _) in store.records.list().await.expect("the store lists") {
            let lines = journal::read_all(&*store.log, &run).await.expect("the log reads");
            let bytes = store.artifacts.get(&record.artifact).await.expect("the store reads");
            let program = artifact::decode(&bytes.expect("its artifact is kept")).expect("a kept artifact decodes");
            let program = Arc::new(verify::verify(program).expect("a kept artifact is proved"));
            let lines = lines.into_iter().map(|line| line.text.to_string()).collect();
            runs.push(RunEvidence { run: run.to_string(), lines, record, program });
        }
        Self { runs, links: links(folder), ended: true, one_clock: true }
    }
}

/// The lines of every link's record in a store's folder. One that a full disk tore is a hand-over that did not happen.
fn links(folder: &Path) -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::new();
    let Ok(entries) = fs::read_dir(folder.join("links")) else { return all };
    for path in entries.map(|entry| entry.expect("the folder can be read").path()) {
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a record is text");
        let torn = |line: &&str| serde_json::from_str::<serde::de::IgnoredAny>(line).is_err_and(|error| error.is_eof());
        let lines = text.lines().filter(|line| !line.is_empty() && !torn(line)).map(ToOwned::to_owned).collect();
        all.insert(path.file_stem().expect("it has a name").to_string_lossy().into_owned(), lines);
    }
    all
}
