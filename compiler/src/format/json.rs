//! The definitions for a program. Durations are whole nanoseconds.

use serde::Serialize;
use stellar_vm::program::{Kind, Policy};

use super::listed;
use crate::{
    bounds::{Changes, Figures},
    pipeline::Checked,
    policy::From,
    source::SourceFile,
    tree::{Definition, StmtKind, walk},
};

/// A step or procedure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JsonDefinition {
    /// `step` or `procedure`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: String,
    /// The line of its header, from 1.
    pub line: u32,
    /// Its targets, in the order of `uses`.
    pub targets: Vec<JsonTarget>,
    /// Its inputs, in their order.
    pub inputs: Vec<JsonInput>,
    /// Whether a telecommand in its call tree changes the on-board state.
    pub changes_state: bool,
    /// Whether it can be retried: the contrary.
    pub eligible: bool,
    /// One attempt, `on failure` included.
    pub attempt_ns: i64,
    /// The part of it that is `on failure`.
    pub on_failure_ns: i64,
    /// All attempts of its own policy.
    pub max_ns: i64,
    /// Attempts at most.
    pub attempts_max: u64,
    /// Statements at most.
    pub statements: u64,
    /// Its calls, in source order.
    pub calls: Vec<JsonCall>,
}

/// A target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JsonTarget {
    /// Its name in the definition.
    pub name: String,
    /// Its platform.
    pub platform: String,
}

/// An input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JsonInput {
    /// Its name.
    pub name: String,
    /// Its type, in words.
    #[serde(rename = "type")]
    pub ty: String,
    /// Its default, as the language writes it; null without one.
    pub default: Option<String>,
}

/// A call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JsonCall {
    /// What is called.
    pub name: String,
    /// The line of the call, from 1.
    pub line: u32,
    /// The policy that applies; null where nothing is retried.
    pub policy: Option<JsonPolicy>,
    /// All attempts.
    pub max_ns: i64,
    /// Attempts at most.
    pub attempts_max: u64,
}

/// A policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JsonPolicy {
    /// New attempts after the first; null without a count.
    pub times: Option<u32>,
    /// Interval between the starts of two attempts; null without one.
    pub every_ns: Option<i64>,
    /// Total duration; null without one.
    pub for_ns: Option<i64>,
    /// Where it comes from: `call`, `step` or `default`.
    pub from: &'static str,
}

/// The definitions of the files that were named, by file and line. One whose figures are unknown because of an error is
/// left out.
#[must_use]
pub fn definitions(checked: &Checked) -> Vec<JsonDefinition> {
    listed(checked)
        .into_iter()
        .filter_map(|id| definition(checked, checked.definitions().get(id)?, checked.figures().get(id)?))
        .collect()
}

fn definition(checked: &Checked, of: &Definition, figures: &Figures) -> Option<JsonDefinition> {
    let claims = figures.claims?;
    let platform = |number: Option<u32>| {
        number.and_then(|number| checked.catalogue().get(number)).map_or("", crate::catalogue::Platform::name)
    };
    let targets = of
        .targets
        .iter()
        .map(|target| JsonTarget { name: target.name.to_string(), platform: platform(target.platform).to_owned() });
    let inputs = of.inputs.iter().zip(&of.locals).map(|(input, local)| JsonInput {
        name: local.name.to_string(),
        ty: local.ty.as_ref().map(|ty| ty.to_string().replace('`', "")).unwrap_or_default(),
        default: input.default.as_ref().map(ToString::to_string),
    });
    Some(JsonDefinition {
        kind: match of.kind {
            Kind::Step => "step",
            Kind::Procedure => "procedure",
        },
        name: of.name.to_string(),
        file: checked.sources().get(of.file).map_or("", SourceFile::name).to_owned(),
        line: checked.sources().position(of.place(of.header)).line,
        targets: targets.collect(),
        inputs: inputs.collect(),
        changes_state: figures.changes == Changes::Yes,
        eligible: claims.eligible,
        attempt_ns: claims.attempt,
        on_failure_ns: claims.on_failure,
        max_ns: claims.max,
        attempts_max: claims.attempts_max,
        statements: claims.statements,
        calls: calls(checked, of, figures),
    })
}

fn calls(checked: &Checked, of: &Definition, figures: &Figures) -> Vec<JsonCall> {
    let mut calls = Vec::new();
    for block in of.blocks() {
        walk(block, &mut |stmt| {
            let StmtKind::Call(call) = &stmt.kind else { return };
            let Some(part) = figures.part(stmt.keyword) else { return };
            let Some(claims) = part.claims else { return };
            calls.push(JsonCall {
                name: call.name.to_string(),
                line: checked.sources().position(of.place(stmt.span)).line,
                policy: part.policy.map(|(policy, from)| policy_of(policy, from)),
                max_ns: claims.max,
                attempts_max: claims.attempts_max,
            });
        });
    }
    calls
}

fn policy_of(policy: Policy, from: From) -> JsonPolicy {
    JsonPolicy {
        times: policy.times,
        every_ns: policy.every,
        for_ns: policy.total,
        from: match from {
            From::Call => "call",
            From::Step => "step",
            From::Default => "default",
        },
    }
}
