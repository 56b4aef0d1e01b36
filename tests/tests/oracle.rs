//! Random programs in adversarial worlds: the machine's log is that of the reference interpreter, event by event, and
//! within its bound; and every kind of statement, failure, decision and interruption is among them.

#![cfg(test)]

use stellar_tests::oracle::{campaign, check};

#[test]
fn the_machine_does_what_the_reference_does() {
    let tally = campaign(0..1_000, 2, 1);
    if let Some((seed, fault)) = tally.faults.iter().next() {
        panic!("seed {seed}: {fault}\n{}", check(*seed, true).story);
    }
    assert_eq!(tally.seeds, 1_000);
    let unreached = tally.unreached();
    assert!(unreached.is_empty(), "never reached: {unreached:?}");
}

#[test]
fn a_seed_gives_the_same_run_each_time() {
    for seed in [3, 1_700_000] {
        let (once, again) = (check(seed, true), check(seed, true));
        assert!(once.events > 3, "{}", once.story);
        assert_eq!(once.story, again.story);
    }
}
