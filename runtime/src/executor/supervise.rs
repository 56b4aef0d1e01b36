//! What becomes of a run whose task ends: it has ended, or it is halted, with the reason in its record.

use std::sync::Arc;

use tokio::{sync::watch, task::JoinError};

use super::{Active, Ending, RunError, Shared, run::RunTask};
use crate::ports::{RunState, StoreError};

impl Shared {
    /// Runs a task, with another that looks after it.
    pub(super) fn spawn(self: &Arc<Self>, task: RunTask, active: Active, ending: watch::Sender<Option<Ending>>) {
        let (run, shared) = (task.run.clone(), self.clone());
        self.active().insert(run.clone(), active);
        tokio::spawn(async move {
            let told = match tokio::spawn(task.run()).await {
                Ok(Ok(outcome)) => Ending::Finished(outcome),
                Ok(Err(RunError::Store(StoreError::Unavailable(why)))) => Ending::Left(why),
                Ok(Err(error)) => shared.halt(&run, &error.to_string()).await,
                Err(error) => match panicked(error) {
                    Some(why) => shared.halt(&run, &format!("its task panicked: {why}")).await,
                    None => Ending::Left(String::from("the process leaves it")),
                },
            };
            ending.send_replace(Some(told));
        });
    }

    /// Halts a run: no owner, no leases, until an operator resumes it.
    pub(super) async fn halt(&self, run: &str, reason: &str) -> Ending {
        match self.try_halt(run, reason).await {
            Ok(()) => Ending::Halted(reason.to_owned()),
            Err(error) => Ending::Halted(format!("{reason}; and its record cannot say so: {error}")),
        }
    }

    async fn try_halt(&self, run: &str, reason: &str) -> Result<(), StoreError> {
        let Some((mut record, revision)) = self.store.records.get(run).await? else { return Ok(()) };
        record.state = RunState::Halted;
        record.reason = Some(format!("{reason} (stellar {})", env!("CARGO_PKG_VERSION")));
        record.renewed_at = self.clock.now();
        let targets: Vec<Arc<str>> = record.targets.values().cloned().collect();
        self.store.records.update(run, record, revision).await?;
        self.leases.release(run, &targets, self.clock.now()).await
    }
}

/// What a task that panicked said; `None` where it was only cancelled.
fn panicked(error: JoinError) -> Option<String> {
    let panic = error.try_into_panic().ok()?;
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    Some(text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| String::from("without words")))
}
