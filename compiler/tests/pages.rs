//! The pages of the diagnostics are true: every code has one, and its examples give what they say.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "each test takes what it needs")]
mod support;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use stellar_compiler::{
    config,
    diagnostics::codes,
    explain::{explain, explained},
    pipeline::{Came, Checked, File, Input, Unread},
    source::{Origin, Sources},
};
use support::{catalogue, defaults, file, shown};

/// Namespaces whose codes this crate or the contract reports.
const OURS: [&str; 8] = ["syntax", "name", "type", "call", "procedure", "catalogue", "config", "artifact"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/diagnostics")
}

/// Every code that has to have a page.
fn registered() -> BTreeSet<&'static str> {
    let contract = [stellar_vm::artifact::CODES, stellar_vm::verify::CODES, stellar_vm::compare::CODES];
    let contract = contract.into_iter().flatten().map(|(code, _)| *code);
    codes().into_iter().map(|code| code.name).chain(contract).collect()
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let registered = registered();
    let explained: BTreeSet<&str> = explained().collect();
    let without_page: Vec<_> = registered.difference(&explained).collect();
    assert!(without_page.is_empty(), "without a page: {without_page:?}");
    let ours = |code: &&&str| OURS.contains(&code.split("::").next().unwrap());
    let without_code: Vec<_> = explained.difference(&registered).filter(ours).collect();
    assert!(without_code.is_empty(), "without a code: {without_code:?}");
}

#[test]
fn a_page_is_explained_as_it_stands() {
    let page = fs::read_to_string(folder().join("procedure/retry-not-allowed.md")).unwrap();
    assert_eq!(explain("procedure::retry-not-allowed"), Some(page.as_str()));
    assert_eq!(explain("procedure::no-such-code"), None);
}

#[test]
fn the_examples_give_what_they_say() {
    let mut wrong = Vec::new();
    for code in explained() {
        let page = explain(code).unwrap();
        let blocks = blocks(page);
        let proc = blocks.iter().filter(|block| block.language == "proc");
        let yaml = blocks.iter().filter(|block| block.language == "yaml");
        let (proc, yaml): (Vec<_>, Vec<_>) = (proc.collect(), yaml.collect());
        if proc.is_empty() && yaml.is_empty() {
            let of_text = ["syntax", "name", "type", "call", "procedure", "catalogue"];
            let exempt = code == "syntax::invalid-utf8" || !of_text.contains(&code.split("::").next().unwrap());
            if !exempt {
                wrong.push(format!("{code}: no example"));
            }
            continue;
        }
        for at in [0, 1] {
            let parts = (proc.get(at).map(|block| block.text.as_str()), yaml.get(at).map(|block| block.text.as_str()));
            let expected = expected(parts);
            let names_itself = expected.iter().any(|mark| mark.contains(&format!("[{code}]")));
            if names_itself != (at == 0) {
                wrong.push(format!("{code}: example {at} does not mark what it should"));
            }
            let (got, report) = compiled(parts);
            if got != expected {
                wrong.push(format!("{code}, example {at}\nexpected {expected:#?}\ngot {got:#?}\n{report}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The configuration is read by itself; what its paths lead to is not there.
#[test]
fn the_examples_of_configurations_give_what_they_say() {
    let mut seen = 0;
    for code in explained().filter(|code| code.starts_with("config::") && *code != "config::no-such-path") {
        let page = explain(code).unwrap();
        let blocks: Vec<Block> = blocks(page).into_iter().filter(|block| block.language == "stellar.yaml").collect();
        assert_eq!(blocks.len(), 2, "{code}: a failing example and its mend");
        for (at, block) in blocks.iter().enumerate() {
            let expected = expected((None, Some(&block.text)));
            assert_eq!(expected.iter().any(|mark| mark.contains(&format!("[{code}]"))), at == 0, "{code}");
            let mut sources = Sources::default();
            let file = sources.add("page.yaml", block.text.as_bytes(), Origin::Project);
            let mut found = Vec::new();
            let config = config::read(file, &sources, &mut found);
            found.extend(config.unknown_platforms(["platform-v3", "pus-c"].into_iter()));
            let told = found.iter().map(|it| {
                let line = sources.position(it.place().unwrap()).line;
                format!("page.yaml:{line} {}: [{}]", it.severity.as_str(), it.code.name)
            });
            assert_eq!(told.collect::<Vec<_>>(), expected, "{code}, example {at}");
        }
        seen += 1;
    }
    assert_eq!(seen, 8);
}

struct Block {
    language: String,
    text: String,
}

/// The fenced blocks of a page.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => open = Some(Block { language: language.to_owned(), text: String::new() }),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

type Parts<'a> = (Option<&'a str>, Option<&'a str>);

/// The findings that the marks in an example announce, as `file:line severity: [code]`, sorted.
fn expected((proc, yaml): Parts<'_>) -> Vec<String> {
    let mut expected = Vec::new();
    for (name, text) in [("page.proc", proc), ("page.yaml", yaml)] {
        for (number, line) in (1..).zip(text.unwrap_or_default().lines()) {
            for severity in ["error", "warning"] {
                let Some((_, codes)) = line.split_once(&format!("# {severity}: ")) else { continue };
                expected.extend(codes.split_whitespace().map(|code| format!("{name}:{number} {severity}: {code}")));
            }
        }
    }
    expected.sort();
    expected
}

fn compiled((proc, yaml): Parts<'_>) -> (Vec<String>, String) {
    let named = |name: &str, text: &str| -> File { file(name, text, Came::Named) };
    let checked = Checked::new(&Input {
        files: proc.iter().map(|text| named("page.proc", text)).collect(),
        catalogue: yaml.map_or_else(catalogue, |text| vec![named("page.yaml", text)]),
        defaults: defaults(),
        entries: Vec::new(),
        unread: Unread::default(),
    });
    let sources = checked.sources();
    let told = checked.diagnostics().iter().map(|it| {
        let place = it.place().unwrap();
        let name = sources.get(place.file).unwrap().name();
        format!("{name}:{} {}: [{}]", sources.position(place).line, it.severity.as_str(), it.code.name)
    });
    let mut told: Vec<String> = told.collect();
    told.sort();
    (told, shown(&checked))
}
