//! The boundaries between the crates, as `docs/architecture.md` draws them, checked with `cargo tree`.

#![cfg(test)]

use std::{collections::BTreeSet, process::Command};

fn dependencies(package: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--package", package, "--edges", "normal", "--prefix", "none", "--format", "{lib}", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let names: BTreeSet<String> = String::from_utf8(output.stdout).unwrap().lines().map(ToOwned::to_owned).collect();
    assert!(names.contains(&package.replace('-', "_")), "{package} is in its own tree: {names:?}");
    names
}

fn ours(package: &str) -> Vec<String> {
    let own = package.replace('-', "_");
    dependencies(package).into_iter().filter(|name| name.starts_with("stellar_") && *name != own).collect()
}

#[test]
fn each_crate_depends_on_what_the_architecture_says() {
    assert_eq!(ours("stellar-grammar"), Vec::<String>::new());
    assert_eq!(ours("stellar-vm"), Vec::<String>::new());
    assert_eq!(ours("stellar-stdlib-procs"), Vec::<String>::new());
    assert_eq!(ours("stellar-compiler"), ["stellar_grammar", "stellar_vm"]);
    assert_eq!(ours("stellar-runtime"), ["stellar_vm"]);
}

#[test]
fn the_runtime_compiles_nothing() {
    let all = dependencies("stellar-runtime");
    for banned in ["stellar_grammar", "stellar_compiler", "miette", "lalrpop_util", "logos"] {
        assert!(!all.contains(banned), "stellar-runtime depends on {banned}");
    }
}

#[test]
fn the_machine_is_pure() {
    let all = dependencies("stellar-vm");
    for banned in ["tokio", "redb", "rustix", "miette", "rand", "chrono", "time"] {
        assert!(!all.contains(banned), "stellar-vm depends on {banned}");
    }
}
