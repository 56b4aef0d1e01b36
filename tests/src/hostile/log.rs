//! Logs: lines of events, as another tool, a disk or somebody's hand may leave them.
//!
//! A log is tried as it is. Then its facts alone are entered into a machine that does its own transitions between them,
//! whatever the envelopes say, names of what is pending put in where `$0`, `$1`… stand: so facts are reached that no
//! mutated log would get to. What such a machine did and took is a log, and that replays.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use stellar_vm::{
    event::{Body, Event, Fact},
    machine::{Advance, Machine, PendingKind, Replay},
    program::Kind,
    verify::Verified,
};

/// Words of logs.
pub const WORDS: &[&str] = &[
    "{\"seq\":1,\"at\":\"2026-10-02T10:00:00.000000000Z\",\"epoch\":1,",
    "\"type\":\"",
    "run_started",
    "leases",
    "telecommand_status",
    "observed",
    "elapsed",
    "answered",
    "decided",
    "suspended",
    "resumed",
    "abort_requested",
    "taken_over",
    "declined",
    "transfer_status",
    "step_started",
    "run_finished",
    "\"pending\":",
    "\"samples\":[]",
    "\"due\":\"",
    "\"utc\":\"",
    "\"id\":\"$0\"",
    "\"question\":\"$0\"",
    "\"decision\":\"$0\"",
    "\"option\":\"",
    "replay",
    "skip",
    "abort",
    "fail",
    "recheck",
    "\"status\":\"",
    "released",
    "accepted",
    "started",
    "completed",
    "failed",
    "not_released",
    "\"received_at\":\"",
    "\"order\":",
    "\"known\":[]",
    "left",
    "may_have_left",
    "never_left",
    "$1",
    "$2",
    "\"NaN\"",
    "-9223372036854775808",
    "18446744073709551615",
    "null",
    "\n",
];

/// The programs whose logs these are, by the procedure that a log starts.
static PROGRAMS: LazyLock<BTreeMap<String, Arc<Verified>>> = LazyLock::new(|| {
    let mut programs = BTreeMap::new();
    for program in super::seeds::programs() {
        for unit in program.units.iter().filter(|unit| unit.kind == Kind::Procedure) {
            programs.insert(unit.name.to_string(), Arc::clone(&program));
        }
    }
    programs
});

/// More events than this are not entered from one input.
const LIMIT: usize = 5_000;

/// Tries one input.
///
/// # Panics
/// Where something does not hold.
pub fn holds(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let lines: Vec<&str> = text.lines().collect();
    let named = PROGRAMS.iter().find(|(name, _)| lines.first().is_some_and(|line| line.contains(name.as_str())));
    let Some((_, program)) = named.or_else(|| PROGRAMS.first_key_value()) else { return };
    as_it_is(&lines, program);
    facts_alone(&lines, program);
}

fn as_it_is(lines: &[&str], program: &Arc<Verified>) {
    let mut replay = Replay::new(Arc::clone(program));
    for line in lines {
        if let Ok(event) = Event::from_json(line) {
            let written = event.to_json().expect("an event has JSON");
            let read = Event::from_json(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
            // NaN is equal to nothing, so the texts are compared.
            assert_eq!(read.to_json().as_ref(), Ok(&written));
        }
        if let Err(error) = replay.line(line) {
            assert!(error.code().starts_with("run::") && !error.to_string().is_empty());
            return;
        }
        drop(serde_json::to_string(&replay.machine().view()).expect("a view has JSON"));
    }
}

/// A machine with the log that it makes.
struct Made {
    machine: Machine,
    lines: Vec<String>,
}

fn facts_alone(lines: &[&str], program: &Arc<Verified>) {
    let mut made = Made { machine: Machine::new(Arc::clone(program)), lines: Vec::new() };
    for line in lines {
        if made.lines.len() > LIMIT || !made.goes_on() {
            break;
        }
        let Ok(event) = Event::from_json(&made.named(line)) else { continue };
        let Body::Fact(fact) = event.body else { continue };
        let now = made.machine.now();
        let at = if made.machine.seq() == 0 || event.at.scale != now.scale { event.at } else { event.at.max(now) };
        // The scale is that of the first event, and no instant of another comes later.
        let first = matches!(fact, Fact::RunStarted { .. });
        if made.machine.seq() > 0 && at.scale != now.scale && !first {
            continue;
        }
        match made.machine.accept(&fact, at) {
            Ok(()) => made.push(event.epoch, at, Body::Fact(fact)),
            Err(refused) => assert!(refused.code().starts_with("run::"), "{refused}"),
        }
    }
    made.goes_on();
    let mut replay = Replay::new(Arc::clone(program));
    for line in &made.lines {
        replay.line(line).unwrap_or_else(|error| panic!("what was taken does not replay: {error}"));
    }
    assert_eq!(replay.machine().seq(), made.machine.seq());
}

impl Made {
    /// Does what is due; `false` where the run is at its end.
    fn goes_on(&mut self) -> bool {
        while self.lines.len() <= LIMIT {
            let now = self.machine.now();
            match self.machine.advance(now) {
                Advance::Emit(transition) => self.push(1, now, Body::Transition(transition)),
                Advance::Await => return true,
                Advance::Done(_) => return false,
            }
        }
        false
    }

    fn push(&mut self, epoch: u64, at: stellar_vm::time::Instant, body: Body) {
        let event = Event { seq: self.machine.seq(), at, epoch, nonce: None, fence: None, body };
        self.lines.push(event.to_json().expect("an event has JSON"));
        drop(serde_json::to_string(&self.machine.view()).expect("a view has JSON"));
    }

    /// The line with the names of what is pending.
    fn named(&self, line: &str) -> String {
        if !line.contains('$') {
            return line.to_owned();
        }
        let mut line = line.to_owned();
        for (at, pending) in self.machine.pending().enumerate().take(10) {
            let name = match pending.kind {
                PendingKind::Telecommand { id, .. } | PendingKind::Transfer { id, .. } => id.to_string(),
                PendingKind::Answer { question } => question.to_string(),
                PendingKind::Decision { decision } => decision.to_string(),
                _ => pending.id.to_string(),
            };
            line = line.replace(&format!("${at}"), &name);
        }
        line
    }
}
