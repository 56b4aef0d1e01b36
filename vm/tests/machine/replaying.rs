//! Replay: the same events from the log alone, and every difference found.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use stellar_vm::{
    event::DecisionOption,
    machine::{ReplayError, replay},
    value::Scalar,
};

use crate::support::*;

const YES: Scalar = Scalar::Bool(true);

/// A run with every kind of transition but a transfer.
fn rich() -> Told {
    let acquire = step("Acquire", vec![St::Send("ping", vec![]), St::Expect(on("responding"), 5 * S)]);
    let arm = step("Arm", vec![St::Send("heat", vec![]), St::Check(on("armed"))]);
    let inner = procedure("Inner", vec![St::Do("Acquire", None), St::Ask("Go?", 9 * S)]);
    let branch = |text| vec![St::Wait(S), St::Note(text)];
    let outer = procedure(
        "P",
        vec![St::Run("Inner", None), St::Together(vec![branch("one"), branch("two")]), St::Do("Arm", None)],
    );
    World::new(&program(vec![outer, inner, acquire, arm]))
        .had("on", YES)
        .react("ping", &[(0, NOT_RELEASED)])
        .react("ping", &[(0, RELEASED), (S, COMPLETED), (2 * S, Reaction::Sample("responding", YES))])
        .react("heat", &[(0, RELEASED), (S, COMPLETED)])
        .answer("Go?", 2 * S, "yes")
        .decide(3 * S, DecisionOption::Skip)
        .take_over(3 * S)
        .run("P")
}

/// A run that is suspended in a transfer, resumed and aborted.
fn broken_off() -> Told {
    let body = vec![St::Transfer("a.bin", 9 * S)];
    World::new(&program(vec![procedure("P", vec![St::Do("A", None)]), step("A", body)]))
        .suspend(2 * S)
        .resume(3 * S)
        .abort(9 * S)
        .run("P")
}

fn outcome(told: &Told, lines: &[String]) -> Result<(), ReplayError> {
    replay(Arc::clone(&told.program), lines.iter().map(String::as_str)).map(|_| ())
}

fn parsed(line: &str) -> Json {
    serde_json::from_str(line).unwrap()
}

#[test]
fn a_log_written_anew_by_another_tool_still_replays() {
    for told in [rich(), broken_off()] {
        let lines: Vec<_> = told.lines.iter().map(|line| format!(" {:#}", parsed(line)).replace('\n', " ")).collect();
        assert_ne!(lines, told.lines);
        assert_eq!(outcome(&told, &lines), Ok(()));
    }
}

#[test]
fn the_envelope_is_not_compared() {
    let told = rich();
    let lines: Vec<_> = told
        .lines
        .iter()
        .map(|line| {
            line.replace(",\"type\"", ",\"nonce\":\"ab\",\"fence\":7,\"type\"").replace("\"epoch\":1", "\"epoch\":9")
        })
        .collect();
    assert_eq!(outcome(&told, &lines), Ok(()));
}

/// Another value of the same kind.
fn other(value: &Json) -> Json {
    match value {
        Json::Bool(value) => json!(!value),
        Json::Number(value) => value.as_i64().map_or(json!(value.as_f64().unwrap() + 0.5), |value| json!(value + 1)),
        Json::String(value) => json!(format!("{value}x")),
        Json::Array(values) => {
            let mut values = values.clone();
            values.push(json!("x"));
            Json::Array(values)
        }
        Json::Object(values) => {
            let mut values = values.clone();
            values.insert("x".into(), json!(1));
            Json::Object(values)
        }
        Json::Null => json!(1),
    }
}

const TRANSITIONS: [&str; 11] = [
    "step_started",
    "telecommand_sent",
    "step_finished",
    "call_started",
    "call_finished",
    "question_asked",
    "decision_required",
    "attempt_scheduled",
    "noted",
    "transfer_requested",
    "run_finished",
];

#[test]
fn any_field_of_any_transition_edited_added_or_taken_away_is_found() {
    let mut kinds = std::collections::BTreeSet::new();
    let mut tried = 0;
    for told in [rich(), broken_off()] {
        for place in 0..told.lines.len() {
            let event = parsed(&told.lines[place]);
            let kind = event["type"].as_str().unwrap().to_owned();
            if !TRANSITIONS.contains(&kind.as_str()) {
                continue;
            }
            kinds.insert(kind.clone());
            let object = event.as_object().unwrap();
            let envelope = ["seq", "at", "epoch", "type"];
            let fields = || object.keys().filter(|key| !envelope.contains(&key.as_str()));
            let mut edits: Vec<Json> = fields()
                .map(|key| {
                    let mut edited = event.clone();
                    edited[key] = other(&event[key]);
                    edited
                })
                .collect();
            edits.extend(fields().map(|key| {
                let mut edited = event.clone();
                edited.as_object_mut().unwrap().remove(key);
                edited
            }));
            let mut more = event.clone();
            more["extra"] = json!(1);
            edits.push(more);
            for edited in edits {
                let mut lines = told.lines.clone();
                lines[place] = edited.to_string();
                tried += 1;
                let error = outcome(&told, &lines).expect_err(&lines[place]);
                assert_eq!(error.code(), "run::replay-diverged", "{}", lines[place]);
                let ReplayError::Diverged { seq, logged, emitted, .. } = error else { unreachable!() };
                assert_eq!((seq, &logged), (event["seq"].as_u64().unwrap(), &lines[place]));
                assert!(told.lines[place].ends_with(&emitted[1..]), "{emitted}");
            }
        }
    }
    assert_eq!(kinds.len(), TRANSITIONS.len(), "{kinds:?}");
    assert!(tried > 200);
}

#[test]
fn a_missing_a_doubled_and_a_moved_event_are_found() {
    let told = rich();
    for place in 0..told.lines.len() {
        let seq = place as u64 + 1;
        let mut lines = told.lines.clone();
        lines.remove(place);
        if place + 1 < told.lines.len() {
            assert_eq!(outcome(&told, &lines), Err(ReplayError::Gap { line: seq, expected: seq, found: seq + 1 }));
        }
        let mut lines = told.lines.clone();
        lines.insert(place, told.lines[place].clone());
        assert_eq!(outcome(&told, &lines), Err(ReplayError::Repeated { line: seq + 1, found: seq }));
    }
}

/// The lines, numbered from 1 again.
fn renumbered(lines: impl Iterator<Item = String>) -> Vec<String> {
    let numbered = lines.zip(1..).map(|(line, seq)| {
        let rest = line.split_once(",\"at\"").unwrap().1;
        format!("{{\"seq\":{seq},\"at\"{rest}")
    });
    numbered.collect()
}

#[test]
fn a_transition_taken_out_doubled_or_of_another_type_is_found_though_the_numbers_fit() {
    for told in [rich(), broken_off()] {
        for (place, line) in told.lines.iter().enumerate() {
            let kind = parsed(line)["type"].as_str().unwrap().to_owned();
            let is_transition = TRANSITIONS.contains(&kind.as_str());
            // Control facts are accepted also where a transition is due: without it the log is another that holds.
            let control = ["abort_requested", "suspended", "resumed", "taken_over"];
            let next = told.lines.get(place + 1).map(|line| parsed(line)["type"].as_str().unwrap().to_owned());
            let held = next.is_none_or(|next| control.contains(&next.as_str()));
            let without = told.lines.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, line)| line.clone());
            let without = renumbered(without);
            if is_transition && !held {
                outcome(&told, &without).expect_err(line);
            }
            let mut doubled = told.lines.clone();
            doubled.insert(place, line.clone());
            if is_transition {
                outcome(&told, &renumbered(doubled.into_iter())).expect_err(line);
            }
            for other in TRANSITIONS.iter().chain(&["declined", "observed", "elapsed", "unheard_of"]) {
                if *other != kind {
                    let mut lines = told.lines.clone();
                    lines[place] = line.replace(&format!("\"type\":\"{kind}\""), &format!("\"type\":\"{other}\""));
                    outcome(&told, &lines).expect_err(&lines[place]);
                }
            }
        }
    }
}

#[test]
fn garbage_time_that_goes_back_and_events_behind_the_end_have_errors_of_their_own() {
    let told = rich();
    let mut lines = told.lines.clone();
    lines[4] = "{\"seq\":5".into();
    assert!(matches!(outcome(&told, &lines), Err(ReplayError::Garbage { line: 5, .. })));
    lines[4] = "[1]".into();
    assert!(matches!(outcome(&told, &lines), Err(ReplayError::Garbage { line: 5, .. })));
    lines[4] = told.lines[4].replace("2026-", "2025-");
    assert_eq!(outcome(&told, &lines), Err(ReplayError::TimeBack { line: 5, seq: 5 }));
    let mut lines = told.lines.clone();
    let end = lines.len() as u64;
    lines.push(lines[2].replace("\"seq\":3", &format!("\"seq\":{}", end + 1)).replace("10:15:00", "10:16:40"));
    assert_eq!(outcome(&told, &lines), Err(ReplayError::AfterEnd { line: end + 1, seq: end + 1 }));
}

#[test]
fn at_every_place_of_the_log_the_replayed_machine_is_the_live_one() {
    for told in [rich(), broken_off()] {
        for to in 0..told.lines.len() {
            let lines = told.lines.iter().take(to).map(String::as_str);
            let replayed = replay(Arc::clone(&told.program), lines).unwrap();
            assert_eq!(replayed.machine().seq(), to as u64);
            let mut on = replayed;
            for line in &told.lines[to..] {
                on.line(line).unwrap();
            }
            assert_eq!(on.machine().view(), told.machine.view());
        }
    }
}

#[test]
fn an_attempt_that_comes_too_late_is_given_up_by_the_log_alone() {
    let retried = vec![St::Do("A", every(None, 2 * S, Some(3 * S)))];
    let program = program_with(
        vec![
            procedure("P", vec![St::Together(vec![retried, vec![St::Wait(60 * S)]])]),
            step("A", vec![St::Check(on("on"))]),
        ],
        None,
    );
    let mut world = World::new(&program);
    world.enter(World::started("P")).unwrap();
    world.until_await();
    // Nobody looks at the run for a while: the second attempt is due at 2 s, and fits no more at 10 s.
    world.now = 10 * S;
    assert!(world.turn());
    // It is compared there with the machine that its log makes, before and behind what `advance` does.
    world.enter_take_over();
    let mut other = World::new(&program);
    other.enter(World::started("P")).unwrap();
    other.until_await();
    other.now = 10 * S;
    assert!(other.turn());
    other.until_await();
    other.enter_take_over();
    world.go_on().ends("60 elapsed 60\n60 end failed CHECK_FAILED");
}
