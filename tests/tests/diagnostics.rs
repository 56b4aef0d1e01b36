//! Diagnostics of whole programs: all of them and no other, whatever the text is.

#![cfg(test)]

use std::{fmt::Write, fs, path::Path};

use serde_json::Value;
use stellar_compiler::pipeline::{Came, Checked, File, Input};
use stellar_tests::mission::{HANG, Mission};
use stellar_vm::verify;

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");

/// `file:line:column code`, as a mark `⟦code⟧` in a fixture asks for it; and the text without its marks.
fn unmarked(name: &str, text: &str) -> (Vec<String>, String) {
    let (mut wanted, mut out) = (Vec::new(), String::new());
    for (number, line) in text.lines().enumerate() {
        let mut plain = String::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('⟦') {
            let (code, after) = after.split_once('⟧').unwrap();
            plain.push_str(before);
            wanted.push(format!("{name}:{}:{} {code}", number + 1, plain.chars().count() + 1));
            rest = after;
        }
        writeln!(out, "{plain}{rest}").unwrap();
    }
    (wanted, out)
}

fn fixtures(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/diagnostics").join(folder);
    let mut files: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(path).unwrap()))
        .collect();
    files.sort();
    files
}

/// `file:line:column code` of each finding of `stellar check`, in its order.
fn found(checked: &Value) -> Vec<String> {
    let place = |one: &Value| {
        let labels = one["labels"].as_array().unwrap();
        let primary = labels.iter().find(|label| label["primary"] == true).unwrap();
        let start = &primary["start"];
        format!(
            "{}:{}:{} {}",
            primary["file"].as_str().unwrap(),
            start["line"],
            start["column"],
            one["code"].as_str().unwrap()
        )
    };
    checked["diagnostics"].as_array().unwrap().iter().map(place).collect()
}

/// The text compiled with the standard library, in this process.
fn compiled(bytes: &[u8]) -> Checked {
    let file = |path: &str, bytes: &[u8], came| File { path: path.to_owned(), bytes: bytes.to_vec(), came };
    let standard = |it: &stellar_stdlib_procs::File| file(it.path, it.text.as_bytes(), Came::Standard);
    let mut input = Input { files: vec![file("test.proc", bytes, Came::Named)], ..Input::default() };
    input.files.extend(stellar_stdlib_procs::PROCEDURES.iter().map(standard));
    input.catalogue.extend(stellar_stdlib_procs::CATALOGUES.iter().map(standard));
    Checked::new(&input)
}

fn codes(checked: &Checked) -> Vec<&'static str> {
    checked.diagnostics().iter().map(|one| one.code.name).collect()
}

#[test]
fn fifty_errors_of_three_files_are_all_told_and_no_other() {
    let mission = Mission::empty(STELLAR);
    let mut wanted = Vec::new();
    for (name, text) in fixtures("fifty") {
        let (marks, text) = unmarked(&name, &text);
        wanted.extend(marks);
        mission.write(&name, text);
    }
    assert_eq!(wanted.len(), 50);
    let kinds: std::collections::BTreeSet<&str> = wanted.iter().map(|it| it.split_once(' ').unwrap().1).collect();
    assert!(kinds.len() >= 20, "{} codes", kinds.len());
    for line in ["acquire.proc:6:", "acquire.proc:9:"] {
        assert_eq!(
            wanted.iter().filter(|it| it.starts_with(line)).count(),
            5,
            "five in one header, five in one statement"
        );
    }
    let names: Vec<String> = fixtures("fifty").into_iter().map(|(name, _)| name).collect();
    let mut arguments = vec!["check", "--format", "json"];
    arguments.extend(names.iter().map(String::as_str));
    let checked = mission.json(&arguments, 1);
    assert_eq!(found(&checked), wanted);
    // The order in which files are named changes nothing, and the report for people has as many.
    arguments[3..].reverse();
    assert_eq!(mission.json(&arguments, 1), checked);
    let said = mission.stellar(&["check", "acquire.proc", "finish.proc", "operate.proc"]);
    assert_eq!(said.code, 1);
    assert_eq!(said.err.lines().filter(|line| line.starts_with("  × ")).count(), 50, "{}", said.err);
    for place in &wanted {
        let at = place.split_once(' ').unwrap().0;
        assert!(said.err.contains(&format!("╭─[{at}]")), "{at} in\n{}", said.err);
    }
}

#[test]
fn a_misspelt_name_gets_the_near_one_offered() {
    let cases = [
        ("send pingg to sat.tcu[1]", "`ping`"),
        ("send ping to sat.tcuu[1]", "`tcu`"),
        ("send ping to sta.tcu[1]", "`sat`"),
        ("send ping to sat.tcu[1] via drect", "`direct`"),
        ("check sat.tcu[1].respondign is true", "`responding`"),
        ("check sat.tcu[1].mode is STANBY", "`STANDBY`"),
        ("send set_heater with powr = 1 W to sat.tcu[1]", "`power`"),
    ];
    for (statement, near) in cases {
        let checked = compiled(
            format!("step \"S\"\n  uses sat: platform-v3\n  ask \"?\" within 1 s\n  {statement}\n").as_bytes(),
        );
        let first = checked.diagnostics().iter().find(|it| it.is_error()).unwrap_or_else(|| panic!("{statement}"));
        let said = format!("{} {}", first.message, first.help.as_deref().unwrap_or_default());
        assert!(said.contains(near), "{statement}: {said}");
    }
    let calls = [
        ("do \"TCU anwsers\" with sat, 1", "`TCU answers`"),
        ("run \"AOS aquisition\" with sat, 1", "`AOS acquisition`"),
    ];
    for (statement, near) in calls {
        let checked = compiled(format!("procedure \"P\"\n  uses sat: platform-v3\n  {statement}\n").as_bytes());
        let first = &checked.diagnostics()[0];
        let said = format!("{} {}", first.message, first.help.as_deref().unwrap_or_default());
        assert!(said.contains(near), "{statement}: {said}");
    }
}

/// Every procedure that ships or is a fixture of a test.
fn every_text() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned();
    let mut texts = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                folders.push(path);
            } else if name.ends_with(".proc") {
                let bytes = fs::read(&path).unwrap();
                let name = path.strip_prefix(&root).unwrap().display().to_string();
                texts.push((name, String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
    }
    texts.sort();
    texts
}

/// Compiles; without an error there is a program, and the verifier takes it.
fn sound(what: &str, bytes: &[u8]) {
    let checked = compiled(bytes);
    for one in checked.diagnostics() {
        assert!(!one.message.is_empty() && !one.message.contains('\n'), "{what}: {}", one.message);
    }
    match checked.lower() {
        Some(lowered) => {
            if let Err(error) = verify::verify(lowered.program().clone()) {
                panic!("{what}: the verifier refuses what the compiler made: {} {error}", error.code());
            }
        }
        None => assert!(checked.diagnostics().iter().any(|it| it.is_error()), "{what}: no error and no program"),
    }
}

#[test]
fn with_any_line_missing_every_text_is_clean_or_has_findings() {
    let texts = every_text();
    assert!(texts.iter().any(|(name, _)| name.starts_with("stdlib-procs/")), "the library is among them");
    assert!(texts.len() >= 20, "{} texts", texts.len());
    for (name, text) in texts {
        let lines: Vec<&str> = text.lines().collect();
        for missing in 0..lines.len() {
            let rest = lines.iter().enumerate().filter(|(at, _)| *at != missing);
            let rest: String = rest.map(|(_, line)| format!("{line}\n")).collect();
            sound(&format!("{name} without line {}", missing + 1), rest.as_bytes());
        }
    }
}

/// What a procedure is made of.
const CHARACTERS: &[u8] = b" \n\t\"[]()#,.:=<>azAZ019-+*/{}\\";

/// Bytes that look random and are the same every time.
struct Bytes(u64);

impl Iterator for Bytes {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        Some((self.0 >> 32) as u8)
    }
}

#[test]
fn random_bytes_and_random_edits_are_clean_or_have_findings() {
    let mut random = Bytes(0x5354_454c_4c41_5221);
    for length in (0..400).chain([5_000]) {
        let bytes: Vec<u8> = random.by_ref().take(length).collect();
        sound(&format!("{length} random bytes"), &bytes);
        let text: Vec<u8> = bytes.iter().map(|byte| CHARACTERS[usize::from(*byte) % CHARACTERS.len()]).collect();
        sound(&format!("{length} random characters"), &text);
    }
    for (name, text) in every_text() {
        for round in 0..20 {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..3 {
                let at = usize::from(u16::from_le_bytes([random.next().unwrap(), random.next().unwrap()]))
                    % (bytes.len() + 1);
                match random.next().unwrap() % 3 {
                    0 if at < bytes.len() => drop(bytes.remove(at)),
                    1 if at < bytes.len() => bytes[at] = random.next().unwrap(),
                    _ => bytes.insert(at, random.next().unwrap()),
                }
            }
            sound(&format!("{name}, edited {round}"), &bytes);
        }
    }
    // A few through the program itself.
    let mission = Mission::empty(STELLAR);
    for length in [1, 100, 4_000] {
        let bytes: Vec<u8> = random.by_ref().take(length).collect();
        mission.write("random.proc", bytes);
        let said = mission.stellar(&["check", "random.proc"]);
        assert!([0, 1].contains(&said.code), "{}{}", said.out, said.err);
        assert!(!said.err.contains("panicked"), "{}", said.err);
    }
}

#[test]
fn invalid_utf8_is_told_with_its_place() {
    let checked = compiled(b"step \"A\"\n  note \"caf\xe9\"\n");
    assert_eq!(codes(&checked), ["syntax::invalid-utf8"]);
    let crlf = compiled("\u{feff}step \"Überprüfung\"\r\n  note \"größer 🛰\" # ünï\r\n".as_bytes());
    assert_eq!(codes(&crlf), Vec::<&str>::new());
}

/// A procedure of so many blocks, nested.
fn nested_in(opener: &str, depth: usize) -> String {
    let mut text = "procedure \"Deep\"\n  uses sat: platform-v3\n".to_owned();
    for level in 1..=depth {
        writeln!(text, "{}{}", "  ".repeat(level), opener.replace("LEVEL", &format!("{level}"))).unwrap();
    }
    writeln!(text, "{}check sat.tcu[1].responding is true", "  ".repeat(depth + 1)).unwrap();
    text
}

/// The same of `repeat 1 times`.
fn nested(depth: usize) -> String {
    nested_in("repeat 1 times", depth)
}

#[test]
fn what_is_cut_off_as_too_deep_causes_no_other_finding() {
    let openers =
        ["repeat 2 times", "repeat 10000 times", "for each nLEVEL in 1..3", "if sat.tcu[1].responding is true"];
    for opener in openers {
        for depth in [64, 300] {
            let text = nested_in(opener, depth);
            let checked = compiled(text.as_bytes());
            assert_eq!(codes(&checked), ["procedure::nesting-too-deep"], "{opener}, {depth}");
        }
    }
}

#[test]
fn what_is_nested_too_deep_is_told_once() {
    assert_eq!(codes(&compiled(nested(63).as_bytes())), Vec::<&str>::new(), "64 blocks with the body");
    for depth in [64, 300, 3_000] {
        let text = nested(depth);
        let checked = compiled(text.as_bytes());
        assert_eq!(codes(&checked), ["procedure::nesting-too-deep"], "{depth}");
        let mission = Mission::empty(STELLAR);
        mission.write("deep.proc", text);
        let found = found(&mission.json(&["check", "--format", "json", "deep.proc"], 1));
        assert_eq!(found, ["deep.proc:66:129 procedure::nesting-too-deep"], "at the header of the 65th");
    }
    for parentheses in [65, 400, 20_000] {
        let (open, close) = ("(".repeat(parentheses), ")".repeat(parentheses));
        let text = format!("step \"P\"\n  uses sat: platform-v3\n  check {open}sat.tcu[1].responding is true{close}\n");
        assert_eq!(codes(&compiled(text.as_bytes())), ["procedure::nesting-too-deep"], "{parentheses}");
    }
    let (open, close) = ("(".repeat(64), ")".repeat(64));
    let text = format!("step \"P\"\n  uses sat: platform-v3\n  check {open}sat.radio.transmitter is SILENT{close}\n");
    assert_eq!(codes(&compiled(text.as_bytes())), Vec::<&str>::new());
}

/// Compiles without an error, to a program that the verifier takes, within the limit for hangs.
fn large(what: &str, text: &str) {
    let begin = std::time::Instant::now();
    let checked = compiled(text.as_bytes());
    let errors: Vec<String> = checked
        .diagnostics()
        .iter()
        .filter(|it| it.is_error())
        .take(3)
        .map(|it| format!("{}: {}", it.code.name, it.message))
        .collect();
    assert_eq!(errors, Vec::<String>::new(), "{what}");
    let lowered = checked.lower().unwrap();
    let bytes = lowered.encode().unwrap().into_bytes();
    verify::verify(stellar_vm::artifact::decode(&bytes).unwrap()).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert!(begin.elapsed() < HANG, "{what}: {:?}", begin.elapsed());
}

#[test]
fn a_sum_of_3000_terms_compiles() {
    let sum = vec!["sat.tcu[1].temperature"; 3_000].join(" + ");
    large("a sum", &format!("step \"Sum\"\n  uses sat: platform-v3\n  check {sum} > 5 degC\n"));
}

#[test]
fn a_name_of_10_000_characters_compiles() {
    let name = "n".repeat(10_000);
    large("a name", &format!("step \"{name}\"\n  input {name}: int\n  note \"{{{name}}}\"\n"));
}

#[test]
fn ten_thousand_sends_compile() {
    large(
        "sends",
        &format!("step \"Sends\"\n  uses sat: platform-v3\n{}", "  send ping to sat.tcu[1]\n".repeat(10_000)),
    );
}

#[test]
fn a_hundred_thousand_lines_compile() {
    let mut text = String::new();
    for number in 0..12_500 {
        write!(
            text,
            "step \"Step {number}\" retry 1 time every 2 s\n  uses sat: platform-v3\n  input tcu: tcu_id\n  \
             send ping to sat.tcu[tcu]\n  expect sat.tcu[tcu].responding is true within 5 s\n  wait 1 s\n  \
             note \"unit {{tcu}}\"\n\n"
        )
        .unwrap();
    }
    assert_eq!(text.lines().count(), 100_000);
    large("lines", &text);
}
