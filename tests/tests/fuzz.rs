//! What mutations and fuzzing have found, tried again, with every seed that they begin with; and a short campaign of
//! each, the same every time.

#![cfg(test)]

use std::{collections::BTreeMap, fs, path::Path};

use stellar_tests::hostile::{
    self, TARGETS,
    artifact::{Fate, mended, of_bytes},
    mutate::{program, text},
    seeds, target,
};
use stellar_vm::{adversary::Dice, artifact};

/// A test for each target: what was found, the seeds, and so many changed ones hold.
macro_rules! targets {
    ($($test:ident: $target:literal, $changed:literal;)+) => {
        $(#[test]
        fn $test() {
            holds($target, $changed);
        })+

        #[test]
        fn every_target_is_tested() {
            let mut tested = [$($target),+];
            tested.sort_unstable();
            let mut all: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            all.sort_unstable();
            assert_eq!(all, tested);
        }
    };
}

targets! {
    any_sources_are_compiled_or_refused: "sources", 400;
    any_catalogue_is_compiled_or_refused: "catalogue", 200;
    any_configuration_is_read_or_refused: "configuration", 200;
    any_scenario_is_read_or_refused: "scenario", 100;
    any_artifact_is_refused_or_keeps_its_claims: "artifact", 40;
    any_log_is_replayed_or_refused: "log", 60;
    any_datagram_is_read: "link", 300;
    any_request_is_answered: "api", 20;
}

fn holds(name: &str, changed: u64) {
    let target = target(name).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/fuzz").join(name);
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        eprintln!("{}", path.display());
        (target.holds)(&fs::read(path).unwrap());
    }
    let seeds = seeds::seeds(name);
    assert!(seeds.len() > 5, "there are seeds of {name}");
    for (seed, bytes) in &seeds {
        eprintln!("{seed}");
        (target.holds)(bytes);
    }
    for number in 0..changed {
        let mut dice = Dice(number);
        let (seed, bytes) = dice.choose(&seeds).unwrap();
        eprintln!("{seed}, changed by {number}");
        (target.holds)(&text::changed(bytes, &seeds, target.words, &mut dice));
    }
}

#[test]
fn a_changed_program_is_refused_with_a_code_or_keeps_its_claims() {
    let programs = seeds::programs();
    let parts = program::Parts::of(programs.iter().map(|program| &***program));
    let mut codes: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut ran, mut events) = (0, 0);
    for number in 0..1_500 {
        let mut dice = Dice(number);
        let original = dice.choose(&programs).unwrap();
        let Some(changed) = program::changed(original, &parts, &mut dice) else { continue };
        eprintln!("program changed by {number}");
        let fates = [of_bytes(&artifact::encode(&changed).unwrap()), mended(changed)];
        for fate in fates {
            match fate {
                Fate::Refused(code) => *codes.entry(code).or_default() += 1,
                Fate::Ran(of) => (ran, events) = (ran + 1, events + of),
            }
        }
    }
    // Both ways are gone, and what is accepted does something.
    assert!(codes.len() >= 4 && codes.values().sum::<u64>() > 500, "{codes:?}");
    assert!(ran > 200 && events > 5_000, "{ran} programs ran, {events} events; {codes:?}");
}

#[test]
fn a_container_is_as_the_machine_writes_it() {
    let program = seeds::programs().remove(0);
    let bytes = artifact::encode(&program).unwrap();
    assert_eq!(hostile::artifact::sealed(&bytes[hostile::artifact::HEADER..]), bytes);
}
