//! The crash campaign, short: a part of its cases with real processes, and some hundred seeds in virtual time. The long
//! one is the program `crash-campaign`; `docs/testing.md` tells of both.

#![cfg(test)]

use stellar_tests::campaign::{
    processes::{self, Options},
    virtual_time,
};

#[test]
fn real_processes_killed_at_the_crash_points_break_no_rule() {
    let report = processes::campaign(&Options {
        stellar: env!("CARGO_BIN_EXE_stellar-under-test").to_owned(),
        kills: 1,
        seed: 1,
        workers: 2,
        case: None,
        cases: Some(45),
    });
    println!("{report}");
    assert_eq!(report.found, []);
    let killed: u64 = report.kills.values().sum();
    assert!(killed >= 25, "{killed} cases killed a process: {report}");
    assert!(report.left > 0, "something left");
}

#[test]
fn processes_in_virtual_time_that_die_at_any_operation_break_no_rule() {
    let report = virtual_time::campaign(1, 150, 2);
    println!("{report}");
    assert_eq!(report.found, []);
    let sides = ["append", "claim", "record", "result"]
        .map(|kind| ["before", "after"].map(|side| report.deaths.get(&(kind, side)).copied().unwrap_or(0)));
    assert!(sides.iter().flatten().all(|times| *times > 0), "each side of each operation: {report}");
}
