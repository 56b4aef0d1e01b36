//! Identifiers that a run gives: telecommands, questions, decisions, transfers.
//!
//! A ULID of the whole milliseconds of the event's `at` and the first ten bytes of BLAKE3 of `<run_id>-<seq>`: whoever
//! runs the log again gives the same ones, and no two events give one.

use alloc::sync::Arc;

use ulid::Ulid;

/// The identifier that the event `seq` of a run gives, made at an instant in nanoseconds.
#[must_use]
pub(crate) fn identifier(run: &str, seq: u64, at_ns: i64) -> u128 {
    let mut digits = [0_u8; 20];
    let digits = decimal(seq, &mut digits);
    let mut random = [0_u8; 16];
    for (to, from) in random.iter_mut().skip(6).zip(hash(run.as_bytes(), digits).as_bytes()) {
        *to = *from;
    }
    let ms = u64::try_from(at_ns.div_euclid(1_000_000)).unwrap_or(0) & ((1 << 48) - 1);
    (u128::from(ms) << 80) | u128::from_be_bytes(random)
}

/// BLAKE3 of `<run>-<digits>`. A run's identifier is a ULID, so that the text is one block, and hashed as one.
fn hash(run: &[u8], digits: &[u8]) -> blake3::Hash {
    let mut block = [0_u8; 64];
    let length = run.len().saturating_add(1).saturating_add(digits.len());
    let Some((before, rest)) = block.get_mut(..length).and_then(|text| text.split_at_mut_checked(run.len())) else {
        return blake3::Hasher::new().update(run).update(b"-").update(digits).finalize();
    };
    before.copy_from_slice(run);
    if let Some((dash, behind)) = rest.split_first_mut() {
        *dash = b'-';
        behind.copy_from_slice(digits);
    }
    blake3::hash(block.get(..length).unwrap_or_default())
}

pub(super) fn decimal(mut value: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut from = digits.len();
    for slot in digits.iter_mut().rev() {
        *slot = b'0' + u8::try_from(value % 10).unwrap_or(0);
        from -= 1;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    digits.get(from..).unwrap_or(&[])
}

/// An identifier as text.
#[must_use]
pub(crate) fn text(id: u128) -> Arc<str> {
    let mut buffer = [0_u8; ulid::ULID_LEN];
    let text: &str = Ulid(id).array_to_str(&mut buffer);
    Arc::from(text)
}

/// Which bytes stand in the text of an identifier.
const WRITTEN: [bool; 256] = {
    let mut written = [false; 256];
    let mut digits: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    while let Some((digit, rest)) = digits.split_first() {
        #[expect(clippy::indexing_slicing, reason = "a byte is less than 256, and this is computed by the compiler")]
        {
            written[*digit as usize] = true;
        }
        digits = rest;
    }
    written
};

/// Reads the text of an identifier, as [`text`] writes it.
#[must_use]
pub(crate) fn parse(text: &str) -> Option<u128> {
    // Reading takes lower case too, the letters that stand for a digit, and more than 128 bits; writing makes none of them.
    let written = |byte: u8| WRITTEN.get(usize::from(byte)).copied().unwrap_or_default();
    let fits = text.bytes().next().is_some_and(|first| first <= b'7') && text.bytes().all(written);
    fits.then(|| Ulid::from_string(text).ok()).flatten().map(|id| id.0)
}

/// The time of an identifier, in nanoseconds.
#[must_use]
pub(crate) fn made_at(id: u128) -> i64 {
    i64::try_from(id >> 80).unwrap_or(i64::MAX).saturating_mul(1_000_000)
}

#[cfg(test)]
mod tests {
    use alloc::{
        format,
        string::{String, ToString},
    };

    use super::*;

    #[test]
    fn an_identifier_is_a_ulid_of_time_run_and_place() {
        let id = identifier("01K6A3D3Y4Q8K1P9W2N6R5T7XZ", 57, 1_790_936_100_123_456_789);
        let hash = blake3::hash(b"01K6A3D3Y4Q8K1P9W2N6R5T7XZ-57");
        assert_eq!(&id.to_be_bytes()[6..], &hash.as_bytes()[..10]);
        assert_eq!(Ulid(id).timestamp_ms(), 1_790_936_100_123);
        assert_eq!(parse(&text(id)), Some(id));
        for wrong in
            [text(id).to_lowercase(), text(id).replace('1', "I"), format!("8{}", &text(id)[1..]), String::new()]
        {
            assert_eq!(parse(&wrong), None, "{wrong}");
        }
        // A text that is longer than a block gives the same as one that is not.
        let long = "R".repeat(70);
        let hash = blake3::hash(format!("{long}-7").as_bytes());
        assert_eq!(&identifier(&long, 7, 0).to_be_bytes()[6..], &hash.as_bytes()[..10]);
        assert_eq!(made_at(id), 1_790_936_100_123_000_000);
    }

    #[test]
    fn every_sequence_number_has_its_decimal_text() {
        for value in [0, 7, 10, 99, 100, u64::MAX] {
            assert_eq!(decimal(value, &mut [0; 20]), value.to_string().as_bytes());
        }
    }
}
