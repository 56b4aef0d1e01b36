//! What is wrong with a simulated target, and when.

use super::{
    super::{
        line::Fate,
        random::{of_text, unit},
        scenario::{Effect, Fault, FaultKind, TelemetryEffect, Which},
    },
    Event, Place, State,
};
use crate::gateway::link::Command;

/// A fault of the scenario, or one that an operator injected.
#[derive(Debug)]
pub(super) struct Active {
    fault: Fault,
    by_hand: bool,
    /// Telecommands that it met.
    seen: u64,
}

impl Active {
    pub(super) fn new(fault: Fault) -> Self {
        Self { fault, by_hand: false, seen: 0 }
    }

    fn lasts(&self, at: i64) -> bool {
        at >= self.fault.from && self.fault.until.is_none_or(|until| at < until)
    }

    /// When it begins and ends.
    pub(super) fn edges(&self) -> impl Iterator<Item = i64> + use<> {
        std::iter::once(self.fault.from).chain(self.fault.until)
    }
}

impl State {
    /// What becomes of a telecommand that is to be handed over at `at`; `Err` where the link does not take it.
    pub(in super::super) fn fate(&mut self, command: &Command, at: i64) -> Result<Fate, String> {
        if self.is_down(at) {
            return Err("the link is down".to_owned());
        }
        let mut fate = Fate::default();
        let mut refused = None;
        for effect in self.count(command, at) {
            match effect {
                Effect::Lose => fate.lost = true,
                Effect::Unreported => fate.unreported = true,
                Effect::Fail { stage, code } => fate.fails = fate.fails.or(Some((stage, code))),
                Effect::Delay(delay) => fate.delay = fate.delay.saturating_add(delay),
                Effect::Refuse(why) => refused = refused.or(Some(why)),
            }
        }
        refused.map_or(Ok(fate), Err)
    }

    /// Counts a telecommand with the faults that it meets, and gives those that hit it.
    pub(super) fn count(&mut self, command: &Command, at: i64) -> Vec<Effect> {
        let mut hit = Vec::new();
        for (number, active) in (0..).zip(&mut self.faults) {
            let lasts = active.lasts(at);
            let FaultKind::Telecommand { of, which, effect } = &active.fault.kind else { continue };
            if !lasts || !of.is(command.telecommand, command.index) {
                continue;
            }
            active.seen += 1;
            let hits = match which {
                Which::Each => true,
                Which::Nth(nth) => active.seen == *nth,
                Which::First(first) => active.seen <= *first,
                Which::Probability(probability) => unit(self.seed, &[of_text(&command.id), number]) < *probability,
            };
            if hits {
                hit.push(effect.clone());
            }
        }
        hit
    }

    pub(super) fn is_down(&self, at: i64) -> bool {
        self.faults.iter().any(|active| matches!(active.fault.kind, FaultKind::Link) && active.lasts(at))
    }

    /// What is wrong with the samples of a parameter; of several faults the last.
    pub(super) fn telemetry_fault(&self, (entry, index): Place, at: i64) -> Option<&TelemetryEffect> {
        self.faults.iter().rev().find_map(|active| match &active.fault.kind {
            FaultKind::Telemetry { of, effect } if of.is(entry, index) && active.lasts(at) => Some(effect),
            _ => None,
        })
    }

    /// How many packets are played back when the link comes up at `at`.
    pub(super) fn replays(&self, at: i64) -> usize {
        let lasting = self.faults.iter().filter(|active| active.lasts(at));
        lasting.filter_map(Active::packets).max().unwrap_or_default()
    }

    /// How many packets are kept to be played back.
    pub(super) fn replay_at_most(&self) -> usize {
        self.faults.iter().filter_map(Active::packets).max().unwrap_or_default()
    }

    pub(super) fn add_faults(&mut self, faults: Vec<Fault>, now: i64) -> String {
        let count = faults.len();
        for mut fault in faults {
            fault.from = fault.from.saturating_add(now);
            fault.until = fault.until.map(|until| until.saturating_add(now));
            let active = Active { fault, by_hand: true, seen: 0 };
            for edge in active.edges() {
                self.schedule(edge, Event::Edge);
            }
            self.faults.push(active);
        }
        self.replayed_at_most = self.replay_at_most();
        format!("{count} {} added", if count == 1 { "fault is" } else { "faults are" })
    }

    pub(super) fn clear_faults(&mut self, now: i64) -> String {
        let before = self.faults.len();
        self.faults.retain(|active| !active.by_hand);
        self.replayed_at_most = self.replay_at_most();
        self.schedule(now, Event::Edge);
        let count = before - self.faults.len();
        format!("{count} {} cleared; those of the scenario stay", if count == 1 { "fault is" } else { "faults are" })
    }
}

impl Active {
    fn packets(&self) -> Option<usize> {
        match self.fault.kind {
            FaultKind::Replay { packets } => Some(packets),
            _ => None,
        }
    }
}
