//! What ships compiles: the standard library, without a finding, to a program that the verifier takes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "each test takes what it needs")]
mod support;

use stellar_compiler::{
    format,
    pipeline::{Came, Checked, File, Input, Unread},
};
use stellar_stdlib_procs::{CATALOGUES, PROCEDURES};
use stellar_vm::verify;
use support::{defaults, file, shown};

fn all(files: &[stellar_stdlib_procs::File], came: Came) -> Vec<File> {
    files.iter().map(|it| file(it.path, it.text, came)).collect()
}

#[test]
fn the_standard_library_compiles() {
    let checked = Checked::new(&Input {
        files: all(PROCEDURES, Came::Named),
        catalogue: all(CATALOGUES, Came::Standard),
        defaults: defaults(),
        entries: Vec::new(),
        unread: Unread::default(),
    });
    assert_eq!(shown(&checked), "");
    verify::verify(checked.lower().unwrap().program().clone()).unwrap();
    insta::assert_snapshot!(format::table(&checked));
}
