//! What the log tells of a telecommand is so by the link's record: statuses, what a takeover found, and what a decision
//! says of each telecommand of its attempt, of which it leaves none out.

use std::collections::BTreeMap;

use super::{
    Found, Rule,
    log::{HandedOver, Log, Logged},
};

pub(super) fn check(log: &Log, left: &[HandedOver], found: &mut Found) {
    let left = HandedOver::by_id(left);
    for event in &log.events {
        match event.kind.as_str() {
            "telecommand_status" => status(log, event, &left, found),
            "taken_over" | "resumed" => known(log, event, "known", &left, found),
            "decision_required" => {
                known(log, event, "telecommands", &left, found);
                all_of_the_attempt(log, event, found);
            }
            _ => {}
        }
    }
}

fn status(log: &Log, event: &Logged, left: &BTreeMap<&str, &HandedOver>, found: &mut Found) {
    let (id, status) = (event.text("id"), event.text("status"));
    if log.sent(id).is_none_or(|sent| sent.seq > event.seq) {
        found.add(Rule::Told, &log.run, event.seq, format!("`{status}` of {id}, which was not sent"));
    }
    let handed_over = left.get(id);
    let never = matches!(status, "not_released" | "encode_failed");
    if never && handed_over.is_some() {
        found.add(Rule::Told, &log.run, event.seq, format!("`{status}` of {id}, which left"));
    }
    if !never && handed_over.is_none_or(|it| it.at > event.at) {
        found.add(Rule::Told, &log.run, event.seq, format!("`{status}` of {id}, which had not left"));
    }
}

fn known(log: &Log, event: &Logged, key: &str, left: &BTreeMap<&str, &HandedOver>, found: &mut Found) {
    for one in event.list(key) {
        let of = |key: &str| one.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
        let (id, said) = (of("id"), of("known"));
        let handed_over = left.get(id);
        let wrong = match said {
            "left" => handed_over.is_none_or(|it| it.at > event.at),
            // What changes nothing is offered again under its identifier.
            "never left" if log.sent(id).is_some_and(|sent| !sent.changes_state()) => {
                handed_over.is_some_and(|it| it.at < event.at)
            }
            "never left" => handed_over.is_some(),
            "may have left" => settled_before(log, event, id),
            _ => true,
        };
        if wrong {
            let how = handed_over.map_or("it did not leave".to_owned(), |it| format!("it left at {}", it.at));
            found.add(Rule::Told, &log.run, event.seq, format!("`{said}` is said of {id}: {how}"));
        }
    }
}

/// Whether the log had already told what became of it. What a takeover finds is what the store tells, which has no
/// result where the hand-over was cut short, whatever reports came since; a decision says what all of that comes to.
fn settled_before(log: &Log, event: &Logged, id: &str) -> bool {
    let results = ["released", "not_released", "encode_failed"];
    let reports = event.kind == "decision_required";
    log.before(event.seq).any(|it| {
        let told = it.kind == "telecommand_status" && it.text("id") == id;
        told && (reports || results.contains(&it.text("status")))
    })
}

fn all_of_the_attempt(log: &Log, event: &Logged, found: &mut Found) {
    if !event.text("reason").starts_with("interrupted by ") {
        return;
    }
    let began = log.before(event.seq).find(|it| it.kind == "step_started" && it.same_step(event));
    let from = began.map_or(0, |began| began.seq);
    let listed: Vec<&str> = event.list("telecommands").filter_map(|one| one.get("id")?.as_str()).collect();
    let sent = log.of("telecommand_sent").filter(|it| it.seq > from && it.seq < event.seq && it.same_step(event));
    for sent in sent.filter(|sent| !listed.contains(&sent.text("id"))) {
        found.add(Rule::Told, &log.run, event.seq, format!("it says nothing of {}", sent.text("id")));
    }
}
