//! The machine that runs a verified program: facts in, transitions out, replay is running it again.
//!
//! The driver's loop: [`Machine::accept`] a fact and append it; [`Machine::advance`] until it gives no transition,
//! appending each before acting on it; then wait for what [`Machine::pending`] names. Each accepted fact and each
//! emitted transition is one event; its place and time are [`Machine::seq`] and [`Machine::now`] afterwards. If an
//! append fails, the machine is dropped: it is ahead of its log.
//!
//! Deadlines that passed come before anything that is read or entered now: after a suspension or takeover, enter the
//! `elapsed` of what is overdue first, in the order of [`Machine::next_deadline`].
//!
//! What telemetry decides: ask [`Machine::settles`] after every fact and transition and after every group of samples, in
//! the order of the ground; enter `observed` with [`Machine::evidence`] for what it names. At the deadline of what
//! telemetry decides enter `observed` with the evidence of then, where there is any, and `elapsed`.

use alloc::{sync::Arc, vec::Vec};

use crate::{
    condition::Snapshot,
    event::{Fact, PendingId, RunOutcome, SampleRecord, Transition},
    time::Instant,
    verify::Verified,
};

mod accept;
mod attempt;
mod branches;
mod decision;
mod emit;
mod failing;
mod identifiers;
mod interrupt;
mod pending;
mod query;
mod refused;
mod replay;
mod run;
mod samples;
mod send;
mod show;
pub mod start;
mod state;
mod view;
mod waits;
mod window;

pub use pending::{Pending, PendingKind};
pub use refused::{Refused, RefusedKind};
pub use replay::{Replay, ReplayError, replay};
pub use view::{Doing, RunState, StrandView, View};

/// What a call of [`Machine::advance`] gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Advance {
    /// The run does this: one event, to be appended before anything acts on it.
    Emit(Transition),
    /// Nothing to do until a fact comes.
    Await,
    /// The run has ended.
    Done(RunOutcome),
}

/// A run: a program and where it stands.
#[derive(Debug, Clone)]
pub struct Machine {
    program: Arc<Verified>,
    core: state::Core,
}

impl Machine {
    /// A run that has not begun: its first fact is `run_started`.
    #[must_use]
    pub fn new(program: Arc<Verified>) -> Self {
        Self { program, core: state::Core::default() }
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Arc<Verified> {
        &self.program
    }

    /// Takes a fact in: one event.
    ///
    /// # Errors
    /// Why it does not fit here; then nothing has changed and it is not appended. [`RefusedKind::Repeated`] is harmless.
    pub fn accept(&mut self, fact: &Fact, at: Instant) -> Result<(), Refused> {
        self.core.accept(&self.program, fact, at)
    }

    /// The next transition that is due, made at a time (or at [`Machine::now`], if that is later).
    pub fn advance(&mut self, at: Instant) -> Advance {
        self.core.advance(&self.program, at.ns)
    }

    /// What is waited for, in the order of the strands. Suspended or without leases a run waits for no more than those,
    /// and for the transfers that are being cancelled; the status of a telecommand is accepted at any time.
    pub fn pending(&self) -> impl Iterator<Item = Pending> + use<> {
        self.core.pending().into_iter()
    }

    /// The deadline that passes first: by time, then by strand.
    #[must_use]
    pub fn next_deadline(&self) -> Option<(Instant, PendingId)> {
        let (due, strand) = self.core.first_deadline(None)?;
        let state::State::Wait(wait) = &self.core.strands.get(strand)?.state else { return None };
        Some((self.core.instant(due), wait.id))
    }

    /// The first pending thing that these samples decide, if they decide any; allocates nothing.
    #[must_use]
    pub fn settles(&self, snapshot: &dyn Snapshot) -> Option<PendingId> {
        self.core.settles(&self.program, snapshot)
    }

    /// Whether these samples decide something pending; allocates nothing.
    #[must_use]
    pub fn would_settle(&self, snapshot: &dyn Snapshot) -> bool {
        self.settles(snapshot).is_some()
    }

    /// The samples that a pending thing is judged by, as they are in a snapshot.
    #[must_use]
    pub fn evidence(&self, pending: PendingId, snapshot: &dyn Snapshot) -> Vec<SampleRecord> {
        self.core.evidence(&self.program, pending, snapshot)
    }

    /// Number of events so far.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.core.seq
    }

    /// Time of the last event.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.core.instant(self.core.now)
    }

    /// How the run ended, if it has.
    #[must_use]
    pub fn outcome(&self) -> Option<RunOutcome> {
        self.core.ended
    }

    /// The state, for those who look at it.
    #[must_use]
    pub fn view(&self) -> View {
        self.core.view(&self.program)
    }
}
