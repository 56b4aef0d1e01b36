//! Catalogues to their diagnostics and tables, one snapshot a fixture.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fmt::Write, path::Path};

use stellar_compiler::{
    catalogue::{Options, compile},
    diagnostics::{Look, human},
    source::{Origin, Sources},
};

/// The fixture, what is said of it, and, where nothing is wrong, what becomes of it.
fn shown(name: &str, bytes: &[u8]) -> String {
    let mut sources = Sources::default();
    let file = sources.add(name, bytes, Origin::Project);
    let (catalogue, diagnostics) = compile(&[file], &sources, &Options::default());
    let mut out = format!("{}\n", String::from_utf8_lossy(bytes));
    for diagnostic in &diagnostics {
        writeln!(out, "{}", human(diagnostic, &sources, Look::default())).unwrap();
    }
    if !diagnostics.iter().any(|diagnostic| diagnostic.is_error()) {
        writeln!(out, "{:#?}", catalogue.compiled()).unwrap();
    }
    out
}

fn fixture(path: &Path) -> datatest_stable::Result<()> {
    let name = path.file_name().and_then(|name| name.to_str()).ok_or("a fixture has a name")?;
    let bytes = std::fs::read(path)?;
    let folder = path.parent().ok_or("a fixture stands in a folder")?;
    let settings = {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(std::path::absolute(folder)?);
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings
    };
    settings.bind(|| insta::assert_snapshot!(name, shown(name, &bytes)));
    Ok(())
}

datatest_stable::harness! {
    { test = fixture, root = "tests/fixtures/catalogue", pattern = r"\.yaml$" },
}
