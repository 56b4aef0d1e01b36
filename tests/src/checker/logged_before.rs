//! Everything in a link's record was logged before it left: as the same telecommand, by the owner that had the run then
//! (one that changes nothing also by a later one), in the order of the log, within its window and its attempt.

use std::collections::BTreeMap;

use super::{
    Found, Rule,
    log::{HandedOver, Log, Logged},
};

/// What a telecommand is, in log and record alike.
const SAME: [&str; 4] = ["telecommand", "component", "args", "route"];

pub(super) fn check(logs: &[Log], left: &[HandedOver], found: &mut Found) {
    let mut last: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for one in left {
        let Some(log) = logs.iter().find(|log| log.run == one.run) else {
            found.add(Rule::LoggedBefore, &one.run, None, format!("{} left, and there is no such run", one.id));
            continue;
        };
        let Some(sent) = log.sent(&one.id) else {
            found.add(Rule::LoggedBefore, &one.run, None, format!("{} left and is not in the log", one.id));
            continue;
        };
        for what in wrong(log, sent, one) {
            found.add(Rule::LoggedBefore, &one.run, sent.seq, format!("{}: {what}", one.id));
        }
        let before = last.insert((&one.run, &one.target), sent.seq);
        if let Some(before) = before.filter(|before| *before > sent.seq) {
            found.add(Rule::LoggedBefore, &one.run, sent.seq, format!("{} left behind event {before}", one.id));
        }
    }
}

fn wrong(log: &Log, sent: &Logged, one: &HandedOver) -> Vec<String> {
    let mut wrong = Vec::new();
    if sent.text("target") != one.target {
        wrong.push(format!("logged for `{}`, and it left to `{}`", sent.text("target"), one.target));
    }
    for key in SAME.into_iter().filter(|key| sent.field(key) != one.field(key)) {
        wrong.push(format!("`{key}` is {} in the log, and {} left", sent.field(key), one.field(key)));
    }
    if one.at < sent.at {
        wrong.push(format!("it left at {}, before it was logged", one.at));
    }
    if one.at >= one.deadline {
        wrong.push(format!("it left at {}, and its window ended at {}", one.at, one.deadline));
    }
    let next_owner = log.behind(sent.seq).find(|event| event.epoch > sent.epoch);
    if let Some(next) = next_owner.filter(|next| sent.changes_state() && one.at > next.at) {
        wrong.push(format!("it left at {}, and epoch {} had the run since {}", one.at, next.epoch, next.at));
    }
    let over = log.behind(sent.seq).find(|event| event.kind == "step_finished" && event.same_step(sent));
    if let Some(over) = over.filter(|over| one.at > over.at) {
        wrong.push(format!("it left at {}, and its attempt ended with event {}", one.at, over.seq));
    }
    wrong
}
