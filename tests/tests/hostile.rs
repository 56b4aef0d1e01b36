//! What surrounds a mission and is not as it should be: files that are none, outputs that are gone, stores that were
//! emptied, owners that stand still, interrupts at odd times.

#![cfg(test)]

use std::{fs, process::Command};

use serde_json::Value;
use stellar_tests::mission::{Going, Mission, events, finish};

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");

const PROCEDURES: &str = r#"
procedure "Long"
  uses sat: platform-v3
  step "Ping"
    send ping to sat.tcu[1]
    wait 60 s
"#;

fn mission() -> Mission {
    Mission::simulated(STELLAR, PROCEDURES, "{}")
}

fn signal(pid: u32, name: &str) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

/// The run goes on in its step.
fn in_the_step(mission: &Mission, arguments: &[&str]) -> (Going, String) {
    let mut going = mission.start(arguments);
    let run = going.event("a run", |event| event["type"] == "run_started" || event["type"] == "taken_over");
    let run = run["run"].as_str().map(str::to_owned);
    going.event("the lease", |event| event["type"] == "leases");
    (going, run.unwrap_or_default())
}

#[test]
fn an_interrupt_after_a_takeover_ends_the_process() {
    let mission = mission();
    let (mut going, run) = in_the_step(&mission, &["run", "Long", "--format", "json"]);
    going.kill();
    let (going, _) = in_the_step(&mission, &["resume", &run, "--format", "json"]);
    signal(going.pid(), "-INT");
    let (code, seen) = going.end();
    assert_eq!(code, 3);
    assert_eq!(seen.last().unwrap()["type"], "suspended");
}

#[test]
fn a_run_resumed_again_and_again_is_followed_each_time() {
    let mission = mission();
    let (going, run) = in_the_step(&mission, &["run", "Long", "--format", "json"]);
    signal(going.pid(), "-INT");
    assert_eq!(going.end().0, 3);
    for _ in 0..3 {
        let mut going = mission.start(&["resume", &run, "--format", "json"]);
        going.event_of("resumed");
        going.event_of("step_started");
        signal(going.pid(), "-INT");
        let (code, seen) = going.end();
        assert_eq!((code, &seen.last().unwrap()["type"]), (3, &Value::from("suspended")));
        let shown = mission.json(&["show", &run, "--format", "json"], 0);
        assert_eq!(shown["state"], "suspended", "{shown}");
    }
    assert!(mission.done(&["replay", &run]).contains("the replay holds"));
}

#[test]
fn an_owner_that_stands_still_is_told_and_not_waited_for() {
    let mission = mission();
    let (going, run) = in_the_step(&mission, &["run", "Long", "--format", "json"]);
    signal(going.pid(), "-STOP");
    for arguments in [&["runs"][..], &["resume", &run]] {
        let said = mission.stellar(arguments);
        assert_eq!(said.code, 1, "{arguments:?}");
        assert!(said.err.contains("api::silent"), "{arguments:?}: {}", said.err);
    }
    signal(going.pid(), "-CONT");
    assert!(mission.done(&["runs"]).contains(&run));
}

#[test]
fn a_store_that_was_emptied_is_no_new_store() {
    let mission = mission();
    let (mut going, run) = in_the_step(&mission, &["run", "Long", "--format", "json"]);
    going.kill();
    let store = mission.path().join(".stellar/store.redb");
    let kept = fs::read(&store).unwrap();
    for left in [Some(&[][..]), None] {
        match left {
            Some(bytes) => fs::write(&store, bytes).unwrap(),
            None => fs::remove_file(&store).unwrap(),
        }
        for arguments in [&["runs"][..], &["run", "Long"]] {
            let said = mission.stellar(arguments);
            assert!(said.code == 1 && said.err.contains("store::damaged"), "{arguments:?} {}: {}", said.code, said.err);
        }
    }
    fs::write(&store, kept).unwrap();
    assert!(mission.done(&["runs"]).contains(&run));
}

#[test]
fn outputs_that_take_nothing_change_no_exit_code() {
    let mission = mission();
    for (line, code) in [
        ("stellar run Nope 2>/dev/full", 2),
        ("stellar check no-such.proc 2>/dev/full", 2),
        ("stellar compile -o out.stc 2>/dev/full", 0),
        ("stellar check >/dev/full", 1),
        ("stellar check >/dev/full 2>/dev/full", 1),
    ] {
        let mut command = Command::new("bash");
        command.arg("-c").arg(line.replace("stellar ", &format!("'{STELLAR}' "))).current_dir(mission.path());
        command.env_remove("STELLAR_CONFIG");
        let said = finish(command, &[line]);
        assert_eq!(said.code, code, "{line}: {}", said.err);
    }
}

#[test]
fn a_pipe_or_a_device_is_no_text_of_the_mission() {
    let mission = mission();
    for (name, made) in [("procedures/f.proc", "mkfifo"), ("procedures/z.proc", "ln -s /dev/zero")] {
        let made = format!("{made} {name}");
        assert!(Command::new("sh").arg("-c").arg(&made).current_dir(mission.path()).status().unwrap().success());
        let said = mission.stellar(&["check"]);
        assert_eq!(said.code, 1, "{}", said.err);
        assert!(said.err.contains("neither a file nor a folder") && said.err.contains(name), "{}", said.err);
        let said = mission.stellar(&["check", name]);
        assert_eq!(said.code, 2, "{}", said.err);
        fs::remove_file(mission.path().join(name)).unwrap();
    }
}

#[test]
fn what_the_configuration_cannot_say_is_no_second_finding() {
    for (line, code) in [
        ("catalogue: 5", "config::bad-value"),
        ("catalogue: [nowhere/]", "config::no-such-path"),
        ("procedures: 5", "config::bad-value"),
        ("procedures: [nowhere/]", "config::no-such-path"),
    ] {
        let mission = Mission::empty(STELLAR);
        mission.write("stellar.yaml", format!("{line}\ntargets: {{a: {{platform: mine, link: {{sim: {{}}}}}}}}\n"));
        if line.starts_with("procedures") {
            mission.write("stellar.yaml", format!("{line}\n"));
        }
        mission.write("named.proc", "procedure \"P\"\n  uses sat: mine\n  do \"Elsewhere\" with sat\n");
        let said = mission.json(&["check", "named.proc", "--format", "json"], 1);
        let mut codes: Vec<&str> =
            said["diagnostics"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect();
        // What is wrong for another reason stays: a platform is missing where the catalogue was read, and likewise.
        let other = if line.starts_with("catalogue") { "name::unknown-step" } else { "name::unknown-platform" };
        codes.retain(|found| *found != other);
        assert_eq!(codes, [code], "{line}: {said:#}");
    }
}

#[test]
fn a_duration_that_the_language_cannot_write_is_no_input() {
    let mission = Mission::empty(STELLAR);
    mission.write("stellar.yaml", "procedures: [procedures/]\n");
    mission.write("procedures/test.proc", "procedure \"P\"\n  input d: duration\n  note \"{d}\"\n");
    let run = |input: &str| mission.stellar(&["run", "P", "-i", input, "--clock", "virtual", "--format", "json"]);
    assert_eq!(run("d=365 d").code, 0);
    let said = run("d=366 d");
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("366 d"), "{}", said.err);
    assert_eq!(events(&said.out).len(), 0);
}

#[test]
fn virtual_time_costs_nothing_of_targets_that_are_not_used() {
    let mission = Mission::empty(STELLAR);
    mission
        .write("stellar.yaml", "procedures: [procedures/]\ntargets:\n  a: {platform: platform-v3, link: {sim: {}}}\n");
    mission.write("procedures/test.proc", "procedure \"Year\"\n  wait 365 d\n");
    // Sample by sample a year would take hours, and the harness calls it a hang.
    let ran = mission.run("Year", &[]);
    assert_eq!((ran.code, ran.lasted()), (0, 365 * 86_400 * 1_000_000_000));
}
