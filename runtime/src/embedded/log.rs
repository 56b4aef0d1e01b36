//! Logs of runs in the embedded store.

use std::{future::ready, sync::Arc};

use redb::{ReadableTable, TableDefinition};

use super::{
    seal::{seal, unseal},
    writer::{Done, Writer},
};
use crate::ports::{Line, Log, Reply, StoreError};

const NAME: &str = "log";
const TABLE: TableDefinition<'_, (&str, u64), &[u8]> = TableDefinition::new(NAME);

impl Log for Writer {
    fn append<'a>(&'a self, run: &'a str, lines: Vec<Line>) -> Reply<'a, ()> {
        let run = run.to_owned();
        self.write(move |txn| {
            let mut rows = txn.open_table(TABLE)?;
            let verdict = judge(&rows, &run, &lines)?;
            if verdict.is_ok() {
                for line in &lines {
                    rows.insert((run.as_str(), line.seq), encode(&run, line).as_slice())?;
                }
            }
            Ok(verdict)
        })
    }

    fn read<'a>(&'a self, run: &'a str, from: u64, limit: usize) -> Reply<'a, Vec<Line>> {
        let result = Writer::read(self, |txn| {
            let rows = match txn.open_table(TABLE) {
                Ok(rows) => rows,
                Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Ok(Vec::new())),
                Err(error) => return Err(error.into()),
            };
            let mut lines = Vec::new();
            for row in rows.range((run, from)..=(run, u64::MAX))?.take(limit) {
                let (key, value) = row?;
                match decode(run, key.value().1, value.value()) {
                    Ok(line) => lines.push(line),
                    Err(damaged) => return Ok(Err(damaged)),
                }
            }
            Ok(Ok(lines))
        });
        Box::pin(ready(result))
    }

    fn last<'a>(&'a self, run: &'a str) -> Reply<'a, Option<Line>> {
        let result = Writer::read(self, |txn| match txn.open_table(TABLE) {
            Ok(rows) => last(&rows, run),
            Err(redb::TableError::TableDoesNotExist(_)) => Ok(Ok(None)),
            Err(error) => Err(error.into()),
        });
        Box::pin(ready(result))
    }
}

/// Whether these lines may stand behind what is there.
fn judge<'t>(rows: &impl ReadableTable<(&'static str, u64), &'static [u8]>, run: &str, lines: &[Line]) -> Done<()>
where
    (&'static str, u64): 't,
{
    let last = match last(rows, run)? {
        Ok(last) => last,
        Err(damaged) => return Ok(Err(damaged)),
    };
    let (mut next, epoch) = last.map_or((1, 0), |line| (line.seq + 1, line.epoch));
    for line in lines {
        if line.epoch < epoch {
            return Ok(Err(StoreError::Fenced { own: line.epoch, found: epoch }));
        }
        if line.seq == next {
            next += 1;
            continue;
        }
        let own = rows.get((run, line.seq))?.is_some_and(|found| found.value() == encode(run, line).as_slice());
        if !own {
            let why = format!("event {} of run {run} does not follow the log, whose next is {next}", line.seq);
            return Ok(Err(StoreError::Conflict(why)));
        }
    }
    Ok(Ok(()))
}

fn last(rows: &impl ReadableTable<(&'static str, u64), &'static [u8]>, run: &str) -> Done<Option<Line>> {
    match rows.range((run, 0)..=(run, u64::MAX))?.next_back() {
        Some(row) => {
            let (key, value) = row?;
            Ok(decode(run, key.value().1, value.value()).map(Some))
        }
        None => Ok(Ok(None)),
    }
}

fn key(run: &str, seq: u64) -> String {
    format!("{run}-{seq}")
}

fn encode(run: &str, line: &Line) -> Vec<u8> {
    let mut body = line.epoch.to_le_bytes().to_vec();
    body.extend_from_slice(line.text.as_bytes());
    seal(NAME, &key(run, line.seq), &body)
}

fn decode(run: &str, seq: u64, bytes: &[u8]) -> Result<Line, StoreError> {
    let body = unseal(NAME, &key(run, seq), bytes)?;
    let damaged = || StoreError::Damaged(format!("event {seq} of run {run} cannot be read"));
    let (epoch, text) = body.split_first_chunk::<8>().ok_or_else(damaged)?;
    let text = std::str::from_utf8(text).map_err(|_| damaged())?;
    Ok(Line { seq, epoch: u64::from_le_bytes(*epoch), text: Arc::from(text) })
}
