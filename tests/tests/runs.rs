//! Runs from the command line: passing, asked, decided, refused, looked at while they go on.

#![cfg(test)]

use serde_json::{Value, json};
use stellar_runtime::{api::client::Client, executor::StartRequest, instance::ClockMode};
use stellar_tests::{
    instance,
    mission::{Going, Mission, Ran, at},
    proof, spec,
};

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");

const PROCEDURES: &str = r#"
procedure "Ask first"
  uses sat: platform-v3
  step "Go" retry 3 times every 2 s
    ask "go on?" within 1 min
    send ping to sat.tcu[2]

procedure "Choose"
  ask "which way?" of "left", "right" within 1 min as way
  note "went {way}"

procedure "Change"
  uses sat: platform-v3
  step "Bring to standby"
    send standby to sat.tcu[2]
  note "it is in standby"
  on failure
    note "cleaning up"

procedure "Long"
  uses sat: platform-v3
  wait until sat.tcu[2].responding is true within 10 min
"#;

const ANSWERING: &str = "
telecommands:
  tcu.ping: {sets: {responding: true}}
  tcu.standby: {sets: {mode: STANDBY}}
telemetry:
  tcu.mode: SAFE
";

fn mission(faults: &str) -> Mission {
    Mission::simulated(STELLAR, PROCEDURES, &format!("{ANSWERING}{faults}"))
}

/// Runs a procedure to a certain exit code; its log is proved.
fn run(mission: &Mission, procedure: &str, arguments: &[&str], code: i32) -> Ran {
    let ran = mission.run(procedure, arguments);
    assert_eq!(ran.code, code, "{}\n{:#?}", ran.err, ran.events);
    proof::of(mission, ran.id());
    ran
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

fn notes(ran: &Ran) -> Vec<&str> {
    ran.of("noted").iter().map(|note| note["text"].as_str().unwrap()).collect()
}

#[test]
fn a_run_passes_and_its_log_says_how() {
    let mission = mission("");
    let ran = run(&mission, "AOS acquisition", &["-t", "sat=sim-1", "-i", "tcu=2"], 0);
    let kinds = kinds(&ran.events);
    assert_eq!(kinds[..4], ["run_started", "leases", "step_started", "telecommand_sent"]);
    assert_eq!(kinds[kinds.len() - 3..], ["observed", "step_finished", "run_finished"]);
    let numbers: Vec<u64> = ran.events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=ran.events.len() as u64).collect::<Vec<_>>(), "no gap");
    let started = ran.one("run_started");
    assert_eq!((&started["virtual_clock"], &started["links"]["sim-1"]), (&json!(true), &json!("sim")));
    let sent = ran.one("telecommand_sent");
    for key in ["id", "target", "telecommand", "component", "args", "route", "step", "attempt"] {
        assert!(sent.get(key).is_some(), "{key} in {sent}");
    }
    assert_eq!(sent["step"], json!(["AOS acquisition", "TCU answers"]));
    assert_eq!(mission.record("sim-1").len(), 1);
    // The same events again from the store.
    assert_eq!(mission.log(ran.id()), ran.events);
}

#[test]
fn a_run_prints_plain_lines_where_no_terminal_is() {
    let said = mission("").stellar(&["run", "AOS acquisition", "-i", "tcu=2", "--clock", "virtual"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("TCU answers") && said.out.contains("passed"), "{}", said.out);
    assert!(!said.out.contains('\u{1b}') && !said.err.contains('\u{1b}'), "{}{}", said.out, said.err);
}

#[test]
fn questions_are_answered_beforehand() {
    let mission = mission("");
    run(&mission, "Ask first", &["--answer", "go on?=yes"], 0);
    let ran = run(&mission, "Choose", &["--answer", "which way?=right"], 0);
    assert_eq!(notes(&ran), ["went right"]);
    assert_eq!(ran.one("question_asked")["choices"], json!(["left", "right"]));
}

#[test]
fn a_refused_question_is_not_asked_again() {
    let mission = mission("");
    let ran = run(&mission, "Ask first", &["--answer", "go on?=no"], 1);
    assert_eq!(ran.failures(), ["ASK_REFUSED"]);
    assert_eq!(ran.of("question_asked").len(), 1);
    assert_eq!(mission.record("sim-1"), Vec::<Value>::new(), "nothing was sent");
}

#[test]
fn a_question_that_nobody_answers_leaves_the_run_as_it_is() {
    let mission = mission("");
    let ran = run(&mission, "Ask first", &[], 3);
    assert!(ran.err.contains(&format!("stellar resume {}", ran.id())), "how to go on: {}", ran.err);
    assert_eq!(ran.of("run_finished").len(), 0);
    let resumed = mission.resume(ran.id(), &["--answer", "go on?=yes"]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    let log = mission.log(ran.id());
    assert_eq!(log.iter().filter(|event| event["type"] == "question_asked").count(), 1, "the same question: {log:#?}");
    proof::of(&mission, ran.id());
}

/// `standby` is lost the first time, so that "Change" needs a decision.
fn decided(option: &str, faults: &str, code: i32) -> (Mission, Ran) {
    let mission = mission(faults);
    let ran = run(&mission, "Change", &["--decide", &format!("Bring to standby={option}")], code);
    assert_eq!(ran.one("decided")["option"], option);
    (mission, ran)
}

const LOST_ONCE: &str = "faults:\n  - {telecommand: tcu.standby, first: 1, lose: true}\n";

#[test]
fn decided_replay_is_a_new_attempt_with_new_identifiers() {
    let (mission, ran) = decided("replay", LOST_ONCE, 0);
    let sent = ran.of("telecommand_sent");
    assert_eq!((sent.len(), mission.record("sim-1").len()), (2, 2));
    assert_ne!(sent[0]["id"], sent[1]["id"]);
    assert_eq!(sent[1]["retry_of"], sent[0]["id"]);
    assert_eq!((&sent[0]["attempt"], &sent[1]["attempt"]), (&json!(1), &json!(2)));
    let outcomes: Vec<&Value> = ran.of("step_finished").into_iter().map(|it| &it["outcome"]).collect();
    assert_eq!(outcomes, ["failed", "passed"]);
    assert_eq!(notes(&ran), ["it is in standby"]);
}

#[test]
fn decided_skip_counts_as_passed() {
    let (mission, ran) = decided("skip", LOST_ONCE, 0);
    assert_eq!(ran.one("step_finished")["outcome"], "skipped");
    assert_eq!(notes(&ran), ["it is in standby"]);
    assert_eq!(mission.record("sim-1").len(), 1);
}

#[test]
fn decided_fail_runs_on_failure() {
    let (_, ran) = decided("fail", LOST_ONCE, 1);
    assert_eq!(ran.one("step_finished")["outcome"], "failed");
    assert_eq!(notes(&ran), ["cleaning up"]);
    assert_eq!(ran.one("run_finished")["failure"]["code"], "VERIFY_TIMEOUT");
}

#[test]
fn decided_abort_runs_nothing_more() {
    let (mission, ran) = decided("abort", LOST_ONCE, 1);
    assert_eq!(ran.of("step_finished").len(), 0, "an abort writes only the end of the run");
    assert_eq!(notes(&ran), Vec::<&str>::new());
    assert_eq!(ran.one("run_finished")["outcome"], "aborted");
    assert_eq!(mission.record("sim-1").len(), 1);
}

#[test]
fn decided_recheck_judges_again_without_sending() {
    let late = "faults:\n  - {telecommand: tcu.standby, delay: 12s}\n";
    let (mission, ran) = decided("recheck", late, 0);
    assert_eq!((ran.of("telecommand_sent").len(), mission.record("sim-1").len()), (1, 1));
    assert_eq!(ran.one("step_finished")["outcome"], "passed");
    assert_eq!(notes(&ran), ["it is in standby"]);
}

#[test]
fn a_decision_that_nobody_takes_leaves_the_run_as_it_is() {
    let mission = mission(LOST_ONCE);
    let ran = run(&mission, "Change", &[], 3);
    assert!(ran.err.contains("--decide"), "how to go on: {}", ran.err);
    let again = mission.resume(ran.id(), &[]);
    assert_eq!(again.code, 3, "it still waits: {}", again.err);
    let resumed = mission.resume(ran.id(), &["--decide", "Change / Bring to standby=skip"]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    assert_eq!(mission.log(ran.id()).iter().filter(|it| it["type"] == "decision_required").count(), 1, "none is added");
    proof::of(&mission, ran.id());
}

#[test]
fn a_decision_that_is_not_offered_is_declined() {
    let refused = "faults:\n  - {telecommand: tcu.standby, fail: {code: \"3 (invalid)\"}}\n";
    let mission = mission(refused);
    let ran = run(&mission, "Change", &["--decide", "Bring to standby=recheck"], 3);
    assert!(ran.err.contains("declined"), "{}", ran.err);
    let log = mission.log(ran.id());
    let kinds = kinds(&log);
    assert!(kinds.contains(&"declined") && !kinds.contains(&"decided"), "{kinds:?}");
    let resumed = mission.resume(ran.id(), &["--decide", "Bring to standby=abort"]);
    assert_eq!(resumed.code, 1, "{}", resumed.err);
    proof::of(&mission, ran.id());
}

#[test]
fn the_link_cut_for_3_s_in_an_acquisition_is_retried() {
    let mission = mission("faults:\n  - {link: down, until: 3s}\n");
    let ran = run(&mission, "AOS acquisition", &["-i", "tcu=2"], 0);
    assert_eq!(ran.failures(), ["SEND_FAILED"]);
    let sent = ran.of("telecommand_sent");
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[1]["retry_of"], sent[0]["id"]);
    assert_eq!(at(sent[1]).since(at(sent[0])), 5_000_000_000, "the interval of the policy");
    let left = mission.record("sim-1");
    assert_eq!(left.len(), 1, "what the link refused did not leave: {left:#?}");
    assert_eq!(left[0]["id"], sent[1]["id"]);
}

#[test]
fn a_failed_verification_is_not_retried() {
    let mission = mission("faults:\n  - {telecommand: tcu.ping, fail: {stage: started, code: \"4 (not allowed)\"}}\n");
    let ran = run(&mission, "AOS acquisition", &["-i", "tcu=2"], 1);
    assert_eq!(ran.failures(), ["VERIFY_FAILED"]);
    assert_eq!(ran.of("step_started").len(), 1);
    let failure = &ran.one("run_finished")["failure"];
    assert!(failure["message"].as_str().unwrap().contains("4 (not allowed)"), "{failure}");
    assert_eq!(failure["telecommand"], ran.one("telecommand_sent")["id"]);
}

#[test]
fn a_wrong_start_is_a_wrong_call_and_no_run() {
    let mission = mission("");
    mission.write(
        "stellar.yaml",
        "procedures: [procedures/]\ntargets:\n  sim-1: {platform: platform-v3, link: {sim: {behaviours: sim.yaml}}}\n  \
         obc-1: {platform: pus-c, link: {sim: {}}}\n  bare-1: {platform: platform-v3}\n",
    );
    let cases: [(&[&str], &str); 10] = [
        (&["AOS acquisition", "-t", "sat=sim-9", "-i", "tcu=2"], "sim-9"),
        (&["AOS acquisition", "-t", "sat=obc-1", "-i", "tcu=2"], "pus-c"),
        (&["AOS acquisition", "-t", "sad=sim-1", "-i", "tcu=2"], "sad"),
        (&["AOS acquisition", "-i", "tcu=2"], "bare-1"),
        (&["AOS acquisition", "-t", "sat=bare-1", "-i", "tcu=2"], "`bare-1` has no link"),
        (&["AOS acquisition", "-t", "sat=sim-1", "-i", "tcu=5"], "tcu"),
        (&["AOS acquisition", "-t", "sat=sim-1", "-i", "tcu=two"], "`two`"),
        (&["AOS acquisition", "-t", "sat=sim-1", "-i", "tcv=2"], "tcu"),
        (&["AOS acquisition", "-t", "sat=sim-1"], "tcu"),
        (&["AOS acquisitoin", "-t", "sat=sim-1", "-i", "tcu=2"], "AOS acquisition"),
    ];
    for (arguments, named) in cases {
        let said = mission.stellar(&[&["run", "--clock", "virtual"], arguments].concat());
        assert_eq!(said.code, 2, "{arguments:?}: {}{}", said.out, said.err);
        assert!(said.err.contains(named), "{arguments:?}: {}", said.err);
    }
    let said = mission.stellar(&["run", "TCU answers", "-t", "sat=sim-1", "-i", "tcu=2"]);
    assert_eq!(said.code, 2, "`run` starts procedures only: {}", said.err);
    assert_eq!(mission.json(&["runs", "--format", "json"], 0)["runs"], json!([]));
}

#[test]
fn every_time_is_in_the_configured_scale() {
    for (scale, suffix, ahead) in [("tai", " TAI", 37), ("gps", " GPS", 18)] {
        let mission = mission("");
        let configuration = mission.read("stellar.yaml");
        mission.write("stellar.yaml", format!("time: {{scale: {scale}}}\n{configuration}"));
        let ran = run(&mission, "AOS acquisition", &["-i", "tcu=2"], 0);
        let mut times = 0;
        for event in &ran.events {
            each_time(event, &mut |time| {
                assert!(time.ends_with(suffix), "{time} in {event}");
                times += 1;
            });
        }
        assert!(times > ran.events.len(), "other times than those of the events are there too");
        assert_eq!(ran.one("run_started")["scale"], scale);
        let shown = mission.json(&["show", ran.id(), "--format", "json"], 0);
        each_time(&shown, &mut |time| assert!(time.ends_with(suffix), "{time} in {shown:#}"));
        for line in mission.record("sim-1") {
            each_time(&line, &mut |time| assert!(time.ends_with(suffix), "{time} in {line}"));
        }
        let utc = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
        let off = at(ran.one("run_started")).ns - utc;
        let off = (off as f64 / 1e9).round() as i64;
        assert!((ahead - 60..=ahead).contains(&off), "{scale} is ahead of UTC by {ahead} s: {off}");
    }
}

/// Every text in a value that looks like an instant.
fn each_time(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) if text.len() > 20 && text.as_bytes()[4] == b'-' && text.as_bytes()[10] == b'T' => {
            found(text)
        }
        Value::Array(items) => items.iter().for_each(|item| each_time(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| each_time(field, found)),
        _ => {}
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

#[test]
fn a_going_run_is_looked_at_from_beside() {
    let mission = mission("");
    let mut going = mission.start(&["run", "Long", "--format", "json"]);
    let run = going.run();
    going.event_of("step_started");
    let listed = mission.json(&["runs", "--format", "json"], 0);
    assert_eq!(listed["schema"], 1);
    let row = &listed["runs"][0];
    assert_eq!(
        (&row["run"], &row["state"], &row["under_way"]),
        (&json!(run), &json!("running"), &json!(true)),
        "{row:#}"
    );
    let shown = mission.json(&["show", "last", "--format", "json"], 0);
    assert_eq!(shown["view"]["procedure"], "Long", "{shown:#}");
    assert!(shown["view"]["strands"][0]["statement"].as_str().unwrap().starts_with("wait until"), "{shown:#}");
    assert!(mission.done(&["show", &run]).contains("wait until"));
    let log = mission.log(&run[..run.len() - 2]);
    assert_eq!(log[0], going.seen()[0], "the beginning of an identifier is enough");
    assert!(mission.done(&["replay", &run]).contains("the replay holds"));
    let second = mission.stellar(&["run", "Long"]);
    assert_eq!(second.code, 1, "one process has the store: {}{}", second.out, second.err);
    assert!(second.err.contains("store::in-use"), "{}", second.err);

    let mut follower = mission.start(&["log", &run, "--follow", "--format", "json"]);
    follower.event_of("step_started");
    abort(&mission, &run);
    let (code, followed) = follower.end();
    assert_eq!(code, 0);
    let (code, events) = going.end();
    assert_eq!(code, 1, "an aborted run failed");
    assert_eq!(followed, events, "who follows sees every event once, in order");
    let last = events.last().unwrap();
    assert_eq!((&last["type"], &last["outcome"]), (&json!("run_finished"), &json!("aborted")));
    let again = mission.done(&["log", &run, "--follow", "--format", "json"]);
    assert_eq!(stellar_tests::mission::events(&again), events, "a run that ended shows its end");
    proof::of(&mission, &run);
}

fn abort(mission: &Mission, run: &str) {
    let client = Client::of(&mission.path().join(".stellar"));
    let path = format!("/v1/runs/{run}/abort");
    let (status, told) = block_on(client.post(&path, Some("once"), &json!({"by": "os:test"}))).unwrap();
    assert_eq!((status, &told["event"]["type"]), (200, &json!("abort_requested")), "{told:#}");
}

#[test]
fn an_interrupt_from_the_keyboard_suspends_and_resume_goes_on() {
    let mission = mission("faults:\n  - {telemetry: tcu.responding, value: true, from: 2s}\n");
    let mut going = mission.start(&["run", "Long", "--format", "json"]);
    let run = going.run();
    going.event_of("step_started");
    let pid = going.pid().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let (code, events) = going.end();
    assert_eq!(code, 3, "{events:#?}");
    assert_eq!(events.last().unwrap()["type"], "suspended");
    let row = mission.json(&["show", &run, "--format", "json"], 0);
    assert_eq!((&row["state"], &row["view"]["state"]), (&json!("suspended"), &json!("suspended")), "{row:#}");
    let resumed = mission.resume(&run, &[]);
    assert_eq!(resumed.code, 0, "{}\n{:#?}", resumed.err, resumed.events);
    let log = mission.log(&run);
    let kinds = kinds(&log);
    let place = |kind: &str| kinds.iter().position(|it| *it == kind).unwrap();
    assert!(place("suspended") < place("taken_over") && place("taken_over") < place("resumed"), "{kinds:?}");
    proof::of(&mission, &run);
}

#[test]
fn an_interrupt_suspends_a_run_that_was_taken_over_too() {
    let mission = mission("");
    let mut going = mission.start(&["run", "Long", "--format", "json"]);
    let run = going.run();
    going.event_of("step_started");
    going.kill();
    let mut resumed = mission.start(&["resume", &run, "--format", "json"]);
    resumed.event_of("taken_over");
    assert!(std::process::Command::new("kill").args(["-INT", &resumed.pid().to_string()]).status().unwrap().success());
    let (code, events) = resumed.end();
    assert_eq!(code, 3, "{events:#?}");
    assert_eq!(events.last().unwrap()["type"], "suspended");
    proof::of(&mission, &run);
}

#[test]
fn suspended_from_beside_it_leaves_the_target_to_others() {
    let mission = mission("");
    let mut going = mission.start(&["run", "Long", "--format", "json"]);
    let id = going.run();
    going.event_of("step_started");
    let client = Client::of(&mission.path().join(".stellar"));
    let path = format!("/v1/runs/{id}/suspend");
    // The process may be gone before it has answered: the log says what came of it.
    let _ = block_on(client.post(&path, None, &json!({"by": "os:test"})));
    let (code, events) = going.end();
    assert_eq!(code, 3, "{events:#?}");
    let suspended = events.last().unwrap();
    assert_eq!((&suspended["type"], &suspended["by"]), (&json!("suspended"), &json!("os:test")));
    let other = run(&mission, "Change", &[], 0);
    assert_eq!(other.one("leases")["taken"], json!(["sim-1"]));
    assert_eq!(mission.log(&id).len(), events.len(), "nothing more happened to it");
    proof::of(&mission, &id);
}

#[test]
fn resumed_from_beside_it_is_followed_and_answered() {
    let mission = mission("");
    let artifact = instance::artifact(&mission, &[]);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let instance = instance::with_targets(&mission, &[("sim-1", "platform-v3")], ClockMode::Real).await;
        let served = instance.serve().unwrap();
        let request = StartRequest {
            artifact,
            procedure: "Ask first".to_owned(),
            targets: [("sat".into(), "sim-1".into())].into(),
            inputs: [].into(),
            by: "os:test".to_owned(),
        };
        let run = instance.start(request).await.unwrap();
        let mut events = run.events(1);
        let mut asked = false;
        while !asked {
            asked = events.next().await.unwrap().expect("it asks").text.contains("question_asked");
        }
        let resume = |arguments: &[&str], code| {
            let ran = tokio::task::block_in_place(|| mission.resume(run.id(), arguments));
            assert_eq!(ran.code, code, "{}\n{:#?}", ran.err, ran.events);
            ran
        };
        let waiting = resume(&[], 3);
        assert!(waiting.err.contains("--answer \"go on?=yes\""), "how to go on: {}", waiting.err);
        assert_eq!(waiting.events, Vec::<Value>::new(), "nothing happened meanwhile");
        let declined = resume(&["--answer", "go on?=perhaps"], 3);
        assert!(declined.err.contains("declined"), "{}", declined.err);
        run.suspend("os:test", None).await.unwrap();
        let resumed = resume(&["--answer", "go on?=yes"], 0);
        let kinds = kinds(&resumed.events);
        assert_eq!(kinds[..2], ["resumed", "leases"], "{kinds:?}");
        assert_eq!((kinds.contains(&"answered"), kinds.last()), (true, Some(&"run_finished")), "{kinds:?}");
        drop(served);
        instance.close().await;
    });
    // Connections of the service may hold the store a little longer.
    drop(runtime);
    proof::all(&mission);
}

#[test]
fn a_halted_run_is_shown_with_what_is_wrong() {
    let mission = mission("");
    let left = run(&mission, "Ask first", &[], 3);
    stellar_tests::kept::spoil(&mission, left.id(), "{\"hello\":1}");
    let said = mission.stellar(&["show", left.id()]);
    assert_eq!(said.code, 1, "nobody has halted it yet: {}", said.out);
    let refused = mission.resume(left.id(), &[]);
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert!(refused.err.contains("run::log-garbage"), "{}", refused.err);
    let shown = mission.json(&["show", left.id(), "--format", "json"], 0);
    assert_eq!((&shown["schema"], &shown["state"]), (&json!(1), &json!("halted")), "{shown:#}");
    assert!(shown["reason"].as_str().unwrap().contains("is no event"), "{shown:#}");
    assert_eq!(shown.get("view"), None, "its log has no state");
    let text = mission.done(&["show", left.id()]);
    assert!(text.contains("halted") && text.contains("is no event"), "{text}");
    assert!(mission.done(&["runs"]).contains("halted"));
}

#[test]
fn an_operator_beside_is_told_what_does_not_fit() {
    let mission = mission("");
    let mut going = mission.start(&["run", "Long", "--format", "json"]);
    let run = going.run();
    going.event_of("step_started");
    let client = Client::of(&mission.path().join(".stellar"));
    let answer = json!({"by": "os:test", "question": "01K6A3D3Y4Q8K1P9W2N6R5T7XZ", "value": "yes"});
    let refused = block_on(client.post(&format!("/v1/runs/{run}/answer"), None, &answer)).unwrap_err();
    assert_eq!(refused.code(), "run::not-pending", "{refused}");
    going.event_of("declined");
    abort(&mission, &run);
    let ended = block_on(client.post(&format!("/v1/runs/{run}/suspend"), None, &json!({"by": "os:test"})));
    assert!(ended.is_err(), "it has ended, or its process is gone: {ended:?}");
    assert_eq!(going.end().0, 1);
    proof::of(&mission, &run);
}

#[test]
fn a_scenario_with_an_unknown_key_is_told_with_its_place() {
    let mission = mission("telemetry_is_never_here: 0\n");
    let said = mission.stellar(&["run", "Long"]);
    assert_ne!(said.code, 0);
    assert!(said.err.contains("sim.yaml:") && said.err.contains("telemetry_is_never_here"), "{}", said.err);
    assert_eq!(mission.json(&["runs", "--format", "json"], 0)["runs"], json!([]));
}

#[test]
fn a_run_of_an_artifact_needs_no_sources() {
    let mission = mission("");
    mission.done(&["compile", "-o", "pass.stc"]);
    mission.write("procedures/test.proc", "procedure \"Broken\"\n  nonsense\n");
    let mut command =
        mission.command(&["run", "Ask first", "--artifact", "pass.stc", "--clock", "virtual", "--format", "json"]);
    command.args(["--answer", "go on?=yes"]);
    let (code, events) = Going::start(command).end();
    assert_eq!(code, 0, "{events:#?}");
    proof::all(&mission);
}

#[test]
fn a_start_whose_catalogue_differs_from_the_artifact_is_refused() {
    let mission = mission("");
    mission.write("procedures/test.proc", spec::PROCEDURES);
    mission.done(&["compile", "-o", "pass.stc"]);
    let catalogue =
        stellar_stdlib_procs::CATALOGUES.iter().find(|file| file.path.contains("platform-v3")).unwrap().text;
    let changed = catalogue.replace("verify: {within: 5s}", "verify: {within: 6s}");
    assert_ne!(catalogue, changed);
    let configuration = mission.read("stellar.yaml");
    mission.write("catalogue/platform-v3.yaml", changed);
    mission.write("stellar.yaml", format!("catalogue: [catalogue/]\n{configuration}"));
    let said =
        mission.stellar(&["run", "AOS acquisition", "-i", "tcu=2", "--artifact", "pass.stc", "--clock", "virtual"]);
    assert_ne!(said.code, 0);
    assert!(said.err.contains("artifact::catalogue-mismatch") && said.err.contains("ping"), "{}", said.err);
    // Another entry may differ.
    mission.write("catalogue/platform-v3.yaml", catalogue.replace("range: 0..20", "range: 0..30"));
    let said =
        mission.stellar(&["run", "AOS acquisition", "-i", "tcu=2", "--artifact", "pass.stc", "--clock", "virtual"]);
    assert_eq!(said.code, 0, "{}", said.err);
}
