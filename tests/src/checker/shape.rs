//! The log is dense from 1, its times and epochs never go back, each epoch has one writer and begins as an owner begins,
//! and the run begins and ends once.

use super::{Found, Rule, RunEvidence, log::Log};

pub(super) fn check(log: &Log, evidence: &RunEvidence, ended: bool, found: &mut Found) {
    let mut add = |seq: Option<u64>, what: String| found.add(Rule::Shape, &log.run, seq, what);
    for (event, wanted) in log.events.iter().zip(1_u64..) {
        if event.seq != wanted {
            add(Some(event.seq), format!("event {wanted} is due here"));
            break;
        }
    }
    for pair in log.events.windows(2) {
        let [before, event] = pair else { continue };
        if event.at < before.at {
            add(Some(event.seq), format!("its time goes back from {} to {}", before.at, event.at));
        }
        match event.epoch.cmp(&before.epoch) {
            std::cmp::Ordering::Less => add(Some(event.seq), format!("epoch {} behind {}", event.epoch, before.epoch)),
            std::cmp::Ordering::Equal if event.nonce != before.nonce => {
                add(Some(event.seq), format!("epoch {} has another writer", event.epoch));
            }
            std::cmp::Ordering::Greater if event.kind != "taken_over" => {
                add(Some(event.seq), format!("epoch {} begins with `{}`", event.epoch, event.kind));
            }
            _ => {}
        }
        if event.kind == "taken_over" && event.epoch == before.epoch {
            add(Some(event.seq), format!("taken over within epoch {}", event.epoch));
        }
    }
    match log.events.first() {
        Some(first) if first.kind != "run_started" => add(Some(1), format!("it begins with `{}`", first.kind)),
        Some(first) if first.text("run") != log.run => add(Some(1), format!("it is of run {}", first.text("run"))),
        None if ended => add(None, "it has no event".to_owned()),
        _ => {}
    }
    for again in log.of("run_started").skip(1) {
        add(Some(again.seq), "it starts again".to_owned());
    }
    let last = log.events.last();
    for end in log.of("run_finished").filter(|end| last.is_some_and(|last| last.seq != end.seq)) {
        add(Some(end.seq), "events follow the end".to_owned());
    }
    if ended && last.is_some_and(|last| last.kind != "run_finished") {
        add(last.map(|last| last.seq), format!("it did not end: its record says `{:?}`", evidence.record.state));
    }
}
