//! Whole programs: what is promised of a compilation, beside what single fixtures show.
#![expect(clippy::unwrap_used, clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use stellar_compiler::{
    diagnostics::Diagnostic,
    format,
    pipeline::{Came, Checked, Input, Unread},
};
use stellar_vm::{compare, verify};
use support::{S, check, file, findings, input, shown, told};

const STEP: &str = r#"step "TCU answers" retry 3 times every 2 s
  uses sat: platform-v3
  input tcu: tcu_id
  send ping to sat.tcu[tcu] via direct
  expect sat.tcu[tcu].responding is true within 5 s
"#;

const PROCEDURE: &str = r#"procedure "AOS acquisition"
  uses sat: platform-v3
  input tcu: tcu_id

  do "TCU answers" with sat, tcu retry every 5 s for 3 min
"#;

fn bytes(input: &Input) -> Vec<u8> {
    let checked = Checked::new(input);
    let lowered = checked.lower().unwrap_or_else(|| panic!("{}", shown(&checked)));
    lowered.encode().unwrap().into_bytes()
}

#[test]
fn the_figures_of_the_specification() {
    let checked = Checked::new(&input(&[("a.proc", STEP), ("b.proc", PROCEDURE)]));
    assert_eq!(shown(&checked), "");
    let definitions = format::definitions(&checked);
    let [step, procedure] = definitions.as_slice() else { panic!("two definitions") };
    assert_eq!((step.attempt_ns, step.max_ns, step.attempts_max), (10 * S, 40 * S, 4));
    assert!(step.eligible && !step.changes_state);
    assert_eq!((procedure.attempt_ns, procedure.max_ns, procedure.attempts_max), (180 * S, 180 * S, 1));
    assert_eq!((procedure.calls[0].max_ns, procedure.calls[0].attempts_max), (180 * S, 35));
}

#[test]
fn the_definitions_are_those_of_the_files_that_were_named() {
    let mut input = input(&[("b.proc", PROCEDURE)]);
    input.files.push(file("a.proc", STEP, Came::Project));
    let checked = Checked::new(&input);
    let names: Vec<String> = format::definitions(&checked).into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["AOS acquisition"]);
    insta::assert_snapshot!(serde_json::to_string_pretty(&format::definitions(&checked)).unwrap());
}

#[test]
fn a_program_is_the_same_bytes_whatever_the_order_and_the_ends_of_lines() {
    let plain = bytes(&input(&[("procedures/a.proc", STEP), ("procedures/b.proc", PROCEDURE)]));
    assert_eq!(plain, bytes(&input(&[("procedures/b.proc", PROCEDURE), ("procedures/a.proc", STEP)])));
    let (step, procedure) = (STEP.replace('\n', "\r\n"), PROCEDURE.replace('\n', "\r\n"));
    assert_eq!(plain, bytes(&input(&[("procedures/a.proc", &step), ("procedures/b.proc", &procedure)])));
    let marked = format!("\u{feff}{STEP}");
    assert_eq!(plain, bytes(&input(&[("procedures\\a.proc", &marked), ("./procedures/b.proc", PROCEDURE)])));
}

#[test]
fn a_file_named_and_found_is_one_file() {
    let mut input = input(&[("procedures/a.proc", STEP)]);
    input.files.push(file("./procedures/a.proc", STEP, Came::Project));
    input.files.insert(0, file("procedures/a.proc", STEP, Came::Project));
    let checked = Checked::new(&input);
    assert_eq!(shown(&checked), "");
    assert_eq!(format::definitions(&checked).len(), 1);
}

#[test]
fn the_projects_own_definition_wins_for_standard_callers_too() {
    let own = STEP.replace("retry 3 times every 2 s", "retry 1 time");
    let mut input = input(&[
        ("a.proc", &own),
        ("b.proc", "procedure \"Mine\"\n  uses sat: platform-v3\n  run \"AOS acquisition\" with sat, 2\n"),
    ]);
    input.files.push(file("acquisition.proc", &format!("{STEP}\n{PROCEDURE}"), Came::Standard));
    input.files.push(file("other.proc", "step \"Other\"\n  uses x: no-such-platform\n  wait 1 s\n", Came::Standard));
    let checked = Checked::new(&input);
    assert_eq!(shown(&checked), "", "what nothing reaches is not looked at");
    let program = checked.lower().unwrap();
    let files: Vec<&str> = program.program().files.iter().map(|file| &**file).collect();
    assert_eq!(files, ["a.proc", "b.proc", "std/acquisition.proc"]);
    let step = program.program().units.iter().find(|unit| &*unit.name == "TCU answers").unwrap();
    assert_eq!(step.claims.attempts_max, 2);
}

#[test]
fn a_standard_definition_is_in_the_program_where_it_is_wanted() {
    let mut input = Input { files: Vec::new(), ..input(&[]) };
    input.files.push(file("acquisition.proc", &format!("{STEP}\n{PROCEDURE}"), Came::Standard));
    assert!(Checked::new(&input).lower().unwrap().program().units.is_empty());
    input.entries.push("AOS acquisition".into());
    assert_eq!(Checked::new(&input).lower().unwrap().program().units.len(), 2);
}

#[test]
fn what_is_compiled_agrees_with_its_catalogue() {
    let checked = Checked::new(&input(&[("a.proc", STEP), ("b.proc", PROCEDURE)]));
    let program = checked.lower().unwrap();
    let catalogue = checked.catalogue().compiled();
    assert_eq!(compare::check(program.program(), [("sim-1", "platform-v3")], &catalogue), Ok(()));
}

#[test]
fn bytes_that_are_no_text_are_one_finding() {
    let mut input = input(&[("b.proc", "procedure \"P\"\n  do \"Lost\"\n")]);
    input.files.push(stellar_compiler::pipeline::File {
        path: "a.proc".into(),
        bytes: b"step \"Lost\"\n  note \"\xff\"\n".to_vec(),
        came: Came::Named,
    });
    let checked = Checked::new(&input);
    assert_eq!(told(checked.diagnostics(), checked.sources()), ["a.proc:2 syntax::invalid-utf8"]);
    let shown = shown(&checked);
    assert!(shown.contains("byte 20"), "{shown}");
}

#[test]
fn text_is_any_text() {
    let text = "step \"Größe ⊕\"\n  # ¿comentário?\n  note \"naïve 🛰\"\n  fail \"\u{1F4A5}\"\n";
    assert_eq!(findings(text), Vec::<String>::new());
}

/// A catalogue with an alarm that reacts.
fn reacting(reaction: &str) -> Vec<String> {
    let yaml = format!(
        "platform: p\ntypes: {{id: {{int: 1..4}}}}\ncomponents:\n  tcu:\n    index: id\n    telemetry: {{hot: {{type: bool}}}}\n\
         alarms:\n  heat:\n    for_each: tcu\n    when: \"hot is true\"\n    on_raise: {reaction}\n"
    );
    let text = "procedure \"Safe\"\n  uses sat: p\n  input tcu: id\n  input deep: bool = true\n  check sat.tcu[tcu].hot is deep\n";
    let checked = Checked::new(&Input {
        files: vec![file("a.proc", text, Came::Named)],
        catalogue: vec![file("p.yaml", &yaml, Came::Project)],
        defaults: support::defaults(),
        entries: Vec::new(),
        unread: Unread::default(),
    });
    told(checked.diagnostics(), checked.sources())
}

#[test]
fn the_reaction_of_an_alarm_is_checked_like_a_call() {
    assert_eq!(reacting(r#"{run: "Safe", with: {tcu: index}}"#), Vec::<String>::new());
    assert_eq!(reacting(r#"{run: "Safe", with: {tcu: index, deep: false}}"#), Vec::<String>::new());
    assert_eq!(reacting(r#"{run: "Saef", with: {tcu: index}}"#), ["p.yaml:11 name::unknown-procedure"]);
    assert_eq!(reacting(r#"{run: "Safe"}"#), ["p.yaml:11 call::missing-argument"]);
    assert_eq!(reacting(r#"{run: "Safe", with: {tcu: 5}}"#), ["p.yaml:11 type::mismatch"]);
    assert_eq!(reacting(r#"{run: "Safe", with: {tcuu: index}}"#), ["p.yaml:11 name::unknown-argument"]);
}

/// Three files with fifty errors of more than twenty codes, five in one header and one statement.
const FIFTY: [(&str, &str, &str); 3] = [
    ("a.proc", include_str!("fixtures/fifty/a.proc"), "a.proc"),
    ("b.proc", include_str!("fixtures/fifty/b.proc"), "b.proc"),
    ("c.proc", include_str!("fixtures/fifty/c.proc"), "c.proc"),
];

#[test]
fn fifty_errors_are_told_and_no_other() {
    let files: Vec<(&str, &str)> = FIFTY.iter().map(|(name, text, _)| (*name, *text)).collect();
    let checked = Checked::new(&input(&files));
    let mut expected = Vec::new();
    for (name, text) in &files {
        for (number, line) in (1..).zip(text.lines()) {
            let Some((_, codes)) = line.split_once("# error:") else { continue };
            expected.extend(codes.split_whitespace().map(|code| format!("{name}:{number} {code}")));
        }
    }
    let mut got = told(checked.diagnostics(), checked.sources());
    assert!(checked.diagnostics().iter().all(Diagnostic::is_error), "{}", shown(&checked));
    assert!(got.is_sorted_by_key(|it| it.split(':').next().unwrap().to_owned()));
    assert_eq!(got.len(), 50);
    let codes: std::collections::BTreeSet<&str> = checked.diagnostics().iter().map(|it| it.code.name).collect();
    assert!(codes.len() >= 20, "{codes:?}");
    got.sort();
    expected.sort();
    assert_eq!(got, expected, "{}", shown(&checked));
}

/// Hang limits only: what takes time in proportion to its length takes a small part of this.
fn is_quick(work: impl FnOnce() + std::marker::Send + 'static) {
    let (done, waits) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        work();
        done.send(()).unwrap();
    });
    waits.recv_timeout(std::time::Duration::from_secs(120)).expect("it hangs or it panicked");
}

#[test]
fn ten_thousand_sends() {
    is_quick(|| {
        let sends = "  send ping to sat.tcu[2]\n".repeat(10_000);
        let checked = check(&format!("step \"Many\"\n  uses sat: platform-v3\n{sends}"));
        assert_eq!(shown(&checked), "");
        let program = checked.lower().unwrap();
        verify::verify(program.program().clone()).unwrap();
        assert_eq!(program.program().units[0].claims.statements, 10_000);
    });
}

#[test]
fn a_hundred_thousand_lines() {
    is_quick(|| {
        let mut text = String::new();
        for number in 0..10_000 {
            let name = format!("Step {number}");
            text.push_str(&format!("step \"{name}\"\n  uses sat: platform-v3\n{}", "  wait 1 ms\n".repeat(7)));
            text.push_str("  send ping to sat.tcu[2]\n");
        }
        let checked = check(&text);
        assert_eq!(shown(&checked), "");
        verify::verify(checked.lower().unwrap().program().clone()).unwrap();
    });
}

#[test]
fn a_chain_of_calls_as_long_as_the_file() {
    is_quick(|| {
        let mut text = String::from("procedure \"P0\"\n  wait 1 ms\n");
        for number in 1..5_000 {
            text.push_str(&format!("procedure \"P{number}\"\n  run \"P{}\"\n", number - 1));
        }
        let checked = check(&text);
        assert_eq!(shown(&checked), "");
        assert!(checked.lower().is_some());
    });
}

#[test]
fn a_circle_as_long_as_the_file() {
    is_quick(|| {
        let mut text = String::from("procedure \"P0\"\n  run \"P1999\"\n");
        for number in 1..2_000 {
            text.push_str(&format!("procedure \"P{number}\"\n  run \"P{}\"\n", number - 1));
        }
        assert_eq!(findings(&text), ["2 procedure::recursive-call"]);
    });
}

#[test]
fn a_sum_of_three_thousand_terms_and_a_name_of_ten_thousand_characters() {
    is_quick(|| {
        let sum = vec!["sat.eps.voltage"; 3_000].join(" + ");
        let name = "n".repeat(10_000);
        let text = format!("step \"{name}\"\n  uses sat: platform-v3\n  let {name} = {sum}\n  check {name} > 5 V\n");
        let checked = check(&text);
        assert_eq!(shown(&checked), "");
        verify::verify(checked.lower().unwrap().program().clone()).unwrap();
    });
}

#[test]
fn three_hundred_blocks_are_one_finding() {
    is_quick(|| {
        let mut text = String::from("step \"Deep\"\n");
        for depth in 1..300 {
            text.push_str(&format!("{}repeat 1 times\n", " ".repeat(depth)));
        }
        text.push_str(&format!("{}wait 1 ms\n", " ".repeat(300)));
        let found = findings(&text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].ends_with("procedure::nesting-too-deep"), "{found:?}");
        let brackets =
            format!("step \"A\"\n  uses sat: platform-v3\n  check {}true{}\n", "(".repeat(400), ")".repeat(400));
        assert_eq!(findings(&brackets), ["3 procedure::nesting-too-deep"]);
    });
}
