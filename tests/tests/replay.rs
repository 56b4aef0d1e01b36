//! `stellar replay`: what it says of a log that holds, and of one that does not. That it holds for the log of every test
//! of a run is proved there, by `proof`.

#![cfg(test)]

use serde_json::{Map, Value, json};
use stellar_tests::{
    everything::{self, PROCEDURES},
    mission::{Mission, Ran},
    proof,
};

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");

fn everything() -> (Mission, Ran) {
    everything::run(STELLAR)
}

/// The log as lines of a file.
fn file(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

#[test]
fn the_log_of_everything_holds_and_no_field_of_it_can_be_edited() {
    let (mission, ran) = everything();
    let seen = |kind: &str| !ran.of(kind).is_empty();
    let missing: Vec<&str> = proof::TRANSITIONS.into_iter().filter(|kind| !seen(kind)).collect();
    assert_eq!(missing, Vec::<&str>::new(), "every kind of transition is in the log: {:#?}", ran.events);
    let edits = proof::of(&mission, ran.id());
    assert!(edits > 500, "{edits} edits");
}

#[test]
fn an_edited_file_is_told_to_diverge_with_both_events() {
    let (mission, ran) = everything();
    mission.write("log.jsonl", file(&ran.events));
    assert!(mission.done(&["replay", "log.jsonl"]).contains("the replay holds"));
    for kind in proof::TRANSITIONS {
        let at = ran.events.iter().position(|event| event["type"] == kind).unwrap();
        let event = ran.events[at].as_object().unwrap();
        let edits = proof::edits(event);
        // One edit of each key.
        let mut keys: Vec<String> = Vec::new();
        for (what, edited) in edits {
            let key = what.trim_start_matches("without ").split('.').next().unwrap().to_owned();
            if keys.contains(&key) || keys.len() > 3 {
                continue;
            }
            keys.push(key);
            let mut events = ran.events.clone();
            events[at] = Value::Object(edited.clone());
            mission.write("log.jsonl", file(&events));
            let said = mission.stellar(&["replay", "log.jsonl"]);
            assert_eq!(said.code, 1, "{kind}: {what}: {}{}", said.out, said.err);
            assert!(said.err.contains("run::replay-diverged"), "{kind}: {what}: {}", said.err);
            assert!(said.err.contains(&Value::Object(edited.clone()).to_string()), "{kind}: {what}: {}", said.err);
        }
        let mut events = ran.events.clone();
        events[at]["another"] = json!(1);
        mission.write("log.jsonl", file(&events));
        let said = mission.json(&["replay", "log.jsonl", "--format", "json"], 1);
        assert_eq!((&said["holds"], &said["code"]), (&json!(false), &json!("run::replay-diverged")), "{said:#}");
        assert_eq!(said["seq"], ran.events[at]["seq"]);
        let logged: Value = serde_json::from_str(said["logged"].as_str().unwrap()).unwrap();
        assert_eq!(logged, events[at]);
        let mut emitted: Map<String, Value> = serde_json::from_str(said["emitted"].as_str().unwrap()).unwrap();
        emitted.extend(
            event
                .iter()
                .filter(|(key, _)| proof::ENVELOPE.contains(&key.as_str()))
                .map(|(k, v)| (k.clone(), v.clone())),
        );
        assert_eq!(&emitted, event, "{kind}");
    }
}

#[test]
fn a_log_written_anew_by_another_tool_holds() {
    let (mission, ran) = everything();
    let anew: String = ran.events.iter().map(|event| format!("{}\n\n", proof::redumped(&event.to_string()))).collect();
    mission.write("log.jsonl", anew);
    assert!(mission.done(&["replay", "log.jsonl"]).contains("the replay holds"));
}

#[test]
fn what_is_no_log_of_the_run_has_errors_of_its_own() {
    let (mission, ran) = everything();
    let with = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut events = ran.events.clone();
        change(&mut events);
        mission.write("log.jsonl", file(&events));
        let said = mission.stellar(&["replay", "log.jsonl"]);
        assert_eq!(said.code, 1, "{}{}", said.out, said.err);
        said.err
    };
    assert!(with(&|events| drop(events.remove(3))).contains("run::log-gap"));
    assert!(with(&|events| events.insert(4, events[3].clone())).contains("run::log-repeated"));
    assert!(with(&|events| events[5]["at"] = json!("2020-01-01T00:00:00.000000000Z")).contains("run::log-time-back"));
    assert!(with(&|events| events[5] = json!({"hello": 1})).contains("run::log-garbage"));
    assert!(with(&|events| drop(events.remove(0))).contains("run::"));
    let last = with(&|events| {
        let mut more = events.last().unwrap().clone();
        more["seq"] = json!(more["seq"].as_u64().unwrap() + 1);
        events.push(more);
    });
    assert!(last.contains("run::log-after-end"), "{last}");
    // A fact that does not fit is a divergence, too.
    let at = ran.events.iter().position(|event| event["type"] == "answered").unwrap();
    let fact = with(&|events| events[at]["value"] = json!("perhaps"));
    assert!(fact.contains("run::replay-diverged"), "{fact}");
}

#[test]
fn the_state_at_an_event_is_shown() {
    let (mission, ran) = everything();
    let asked = ran.of("question_asked")[0];
    let to = asked["seq"].to_string();
    let shown = mission.json(&["replay", ran.id(), "--to", &to, "--format", "json"], 0);
    assert_eq!((&shown["holds"], &shown["events"]), (&json!(true), &asked["seq"]));
    assert!(shown["view"].to_string().contains(asked["id"].as_str().unwrap()), "{shown:#}");
    assert!(mission.done(&["replay", "last", "--to", &to]).contains("Permit"));
    let said = mission.stellar(&["replay", ran.id(), "--to", "100000"]);
    assert_eq!(said.code, 2, "{}", said.err);
}

#[test]
fn a_log_is_bound_to_its_artifact() {
    let (mission, ran) = everything();
    mission.write("log.jsonl", file(&ran.events));
    mission.done(&["compile", "-o", "other.stc"]);
    let said = mission.stellar(&["replay", "log.jsonl", "--artifact", "other.stc"]);
    let own = mission.json(&["show", ran.id(), "--format", "json"], 0)["artifact"].clone();
    let bytes = std::fs::read(mission.path().join("other.stc")).unwrap();
    if own == stellar_vm::artifact::hash(&bytes) {
        assert_eq!(said.code, 0, "{}", said.err);
    } else {
        assert!(said.err.contains("run::other-artifact"), "{}", said.err);
    }
    mission.write("procedures/test.proc", PROCEDURES.replace("1 min", "2 min"));
    mission.done(&["compile", "-o", "other.stc"]);
    let said = mission.stellar(&["replay", "log.jsonl", "--artifact", "other.stc"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("run::other-artifact"), "{}", said.err);
}
