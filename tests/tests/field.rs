//! Procedures as operators of small satellites write them: their bounds against those worked out by hand, and each in
//! every way in which it passes and fails, against a simulated target and in virtual time.

#![cfg(test)]

use std::collections::BTreeSet;

use serde_json::json;
use stellar_tests::{
    field::{
        self, CameTo, Case, Fixture,
        bound::{by_hand, checked},
        coverage::{Ways, happened, possible},
        run,
    },
    kept::kept,
    mission::{Mission, Ran},
    proof,
};
use stellar_vm::{artifact, machine::replay, time::parse_duration};

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");

/// A test for each folder; that none is forgotten is a test as well.
macro_rules! folders {
    ($($test:ident: $folder:literal,)+) => {
        $(#[test]
        fn $test() {
            holds($folder);
        })+

        #[test]
        fn every_folder_is_tested() {
            assert_eq!(field::names(), [$($folder),+]);
        }
    };
}

folders! {
    a_pass_starts_with_the_beacon: "01-start-of-pass",
    the_clock_on_board_is_set: "02-time-synchronisation",
    four_antennas_are_deployed: "03-antenna-deployment",
    a_tumbling_satellite_is_damped: "04-detumble",
    files_come_down_as_the_operator_wishes: "05-file-downlink",
    the_payload_is_switched_on_behind_a_question: "06-payload-power-on",
    a_heater_goes_off_again_whatever_happens: "07-heater-test",
    a_satellite_comes_back_from_safe_mode: "08-safe-mode-recovery",
    the_bit_rate_is_changed_and_falls_back: "09-bit-rate-change",
    two_targets_are_checked_side_by_side: "10-parallel-checks",
}

/// Everything that is asked of a folder.
fn holds(folder: &str) {
    let fixture = Fixture::read(folder);
    let mission = fixture.mission(STELLAR);
    let report = mission.json(&["check", "--format", "json"], 0);
    assert_eq!(report["diagnostics"], json!([]), "{folder} has no error and no warning");
    let bounds = by_hand(&fixture.bound());
    assert_eq!(checked(&report), bounds, "{folder}: what `check` says is what was worked out by hand");

    mission.done(&["compile", "-o", "mission.stc"]);
    let bytes = std::fs::read(mission.path().join("mission.stc")).unwrap();
    let program = artifact::decode(&bytes).unwrap();
    let several = run::configuration(&mission).targets.len() > 1;
    let (mut seen, mut outcomes, mut exact, mut names) = (Ways::new(), BTreeSet::new(), 0, BTreeSet::new());
    for case in &fixture.suite.cases {
        assert!(names.insert(&case.name), "{folder}: two cases are named \"{}\"", case.name);
        let procedure = case.procedure.as_ref().unwrap_or(&fixture.suite.procedure);
        let (ran, mission) = ran(&fixture, case, &bytes);
        came_to(folder, case, &ran, several, bounds[procedure].max);
        if names.len() == 1 {
            from_the_command_line(&fixture, &ran);
        }
        exact += usize::from(case.lasts.as_deref() == Some("bound") && *procedure == fixture.suite.procedure);
        outcomes.insert(case.ends.as_str());
        seen.extend(happened(&ran.events));
        assert!(proof::of(&mission, ran.id()) > 0, "{folder}: {}: the log replays", case.name);
        within_its_bound(folder, case, &ran, &mission, bounds[procedure].max);
    }
    let possible = possible(&program);
    let never: Vec<_> = possible.difference(&seen).collect();
    assert_eq!(never, Vec::<&String>::new(), "{folder}: over the cases everything that can fail fails");
    let else_: Vec<_> = seen.difference(&possible).collect();
    assert_eq!(else_, Vec::<&String>::new(), "{folder}: and nothing else does");
    assert!(outcomes.contains("passed") && exact > 0, "{folder} passes, and reaches its bound");
}

/// The first case once more from the command line, with the answers given beforehand: it comes to the same.
fn from_the_command_line(fixture: &Fixture, before: &Ran) {
    let suite = &fixture.suite;
    let mut arguments = Vec::new();
    let mut give = |flag: &str, name: &str, value: &str| arguments.extend([flag.to_owned(), format!("{name}={value}")]);
    suite.targets.iter().for_each(|(name, target)| give("-t", name, target));
    suite.inputs.iter().for_each(|(name, value)| give("-i", name, &field::text(value)));
    for (asked, answered) in before.of("question_asked").iter().zip(before.of("answered")) {
        give("--answer", &field::text(&asked["text"]), &field::text(&answered["value"]));
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mission = fixture.mission(STELLAR);
    let ran = mission.run(&suite.procedure, &arguments);
    assert_eq!(ran.code, 0, "{}: {}", fixture.name, ran.err);
    assert_eq!(CameTo::of(&ran.events, true), CameTo::of(&before.events, true), "{}", fixture.name);
    assert_eq!(ran.lasted(), before.lasted(), "{}", fixture.name);
    proof::all(&mission);
}

/// Runs a case over a copy of the mission of its own.
fn ran(fixture: &Fixture, case: &Case, artifact: &[u8]) -> (Ran, Mission) {
    let mission = fixture.mission(STELLAR);
    (run::run(&mission, &fixture.suite, case, artifact), mission)
}

/// A run lasts no longer than its bound and what operators added: an attempt for each `replay`, a window for each
/// `recheck`.
fn within_its_bound(folder: &str, case: &Case, ran: &Ran, mission: &Mission, max: i64) {
    let kept = kept(mission, ran.id());
    let replayed = replay(kept.program, kept.lines.iter().map(String::as_str)).unwrap();
    let view = replayed.machine().view();
    assert_eq!(view.bound_ns, max, "{folder}: {}: the bound that operators see", case.name);
    let begun_again = case.decide.iter().any(|option| option == "replay" || option == "recheck");
    assert_eq!(view.added_ns > 0, begun_again, "{folder}: {}: {} ns added", case.name, view.added_ns);
    let lasted = ran.lasted();
    assert!(lasted <= max + view.added_ns, "{folder}: {}: {lasted} ns of {max} + {}", case.name, view.added_ns);
}

/// What a run came to is what its case says.
fn came_to(folder: &str, case: &Case, ran: &Ran, several_targets: bool, max: i64) {
    let Case { name, ends, fails, sends, notes, lasts, .. } = case;
    let came = CameTo::of(&ran.events, several_targets);
    let sends = sends.split_whitespace().collect::<Vec<_>>().join(" ");
    let notes = notes.clone().unwrap_or_else(|| came.notes.clone());
    let wanted = CameTo { ends: ends.clone(), fails: fails.clone(), sends, notes };
    assert_eq!(came, wanted, "{folder}: {name}\n{:#?}", ran.events);
    let lasted = ran.lasted();
    let due = match lasts.as_deref() {
        Some("bound") => Some(max),
        Some(text) => Some(parse_duration(text).unwrap_or_else(|| panic!("{folder}: {name}: `{text}`"))),
        None => None,
    };
    assert_eq!(due.unwrap_or(lasted), lasted, "{folder}: {name}: how long it lasts\n{:#?}", ran.events);
}
