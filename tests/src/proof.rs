//! The proof by replay that every test of a run calls: its log holds, and nothing of a transition in it can be edited.
#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a harness fails its test at once")]

use serde_json::{Map, Value};
use stellar_vm::machine::{Replay, ReplayError};

use crate::{kept::kept, mission::Mission};

/// What surrounds an event: `seq` and `at` have errors of their own, the rest is of whoever wrote it.
pub const ENVELOPE: [&str; 5] = ["seq", "at", "epoch", "nonce", "fence"];

/// The kinds of events that the run itself makes.
pub const TRANSITIONS: [&str; 11] = [
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

/// Proves every run of a mission; gives how many edits were refused.
pub fn all(mission: &Mission) -> usize {
    let runs = crate::kept::runs(mission);
    assert!(!runs.is_empty(), "there are runs to prove");
    runs.iter().map(|run| of(mission, run)).sum()
}

/// Proves one run: `stellar replay` holds, so does its log written anew by another tool, and each edit of a field of a
/// transition is a divergence that names both events. Gives how many edits were refused.
pub fn of(mission: &Mission, run: &str) -> usize {
    let kept = kept(mission, run);
    let said = mission.done(&["replay", run]);
    assert!(said.contains(&format!("the replay holds: {} events", kept.lines.len())), "{said}");
    let mut replay = Replay::new(kept.program.clone());
    let mut anew = Replay::new(kept.program.clone());
    let mut edits = 0;
    for line in &kept.lines {
        let event = object(line);
        if TRANSITIONS.contains(&event["type"].as_str().expect("a type")) {
            edits += refused_edits(&replay, &event);
        }
        anew.line(&redumped(line)).unwrap_or_else(|e| panic!("written anew: {e}"));
        replay.line(line).unwrap_or_else(|e| panic!("{e}"));
    }
    edits
}

/// A line as another tool may write it: keys in another order, spaces around them.
#[must_use]
pub fn redumped(line: &str) -> String {
    let value: Value = serde_json::from_str(line).expect("an event");
    let text = serde_json::to_string_pretty(&value).expect("JSON");
    text.replace('\n', " ")
}

/// Tries each edit of one transition on a replay that stands before it.
fn refused_edits(replay: &Replay, event: &Map<String, Value>) -> usize {
    let edited = edits(event);
    for (what, edited) in &edited {
        let line = Value::Object(edited.clone()).to_string();
        let error = replay.clone().line(&line).err();
        let Some(ReplayError::Diverged { logged, emitted, seq, .. }) = &error else {
            panic!("{what} edited: {error:?}\n{line}")
        };
        assert_eq!(logged, &line, "{what}: the event of the log is named");
        let (mut emitted, mut whole) = (object(emitted), event.clone());
        assert_eq!(Some(*seq), whole["seq"].as_u64(), "{what}: its place is named");
        for key in ENVELOPE {
            emitted.remove(key);
            whole.remove(key);
        }
        assert_eq!(emitted, whole, "{what}: the event of the run is named");
        let said = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains("logged: ") && said.contains("run: "), "{said}");
    }
    edited.len()
}

/// Every event that differs from this one in one field, at whatever depth, outside of its envelope.
#[must_use]
pub fn edits(event: &Map<String, Value>) -> Vec<(String, Map<String, Value>)> {
    let inner: Map<String, Value> = event
        .iter()
        .filter(|(key, _)| !ENVELOPE.contains(&key.as_str()))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    let mut out = Vec::new();
    for (what, changed) in changes(&Value::Object(inner.clone())) {
        let Value::Object(changed) = changed else { continue };
        // Without a type, or with one that is no text, the line is no event at all: that is another error.
        if !changed.get("type").is_some_and(Value::is_string) {
            continue;
        }
        let mut whole: Map<String, Value> = event.clone();
        whole.retain(|key, _| ENVELOPE.contains(&key.as_str()));
        whole.extend(changed);
        out.push((what, whole));
    }
    out
}

/// Every value that differs from this one in one place.
fn changes(value: &Value) -> Vec<(String, Value)> {
    match value {
        Value::Null => vec![("null".into(), Value::Bool(true))],
        Value::Bool(it) => vec![("truth".into(), Value::Bool(!it)), ("kind".into(), Value::from(0))],
        Value::Number(number) => {
            let other = number
                .as_i64()
                .map_or_else(|| Value::from(number.as_f64().unwrap_or(0.0) + 1.0), |n| Value::from(n + 1));
            vec![("number".into(), other), ("kind".into(), Value::from(number.to_string()))]
        }
        Value::String(text) => {
            vec![("text".into(), Value::from(format!("{text}x"))), ("emptied".into(), Value::from(""))]
                .into_iter()
                .filter(|(_, to)| to != value)
                .collect()
        }
        Value::Array(items) => {
            let mut out = vec![("one more".to_owned(), Value::Array([items.clone(), vec![Value::from("x")]].concat()))];
            for at in 0..items.len() {
                let mut less = items.clone();
                less.remove(at);
                out.push((format!("without {at}"), Value::Array(less)));
                for (what, changed) in changes(&items[at]) {
                    let mut other = items.clone();
                    other[at] = changed;
                    out.push((format!("{at}.{what}"), Value::Array(other)));
                }
            }
            out
        }
        Value::Object(fields) => {
            let mut more = fields.clone();
            more.insert("another".into(), Value::from(1));
            let mut out = vec![("one field more".to_owned(), Value::Object(more))];
            for key in fields.keys() {
                let mut less = fields.clone();
                less.remove(key);
                out.push((format!("without {key}"), Value::Object(less)));
                for (what, changed) in changes(&fields[key]) {
                    let mut other = fields.clone();
                    other.insert(key.clone(), changed);
                    out.push((format!("{key}.{what}"), Value::Object(other)));
                }
            }
            out
        }
    }
}

fn object(line: &str) -> Map<String, Value> {
    serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in {line}"))
}
