//! What a waiting run takes in next, and in which order.
//!
//! Operators first, and the leases; then what the gateways published, each item in order, up to the next deadline; then what the machine
//! wants at once; then deadlines that have passed, in virtual time when nothing else happens at that instant. So at a
//! deadline itself the fact wins, and a deadline at which telemetry or reports are judged passes only when the gateways
//! have told all that they had received by then.

use std::sync::Arc;

use stellar_vm::{
    event::{Fact, PendingId, TransferStatus},
    machine::{Pending, PendingKind, RefusedKind},
    time::Instant,
};

use super::{
    Command,
    inbox::Entry,
    run::{RunError, RunTask},
};
use crate::{clock::Phase, commanding, ports::Look};

/// How long an `elapsed` of a window that judges telemetry waits for the gateways, in nanoseconds.
const LATENESS: i64 = 500_000_000;
/// How often a run that waits for an instant of UTC looks at it, in nanoseconds: the wall clock may step.
const UTC_LOOK: i64 = 1_000_000_000;

impl RunTask {
    /// Waits until something happens to the run, and gives it to the machine.
    pub(super) async fn next(&mut self) -> Result<(), RunError> {
        loop {
            self.inbox.pull();
            self.commands();
            if self.take_message().await? {
                return Ok(());
            }
            // Without its leases a run judges nothing: what came meanwhile waits, so that it is judged in its order.
            if self.wants_leases() && self.at_once().await? {
                return Ok(());
            }
            let deadline = self.machine.next_deadline();
            if let Some(entry) = self.inbox.take(deadline.map(|(due, _)| due)) {
                if self.take_in(entry)? {
                    return Ok(());
                }
                continue;
            }
            if self.at_once().await? || self.settle()? {
                return Ok(());
            }
            if let Some((due, id)) = deadline
                && due <= self.now()
            {
                if self.shared.clock.is_virtual() && self.came_last.is_none_or(|last| last < due) {
                    self.come_last(due).await;
                    continue;
                }
                if self.judged(id) && self.read_past.is_none_or(|past| past < due) {
                    self.read_past(due).await;
                    continue;
                }
                return self.expire(due, id).await;
            }
            self.offer_again().await?;
            self.wait(deadline.map(|(due, _)| due)).await;
        }
    }

    fn wants_leases(&self) -> bool {
        self.machine.pending().any(|pending| pending.kind == PendingKind::Leases)
    }

    /// Answers who asks for the state, and notes that there are messages.
    fn commands(&mut self) {
        while let Ok(command) = self.commands.try_recv() {
            self.command(command);
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Poke => self.poked = true,
            // Whoever asked may have gone.
            Command::View(answer) => drop(answer.send(self.machine.view())),
        }
    }

    /// Takes in what a gateway published; whether the machine got a fact.
    fn take_in(&mut self, entry: Entry) -> Result<bool, RunError> {
        match entry {
            Entry::Status { id, fact, .. } => {
                if !self.sent.contains(&id) {
                    return Ok(false);
                }
                // What the machine refuses says nothing new: a repetition, or late for a telecommand that is over.
                Ok(self.accept(fact, self.now_by_deadline()).is_ok())
            }
            Entry::Samples { mut samples, .. } => {
                samples.retain(|sample| self.snapshot.wants(sample));
                if samples.is_empty() {
                    return Ok(false);
                }
                samples.iter().for_each(|sample| self.snapshot.put(sample));
                self.settle()
            }
        }
    }

    /// Enters what decides a condition that is waited for, if the samples as they are now decide one. A reading is no
    /// such condition: it is given when all that has come is taken in.
    fn settle(&mut self) -> Result<bool, RunError> {
        let at = self.now_by_deadline();
        let Some(pending) = self.machine.settles(&self.snapshot) else { return Ok(false) };
        if matches!(self.pending(pending).map(|pending| pending.kind), Some(PendingKind::Reading)) {
            return Ok(false);
        }
        let samples = self.machine.evidence(pending, &self.snapshot);
        self.enter_in_time("observed", Fact::Observed { pending, samples, utc: None }, at)
    }

    /// Gives a fact to the machine that it has asked for; `false` where a deadline has passed that is dealt with first.
    fn enter_in_time(&mut self, kind: &'static str, fact: Fact, at: Instant) -> Result<bool, RunError> {
        match self.accept(fact, at) {
            Ok(()) => Ok(true),
            Err(refused) if refused.why == RefusedKind::Late => Ok(false),
            Err(refused) => Err(RunError::Refused { fact: kind, refused }),
        }
    }

    /// Gives the machine what it wants at once: leases, a reading, UTC, the end of a transfer.
    async fn at_once(&mut self) -> Result<bool, RunError> {
        let wanted = self.machine.pending().find_map(|pending| match pending.kind {
            PendingKind::Leases => Some((pending.id, PendingKind::Leases)),
            PendingKind::Reading => Some((pending.id, PendingKind::Reading)),
            PendingKind::Utc { until, now } if now || self.shared.clock.utc_now().ns >= until => {
                Some((pending.id, PendingKind::Utc { until, now }))
            }
            kind @ PendingKind::Transfer { .. } => Some((pending.id, kind)),
            _ => None,
        });
        let Some((pending, kind)) = wanted else { return Ok(false) };
        let at = self.now_by_deadline();
        match kind {
            PendingKind::Leases => {
                let fact = self.take_leases().await?;
                self.enter("leases", fact, self.now())?;
                Ok(true)
            }
            PendingKind::Utc { .. } => {
                let utc = Some(self.shared.clock.utc_now());
                self.enter_in_time("observed", Fact::Observed { pending, samples: Vec::new(), utc }, at)
            }
            PendingKind::Transfer { id, cancel } => {
                // No transfer is ever created here, so that there is none to stop either.
                let (status, reason) = match cancel {
                    true => (TransferStatus::Cancelled, None),
                    false => (TransferStatus::NotCreated, Some(String::from("this installation has no file transfer"))),
                };
                self.enter_in_time("transfer_status", Fact::TransferStatus { id, status, reason }, at)
            }
            _ => {
                let samples = self.machine.evidence(pending, &self.snapshot);
                self.enter_in_time("observed", Fact::Observed { pending, samples, utc: None }, at)
            }
        }
    }

    fn pending(&self, id: PendingId) -> Option<Pending> {
        self.machine.pending().find(|pending| pending.id == id)
    }

    /// Whether reports or telemetry decide about this deadline.
    fn judged(&self, id: PendingId) -> bool {
        let kind = self.pending(id).map(|pending| pending.kind);
        matches!(kind, Some(PendingKind::Condition | PendingKind::Telecommand { .. }))
    }

    /// Lets everything else happen that happens at this instant of virtual time: whatever woke the run may not be all.
    async fn come_last(&mut self, due: Instant) {
        self.shared.clock.sleep_until(due.after(-self.offset), Phase::Run).await;
        self.came_last = Some(due);
    }

    /// Lets the gateways tell all that they have received, for half a second at most.
    async fn read_past(&mut self, due: Instant) {
        let gateways: Vec<_> = self.wanted.targets.iter().filter_map(|target| self.shared.gateway(target)).collect();
        let flushes = futures_util::future::join_all(gateways.iter().map(|gateway| gateway.flush()));
        let limit = self.shared.clock.now().after(LATENESS);
        tokio::select! {
            biased;
            _ = flushes => {}
            () = self.shared.clock.sleep_until(limit, Phase::Run) => {}
        }
        self.read_past = Some(due);
    }

    /// Deals with a deadline that has passed.
    async fn expire(&mut self, due: Instant, id: PendingId) -> Result<(), RunError> {
        let kind = self.pending(id).map(|pending| pending.kind);
        if let Some(PendingKind::Telecommand { id: telecommand, .. }) = &kind
            && self.cut(telecommand, due).await?
        {
            return Ok(());
        }
        if let Some(PendingKind::Condition | PendingKind::Telecommand { until: true, .. }) = &kind {
            let samples = self.machine.evidence(id, &self.snapshot);
            // Refused where nothing is judged by samples any more, or not yet: then the deadline says all.
            if !samples.is_empty()
                && self.accept(Fact::Observed { pending: id, samples, utc: None }, self.now()).is_ok()
                && self.machine.next_deadline() != Some((due, id))
            {
                return Ok(());
            }
        }
        let utc = matches!(kind, Some(PendingKind::Utc { .. })).then(|| self.shared.clock.utc_now());
        self.enter("elapsed", Fact::Elapsed { pending: id, due, utc }, self.now())
    }

    /// Cuts a telecommand at the end of its window where nobody has claimed it; whether that settled it.
    async fn cut(&mut self, id: &Arc<str>, due: Instant) -> Result<bool, RunError> {
        if self.sent.open(id).is_none() {
            return Ok(false);
        }
        let reason = "never left: its verification window ended before the gateway took it";
        let telecommands = self.shared.store.telecommands.clone();
        let at = due.after(-self.offset);
        match commanding::cut(telecommands.as_ref(), id, reason, at).await? {
            Some(mut fact) => {
                if let Fact::TelecommandStatus { received_at, .. } = &mut fact {
                    *received_at = due;
                }
                Ok(self.accept(fact, due.max(self.machine.now())).is_ok())
            }
            None => Ok(false),
        }
    }

    /// Offers what an earlier owner, or this one before a suspension, logged and nobody has claimed: it goes out under
    /// its identifier, and nothing is logged for that.
    async fn offer_again(&mut self) -> Result<(), RunError> {
        let awaited: Vec<Arc<str>> = self
            .machine
            .pending()
            .filter_map(|pending| match pending.kind {
                PendingKind::Telecommand { id, .. } => Some(id),
                _ => None,
            })
            .collect();
        for id in awaited {
            let Some(open) = self.sent.open(&id).filter(|open| !open.offered).cloned() else { continue };
            match self.shared.store.telecommands.look(&id).await? {
                Look::NotClaimed => self.offer(&open),
                Look::Claimed(_) | Look::Result(_) => self.sent.offered(&id),
            }
        }
        Ok(())
    }

    /// Waits for a deadline, a gateway or an operator, whichever is first.
    async fn wait(&mut self, deadline: Option<Instant>) {
        let wake = [deadline, self.utc_wake()].into_iter().flatten().min();
        let clock = self.shared.clock.clone();
        let offset = self.offset;
        let sleep = async {
            match wake {
                Some(wake) => clock.sleep_until(wake.after(-offset), Phase::Run).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.inbox.arrive() => {}
            command = self.commands.recv() => if let Some(command) = command { self.command(command) },
            () = sleep => self.came_last = wake,
        }
    }

    /// When to look at UTC again, where an instant of it is waited for.
    fn utc_wake(&self) -> Option<Instant> {
        let first = self.machine.pending().filter_map(|pending| match pending.kind {
            PendingKind::Utc { until, .. } => Some(until),
            _ => None,
        });
        let left = first.min()?.saturating_sub(self.shared.clock.utc_now().ns).max(0);
        let step = if self.shared.clock.is_virtual() { left } else { left.min(UTC_LOOK) };
        Some(self.now().after(step))
    }
}
