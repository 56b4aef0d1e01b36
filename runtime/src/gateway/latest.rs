//! The latest sample of each parameter of a target.
//!
//! Looked up by names without allocating, for `would_settle` runs through it for every packet and every waiting run.
//! Samples that a link plays back never enter it.

use std::{collections::BTreeMap, sync::Arc};

use stellar_vm::condition::{SampleView, Snapshot};

use crate::ports::{Sample, TargetItem};

/// The latest samples of one target.
#[derive(Debug, Clone)]
pub struct Latest {
    target: Arc<str>,
    components: BTreeMap<Arc<str>, Component>,
}

/// By name of the parameter, then by index.
type Component = BTreeMap<Arc<str>, BTreeMap<Option<i64>, Sample>>;

impl Latest {
    /// No samples yet.
    #[must_use]
    pub fn new(target: Arc<str>) -> Self {
        Self { target, components: BTreeMap::new() }
    }

    /// The target.
    #[must_use]
    pub fn target(&self) -> &Arc<str> {
        &self.target
    }

    /// Takes in an item of the target. A sample older than the one that stands here changes nothing.
    pub fn apply(&mut self, item: &TargetItem) {
        if let TargetItem::Samples { samples } = item {
            for sample in samples {
                self.put(sample);
            }
        }
    }

    /// Takes in one sample.
    pub fn put(&mut self, sample: &Sample) {
        if sample.replayed {
            return;
        }
        // Names are cloned only for the first sample of a parameter.
        let component = match self.components.get_mut(&sample.component) {
            Some(component) => component,
            None => self.components.entry(Arc::clone(&sample.component)).or_default(),
        };
        let indices = match component.get_mut(&sample.name) {
            Some(indices) => indices,
            None => component.entry(Arc::clone(&sample.name)).or_default(),
        };
        match indices.get_mut(&sample.index) {
            Some(standing) if standing.order > sample.order => {}
            Some(standing) => standing.clone_from(sample),
            None => {
                indices.insert(sample.index, sample.clone());
            }
        }
    }

    /// The latest sample of a parameter. Allocates nothing.
    #[must_use]
    pub fn get(&self, component: &str, index: Option<i64>, name: &str) -> Option<&Sample> {
        self.components.get(component)?.get(name)?.get(&index)
    }

    /// All of them, by component, name and index.
    pub fn iter(&self) -> impl Iterator<Item = &Sample> {
        self.components.values().flat_map(BTreeMap::values).flat_map(BTreeMap::values)
    }
}

impl Snapshot for Latest {
    fn latest(&self, target: &str, component: &str, index: Option<i64>, name: &str) -> Option<SampleView<'_>> {
        if &*self.target == target { self.get(component, index, name).map(view) } else { None }
    }
}

pub(super) fn view(sample: &Sample) -> SampleView<'_> {
    SampleView { value: &sample.value, received_at: sample.received_at, order: sample.order, valid: sample.valid }
}
