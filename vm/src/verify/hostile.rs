//! Bytes from outside, hash repaired: whatever they hold, reading, printing and verifying them end without a panic, and
//! what is let through keeps its limits.

use alloc::{sync::Arc, vec, vec::Vec};

use proptest::prelude::*;

use super::verify;
use crate::{
    artifact,
    bounds::{MAX_DURATION, MAX_STATEMENTS},
    disasm::disassemble,
    op::Op,
    program::Program,
    promise, sample,
};

/// Reads, prints and verifies; tells whether it was let through.
fn through(bytes: &[u8]) -> bool {
    let Ok(program) = artifact::decode(bytes) else { return false };
    let _ = disassemble(&program);
    let Ok(verified) = verify(program) else { return false };
    for unit in &verified.units {
        let parts = unit.steps.iter().map(|step| &step.claims).chain(unit.calls.iter().map(|call| &call.claims));
        for claims in parts.chain([&unit.claims]) {
            assert!((0..=claims.max).contains(&claims.attempt) && claims.max <= MAX_DURATION);
            assert!(claims.statements <= MAX_STATEMENTS);
        }
    }
    // What is let through runs, and keeps what it claims.
    if verified.units.iter().all(|unit| unit.claims.statements < 1_000) {
        promise::run_all(&Arc::new(verified), 1, promise::Operator::Absent);
    }
    true
}

fn sample_body() -> Vec<u8> {
    artifact::body_of(&artifact::encode(&sample::whole()).unwrap()).to_vec()
}

/// Ops that lead anywhere, near the tables' ends and far from them.
fn ops() -> impl Strategy<Value = Op> {
    let index = || prop_oneof![0_u32..12, Just(u32::MAX)];
    let two = move || (index(), index());
    prop_oneof![
        index().prop_map(Op::Send),
        index().prop_map(Op::Expect),
        index().prop_map(Op::Check),
        index().prop_map(Op::Wait),
        index().prop_map(Op::Ask),
        index().prop_map(Op::Note),
        index().prop_map(Op::Do),
        index().prop_map(Op::Run),
        two().prop_map(|(cond, within)| Op::WaitUntil { cond, within }),
        two().prop_map(|(local, value)| Op::Let { local, value }),
        two().prop_map(|(cond, local)| Op::Judge { cond, local }),
        (two(), index()).prop_map(|((cond, otherwise), end)| Op::If { cond, otherwise, end }),
        two().prop_map(|(times, end)| Op::Repeat { times, end }),
        two().prop_map(|(each, end)| Op::ForEach { each, end }),
        two().prop_map(|(step, end)| Op::Step { step, end }),
        index().prop_map(|end| Op::Together { end }),
        index().prop_map(|end| Op::Branch { end }),
        index().prop_map(|end| Op::OnFailure { end }),
    ]
}

/// Some ops of some units of the sample replaced.
fn replaced() -> impl Strategy<Value = Program> {
    prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), ops()), 1..4).prop_map(|edits| {
        let mut program = sample::whole();
        for (unit, at, op) in edits {
            let code = &mut unit.get_mut(&mut program.units).code;
            *at.get_mut(code) = op;
        }
        program
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn random_bytes(body in prop::collection::vec(any::<u8>(), 0..400)) {
        through(&body);
        through(&artifact::sealed(&body));
    }

    #[test]
    fn mutated_bytes(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut body = sample_body();
        for (at, byte) in edits {
            *at.get_mut(&mut body) = byte;
        }
        through(&artifact::sealed(&body));
    }

    #[test]
    fn replaced_ops(program in replaced()) {
        // With the claims that its code bears out, so that it is not refused for them.
        let mut program = program;
        if let Ok(claims) = crate::bounds::claims(&program) {
            for (unit, claims) in program.units.iter_mut().zip(claims) {
                claims.write(unit);
            }
        }
        through(&artifact::encode(&program).unwrap());
    }
}

#[test]
fn the_sample_itself_is_let_through() {
    assert!(through(&artifact::sealed(&sample_body())));
}
