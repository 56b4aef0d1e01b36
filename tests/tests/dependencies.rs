//! The boundaries between the crates, as `docs/architecture.md` draws them, checked with `cargo tree`.

#![cfg(test)]

use std::{collections::BTreeSet, fs, path::Path, process::Command};

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

/// Direct dependencies of all members, without our own.
fn direct() -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let all = packages.iter().flat_map(|package| package["dependencies"].as_array().unwrap());
    let names = all.map(|dependency| dependency["name"].as_str().unwrap().to_owned());
    names.filter(|name| !name.starts_with("stellar-")).collect()
}

#[test]
fn each_dependency_has_its_row_and_each_row_its_dependency() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/dependencies.md");
    let text = fs::read_to_string(page).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next().map(str::to_owned));
    // "`hyper`, `hyper-util` (tests)": what stands between backticks, but for a version.
    let listed: BTreeSet<String> = rows
        .flat_map(|cell| format!("`{cell}").split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>())
        .filter(|name| !name.starts_with('='))
        .collect();
    assert_eq!(listed, direct());
}
