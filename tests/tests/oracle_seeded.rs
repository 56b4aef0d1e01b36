//! The oracle finds bugs: ten of them are switched on in the machine one after the other, and each makes a run differ
//! from the reference's within so many seeds; with all off none does. In a process of its own: a bug is on for all of it.

#![cfg(test)]

use stellar_tests::oracle::campaign;
use stellar_vm::seeded::{Bug, switch};

/// Seeds within which each bug is found.
const SEEDS: u64 = 256;

#[test]
fn each_seeded_bug_is_found_and_nothing_without_one() {
    for bug in Bug::ALL {
        switch(Some(bug));
        let tally = campaign(0..SEEDS, 2, 1);
        switch(None);
        println!("{bug:?}: {:?} of {} seeds", tally.faults.keys().next(), tally.seeds);
        assert!(!tally.faults.is_empty(), "{bug:?} is not found in {SEEDS} seeds");
        // What differs is the bug's doing.
        for seed in tally.faults.keys() {
            let clean = campaign(*seed..seed + 1, 1, 1);
            assert!(clean.faults.is_empty(), "seed {seed} without {bug:?}: {:?}", clean.faults);
        }
    }
    let tally = campaign(0..64, 2, 1);
    assert!(tally.faults.is_empty(), "{:?}", tally.faults);
}
