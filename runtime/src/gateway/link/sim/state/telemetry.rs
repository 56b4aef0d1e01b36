//! What a simulated target sends: packets at their periods, changes when they happen, old packets played back.

use std::collections::BTreeMap;

use stellar_vm::{
    catalogue::{Freshness, Parameter},
    value::Value,
};

use super::{
    super::{
        profile,
        random::unit,
        scenario::{Telemetry, TelemetryEffect},
        value::parameter,
    },
    Place, SECOND, State,
};
use crate::gateway::link::{RawSample, Received};

/// A period is not shorter: one target must not fill the machine.
const SHORTEST: i64 = 1_000_000;

/// When a parameter is sent.
pub(super) enum Rate {
    Period(i64),
    OnChange,
}

/// When a parameter is sent: as the scenario says, else as the catalogue does, else every second.
pub(super) fn rate(of: &Parameter, telemetry: Option<&Telemetry>) -> Rate {
    let of_catalogue = of.period.unwrap_or(SECOND).max(SHORTEST);
    let Some(telemetry) = telemetry else {
        let on_change = of.period.is_none() && of.freshness == Freshness::OnChange;
        return if on_change { Rate::OnChange } else { Rate::Period(of_catalogue) };
    };
    match (telemetry.on_change, telemetry.period) {
        (Some(true), _) => Rate::OnChange,
        (_, Some(period)) => Rate::Period(period),
        (Some(false), None) => Rate::Period(of_catalogue),
        (None, None) if telemetry.profile.is_some() => Rate::Period(of_catalogue),
        (None, None) => rate(of, None),
    }
}

impl State {
    /// The value that the ground is told of, if any.
    fn visible(&self, place: Place, at: i64) -> Option<Value> {
        let held = self.held.get(&place)?;
        let actual = || self.actual(place, at);
        match self.telemetry_fault(place, at) {
            None => actual(),
            Some(TelemetryEffect::Silent) => None,
            Some(TelemetryEffect::Freeze) => held.told.clone().or_else(actual),
            Some(TelemetryEffect::Nan) => Some(Value::Float(f64::NAN)),
            Some(TelemetryEffect::Value(value)) => Some(value.clone()),
        }
    }

    /// The value that the target measures.
    fn actual(&self, place: Place, at: i64) -> Option<Value> {
        let (entry, index) = place;
        let held = self.held.get(&place)?;
        let of = parameter(&self.platform, entry)?;
        let telemetry = self.scenario.telemetry(entry, index);
        let by_profile = || profile::at(telemetry?.profile.as_ref()?, at, &of.ty);
        let value = held.set.clone().or_else(by_profile).unwrap_or_else(|| held.first.clone());
        let noise = telemetry.map_or(0.0, |telemetry| telemetry.noise);
        if noise == 0.0 {
            return Some(value);
        }
        let instance = index.map_or(0, i64::cast_unsigned);
        let chance = unit(self.seed, &[u64::from(entry), instance, at.cast_unsigned()]);
        Some(profile::deviate(value, noise, 2.0 * chance - 1.0, &of.ty))
    }

    fn sample(&mut self, place: Place, at: i64) -> Option<RawSample> {
        let value = self.visible(place, at)?;
        if let Some(held) = self.held.get_mut(&place) {
            held.told = Some(value.clone());
        }
        Some(RawSample { parameter: place.0, index: place.1, value: Some(value) })
    }

    pub(super) fn send_group(&mut self, group: usize, at: i64, out: &mut Vec<Received>) {
        if self.up == Some(true) {
            let packet = self.packet_of_group(group, at);
            self.send(packet, out);
        }
    }

    fn packet_of_group(&mut self, group: usize, at: i64) -> Vec<RawSample> {
        let Some(group) = self.groups.get(group) else { return Vec::new() };
        let places: Vec<Place> = group.members.iter().map(|entry| (*entry, group.index)).collect();
        places.into_iter().filter_map(|place| self.sample(place, at)).collect()
    }

    /// Sends what is sent on change and has changed since the ground was told, or all of it, and what is asked for.
    pub(super) fn tell_changes(&mut self, at: i64, all: bool, asked: &[Place], out: &mut Vec<Received>) {
        if self.up != Some(true) {
            return;
        }
        for packet in self.changes(at, all, asked) {
            self.send(packet, out);
        }
    }

    /// The packets of what is sent on change or asked for, one for each instance of a component.
    fn changes(&mut self, at: i64, all: bool, asked: &[Place]) -> Vec<Vec<RawSample>> {
        let changed: Vec<Place> = self
            .held
            .iter()
            .filter(|(place, held)| {
                let changed = || {
                    let now = self.visible(**place, at);
                    now.is_some_and(|now| !held.told.as_ref().is_some_and(|told| same(told, &now)))
                };
                asked.contains(place) || (held.on_change && (all || changed()))
            })
            .map(|(place, _)| *place)
            .collect();
        let mut packets: BTreeMap<(u32, Option<i64>), Vec<RawSample>> = BTreeMap::new();
        for place in changed {
            let Some(component) = parameter(&self.platform, place.0).map(|of| of.component) else { continue };
            let sample = self.sample(place, at);
            packets.entry((component, place.1)).or_default().extend(sample);
        }
        packets.into_values().collect()
    }

    fn send(&mut self, packet: Vec<RawSample>, out: &mut Vec<Received>) {
        if packet.is_empty() {
            return;
        }
        if self.replayed_at_most > 0 {
            self.sent.push_back(packet.clone());
            while self.sent.len() > self.replayed_at_most {
                self.sent.pop_front();
            }
        }
        out.push(Received::Samples { samples: packet, replayed: false });
    }

    /// A fault begins or ends: the link may have come up or gone down, values may have changed.
    pub(super) fn edge(&mut self, at: i64, out: &mut Vec<Received>) {
        let up = !self.is_down(at);
        let came_up = up && self.up != Some(true);
        if self.up != Some(up) {
            self.up = Some(up);
            let reason = (!up).then(|| "the link is down".to_owned());
            out.push(Received::Link { up, reason });
        }
        if came_up {
            self.play_back(at, out);
        }
        self.tell_changes(at, came_up, &[], out);
    }

    /// The last packets again; where none was sent yet, the first ones, as if they had been.
    fn play_back(&mut self, at: i64, out: &mut Vec<Received>) {
        let wanted = self.replays(at);
        if wanted == 0 {
            return;
        }
        let packets: Vec<Vec<RawSample>> = if self.sent.is_empty() {
            let mut first: Vec<_> = (0..self.groups.len()).map(|group| self.packet_of_group(group, at)).collect();
            first.extend(self.changes(at, true, &[]));
            first.retain(|packet| !packet.is_empty());
            first.iter().cycle().take(wanted).cloned().collect()
        } else {
            self.sent.iter().skip(self.sent.len().saturating_sub(wanted)).cloned().collect()
        };
        out.extend(packets.into_iter().map(|samples| Received::Samples { samples, replayed: true }));
    }
}

/// Whether two values are the same to look at: one that is not a number is the same as another.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Float(one), Value::Float(other)) => one == other || (one.is_nan() && other.is_nan()),
        (one, other) => one == other,
    }
}
