//! Artifacts in the embedded store.

use std::future::ready;

use redb::{ReadableTable, TableDefinition};

use super::{
    seal::{seal, unseal},
    writer::Writer,
};
use crate::ports::{Artifacts, Reply, StoreError};

const NAME: &str = "artifacts";
const TABLE: TableDefinition<'_, &str, &[u8]> = TableDefinition::new(NAME);

impl Artifacts for Writer {
    fn put<'a>(&'a self, hash: &'a str, bytes: Vec<u8>) -> Reply<'a, ()> {
        let hash = hash.to_owned();
        self.write(move |txn| {
            let mut rows = txn.open_table(TABLE)?;
            let sealed = seal(NAME, &hash, &bytes);
            let same = rows.get(hash.as_str())?.map(|found| found.value() == sealed.as_slice());
            match same {
                Some(true) => Ok(Ok(())),
                Some(false) => Ok(Err(StoreError::Conflict(format!("another artifact stands under `{hash}`")))),
                None => {
                    rows.insert(hash.as_str(), sealed.as_slice())?;
                    Ok(Ok(()))
                }
            }
        })
    }

    fn get<'a>(&'a self, hash: &'a str) -> Reply<'a, Option<Vec<u8>>> {
        Box::pin(ready(self.read(|txn| {
            let rows = match txn.open_table(TABLE) {
                Ok(rows) => rows,
                Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Ok(None)),
                Err(error) => return Err(error.into()),
            };
            let Some(row) = rows.get(hash)? else { return Ok(Ok(None)) };
            Ok(unseal(NAME, hash, row.value()).map(|body| Some(body.to_vec())))
        })))
    }
}
