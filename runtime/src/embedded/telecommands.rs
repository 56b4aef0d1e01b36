//! Claims and results of telecommands in the embedded store.

use std::future::ready;

use redb::{ReadableTable, TableDefinition, WriteTransaction};
use serde::{Deserialize, Serialize};
use stellar_vm::time::Instant;

use super::{
    seal::{seal, unseal},
    writer::{Done, Writer},
};
use crate::ports::{Claim, Look, Reply, StoreError, TelecommandResult, Telecommands};

const NAME: &str = "telecommands";
const TABLE: TableDefinition<'_, &str, &[u8]> = TableDefinition::new(NAME);
/// Target and identifier of each telecommand that was claimed and has no result.
const OPEN: TableDefinition<'_, (&str, &str), ()> = TableDefinition::new("telecommands_open");

#[derive(Serialize, Deserialize, Default)]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    claim: Option<Claim>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    result: Option<TelecommandResult>,
}

impl Row {
    fn look(self) -> Look {
        match (self.result, self.claim) {
            (Some(result), _) => Look::Result(result),
            (None, Some(claim)) => Look::Claimed(claim),
            (None, None) => Look::NotClaimed,
        }
    }
}

impl Telecommands for Writer {
    fn claim(&self, claim: Claim) -> Reply<'_, ()> {
        self.write(move |txn| {
            let row = match row(&txn.open_table(TABLE)?, &claim.id)? {
                Ok(row) => row,
                Err(damaged) => return Ok(Err(damaged)),
            };
            if row.claim.is_some() || row.result.is_some() {
                let is = if row.result.is_some() { "has its result" } else { "is claimed" };
                return Ok(Err(StoreError::Conflict(format!("telecommand {} {is}", claim.id))));
            }
            txn.open_table(OPEN)?.insert((claim.target.as_str(), claim.id.as_str()), ())?;
            let id = claim.id.clone();
            store(txn, &id, &Row { claim: Some(claim), result: None })
        })
    }

    fn result<'a>(&'a self, id: &'a str, result: TelecommandResult) -> Reply<'a, ()> {
        let id = id.to_owned();
        self.write(move |txn| {
            let mut row = match row(&txn.open_table(TABLE)?, &id)? {
                Ok(row) => row,
                Err(damaged) => return Ok(Err(damaged)),
            };
            if row.result.as_ref() == Some(&result) {
                return Ok(Ok(()));
            }
            if row.result.is_some() {
                return Ok(Err(StoreError::Conflict(format!("telecommand {id} has another result"))));
            }
            if result.left() && row.claim.is_none() {
                return Ok(Err(StoreError::Conflict(format!("telecommand {id} was never claimed"))));
            }
            row.result = Some(result);
            close(txn, &id, row)
        })
    }

    fn cut<'a>(&'a self, id: &'a str, reason: &'a str, at: Instant) -> Reply<'a, Look> {
        let (id, reason) = (id.to_owned(), reason.to_owned());
        self.write(move |txn| {
            let row = match row(&txn.open_table(TABLE)?, &id)? {
                Ok(row) => row,
                Err(damaged) => return Ok(Err(damaged)),
            };
            if row.claim.is_some() || row.result.is_some() {
                return Ok(Ok(row.look()));
            }
            let result = TelecommandResult::NotReleased { reason, at };
            let cut = Row { claim: None, result: Some(result.clone()) };
            Ok(store(txn, &id, &cut)?.map(|()| Look::Result(result)))
        })
    }

    fn look<'a>(&'a self, id: &'a str) -> Reply<'a, Look> {
        let result = Writer::read(self, |txn| match txn.open_table(TABLE) {
            Ok(rows) => Ok(row(&rows, id)?.map(Row::look)),
            Err(redb::TableError::TableDoesNotExist(_)) => Ok(Ok(Look::NotClaimed)),
            Err(error) => Err(error.into()),
        });
        Box::pin(ready(result))
    }

    fn open<'a>(&'a self, target: &'a str) -> Reply<'a, Vec<Claim>> {
        let result = Writer::read(self, |txn| {
            let (open, rows) = match (txn.open_table(OPEN), txn.open_table(TABLE)) {
                (Ok(open), Ok(rows)) => (open, rows),
                (Err(redb::TableError::TableDoesNotExist(_)), _) | (_, Err(redb::TableError::TableDoesNotExist(_))) => {
                    return Ok(Ok(Vec::new()));
                }
                (Err(error), _) | (_, Err(error)) => return Err(error.into()),
            };
            let mut claims = Vec::new();
            for entry in open.range((target, "")..)? {
                let (key, _) = entry?;
                let (of, id) = key.value();
                if of != target {
                    break;
                }
                match row(&rows, id)? {
                    Ok(row) => claims.extend(row.claim),
                    Err(damaged) => return Ok(Err(damaged)),
                }
            }
            Ok(Ok(claims))
        });
        Box::pin(ready(result))
    }
}

fn row(rows: &impl ReadableTable<&'static str, &'static [u8]>, id: &str) -> Done<Row> {
    let Some(found) = rows.get(id)? else { return Ok(Ok(Row::default())) };
    let row = unseal(NAME, id, found.value()).and_then(|body| {
        serde_json::from_slice(body).map_err(|_| StoreError::Damaged(format!("telecommand {id} cannot be read")))
    });
    Ok(row)
}

fn close(txn: &WriteTransaction, id: &str, row: Row) -> Done<()> {
    if let Some(claim) = &row.claim {
        txn.open_table(OPEN)?.remove((claim.target.as_str(), id))?;
    }
    store(txn, id, &row)
}

fn store(txn: &WriteTransaction, id: &str, row: &Row) -> Done<()> {
    match serde_json::to_vec(row) {
        Ok(json) => {
            txn.open_table(TABLE)?.insert(id, seal(NAME, id, &json).as_slice())?;
            Ok(Ok(()))
        }
        Err(error) => Ok(Err(StoreError::Unavailable(error.to_string()))),
    }
}
