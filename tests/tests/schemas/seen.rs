//! What the binary printed: validated at once, and kept by its shape.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use stellar_tests::{
    kept::kept,
    mission::{Mission, Ran},
};
use stellar_vm::machine::Replay;

use crate::schema::{OUTPUTS, Schema};

/// Everything that was printed.
pub(crate) struct Seen {
    schemas: BTreeMap<&'static str, Schema>,
    /// One document of each shape, of each output.
    documents: BTreeMap<(&'static str, String), Value>,
    /// The texts of each field of [`WORDS`], of each output.
    words: BTreeMap<(&'static str, &'static str), BTreeSet<String>>,
}

/// Fields whose texts are a few words.
const WORDS: [&str; 12] =
    ["awaits", "code", "from", "kind", "known", "option", "options", "outcome", "scale", "severity", "state", "status"];

impl Seen {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        let schemas = OUTPUTS.into_iter().map(|name| (name, Schema::read(name))).collect();
        Self { schemas, documents: BTreeMap::new(), words: BTreeMap::new() }
    }

    /// The schema of an output.
    pub(crate) fn schema(&self, output: &str) -> &Schema {
        &self.schemas[output]
    }

    /// A document of each shape of an output.
    pub(crate) fn documents(&self, output: &'static str) -> impl Iterator<Item = &Value> {
        self.documents.iter().filter(move |((of, _), _)| *of == output).map(|(_, value)| value)
    }

    /// Takes in what was printed.
    pub(crate) fn take(&mut self, output: &'static str, value: Value) {
        self.schemas[output].accepts(output, &value);
        for field in WORDS {
            words(&value, field, self.words.entry((output, field)).or_default());
        }
        let mut shape = String::new();
        outline(&value, &mut shape);
        self.documents.entry((output, shape)).or_insert(value);
    }

    /// Takes in the events that a command printed; gives them back.
    pub(crate) fn ran(&mut self, ran: Ran, code: i32) -> Ran {
        assert_eq!(ran.code, code, "{}\n{:#?}", ran.err, ran.events);
        ran.events.iter().for_each(|event| self.take("event", event.clone()));
        ran
    }

    /// Takes in all that can be printed of a run that no process has under way.
    pub(crate) fn run(&mut self, mission: &Mission, run: &str) {
        let log = mission.log(run);
        log.into_iter().for_each(|event| self.take("event", event));
        self.take("show", mission.json(&["show", run, "--format", "json"], 0));
        self.take("replay", mission.json(&["replay", run, "--format", "json"], 0));
        let listed = mission.json(&["runs", "--format", "json"], 0);
        assert!(listed["runs"].as_array().unwrap().iter().any(|row| row["run"] == run), "{listed:#}");
        self.take("runs", listed);
        self.views(mission, run);
    }

    /// Takes in how a run stood at each event, as `stellar replay --to` shows it.
    fn views(&mut self, mission: &Mission, run: &str) {
        let kept = kept(mission, run);
        let mut replay = Replay::new(kept.program.clone());
        let mut last = Value::Null;
        for (line, events) in kept.lines.iter().zip(1..) {
            replay.line(line).unwrap();
            let view = serde_json::to_value(replay.machine().view()).unwrap();
            last = json!({"schema": 1, "holds": true, "events": events, "view": view});
            self.take("replay", last.clone());
        }
        let to = kept.lines.len().to_string();
        let printed = mission.json(&["replay", run, "--to", &to, "--format", "json"], 0);
        assert_eq!(printed, last, "what is printed is what is made here");
    }

    /// The types of events that were seen.
    pub(crate) fn types(&self) -> BTreeSet<&str> {
        self.documents("event").map(|event| event["type"].as_str().unwrap()).collect()
    }

    /// The fields that were seen in events of a type.
    pub(crate) fn fields(&self, kind: &str) -> BTreeSet<&str> {
        let of = self.documents("event").filter(|event| event["type"] == kind);
        of.flat_map(|event| event.as_object().unwrap().keys().map(String::as_str)).collect()
    }

    /// The texts that were seen in a field of [`WORDS`], at whatever depth, of an output.
    pub(crate) fn words(&self, output: &'static str, field: &'static str) -> BTreeSet<&str> {
        let found = self.words.get(&(output, field)).expect("the words of this field are kept");
        found.iter().map(String::as_str).collect()
    }
}

fn words(value: &Value, field: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                if key == field {
                    let items = inner.as_array().map_or_else(|| std::slice::from_ref(inner), Vec::as_slice);
                    found.extend(items.iter().filter_map(Value::as_str).map(ToOwned::to_owned));
                }
                words(inner, field, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| words(item, field, found)),
        _ => {}
    }
}

/// Fields whose texts make another shape.
const TOLD_APART: [&str; 6] = ["type", "kind", "option", "outcome", "state", "status"];

/// What a document looks like: its fields, the kinds of their values, and the words of those that are of a few words.
fn outline(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) => {
            out.push('{');
            for (key, inner) in fields {
                out.push_str(key);
                out.push(':');
                match inner.as_str().filter(|_| TOLD_APART.contains(&key.as_str())) {
                    Some(word) => out.push_str(word),
                    None => outline(inner, out),
                }
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(items) => {
            let kinds: BTreeSet<String> = items.iter().map(shape_of).collect();
            out.push_str(&format!("[{}]", kinds.into_iter().collect::<Vec<_>>().join("|")));
        }
        Value::String(_) => out.push('s'),
        Value::Number(_) => out.push('n'),
        Value::Bool(_) => out.push('b'),
        Value::Null => out.push('0'),
    }
}

fn shape_of(value: &Value) -> String {
    let mut out = String::new();
    outline(value, &mut out);
    out
}
