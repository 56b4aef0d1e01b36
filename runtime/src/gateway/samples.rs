//! From what a link decoded to samples: names, and what is valid.
//!
//! A sample is valid where the link could decode it and its `valid_when` holds on the samples of the same packet, else
//! on the latest. A reading outside of the range of its parameter is a reading: an alarm must see it.

use std::sync::Arc;

use stellar_vm::{
    catalogue::{Parameter, Platform},
    condition::{Context, SampleView, Snapshot},
    time::Instant,
    value::{Scalar, Value},
};

use super::{Latest, link::RawSample};
use crate::ports::Sample;

/// What the archive holds where there is no value of the type.
const NO_VALUE: &str = "invalid";

/// The samples of one packet, and how many of them no catalogue has.
pub(super) struct Packet {
    pub(super) samples: Vec<Sample>,
    pub(super) unknown: usize,
}

/// What is the same for all samples of a packet.
#[derive(Clone, Copy)]
pub(super) struct Reception<'a> {
    pub(super) target: &'a Arc<str>,
    pub(super) platform: &'a Platform,
    pub(super) at: Instant,
    pub(super) replayed: bool,
}

/// The samples of a packet, judged; `order` gives each its place.
pub(super) fn receive(
    reception: Reception<'_>,
    raw: &[RawSample],
    latest: &Latest,
    mut order: impl FnMut() -> u64,
) -> Packet {
    let Reception { target, platform, at, replayed } = reception;
    let mut samples = Vec::with_capacity(raw.len());
    let mut parameters = Vec::with_capacity(raw.len());
    for one in raw {
        let Some((parameter, component)) = known(platform, one) else { continue };
        let valid = one.value.is_some();
        let value =
            one.value.as_ref().map_or_else(|| Scalar::Str(NO_VALUE.to_owned()), |v| v.to_scalar(&platform.enums));
        parameters.push(parameter);
        samples.push(Sample {
            target: Arc::clone(target),
            component: Arc::clone(component),
            index: one.index,
            name: Arc::clone(&parameter.name),
            value,
            received_at: at,
            order: order(),
            valid,
            replayed,
        });
    }
    let unknown = raw.len() - samples.len();
    if parameters.iter().any(|parameter| parameter.valid_when.is_some()) {
        let before = (!replayed).then_some(latest);
        let holds: Vec<bool> = samples
            .iter()
            .zip(&parameters)
            .map(|(sample, parameter)| holds(reception, parameter, sample.index, &Overlay { packet: &samples, before }))
            .collect();
        for (sample, holds) in samples.iter_mut().zip(holds) {
            sample.valid &= holds;
        }
    }
    Packet { samples, unknown }
}

fn known<'a>(platform: &'a Platform, raw: &RawSample) -> Option<(&'a Parameter, &'a Arc<str>)> {
    let parameter = platform.parameters.get(usize::try_from(raw.parameter).ok()?)?;
    let component = platform.components.get(usize::try_from(parameter.component).ok()?)?;
    let fits = match (component.index, raw.index) {
        (None, None) => true,
        (Some((min, max)), Some(index)) => (min..=max).contains(&index),
        _ => false,
    };
    fits.then_some((parameter, &component.name))
}

fn holds(reception: Reception<'_>, parameter: &Parameter, index: Option<i64>, snapshot: &dyn Snapshot) -> bool {
    let Some(valid_when) = &parameter.valid_when else { return true };
    let context = Context {
        parameters: reception.platform,
        locals: &[index.map(Value::Int)],
        targets: std::slice::from_ref(reception.target),
        snapshot,
        at: reception.at,
        since: None,
    };
    valid_when.judge(&context) == Some(true)
}

/// The packet, and where it has no sample the latest one before it.
struct Overlay<'a> {
    packet: &'a [Sample],
    before: Option<&'a Latest>,
}

impl Snapshot for Overlay<'_> {
    fn latest(&self, target: &str, component: &str, index: Option<i64>, name: &str) -> Option<SampleView<'_>> {
        let is = |sample: &&Sample| {
            &*sample.name == name
                && sample.index == index
                && &*sample.component == component
                && &*sample.target == target
        };
        match self.packet.iter().rfind(is) {
            Some(sample) => Some(super::latest::view(sample)),
            None => self.before?.latest(target, component, index, name),
        }
    }
}
