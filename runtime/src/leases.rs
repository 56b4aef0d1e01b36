//! Leases of targets: which runs may command each.
//!
//! A run takes all its targets at its start, in sorted order, all or none, and never waits: a target held by another run
//! refuses it, naming the holder. A run that changes nothing on board shares. What an earlier instance left is free at
//! once, for only the holder of the store's lock is an instance. What is deliberately not here: renewal and expiry,
//! which a store of one process does not need.

use std::{collections::BTreeMap, sync::Arc};

use stellar_vm::{event::LeaseRefusal, time::Instant};
use tokio::sync::Mutex;

use crate::ports::{LeaseRecord, Leases, Revision, StoreError, leases::LeaseMember};

/// Who takes leases: an instance.
#[derive(Debug, Clone)]
pub struct Owner {
    /// Its configured name.
    pub instance: Arc<str>,
    /// Its nonce, made at its start.
    pub nonce: Arc<str>,
}

/// What a run asks for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The run.
    pub run: Arc<str>,
    /// Its epoch.
    pub epoch: u64,
    /// Its targets, sorted.
    pub targets: Vec<Arc<str>>,
    /// Whether it changes nothing on board.
    pub shared: bool,
}

/// The fence of each target that was taken: telecommands leave under it.
pub type Fences = BTreeMap<Arc<str>, u64>;

/// The leases of one instance's runs.
pub struct LeaseKeeper {
    leases: Arc<dyn Leases>,
    owner: Owner,
    /// One take or release at a time, so that two runs of this process never fight over the order of their writes.
    gate: Mutex<()>,
}

impl LeaseKeeper {
    /// Leases over a store.
    #[must_use]
    pub fn new(leases: Arc<dyn Leases>, owner: Owner) -> Self {
        Self { leases, owner, gate: Mutex::new(()) }
    }

    /// Takes all targets, or none and says who holds the first that is held.
    ///
    /// # Errors
    /// The store's; what was taken before it is released again where the store lets it.
    pub async fn take(&self, wanted: &Wanted, now: Instant) -> Result<Result<Fences, LeaseRefusal>, StoreError> {
        let _gate = self.gate.lock().await;
        let mut fences = Fences::new();
        for target in &wanted.targets {
            match self.take_one(target, wanted, now).await {
                Ok(Ok(fence)) => {
                    fences.insert(target.clone(), fence);
                }
                Ok(Err(refusal)) => {
                    self.give_back(&wanted.run, fences.keys(), now).await?;
                    return Ok(Err(refusal));
                }
                Err(error) => {
                    self.give_back(&wanted.run, fences.keys(), now).await?;
                    return Err(error);
                }
            }
        }
        Ok(Ok(fences))
    }

    /// Releases what a run holds of these targets.
    ///
    /// # Errors
    /// The store's.
    pub async fn release<'a>(
        &self,
        run: &str,
        targets: impl IntoIterator<Item = &'a Arc<str>>,
        now: Instant,
    ) -> Result<(), StoreError> {
        let _gate = self.gate.lock().await;
        self.give_back(run, targets, now).await
    }

    /// Each target that a run of this instance holds, with its lease.
    ///
    /// # Errors
    /// The store's.
    pub async fn held(&self) -> Result<BTreeMap<Arc<str>, LeaseRecord>, StoreError> {
        let all = self.leases.list().await?;
        let held = all.into_iter().filter(|(_, lease, _)| self.is_held(lease));
        Ok(held.map(|(target, lease, _)| (target, lease)).collect())
    }

    fn is_held(&self, lease: &LeaseRecord) -> bool {
        lease.nonce == self.owner.nonce && !lease.runs.is_empty()
    }

    async fn take_one(
        &self,
        target: &Arc<str>,
        wanted: &Wanted,
        now: Instant,
    ) -> Result<Result<u64, LeaseRefusal>, StoreError> {
        let standing = self.leases.get(target).await?;
        let (last_fence, revision, held) = match standing {
            Some((lease, revision)) => (lease.fence, Some(revision), self.is_held(&lease).then_some(lease)),
            None => (0, None, None),
        };
        let lease = match held {
            None => self.alone(wanted, last_fence + 1, now),
            Some(lease) if lease.runs.iter().all(|run| *run == wanted.run) => self.alone(wanted, last_fence + 1, now),
            // Who joins goes under the fence that stands.
            Some(lease) if lease.shared && wanted.shared => self.joined(lease, wanted, now),
            Some(lease) => return Ok(Err(refusal(target, &lease.runs))),
        };
        let fence = lease.fence;
        self.leases.put(target, lease, revision).await?;
        Ok(Ok(fence))
    }

    fn alone(&self, wanted: &Wanted, fence: u64, now: Instant) -> LeaseRecord {
        let mut members = BTreeMap::new();
        if wanted.shared {
            members.insert(wanted.run.clone(), self.member(wanted));
        }
        LeaseRecord {
            runs: vec![wanted.run.clone()],
            shared: wanted.shared,
            renewed_at: now,
            fence,
            epoch: wanted.epoch,
            instance: self.owner.instance.clone(),
            nonce: self.owner.nonce.clone(),
            members,
        }
    }

    fn joined(&self, mut lease: LeaseRecord, wanted: &Wanted, now: Instant) -> LeaseRecord {
        if !lease.runs.contains(&wanted.run) {
            lease.runs.push(wanted.run.clone());
            lease.runs.sort();
        }
        lease.members.insert(wanted.run.clone(), self.member(wanted));
        lease.renewed_at = now;
        lease
    }

    fn member(&self, wanted: &Wanted) -> LeaseMember {
        LeaseMember { n: 0, epoch: wanted.epoch, instance: self.owner.instance.clone() }
    }

    async fn give_back<'a>(
        &self,
        run: &str,
        targets: impl IntoIterator<Item = &'a Arc<str>>,
        now: Instant,
    ) -> Result<(), StoreError> {
        for target in targets {
            let Some((mut lease, revision)) = self.leases.get(target).await? else { continue };
            if !self.is_held(&lease) || !lease.runs.iter().any(|holder| **holder == *run) {
                continue;
            }
            lease.runs.retain(|holder| **holder != *run);
            lease.members.remove(run);
            lease.renewed_at = now;
            let _: Revision = self.leases.put(target, lease, Some(revision)).await?;
        }
        Ok(())
    }
}

fn refusal(target: &Arc<str>, holders: &[Arc<str>]) -> LeaseRefusal {
    let names = holders.join(", ");
    let runs = if holders.len() == 1 { "run" } else { "runs" };
    LeaseRefusal {
        target: target.clone(),
        holders: holders.to_vec(),
        reason: format!("`{target}` is held by {runs} {names}"),
    }
}

#[cfg(test)]
mod tests;
