//! Campaigns over many seeds, and what they must have reached.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use super::property::check;

/// What is to be reached 1,000 times in 100,000 programs.
const WANTED: [&str; 79] = [
    "statement send (looks)",
    "statement send (acts)",
    "statement expect",
    "statement expect held for",
    "statement check",
    "statement wait until",
    "statement wait",
    "statement wait until time",
    "statement ask",
    "statement ask of",
    "statement transfer",
    "statement note",
    "statement let",
    "statement fail",
    "statement if",
    "statement repeat",
    "statement for each in a range",
    "statement for each in a list",
    "statement together",
    "statement do",
    "statement run",
    "statement step",
    "on failure",
    "failure EXPECT_FAILED",
    "failure CHECK_FAILED",
    "failure WAIT_FAILED",
    "failure READ_FAILED",
    "failure REJECTED",
    "failure ENCODE_FAILED",
    "failure SEND_FAILED",
    "failure VERIFY_FAILED",
    "failure VERIFY_TIMEOUT",
    "failure ASK_REFUSED",
    "failure ASK_TIMEOUT",
    "failure TRANSFER_FAILED",
    "failure TRANSFER_NOT_CREATED",
    "failure FAILED",
    "decision after a failure",
    "decision after an interruption",
    "decided replay",
    "decided skip",
    "decided fail",
    "decided abort",
    "decided recheck",
    "suspended before a transition",
    "suspended in branches",
    "suspended reading",
    "suspended in a window",
    "suspended holding",
    "suspended verifying",
    "suspended waiting",
    "suspended between attempts",
    "suspended waiting for a time",
    "suspended asking",
    "suspended deciding",
    "suspended transferring",
    "takeover rule 1",
    "takeover rule 2",
    "takeover rule 3",
    "takeover rule 4",
    "takeover rule 5",
    "takeover rule 5 (transfer)",
    "takeover rule 6",
    "takeover rule 6 (between attempts)",
    "takeover rule 6 (outside of steps)",
    "interrupted: a new attempt",
    "held for: broken",
    "held for: not fresh at its end",
    "together: a branch fails",
    "for: no longer fits",
    "leases refused",
    "aborted",
    "step_finished: passed",
    "step_finished: skipped",
    "step_finished: interrupted",
    "call_finished: passed",
    "call_finished: failed",
    "run passed",
    "run failed",
];

/// How many seeds a thread takes at once.
const CHUNK: u64 = 8;

/// What a campaign came to.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Seeds run.
    pub seeds: u64,
    /// Events of all runs.
    pub events: u64,
    /// How often each thing was reached.
    pub reached: BTreeMap<String, u64>,
    /// Seeds at which something is wrong, with what.
    pub faults: BTreeMap<u64, String>,
}

impl Tally {
    /// How often each thing must be reached in so many programs.
    #[must_use]
    pub fn least(&self) -> u64 {
        (self.seeds / 100).max(1)
    }

    /// What was reached too seldom.
    #[must_use]
    pub fn missing(&self) -> Vec<(&'static str, u64)> {
        let count = |name: &&'static str| (*name, self.reached.get(*name).copied().unwrap_or(0));
        WANTED.iter().map(count).filter(|(_, count)| *count < self.least()).collect()
    }

    /// What was not reached at all.
    #[must_use]
    pub fn unreached(&self) -> Vec<&'static str> {
        WANTED.into_iter().filter(|name| !self.reached.contains_key(*name)).collect()
    }

    fn add(&mut self, other: Self) {
        self.seeds += other.seeds;
        self.events += other.events;
        for (name, count) in other.reached {
            *self.reached.entry(name).or_default() += count;
        }
        self.faults.extend(other.faults);
    }
}

/// Runs all seeds of a range on so many threads; ends early where so many have faults.
#[must_use]
pub fn campaign(seeds: std::ops::Range<u64>, threads: usize, most_faults: usize) -> Tally {
    let next = AtomicU64::new(seeds.start);
    let all = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let from = next.fetch_add(CHUNK, Ordering::Relaxed);
                    if from >= seeds.end || all.lock().unwrap().faults.len() >= most_faults {
                        return;
                    }
                    let mut tally = Tally::default();
                    for seed in from..(from + CHUNK).min(seeds.end) {
                        one(seed, &mut tally);
                    }
                    all.lock().unwrap().add(tally);
                }
            });
        }
    });
    all.into_inner().unwrap()
}

fn one(seed: u64, tally: &mut Tally) {
    tally.seeds += 1;
    // A panic of the machine is a fault as any other.
    match catch_unwind(AssertUnwindSafe(|| check(seed, false))) {
        Ok(report) => {
            tally.events += report.events;
            for (name, count) in report.tally {
                *tally.reached.entry(name).or_default() += count;
            }
            if !report.faults.is_empty() {
                tally.faults.insert(seed, report.faults.join("\n"));
            }
        }
        Err(_) => {
            tally.faults.insert(seed, "it panics".to_owned());
        }
    }
}
