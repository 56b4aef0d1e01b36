//! Which telecommand a report speaks of: the names that links use, and whose they are.
//!
//! A name stays known until it is used again or many came after it, so that a report that comes late is told as the one
//! of its own telecommand.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use stellar_vm::{catalogue::Stage, time::Instant};

/// Names that are remembered.
const REMEMBERED: usize = 65_536;

#[derive(Debug, Default)]
pub(super) struct Names {
    by_name: BTreeMap<Arc<str>, Named>,
    oldest_first: VecDeque<Arc<str>>,
}

/// The telecommand that a name stands for.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) id: Arc<str>,
    /// Till when reports on it are waited for.
    pub(super) deadline: Instant,
    /// The stage behind which no report is waited for.
    pub(super) last: Stage,
    /// Whether its last report came.
    pub(super) over: bool,
}

impl Names {
    /// From now on the name stands for this telecommand.
    pub(super) fn take(&mut self, name: &Arc<str>, named: Named) {
        if self.by_name.insert(Arc::clone(name), named).is_none() {
            self.oldest_first.push_back(Arc::clone(name));
        }
        while self.oldest_first.len() > REMEMBERED {
            if let Some(oldest) = self.oldest_first.pop_front() {
                self.by_name.remove(&oldest);
            }
        }
    }

    /// No telecommand of this name left.
    pub(super) fn release(&mut self, name: &str) {
        if let Some(named) = self.by_name.get_mut(name) {
            named.over = true;
        }
    }

    /// Whose report this is.
    pub(super) fn report(&mut self, name: &str, stage: Stage, failed: bool) -> Option<Arc<str>> {
        let named = self.by_name.get_mut(name)?;
        named.over |= failed || stage >= named.last;
        Some(Arc::clone(&named.id))
    }

    /// Till when a telecommand of this name is under way.
    pub(super) fn under_way(&self, name: &str, now: Instant) -> Option<Instant> {
        let named = self.by_name.get(name)?;
        (!named.over && now < named.deadline).then_some(named.deadline)
    }
}

#[cfg(test)]
mod tests {
    use stellar_vm::time::Scale;

    use super::*;

    fn at(ns: i64) -> Instant {
        Instant { ns, scale: Scale::Utc }
    }

    fn named(id: &str, deadline: i64, last: Stage) -> Named {
        Named { id: id.into(), deadline: at(deadline), last, over: false }
    }

    #[test]
    fn a_name_used_again_is_the_later_telecommands() {
        let mut names = Names::default();
        let name: Arc<str> = "1802c001".into();
        names.take(&name, named("A", 10, Stage::Completed));
        assert_eq!(names.report(&name, Stage::Accepted, false).as_deref(), Some("A"));
        assert_eq!(names.under_way(&name, at(9)), Some(at(10)));
        assert_eq!(names.under_way(&name, at(10)), None, "its window is over");
        assert_eq!(names.report(&name, Stage::Started, false).as_deref(), Some("A"), "late, and still its own");
        names.take(&name, named("B", 20, Stage::Started));
        assert_eq!(names.report(&name, Stage::Started, false).as_deref(), Some("B"));
        assert_eq!(names.under_way(&name, at(11)), None, "its last report came");
        assert_eq!(names.report("1802c002", Stage::Started, false), None);
    }

    #[test]
    fn the_oldest_is_forgotten_one_past_the_bound() {
        let mut names = Names::default();
        for number in 0..=REMEMBERED {
            names.take(&number.to_string().into(), named("X", 1, Stage::Completed));
        }
        assert_eq!(names.report("0", Stage::Accepted, false), None);
        assert!(names.report("1", Stage::Accepted, false).is_some());
        assert_eq!(names.by_name.len(), REMEMBERED);
    }

    #[test]
    fn a_failure_ends_it() {
        let mut names = Names::default();
        let name: Arc<str> = "opcode 7".into();
        names.take(&name, named("A", 10, Stage::Completed));
        names.report(&name, Stage::Accepted, true);
        assert_eq!(names.under_way(&name, at(1)), None);
    }
}
