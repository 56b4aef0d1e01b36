//! Who commands a target holds its lease, and two runs that do not both share one never hold it, or have a telecommand
//! handed over, in each other's tenure. A tenure begins with `leases` and ends with the suspension, with the end of the
//! run, or with the last event of an owner that was killed; at one instant of virtual time the one follows the other.

use stellar_vm::time::Instant;

use super::{
    Found, Rule,
    log::{HandedOver, Log},
};

struct Tenure<'a> {
    run: &'a str,
    target: String,
    shared: bool,
    seq: u64,
    from: Instant,
    to: Instant,
}

pub(super) fn check(logs: &[Log], left: &[HandedOver], one_clock: bool, found: &mut Found) {
    let all: Vec<Tenure<'_>> = logs.iter().flat_map(tenures).collect();
    for (place, one) in all.iter().enumerate() {
        for other in all.iter().skip(place + 1).filter(|other| one_clock && against(one, other)) {
            if one.from < other.to && other.from < one.to {
                let what =
                    format!("it holds `{}`, which run {} holds from event {} on", one.target, other.run, other.seq);
                found.add(Rule::Tenure, one.run, one.seq, what);
            }
        }
    }
    for one in left {
        let own = |tenure: &&Tenure<'_>| tenure.run == one.run && tenure.target == one.target;
        let Some(held) = all.iter().filter(own).filter(|tenure| tenure.from <= one.at).max_by_key(|it| it.from) else {
            let what = format!("{} left to `{}`, of which it had no lease", one.id, one.target);
            found.add(Rule::Tenure, &one.run, None, what);
            continue;
        };
        for other in all.iter().filter(|other| other.target == one.target && one_clock && against(held, other)) {
            if other.from < one.at && one.at < other.to {
                let what =
                    format!("{} left to `{}` at {} in the tenure of run {}", one.id, one.target, one.at, other.run);
                found.add(Rule::Tenure, &one.run, held.seq, what);
            }
        }
    }
}

fn against(one: &Tenure<'_>, other: &Tenure<'_>) -> bool {
    one.run != other.run && one.target == other.target && !(one.shared && other.shared)
}

fn tenures(log: &Log) -> Vec<Tenure<'_>> {
    let mut all = Vec::new();
    for taken in log.of("leases") {
        let over = log.behind(taken.seq).find(|event| {
            matches!(event.kind.as_str(), "suspended" | "run_finished" | "leases") || event.epoch > taken.epoch
        });
        let to = match over {
            // The owner was killed after its last event, and before this.
            Some(over) if over.epoch > taken.epoch => log.before(over.seq).next().map(|last| last.at),
            Some(over) => Some(over.at),
            None => log.events.last().map(|last| last.at),
        };
        let shared = taken.field("shared").as_bool().unwrap_or(false);
        for target in taken.list("taken").filter_map(serde_json::Value::as_str) {
            let target = target.to_owned();
            let to = to.unwrap_or(taken.at);
            all.push(Tenure { run: &log.run, target, shared, seq: taken.seq, from: taken.at, to });
        }
    }
    all
}
