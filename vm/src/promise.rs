//! What the verifier promises, tried on random programs in an adversarial world: a run ends within its bound, executes
//! no more statements than it claims, and never comes upon code that leads nowhere.

use alloc::sync::Arc;

use proptest::prelude::*;

use crate::{
    bounds,
    verify::{Verified, verify},
};

mod generate;

pub(crate) use crate::adversary::{Dice, Operator};

/// Runs every procedure of a program; gives the number of events.
pub(crate) fn run_all(program: &Arc<Verified>, seed: u64, operator: Operator) -> u64 {
    crate::adversary::run_all(program, seed, operator).unwrap_or_else(|broken| panic!("{broken}"))
}

/// A random program, where the verifier lets it through (most are).
fn random(seed: u64) -> Option<Arc<Verified>> {
    let mut program = generate::program(&mut Dice(seed));
    let claims = bounds::claims(&program).ok()?;
    for (unit, claims) in program.units.iter_mut().zip(claims) {
        claims.write(unit);
    }
    verify(program).ok().map(Arc::new)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 0, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn a_run_ends_within_its_bound(seed in any::<u64>()) {
        if let Some(program) = random(seed) {
            run_all(&program, seed, Operator::Absent);
        }
    }

    #[test]
    fn what_an_operator_adds_is_all_that_is_added(seed in any::<u64>()) {
        if let Some(program) = random(seed) {
            run_all(&program, seed, Operator::Decides);
            run_all(&program, seed, Operator::Interferes);
        }
    }
}

#[test]
fn most_random_programs_are_let_through_and_do_something() {
    let programs: alloc::vec::Vec<_> = (0..100).filter_map(random).collect();
    assert!(programs.len() > 50, "{} of 100", programs.len());
    let events: u64 = programs.iter().map(|program| run_all(program, 7, Operator::Absent)).sum();
    assert!(events > 1_000, "{events} events");
}

#[test]
fn a_seed_that_found_something_once() {
    // A failure that halts a `together` around another, each with a step between two attempts.
    let seed = 15_073_434_216_242_327_762;
    let program = random(seed).expect("a program that is let through");
    run_all(&program, seed, Operator::Decides);
    run_all(&program, seed, Operator::Interferes);
}
