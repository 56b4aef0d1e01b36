//! The artifact (`.stc`): one program in a container of our own.
//!
//! Magic `STLR`, format version, flags, BLAKE3 of all other bytes, body: bincode of one [`Program`]. The only file that
//! knows bincode. Reading trusts nothing: every length is judged by the bytes that are there, every kind of damage has
//! its own code. What a program means is not judged here but by [`crate::verify`].

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::program::Program;

mod frugal;

use frugal::Frugal;

/// First bytes of every artifact.
pub const MAGIC: [u8; 4] = *b"STLR";
/// Version of the format that this release writes, and the newest that it reads.
pub const VERSION: u16 = 1;
/// Largest artifact in bytes.
pub const MAX_SIZE: usize = 64 << 20;

/// Magic, version (little-endian), flags (likewise).
const HEAD: usize = 8;
/// The head and the hash.
const HEADER: usize = HEAD + blake3::OUT_LEN;
/// bincode counts a number by its widest form: up to eight for each byte of a file of the greatest size.
const READ_LIMIT: usize = MAX_SIZE * 8;

const WRITING: bincode::config::Configuration = bincode::config::standard();

/// What reading an artifact can find, with what each means.
pub const CODES: &[(&str, &str)] = &[
    (BAD_MAGIC, "the file is no artifact"),
    (TRUNCATED, "the artifact ends too early"),
    (NEWER_VERSION, "the artifact was written by a newer release"),
    (UNKNOWN_VERSION, "the artifact has a format version that never existed"),
    (UNKNOWN_FLAGS, "the artifact has flags that this release does not know"),
    (BAD_HASH, "the artifact was changed after it was written"),
    (TRAILING_BYTES, "the artifact goes on behind its program"),
    (TOO_LARGE, "the artifact is larger than 64 MiB"),
    (MALFORMED, "the body of the artifact is no program"),
];

const BAD_MAGIC: &str = "artifact::bad-magic";
const TRUNCATED: &str = "artifact::truncated";
const NEWER_VERSION: &str = "artifact::newer-version";
const UNKNOWN_VERSION: &str = "artifact::unknown-version";
const UNKNOWN_FLAGS: &str = "artifact::unknown-flags";
const BAD_HASH: &str = "artifact::bad-hash";
const TRAILING_BYTES: &str = "artifact::trailing-bytes";
const TOO_LARGE: &str = "artifact::too-large";
const MALFORMED: &str = "artifact::malformed";

/// Why bytes are no artifact, or a program does not fit into one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArtifactError {
    /// They do not begin with [`MAGIC`].
    BadMagic,
    /// They end within the header or the body.
    Truncated,
    /// Their format version is newer than [`VERSION`].
    NewerVersion(u16),
    /// Their format version never existed.
    UnknownVersion(u16),
    /// They have flags that are not known.
    UnknownFlags(u16),
    /// Their hash is another than the one written.
    BadHash,
    /// So many bytes stand behind the program.
    TrailingBytes(usize),
    /// They are more than [`MAX_SIZE`]: so many.
    TooLarge(usize),
    /// The body is no program, in the words of the decoder.
    Malformed(String),
}

impl ArtifactError {
    /// Code of the diagnostic, one of [`CODES`].
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::BadMagic => BAD_MAGIC,
            Self::Truncated => TRUNCATED,
            Self::NewerVersion(_) => NEWER_VERSION,
            Self::UnknownVersion(_) => UNKNOWN_VERSION,
            Self::UnknownFlags(_) => UNKNOWN_FLAGS,
            Self::BadHash => BAD_HASH,
            Self::TrailingBytes(_) => TRAILING_BYTES,
            Self::TooLarge(_) => TOO_LARGE,
            Self::Malformed(_) => MALFORMED,
        }
    }
}

impl fmt::Display for ArtifactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadMagic => write!(f, "this is no artifact: it does not begin with `STLR`"),
            Self::Truncated => write!(f, "the artifact ends too early"),
            Self::NewerVersion(found) => {
                write!(f, "the artifact has format version {found}, this release reads up to {VERSION}")
            }
            Self::UnknownVersion(found) => write!(f, "the artifact has format version {found}, which never existed"),
            Self::UnknownFlags(found) => write!(f, "the artifact has unknown flags {found:#06x}"),
            Self::BadHash => write!(f, "the artifact was changed: its hash does not match its bytes"),
            Self::TrailingBytes(count) => write!(f, "{count} bytes stand behind the program of the artifact"),
            Self::TooLarge(size) => write!(f, "the artifact has {size} bytes, more than {MAX_SIZE}"),
            Self::Malformed(why) => write!(f, "the body of the artifact is no program: {why}"),
        }
    }
}

impl core::error::Error for ArtifactError {}

/// Writes a program as an artifact: the same program gives the same bytes everywhere.
///
/// # Errors
/// [`ArtifactError::TooLarge`].
pub fn encode(program: &Program) -> Result<Vec<u8>, ArtifactError> {
    let out = sealed(&bytes_of(program)?);
    if out.len() > MAX_SIZE {
        return Err(ArtifactError::TooLarge(out.len()));
    }
    Ok(out)
}

/// The container round a body.
pub(crate) fn sealed(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER + body.len());
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&0_u16.to_le_bytes());
    let hash = hash_of_rest(&out, body);
    out.extend_from_slice(&hash);
    out.extend_from_slice(body);
    out
}

/// Reads an artifact. The program is whole, but not yet verified.
///
/// # Errors
/// The first that applies, from the outside in: size, magic, version, flags, hash, body.
pub fn decode(bytes: &[u8]) -> Result<Program, ArtifactError> {
    if bytes.len() > MAX_SIZE {
        return Err(ArtifactError::TooLarge(bytes.len()));
    }
    if !bytes.starts_with(&MAGIC) {
        let begun = !bytes.is_empty() && MAGIC.starts_with(bytes);
        return Err(if begun { ArtifactError::Truncated } else { ArtifactError::BadMagic });
    }
    let (head, rest) = bytes.split_at_checked(HEAD).ok_or(ArtifactError::Truncated)?;
    let &[_, _, _, _, v0, v1, f0, f1] = head else { return Err(ArtifactError::Truncated) };
    match u16::from_le_bytes([v0, v1]) {
        VERSION => {}
        newer if newer > VERSION => return Err(ArtifactError::NewerVersion(newer)),
        other => return Err(ArtifactError::UnknownVersion(other)),
    }
    match u16::from_le_bytes([f0, f1]) {
        0 => {}
        flags => return Err(ArtifactError::UnknownFlags(flags)),
    }
    let (written, body) = rest.split_at_checked(blake3::OUT_LEN).ok_or(ArtifactError::Truncated)?;
    if hash_of_rest(head, body) != written {
        return Err(ArtifactError::BadHash);
    }
    value_of(body)
}

/// The body of an artifact, for the tests that change it.
#[cfg(test)]
pub(crate) fn body_of(bytes: &[u8]) -> &[u8] {
    &bytes[HEADER..]
}

/// Name of an artifact: BLAKE3 of all its bytes, in hexadecimal.
#[must_use]
pub fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// BLAKE3 of the canonical bytes of a value; what cannot be written has none.
pub(crate) fn hash_of_value(value: &impl Serialize) -> Option<[u8; 32]> {
    bytes_of(value).ok().map(|bytes| *blake3::hash(&bytes).as_bytes())
}

fn hash_of_rest(head: &[u8], body: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(head);
    hasher.update(body);
    *hasher.finalize().as_bytes()
}

fn bytes_of(value: &impl Serialize) -> Result<Vec<u8>, ArtifactError> {
    bincode::serde::encode_to_vec(value, WRITING).map_err(|error| ArtifactError::Malformed(error.to_string()))
}

fn value_of<'de, T: Deserialize<'de>>(body: &'de [u8]) -> Result<T, ArtifactError> {
    use bincode::error::DecodeError;
    let config = WRITING.with_limit::<READ_LIMIT>();
    let read = bincode::serde::borrow_decode_from_slice::<Frugal<T>, _>(body, config);
    let (Frugal(value), used) = read.map_err(|error| match error {
        DecodeError::UnexpectedEnd { .. } => ArtifactError::Truncated,
        DecodeError::LimitExceeded => ArtifactError::TooLarge(body.len()),
        other => ArtifactError::Malformed(other.to_string()),
    })?;
    match body.len().saturating_sub(used) {
        0 => Ok(value),
        more => Err(ArtifactError::TrailingBytes(more)),
    }
}

#[cfg(test)]
mod tests;
