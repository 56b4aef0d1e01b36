//! What the embedded store adds to the writes of redb that it cannot do without: events a second of one run and of 64.
//!
//! Prints a row a figure, a ratio to raw redb with the same bytes, the same keys and the same commits, in the same run.

#![expect(clippy::expect_used, reason = "a benchmark that cannot run ends at once")]

use std::{path::Path, sync::Arc, time::Instant};

use redb::{Database, TableDefinition};
use stellar_runtime::{
    embedded::{Embedded, no_hold},
    ports::Line,
};

/// Events of one run, and of each of the 64.
const ALONE: u64 = 2_000;
const EACH: u64 = 200;
const RUNS: u64 = 64;
const ROUNDS: usize = 5;

const RAW: TableDefinition<'_, (&str, u64), &[u8]> = TableDefinition::new("raw");

/// An event of the usual length.
fn text(seq: u64) -> String {
    format!(
        "{{\"seq\":{seq},\"at\":\"2026-10-02T10:15:00.123456789Z\",\"epoch\":1,\"nonce\":\"01K6A3D3Y4Q8K1P9W2N6R5T7XZ\",\
         \"type\":\"telecommand_status\",\"id\":\"01K6A3D3Y4Q8K1P9W2N6R5T7XZ\",\"status\":\"completed\",\
         \"received_at\":\"2026-10-02T10:15:00.123456789Z\",\"order\":{seq}}}"
    )
}

/// Events a second through the store's log, from so many runs at once.
fn through_the_store(folder: &Path, runs: u64, each: u64) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let embedded = Embedded::open(folder, "bench", no_hold()).expect("the store opens");
        let log = embedded.store().log;
        let begin = Instant::now();
        let tasks = (0..runs).map(|run| {
            let log = Arc::clone(&log);
            tokio::spawn(async move {
                let run = format!("run-{run}");
                for seq in 1..=each {
                    let line = Line { seq, epoch: 1, text: text(seq).into() };
                    log.append(&run, vec![line]).await.expect("the event is appended");
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.expect("a run goes to its end");
        }
        (runs * each) as f64 / begin.elapsed().as_secs_f64()
    })
}

/// The same writes by redb alone: what so many runs wait for at once is one commit.
fn by_redb(folder: &Path, runs: u64, each: u64) -> f64 {
    let database = Database::create(folder.join("raw.redb")).expect("redb opens");
    let begin = Instant::now();
    for seq in 1..=each {
        let txn = database.begin_write().expect("a transaction");
        {
            let mut table = txn.open_table(RAW).expect("a table");
            for run in 0..runs {
                table.insert((format!("run-{run}").as_str(), seq), text(seq).as_bytes()).expect("a write");
            }
        }
        txn.commit().expect("a commit");
    }
    (runs * each) as f64 / begin.elapsed().as_secs_f64()
}

/// The median of rounds in which both take turns, so that both see the same machine.
fn compare(what: &str, runs: u64, each: u64) {
    let mut rates: Vec<(f64, f64)> = (0..ROUNDS)
        .map(|_| {
            let folder = tempfile::tempdir().expect("a folder");
            (through_the_store(folder.path(), runs, each), by_redb(folder.path(), runs, each))
        })
        .collect();
    rates.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    let (ours, raw) = rates.get(ROUNDS / 2).copied().expect("rounds");
    let ratio = raw / ours;
    let reached = if ratio <= 1.5 { "pass" } else { "MISS" };
    println!("| {what}: {ours:.0} events/s, raw redb {raw:.0} | {ratio:.2}× | 1.5× | {reached} |");
}

fn main() {
    compare("store, one run", 1, ALONE);
    compare("store, 64 runs", RUNS, EACH);
}
