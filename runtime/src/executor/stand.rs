//! How a run stands: its record and its leases, as they follow from its log.
//!
//! **Invariant**: before a run lets go of a target, each of its telecommands is claimed, settled or cut. So nothing of a
//! run leaves in another's tenure.

use stellar_vm::event::{Fact, RunOutcome};

use super::run::{RunError, RunTask};
use crate::{
    commanding, crash,
    ports::{RunRecord, RunState},
};

impl RunTask {
    /// Takes the leases of the run's targets, and gives the fact that says how that went.
    pub(super) async fn take_leases(&mut self) -> Result<Fact, RunError> {
        crash::point("leases.before");
        let taken = self.shared.leases.take(&self.wanted, self.now()).await?;
        crash::point("leases.after");
        Ok(match taken {
            Ok(fences) => {
                self.fences = fences;
                Fact::Leases { taken: self.wanted.targets.clone(), shared: self.wanted.shared, refused: None }
            }
            Err(refusal) => Fact::Leases { taken: Vec::new(), shared: false, refused: Some(refusal) },
        })
    }

    /// The run has its leases.
    pub(super) async fn running(&mut self) -> Result<(), RunError> {
        self.write_record(|record| {
            record.state = RunState::Running;
            record.reason = None;
        })
        .await
    }

    /// The run is suspended: what nobody claimed is cut, then the leases go.
    pub(super) async fn suspended(&mut self, why: String) -> Result<(), RunError> {
        for fact in self.cut_all("never left: the run was suspended before the gateway took it").await? {
            // A status of a telecommand already sent is accepted while suspended; one that the log has is refused.
            drop(self.accept(fact, self.now()));
        }
        // The statuses are durable before the leases go.
        let events = std::mem::take(&mut self.batch);
        self.journal.append(&events).await?;
        self.release().await?;
        self.write_record(|record| {
            record.state = RunState::Suspended;
            record.reason = Some(why);
        })
        .await
    }

    /// A target is held by another run: at the start the run ends, later it is suspended, and this says why.
    pub(super) async fn lease_refused(&mut self, reason: &str) -> Result<(), RunError> {
        let reason = reason.to_owned();
        let started = self.record.state != RunState::Requested;
        self.write_record(|record| {
            if started {
                record.state = RunState::Suspended;
            }
            record.reason = Some(reason);
        })
        .await
    }

    /// The run has ended and its last event is durable.
    pub(super) async fn finish(&mut self, outcome: RunOutcome) -> Result<(), RunError> {
        self.cut_all("never left: the run ended before the gateway took it").await?;
        self.release().await?;
        let reason = self.machine.view().reason;
        self.write_record(|record| {
            record.state = RunState::Ended;
            record.outcome = Some(outcome);
            record.reason = reason;
        })
        .await?;
        self.journal.close();
        Ok(())
    }

    /// Settles every telecommand of the run: the gateways take back what they have not claimed, and what no gateway
    /// has is cut in the store. Gives the statuses that follow from cutting.
    async fn cut_all(&self, reason: &str) -> Result<Vec<Fact>, RunError> {
        let mut facts = Vec::new();
        for gateway in self.wanted.targets.iter().filter_map(|target| self.shared.gateway(target)) {
            gateway.withdraw(&self.run).await;
        }
        for id in self.sent.all_open() {
            let at = self.shared.clock.now();
            let cut = commanding::cut(self.shared.store.telecommands.as_ref(), &id, reason, at).await?;
            facts.extend(cut.map(|mut fact| {
                if let Fact::TelecommandStatus { received_at, .. } = &mut fact {
                    *received_at = received_at.after(self.offset).max(self.machine.now());
                }
                fact
            }));
        }
        Ok(facts)
    }

    async fn release(&mut self) -> Result<(), RunError> {
        self.fences.clear();
        crash::point("release.before");
        self.shared.leases.release(&self.run, &self.wanted.targets, self.now()).await?;
        crash::point("release.after");
        Ok(())
    }

    async fn write_record(&mut self, change: impl FnOnce(&mut RunRecord)) -> Result<(), RunError> {
        change(&mut self.record);
        self.record.renewed_at = self.now();
        crash::point("record.before");
        self.revision = self.shared.store.records.update(&self.run, self.record.clone(), self.revision).await?;
        crash::point("record.after");
        Ok(())
    }
}
