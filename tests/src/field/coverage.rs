//! What of a program can fail, be asked and be decided, read off its bytecode; and what of it happened in logs.
#![expect(clippy::indexing_slicing, reason = "a harness fails its test at once")]

use std::collections::BTreeSet;

use serde_json::Value;
use stellar_vm::{
    condition::{Expr, ExprOp},
    op::{ExprId, Op},
    program::{Kind, Program, Send, Unit},
};

use super::{failures, last, text};

/// Things that can happen in a run, each in one line.
pub type Ways = BTreeSet<String>;

/// Failures after which a decision offers `recheck`.
const RECHECKED: [&str; 5] = ["EXPECT_FAILED", "CHECK_FAILED", "WAIT_FAILED", "READ_FAILED", "VERIFY_TIMEOUT"];
/// What a decision offers in any case.
const DECISIONS: [&str; 4] = ["replay", "skip", "fail", "abort"];

/// Everything that can happen in the mission's own definitions: each statement that can fail with each kind of failure, each choice of each question,
/// each option of each step that cannot be retried and so asks for a decision.
#[must_use]
pub fn possible(program: &Program) -> Ways {
    let mut ways = Ways::new();
    // The library's reactions to alarms are compiled, too; nobody calls them here.
    let own = program.units.iter().filter(|unit| !program.files[unit.file as usize].starts_with("std/"));
    for unit in own {
        let all = 0..unit.code.len();
        for pc in all.clone() {
            ways.extend(
                kinds(program, unit, unit.code[pc]).into_iter().map(|kind| failure_at(program, unit, pc, kind)),
            );
            match unit.code[pc] {
                Op::Ask(ask) => {
                    let choices: Vec<&str> = unit.asks[ask as usize].choices.iter().map(AsRef::as_ref).collect();
                    ways.extend(choices.iter().map(|choice| chosen(&choices, choice)));
                }
                Op::Step { step, end } => {
                    let of = &unit.steps[step as usize];
                    if of.written && !of.claims.eligible {
                        ways.extend(decisions(program, unit, &of.name, pc + 1..end as usize));
                    }
                }
                _ => {}
            }
        }
        if unit.kind == Kind::Step && !unit.claims.eligible {
            ways.extend(decisions(program, unit, &unit.name, all));
        }
    }
    ways
}

/// Everything of the kind that happened in a run.
#[must_use]
pub fn happened(events: &[Value]) -> Ways {
    let mut ways = Ways::new();
    for (_, failure) in failures(events) {
        let place = format!("{}:{}", text(&failure["file"]), failure["line"]);
        ways.insert(failed(&place, &text(&failure["statement"]), &text(&failure["code"])));
    }
    let answers = |kind: &str, key: &str, id: &Value| {
        events.iter().find(|event| event["type"] == kind && event[key] == *id).cloned().unwrap_or_default()
    };
    for event in events {
        match event["type"].as_str() {
            Some("question_asked") => {
                let choices: Vec<String> = event["choices"].as_array().into_iter().flatten().map(text).collect();
                let choices: Vec<&str> = choices.iter().map(String::as_str).collect();
                let answer = answers("answered", "question", &event["id"]);
                if choices != ["yes", "no"] && answer.is_object() {
                    ways.insert(chosen(&choices, &text(&answer["value"])));
                }
            }
            Some("decision_required") => {
                let decided = answers("decided", "decision", &event["id"]);
                if decided.is_object() {
                    ways.insert(taken(&last(&event["step"]), &text(&decided["option"])));
                }
            }
            _ => {}
        }
    }
    ways
}

fn failed(place: &str, statement: &str, kind: &str) -> String {
    format!("{place}: `{statement}` fails with {kind}")
}

fn chosen(choices: &[&str], choice: &str) -> String {
    format!("of {choices:?} the answer is {choice:?}")
}

fn taken(step: &str, option: &str) -> String {
    format!("about \"{step}\" is decided `{option}`")
}

fn failure_at(program: &Program, unit: &Unit, pc: usize, kind: &str) -> String {
    let source = &unit.source[pc];
    failed(&format!("{}:{}", program.files[unit.file as usize], source.line), &source.text, kind)
}

fn decisions(program: &Program, unit: &Unit, step: &str, code: std::ops::Range<usize>) -> Vec<String> {
    let kinds: Vec<&str> = unit.code[code].iter().flat_map(|op| kinds(program, unit, *op)).collect();
    let always = DECISIONS.iter().filter(|_| !kinds.is_empty());
    let recheck = kinds.iter().any(|kind| RECHECKED.contains(kind)).then_some(&"recheck");
    always.chain(recheck).map(|option| taken(step, option)).collect()
}

/// The kinds with which a statement can fail.
fn kinds(program: &Program, unit: &Unit, op: Op) -> Vec<&'static str> {
    let unsure = |expr: ExprId| can_be_unknown(&unit.exprs[expr as usize]);
    match op {
        Op::Send(send) => kinds_of_send(program, unit, &unit.sends[send as usize]),
        Op::Expect(_) => vec!["EXPECT_FAILED"],
        Op::Check(_) => vec!["CHECK_FAILED"],
        Op::WaitUntil { .. } | Op::WaitTime { .. } => vec!["WAIT_FAILED"],
        Op::Ask(ask) if unit.asks[ask as usize].choices.is_empty() => vec!["ASK_REFUSED", "ASK_TIMEOUT"],
        Op::Ask(_) => vec!["ASK_TIMEOUT"],
        Op::Transfer(_) => vec!["TRANSFER_NOT_CREATED"],
        Op::Let { value, .. } if unsure(value) => vec!["READ_FAILED"],
        Op::Fail(_) => vec!["FAILED"],
        Op::Judge { cond, .. } | Op::If { cond, .. } if unsure(cond) => vec!["CHECK_FAILED"],
        _ => Vec::new(),
    }
}

fn kinds_of_send(program: &Program, unit: &Unit, send: &Send) -> Vec<&'static str> {
    let telecommand = &program.telecommands[send.telecommand as usize];
    let mut given = send.args.iter().flatten().chain(&send.index);
    let mut kinds = vec!["SEND_FAILED"];
    if given.any(|expr| can_be_unknown(&unit.exprs[*expr as usize])) {
        kinds.push("ENCODE_FAILED");
    }
    if telecommand.requires.is_some() {
        kinds.push("REJECTED");
    }
    let reported = !telecommand.verify.stages.is_empty();
    if reported {
        kinds.push("VERIFY_FAILED");
    }
    if reported || telecommand.verify.until.is_some() {
        kinds.push("VERIFY_TIMEOUT");
    }
    kinds
}

/// Whether an expression can be without a value: it reads a sample, or computes.
fn can_be_unknown(expr: &Expr) -> bool {
    expr.code.iter().any(|op| {
        let computes = matches!(op, ExprOp::Add | ExprOp::Sub | ExprOp::Mul | ExprOp::Div | ExprOp::Neg);
        computes || matches!(op, ExprOp::Read(_) | ExprOp::Scale(_) | ExprOp::Near)
    })
}
