//! The situations in which the binary prints: runs that pass, fail, ask, are decided, suspended, killed, refused, looked
//! at while they go on; texts with and without findings; logs that hold and that do not.

use std::{fs, net::UdpSocket, process::Command};

use serde_json::{Value, json};
use stellar_runtime::{api::client::Client, clock::virtual_runtime, executor::StartRequest, instance::ClockMode};
use stellar_tests::{
    everything, instance, kept,
    mission::{Going, Mission, Ran, of},
    spec,
};

use crate::seen::Seen;

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");

/// One situation.
type Situation = fn(&mut Seen);

/// All of them, by name.
pub(crate) const ALL: [(&str, Situation); 18] = [
    ("passed", passed),
    ("everything, with notes, calls, together, a transfer", everything_at_once),
    ("failed in every way", failed),
    ("asked", asked),
    ("decided", decided),
    ("declined", declined),
    ("suspended from the keyboard and resumed", suspended),
    ("suspended with a telecommand whose result is lost", suspended_in_doubt),
    ("aborted, and looked at from beside", aborted),
    ("killed and taken over", taken_over),
    ("killed where a telecommand is on its way", killed_at_points),
    ("refused the lease", refused),
    ("in other scales of time", scales),
    ("samples of all kinds", samples),
    ("a target reached by packets", packets),
    ("texts checked", checked),
    ("logs that do not hold", diverged),
    ("halted", halted),
];

const PROCEDURES: &str = r#"
procedure "Ask"
  uses sat: platform-v3
  step "Go"
    ask "go on?" within 1 min
    send ping to sat.tcu[2]

procedure "Choose"
  ask "which way?" of "left", "right" within 1 min as way
  note "went {way}"

procedure "Change"
  uses sat: platform-v3
  step "To standby"
    send standby to sat.tcu[2]
  on failure
    note "cleaning up"

procedure "Ping"
  uses sat: platform-v3
  step "Ping" retry 1 time
    send ping to sat.tcu[2]

procedure "Long"
  uses sat: platform-v3
  wait until sat.tcu[2].responding is true within 10 min

procedure "Later"
  uses sat: platform-v3
  wait 10 s
  step "To standby"
    send standby to sat.tcu[2]
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

/// Runs a procedure to a certain exit code; all that can be printed of it is taken in.
fn run(seen: &mut Seen, mission: &Mission, procedure: &str, arguments: &[&str], code: i32) -> Ran {
    let ran = seen.ran(mission.run(procedure, arguments), code);
    seen.run(mission, ran.id());
    ran
}

/// Resumes a run to a certain exit code; likewise.
fn resume(seen: &mut Seen, mission: &Mission, run: &str, arguments: &[&str], code: i32) {
    seen.ran(mission.resume(run, arguments), code);
    seen.run(mission, run);
}

fn passed(seen: &mut Seen) {
    let mission = mission("faults:\n  - {link: down, until: 3s}\n");
    let empty = mission.json(&["runs", "--format", "json"], 0);
    assert_eq!(empty["runs"], json!([]));
    seen.take("runs", empty);
    let ran = run(seen, &mission, "AOS acquisition", &["-i", "tcu=2"], 0);
    let sent = ran.of("telecommand_sent");
    assert_eq!(sent[1]["retry_of"], sent[0]["id"]);
    run(seen, &mission, "Choose", &["--answer", "which way?=left"], 0);
    run(seen, &self::mission(""), "Ping", &[], 0);
}

fn everything_at_once(seen: &mut Seen) {
    let (mission, ran) = everything::run(STELLAR);
    let ran = seen.ran(ran, 1);
    seen.run(&mission, ran.id());
}

/// A step that fails, with its code and the scenario that makes it fail.
const FAILING: [(&str, &str, &str); 11] = [
    ("EXPECT_FAILED", "expect sat.tcu[2].responding is true within 2 s", ""),
    ("CHECK_FAILED", "check sat.tcu[2].temperature > 100 degC", ""),
    ("WAIT_FAILED", "wait until sat.tcu[2].responding is true within 2 s", ""),
    (
        "READ_FAILED",
        "let t = sat.tcu[2].temperature\n    note \"{t}\"",
        "faults: [{telemetry: tcu.temperature, silent: true}]",
    ),
    (
        "REJECTED",
        "ask \"sure?\" within 1 min\n    send set_heater with power = 5 W to sat.tcu[2]",
        "telemetry: {tcu.mode: SAFE}",
    ),
    ("SEND_FAILED", "send ping to sat.tcu[2]", "faults: [{link: down}]"),
    (
        "VERIFY_FAILED",
        "send ping to sat.tcu[2]",
        "faults: [{telecommand: tcu.ping, fail: {stage: started, code: 4 (busy)}}]",
    ),
    ("VERIFY_TIMEOUT", "send ping to sat.tcu[2]", "faults: [{telecommand: tcu.ping, lose: true}]"),
    ("ASK_REFUSED", "ask \"go on?\" within 1 min", ""),
    ("TRANSFER_NOT_CREATED", "transfer \"table.bin\" to sat.tcu[2] within 1 min", ""),
    ("FAILED", "fail \"no\"", ""),
];

fn failed(seen: &mut Seen) {
    for (code, statements, scenario) in FAILING {
        let procedures =
            format!("procedure \"Fails\"\n  uses sat: platform-v3\n  step \"It\" retry 0 times\n    {statements}\n");
        // What changes the on-board state takes no policy, and an operator decides that it fails.
        let decided = statements.contains("set_heater") || statements.contains("transfer");
        let procedures = if decided { procedures.replace(" retry 0 times", "") } else { procedures };
        let mission = Mission::simulated(STELLAR, &procedures, scenario);
        let mut arguments = vec!["--answer", "sure?=yes", "--answer", "go on?=no"];
        arguments.extend(decided.then_some(["--decide", "It=fail"]).into_iter().flatten());
        let ran = run(seen, &mission, "Fails", &arguments, 1);
        assert_eq!(ran.failures(), [code], "{:#?}", ran.events);
    }
}

fn asked(seen: &mut Seen) {
    let mission = mission("");
    run(seen, &mission, "Ask", &["--answer", "go on?=yes"], 0);
    let left = run(seen, &mission, "Ask", &[], 3);
    resume(seen, &mission, left.id(), &["--answer", "go on?=yes"], 0);
    // Nobody answers until it is too late.
    in_process(seen, &mission, &["Ask"]);
}

/// Starts procedures in this process, in virtual time and with no operator, each as soon as the one before it has its
/// leases; when they have ended, all that can be printed of them is taken in. Gives the runs.
fn in_process(seen: &mut Seen, mission: &Mission, procedures: &[&str]) -> Vec<String> {
    let artifact = instance::artifact(mission, &[]);
    let runs = virtual_runtime().unwrap().block_on(async {
        let targets = [("sim-1", "platform-v3")];
        let instance = instance::with_targets(mission, &targets, ClockMode::Virtual(None)).await;
        let mut runs = Vec::new();
        for procedure in procedures {
            let request = StartRequest {
                artifact: artifact.clone(),
                procedure: (*procedure).to_owned(),
                targets: [("sat".into(), "sim-1".into())].into(),
                inputs: [].into(),
                by: "os:test".to_owned(),
            };
            let run = instance.start(request).await.unwrap();
            run.events(2).next().await.unwrap().expect("it is told about its leases");
            runs.push(run);
        }
        for run in &runs {
            run.ended().await.expect("it ends");
        }
        let ids: Vec<String> = runs.iter().map(|run| run.id().to_string()).collect();
        instance.close().await;
        ids
    });
    runs.iter().for_each(|run| seen.run(mission, run));
    runs
}

fn refused(seen: &mut Seen) {
    let mission = mission("");
    let runs = in_process(seen, &mission, &["Later", "Change"]);
    let log = mission.log(&runs[1]);
    assert_eq!(of(&log, "leases")[0]["refused"]["holders"], json!([runs[0]]));
}

const LOST_ONCE: &str = "faults:\n  - {telecommand: tcu.standby, first: 1, lose: true}\n";

fn decided(seen: &mut Seen) {
    let late = "faults:\n  - {telecommand: tcu.standby, delay: 12s}\n";
    let cases = [
        ("replay", LOST_ONCE, 0),
        ("skip", LOST_ONCE, 0),
        ("fail", LOST_ONCE, 1),
        ("abort", LOST_ONCE, 1),
        ("recheck", late, 0),
    ];
    for (option, faults, code) in cases {
        let ran = run(seen, &mission(faults), "Change", &["--decide", &format!("To standby={option}")], code);
        assert_eq!(ran.one("decided")["option"], option);
    }
}

fn declined(seen: &mut Seen) {
    let mission = mission("faults:\n  - {telecommand: tcu.standby, fail: {code: 3 (invalid)}}\n");
    let ran = run(seen, &mission, "Change", &["--decide", "To standby=recheck"], 3);
    assert_eq!(of(&mission.log(ran.id()), "declined").len(), 1);
    resume(seen, &mission, ran.id(), &["--decide", "To standby=abort"], 1);
}

fn interrupt(going: &Going) {
    assert!(Command::new("kill").args(["-INT", &going.pid().to_string()]).status().unwrap().success());
}

/// The rest of what a process prints, to its end.
fn end(seen: &mut Seen, going: Going, code: i32) -> Vec<Value> {
    let (found, events) = going.end();
    assert_eq!(found, code, "{events:#?}");
    events.iter().for_each(|event| seen.take("event", event.clone()));
    events
}

fn suspended(seen: &mut Seen) {
    let mission = mission("faults:\n  - {telecommand: tcu.standby, unreported: true, first: 1}\n");
    let mut going = mission.start(&["run", "Change", "--format", "json"]);
    let run = going.run();
    going.event_of("telecommand_sent");
    interrupt(&going);
    let events = end(seen, going, 3);
    assert_eq!(events.last().unwrap()["type"], "suspended");
    seen.run(&mission, &run);
    resume(seen, &mission, &run, &["--decide", "To standby=skip"], 0);
    let log = mission.log(&run);
    assert!(!of(&log, "decision_required")[0]["telecommands"].as_array().unwrap().is_empty(), "{log:#?}");
}

fn suspended_in_doubt(seen: &mut Seen) {
    let mission = mission("");
    let run = crashed(seen, &mission, "Ping", "claim.after");
    let mut going = mission.start(&["resume", &run, "--format", "json"]);
    going.event_of("taken_over");
    interrupt(&going);
    end(seen, going, 3);
    seen.run(&mission, &run);
    resume(seen, &mission, &run, &[], 0);
    let log = mission.log(&run);
    assert_eq!(of(&log, "resumed")[0]["known"][0]["known"], "may have left", "{log:#?}");
    assert_eq!(of(&log, "step_finished")[0]["outcome"], "interrupted");
}

fn aborted(seen: &mut Seen) {
    let mission = mission("");
    let mut going = mission.start(&["run", "Long", "--format", "json"]);
    let run = going.run();
    going.event_of("step_started");
    let shown = mission.json(&["show", "last", "--format", "json"], 0);
    assert_eq!(shown["under_way"], true, "{shown:#}");
    seen.take("show", shown);
    seen.take("runs", mission.json(&["runs", "--format", "json"], 0));
    seen.take("replay", mission.json(&["replay", "last", "--format", "json"], 0));
    let mut follower = mission.start(&["log", &run, "--follow", "--format", "json"]);
    follower.event_of("step_started");
    let client = Client::of(&mission.path().join(".stellar"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // The process may be gone before it has answered.
    let _ = runtime.block_on(client.post(&format!("/v1/runs/{run}/abort"), None, &json!({"by": "os:test"})));
    let events = end(seen, going, 1);
    assert_eq!(events.last().unwrap()["outcome"], "aborted");
    end(seen, follower, 0);
    seen.run(&mission, &run);
}

fn taken_over(seen: &mut Seen) {
    let mission = mission("");
    let mut going = mission.start(&["run", "Long", "--format", "json"]);
    let run = going.run();
    going.event_of("step_started");
    going.kill();
    seen.run(&mission, &run);
    let shown = mission.json(&["show", &run, "--format", "json"], 0);
    assert_eq!((&shown["state"], &shown["under_way"]), (&json!("running"), &json!(false)));
    mission.write("sim.yaml", "telemetry: {tcu.responding: true}\n");
    resume(seen, &mission, &run, &[], 0);
    assert_eq!(of(&mission.log(&run), "taken_over").len(), 1);
}

/// Runs a procedure in real time to a crash point, at which the process kills itself.
fn crashed(seen: &mut Seen, mission: &Mission, procedure: &str, point: &str) -> String {
    let mut command = mission.command(&["run", procedure, "--format", "json"]);
    command.env("STELLAR_CRASH_POINT", point);
    let events = end(seen, Going::start(command), -1);
    let run = of(&events, "run_started")[0]["run"].as_str().unwrap().to_owned();
    seen.run(mission, &run);
    run
}

fn killed_at_points(seen: &mut Seen) {
    let unreported = "faults:\n  - {telecommand: tcu.standby, unreported: true, first: 1}\n";
    let points = [
        ("append.after telecommand_sent", "", "never left"),
        ("claim.after", "", "may have left"),
        // Without a report, that tells the next process of it.
        ("result.after", unreported, "left"),
    ];
    for (point, faults, known) in points {
        let mission = mission(faults);
        let run = crashed(seen, &mission, "Change", point);
        resume(seen, &mission, &run, &["--decide", "To standby=replay"], 0);
        let log = mission.log(&run);
        let decision = of(&log, "decision_required")[0];
        assert_eq!(decision["telecommands"][0]["known"], known, "{point}: {log:#?}");
        assert_eq!(of(&log, "step_finished")[0]["outcome"], "interrupted");
    }
}

fn scales(seen: &mut Seen) {
    for scale in ["tai", "gps"] {
        let mission = mission("");
        let configuration = mission.read("stellar.yaml");
        mission.write("stellar.yaml", format!("time: {{scale: {scale}}}\n{configuration}"));
        let ran = run(seen, &mission, "AOS acquisition", &["-i", "tcu=1"], 0);
        assert_eq!(ran.one("run_started")["scale"], scale);
    }
}

const PROBE: &str = r#"
platform: probe
routes: {direct: {default: true}}
components:
  unit:
    telemetry:
      mode: {enum: [OFF, ON]}
      level: {type: float, unit: V, valid_when: "mode is ON"}
      current: {type: float, unit: A}
      label: {type: string}
      count: {type: int}
      ready: {type: bool}
"#;

const PROBING: &str = r#"
procedure "Look"
  uses sat: probe
  input long: duration = 1500 ms
  input when: time = 2026-10-02T10:15:00Z
  input name: string = "x"
  input wanted: bool = true
  wait 2 s
  step "Numbers" retry 0 times
    check sat.unit.count > 100 or sat.unit.current > 3 A or sat.unit.level > 1 V or sat.unit.ready is wanted or sat.unit.label is name
  note "{long} {when}"
"#;

fn samples(seen: &mut Seen) {
    let mission = Mission::simulated(STELLAR, PROBING, "faults: [{telemetry: unit.current, nan: true}]\n");
    mission.write("catalogue/probe.yaml", PROBE);
    mission.write(
        "stellar.yaml",
        "catalogue: [catalogue/]\nprocedures: [procedures/]\ntargets:\n  sim-1: {platform: probe, link: {sim: {behaviours: sim.yaml}}}\n",
    );
    let ran = run(seen, &mission, "Look", &[], 1);
    let observed = ran.of("observed");
    let samples = observed[0]["samples"].as_array().unwrap();
    assert_eq!(samples.len(), 5, "{samples:#?}");
    assert!(samples.iter().any(|sample| sample["valid"] == false), "{samples:#?}");
    assert!(samples.iter().any(|sample| sample["value"] == "NaN"), "{samples:#?}");
}

const SPACE_PACKETS: &str = "
platform: obc
routes: {direct: {default: true}}
ccsds: {source_id: 0, ack: [acceptance, completion], time: 7, failure_code: 2, checksum: true, correlation: request-id}
components:
  pus:
    telecommands:
      name:
        changes_state: false
        args: {name: {type: string}}
        verify: {within: 1s}
        ccsds: {apid: 2, service: 8, subtype: 1, fields: [{arg: name, bytes: 4, encoding: text}]}
";

fn packets(seen: &mut Seen) {
    let mission = Mission::empty(STELLAR);
    // Whoever takes the packets says nothing.
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let target = silent.local_addr().unwrap();
    mission.write("catalogue/obc.yaml", SPACE_PACKETS);
    mission.write(
        "procedures/name.proc",
        "procedure \"Name it\"\n  uses sat: obc\n  input name: string\n  step \"Name\" retry 0 times\n    send name with name = name to sat.pus\n",
    );
    mission.write(
        "stellar.yaml",
        format!(
            "catalogue: [catalogue/]\nprocedures: [procedures/]\n\
             targets:\n  obc-1: {{platform: obc, link: {{ccsds: {{udp: {{target: \"{target}\"}}}}}}}}\n"
        ),
    );
    for (name, failure) in [("ab", "VERIFY_TIMEOUT"), ("too long", "ENCODE_FAILED")] {
        let given = format!("name={name}");
        let ran = seen.ran(mission.ran(&["run", "Name it", "-i", &given, "--format", "json"]), 1);
        assert_eq!(ran.failures(), [failure], "{:#?}", ran.events);
        assert_eq!(ran.one("run_started")["links"], json!({"obc-1": "ccsds"}));
        seen.run(&mission, ran.id());
    }
}

fn check(seen: &mut Seen, mission: &Mission, arguments: &[&str], code: i32) -> Value {
    let checked = mission.json(&[&["check", "--format", "json"], arguments].concat(), code);
    seen.take("check", checked.clone());
    checked
}

fn checked(seen: &mut Seen) {
    let mission = Mission::empty(STELLAR);
    mission.done(&["init", "."]);
    let clean = check(seen, &mission, &[], 0);
    assert_eq!(clean["diagnostics"], json!([]));
    // Policies of the step, of the call, and the default.
    mission.write("spec.proc", spec::PROCEDURES);
    check(seen, &mission, &["spec.proc"], 0);
    for (step, call) in [("", ""), (" retry 2 times", ""), ("", " retry for 5 s"), (" retry 0 times", "")] {
        mission.write("spec.proc", spec::with_policies(step, call));
        check(seen, &mission, &["spec.proc"], 0);
    }
    mission.write("spec.proc", spec::STANDBY);
    let refused = check(seen, &mission, &["spec.proc"], 1);
    assert_eq!(refused["diagnostics"][0]["severity"], "error");
    // Many errors of several files.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/diagnostics/fifty");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let plain: String = text.split('⟦').map(|part| part.split_once('⟧').map_or(part, |(_, rest)| rest)).collect();
        mission.write(&format!("many/{name}"), plain);
    }
    let many = check(seen, &mission, &["many"], 1);
    assert!(many["diagnostics"].as_array().unwrap().len() > 20, "{many:#}");
    mission.write("spec.proc", b"procedure \"P\"\n  note \"\xff\"\n");
    check(seen, &mission, &["spec.proc"], 1);
    mission.write("spec.proc", spec::PROCEDURES);
    let configuration = mission.read("stellar.yaml");
    mission.write("stellar.yaml", configuration.replace("catalogue:", "catalouge:"));
    let unknown = check(seen, &mission, &["spec.proc"], 1);
    assert_eq!(unknown["diagnostics"][0]["code"], "config::unknown-key");
    // A wrong call, and a run of what does not compile, print nothing here.
    assert_eq!(mission.stellar(&["check", "--format", "json", "no-such.proc"]).out, "");
    mission.write("stellar.yaml", configuration);
    mission.write("procedures/broken.proc", spec::STANDBY);
    let said = mission.stellar(&["run", "First pass", "--clock", "virtual", "--format", "json"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{}", said.err);
}

/// What spoils a log.
type Spoil = fn(&mut Vec<Value>);

/// Edits of a log that make it none of the run, with what is said of it.
const SPOILT: [(&str, Spoil); 6] = [
    ("run::replay-diverged", |events| events[2]["attempt"] = json!(9)),
    ("run::log-garbage", |events| events[2] = json!({"hello": 1})),
    ("run::log-gap", |events| drop(events.remove(2))),
    ("run::log-repeated", |events| events.insert(2, events[1].clone())),
    ("run::log-time-back", |events| events[3]["at"] = json!("2020-01-01T00:00:00.000000000Z")),
    ("run::log-after-end", |events| {
        let mut more = events.last().unwrap().clone();
        more["seq"] = json!(events.len() + 1);
        events.push(more);
    }),
];

fn diverged(seen: &mut Seen) {
    let mission = mission("");
    let ran = run(seen, &mission, "Ping", &[], 0);
    for (code, spoil) in SPOILT {
        let mut events = ran.events.clone();
        spoil(&mut events);
        let text: String = events.iter().map(|event| format!("{event}\n")).collect();
        mission.write("log.jsonl", text);
        let said = mission.json(&["replay", "log.jsonl", "--format", "json"], 1);
        assert_eq!(said["code"], code, "{said:#}");
        seen.take("replay", said);
    }
}

fn halted(seen: &mut Seen) {
    let mission = mission("");
    let left = seen.ran(mission.run("Ask", &[]), 3);
    kept::spoil(&mission, left.id(), "{\"hello\":1}");
    assert_eq!(mission.resume(left.id(), &[]).code, 1);
    let shown = mission.json(&["show", left.id(), "--format", "json"], 0);
    assert_eq!((&shown["state"], shown.get("view")), (&json!("halted"), None));
    seen.take("show", shown);
    seen.take("runs", mission.json(&["runs", "--format", "json"], 0));
    seen.take("replay", mission.json(&["replay", left.id(), "--format", "json"], 1));
}
