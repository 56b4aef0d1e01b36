//! The field procedures of `fixtures/field/`: a folder is a mission, with the bounds that were worked out by hand
//! (`BOUND.md`) and the cases in which its procedure passes and fails (`cases.yaml`).
//!
//! A case is run in this process and in virtual time, so that an operator may answer at the last instant, or never.
#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a harness fails its test at once")]

pub mod bound;
pub mod coverage;
pub mod run;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::Value;

use crate::mission::Mission;

/// The cases of a folder, as `cases.yaml` has them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// The procedure that is run, where a case names no other.
    pub procedure: String,
    /// The target of each `uses` name; may be left out where one target has the platform.
    #[serde(default)]
    pub targets: BTreeMap<String, String>,
    /// Inputs that hold for every case.
    #[serde(default)]
    pub inputs: BTreeMap<String, Value>,
    /// The cases.
    pub cases: Vec<Case>,
}

/// One run, and what it must come to.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What happens, in words.
    pub name: String,
    /// Another procedure of the folder.
    pub procedure: Option<String>,
    /// Inputs, beside or in place of the suite's.
    #[serde(default)]
    pub inputs: BTreeMap<String, Value>,
    /// For each target what is laid over the scenario of the mission: entries of `telemetry` and `telecommands` take
    /// the place of those of the same name, `faults` are added.
    #[serde(default)]
    pub sim: BTreeMap<String, BTreeMap<String, Value>>,
    /// What the operator answers, question by question: a choice, a choice followed by ` at the end` (of the window, to
    /// the nanosecond), or `never`.
    #[serde(default)]
    pub answers: Vec<String>,
    /// What the operator decides, decision by decision.
    #[serde(default)]
    pub decide: Vec<String>,
    /// `passed`, `failed` or `aborted`.
    pub ends: String,
    /// The failures of attempts in the order of the log, as `STEP: CODE`; ` *N` behind it stands for N in a row.
    #[serde(default)]
    pub fails: Vec<String>,
    /// The telecommands in the order of the log, between spaces: `COMPONENT.NAME`, with `(ARG=VALUE,…)` where there are
    /// arguments and `TARGET:` before it where the mission has several targets; `*N` behind it as above.
    #[serde(default)]
    pub sends: String,
    /// The notes in the order of the log.
    pub notes: Option<Vec<String>>,
    /// How long the run lasts, exactly; `bound` is what `BOUND.md` says.
    pub lasts: Option<String>,
}

/// A folder of `fixtures/field/`.
#[derive(Debug, Clone)]
pub struct Fixture {
    /// Its name.
    pub name: String,
    path: PathBuf,
    /// Its cases.
    pub suite: Suite,
}

/// The folders of the field procedures, sorted.
#[must_use]
pub fn names() -> Vec<String> {
    let entries = fs::read_dir(root()).expect("the fixtures are there");
    let folders = entries.map(|entry| entry.expect("the folder can be read").path()).filter(|path| path.is_dir());
    let mut names: Vec<String> =
        folders.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
    names.sort();
    names
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/field")
}

impl Fixture {
    /// Reads a folder.
    #[must_use]
    pub fn read(name: &str) -> Self {
        let path = root().join(name);
        let text = fs::read_to_string(path.join("cases.yaml")).expect("the folder has cases");
        let suite: Suite = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}/cases.yaml: {error}"));
        Self { name: name.to_owned(), path, suite }
    }

    /// The text of `BOUND.md`.
    #[must_use]
    pub fn bound(&self) -> String {
        fs::read_to_string(self.path.join("BOUND.md")).expect("the folder has its bounds")
    }

    /// A copy of the mission, in a folder of its own.
    #[must_use]
    pub fn mission(&self, program: &str) -> Mission {
        let mission = Mission::empty(program);
        self.copy("", &mission);
        mission
    }

    fn copy(&self, folder: &str, to: &Mission) {
        for entry in fs::read_dir(self.path.join(folder)).expect("the folder can be read") {
            let path = entry.expect("the entry can be read").path();
            let below = path.strip_prefix(&self.path).expect("below the folder").to_string_lossy().into_owned();
            if path.is_dir() {
                self.copy(&below, to);
            } else {
                to.write(&below, fs::read(&path).expect("the file can be read"));
            }
        }
    }
}

impl Case {
    /// Lays what the case says of a target over its scenario.
    ///
    /// # Panics
    /// Where the case speaks of something else than a scenario has.
    pub fn lay_over(&self, mission: &Mission, target: &str, scenario: &str) {
        let Some(over) = self.sim.get(target) else { return };
        let mut whole: BTreeMap<String, Value> =
            serde_saphyr::from_str(&mission.read(scenario)).unwrap_or_else(|error| panic!("{scenario}: {error}"));
        for (part, entries) in over {
            match (whole.get_mut(part), entries) {
                (None, _) => drop(whole.insert(part.clone(), entries.clone())),
                (Some(Value::Object(all)), Value::Object(more)) => all.extend(more.clone()),
                (Some(Value::Array(all)), Value::Array(more)) => all.extend(more.iter().cloned()),
                _ => panic!("{}: `{part}` of {target} cannot be laid over {scenario}", self.name),
            }
        }
        // JSON is YAML.
        mission.write(scenario, serde_json::to_string_pretty(&whole).expect("JSON"));
    }
}

/// What a log came to, in the words of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CameTo {
    /// The outcome.
    pub ends: String,
    /// The failures.
    pub fails: Vec<String>,
    /// The telecommands.
    pub sends: String,
    /// The notes.
    pub notes: Vec<String>,
}

impl CameTo {
    /// Reads it off the events of a run.
    #[must_use]
    pub fn of(events: &[Value], several_targets: bool) -> Self {
        let ended = events.last().filter(|event| event["type"] == "run_finished");
        let ends = ended.map_or("unfinished", |event| event["outcome"].as_str().unwrap_or_default());
        let fails = failures(events).into_iter().map(|(step, failure)| format!("{step}: {}", text(&failure["code"])));
        let sent = events.iter().filter(|event| event["type"] == "telecommand_sent");
        let sends: Vec<String> = in_a_row(sent.map(|event| send(event, several_targets)), "*");
        let noted = events.iter().filter(|event| event["type"] == "noted");
        Self {
            ends: ends.to_owned(),
            fails: in_a_row(fails, " *"),
            sends: sends.join(" "),
            notes: noted.map(|event| text(&event["text"])).collect(),
        }
    }
}

/// Each failure of an attempt with the name of its step, once, in the order of the log: where a decision is open it
/// stands in that, and again at the end of the step.
#[must_use]
pub fn failures(events: &[Value]) -> Vec<(String, &Value)> {
    let mut told: Vec<&Value> = Vec::new();
    let mut failures = Vec::new();
    for event in events {
        let (step, failure) = (&event["step"], &event["failure"]);
        match event["type"].as_str() {
            Some("step_started") => told.retain(|open| *open != step),
            Some("decision_required") if failure.is_object() => {
                told.push(step);
                failures.push((last(step), failure));
            }
            Some("step_finished") if failure.is_object() && !told.contains(&step) => {
                failures.push((last(step), failure));
            }
            _ => {}
        }
    }
    failures
}

/// The last name of a path.
#[must_use]
pub fn last(path: &Value) -> String {
    path.as_array().and_then(|names| names.last()).map(text).unwrap_or_default()
}

/// A text as it is, anything else as JSON.
#[must_use]
pub fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn send(event: &Value, several_targets: bool) -> String {
    let target = if several_targets { format!("{}:", text(&event["target"])) } else { String::new() };
    let args = event["args"].as_object().into_iter().flatten();
    let args: Vec<String> = args.map(|(name, value)| format!("{name}={}", text(value).replace(' ', ""))).collect();
    let args = if args.is_empty() { String::new() } else { format!("({})", args.join(",")) };
    format!("{target}{}.{}{args}", text(&event["component"]), text(&event["telecommand"]))
}

/// The same again and again becomes one, with how often behind it.
fn in_a_row(items: impl Iterator<Item = String>, times: &str) -> Vec<String> {
    let mut rows: Vec<(String, usize)> = Vec::new();
    for item in items {
        match rows.last_mut() {
            Some((before, count)) if *before == item => *count += 1,
            _ => rows.push((item, 1)),
        }
    }
    rows.into_iter().map(|(item, count)| if count > 1 { format!("{item}{times}{count}") } else { item }).collect()
}
