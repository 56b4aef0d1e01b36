//! Artifacts, kept beside the runs that are bound to them.

use super::Reply;

/// Artifacts by their hash.
pub trait Artifacts: Send + Sync {
    /// Keeps an artifact under its hash. The same one again changes nothing.
    ///
    /// # Errors
    /// `Conflict` where other bytes stand under that hash.
    fn put<'a>(&'a self, hash: &'a str, bytes: Vec<u8>) -> Reply<'a, ()>;

    /// The artifact of that hash.
    ///
    /// # Errors
    /// `Damaged` where its bytes do not match their checksum.
    fn get<'a>(&'a self, hash: &'a str) -> Reply<'a, Option<Vec<u8>>>;
}
