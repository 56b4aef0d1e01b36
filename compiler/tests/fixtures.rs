//! Each fixture has one snapshot: what is found in it, its figures, and the code that it becomes.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "each test takes what it needs")]
mod support;

use std::{fmt::Write as _, path::Path};

use stellar_compiler::{diagnostics::Diagnostic, format, pipeline::Checked};
use stellar_vm::{artifact, disasm, verify};
use support::{input, shown};

fn snapshot(path: &Path, text: &str, shown: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(std::path::absolute(path.parent().unwrap()).unwrap());
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_description(text);
    let name = path.file_stem().unwrap().to_string_lossy();
    settings.bind(|| insta::assert_snapshot!(name.as_ref(), shown));
}

/// The findings, then the figures.
fn checked(path: &Path, text: String) -> datatest_stable::Result<()> {
    let checked = Checked::new(&input(&[("fixture.proc", &text)]));
    let mut out = shown(&checked);
    let table = format::table(&checked);
    if !table.is_empty() {
        writeln!(out, "\n{table}")?;
        for (id, definition) in checked.definitions().iter().enumerate() {
            writeln!(out, "critical path of {}\n{}", definition.name, format::critical_path(&checked, id))?;
        }
    }
    snapshot(path, &text, &out);
    Ok(())
}

/// The code, with its text beside it. It passes the verifier, which comes to the same claims.
fn lowered(path: &Path, text: String) -> datatest_stable::Result<()> {
    let checked = Checked::new(&input(&[("fixture.proc", &text)]));
    let errors: Vec<_> = checked.diagnostics().iter().filter(|it| it.is_error()).collect();
    assert!(errors.is_empty(), "{}", shown(&checked));
    let lowered = checked.lower().unwrap();
    let bytes = lowered.encode()?.into_bytes();
    let program = artifact::decode(&bytes)?;
    assert_eq!(&program, lowered.program());
    verify::verify(program.clone())?;
    snapshot(path, &text, &disasm::disassemble(&program));
    Ok(())
}

/// Findings are made of any text and nothing panics; with no error among them there is a program, and the verifier
/// takes it.
fn holds(text: &str) -> datatest_stable::Result<()> {
    let checked = Checked::new(&input(&[("fixture.proc", text)]));
    let drawn = shown(&checked);
    let listed = format::definitions(&checked).len();
    if checked.diagnostics().iter().any(Diagnostic::is_error) {
        assert!(checked.lower().is_none());
        return Ok(());
    }
    let Some(lowered) = checked.lower() else { panic!("no error and no program:\n{text}\n{drawn}") };
    assert_eq!(listed, lowered.program().units.len());
    verify::verify(lowered.program().clone()).map_err(|error| format!("{error}\n{text}"))?;
    Ok(())
}

/// A fixture with any line missing, doubled, exchanged with the next, or cut in its middle.
fn mutated(_: &Path, text: String) -> datatest_stable::Result<()> {
    let lines: Vec<&str> = text.lines().collect();
    for at in 0..lines.len() {
        let (before, rest) = lines.split_at(at);
        let (line, after) = rest.split_first().unwrap_or((&"", &[]));
        let half = line.chars().count() / 2;
        let cut: String = line.chars().take(half).collect();
        let swapped: Vec<&str> = after.first().into_iter().chain([line]).copied().collect();
        for middle in [Vec::new(), vec![*line, *line], vec![cut.as_str()], swapped.clone()] {
            let skipped = usize::from(middle == swapped && !after.is_empty());
            let all = before.iter().chain(&middle).chain(after.iter().skip(skipped));
            holds(&all.map(|line| format!("{line}\n")).collect::<String>())?;
        }
    }
    Ok(())
}

datatest_stable::harness! {
    { test = checked, root = "tests/fixtures/check", pattern = r"\.proc$" },
    { test = lowered, root = "tests/fixtures/lower", pattern = r"\.proc$" },
    { test = mutated, root = "tests/fixtures/check", pattern = r"\.proc$" },
    { test = mutated, root = "tests/fixtures/lower", pattern = r"\.proc$" },
    { test = mutated, root = "tests/fixtures/fifty", pattern = r"\.proc$" },
}
