//! What operators sent is in the log once each and in order, none left out: as what it did, or as declined.

use super::{Found, Rule, log::Log};

pub(super) fn check(log: &Log, found: &mut Found) {
    let mut next = 1;
    for event in &log.events {
        let Some(ctl) = event.field("ctl").as_u64() else { continue };
        if ctl != next {
            found.add(Rule::Control, &log.run, event.seq, format!("message {ctl}, and {next} is due"));
        }
        next = ctl + 1;
    }
    for decided in log.of("decided") {
        let again = log.of("decided").any(|it| it.seq < decided.seq && it.text("decision") == decided.text("decision"));
        if again {
            found.add(Rule::Control, &log.run, decided.seq, format!("{} is decided again", decided.text("decision")));
        }
        let required = log
            .before(decided.seq)
            .find(|it| it.kind == "decision_required" && it.text("id") == decided.text("decision"));
        let offered = required.is_some_and(|it| it.list("options").any(|one| one == decided.field("option")));
        if !offered {
            found.add(Rule::Control, &log.run, decided.seq, format!("`{}` was not offered", decided.text("option")));
        }
    }
}
