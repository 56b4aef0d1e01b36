//! What somebody does who sees this for the first time: the README's commands, the demo and what it prints, the blocks of
//! the documentation.

#![cfg(test)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use stellar_tests::mission::{Mission, finish};

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A folder with a program of the name `stellar` in it.
fn bin() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(STELLAR, folder.path().join("stellar")).unwrap();
    folder
}

/// A shell command in a folder, with this `stellar` in the path.
fn sh(line: &str, folder: &Path, bin: &Path) -> Command {
    let mut command = Command::new("sh");
    let path = std::env::var("PATH").unwrap_or_default();
    command.arg("-ec").arg(line).current_dir(folder).stdin(Stdio::null());
    command.env("PATH", format!("{}:{path}", bin.display())).env("COLUMNS", "80").env_remove("STELLAR_CONFIG");
    command
}

#[test]
fn the_demo_passes_and_each_command_that_it_prints_works() {
    let folder = tempfile::tempdir().unwrap();
    let bin = bin();
    let mission = folder.path().join("demo");
    let said = finish(sh(&format!("stellar demo --dir '{}'", mission.display()), folder.path(), bin.path()), &["demo"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let (run, next) = said.out.split_once("look further:").expect("it says how to look further");
    assert!(run.contains("passed"), "{run}");
    let commands: Vec<&str> = next.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#')).collect();
    assert!(commands.len() >= 4, "{next}");
    for command in commands {
        // As printed, from another folder.
        let said = finish(sh(command, folder.path(), bin.path()), &[command]);
        assert_eq!(said.code, 0, "{command}\n{}\n{}", said.out, said.err);
        assert!(!said.out.trim().is_empty(), "{command} prints something");
    }
}

#[test]
fn the_demo_needs_nothing_given() {
    let folder = tempfile::tempdir().unwrap();
    let bin = bin();
    let mut command = sh("stellar demo", folder.path(), bin.path());
    command.env("TMPDIR", folder.path());
    let said = finish(command, &["demo"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains(&*folder.path().to_string_lossy()), "it works in a temporary folder: {}", said.out);
}

#[test]
fn a_new_mission_works_as_it_is() {
    let mission = Mission::empty(STELLAR);
    mission.done(&["init", "mission"]);
    let here = mission.path().join("mission");
    let at = |arguments: &[&str]| {
        let mut command = mission.command(arguments);
        command.current_dir(&here);
        finish(command, arguments)
    };
    for arguments in [
        &["check"][..],
        &["check", "--critical-path"],
        &["compile", "-o", "pass.stc"],
        &["disasm", "pass.stc"],
        &["run", "AOS acquisition", "-i", "tcu=2", "--clock", "virtual"],
        &["run", "First pass", "--clock", "virtual", "--answer", "heat the unit with 5 W?=yes"],
        &["runs"],
        &["show", "last"],
        &["log", "last"],
        &["replay", "last"],
    ] {
        let said = at(arguments);
        assert_eq!(said.code, 0, "{arguments:?}: {}{}", said.out, said.err);
        assert!(!said.err.contains("warning") && !said.err.contains('⚠'), "{arguments:?}: {}", said.err);
    }
    let again = at(&["init", "."]);
    assert_ne!(again.code, 0, "nothing is written over: {}{}", again.out, again.err);
}

#[test]
fn every_command_has_help_with_an_example() {
    let mission = Mission::empty(STELLAR);
    let help = mission.done(&["--help"]);
    for command in [
        "demo",
        "init",
        "check",
        "compile",
        "disasm",
        "explain",
        "run",
        "runs",
        "show",
        "log",
        "replay",
        "resume",
        "completions",
    ] {
        assert!(help.contains(&format!("\n  {command} ")), "{command} in\n{help}");
        let own = mission.done(&[command, "--help"]);
        assert!(own.contains("Example:") && own.contains(&format!("stellar {command}")), "{own}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = mission.done(&["completions", shell]);
        assert!(script.contains("stellar") && script.contains("replay"), "{shell}");
    }
    assert_eq!(mission.stellar(&[]).code, 2);
    assert_eq!(mission.stellar(&["frobnicate"]).code, 2);
}

#[test]
fn the_readme_has_the_two_commands() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains("cargo run -q -p stellar-cli -- demo"), "the first");
    assert!(readme.contains("\n./tests/all.sh\n") || readme.contains("$ ./tests/all.sh\n"), "the second");
    let ci = fs::read_to_string(root().join(".ci/run")).unwrap();
    assert!(ci.contains("all.sh"), "CI calls the second: {ci}");
}

/// A block that something is done with: where it stands, and what.
struct Block {
    place: String,
    does: Does,
}

/// What is done with a block.
enum Does {
    /// `console`: its commands with what each prints.
    Commands(Vec<(String, Vec<String>)>),
    /// A text with the path of a file behind its language, as in `yaml stellar.yaml`: it is written there.
    File(PathBuf, String),
}

fn blocks(path: &Path) -> Vec<Block> {
    let text = fs::read_to_string(path).unwrap();
    let name = path.strip_prefix(root()).unwrap().display().to_string();
    let mut out: Vec<Block> = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.trim().strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let inside: Vec<&str> = lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != "```").collect();
        let place = format!("{name}:{}", number + 1);
        if info == "console" {
            out.push(Block { does: Does::Commands(commands(&place, &inside)), place });
        } else if let Some((_, file)) = info.split_once(' ').filter(|(_, file)| file.contains('.')) {
            out.push(Block { does: Does::File(file.into(), inside.join("\n") + "\n"), place });
        }
    }
    out
}

fn commands(place: &str, lines: &[&str]) -> Vec<(String, Vec<String>)> {
    let mut commands: Vec<(String, Vec<String>)> = Vec::new();
    for line in lines {
        match (line.trim().strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), Vec::new())),
            (None, Some((_, output))) => output.push(line.trim_end().to_owned()),
            (None, None) => panic!("{place}: a console block begins with `$ `"),
        }
    }
    commands
}

fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            documents(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "md") {
            found.push(path);
        }
    }
}

/// Files and runs of one page share a folder, in which each block goes on where the one before it ended. What a command prints
/// must have the lines that stand in the block, in their order; `…` stands for anything, within a line or for lines.
#[test]
fn every_console_block_of_the_documentation_runs() {
    let mut pages = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    documents(&root().join("docs"), &mut pages);
    pages.sort();
    let bin = bin();
    let mut ran = 0;
    for page in pages {
        let folder = tempfile::tempdir().unwrap();
        let mut here = folder.path().to_owned();
        for Block { place, does } in blocks(&page) {
            let commands = match does {
                Does::Commands(commands) => commands,
                Does::File(file, text) => {
                    let file = here.join(file);
                    fs::create_dir_all(file.parent().unwrap()).unwrap();
                    fs::write(file, text).unwrap();
                    continue;
                }
            };
            for (command, output) in commands {
                // The two commands of the README build and test this very workspace: others run them.
                if command.starts_with("cargo ") || command.starts_with("./tests/") || command.starts_with("git clone")
                {
                    continue;
                }
                if let Some(to) = command.strip_prefix("cd ") {
                    here = here.join(to);
                    assert!(here.is_dir(), "{place}: there is no folder {to}");
                    continue;
                }
                let said = finish(sh(&command, &here, bin.path()), &[&command]);
                let failing = output.iter().any(|line| line.contains('×'));
                assert_eq!(said.code != 0, failing, "{place}: {command}\n{}\n{}", said.out, said.err);
                let printed = format!("{}{}", said.out, said.err);
                follows(&place, &command, &output, &printed);
                ran += 1;
            }
        }
    }
    assert!(ran >= 5, "{ran} commands of the documentation were run");
}

fn follows(place: &str, command: &str, wanted: &[String], printed: &str) {
    let mut lines = printed.lines();
    for wanted in wanted.iter().filter(|line| !line.trim().is_empty() && line.trim() != "…") {
        let found = lines.any(|line| like(line, wanted));
        assert!(found, "{place}: `{command}` does not print\n{wanted}\nin this order, but\n{printed}");
    }
}

/// Whether a line is as wanted, with `…` for anything.
fn like(line: &str, wanted: &str) -> bool {
    let mut rest = line.trim_end();
    let parts: Vec<&str> = wanted.split('…').collect();
    let last = parts.len() - 1;
    parts.iter().enumerate().all(|(number, part)| {
        let at = if number == 0 { rest.starts_with(part).then_some(0) } else { rest.find(part) };
        let Some(at) = at else { return false };
        let end = at + part.len();
        let whole =
            number < last || part.is_empty() && number > 0 || rest.len() == end || number > 0 && rest.ends_with(part);
        rest = rest.get(end..).unwrap_or_default();
        whole
    })
}
