//! Artifacts: bytes of a program that somebody may have made by hand.
//!
//! The input is the body; container and hash are written round it, so that they hide nothing. It is tried with the
//! claims that it has and with those that its code bears out. It is refused with a code of the registry, or accepted:
//! then it keeps what it claims in a world that does the worst.

use std::sync::Arc;

use stellar_vm::{
    artifact::{self, MAGIC, VERSION},
    bounds::{self, MAX_DURATION, MAX_STATEMENTS},
    disasm,
    program::Program,
    verify,
};

use super::world;

/// Bytes of the container before the body.
pub const HEADER: usize = 8 + blake3::OUT_LEN;

/// What became of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// Refused, with this code.
    Refused(&'static str),
    /// Accepted, and run for so many events.
    Ran(u64),
}

/// Tries one input, as a body and as a whole artifact.
///
/// # Panics
/// Where something does not hold.
pub fn holds(data: &[u8]) {
    of_bytes(data);
    if let Ok(program) = artifact::decode(&sealed(data)) {
        mended(program);
    }
    of_bytes(&sealed(data));
}

/// What becomes of an artifact.
///
/// # Panics
/// Where something does not hold.
pub fn of_bytes(bytes: &[u8]) -> Fate {
    match artifact::decode(bytes) {
        Ok(program) => of_program(program, world::seed(bytes)),
        Err(error) => {
            refused(error.code(), &error.to_string());
            Fate::Refused(error.code())
        }
    }
}

/// What becomes of a program with the claims that its code bears out.
///
/// # Panics
/// Where something does not hold.
pub fn mended(mut program: Program) -> Fate {
    match bounds::claims(&program) {
        Ok(claims) => program.units.iter_mut().zip(claims).for_each(|(unit, claims)| claims.write(unit)),
        Err(error) => {
            refused(error.code(), error.message());
            return Fate::Refused(error.code());
        }
    }
    let bytes = artifact::encode(&program).expect("a program of this size is written");
    of_bytes(&bytes)
}

fn refused(code: &str, message: &str) {
    let known = artifact::CODES.iter().chain(verify::CODES).any(|(known, _)| *known == code);
    assert!(known && code.starts_with("artifact::"), "{code}: {message}");
    assert!(!message.is_empty(), "{code} without a word");
}

fn of_program(program: Program, seed: u64) -> Fate {
    drop(disasm::disassemble(&program));
    let verified = match verify::verify(program) {
        Ok(verified) => Arc::new(verified),
        Err(error) => {
            refused(error.code(), error.message());
            return Fate::Refused(error.code());
        }
    };
    for unit in &verified.units {
        let parts = unit.steps.iter().map(|step| &step.claims).chain(unit.calls.iter().map(|call| &call.claims));
        for claims in parts.chain([&unit.claims]) {
            assert!((0..=claims.max).contains(&claims.attempt) && claims.max <= MAX_DURATION, "{claims:?}");
            assert!(claims.statements <= MAX_STATEMENTS, "{claims:?}");
        }
    }
    Fate::Ran(world::keeps(&verified, seed))
}

/// A container round a body, its hash as it must be.
#[must_use]
pub fn sealed(body: &[u8]) -> Vec<u8> {
    let mut out = [&MAGIC[..], &VERSION.to_le_bytes(), &[0, 0]].concat();
    let hash = blake3::Hasher::new().update(&out).update(body).finalize();
    out.extend(hash.as_bytes());
    out.extend(body);
    out
}
