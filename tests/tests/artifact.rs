//! Artifacts: the same bytes from everywhere, and not one byte or claim of them can be edited.

#![cfg(test)]

use std::collections::BTreeSet;

use serde_json::{Value, json};
use stellar_tests::{
    mission::{Mission, finish},
    spec,
};
use stellar_vm::{
    artifact,
    program::{Claims, Kind, Program},
    verify,
};

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");

/// What every kind of claim stands in: units, inline steps and calls, with and without retries, eligible and not.
const PASS: &str = r#"
step "Heat" 
  uses sat: platform-v3
  input tcu: tcu_id
  ask "heat?" within 1 min
  send set_heater with power = 5 W to sat.tcu[tcu]
  expect sat.tcu[tcu].temperature > 21 degC within 30 s

procedure "Pass"
  uses sat: platform-v3
  input tcu: tcu_id
  run "AOS acquisition" with sat, tcu retry 1 time
  do "TCU answers" with sat, tcu
  do "Heat" with sat, tcu
  step "Look" retry 2 times every 1 s
    check sat.tcu[tcu].temperature < 60 degC
  check sat.tcu[tcu].mode is not SAFE
  step "Silence"
    send silence to sat.radio
  on failure
    wait 2 s
"#;

fn mission() -> Mission {
    let mission = Mission::empty(STELLAR);
    mission.write("stellar.yaml", "procedures: [procedures/]\n");
    mission.write("procedures/pass.proc", PASS).write("procedures/spec.proc", spec::PROCEDURES);
    mission
}

/// The bytes that `stellar compile` writes with these arguments, called in a folder of the mission.
fn compiled(mission: &Mission, folder: &str, arguments: &[&str]) -> Vec<u8> {
    let to = mission.path().join("out.stc");
    let mut command = mission.command(&["compile", "-o"]);
    command.arg(&to).args(arguments).current_dir(mission.path().join(folder));
    let said = finish(command, arguments);
    assert_eq!(said.code, 0, "{}", said.err);
    std::fs::read(&to).unwrap()
}

fn program(mission: &Mission) -> Program {
    artifact::decode(&compiled(mission, "", &[])).unwrap()
}

#[test]
fn the_same_sources_give_the_same_bytes_from_everywhere() {
    let (one, other) = (mission(), mission());
    assert_ne!(one.path(), other.path());
    let bytes = compiled(&one, "", &[]);
    assert_eq!(compiled(&other, "", &[]), bytes, "at another path");
    assert_eq!(compiled(&other, "procedures", &[]), bytes, "in another working folder");
    let (pass, spec) = ("procedures/pass.proc", "procedures/spec.proc");
    let named = compiled(&one, "", &[pass, spec]);
    assert_eq!(named, bytes, "named one by one");
    assert_eq!(compiled(&other, "", &[spec, pass]), bytes, "in another order");
    assert_eq!(
        compiled(&other, "procedures", &["spec.proc", "./pass.proc", "../procedures/pass.proc"]),
        bytes,
        "named twice"
    );
    for file in [pass, spec] {
        let text = other.read(file).replace('\n', "\r\n");
        other.write(file, text);
    }
    assert_eq!(compiled(&other, "", &[]), bytes, "with CRLF");
    other.write(pass, format!("\u{feff}{}", other.read(pass)));
    assert_eq!(compiled(&other, "", &[]), bytes, "with a byte order mark");
    other.write(pass, PASS.replace("1 min", "2 min"));
    assert_ne!(compiled(&other, "", &[]), bytes, "another bound is another artifact");
}

#[test]
fn without_a_configuration_the_bytes_do_not_depend_on_the_working_folder() {
    let (one, other) = (Mission::empty(STELLAR), Mission::empty(STELLAR));
    one.write("a/pass.proc", PASS).write("a/b/spec.proc", spec::PROCEDURES);
    other.write("deep/er/a/pass.proc", PASS).write("deep/er/a/b/spec.proc", spec::PROCEDURES);
    let bytes = compiled(&one, "", &["a/pass.proc", "a/b/spec.proc"]);
    assert_eq!(compiled(&one, "a/b", &["spec.proc", "../pass.proc"]), bytes);
    assert_eq!(compiled(&other, "deep", &["er/a/b/spec.proc", "er/a/pass.proc"]), bytes);
    assert!(!String::from_utf8_lossy(&bytes).contains("deep"));
}

#[test]
fn nothing_in_an_artifact_tells_of_the_machine() {
    let mission = mission();
    let bytes = compiled(&mission, "", &[]);
    let text = String::from_utf8_lossy(&bytes);
    let here = mission.path().to_string_lossy().into_owned();
    for private in [here.as_str(), env!("CARGO_MANIFEST_DIR"), "/home/", "/tmp/"] {
        assert!(!text.contains(private), "{private} stands in the artifact");
    }
    let files = program(&mission).files;
    assert!(files.iter().all(|file| !file.starts_with('/') && !file.contains('\\')), "{files:?}");
}

/// Why an artifact is refused, as its loader does it; panics where it is not.
fn refusal(bytes: &[u8]) -> &'static str {
    match artifact::decode(bytes) {
        Err(error) => error.code(),
        Ok(program) => verify::verify(program).expect_err("it must be refused").code(),
    }
}

#[test]
fn any_byte_flipped_is_refused() {
    let mission = mission();
    let bytes = compiled(&mission, "", &[]);
    let mut codes = BTreeSet::new();
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        codes.insert(refusal(&flipped));
    }
    assert!(codes.contains("artifact::bad-magic") && codes.contains("artifact::bad-hash"), "{codes:?}");
    for length in [0, 1, 4, bytes.len() / 2, bytes.len() - 1] {
        assert!(refusal(&bytes[..length]).starts_with("artifact::"), "cut to {length}");
    }
    assert!(refusal(&[&bytes[..], &[0]].concat()).starts_with("artifact::"), "a byte more");
    for at in [0, 5, 20, bytes.len() / 2, bytes.len() - 1] {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        mission.write("flipped.stc", &flipped);
        let code = refusal(&flipped);
        for arguments in [&["disasm", "flipped.stc"][..], &["run", "Pass", "-i", "tcu=2", "--artifact", "flipped.stc"]]
        {
            let said = mission.stellar(arguments);
            assert_eq!(said.code, 1, "{arguments:?}: {}{}", said.out, said.err);
            assert!(said.err.contains(code), "{arguments:?}: {}", said.err);
        }
    }
}

/// One way to lie, with the code that it is refused with.
type Lie = (&'static str, fn(&mut Claims), &'static str);

const LIES: [Lie; 12] = [
    ("attempt raised", |it| it.attempt += 1, "artifact::bound-mismatch"),
    ("attempt lowered", |it| it.attempt -= 1, "artifact::bound-mismatch"),
    ("on failure raised", |it| it.on_failure += 1, "artifact::bound-mismatch"),
    ("on failure lowered", |it| it.on_failure -= 1, "artifact::bound-mismatch"),
    ("bound raised", |it| it.max += 1_000_000_000, "artifact::bound-mismatch"),
    ("bound lowered", |it| it.max -= 1, "artifact::bound-mismatch"),
    ("bound gone", |it| it.max = i64::MIN, "artifact::bound-mismatch"),
    ("attempts raised", |it| it.attempts_max += 1, "artifact::attempts-mismatch"),
    ("attempts lowered", |it| it.attempts_max -= 1, "artifact::attempts-mismatch"),
    ("statements raised", |it| it.statements += 1, "artifact::statements-mismatch"),
    ("statements lowered", |it| it.statements -= 1, "artifact::statements-mismatch"),
    ("eligibility", |it| it.eligible = !it.eligible, "artifact::eligibility-mismatch"),
];

/// A place of a program that claims something.
type Place = (String, Box<dyn Fn(&mut Program) -> &mut Claims>);

/// Every place of a program that claims something: its name, and how to get at it.
fn places(program: &Program) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for (u, unit) in program.units.iter().enumerate() {
        places.push((format!("\"{}\"", unit.name), Box::new(move |program| &mut program.units[u].claims)));
        for (s, step) in unit.steps.iter().enumerate() {
            let name = format!("\"{}\" in \"{}\"", step.name, unit.name);
            places.push((name, Box::new(move |program| &mut program.units[u].steps[s].claims)));
        }
        for c in 0..unit.calls.len() {
            let name = format!("call {c} in \"{}\"", unit.name);
            places.push((name, Box::new(move |program| &mut program.units[u].calls[c].claims)));
        }
    }
    places
}

#[test]
fn each_claim_edited_with_the_hash_repaired_is_refused_with_its_code() {
    let mission = mission();
    let honest = program(&mission);
    verify::verify(honest.clone()).unwrap();
    let places = places(&honest);
    let inline = honest.units.iter().flat_map(|unit| &unit.steps);
    assert!(inline.clone().any(|step| step.written) && inline.clone().any(|step| !step.written), "both kinds of steps");
    assert!(places.len() >= 12, "units, steps and calls: {}", places.len());
    for (number, (name, at)) in places.iter().enumerate() {
        for (lie, edit, code) in LIES {
            let mut lying = honest.clone();
            edit(at(&mut lying));
            let bytes = artifact::encode(&lying).unwrap();
            let refused = verify::verify(artifact::decode(&bytes).unwrap()).expect_err(name);
            assert_eq!(refused.code(), code, "{name}: {lie}: {refused}");
            if number % 4 == 0 && lie.ends_with("raised") {
                mission.write("lying.stc", &bytes);
                let said = mission.stellar(&["run", "Pass", "-i", "tcu=2", "--artifact", "lying.stc"]);
                assert_eq!(said.code, 1, "{name}: {lie}: {}{}", said.out, said.err);
                assert!(said.err.contains(code), "{name}: {lie}: {}", said.err);
            }
        }
    }
}

#[test]
fn what_the_policy_on_a_header_says_cannot_be_edited_either() {
    let honest = program(&mission());
    let at = honest.units.iter().position(|unit| unit.policy.is_some()).unwrap();
    let mut endless = honest.clone();
    endless.units[at].policy.as_mut().unwrap().times = None;
    assert!(verify::verify(endless).is_err(), "a policy without a limit");
    let mut more = honest.clone();
    *more.units[at].policy.as_mut().unwrap().times.as_mut().unwrap() += 1;
    assert!(
        ["artifact::bound-mismatch", "artifact::attempts-mismatch"].contains(&verify::verify(more).unwrap_err().code())
    );
    let mut innocent = honest;
    let standby = innocent.telecommands.iter_mut().find(|it| it.changes_state).unwrap();
    standby.changes_state = false;
    // What is then eligible has the default policy, too.
    let code = verify::verify(innocent).unwrap_err().code();
    assert!(["artifact::eligibility-mismatch", "artifact::bound-mismatch"].contains(&code), "{code}");
}

#[test]
fn the_artifact_has_the_figures_that_check_prints() {
    let mission = mission();
    let checked = mission.json(&["check", "--format", "json"], 0);
    let program = program(&mission);
    let definitions = checked["definitions"].as_array().unwrap();
    assert_eq!(definitions.len(), 4);
    let figures = |claims: &Claims| {
        json!({"eligible": claims.eligible, "attempt_ns": claims.attempt, "on_failure_ns": claims.on_failure,
               "max_ns": claims.max, "attempts_max": claims.attempts_max, "statements": claims.statements})
    };
    for definition in definitions {
        let kind = if definition["kind"] == "step" { Kind::Step } else { Kind::Procedure };
        let unit = program.units.iter().find(|unit| unit.kind == kind && definition["name"] == *unit.name).unwrap();
        for (key, value) in figures(&unit.claims).as_object().unwrap() {
            assert_eq!(&definition[key], value, "{key} of {}", definition["name"]);
        }
        let calls: Vec<Value> = unit
            .calls
            .iter()
            .map(|call| json!([*program.units[call.unit as usize].name, call.claims.max, call.claims.attempts_max]))
            .collect();
        let printed = definition["calls"].as_array().unwrap();
        let printed: Vec<Value> =
            printed.iter().map(|call| json!([call["name"], call["max_ns"], call["attempts_max"]])).collect();
        for call in &calls {
            assert!(printed.contains(call), "{call} of {} in {printed:?}", definition["name"]);
        }
    }
}

#[test]
fn disasm_prints_an_artifact_beside_its_source() {
    let mission = mission();
    mission.done(&["compile", "-o", "pass.stc"]);
    let text = mission.done(&["disasm", "pass.stc"]);
    for wanted in
        ["AOS acquisition", "TCU answers", "procedures/spec.proc", "send ping to sat.tcu[tcu] via direct", "set_heater"]
    {
        assert!(text.contains(wanted), "{wanted} in\n{text}");
    }
    let said = mission.stellar(&["disasm", "procedures/pass.proc"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("artifact::bad-magic"), "{}", said.err);
    assert_eq!(mission.stellar(&["disasm", "no-such.stc"]).code, 2);
}
