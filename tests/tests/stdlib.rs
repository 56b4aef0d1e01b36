//! The standard library in virtual time: each step and procedure in its good and its bad ways.

#![cfg(test)]

use serde_json::json;
use stellar_tests::{
    mission::{Mission, Ran},
    proof,
};

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");
const SECOND: i64 = 1_000_000_000;

/// Calls the steps of the library, which are not run by themselves.
const CALLS: &str = r#"
procedure "Ask the unit"
  uses sat: platform-v3
  do "TCU answers" with sat, 2

procedure "To standby"
  uses sat: platform-v3
  do "Standby" with sat, 2
"#;

const OBEDIENT: &str = "
telecommands:
  tcu.ping: {sets: {responding: true}}
  tcu.standby: {sets: {mode: STANDBY}}
  tcu.safe: {sets: {mode: SAFE}}
  radio.silence: {sets: {transmitter: SILENT}}
telemetry:
  tcu.mode: OPERATIONAL
  radio.transmitter: TRANSMITTING
";

/// Runs a procedure against a target of this scenario; its log is proved.
fn run(scenario: &str, procedure: &str, arguments: &[&str], code: i32) -> (Mission, Ran) {
    let mission = Mission::simulated(STELLAR, CALLS, scenario);
    let ran = mission.run(procedure, arguments);
    assert_eq!(ran.code, code, "{}\n{:#?}", ran.err, ran.events);
    proof::of(&mission, ran.id());
    (mission, ran)
}

/// [`OBEDIENT`], with faults.
fn with_faults(faults: &str) -> String {
    format!("{OBEDIENT}faults:\n{faults}")
}

fn notes(ran: &Ran) -> Vec<&str> {
    ran.of("noted").iter().map(|note| note["text"].as_str().unwrap()).collect()
}

fn sent(ran: &Ran) -> Vec<&str> {
    ran.of("telecommand_sent").iter().map(|sent| sent["telecommand"].as_str().unwrap()).collect()
}

#[test]
fn the_unit_answers() {
    let (_, ran) = run(OBEDIENT, "Ask the unit", &[], 0);
    assert_eq!(sent(&ran), ["ping"]);
    let sent = ran.one("telecommand_sent");
    assert_eq!(
        (&sent["component"], &sent["route"], &sent["changes_state"]),
        (&json!("tcu[2]"), &json!("direct"), &json!(false))
    );
}

#[test]
fn the_unit_answers_at_its_third_call() {
    let (_, ran) = run(&with_faults("  - {telecommand: tcu.ping, first: 2, lose: true}\n"), "Ask the unit", &[], 0);
    assert_eq!(ran.failures(), ["VERIFY_TIMEOUT"; 2]);
    let all = ran.of("telecommand_sent");
    assert_eq!(all.len(), 3);
    assert!(all[0].get("retry_of").is_none());
    assert!(all[1..].iter().all(|again| again["retry_of"] == all[0]["id"]), "{all:#?}");
}

#[test]
fn the_unit_never_answers() {
    let (_, ran) = run(&with_faults("  - {telecommand: tcu.ping, lose: true}\n"), "Ask the unit", &[], 1);
    assert_eq!(ran.failures(), ["VERIFY_TIMEOUT"; 4]);
    let failure = &ran.one("run_finished")["failure"];
    let message = failure["message"].as_str().unwrap();
    assert!(message.contains("ping") && message.contains("complet"), "telecommand and stage are named: {message}");
    assert!(failure["file"].as_str().unwrap().ends_with("tcu.proc"), "{failure}");
}

#[test]
fn the_link_comes_up_during_acquisition() {
    let (_, ran) = run(&with_faults("  - {link: down, until: 12s}\n"), "AOS acquisition", &["-i", "tcu=2"], 0);
    assert_eq!(ran.failures(), ["SEND_FAILED"; 3]);
    assert_eq!(sent(&ran).len(), 4);
    assert!(ran.lasted() >= 15 * SECOND && ran.lasted() < 20 * SECOND, "{}", ran.lasted());
}

#[test]
fn acquisition_is_given_up_after_3_min() {
    let (_, ran) =
        run(&with_faults("  - {telemetry: tcu.responding, silent: true}\n"), "AOS acquisition", &["-i", "tcu=2"], 1);
    assert_eq!(ran.one("run_finished")["failure"]["code"], "EXPECT_FAILED");
    let message = ran.one("run_finished")["failure"]["message"].as_str().unwrap();
    assert!(message.contains("never received"), "{message}");
    // Completion after 0.5 s and 5 s of waiting: an attempt of 5.5 s follows at once on the one before.
    assert!(ran.lasted() <= 180 * SECOND && ran.lasted() >= 170 * SECOND, "{}", ran.lasted());
}

#[test]
fn standby_is_verified_by_the_mode() {
    let (_, ran) = run(OBEDIENT, "To standby", &[], 0);
    assert_eq!(sent(&ran), ["standby"]);
    let observed = ran.of("observed");
    assert!(
        observed
            .iter()
            .any(|it| it["samples"][0]["parameter"] == "tcu[2].mode" && it["samples"][0]["value"] == "STANDBY"),
        "{observed:#?}"
    );
}

#[test]
fn a_unit_that_does_not_change_its_mode_needs_a_decision() {
    let silent = "telemetry: {tcu.mode: OPERATIONAL}\n";
    let (mission, ran) = run(silent, "To standby", &[], 3);
    let decision = ran.one("decision_required");
    assert_eq!(decision["failure"]["code"], "VERIFY_TIMEOUT");
    assert_eq!(decision["options"], json!(["replay", "skip", "fail", "abort", "recheck"]));
    let resumed = mission.resume(ran.id(), &["--decide", "Standby=skip"]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    proof::of(&mission, ran.id());
    assert_eq!(mission.record("sim-1").len(), 1, "nothing was sent again");
}

#[test]
fn a_unit_that_refuses_standby_needs_a_decision() {
    let faults = "  - {telecommand: tcu.standby, fail: {stage: started, code: \"5 (busy)\"}}\n";
    let (_, ran) = run(&with_faults(faults), "To standby", &["--decide", "Standby=abort"], 1);
    let decision = ran.one("decision_required");
    assert_eq!(decision["failure"]["code"], "VERIFY_FAILED");
    assert_eq!(decision["options"], json!(["replay", "skip", "fail", "abort"]));
    assert!(decision["failure"]["message"].as_str().unwrap().contains("5 (busy)"), "{decision}");
    assert_eq!(ran.one("run_finished")["outcome"], "aborted");
}

#[test]
fn the_unit_goes_to_safe_mode() {
    let (_, ran) = run(OBEDIENT, "Safe TCU", &["-i", "tcu=4"], 0);
    assert_eq!(notes(&ran), ["TCU 4 is in safe mode"]);
    assert!(ran.lasted() >= 2 * SECOND, "the mode was held for 2 s: {}", ran.lasted());
}

#[test]
fn a_safe_mode_that_does_not_hold_is_waited_for_again() {
    let faults = "  - {telemetry: tcu.mode, value: OPERATIONAL, from: 2500ms, until: 3500ms}\n";
    let (_, ran) = run(&with_faults(faults), "Safe TCU", &["-i", "tcu=4"], 0);
    assert!(ran.lasted() >= 5 * SECOND, "held from 4 s on: {}", ran.lasted());
}

#[test]
fn a_unit_that_never_is_safe_needs_a_decision() {
    let (_, ran) = run(
        "telemetry: {tcu.mode: OPERATIONAL}\n",
        "Safe TCU",
        &["-i", "tcu=4", "--decide", "Command safe mode=fail"],
        1,
    );
    assert_eq!(ran.one("decision_required")["failure"]["code"], "VERIFY_TIMEOUT");
    assert_eq!(ran.one("run_finished")["outcome"], "failed");
    assert_eq!(notes(&ran), Vec::<&str>::new());
}

#[test]
fn a_pass_is_wrapped_up() {
    let (_, ran) = run(OBEDIENT, "LOS wrap-up", &["-i", "tcu=1"], 0);
    assert_eq!(sent(&ran), ["standby", "silence"]);
    assert_eq!(notes(&ran), ["TCU 1 is in standby, the transmitter is silent"]);
}

#[test]
fn a_wrap_up_that_fails_says_what_may_still_be_on() {
    let faults = "  - {telecommand: radio.silence, lose: true}\n";
    let (_, ran) =
        run(&with_faults(faults), "LOS wrap-up", &["-i", "tcu=1", "--decide", "Silence the transmitter=fail"], 1);
    assert_eq!(notes(&ran), ["wrap-up failed: the transmitter may still be on at the loss of signal"]);
    let (_, ran) =
        run(&with_faults(faults), "LOS wrap-up", &["-i", "tcu=1", "--decide", "Silence the transmitter=abort"], 1);
    assert_eq!(notes(&ran), Vec::<&str>::new(), "after an abort nothing runs");
}

/// A target that answers the PUS connection test, or is as the scenario says.
fn connection(scenario: &str, code: i32) -> Ran {
    let mission = Mission::empty(STELLAR);
    let configuration = "targets:\n  obc-1: {platform: pus-c, link: {sim: {behaviours: sim.yaml}}}\n";
    mission.write("stellar.yaml", configuration).write("sim.yaml", scenario);
    let ran = mission.run("PUS connection test", &["-t", "obc=obc-1"]);
    assert_eq!(ran.code, code, "{}\n{:#?}", ran.err, ran.events);
    proof::of(&mission, ran.id());
    ran
}

#[test]
fn the_application_answers_its_connection_test() {
    // The report comes before the completion, as on a real target.
    let ran =
        connection("telecommands:\n  pus.ping: {after: 300ms, sets: {connection_report: true, report_count: 7}}\n", 0);
    assert_eq!(notes(&ran), ["connection report 7 received"]);
}

#[test]
fn an_application_that_only_acknowledges_does_not_answer() {
    let ran = connection("{}\n", 1);
    assert_eq!(ran.failures(), ["EXPECT_FAILED"; 3]);
}

#[test]
fn an_application_that_is_silent_fails_at_its_acceptance() {
    let ran = connection("telecommands:\n  pus.ping: {reports: none}\n", 1);
    assert_eq!(ran.failures(), ["VERIFY_TIMEOUT"; 3]);
    let message = ran.one("run_finished")["failure"]["message"].as_str().unwrap();
    assert!(message.contains("accept"), "the stage is named: {message}");
    // Attempts of 2 s at intervals of 5 s.
    assert_eq!(ran.lasted(), 12 * SECOND);
}
