//! The state of a simulated target: values, what is due, what is wrong. All times are nanoseconds since it began.

mod faults;
mod telemetry;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use stellar_vm::{
    catalogue::{Platform, Stage},
    time::Instant,
    value::{Type, Value},
};

use super::{
    line::{Fate, HandedOver},
    profile,
    scenario::{Behaviour, Control, Scenario, Set, SetTo, Tell},
    value::{Named, instances, parameter},
};
use crate::{
    clock::to_utc,
    gateway::{
        link::{Command, RawSample, Received},
        resolve,
    },
};
use faults::Active;

/// A parameter of one instance.
type Place = (u32, Option<i64>);

const SECOND: i64 = 1_000_000_000;
/// When each stage that fails is reported, where its report says nothing.
const STAGES: [(Stage, i64); 3] =
    [(Stage::Accepted, SECOND / 10), (Stage::Started, SECOND / 5), (Stage::Completed, SECOND / 2)];

#[derive(Debug)]
pub(super) struct State {
    platform: Arc<Platform>,
    scenario: Scenario,
    seed: u64,
    held: BTreeMap<Place, Held>,
    groups: Vec<Group>,
    due: BTreeMap<(i64, u64), Event>,
    next_number: u64,
    faults: Vec<Active>,
    /// Whether the link is up; not known before the start.
    up: Option<bool>,
    /// The last packets, for what plays them back.
    sent: VecDeque<Vec<RawSample>>,
    replayed_at_most: usize,
}

/// What a parameter has.
#[derive(Debug)]
struct Held {
    first: Value,
    /// What a telecommand or an operator set: it stands in place of the profile.
    set: Option<Value>,
    /// What the ground was last told.
    told: Option<Value>,
    on_change: bool,
}

/// Parameters of one instance that are sent together.
#[derive(Debug)]
struct Group {
    index: Option<i64>,
    period: i64,
    members: Vec<u32>,
}

#[derive(Debug)]
enum Event {
    /// The packet of a group.
    Packet(usize),
    /// A telecommand takes effect: what it sets, and what it asks for.
    Effect(Vec<(Place, Value)>, Vec<Place>),
    /// A report on a telecommand.
    Report { id: Arc<str>, stage: Stage, failure: Option<String> },
    /// A fault begins or ends.
    Edge,
}

impl State {
    pub(super) fn new(platform: Arc<Platform>, scenario: Scenario, seed: u64, began: Instant) -> Self {
        let utc = to_utc(began).ns;
        let mut held = BTreeMap::new();
        let mut groups: BTreeMap<(u32, Option<i64>, i64), Vec<u32>> = BTreeMap::new();
        for (entry, of) in (0_u32..).zip(&platform.parameters) {
            for index in instances(&platform, of.component) {
                let telemetry = scenario.telemetry(entry, index);
                let rate = telemetry::rate(of, telemetry);
                if let telemetry::Rate::Period(period) = rate {
                    groups.entry((of.component, index, period)).or_default().push(entry);
                }
                let first = telemetry.and_then(|of| of.initial.clone()).unwrap_or_else(|| profile::first(of, utc));
                let on_change = matches!(rate, telemetry::Rate::OnChange);
                held.insert((entry, index), Held { first, set: None, told: None, on_change });
            }
        }
        let groups = groups.into_iter().map(|((_, index, period), members)| Group { index, period, members }).collect();
        let faults = scenario.faults.iter().cloned().map(Active::new).collect();
        let mut state = Self {
            platform,
            scenario,
            seed,
            held,
            groups,
            due: BTreeMap::new(),
            next_number: 0,
            faults,
            up: None,
            sent: VecDeque::new(),
            replayed_at_most: 0,
        };
        state.replayed_at_most = state.replay_at_most();
        state
    }

    /// Takes in what was handed over to earlier processes, and goes on at `now`, with the link coming up. Telecommands
    /// under way go on; reports that were due meanwhile reached nobody.
    pub(super) fn rebuild(&mut self, handed_over: &[HandedOver], began: Instant, now: i64) {
        let platform = Arc::clone(&self.platform);
        for line in handed_over {
            // What the catalogue no longer has did nothing that it could tell of.
            let Ok((command, _)) = resolve::command(&platform, &line.order) else { continue };
            // An earlier process may have been ahead, in virtual time: what it did is done.
            let at = line.at.since(began).min(now);
            self.count(&command, at);
            self.arrive(&command, &line.fate, at);
            if line.at.since(began) > now {
                for (_, event) in std::mem::take(&mut self.due) {
                    self.take_effect(event);
                }
            }
        }
        while let Some(event) = self.due_by(now) {
            self.take_effect(event.1);
        }
        self.schedule(now, Event::Edge);
        for (group, period) in self.groups.iter().map(|group| group.period).enumerate().collect::<Vec<_>>() {
            let periods = now.max(0).saturating_add(period - 1) / period;
            self.schedule(periods.saturating_mul(period), Event::Packet(group));
        }
        let edges: Vec<i64> = self.faults.iter().flat_map(Active::edges).filter(|edge| *edge > now).collect();
        for edge in edges {
            self.schedule(edge, Event::Edge);
        }
    }

    fn take_effect(&mut self, event: Event) {
        if let Event::Effect(sets, _) = event {
            self.set(sets);
        }
    }

    fn set(&mut self, sets: Vec<(Place, Value)>) {
        for (place, value) in sets {
            if let Some(held) = self.held.get_mut(&place) {
                held.set = Some(value);
            }
        }
    }

    /// When something is due next.
    pub(super) fn next(&self) -> Option<i64> {
        self.due.first_key_value().map(|((due, _), _)| *due)
    }

    fn schedule(&mut self, due: i64, event: Event) {
        self.due.insert((due, self.next_number), event);
        self.next_number += 1;
    }

    fn due_by(&mut self, now: i64) -> Option<(i64, Event)> {
        let first = self.due.first_entry().filter(|first| first.key().0 <= now)?;
        let ((due, _), event) = first.remove_entry();
        Some((due, event))
    }

    /// A telecommand that left: what it does, and what is reported of it.
    pub(super) fn arrive(&mut self, command: &Command, fate: &Fate, at: i64) {
        if fate.lost {
            return;
        }
        let default = Behaviour::default();
        let behaviour = self.scenario.behaviour(command.telecommand, command.index).unwrap_or(&default);
        let arrival = at.saturating_add(behaviour.delay).saturating_add(fate.delay);
        let takes_effect = arrival.saturating_add(behaviour.takes_effect());
        let reports = behaviour.reports;
        let sets: Vec<_> = behaviour.sets.iter().flat_map(|set| self.places(set, Some(command))).collect();
        let asked = |tell: &Tell| self.instances_of(tell.parameter, Some(command).filter(|_| tell.same));
        let tells: Vec<_> = behaviour.tells.iter().flat_map(asked).collect();
        // Of what is due at one instant the effect comes before the report.
        if fate.fails.is_none() && !(sets.is_empty() && tells.is_empty()) {
            self.schedule(takes_effect, Event::Effect(sets, tells));
        }
        if fate.unreported {
            return;
        }
        for ((stage, usual), report) in STAGES.into_iter().zip(reports) {
            let failure = fate.fails.as_ref().filter(|(fails, _)| *fails == stage).map(|(_, code)| code.clone());
            let fails = failure.is_some();
            if let Some(after) = report.or_else(|| fails.then_some(usual)) {
                let id = Arc::clone(&command.id);
                self.schedule(arrival.saturating_add(after), Event::Report { id, stage, failure });
            }
            if fails {
                return;
            }
        }
    }

    /// What an operator asks, done at `now`; says what was done.
    pub(super) fn control(&mut self, control: Control, now: i64) -> String {
        match control {
            Control::Faults(faults) => self.add_faults(faults, now),
            Control::Clear => self.clear_faults(now),
            Control::Set(sets) => {
                let sets: Vec<_> = sets.iter().flat_map(|set| self.places(set, None)).collect();
                let answer = format!("{} values are set", sets.len());
                self.schedule(now, Event::Effect(sets, Vec::new()));
                answer
            }
        }
    }

    /// The parameters that something sets, with the values that they take.
    fn places(&self, set: &Set, command: Option<&Command>) -> Vec<(Place, Value)> {
        let entry = set.parameter.entry;
        let Some(of) = parameter(&self.platform, entry) else { return Vec::new() };
        let value = match (&set.to, command) {
            (SetTo::Value(value), _) => Some(value.clone()),
            (SetTo::Argument(place), Some(command)) => command.args.get(*place).cloned(),
            (SetTo::Index, Some(command)) => command.index.map(Value::Int),
            (SetTo::Argument(_) | SetTo::Index, None) => None,
        };
        let value = match (value, &of.ty) {
            (Some(Value::Int(number)), Type::Float { .. }) => Value::Float(number as f64),
            (Some(value), _) => value,
            (None, _) => return Vec::new(),
        };
        let places = self.instances_of(set.parameter, command.filter(|_| set.same));
        places.into_iter().map(|place| (place, value.clone())).collect()
    }

    /// The instances of a parameter that are meant: that of the telecommand, the one that is named, or every one.
    fn instances_of(&self, parameter: Named, of: Option<&Command>) -> Vec<Place> {
        let entry = parameter.entry;
        let Some(component) = self::parameter(&self.platform, entry).map(|of| of.component) else { return Vec::new() };
        match (of, parameter.index) {
            (Some(command), _) => vec![(entry, command.index)],
            (None, Some(index)) => vec![(entry, Some(index))],
            (None, None) => instances(&self.platform, component).map(|index| (entry, index)).collect(),
        }
    }

    /// Does what is due by `now`, and gives what the ground receives of it.
    pub(super) fn advance(&mut self, now: i64) -> Vec<Received> {
        let mut out = Vec::new();
        while let Some((due, event)) = self.due_by(now) {
            match event {
                Event::Packet(group) => {
                    self.send_group(group, due, &mut out);
                    let period = self.groups.get(group).map_or(SECOND, |group| group.period);
                    // What was slept through is not made up for.
                    let next = due.saturating_add(period).max(now / period * period);
                    let next = if next > now { next } else { next.saturating_add(period) };
                    self.schedule(next, Event::Packet(group));
                }
                Event::Effect(sets, tells) => {
                    self.set(sets);
                    self.tell_changes(due, false, &tells, &mut out);
                }
                Event::Report { id, stage, failure } => {
                    if self.up == Some(true) {
                        out.push(Received::Report { name: id, stage, failure });
                    }
                }
                Event::Edge => self.edge(due, &mut out),
            }
        }
        out
    }
}
