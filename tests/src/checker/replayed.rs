//! The machine, run again over the log, does what the log says and comes to the state that the record of the run has.

use stellar_runtime::ports::RunState;
use stellar_vm::machine::Replay;

use super::{Found, Rule, RunEvidence, log::Log};

pub(super) fn check(log: &Log, evidence: &RunEvidence, found: &mut Found) {
    let mut replay = Replay::new(evidence.program.clone());
    for (line, number) in evidence.lines.iter().zip(1_u64..) {
        if let Err(error) = replay.line(line) {
            let seq = log.events.iter().map(|event| event.seq).find(|seq| *seq == number);
            found.add(Rule::Replays, &log.run, seq, error.to_string());
            return;
        }
    }
    let (outcome, record) = (replay.machine().outcome(), &evidence.record);
    if outcome.is_some() && record.state == RunState::Ended && outcome != record.outcome {
        let what = format!("replayed it ended as {outcome:?}, its record says {:?}", record.outcome);
        found.add(Rule::Replays, &log.run, None, what);
    }
    if outcome.is_some() != (record.state == RunState::Ended) {
        let what = format!("replayed it is {:?}, its record says `{:?}`", replay.machine().view().state, record.state);
        found.add(Rule::Replays, &log.run, None, what);
    }
}
