//! The latest samples that a run can judge: of its targets, of the parameters that its program reads.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use stellar_vm::{
    condition::{SampleView, Snapshot},
    program::Program,
    time::Instant,
};

use crate::{gateway::Latest, ports::Sample};

/// The samples of one run.
pub(super) struct RunSnapshot {
    targets: BTreeMap<Arc<str>, Latest>,
    read: BTreeSet<(Arc<str>, Arc<str>)>,
}

impl RunSnapshot {
    /// No samples yet; only of parameters that the program reads are any kept.
    pub(super) fn new(program: &Program, targets: &[Arc<str>]) -> Self {
        let read = program.parameters.iter().map(|used| (used.component.clone(), used.name.clone())).collect();
        let targets = targets.iter().map(|target| (target.clone(), Latest::new(target.clone()))).collect();
        Self { targets, read }
    }

    /// Whether a sample can matter to the run.
    pub(super) fn wants(&self, sample: &Sample) -> bool {
        !sample.replayed && self.read.contains(&(sample.component.clone(), sample.name.clone()))
    }

    /// Takes a sample in.
    pub(super) fn put(&mut self, sample: &Sample) {
        if let Some(latest) = self.targets.get_mut(&sample.target) {
            latest.put(sample);
        }
    }
}

impl Snapshot for RunSnapshot {
    fn latest(&self, target: &str, component: &str, index: Option<i64>, name: &str) -> Option<SampleView<'_>> {
        let sample = self.targets.get(target)?.get(component, index, name)?;
        Some(SampleView {
            value: &sample.value,
            received_at: sample.received_at,
            order: sample.order,
            valid: sample.valid,
        })
    }
}

/// Moves a reception time onto the clock of a run.
pub(super) fn moved(mut sample: Sample, by: i64) -> Sample {
    sample.received_at = Instant::after(sample.received_at, by);
    sample
}
