//! What was printed in every situation: all of it is as the schemas say, nothing that they name is missing from it, and
//! what they do not say is refused.

use std::{collections::BTreeSet, sync::LazyLock};

use serde_json::{Value, json};

use crate::{
    schema::{OUTPUTS, Place, Schema},
    seen::Seen,
    situations,
};

/// Everything, printed once for all tests here.
static SEEN: LazyLock<Seen> = LazyLock::new(|| {
    let mut seen = Seen::new();
    for (what, situation) in situations::ALL {
        eprintln!("{what}");
        situation(&mut seen);
    }
    seen
});

/// What no process of this version can be brought to write.
const NEVER: [(&str, &str); 1] = [
    // Only where the clock of UTC steps back while it is waited for.
    ("elapsed", "utc"),
];

#[test]
fn every_type_of_event_and_every_field_of_it_is_printed_at_some_time() {
    let seen = &*SEEN;
    let schema = seen.schema("event");
    let all: BTreeSet<&str> = Schema::alternatives(schema.document()).into_iter().collect();
    assert_eq!(seen.types(), all);
    for kind in all {
        let fields = seen.fields(kind);
        for field in schema.definition(kind)["properties"].as_object().unwrap().keys() {
            let never = NEVER.contains(&(kind, field));
            assert_eq!(fields.contains(field.as_str()), !never, "{field} of {kind}");
        }
    }
}

#[test]
fn every_word_is_printed_at_some_time() {
    let seen = &*SEEN;
    let event = seen.schema("event");
    let all = |output: &'static str, field: &'static str, part: &Value, but: &[&str]| {
        let wanted: BTreeSet<&str> = part["enum"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        let but: BTreeSet<&str> = but.iter().copied().collect();
        let found = seen.words(output, field);
        let wanted: BTreeSet<&str> = wanted.difference(&but).copied().collect();
        let missing: Vec<_> = wanted.difference(&found).collect();
        assert!(missing.is_empty(), "{field} of {output}: {missing:?}");
    };
    all("event", "option", event.definition("decision_option"), &[]);
    all("event", "options", event.definition("decision_option"), &[]);
    all("event", "known", event.definition("known"), &[]);
    all("event", "status", event.definition("telecommand_status_kind"), &[]);
    all("event", "scale", &event.definition("run_started")["properties"]["scale"], &[]);
    all("event", "outcome", event.definition("step_outcome"), &[]);
    all("event", "outcome", event.definition("run_outcome"), &[]);
    // No file is ever transferred by this version.
    let never = ["TRANSFER_FAILED"];
    all("event", "code", event.definition("failure_code"), &never);
    // A run is requested for no longer than its first event takes.
    all("runs", "state", seen.schema("runs").definition("record_state"), &["requested"]);
    all("show", "state", seen.schema("show").definition("record_state"), &["requested"]);
    let view = seen.schema("replay");
    // A log that is looked at has its first event.
    all("replay", "state", view.definition("machine_state"), &["new"]);
    for name in Schema::alternatives(view.definition("doing")) {
        let kind = view.definition(name)["properties"]["kind"]["const"].as_str().unwrap();
        assert!(seen.words("replay", "kind").contains(kind), "a strand that does {kind}");
    }
    let alternatives = Schema::alternatives(view.document());
    assert_eq!(alternatives, ["holds", "diverges", "no_log"]);
    all("replay", "code", &view.definition("no_log")["properties"]["code"], &[]);
    assert!(seen.words("replay", "code").contains("run::replay-diverged"));
    let check = seen.schema("check");
    all("check", "severity", &check.definition("diagnostic")["properties"]["severity"], &[]);
    all("check", "kind", &check.definition("definition")["properties"]["kind"], &[]);
    all("check", "from", &check.definition("policy")["properties"]["from"], &[]);
}

/// Edits of one place of a document that its schema does not allow.
fn edits(place: &Place<'_>) -> Vec<(String, Value)> {
    let mut out = Vec::new();
    let other = if place.value.is_array() { json!({}) } else { json!([]) };
    out.push(("of another type".to_owned(), other));
    // What takes several types is no less a value with one of those.
    let swapped = match place.value {
        Value::String(_) if !place.types.contains("number") => Some(json!(7)),
        Value::Number(_) if !place.types.contains("string") => Some(json!("7")),
        Value::Number(number) if place.types.contains("integer") && number.is_u64() => Some(json!(0.5)),
        Value::Bool(_) if !place.types.contains("string") => Some(json!("true")),
        Value::Null => Some(json!(true)),
        _ => None,
    };
    out.extend(swapped.map(|value| ("of another plain type".to_owned(), value)));
    if !place.value.is_null() && !place.types.contains("null") {
        out.push(("null".to_owned(), Value::Null));
    }
    if let Some(fields) = place.value.as_object() {
        for name in &place.required {
            let mut less = fields.clone();
            assert!(less.remove(*name).is_some(), "{}: {name} is there", place.pointer);
            out.push((format!("without {name}"), less.into()));
        }
        if place.closed {
            let mut more = fields.clone();
            more.insert("another".to_owned(), json!(1));
            out.push(("with another field".to_owned(), more.into()));
        }
    }
    out
}

/// Asserts that every edit of a document is refused; gives how many there were.
fn refused(schema: &Schema, document: &Value) -> usize {
    let mut count = 0;
    for place in schema.places(document) {
        for (what, edit) in edits(&place) {
            let mut edited = document.clone();
            *edited.pointer_mut(&place.pointer).unwrap() = edit;
            assert!(!schema.is_valid(&edited), "`{}` {what} is accepted\n{edited:#}", place.pointer);
            count += 1;
        }
    }
    count
}

#[test]
fn what_a_schema_does_not_say_is_refused() {
    let seen = &*SEEN;
    for output in OUTPUTS {
        let schema = seen.schema(output);
        // Of events one of each shape, of the others a few that are not too long.
        let some = if output == "event" { usize::MAX } else { 6 };
        let short = seen.documents(output).filter(|document| document.to_string().len() < 6_000);
        let edits: usize = short.take(some).map(|document| refused(schema, document)).sum();
        eprintln!("{output}: {edits} edits refused");
        assert!(edits > 100, "{output}: {edits} edits");
    }
}

/// Types of events with the same fields, told apart by `type` alone.
const ALIKE: [[&str; 2]; 3] =
    [["step_started", "call_started"], ["step_finished", "call_finished"], ["abort_requested", "resumed"]];

#[test]
fn an_event_of_one_type_is_none_of_another() {
    let seen = &*SEEN;
    let schema = seen.schema("event");
    for event in seen.documents("event") {
        let own = event["type"].as_str().unwrap();
        let others = seen.types().into_iter().chain(["something_else"]);
        for kind in
            others.filter(|kind| *kind != own && !ALIKE.iter().any(|pair| pair.contains(kind) && pair.contains(&own)))
        {
            let mut edited = event.clone();
            edited["type"] = json!(kind);
            assert!(!schema.is_valid(&edited), "{own} as {kind}: {edited:#}");
        }
    }
}
