//! What changes the on-board state is not sent again without a decision: no new attempt of a step that sent such a
//! telecommand without `replay`, none under `retry_of` without it, and behind an interruption of the attempt nothing
//! that changes the state without a decision of the step.

use super::{
    Found, Rule,
    log::{Log, Logged},
};

pub(super) fn check(log: &Log, found: &mut Found) {
    for event in &log.events {
        if event.kind == "step_started" && event.field("attempt").as_u64() > Some(1) {
            new_attempt(log, event, found);
        }
        if event.changes_state() {
            at_the_same_place(log, event, found);
            behind_an_interruption(log, event, found);
        }
    }
}

/// The last telecommand that changes the state before this event, which one of its step.
fn last_change<'a>(log: &'a Log, event: &'a Logged, wanted: impl Fn(&Logged) -> bool) -> Option<&'a Logged> {
    log.before(event.seq).find(|before| before.changes_state() && before.same_step(event) && wanted(before))
}

/// The decisions of a step between two events.
fn decisions<'a>(log: &'a Log, from: u64, event: &'a Logged) -> impl Iterator<Item = &'a Logged> {
    let of_step = move |decided: &&Logged| {
        let required = log.of("decision_required").find(|it| it.text("id") == decided.text("decision"));
        required.is_some_and(|required| required.same_step(event))
    };
    log.of("decided").filter(move |it| it.seq > from && it.seq < event.seq).filter(of_step)
}

fn new_attempt(log: &Log, event: &Logged, found: &mut Found) {
    // The attempt before it: everything of the step since that began.
    let began = log.before(event.seq).find(|before| before.kind == "step_started" && before.same_step(event));
    let Some(began) = began else { return };
    let Some(changed) = last_change(log, event, |it| it.seq > began.seq) else { return };
    if !decisions(log, changed.seq, event).any(|it| it.text("option") == "replay") {
        let what =
            format!("a new attempt, and event {} changed the on-board state: nobody decided `replay`", changed.seq);
        found.add(Rule::Decided, &log.run, event.seq, what);
    }
}

fn at_the_same_place(log: &Log, event: &Logged, found: &mut Found) {
    let first = event.text("retry_of");
    if first.is_empty() {
        return;
    }
    let Some(origin) = log.sent(first) else {
        found.add(Rule::Decided, &log.run, event.seq, format!("`retry_of` names {first}, which was never sent"));
        return;
    };
    let place = ["step", "file", "line", "target", "component", "telecommand"];
    if place.iter().any(|key| origin.field(key) != event.field(key)) {
        found.add(Rule::Decided, &log.run, event.seq, format!("`retry_of` names {first}, of another place"));
    }
    let again = |it: &Logged| it.text("id") == first || it.text("retry_of") == first;
    let Some(before) = last_change(log, event, again) else { return };
    if !decisions(log, before.seq, event).any(|it| it.text("option") == "replay") {
        let what = format!("it is sent again after event {}: nobody decided `replay`", before.seq);
        found.add(Rule::Decided, &log.run, event.seq, what);
    }
}

fn behind_an_interruption(log: &Log, event: &Logged, found: &mut Found) {
    let began = log.before(event.seq).find(|before| before.kind == "step_started" && before.same_step(event));
    let Some(before) = last_change(log, event, |it| began.is_none_or(|began| it.seq > began.seq)) else { return };
    let interrupted = log.before(event.seq).find(|it| matches!(it.kind.as_str(), "taken_over" | "resumed"));
    let Some(interrupted) = interrupted.filter(|it| it.seq > before.seq) else { return };
    if decisions(log, before.seq, event).next().is_none() {
        let what = format!(
            "interrupted by event {} after event {} changed the on-board state, it goes on: nobody decided",
            interrupted.seq, before.seq
        );
        found.add(Rule::Decided, &log.run, event.seq, what);
    }
}
