//! The bound of a procedure is exact: a run against a target that is as slow as it may be, and never shows what is
//! waited for, ends at the bound to the nanosecond.

#![cfg(test)]

use serde_json::Value;
use stellar_tests::{
    mission::{Mission, Ran, at},
    proof, spec,
};

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");
const SECOND: i64 = 1_000_000_000;

/// Completion is reported at the very end of the window of `ping`; the unit never responds.
const SLOWEST: &str = "
telecommands:
  tcu.ping: {reports: {accepted: none, started: none, completed: 5s}}
telemetry:
  tcu.responding: false
";

/// The bound that `stellar check` prints for a procedure.
fn bound(mission: &Mission, procedure: &str) -> i64 {
    let checked = mission.json(&["check", "--format", "json"], 0);
    let all = checked["definitions"].as_array().unwrap();
    all.iter().find(|it| it["name"] == procedure).unwrap()["max_ns"].as_i64().unwrap()
}

/// Runs against the slowest target; the run fails at its bound, which is as long as said.
fn slowest(procedures: &str, procedure: &str, seconds: i64) -> (Mission, Ran) {
    let mission = Mission::simulated(STELLAR, procedures, SLOWEST);
    assert_eq!(bound(&mission, procedure), seconds * SECOND, "the bound of {procedure}");
    let ran = mission.run(procedure, &["-i", "tcu=2"]);
    assert_eq!(ran.code, 1, "{}\n{:#?}", ran.err, ran.events);
    assert_eq!(ran.lasted(), seconds * SECOND, "{:#?}", ran.events);
    assert_eq!(ran.one("run_finished")["outcome"], "failed");
    proof::of(&mission, ran.id());
    (mission, ran)
}

fn count(ran: &Ran, kind: &str) -> usize {
    ran.of(kind).len()
}

#[test]
fn the_step_of_the_specification_lasts_40_s() {
    let procedures = format!(
        "{}\nprocedure \"Once\"\n  uses sat: platform-v3\n  input tcu: tcu_id\n  do \"TCU answers\" with sat, tcu\n",
        spec::PROCEDURES
    );
    let (_, ran) = slowest(&procedures, "Once", 40);
    assert_eq!(count(&ran, "step_started"), 4);
    assert!(ran.failures().iter().all(|code| *code == "EXPECT_FAILED"), "{:?}", ran.failures());
}

#[test]
fn the_call_of_the_specification_lasts_180_s() {
    let (_, ran) = slowest(spec::PROCEDURES, "AOS acquisition", 180);
    assert_eq!(count(&ran, "step_started"), 18, "an attempt of 10 s is followed by the next at once");
}

#[test]
fn the_call_makes_35_attempts_where_each_fails_at_once() {
    let mission = Mission::simulated(STELLAR, spec::PROCEDURES, "faults:\n  - {link: down}\n");
    let ran = mission.run("AOS acquisition", &["-i", "tcu=2"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_eq!(count(&ran, "step_started"), 35);
    assert_eq!(ran.failures(), ["SEND_FAILED"; 35]);
    assert_eq!(ran.lasted(), 170 * SECOND, "after the attempt at 170 s none fits any more");
    let starts: Vec<i64> = ran.of("step_started").iter().map(|it| at(it).since(at(ran.one("run_started")))).collect();
    assert_eq!(starts, (0..35).map(|n| n * 5 * SECOND).collect::<Vec<_>>());
    assert_eq!(mission.record("sim-1"), Vec::<Value>::new(), "nothing left");
    proof::of(&mission, ran.id());
}

#[test]
fn the_default_policy_lasts_20_s() {
    let (_, ran) = slowest(&spec::with_policies("", ""), "AOS acquisition", 20);
    assert_eq!(count(&ran, "step_started"), 2);
}

#[test]
fn of_a_count_and_a_total_the_smaller_holds() {
    let (_, ran) = slowest(&spec::with_policies("", " retry 3 times every 2 s for 30 s"), "AOS acquisition", 30);
    assert_eq!(count(&ran, "step_started"), 3);
}

#[test]
fn a_total_too_short_for_a_second_attempt_lasts_one() {
    let (_, ran) = slowest(&spec::with_policies("", " retry for 5 s"), "AOS acquisition", 10);
    assert_eq!(count(&ran, "step_started"), 1);
    assert_eq!(count(&ran, "attempt_scheduled"), 0);
}

#[test]
fn an_interval_longer_than_an_attempt_counts_instead_of_it() {
    let (_, ran) = slowest(&spec::with_policies("", " retry 1 time every 15 s"), "AOS acquisition", 25);
    let second = ran.of("step_started")[1];
    assert_eq!(at(second).since(at(ran.of("step_started")[0])), 15 * SECOND);
}

#[test]
fn each_construct_lasts_what_its_bound_says() {
    let procedures = r#"
step "Silent"
  uses sat: platform-v3
  input tcu: tcu_id
  wait 1 s
  expect sat.tcu[tcu].responding is true held for 2 s within 7 s

procedure "Loops"
  uses sat: platform-v3
  input tcu: tcu_id
  repeat 3 times
    wait 1500 ms
  for each n in 1..2
    wait 250 ms
  if sat.tcu[tcu].responding is false
    wait 2 s
  else
    wait 1 s
  do "Silent" with sat, tcu retry 2 times every 9 s
  on failure
    wait 3 s

procedure "Side by side"
  uses sat: platform-v3
  input tcu: tcu_id
  together
    branch
      wait 2 s
    branch
      run "Loops" with sat, tcu
"#;
    // The `if` reads a fresh sample: the first comes with the start of the target.
    let mission = Mission::simulated(STELLAR, procedures, SLOWEST);
    let loops = 3 * 1500 + 2 * 250 + 2000 + 8000 + 2 * 9000 + 3000;
    for procedure in ["Loops", "Side by side"] {
        assert_eq!(bound(&mission, procedure), loops * SECOND / 1000, "{procedure}");
        let ran = mission.run(procedure, &["-i", "tcu=3"]);
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert_eq!(ran.lasted(), loops * SECOND / 1000, "{procedure}: {:#?}", ran.events);
    }
    proof::all(&mission);
}
