//! The checker: it finds nothing in what a store and its links truly hold after kills, decisions and retries, and finds
//! each thing that must not be, once a log or a record is edited so that it is there.

#![cfg(test)]

use std::collections::BTreeSet;

use serde_json::{Value, json};
use stellar_runtime::ports::RunState;
use stellar_tests::{
    campaign::missions,
    checker::{self, Evidence, Rule},
    mission::Mission,
};
use stellar_vm::event::RunOutcome;

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");

fn ran(mission: &Mission, point: Option<&str>, arguments: &[&str]) -> i32 {
    let mut command = mission.command(arguments);
    if let Some(point) = point {
        command.env("STELLAR_CRASH_POINT", point);
    }
    stellar_tests::mission::finish(command, arguments).code
}

/// Three runs that were killed, resumed and decided about: the first sent a telecommand again after a decision, and had
/// one that never left; the second only reads; the third has two targets.
fn good() -> Evidence {
    let mission = missions::mission(STELLAR, missions::SCENARIOS[1]);
    let run = |name: &str| {
        assert_eq!(ran(&mission, Some(name), &["run", "Changes", "-t", "sat=probe-1"]), -1);
        stellar_tests::kept::runs(&mission).pop().unwrap()
    };
    let first = run("hand-over.after:2");
    assert_eq!(ran(&mission, None, &["resume", &first]), 3);
    let again = ["resume", &first, "--decide", "Switch=replay"];
    assert_eq!(ran(&mission, Some("claim.before:3"), &again), -1);
    assert_eq!(ran(&mission, None, &["resume", &first]), 3);
    assert_eq!(ran(&mission, None, &["resume", &first, "--decide", "Arm twice=replay"]), 0);
    assert_eq!(ran(&mission, None, &["run", "Reads", "-t", "sat=probe-1"]), 0);
    let both = ["run", "Both", "-t", "one=probe-1", "-t", "two=probe-2", "--decide", "Switch two=skip"];
    assert_eq!(ran(&mission, None, &both), 0);
    Evidence::of_folder(&mission.path().join(".stellar"))
}

/// The log of a run, edited.
fn log(evidence: &mut Evidence, run: usize, edit: impl FnOnce(&mut Vec<Value>)) {
    let lines = &mut evidence.runs[run].lines;
    let mut events: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    edit(&mut events);
    *lines = events.iter().map(Value::to_string).collect();
}

/// The record of a link, edited.
fn link(evidence: &mut Evidence, target: &str, edit: impl FnOnce(&mut Vec<Value>)) {
    let lines = evidence.links.get_mut(target).unwrap();
    let mut all: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    edit(&mut all);
    *lines = all.iter().map(Value::to_string).collect();
}

fn events(evidence: &Evidence, run: usize) -> Vec<Value> {
    evidence.runs[run].lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Place of the n-th event of a kind, from 0.
fn place(events: &[Value], kind: &str, nth: usize) -> usize {
    let mut of_kind = events.iter().enumerate().filter(|(_, event)| event["type"] == kind);
    of_kind.nth(nth).unwrap_or_else(|| panic!("no {kind} {nth} in {events:#?}")).0
}

/// Places of the telecommands that change the state, in order.
fn changes(events: &[Value]) -> Vec<usize> {
    let changes = |event: &Value| event["type"] == "telecommand_sent" && event["changes_state"] == true;
    (0..events.len()).filter(|at| changes(&events[*at])).collect()
}

/// Removes an event and counts on without it.
fn without(events: &mut Vec<Value>, at: usize) {
    events.remove(at);
    for (event, seq) in events.iter_mut().zip(1_u64..) {
        event["seq"] = json!(seq);
    }
}

/// An edit: what it seeds, the rule that finds it, and the run and event that are named.
type Seed = (&'static str, Rule, fn(&mut Evidence) -> (usize, Option<u64>));

fn seq(at: usize) -> Option<u64> {
    Some(at as u64 + 1)
}

const SEEDS: &[Seed] = &[
    ("one left twice", Rule::Once, |it| {
        link(it, "probe-1", |all| all.push(all[1].clone()));
        (0, None)
    }),
    ("one left to two targets", Rule::Once, |it| {
        let line = it.links["probe-1"][1].clone();
        it.links.get_mut("probe-2").unwrap().push(line);
        (0, None)
    }),
    ("one left that was not logged", Rule::LoggedBefore, |it| {
        link(it, "probe-1", |all| all[1]["id"] = json!("01K6A3D3Y4Q8K1P9W2N6R5T7XZ"));
        (0, None)
    }),
    ("one left before it was logged", Rule::LoggedBefore, |it| {
        let at = changes(&events(it, 0))[0];
        link(it, "probe-1", |all| all[1]["at"] = json!("2001-01-01T00:00:00.000000000Z"));
        (0, seq(at))
    }),
    ("one left with other arguments", Rule::LoggedBefore, |it| {
        let at = changes(&events(it, 0))[0];
        link(it, "probe-1", |all| all[1]["args"] = json!({"power": 1}));
        (0, seq(at))
    }),
    ("one left to another target", Rule::LoggedBefore, |it| {
        let at = changes(&events(it, 0))[0];
        let line = it.links.get_mut("probe-1").unwrap().remove(1);
        it.links.get_mut("probe-2").unwrap().push(line);
        (0, seq(at))
    }),
    ("one left under a later owner", Rule::LoggedBefore, |it| {
        let log = events(it, 0);
        let (at, next) = (changes(&log)[0], place(&log, "decided", 0));
        let late = log[next + 1]["at"].clone();
        link(it, "probe-1", |all| all[1]["at"] = late);
        (0, seq(at))
    }),
    ("one left behind one that was logged later", Rule::LoggedBefore, |it| {
        let at = changes(&events(it, 0))[0];
        link(it, "probe-1", |all| all.swap(1, 2));
        (0, seq(at))
    }),
    ("one left when its window was over", Rule::LoggedBefore, |it| {
        let at = changes(&events(it, 0))[0];
        link(it, "probe-1", |all| all[1]["deadline"] = all[1]["at"].clone());
        (0, seq(at))
    }),
    ("a gap", Rule::Shape, |it| {
        log(it, 0, |events| drop(events.remove(4)));
        (0, seq(5))
    }),
    ("an event twice", Rule::Shape, |it| {
        log(it, 0, |events| events.insert(4, events[4].clone()));
        (0, seq(4))
    }),
    ("two writers in one epoch", Rule::Shape, |it| {
        log(it, 0, |events| events[4]["nonce"] = json!("another"));
        (0, seq(4))
    }),
    ("an epoch that goes back", Rule::Shape, |it| {
        let at = events(it, 0).len() - 1;
        log(it, 0, |events| events[at]["epoch"] = json!(1));
        (0, seq(at))
    }),
    ("an epoch without a takeover", Rule::Shape, |it| {
        let at = place(&events(it, 0), "taken_over", 0);
        log(it, 0, |events| without(events, at));
        (0, seq(at))
    }),
    ("a time that goes back", Rule::Shape, |it| {
        log(it, 0, |events| events[6]["at"] = json!("2001-01-01T00:00:00.000000000Z"));
        (0, seq(6))
    }),
    ("an event behind the end", Rule::Shape, |it| {
        let at = events(it, 1).len() - 1;
        log(it, 1, |events| {
            let mut more = events[at].clone();
            more["seq"] = json!(at as u64 + 2);
            events.push(more);
        });
        (1, seq(at))
    }),
    ("a run without an end", Rule::Shape, |it| {
        let at = events(it, 1).len() - 2;
        log(it, 1, |events| drop(events.pop()));
        (1, seq(at))
    }),
    ("a line that is no event", Rule::Shape, |it| {
        it.runs[1].lines[3] = "{\"seq\":4".to_owned();
        (1, None)
    }),
    ("another outcome of a step", Rule::Replays, |it| {
        let at = place(&events(it, 1), "step_finished", 0);
        log(it, 1, |events| events[at]["outcome"] = json!("skipped"));
        (1, seq(at))
    }),
    ("another sample", Rule::Replays, |it| {
        let log_of = events(it, 1);
        let at = place(&log_of, "observed", 0);
        log(it, 1, |events| events[at]["samples"][0]["value"] = json!(false));
        // The run then does something else than what follows.
        let next = (at..).find(|next| log_of[*next]["type"] != "observed").unwrap();
        (1, seq(next))
    }),
    ("a record with another outcome", Rule::Replays, |it| {
        it.runs[1].record.outcome = Some(RunOutcome::Aborted);
        (1, None)
    }),
    ("a record that says it runs", Rule::Replays, |it| {
        it.runs[1].record.state = RunState::Running;
        (1, None)
    }),
    ("sent again, and nobody decided", Rule::Decided, |it| {
        let at = place(&events(it, 0), "decided", 0);
        let next = changes(&events(it, 0))[1];
        log(it, 0, |events| without(events, at));
        (0, seq(next - 1))
    }),
    ("a new attempt, and nobody decided `replay`", Rule::Decided, |it| {
        let at = place(&events(it, 0), "decided", 0);
        log(it, 0, |events| events[at]["option"] = json!("skip"));
        let log = events(it, 0);
        let started = (at..).find(|next| log[*next]["type"] == "step_started").unwrap();
        (0, seq(started))
    }),
    ("sent again as if it were the first, and nobody decided", Rule::Decided, |it| {
        let log_of = events(it, 0);
        let at = changes(&log_of)[1];
        log(it, 0, |events| {
            drop(events[at].as_object_mut().unwrap().remove("retry_of"));
            for event in events.iter_mut() {
                match event["type"].as_str().unwrap() {
                    "decided" => event["decision"] = json!("another"),
                    // As though the attempt had gone on.
                    "step_started" if event["attempt"] != 1 => event["type"] = json!("noted"),
                    _ => {}
                }
            }
        });
        (0, seq(at))
    }),
    ("the retry of another telecommand", Rule::Decided, |it| {
        let log_of = events(it, 0);
        let at = changes(&log_of)[1];
        let other = log_of[place(&log_of, "telecommand_sent", 0)]["id"].clone();
        log(it, 0, |events| events[at]["retry_of"] = other);
        (0, seq(at))
    }),
    ("two runs hold a target", Rule::Tenure, |it| {
        let (start, end) = (events(it, 0)[1]["at"].clone(), events(it, 2).last().unwrap()["at"].clone());
        let at = place(&events(it, 1), "leases", 0);
        log(it, 1, |events| {
            events[at]["at"] = start;
            events.last_mut().unwrap()["at"] = end;
        });
        // The first of the two is named.
        (0, seq(1))
    }),
    ("one left in the tenure of another run", Rule::Tenure, |it| {
        let inside = |log: &[Value]| log[place(log, "step_finished", 0)]["at"].clone();
        let at = inside(&events(it, 2));
        link(it, "probe-1", |all| {
            let of_first = all[0]["run"].clone();
            let last = all.iter_mut().rfind(|line| line["run"] == of_first).unwrap();
            last["at"] = at;
        });
        let leases = events(it, 0);
        let held = (0..leases.len()).rfind(|at| leases[*at]["type"] == "leases").unwrap();
        (0, seq(held))
    }),
    ("one left without a lease", Rule::Tenure, |it| {
        log(it, 1, |events| events[1]["taken"] = json!([]));
        (1, None)
    }),
    ("a message left out", Rule::Control, |it| {
        let at = place(&events(it, 0), "decided", 1);
        log(it, 0, |events| events[at]["ctl"] = json!(3));
        (0, seq(at))
    }),
    ("a message applied twice", Rule::Control, |it| {
        let at = place(&events(it, 0), "decided", 1);
        log(it, 0, |events| events[at]["ctl"] = json!(1));
        (0, seq(at))
    }),
    ("a decision that was not offered", Rule::Control, |it| {
        let required = place(&events(it, 0), "decision_required", 0);
        let at = place(&events(it, 0), "decided", 0);
        log(it, 0, |events| events[required]["options"] = json!(["skip"]));
        (0, seq(at))
    }),
    ("\"left\" of one that did not leave", Rule::Told, |it| {
        let at = place(&events(it, 0), "decision_required", 1);
        log(it, 0, |events| {
            let never = events[at]["telecommands"].as_array_mut().unwrap();
            never.last_mut().unwrap()["known"] = json!("left");
        });
        (0, seq(at))
    }),
    ("\"never left\" of one that left", Rule::Told, |it| {
        let at = place(&events(it, 0), "decision_required", 0);
        log(it, 0, |events| events[at]["telecommands"][0]["known"] = json!("never left"));
        (0, seq(at))
    }),
    ("\"never left\" of one that the takeover found to have left", Rule::Told, |it| {
        let at = place(&events(it, 0), "taken_over", 0);
        log(it, 0, |events| events[at]["known"][0]["known"] = json!("never left"));
        (0, seq(at))
    }),
    ("\"may have left\" of one whose end the log has", Rule::Told, |it| {
        let at = place(&events(it, 0), "decision_required", 1);
        log(it, 0, |events| events[at]["telecommands"][0]["known"] = json!("may have left"));
        (0, seq(at))
    }),
    ("a decision that leaves a telecommand out", Rule::Told, |it| {
        let at = place(&events(it, 0), "decision_required", 1);
        log(it, 0, |events| drop(events[at]["telecommands"].as_array_mut().unwrap().remove(0)));
        (0, seq(at))
    }),
    ("a report of one that did not leave", Rule::Told, |it| {
        let at = place(&events(it, 1), "telecommand_status", 0);
        let id = events(it, 1)[at]["id"].clone();
        link(it, "probe-1", |all| all.retain(|line| line["id"] != id));
        (1, seq(at))
    }),
    ("\"not released\" of one that left", Rule::Told, |it| {
        let at = place(&events(it, 1), "telecommand_status", 0);
        log(it, 1, |events| events[at]["status"] = json!("not_released"));
        (1, seq(at))
    }),
    ("a report of one that was not sent", Rule::Told, |it| {
        let at = place(&events(it, 1), "telecommand_status", 0);
        log(it, 1, |events| events[at]["id"] = json!("01K6A3D3Y4Q8K1P9W2N6R5T7XZ"));
        (1, seq(at))
    }),
];

#[test]
fn it_finds_nothing_in_what_is_good_and_everything_that_is_not() {
    let good = good();
    let nothing: Vec<String> = checker::check(&good).iter().map(ToString::to_string).collect();
    assert_eq!(nothing, Vec::<String>::new());
    // Written anew by another tool it is the same.
    let mut anew = good.clone();
    for run in 0..anew.runs.len() {
        log(&mut anew, run, |_| ());
    }
    assert_eq!(checker::check(&anew), []);
    let mut seeded = BTreeSet::new();
    for (what, rule, edit) in SEEDS {
        let mut edited = good.clone();
        let (run, event) = edit(&mut edited);
        let found = checker::check(&edited);
        let run = &good.runs[run].run;
        let named = found.iter().any(|it| it.rule == *rule && it.run == *run && it.seq == event);
        assert!(named, "{what}: not found by {rule:?} at event {event:?} of run {run}: {found:#?}");
        seeded.insert(*rule);
    }
    assert_eq!(seeded.into_iter().collect::<Vec<_>>(), Rule::ALL, "each rule has a seeded violation");
}
