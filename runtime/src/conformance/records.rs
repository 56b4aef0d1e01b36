//! The contract of [`crate::ports::Records`].

use std::{collections::BTreeMap, sync::Arc};

use stellar_vm::{
    time::{Instant, Scale},
    value::Scalar,
};

use super::{Checked, Subject, conflict, good, reopen, same};
use crate::ports::{RunRecord, RunState};

fn record(state: RunState) -> RunRecord {
    let at = Instant { ns: 1_790_000_000_000_000_001, scale: Scale::Utc };
    RunRecord {
        state,
        procedure: Arc::from("AOS acquisition"),
        artifact: Arc::from("00ff"),
        targets: BTreeMap::from([(Arc::from("sat"), Arc::from("sim-1"))]),
        inputs: BTreeMap::from([(Arc::from("tcu"), Scalar::Int(2)), (Arc::from("limit"), Scalar::Float(2.0))]),
        by: Arc::from("os:ada"),
        instance: Arc::from("exec-a"),
        nonce: Arc::from("01K6"),
        epoch: 1,
        requested_at: at,
        renewed_at: at,
        outcome: None,
        reason: Some(String::from("a reason")),
    }
}

pub(super) async fn check(subject: &mut dyn Subject) -> Checked {
    let records = subject.store().records;
    same("no record yet", &good("get", records.get("b").await)?, &None)?;
    let first = good("create", records.create("b", record(RunState::Requested)).await)?;
    conflict("a record is created once", records.create("b", record(RunState::Running)).await)?;
    let second = good("update", records.update("b", record(RunState::Running), first).await)?;
    conflict("an old revision is a conflict", records.update("b", record(RunState::Ended), first).await)?;
    conflict("what is missing is not updated", records.update("c", record(RunState::Ended), second).await)?;
    let other = good("create", records.create("a", record(RunState::Suspended)).await)?;

    drop(records);
    reopen(subject).await?;
    let records = subject.store().records;
    let kept = good("get", records.get("b").await)?;
    same("the record is kept with its revision", &kept, &Some((record(RunState::Running), second)))?;
    let wanted =
        vec![(Arc::from("a"), record(RunState::Suspended), other), (Arc::from("b"), record(RunState::Running), second)];
    same("records are listed sorted", &good("list", records.list().await)?, &wanted)?;
    let third = good("update", records.update("b", record(RunState::Halted), second).await)?;
    same("revisions are not used twice", &(third > second && third > other), &true)
}
