//! Checksums of records: a record that was altered, cut or put under another key is found when it is read.

use crate::ports::StoreError;

const BYTES: usize = 8;

fn checksum(table: &str, key: &str, body: &[u8]) -> [u8; BYTES] {
    let mut hasher = blake3::Hasher::new();
    for part in [table.as_bytes(), key.as_bytes()] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.update(body);
    let mut sum = [0; BYTES];
    hasher.finalize_xof().fill(&mut sum);
    sum
}

/// The record as it is stored: checksum, then body.
pub(super) fn seal(table: &str, key: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(BYTES + body.len());
    bytes.extend_from_slice(&checksum(table, key, body));
    bytes.extend_from_slice(body);
    bytes
}

/// The body of a stored record.
pub(super) fn unseal<'a>(table: &str, key: &str, bytes: &'a [u8]) -> Result<&'a [u8], StoreError> {
    match bytes.split_first_chunk::<BYTES>() {
        Some((sum, body)) if *sum == checksum(table, key, body) => Ok(body),
        _ => Err(StoreError::Damaged(format!("the record `{key}` in `{table}` does not match its checksum"))),
    }
}
