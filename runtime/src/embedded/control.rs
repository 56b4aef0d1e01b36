//! What operators sent, in the embedded store.

use std::future::ready;

use redb::{ReadableTable, TableDefinition};

use super::{
    seal::{seal, unseal},
    writer::Writer,
};
use crate::ports::{Control, ControlMessage, Reply, StoreError};

const NAME: &str = "control";
const TABLE: TableDefinition<'_, (&str, u64), &[u8]> = TableDefinition::new(NAME);
const IDS: TableDefinition<'_, (&str, &str), u64> = TableDefinition::new("control_ids");

impl Control for Writer {
    fn send<'a>(&'a self, run: &'a str, message: ControlMessage) -> Reply<'a, (u64, bool)> {
        let run = run.to_owned();
        self.write(move |txn| {
            let mut ids = txn.open_table(IDS)?;
            let key = (run.as_str(), message.id.as_str());
            if let Some(first) = ids.get(key)?.map(|found| found.value()) {
                return Ok(Ok((first, true)));
            }
            let json = match serde_json::to_vec(&message) {
                Ok(json) => json,
                Err(error) => return Ok(Err(StoreError::Unavailable(error.to_string()))),
            };
            let mut rows = txn.open_table(TABLE)?;
            let last = match rows.range((run.as_str(), 0)..=(run.as_str(), u64::MAX))?.next_back() {
                Some(row) => row?.0.value().1,
                None => 0,
            };
            let number = last + 1;
            rows.insert((run.as_str(), number), seal(NAME, &format!("{run}-{number}"), &json).as_slice())?;
            ids.insert(key, number)?;
            Ok(Ok((number, false)))
        })
    }

    fn read<'a>(&'a self, run: &'a str, after: u64) -> Reply<'a, Vec<(u64, ControlMessage)>> {
        let result = Writer::read(self, |txn| {
            let rows = match txn.open_table(TABLE) {
                Ok(rows) => rows,
                Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Ok(Vec::new())),
                Err(error) => return Err(error.into()),
            };
            let mut messages = Vec::new();
            for row in rows.range((run, after.saturating_add(1))..=(run, u64::MAX))? {
                let (key, value) = row?;
                let number = key.value().1;
                match decode(&format!("{run}-{number}"), value.value()) {
                    Ok(message) => messages.push((number, message)),
                    Err(damaged) => return Ok(Err(damaged)),
                }
            }
            Ok(Ok(messages))
        });
        Box::pin(ready(result))
    }
}

fn decode(key: &str, bytes: &[u8]) -> Result<ControlMessage, StoreError> {
    let body = unseal(NAME, key, bytes)?;
    serde_json::from_slice(body).map_err(|_| StoreError::Damaged(format!("the message `{key}` cannot be read")))
}
