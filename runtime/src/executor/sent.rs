//! The telecommands that a run has sent, and which of them are not settled.

use std::{collections::BTreeMap, sync::Arc};

use stellar_vm::{
    event::{Fact, TelecommandStatus, Transition},
    program::Program,
    time::Instant,
};

use crate::gateway::TelecommandOrder;

/// A telecommand whose result the log does not have.
#[derive(Debug, Clone)]
pub(super) struct Open {
    /// Its target.
    pub(super) target: Arc<str>,
    /// What the gateway is asked, with the deadline as it stands.
    pub(super) order: TelecommandOrder,
    /// Its verification window, in nanoseconds.
    pub(super) window: i64,
    /// Whether this owner has offered it.
    pub(super) offered: bool,
}

/// Target, component and name of a telecommand.
type Key = (Arc<str>, Arc<str>, Arc<str>);

/// The telecommands of a run.
pub(super) struct Sent {
    run: Arc<str>,
    /// Verification windows.
    windows: BTreeMap<Key, i64>,
    /// `None` where it is settled.
    all: BTreeMap<Arc<str>, Option<Open>>,
}

impl Sent {
    /// None yet. `platforms` gives the platform of each of the run's targets.
    pub(super) fn new(run: Arc<str>, program: &Program, platforms: &BTreeMap<Arc<str>, Arc<str>>) -> Self {
        let mut windows = BTreeMap::new();
        for telecommand in &program.telecommands {
            let platform = usize::try_from(telecommand.platform).ok().and_then(|index| program.platforms.get(index));
            for (target, _) in platforms.iter().filter(|(_, of)| Some(*of) == platform) {
                let key = (target.clone(), telecommand.component.clone(), telecommand.name.clone());
                windows.insert(key, telecommand.verify.window);
            }
        }
        Self { run, windows, all: BTreeMap::new() }
    }

    /// Notes a transition at this time; `Some` with the telecommand where it is one.
    pub(super) fn note(&mut self, transition: &Transition, at: Instant) -> Option<Open> {
        let Transition::TelecommandSent { id, target, telecommand, component, args, route, .. } = transition else {
            return None;
        };
        let base: Arc<str> = component.split('[').next().unwrap_or(component).into();
        let window = self.windows.get(&(target.clone(), base, telecommand.clone())).copied().unwrap_or(0);
        let order = TelecommandOrder {
            id: id.clone(),
            run: Some(self.run.clone()),
            telecommand: telecommand.clone(),
            component: component.clone(),
            args: args.clone(),
            route: route.clone(),
            deadline: at.after(window),
        };
        let open = Open { target: target.clone(), order, window, offered: false };
        self.all.insert(id.clone(), Some(open.clone()));
        Some(open)
    }

    /// Notes what a fact says of a telecommand.
    pub(super) fn settle(&mut self, fact: &Fact) {
        use TelecommandStatus::{EncodeFailed, NotReleased, Released};
        if let Fact::TelecommandStatus { id, status: Released | NotReleased | EncodeFailed, .. } = fact
            && let Some(open) = self.all.get_mut(id)
        {
            *open = None;
        }
    }

    /// Counts the windows of what is open anew from `at`, as after a takeover.
    pub(super) fn count_anew(&mut self, at: Instant) {
        for open in self.all.values_mut().flatten() {
            open.order.deadline = at.after(open.window);
        }
    }

    /// Whether the run has sent it.
    pub(super) fn contains(&self, id: &str) -> bool {
        self.all.contains_key(id)
    }

    /// A telecommand that is open.
    pub(super) fn open(&self, id: &str) -> Option<&Open> {
        self.all.get(id)?.as_ref()
    }

    /// Notes that it is offered.
    pub(super) fn offered(&mut self, id: &str) {
        if let Some(Some(open)) = self.all.get_mut(id) {
            open.offered = true;
        }
    }

    /// Identifiers of all that are open, sorted.
    pub(super) fn all_open(&self) -> Vec<Arc<str>> {
        self.all.iter().filter(|(_, open)| open.is_some()).map(|(id, _)| id.clone()).collect()
    }
}
