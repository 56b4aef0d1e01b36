//! What the tests of the compiler share: the catalogue of the fixtures, and compiling texts.

use std::{fs, path::Path};

use stellar_compiler::{
    diagnostics::{Diagnostic, Look, human},
    pipeline::{Came, Checked, File, Input, Unread},
    source::Sources,
};
use stellar_vm::program::{Defaults, Policy};

/// One second.
pub(crate) const S: i64 = 1_000_000_000;

/// The defaults of a mission without configuration: one new attempt after 2 s, windows and freshness of 10 s.
#[must_use]
pub(crate) fn defaults() -> Defaults {
    Defaults {
        retry: Some(Policy { times: Some(1), every: Some(2 * S), total: None }),
        window: 10 * S,
        freshness: 10 * S,
    }
}

/// A file.
#[must_use]
pub(crate) fn file(path: &str, text: &str, came: Came) -> File {
    File { path: path.to_owned(), bytes: text.as_bytes().to_vec(), came }
}

/// The catalogue of the fixtures and of the examples of the pages.
#[must_use]
pub(crate) fn catalogue() -> Vec<File> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/diagnostics/catalogue.yaml");
    vec![file("catalogue.yaml", &fs::read_to_string(path).unwrap(), Came::Project)]
}

/// What compiles some texts with the catalogue of the fixtures.
#[must_use]
pub(crate) fn input(files: &[(&str, &str)]) -> Input {
    let files = files.iter().map(|(path, text)| file(path, text, Came::Named)).collect();
    Input { files, catalogue: catalogue(), defaults: defaults(), entries: Vec::new(), unread: Unread::default() }
}

/// Compiles one text up to its findings.
#[must_use]
pub(crate) fn check(text: &str) -> Checked {
    Checked::new(&input(&[("test.proc", text)]))
}

/// Findings as `file:line code`.
#[must_use]
pub(crate) fn told(diagnostics: &[Diagnostic], sources: &Sources) -> Vec<String> {
    let one = |it: &Diagnostic| {
        let place = it.place().unwrap();
        let file = sources.get(place.file).unwrap().name();
        format!("{file}:{} {}", sources.position(place).line, it.code.name)
    };
    diagnostics.iter().map(one).collect()
}

/// Findings of one text as `line code`.
#[must_use]
pub(crate) fn findings(text: &str) -> Vec<String> {
    let checked = check(text);
    let told = told(checked.diagnostics(), checked.sources());
    told.into_iter().map(|it| it.trim_start_matches("test.proc:").to_owned()).collect()
}

/// All findings as a reader sees them.
#[must_use]
pub(crate) fn shown(checked: &Checked) -> String {
    let show = |it: &Diagnostic| human(it, checked.sources(), Look::default());
    checked.diagnostics().iter().map(show).collect()
}
