//! The contract of [`crate::ports::Leases`].

use std::{collections::BTreeMap, sync::Arc};

use stellar_vm::time::{Instant, Scale};

use super::{Checked, Subject, conflict, good, reopen, same};
use crate::ports::LeaseRecord;

fn lease(run: &str, fence: u64) -> LeaseRecord {
    LeaseRecord {
        runs: vec![Arc::from(run)],
        shared: false,
        renewed_at: Instant { ns: 1_790_000_000_000_000_000, scale: Scale::Utc },
        fence,
        epoch: 1,
        instance: Arc::from("exec-a"),
        nonce: Arc::from("01K6"),
        members: BTreeMap::new(),
    }
}

pub(super) async fn check(subject: &mut dyn Subject) -> Checked {
    let leases = subject.store().leases;
    same("no lease yet", &good("get", leases.get("sim-1").await)?, &None)?;
    let first = good("a free target is taken", leases.put("sim-1", lease("a", 1), None).await)?;
    conflict("a taken one is not taken as free", leases.put("sim-1", lease("b", 2), None).await)?;
    let second = good("its revision replaces it", leases.put("sim-1", lease("c", 3), Some(first)).await)?;
    conflict("an old revision does not", leases.put("sim-1", lease("b", 2), Some(first)).await)?;
    conflict("nothing to replace", leases.put("sim-2", lease("b", 2), Some(second)).await)?;

    drop(leases);
    reopen(subject).await?;
    let leases = subject.store().leases;
    let kept = good("get", leases.get("sim-1").await)?;
    same("the lease is kept with its revision", &kept, &Some((lease("c", 3), second)))?;
    let all = good("list", leases.list().await)?;
    same("leases are listed", &all, &vec![(Arc::from("sim-1"), lease("c", 3), second)])
}
