//! Logs and records as the rules read them.

use std::collections::BTreeMap;

use serde_json::Value;
use stellar_vm::time::Instant;

use super::{Evidence, Found, Rule, RunEvidence};

/// The log of a run.
pub(super) struct Log {
    pub(super) run: String,
    pub(super) events: Vec<Logged>,
}

/// An event.
pub(super) struct Logged {
    pub(super) seq: u64,
    pub(super) at: Instant,
    pub(super) epoch: u64,
    pub(super) nonce: String,
    pub(super) kind: String,
    json: Value,
}

impl Log {
    /// Reads a log; what is no event is told, and left out.
    pub(super) fn read(evidence: &RunEvidence, found: &mut Found) -> Self {
        let mut events = Vec::new();
        for (line, number) in evidence.lines.iter().zip(1_u64..) {
            match Logged::read(line) {
                Some(event) => events.push(event),
                None => found.add(Rule::Shape, &evidence.run, None, format!("line {number} is no event: {line}")),
            }
        }
        Self { run: evidence.run.clone(), events }
    }

    /// The events of a kind.
    pub(super) fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Logged> {
        self.events.iter().filter(move |event| event.kind == kind)
    }

    /// The events behind this one.
    pub(super) fn behind(&self, seq: u64) -> impl Iterator<Item = &Logged> {
        self.events.iter().filter(move |event| event.seq > seq)
    }

    /// The events before this one, the last first.
    pub(super) fn before(&self, seq: u64) -> impl Iterator<Item = &Logged> {
        self.events.iter().rev().filter(move |event| event.seq < seq)
    }

    /// The event that logged a telecommand.
    pub(super) fn sent(&self, id: &str) -> Option<&Logged> {
        self.of("telecommand_sent").find(|event| event.text("id") == id)
    }
}

impl Logged {
    fn read(line: &str) -> Option<Self> {
        let json: Value = serde_json::from_str(line).ok()?;
        Some(Self {
            seq: json.get("seq")?.as_u64()?,
            at: instant(json.get("at")?)?,
            epoch: json.get("epoch")?.as_u64()?,
            nonce: json.get("nonce")?.as_str()?.to_owned(),
            kind: json.get("type")?.as_str()?.to_owned(),
            json,
        })
    }

    /// A field that is a text; empty where it is none.
    pub(super) fn text(&self, key: &str) -> &str {
        self.json.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// A field; null where there is none.
    pub(super) fn field(&self, key: &str) -> &Value {
        self.json.get(key).unwrap_or(&Value::Null)
    }

    /// The entries of a field that is a list.
    pub(super) fn list(&self, key: &str) -> impl Iterator<Item = &Value> {
        self.json.get(key).and_then(Value::as_array).into_iter().flatten()
    }

    /// Whether it is of the step of another event.
    pub(super) fn same_step(&self, other: &Self) -> bool {
        let path = self.field("step");
        !path.is_null() && path == other.field("step")
    }

    /// Whether it is a telecommand that changes the on-board state.
    pub(super) fn changes_state(&self) -> bool {
        self.kind == "telecommand_sent" && self.field("changes_state") == &Value::Bool(true)
    }
}

/// What left, by a link's own record.
pub(super) struct HandedOver {
    pub(super) target: String,
    pub(super) id: String,
    pub(super) run: String,
    pub(super) at: Instant,
    pub(super) deadline: Instant,
    json: Value,
}

impl HandedOver {
    /// All that left, target by target, in order.
    pub(super) fn read(evidence: &Evidence, found: &mut Found) -> Vec<Self> {
        let mut all = Vec::new();
        for (target, lines) in &evidence.links {
            for line in lines {
                match Self::one(target, line) {
                    Some(one) => all.push(one),
                    None => found.add(Rule::LoggedBefore, "", None, format!("`{target}` has no hand-over: {line}")),
                }
            }
        }
        all
    }

    fn one(target: &str, line: &str) -> Option<Self> {
        let json: Value = serde_json::from_str(line).ok()?;
        Some(Self {
            target: target.to_owned(),
            id: json.get("id")?.as_str()?.to_owned(),
            run: json.get("run")?.as_str()?.to_owned(),
            at: instant(json.get("at")?)?,
            deadline: instant(json.get("deadline")?)?,
            json,
        })
    }

    /// A field; null where there is none.
    pub(super) fn field(&self, key: &str) -> &Value {
        self.json.get(key).unwrap_or(&Value::Null)
    }

    /// The first hand-over of each telecommand.
    pub(super) fn by_id(all: &[Self]) -> BTreeMap<&str, &Self> {
        let mut by_id = BTreeMap::new();
        for one in all {
            by_id.entry(one.id.as_str()).or_insert(one);
        }
        by_id
    }
}

fn instant(value: &Value) -> Option<Instant> {
    value.as_str()?.parse().ok()
}
