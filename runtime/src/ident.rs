//! Names that are used once: runs, instances, messages.

use stellar_vm::time::Instant;

/// Random bytes of the system; where it has none (before its first boot has gathered any), the clock and the process.
fn random() -> [u8; 16] {
    let mut bytes = [0; 16];
    let filled = rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty());
    if filled != Ok(bytes.len()) {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let seed = format!("{}-{:?}-{:p}", std::process::id(), now, &raw const bytes);
        bytes.copy_from_slice(&blake3::hash(seed.as_bytes()).as_bytes()[..16]);
    }
    bytes
}

/// A new ULID of this time.
#[must_use]
pub fn ulid(at: Instant) -> String {
    let ms = u64::try_from(at.ns / 1_000_000).unwrap_or(0);
    ulid::Ulid::from_parts(ms, u128::from_le_bytes(random())).to_string()
}

/// A new name without time: of a message, say.
#[must_use]
pub fn random_id() -> String {
    format!("{:032x}", u128::from_le_bytes(random()))
}

/// The name of a message that a sender gave a key: the same sender and key give the same name.
#[must_use]
pub fn message_id(by: &str, key: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(by.len() as u64).to_le_bytes());
    hasher.update(by.as_bytes());
    hasher.update(key.as_bytes());
    format!("ctl-{}", hasher.finalize().to_hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_keys_do_not() {
        assert_ne!(random_id(), random_id());
        assert_eq!(message_id("os:ada", "k"), message_id("os:ada", "k"));
        assert_ne!(message_id("os:ada", "k"), message_id("os:ad", "ak"));
        assert_ne!(message_id("os:ada", "k"), "k", "a key never names a message by itself");
        let at = "2026-10-02T10:15:00Z".parse().unwrap();
        let id = ulid(at);
        assert_eq!(id.len(), 26);
        assert_eq!(ulid::Ulid::from_string(&id).unwrap().timestamp_ms() * 1_000_000, at.ns as u64);
        assert_ne!(id, ulid(at));
    }
}
