//! Keys with revisions, written on condition: what records and leases have in common.

use redb::{ReadTransaction, ReadableTable, TableDefinition, WriteTransaction};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    META,
    seal::{seal, unseal},
    writer::Done,
};
use crate::ports::{Revision, StoreError};

/// A table of keys with revisions.
pub(super) type Versioned = TableDefinition<'static, &'static str, &'static [u8]>;

/// What a conditional write asks of the key.
#[derive(Clone, Copy)]
pub(super) enum Expected {
    /// It must not exist.
    Absent,
    /// It has this revision.
    Revision(Revision),
}

/// Writes a key where it is as expected, and gives its new revision.
pub(super) fn put<T: Serialize>(
    txn: &WriteTransaction,
    table: Versioned,
    name: &str,
    key: &str,
    value: &T,
    expected: Expected,
) -> Done<Revision> {
    let mut rows = txn.open_table(table)?;
    let found = match rows.get(key)? {
        Some(row) => match decode::<serde::de::IgnoredAny>(name, key, row.value()) {
            Ok((_, revision)) => Some(revision),
            Err(damaged) => return Ok(Err(damaged)),
        },
        None => None,
    };
    match (expected, found) {
        (Expected::Absent, None) => {}
        (Expected::Revision(wanted), Some(found)) if wanted == found => {}
        (Expected::Absent, Some(_)) => return Ok(Err(StoreError::Conflict(format!("`{key}` in `{name}` exists")))),
        (Expected::Revision(wanted), _) => {
            let is = found.map_or_else(|| String::from("missing"), |found| format!("at revision {found}"));
            return Ok(Err(StoreError::Conflict(format!("`{key}` in `{name}` is {is}, not at revision {wanted}"))));
        }
    }
    let mut meta = txn.open_table(META)?;
    let revision = meta.get("revision")?.map_or(0, |last| last.value()) + 1;
    meta.insert("revision", revision)?;
    let json = match serde_json::to_vec(value) {
        Ok(json) => json,
        Err(error) => return Ok(Err(StoreError::Unavailable(error.to_string()))),
    };
    let mut body = revision.to_le_bytes().to_vec();
    body.extend_from_slice(&json);
    rows.insert(key, seal(name, key, &body).as_slice())?;
    Ok(Ok(revision))
}

/// Reads a key.
pub(super) fn get<T: DeserializeOwned>(
    txn: &ReadTransaction,
    table: Versioned,
    name: &str,
    key: &str,
) -> Done<Option<(T, Revision)>> {
    let rows = match txn.open_table(table) {
        Ok(rows) => rows,
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Ok(None)),
        Err(error) => return Err(error.into()),
    };
    let Some(row) = rows.get(key)? else { return Ok(Ok(None)) };
    Ok(decode(name, key, row.value()).map(Some))
}

/// Reads all keys, sorted.
pub(super) fn list<T: DeserializeOwned>(
    txn: &ReadTransaction,
    table: Versioned,
    name: &str,
) -> Done<Vec<(std::sync::Arc<str>, T, Revision)>> {
    let rows = match txn.open_table(table) {
        Ok(rows) => rows,
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Ok(Vec::new())),
        Err(error) => return Err(error.into()),
    };
    let mut all = Vec::new();
    for row in rows.iter()? {
        let (key, value) = row?;
        match decode(name, key.value(), value.value()) {
            Ok((value, revision)) => all.push((key.value().into(), value, revision)),
            Err(damaged) => return Ok(Err(damaged)),
        }
    }
    Ok(Ok(all))
}

fn decode<T: DeserializeOwned>(name: &str, key: &str, bytes: &[u8]) -> Result<(T, Revision), StoreError> {
    let body = unseal(name, key, bytes)?;
    let damaged = || StoreError::Damaged(format!("the record `{key}` in `{name}` cannot be read"));
    let (revision, json) = body.split_first_chunk::<8>().ok_or_else(damaged)?;
    let value = serde_json::from_slice(json).map_err(|_| damaged())?;
    Ok((value, Revision::from_le_bytes(*revision)))
}
