//! The committed language reference is the one that the grammar makes. `UPDATE_REFERENCE=1` writes it anew.

use std::{env, fs, path::Path};

use stellar_grammar::reference::reference_markdown;

#[test]
fn the_committed_reference_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/language.md");
    let made = reference_markdown();
    if env::var_os("UPDATE_REFERENCE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &made).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == made, "docs/reference/language.md is stale: run this test with UPDATE_REFERENCE=1");
}

#[test]
fn recovery_and_actions_are_no_part_of_the_reference() {
    let made = reference_markdown();
    for foreign in ["ctx.", "@L", "@R", "=>", "StmtKind", "!>", "Separated", "Plain", "\"==\""] {
        assert!(!made.contains(foreign), "{foreign} stands in the reference");
    }
    for known in
        ["Send = \"send\" Name Arguments? \"to\" Path (\"via\" Name)?", "### On failure", "| `degC` | degree Celsius"]
    {
        assert!(made.contains(known), "{known} stands in the reference");
    }
}
