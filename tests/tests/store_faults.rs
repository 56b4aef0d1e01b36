//! Faults of the disk below the embedded store: torn and flipped files, a full disk, an fsync that fails. A process that
//! cannot write stops and says so, nothing acts behind that, and its run goes on from what was acknowledged.

#![cfg(test)]

use std::{fs, path::Path, process::Command};

use stellar_runtime::ports::RunState;
use stellar_tests::{
    campaign::{missions, random::Random},
    checker::{self, Evidence},
    kept,
    mission::{Mission, Said, finish},
};

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");
const CHANGES: [&str; 8] = ["run", "Changes", "-t", "sat=probe-1", "--clock", "virtual", "--format", "json"];
/// Decisions enough for any step, whatever becomes of it.
const DECIDED: [&str; 4] = ["--decide", "Switch=skip", "--decide", "Arm twice=skip"];

fn said(mut command: Command, more: &[&str]) -> Said {
    command.args(more);
    finish(command, more)
}

/// Resumes whatever is left to its end, on a disk that is mended, and judges all of it.
fn mended(mission: &Mission, what: &str) {
    for _ in 0..4 {
        let ended = |run: &String| kept::kept(mission, run).record.state == RunState::Ended;
        let open = kept::runs(mission).into_iter().find(|run| !ended(run));
        let Some(run) = open else { break };
        let resumed = mission.stellar(&[&["resume", &run][..], &DECIDED].concat());
        assert!([0, 1, 3].contains(&resumed.code), "{what}: {}", resumed.err);
    }
    // Each process begins with a virtual time of its own.
    let evidence = Evidence { one_clock: false, ..Evidence::of_folder(&mission.path().join(".stellar")) };
    let found = checker::check(&evidence);
    assert_eq!(found, [], "{what}");
}

/// A run on a disk that fails: it must say `store::unavailable` or, where the store could not be opened, why; or it got
/// through before. Gives whether it was stopped.
fn on_a_failing_disk(fault: &str) -> bool {
    let mission = missions::mission(STELLAR, "");
    // The store is made on a good disk; the fault meets a run.
    assert_eq!(mission.stellar(&["run", "Reads", "-t", "sat=probe-1", "--clock", "virtual"]).code, 0);
    let runs = kept::runs(&mission).len();
    let mut command = mission.command(&CHANGES);
    command.env("STELLAR_STORE_FAULT", fault);
    let ran = said(command, &DECIDED);
    if ran.code != 0 {
        let told = ran.err.contains("store::unavailable") || ran.err.contains("store::io");
        assert!(ran.code == 1 && told, "{fault}: {} {}", ran.code, ran.err);
        // What it had printed was acknowledged, and is in the log, to the byte.
        let printed: Vec<&str> = ran.out.lines().collect();
        if let Some(run) = kept::runs(&mission).get(runs) {
            let lines = kept::kept(&mission, run).lines;
            assert_eq!(lines[..printed.len()], printed[..], "{fault}: what was acknowledged is there");
        } else {
            assert_eq!(printed, Vec::<&str>::new(), "{fault}: no run, and nothing told");
        }
    }
    mended(&mission, fault);
    ran.code != 0
}

#[test]
fn a_failed_fsync_stops_the_process_and_the_run_goes_on_from_what_was_acknowledged() {
    let stopped = [1, 3, 5, 8, 12, 17, 23, 30].map(|nth| on_a_failing_disk(&format!("store:sync:{nth}")));
    assert!(stopped.iter().filter(|stopped| **stopped).count() >= 5, "{stopped:?}");
    assert!((1..4).any(|nth| on_a_failing_disk(&format!("telemetry:sync:{nth}"))), "the archive stops it, too");
}

#[test]
fn a_full_disk_stops_the_process_and_the_run_goes_on_from_what_was_acknowledged() {
    for what in ["write", "tear"] {
        let stopped = [2, 9, 20, 40, 80].map(|nth| on_a_failing_disk(&format!("store:{what}:{nth}")));
        assert!(stopped.iter().filter(|stopped| **stopped).count() >= 3, "{what}: {stopped:?}");
    }
}

#[test]
fn a_file_that_may_not_grow_stops_the_process() {
    // The system's own limit on the size of files, with its signal ignored, so that writes fail.
    let mission = missions::mission(STELLAR, "");
    assert_eq!(mission.stellar(&["run", "Reads", "-t", "sat=probe-1", "--clock", "virtual"]).code, 0);
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", STELLAR]).args(CHANGES).current_dir(mission.path());
    let ran = said(command, &DECIDED);
    assert!(ran.code == 1 && ran.err.contains("store::"), "{} {}", ran.code, ran.err);
    mended(&mission, "a file that may not grow");
}

/// Everything that a store holds of its runs, where it can be read.
fn read(mission: &Mission, run: &str) -> Result<String, String> {
    let said = mission.stellar(&["log", run, "--format", "json"]);
    if said.code == 0 { Ok(said.out) } else { Err(said.err) }
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to.join("links")).unwrap();
    for name in ["store.redb", "telemetry.redb", "links/probe-1.jsonl", "links/probe-1.began"] {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

#[test]
fn a_torn_or_flipped_file_is_refused_or_gives_what_was_acknowledged() {
    let good = missions::mission(STELLAR, "");
    let mut command = good.command(&CHANGES);
    command.env("STELLAR_CRASH_POINT", "append.after telecommand_sent:3");
    assert_eq!(said(command, &[]).code, -1);
    let run = kept::runs(&good).pop().unwrap();
    let log = read(&good, &run).unwrap();
    let (mut random, mut refused, mut resumed) = (Random::of(7), 0, 0);
    for case in 0..40 {
        let mission = missions::mission(STELLAR, "");
        let folder = mission.path().join(".stellar");
        copied(&good.path().join(".stellar"), &folder);
        let path = folder.join(if case % 3 == 2 { "telemetry.redb" } else { "store.redb" });
        let mut bytes = fs::read(&path).unwrap();
        let used = bytes.iter().rposition(|byte| *byte != 0).unwrap() as u64;
        let at = usize::try_from(random.below(used)).unwrap();
        if case % 5 == 4 {
            bytes.truncate(at);
        } else {
            bytes[at] ^= 1 << random.below(8);
        }
        fs::write(&path, &bytes).unwrap();
        let ran = mission.stellar(&[&["resume", &run][..], &DECIDED].concat());
        if ran.err.contains("store::") {
            let clear = ["store::damaged", "store::newer"].iter().any(|code| ran.err.contains(code));
            assert!(ran.code == 1 && clear, "byte {at} of {}: {}", path.display(), ran.err);
            refused += 1;
            continue;
        }
        assert!([0, 1, 3].contains(&ran.code), "byte {at} of {}: {} {}", path.display(), ran.code, ran.err);
        match read(&mission, &run) {
            Ok(read) => assert!(read.starts_with(&log), "byte {at} of {}: another log", path.display()),
            Err(why) => panic!("byte {at} of {}: resumed, and then: {why}", path.display()),
        }
        mended(&mission, &format!("byte {at} of {}", path.display()));
        resumed += 1;
    }
    assert!(refused > 0 && resumed > 0, "{refused} refused, {resumed} resumed");
}
