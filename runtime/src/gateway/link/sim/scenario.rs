//! What a simulated target does: its scenario, read from YAML and checked against the catalogue.
//!
//! Everything wrong with a file is said at once, each with file, line and column. `docs/reference/simulator.md` is the
//! reference of the keys.

mod faults;
mod telecommands;
mod telemetry;

use std::fmt;

use stellar_vm::catalogue::Platform;

pub(super) use faults::{Effect, Fault, FaultKind, TelemetryEffect, Which};
pub(super) use telecommands::{Behaviour, Set, SetTo, Tell};
pub(super) use telemetry::{Profile, Telemetry};

use super::{
    value::{Named, Table, named},
    yaml::{self, Complaints, Node},
};

/// What is wrong with a scenario. Shown as `sim/sim-1.yaml:3:5: …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "; {help}"))
    }
}

impl std::error::Error for ScenarioError {}

/// A scenario.
#[derive(Debug, Clone, Default)]
pub struct Scenario {
    telemetry: Vec<(Named, Telemetry)>,
    telecommands: Vec<(Named, Behaviour)>,
    pub(super) faults: Vec<Fault>,
}

/// What an operator asks of a simulated target.
#[derive(Debug)]
pub(super) enum Control {
    Faults(Vec<Fault>),
    Clear,
    Set(Vec<Set>),
}

const SECTIONS: [&str; 3] = ["telemetry", "telecommands", "faults"];
const REQUESTS: [&str; 3] = ["faults", "clear", "set"];

impl Scenario {
    /// Reads a scenario for targets of `platform`; `file` is what errors name.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of the text.
    pub fn read(file: &str, text: &str, platform: &Platform) -> Result<Self, Vec<ScenarioError>> {
        let mut out = Complaints { file, errors: Vec::new() };
        let mut scenario = Self::default();
        if let Some(root) = yaml::read(text, &mut out) {
            let sections = root.fields("a scenario", &SECTIONS, &mut out);
            if let Some(section) = sections.get("telemetry") {
                scenario.telemetry = by_name(section, Table::Parameters, platform, &mut out, telemetry::read);
            }
            if let Some(section) = sections.get("telecommands") {
                scenario.telecommands = by_name(section, Table::Telecommands, platform, &mut out, telecommands::read);
            }
            if let Some(section) = sections.get("faults") {
                scenario.faults = faults::read_all(section, platform, &mut out);
            }
        }
        finish(out, scenario)
    }

    /// What it says of a parameter: of this instance, else of every one.
    pub(super) fn telemetry(&self, parameter: u32, index: Option<i64>) -> Option<&Telemetry> {
        most_specific(&self.telemetry, parameter, index)
    }

    /// What it says of a telecommand: to this instance, else to every one.
    pub(super) fn behaviour(&self, telecommand: u32, index: Option<i64>) -> Option<&Behaviour> {
        most_specific(&self.telecommands, telecommand, index)
    }
}

impl Control {
    /// Reads what an operator asks.
    pub(super) fn read(text: &str, platform: &Platform) -> Result<Self, Vec<ScenarioError>> {
        let mut out = Complaints { file: "request", errors: Vec::new() };
        let mut control = None;
        if let Some(root) = yaml::read(text, &mut out) {
            let fields = root.fields("a request", &REQUESTS, &mut out);
            match fields.present(&REQUESTS).as_slice() {
                ["faults"] => {
                    let faults = fields.get("faults").map(|node| faults::read_all(node, platform, &mut out));
                    control = faults.map(Self::Faults);
                }
                ["set"] => {
                    let sets = fields.get("set").map(|node| telecommands::read_sets(node, None, platform, &mut out));
                    control = sets.map(Self::Set);
                }
                ["clear"] => {
                    if let Some(node) = fields.get("clear").filter(|node| node.text() != Some("faults")) {
                        out.say(node, "`clear: faults` is all that can be cleared");
                    }
                    control = Some(Self::Clear);
                }
                _ if out.errors.is_empty() => {
                    out.say(&root, "a request has one of the keys `faults`, `clear` and `set`");
                }
                _ => {}
            }
        }
        match control {
            Some(control) => finish(out, control),
            None => Err(out.errors),
        }
    }
}

fn finish<T>(mut out: Complaints<'_>, read: T) -> Result<T, Vec<ScenarioError>> {
    if out.errors.is_empty() {
        return Ok(read);
    }
    out.errors.sort_by_key(|error| (error.line, error.column));
    Err(out.errors)
}

fn most_specific<T>(entries: &[(Named, T)], entry: u32, index: Option<i64>) -> Option<&T> {
    let of = |named: &Named, exact: bool| named.entry == entry && (!exact || named.index == index);
    let exact = entries.iter().find(|(named, _)| of(named, true));
    exact
        .or_else(|| entries.iter().find(|(named, _)| of(named, false) && named.index.is_none()))
        .map(|(_, found)| found)
}

/// Reads a section whose keys are names of the catalogue.
fn by_name<T>(
    section: &Node,
    table: Table,
    platform: &Platform,
    out: &mut Complaints<'_>,
    read: impl Fn(&Node, Named, &Platform, &mut Complaints<'_>) -> Option<T>,
) -> Vec<(Named, T)> {
    let mut entries: Vec<(Named, T)> = Vec::new();
    for (key, node) in section.entries("this section", out) {
        let Some(named) = named(key, table, platform, out) else { continue };
        if entries.iter().any(|(other, _)| *other == named) {
            out.say(key, format!("`{}` stands here twice", key.text().unwrap_or_default()));
            continue;
        }
        entries.extend(read(node, named, platform, out).map(|entry| (named, entry)));
    }
    entries
}
