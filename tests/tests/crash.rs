//! `kill -9` of `stellar run` and `stellar resume` at every kind of moment: each run is resumed to its end, nothing
//! leaves twice, and a person is asked only where it must be, with what the link's own record says.
//!
//! Where the instant matters the process ends itself, by a crash point of the runtime; else it is killed when its log
//! says that the moment has come.

#![cfg(test)]

use std::{collections::BTreeSet, process::Command};

use serde_json::{Value, json};
use stellar_runtime::api::client::Client;
use stellar_tests::{
    instance,
    mission::{Going, Mission, Ran, at, failures, instant, of},
    proof,
};

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");
const SECOND: i64 = 1_000_000_000;

const CONFIGURATION: &str = "\
catalogue: [catalogue/]
procedures: [procedures/]
targets:
  probe-1: {platform: probe, link: {sim: {behaviours: sim.yaml}}}
";

const CATALOGUE: &str = r#"
platform: probe
routes: {direct: {default: true}}
components:
  unit:
    telemetry:
      ready: {type: bool, period: 200ms, freshness: 2s}
    telecommands:
      ping: {changes_state: false, verify: {within: 2s}}
      switch: {verify: {within: 2s}}
"#;

const SIMULATED: &str = "
telecommands:
  unit.ping: {reports: {accepted: 20ms, started: 20ms, completed: 40ms}}
  unit.switch: {reports: {accepted: 20ms, started: 20ms, completed: 40ms}}
";

const PROCEDURES: &str = r#"
procedure "Waits"
  uses sat: probe
  step "Before"
    send switch to sat.unit
  wait 1500 ms
  step "After"
    send ping to sat.unit

procedure "Tries again"
  uses sat: probe
  step "Ready" retry 3 times every 2 s
    send ping to sat.unit
    check sat.unit.ready is true

procedure "Asks"
  uses sat: probe
  step "Permit"
    ask "go on?" within 10 min
    send switch to sat.unit

procedure "Asks late"
  uses sat: probe
  step "Switch and ask"
    send switch to sat.unit
    ask "did it click?" within 10 min
  note "it clicked"

procedure "Asks early"
  uses sat: probe
  step "Permit"
    ask "go on?" within 10 min
    wait 100 ms
    send switch to sat.unit

procedure "Clicks"
  uses sat: probe
  step "Switch"
    send switch to sat.unit
    expect sat.unit.ready is true within 1 s

procedure "Decides"
  uses sat: probe
  step "Switch"
    send switch to sat.unit
    check sat.unit.ready is true

procedure "Sends"
  uses sat: probe
  step "Ping"
    send ping to sat.unit
  step "Switch"
    send switch to sat.unit

procedure "Pings"
  uses sat: probe
  step "Ping"
    send ping to sat.unit

procedure "Waits long"
  uses sat: probe
  step "First"
    send ping to sat.unit
  wait until sat.unit.ready is true within 10 min
  step "Last"
    send switch to sat.unit
"#;

fn mission(scenario: &str) -> Mission {
    let mission = Mission::empty(STELLAR);
    mission.write("stellar.yaml", CONFIGURATION).write("catalogue/probe.yaml", CATALOGUE);
    mission.write("procedures/crash.proc", PROCEDURES).write("sim.yaml", format!("{SIMULATED}{scenario}"));
    mission
}

/// A `stellar` that ends itself at the crash point.
fn with_crash(mission: &Mission, arguments: &[&str], point: &str) -> Command {
    let mut command = mission.command(arguments);
    command.env("STELLAR_CRASH_POINT", point);
    command
}

/// Runs a procedure to the crash point; gives the run, which is taken from the store.
fn crashed(mission: &Mission, procedure: &str, point: &str) -> String {
    let (code, events) = Going::start(with_crash(mission, &["run", procedure, "--format", "json"], point)).end();
    assert_eq!(code, -1, "a signal ends it at {point}: {events:#?}");
    stellar_tests::kept::runs(mission).pop().expect("there is a run")
}

/// The log of a run and what left, judged: the log holds, nothing stands twice in the link's record, nothing left that
/// the log does not name, no report is told twice, and what a decision says of each telecommand is so by the record.
fn judged(mission: &Mission, run: &str) -> Vec<Value> {
    proof::of(mission, run);
    let log = mission.log(run);
    let left: Vec<String> =
        mission.record("probe-1").iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect();
    let unique: BTreeSet<&String> = left.iter().collect();
    assert_eq!(unique.len(), left.len(), "nothing left twice: {left:?}");
    let sent: BTreeSet<&str> = of(&log, "telecommand_sent").iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert!(left.iter().all(|id| sent.contains(id.as_str())), "nothing left that was not logged before: {left:?}");
    let mut told = BTreeSet::new();
    for status in of(&log, "telecommand_status") {
        let what = ["id", "status", "stage"].map(|key| status[key].to_string());
        assert!(told.insert(what), "the log tells it twice: {status}");
    }
    let known = of(&log, "taken_over").into_iter().chain(of(&log, "resumed")).flat_map(|it| items(&it["known"]));
    let said = of(&log, "decision_required").into_iter().flat_map(|it| items(&it["telecommands"]));
    for one in known.chain(said) {
        let id = one["id"].as_str().unwrap().to_owned();
        match one["known"].as_str().unwrap() {
            "left" => assert!(left.contains(&id), "it is said to have left: {one}"),
            "never left" => {
                let again =
                    of(&log, "telecommand_sent").iter().any(|it| it["id"] == id && it["changes_state"] == false);
                assert!(again || !left.contains(&id), "it is said never to have left: {one}");
            }
            other => assert_eq!(other, "may have left"),
        }
    }
    log
}

fn items(list: &Value) -> Vec<Value> {
    list.as_array().cloned().unwrap_or_default()
}

/// Resumes to the end of the run, in the way that its exit code says; gives the log.
fn resumed(mission: &Mission, run: &str, arguments: &[&str], code: i32) -> Vec<Value> {
    let ran: Ran = mission.resume(run, arguments);
    assert_eq!(ran.code, code, "{}\n{:#?}", ran.err, mission.log(run));
    judged(mission, run)
}

/// The only decision of a log: what it says of the telecommands of its attempt.
fn said(log: &[Value]) -> Vec<&str> {
    let decisions = of(log, "decision_required");
    assert_eq!(decisions.len(), 1, "{log:#?}");
    let reason = decisions[0]["reason"].as_str().unwrap();
    assert_eq!(reason, "interrupted by a restart after a telecommand changing the on-board state");
    let all = decisions[0]["telecommands"].as_array().unwrap();
    all.iter().map(|one| one["known"].as_str().unwrap()).collect()
}

fn outcomes(log: &[Value]) -> Vec<&str> {
    of(log, "step_finished").into_iter().map(|it| it["outcome"].as_str().unwrap()).collect()
}

#[test]
fn killed_in_a_wait_it_waits_to_the_same_deadline() {
    let mission = mission("");
    let mut going = mission.start(&["run", "Waits", "--format", "json"]);
    let run = going.run();
    let before = going.event_of("step_finished");
    going.kill();
    let log = resumed(&mission, &run, &[], 0);
    assert_eq!(of(&log, "decision_required").len(), 0, "between steps nobody is asked");
    assert_eq!(of(&log, "taken_over").len(), 1);
    let elapsed = of(&log, "elapsed");
    assert_eq!(elapsed.len(), 1, "{log:#?}");
    assert_eq!(instant(&elapsed[0]["due"]).since(at(&before)), 1_500_000_000, "counted from its own beginning");
    assert_eq!(mission.record("probe-1").len(), 2);
}

#[test]
fn a_wait_that_elapsed_in_the_log_does_not_wait_again() {
    let mission = mission("");
    let run = crashed(&mission, "Waits", "append.after elapsed");
    let log = resumed(&mission, &run, &[], 0);
    assert_eq!(of(&log, "elapsed").len(), 1, "{log:#?}");
    let place = |kind: &str| log.iter().position(|event| event["type"] == kind).unwrap();
    assert!(place("elapsed") < place("taken_over"));
    let last = log.last().unwrap();
    assert!(at(last).since(at(&log[place("taken_over")])) < SECOND, "it goes on at once: {last}");
}

#[test]
fn a_wait_that_passed_meanwhile_is_over() {
    let mission = mission("");
    let run = crashed(&mission, "Waits", "append.after step_finished");
    let due = at(of(&mission.log(&run), "step_finished")[0]).after(1_500_000_000);
    wait_until(due.ns);
    let log = resumed(&mission, &run, &[], 0);
    let (elapsed, taken) = (of(&log, "elapsed")[0], of(&log, "taken_over")[0]);
    assert_eq!(instant(&elapsed["due"]), due, "its own deadline");
    assert!(at(elapsed).since(at(taken)) < SECOND, "over at once: {elapsed}");
}

/// Waits until the wall clock is past an instant of UTC.
fn wait_until(ns: i64) {
    loop {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
        if now > ns {
            return;
        }
        std::thread::sleep(std::time::Duration::from_nanos(u64::try_from(ns - now).unwrap_or(0) + 1));
    }
}

#[test]
fn killed_in_a_retry_interval_the_next_attempt_keeps_its_time() {
    let mission = mission("telemetry:\n  unit.ready: {profile: {steps: {values: [false, true], every: 1500ms}}}\n");
    let mut going = mission.start(&["run", "Tries again", "--format", "json"]);
    let run = going.run();
    let scheduled = going.event_of("attempt_scheduled");
    going.kill();
    let log = resumed(&mission, &run, &[], 0);
    let all = of(&log, "attempt_scheduled");
    assert_eq!((all.len(), all[0]), (1, &scheduled), "scheduled once");
    let second = of(&log, "step_started")[1];
    let late = at(second).since(instant(&scheduled["due"]));
    assert!((0..SECOND).contains(&late), "{late} ns after it was due");
    assert_eq!(outcomes(&log), ["failed", "passed"]);
    assert_eq!(failures(&log), ["CHECK_FAILED"]);
    assert_eq!(of(&log, "decision_required").len(), 0, "nothing changed the state");
    let sent = of(&log, "telecommand_sent");
    assert_eq!(sent[1]["retry_of"], sent[0]["id"]);
    assert_eq!(mission.record("probe-1").len(), 2);
}

#[test]
fn killed_with_a_question_open_it_asks_the_same() {
    let mission = mission("");
    let run = crashed(&mission, "Asks", "append.after question_asked");
    let ran = mission.resume(&run, &[]);
    assert_eq!(ran.code, 3, "it still asks: {}", ran.err);
    let log = resumed(&mission, &run, &["--answer", "go on?=yes"], 0);
    let asked = of(&log, "question_asked");
    assert_eq!(asked.len(), 1, "{log:#?}");
    assert_eq!(of(&log, "answered")[0]["question"], asked[0]["id"]);
    assert_eq!(of(&log, "decision_required").len(), 0);
    assert_eq!(of(&log, "taken_over").len(), 2);
    assert_eq!(mission.record("probe-1").len(), 1);
}

#[test]
fn an_answer_that_the_log_has_is_used_again() {
    let mission = mission("");
    let mut command = with_crash(&mission, &["run", "Asks early", "--format", "json"], "append.after answered");
    command.args(["--answer", "go on?=yes"]);
    assert_eq!(Going::start(command).end().0, -1);
    let run = stellar_tests::kept::runs(&mission).pop().unwrap();
    let log = resumed(&mission, &run, &[], 0);
    assert_eq!((of(&log, "question_asked").len(), of(&log, "answered").len()), (1, 1));
}

#[test]
fn a_question_behind_a_state_changing_telecommand_becomes_a_decision() {
    let mission = mission("");
    let run = crashed(&mission, "Asks late", "append.after question_asked");
    let log = resumed(&mission, &run, &["--decide", "Switch and ask=recheck", "--answer", "did it click?=yes"], 0);
    assert_eq!(said(&log), ["left"]);
    assert_eq!(of(&log, "question_asked").len(), 2, "`recheck` asks again: {log:#?}");
    assert_eq!(mission.record("probe-1").len(), 1, "and sends nothing");
    assert_eq!(of(&log, "noted")[0]["text"], "it clicked");
}

#[test]
fn killed_with_a_decision_open_it_stays_open_under_its_identifier() {
    let mission = mission("");
    let run = crashed(&mission, "Decides", "append.after decision_required");
    let ran = mission.resume(&run, &[]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let log = resumed(&mission, &run, &["--decide", "Switch=skip"], 0);
    let decisions = of(&log, "decision_required");
    assert_eq!(decisions.len(), 1, "none is added: {log:#?}");
    assert_eq!(decisions[0]["failure"]["code"], "CHECK_FAILED");
    assert_eq!(of(&log, "decided")[0]["decision"], decisions[0]["id"]);
    assert_eq!(mission.record("probe-1").len(), 1);
}

#[test]
fn a_recheck_that_was_interrupted_is_decided_again() {
    let mission = mission("telemetry:\n  unit.ready: {profile: {steps: {values: [false, true], every: 2s}}}\n");
    let mut command = with_crash(&mission, &["run", "Clicks", "--format", "json"], "append.after decided");
    command.args(["--decide", "Switch=recheck"]);
    assert_eq!(Going::start(command).end().0, -1);
    let run = stellar_tests::kept::runs(&mission).pop().unwrap();
    let log = resumed(&mission, &run, &["--decide", "Switch=recheck"], 0);
    let decisions = of(&log, "decision_required");
    assert_eq!(decisions.len(), 2, "{log:#?}");
    assert_eq!(decisions[0]["failure"]["code"], "EXPECT_FAILED");
    assert_eq!(decisions[1]["telecommands"][0]["known"], "left");
    assert_eq!(outcomes(&log), ["passed"]);
    assert_eq!(mission.record("probe-1").len(), 1, "nothing was sent again");
}

#[test]
fn a_read_only_telecommand_killed_before_the_link_goes_out_under_its_identifier() {
    for point in ["append.after telecommand_sent", "offer.before", "offer.after", "claim.before"] {
        let mission = mission("");
        let run = crashed(&mission, "Pings", point);
        assert_eq!(mission.record("probe-1").len(), 0, "{point}");
        let log = resumed(&mission, &run, &[], 0);
        let sent = of(&log, "telecommand_sent");
        assert_eq!(sent.len(), 1, "{point}: {log:#?}");
        assert_eq!(mission.record("probe-1")[0]["id"], sent[0]["id"], "{point}");
        assert_eq!(of(&log, "decision_required").len(), 0, "{point}");
        assert_eq!(outcomes(&log), ["passed"], "{point}");
    }
}

#[test]
fn a_telecommand_that_was_not_logged_did_not_happen() {
    for (procedure, decisions) in [("Pings", 0), ("Asks late", 0)] {
        let mission = mission("");
        let run = crashed(&mission, procedure, "append.before telecommand_sent");
        assert_eq!(of(&mission.log(&run), "telecommand_sent").len(), 0);
        let log = resumed(&mission, &run, &["--answer", "did it click?=yes"], 0);
        assert_eq!(of(&log, "telecommand_sent").len(), 1, "{log:#?}");
        assert_eq!(of(&log, "decision_required").len(), decisions);
        assert_eq!(mission.record("probe-1").len(), 1);
    }
}

/// A state-changing telecommand killed at a point; resumed, and the decision is `skip`. What is said, and what left. The
/// target reports nothing: a report that the next process receives would say that it left.
fn switch_killed_at(point: &str) -> (Vec<String>, usize, Vec<Value>) {
    let mission = mission("faults:\n  - {telecommand: unit.switch, unreported: true}\n");
    let run = crashed(&mission, "Decides", point);
    let log = resumed(&mission, &run, &["--decide", "Switch=skip"], 0);
    let said = said(&log).into_iter().map(ToOwned::to_owned).collect();
    (said, mission.record("probe-1").len(), log)
}

#[test]
fn a_state_changing_telecommand_killed_before_the_claim_never_left() {
    for point in ["append.after telecommand_sent", "offer.before", "offer.after", "claim.before"] {
        let (said, left, log) = switch_killed_at(point);
        assert_eq!((said, left), (vec!["never left".to_owned()], 0), "{point}");
        let options = &of(&log, "decision_required")[0]["options"];
        assert_eq!(options, &json!(["replay", "skip", "fail", "abort"]), "no recheck of what never left: {point}");
    }
}

#[test]
fn a_state_changing_telecommand_killed_between_claim_and_result_may_have_left() {
    for (point, left) in [("claim.after", 0), ("hand-over.before", 0), ("hand-over.after", 1), ("result.before", 1)] {
        let (said, found, log) = switch_killed_at(point);
        assert_eq!((said, found), (vec!["may have left".to_owned()], left), "{point}");
        let options = &of(&log, "decision_required")[0]["options"];
        assert_eq!(options, &json!(["replay", "skip", "fail", "abort", "recheck"]), "{point}");
    }
}

#[test]
fn a_state_changing_telecommand_killed_after_its_result_left() {
    let (said, left, _) = switch_killed_at("result.after");
    assert_eq!((said, left), (vec!["left".to_owned()], 1));
}

#[test]
fn decided_replay_after_an_interruption_sends_a_new_telecommand() {
    let mission = mission("telemetry: {unit.ready: true}\n");
    let run = crashed(&mission, "Clicks", "claim.before");
    let log = resumed(&mission, &run, &["--decide", "Switch=replay"], 0);
    let sent = of(&log, "telecommand_sent");
    assert_eq!(sent.len(), 2);
    assert_ne!(sent[0]["id"], sent[1]["id"]);
    assert_eq!(sent[1]["retry_of"], sent[0]["id"]);
    assert_eq!(outcomes(&log), ["interrupted", "passed"]);
    assert_eq!(mission.record("probe-1").len(), 1, "the first never left");
    assert_eq!(mission.record("probe-1")[0]["id"], sent[1]["id"]);
}

#[test]
fn a_read_only_telecommand_that_may_have_left_is_awaited_and_tried_again() {
    let mission = mission("");
    let run = crashed(&mission, "Pings", "claim.after");
    let log = resumed(&mission, &run, &[], 0);
    assert_eq!(outcomes(&log), ["failed", "passed"], "{log:#?}");
    assert_eq!(failures(&log), ["VERIFY_TIMEOUT"]);
    assert_eq!(mission.record("probe-1").len(), 1, "the first stays behind");
}

#[test]
fn a_read_only_telecommand_that_left_is_followed_to_its_end() {
    for point in ["hand-over.after", "result.before", "result.after"] {
        let mission = mission("");
        let run = crashed(&mission, "Pings", point);
        let log = resumed(&mission, &run, &[], 0);
        assert_eq!(of(&log, "decision_required").len(), 0, "{point}");
        let ids: Vec<&Value> = of(&log, "telecommand_sent").into_iter().map(|it| &it["id"]).collect();
        let left = mission.record("probe-1");
        assert_eq!(left[0]["id"], *ids[0], "{point}");
        assert_eq!(*outcomes(&log).last().unwrap(), "passed", "{point}");
    }
}

#[test]
fn killed_during_resume_and_once_more() {
    for point in ["append.before taken_over", "append.after taken_over", "append.before decision_required"] {
        let mission = mission("");
        let run = crashed(&mission, "Decides", "result.after");
        for _ in 0..2 {
            let command = with_crash(&mission, &["resume", &run, "--format", "json"], point);
            assert_eq!(Going::start(command).end().0, -1, "{point}");
        }
        let log = resumed(&mission, &run, &["--decide", "Switch=skip"], 0);
        assert_eq!(said(&log), ["left"], "{point}");
        let epochs: Vec<u64> = log.iter().map(|event| event["epoch"].as_u64().unwrap()).collect();
        assert!(epochs.is_sorted(), "{point}: {epochs:?}");
        assert_eq!(mission.record("probe-1").len(), 1, "{point}");
    }
}

#[test]
fn killed_during_resume_before_the_telecommand_goes_out_again() {
    for point in ["offer.before", "offer.after", "claim.before"] {
        let mission = mission("");
        let run = crashed(&mission, "Sends", "append.after telecommand_sent");
        let command = with_crash(&mission, &["resume", &run, "--format", "json"], point);
        assert_eq!(Going::start(command).end().0, -1, "{point}");
        let log = resumed(&mission, &run, &[], 0);
        assert_eq!(outcomes(&log), ["passed", "passed"], "{point}: {log:#?}");
        assert_eq!(of(&log, "telecommand_sent").len(), 2, "{point}");
        assert_eq!(mission.record("probe-1").len(), 2, "{point}");
    }
}

#[test]
fn killed_at_its_end_it_is_told_to_have_ended() {
    let mission = mission("");
    let run = crashed(&mission, "Pings", "append.after run_finished");
    let ran = mission.resume(&run, &[]);
    assert!(ran.err.contains("run::ended"), "{}", ran.err);
    let row = mission.json(&["show", &run, "--format", "json"], 0);
    assert_eq!((&row["state"], &row["outcome"]), (&json!("ended"), &json!("passed")), "{row:#}");
    let log = judged(&mission, &run);
    assert_eq!(of(&log, "run_finished").len(), 1);
    let again = mission.ran(&["run", "Pings", "--format", "json"]);
    assert_eq!(again.code, 0, "its lease is free: {}", again.err);
}

#[test]
fn killed_before_its_leases_it_takes_them_when_it_is_resumed() {
    for point in ["append.after run_started", "append.before leases", "append.after leases"] {
        let mission = mission("");
        let run = crashed(&mission, "Pings", point);
        let log = resumed(&mission, &run, &[], 0);
        assert_eq!(outcomes(&log), ["passed"], "{point}");
        assert!(of(&log, "leases").iter().all(|it| it["taken"] == json!(["probe-1"])), "{point}: {log:#?}");
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

#[test]
fn a_suspended_run_stays_suspended() {
    let mission = mission("telemetry:\n  unit.ready: {profile: {steps: {values: [false, true], every: 5s}}}\n");
    let mut going =
        Going::start(with_crash(&mission, &["run", "Waits long", "--format", "json"], "append.after suspended"));
    let run = going.run();
    going.event("the second step", |event| event["type"] == "step_started" && event["step"][1] != "First");
    let client = Client::of(&mission.path().join(".stellar"));
    // The process ends before it can answer.
    let told = block_on(client.post(&format!("/v1/runs/{run}/suspend"), None, &json!({"by": "os:test"})));
    assert!(told.is_err(), "{told:?}");
    assert_eq!(going.end().0, -1);
    let before = mission.log(&run);
    assert_eq!(before.last().unwrap()["type"], "suspended");

    // Another process takes up all that was left: it is suspended still, and does nothing.
    block_on(async {
        let taken = instance::open(&mission).await;
        let all = taken.take_up_all().await.unwrap();
        let (name, handle) = &all[0];
        assert_eq!((all.len(), &**name), (1, run.as_str()));
        let handle = handle.as_ref().unwrap();
        let view = serde_json::to_value(handle.view().await.unwrap()).unwrap();
        assert_eq!(view["state"], "suspended", "{view:#}");
        let record = taken.record(&run).await.unwrap().unwrap();
        assert_eq!(serde_json::to_value(record.state).unwrap(), "suspended");
        taken.close().await;
    });
    let after = mission.log(&run);
    let kinds: Vec<&Value> = after[before.len()..].iter().map(|event| &event["type"]).collect();
    assert_eq!(kinds, ["taken_over"], "{after:#?}");
    assert_eq!(mission.record("probe-1").len(), 1, "nothing was sent");

    let log = resumed(&mission, &run, &[], 0);
    assert_eq!(of(&log, "resumed").len(), 1);
    assert_eq!(of(&log, "decision_required").len(), 0);
    assert_eq!(mission.record("probe-1").len(), 2);
}

#[test]
fn killed_anywhere_between_two_appends_it_ends_the_same() {
    // Each append of an undisturbed run, before and after it.
    let undisturbed = mission("");
    let whole = undisturbed.ran(&["run", "Sends", "--format", "json"]);
    assert_eq!(whole.code, 0, "{}", whole.err);
    let mut points = 0;
    for side in ["before", "after"] {
        for number in 1..=whole.events.len() {
            let mission = mission("");
            let point = format!("append.{side}:{number}");
            let (code, _) = Going::start(with_crash(&mission, &["run", "Sends", "--format", "json"], &point)).end();
            if code == 0 {
                // The run makes fewer appends than events.
                break;
            }
            points += 1;
            let Some(run) = stellar_tests::kept::runs(&mission).pop() else { continue };
            let mut ran = mission.resume(&run, &["--decide", "Switch=skip"]);
            if ran.code == 1 && ran.err.contains("run::ended") {
                ran.code = 0;
            }
            assert_eq!(ran.code, 0, "{point}: {}", ran.err);
            let log = judged(&mission, &run);
            assert_eq!(log.last().unwrap()["outcome"], "passed", "{point}");
        }
    }
    assert!(points >= 10, "{points} points");
}
