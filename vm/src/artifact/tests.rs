use alloc::{format, vec};

use serde::de::{Deserializer, SeqAccess, Visitor};

use super::*;
use crate::sample;

/// Writes the hash that the other bytes ask for.
fn repaired(mut bytes: Vec<u8>) -> Vec<u8> {
    let (head, rest) = bytes.split_at(HEAD);
    let hash = hash_of_rest(head, &rest[blake3::OUT_LEN..]);
    bytes[HEAD..HEADER].copy_from_slice(&hash);
    bytes
}

#[test]
fn what_is_written_is_read() {
    let program = sample::whole();
    let bytes = encode(&program).unwrap();
    assert_eq!(decode(&bytes), Ok(program.clone()));
    assert_eq!(encode(&program), Ok(bytes.clone()));
    assert_eq!(hash(&bytes).len(), 64);
}

#[test]
fn the_bytes_of_a_program_stay_what_they_are() {
    let bytes = encode(&Program::default()).unwrap();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    insta::assert_snapshot!("empty", hex);
    // Every kind of op stands in it: a reordered enum changes this.
    insta::assert_snapshot!("whole", hash(&encode(&sample::whole()).unwrap()));
}

#[test]
fn every_flipped_byte_is_refused() {
    let bytes = encode(&sample::whole()).unwrap();
    for at in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[at] ^= 1;
        let code = decode(&bad).expect_err("it is refused").code();
        let expected = match at {
            0..4 => BAD_MAGIC,
            // Version 1 with its lowest bit flipped is 0; 257 is newer.
            4 => UNKNOWN_VERSION,
            5 => NEWER_VERSION,
            6..8 => UNKNOWN_FLAGS,
            _ => BAD_HASH,
        };
        assert_eq!(code, expected, "byte {at}");
    }
}

#[test]
fn every_shorter_file_is_refused() {
    let bytes = encode(&sample::whole()).unwrap();
    for len in 0..bytes.len() {
        let cut = &bytes[..len];
        let code = decode(cut).expect_err("it is refused").code();
        let expected = match len {
            0 => BAD_MAGIC,
            1..HEADER => TRUNCATED,
            _ => BAD_HASH,
        };
        assert_eq!(code, expected, "{len} bytes");
        if len >= HEADER {
            assert_eq!(decode(&repaired(cut.to_vec())), Err(ArtifactError::Truncated), "{len} bytes, hash repaired");
        }
    }
}

#[test]
fn what_stands_behind_the_program_is_refused() {
    let mut bytes = encode(&sample::whole()).unwrap();
    bytes.extend([0, 0, 0]);
    assert_eq!(decode(&bytes), Err(ArtifactError::BadHash));
    assert_eq!(decode(&repaired(bytes)), Err(ArtifactError::TrailingBytes(3)));
}

#[test]
fn versions_flags_and_size_have_their_own_errors() {
    let bytes = encode(&Program::default()).unwrap();
    let with = |at: usize, byte: u8| {
        let mut bad = bytes.clone();
        bad[at] = byte;
        decode(&repaired(bad)).expect_err("it is refused")
    };
    assert_eq!(with(4, 2), ArtifactError::NewerVersion(2));
    assert_eq!(with(4, 0), ArtifactError::UnknownVersion(0));
    assert_eq!(with(7, 1), ArtifactError::UnknownFlags(256));
    assert_eq!(decode(b"%PDF-1.4"), Err(ArtifactError::BadMagic));
    let large = vec![0; MAX_SIZE + 1];
    assert_eq!(decode(&large), Err(ArtifactError::TooLarge(MAX_SIZE + 1)));
    let text = alloc::sync::Arc::from("x".repeat(MAX_SIZE));
    let program = Program { compiler: text, ..Program::default() };
    assert_eq!(encode(&program).expect_err("it is refused").code(), TOO_LARGE);
}

#[test]
fn every_code_is_listed() {
    let errors = [
        ArtifactError::BadMagic,
        ArtifactError::Truncated,
        ArtifactError::NewerVersion(2),
        ArtifactError::UnknownVersion(0),
        ArtifactError::UnknownFlags(1),
        ArtifactError::BadHash,
        ArtifactError::TrailingBytes(1),
        ArtifactError::TooLarge(1),
        ArtifactError::Malformed(String::new()),
    ];
    let listed: Vec<_> = CODES.iter().map(|(code, _)| *code).collect();
    assert_eq!(errors.iter().map(ArtifactError::code).collect::<Vec<_>>(), listed);
}

#[test]
fn a_length_that_lies_is_refused() {
    // The first field is a text; 253 announces a length of eight bytes.
    for length in [u64::MAX, 1 << 40, 1 << 31, 1 << 20] {
        let mut body = vec![253];
        body.extend(length.to_le_bytes());
        let code = decode(&sealed(&body)).expect_err("it is refused").code();
        assert!([TRUNCATED, TOO_LARGE].contains(&code), "{length}: {code}");
    }
    assert_eq!(decode(&sealed(&[1, 0xff])).expect_err("no UTF-8").code(), MALFORMED);
    assert_eq!(decode(&sealed(&[0, 9])).expect_err("no option").code(), MALFORMED);
}

/// Tells the length that a sequence claims beforehand.
struct Claimed(Option<usize>);

impl<'de> Deserialize<'de> for Claimed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Look;
        impl<'de> Visitor<'de> for Look {
            type Value = Claimed;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a sequence")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Claimed, A::Error> {
                let claimed = access.size_hint();
                while access.next_element::<u8>()?.is_some() {}
                Ok(Claimed(claimed))
            }
        }
        deserializer.deserialize_seq(Look)
    }
}

#[test]
fn no_claimed_length_reaches_a_collection() {
    let body = bytes_of(&(vec![1_u8, 2, 3], Some(vec![4_u8]))).unwrap();
    let (first, second) = value_of::<(Claimed, Option<Claimed>)>(&body).unwrap();
    assert_eq!((first.0, second.unwrap().0), (None, None));
}
