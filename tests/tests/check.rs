//! `stellar check`: the figures and the report of the specification, and diagnostics of many files at once.

#![cfg(test)]

use serde_json::{Value, json};
use stellar_tests::{mission::Mission, spec};

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");
const SECOND: i64 = 1_000_000_000;

/// A mission with one file, `test.proc`, and no configuration.
fn mission(text: &str) -> Mission {
    let mission = Mission::empty(STELLAR);
    mission.write("test.proc", text);
    mission
}

fn definition<'a>(checked: &'a Value, name: &str) -> &'a Value {
    let all = checked["definitions"].as_array().unwrap();
    all.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("no {name} in {checked:#}"))
}

fn codes(checked: &Value) -> Vec<&str> {
    checked["diagnostics"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect()
}

fn check(mission: &Mission, code: i32) -> Value {
    mission.json(&["check", "--format", "json", "test.proc"], code)
}

#[test]
fn the_procedures_of_the_specification_have_its_figures() {
    let checked = check(&mission(spec::PROCEDURES), 0);
    assert_eq!(checked["schema"], 1);
    assert_eq!(codes(&checked), Vec::<&str>::new());
    let step = definition(&checked, "TCU answers");
    assert_eq!(
        [&step["kind"], &step["attempt_ns"], &step["max_ns"], &step["attempts_max"], &step["eligible"]],
        [&json!("step"), &json!(10 * SECOND), &json!(40 * SECOND), &json!(4), &json!(true)]
    );
    let procedure = definition(&checked, "AOS acquisition");
    assert_eq!([&procedure["max_ns"], &procedure["attempts_max"]], [&json!(180 * SECOND), &json!(1)]);
    let call = &procedure["calls"][0];
    assert_eq!([&call["max_ns"], &call["attempts_max"], &call["line"]], [&json!(180 * SECOND), &json!(35), &json!(13)]);
    assert_eq!(checked["definitions"].as_array().unwrap().len(), 2, "only what the file defines is listed");
}

#[test]
fn the_policy_that_applies_gives_the_bound_of_the_call() {
    let cases: [(&str, &str, i64, u64, &[&str]); 6] = [
        ("", "", 20, 2, &[]),
        ("", " retry 3 times every 2 s for 30 s", 30, 4, &[]),
        (" retry 3 times every 2 s", "", 40, 4, &[]),
        ("", " retry for 5 s", 10, 1, &["procedure::retry-never"]),
        (" retry 3 times every 2 s", " retry 0 times", 10, 1, &[]),
        ("", " retry 1 time every 15 s", 25, 2, &[]),
    ];
    for (step, call, seconds, attempts, warnings) in cases {
        let checked = check(&mission(&spec::with_policies(step, call)), 0);
        let procedure = definition(&checked, "AOS acquisition");
        let it = &procedure["calls"][0];
        assert_eq!(
            (&it["max_ns"], &procedure["max_ns"]),
            (&json!(seconds * SECOND), &json!(seconds * SECOND)),
            "{call}"
        );
        assert_eq!(it["attempts_max"], attempts, "{step}, {call}");
        assert_eq!(codes(&checked), warnings, "{step}, {call}");
    }
}

#[test]
fn the_default_policy_is_that_of_the_configuration() {
    let mission = mission(&spec::with_policies("", ""));
    mission.write("stellar.yaml", "executor:\n  default_retry: {times: 3, every: 20s}\n");
    let found = check(&mission, 0);
    assert_eq!(definition(&found, "AOS acquisition")["max_ns"], 70 * SECOND);
    mission.write("other/mission.yaml", "executor: {default_retry: {times: 0}}\n");
    let named = mission.json(&["check", "--format", "json", "test.proc", "--config", "other/mission.yaml"], 0);
    assert_eq!(definition(&named, "AOS acquisition")["max_ns"], 10 * SECOND);
    let mut command = mission.command(&["check", "--format", "json", "test.proc"]);
    command.env("STELLAR_CONFIG", mission.path().join("other/mission.yaml"));
    let said = stellar_tests::mission::finish(command, &["check"]);
    let from_environment: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(definition(&from_environment, "AOS acquisition")["max_ns"], 10 * SECOND);
}

#[test]
fn a_retry_without_a_limit_is_refused() {
    let checked = check(&mission(&spec::with_policies("", " retry every 2 s")), 1);
    assert_eq!(codes(&checked), ["procedure::unbounded-retry"]);
}

#[test]
fn the_report_of_the_specification_comes_out_to_the_character() {
    let said = mission(spec::STANDBY).stellar(&["check", "test.proc"]);
    assert_eq!(said.code, 1);
    let report: String = said.err.split_inclusive('\n').take(6).collect();
    assert_eq!(report, spec::REPORT);
}

#[test]
fn wrong_calls_are_told_apart_from_wrong_procedures() {
    let mission = mission(spec::PROCEDURES);
    for arguments in [
        &["check", "no-such.proc"][..],
        &["check", "--allow", "no::such", "test.proc"],
        &["check", "--deny", "procedure::retry-not-allowed", "test.proc"],
        &["check", "--config", "no-such.yaml", "test.proc"],
        &["check", "--frobnicate"],
        &["explain", "type::unit-mismtach"],
    ] {
        let said = mission.stellar(arguments);
        assert_eq!(said.code, 2, "{arguments:?}: {}{}", said.out, said.err);
        assert!(!said.err.is_empty(), "{arguments:?} says why");
    }
}

#[test]
fn warnings_are_allowed_and_denied_by_code() {
    let mission = mission(&spec::with_policies("", " retry for 5 s"));
    let denied = mission.json(&["check", "--format", "json", "--deny", "procedure::retry-never", "test.proc"], 1);
    assert_eq!(denied["diagnostics"][0]["severity"], "error");
    let allowed = mission.json(&["check", "--format", "json", "--allow", "procedure::retry-never", "test.proc"], 0);
    assert_eq!(codes(&allowed), Vec::<&str>::new());
    mission.write("stellar.yaml", "warnings: {deny: [procedure::retry-never]}\n");
    assert_eq!(check(&mission, 1)["diagnostics"][0]["severity"], "error");
}
