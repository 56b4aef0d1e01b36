//! A verified program in a world that does the worst that it can.

use std::sync::Arc;

use stellar_vm::{
    adversary::{Operator, run_all},
    verify::Verified,
};

/// Programs of more statements than this are not run to their end: that would take too long here.
const STATEMENTS: u64 = 2_000;

/// A seed of some bytes.
pub(super) fn seed(bytes: &[u8]) -> u64 {
    let hash = blake3::hash(bytes);
    hash.as_bytes().iter().take(8).fold(0, |seed, byte| (seed << 8) | u64::from(*byte))
}

/// Runs every procedure, each kind of operator once, and asks that its claims hold; gives the number of events.
pub(super) fn keeps(program: &Arc<Verified>, seed: u64) -> u64 {
    if program.units.iter().any(|unit| unit.claims.statements > STATEMENTS) {
        return 0;
    }
    let operators = [Operator::Absent, Operator::Decides, Operator::Interferes];
    let run = |operator| run_all(program, seed, operator).unwrap_or_else(|broken| panic!("{operator:?}: {broken}"));
    operators.into_iter().map(run).sum()
}
