//! The contract of [`crate::ports::Archive`].

use std::sync::Arc;

use stellar_vm::{
    catalogue::Stage,
    time::{Instant, Scale},
    value::Scalar,
};

use super::{Checked, Subject, good, reopen, same};
use crate::ports::{Sample, TargetItem};

const AT: Instant = Instant { ns: 1_790_000_000_000_000_000, scale: Scale::Utc };

fn sample(name: &str, order: u64, value: Scalar) -> Sample {
    Sample {
        target: Arc::from("sim-1"),
        component: Arc::from("tcu"),
        index: Some(2),
        name: Arc::from(name),
        value,
        received_at: AT,
        order,
        valid: true,
        replayed: false,
    }
}

fn release(order: u64) -> TargetItem {
    TargetItem::Release { id: Arc::from("tc"), order, at: AT }
}

pub(super) async fn check(subject: &mut dyn Subject) -> Checked {
    let target: Arc<str> = Arc::from("sim-1");
    let archive = subject.store().archive;
    let orders: Vec<u64> = (0..6).map(|_| archive.next_order()).collect();
    let &[o1, o2, o3, o4, o5, o6] = orders.as_slice() else { return Ok(()) };
    same("orders grow", &orders.is_sorted_by(|a, b| a < b), &true)?;
    let first = TargetItem::Samples {
        samples: vec![sample("mode", o2, Scalar::Str(String::from("SAFE"))), sample("on", o3, Scalar::Bool(true))],
    };
    let report = TargetItem::Report {
        id: Arc::from("tc"),
        order: o4,
        at: AT,
        stage: Stage::Completed,
        ok: false,
        code: Some(String::from("3 (bad)")),
    };
    let old = Sample { replayed: true, ..sample("on", o5, Scalar::Bool(false)) };
    let later = TargetItem::Samples { samples: vec![old] };
    archive.append(&target, vec![release(o1), first.clone()]);
    archive.append(&Arc::from("sim-2"), vec![release(o6)]);
    archive.append(&target, vec![report.clone(), later.clone()]);
    let all = vec![release(o1), first, report, later];
    same("what was appended is read at once", &good("since", archive.since("sim-1", 0, 9).await)?, &all)?;
    let mode = sample("mode", o2, Scalar::Str(String::from("SAFE")));
    let latest = vec![mode, sample("on", o3, Scalar::Bool(true))];
    let found = good("latest", archive.latest("sim-1").await)?;
    same("the last sample of each parameter, replays apart", &found, &latest)?;
    good("flush", archive.flush().await)?;

    drop(archive);
    reopen(subject).await?;
    let archive = subject.store().archive;
    same("items are kept", &good("since", archive.since("sim-1", 0, 9).await)?, &all)?;
    same("at most `limit`", &good("since", archive.since("sim-1", 0, 1).await)?, &vec![release(o1)])?;
    let behind = good("since", archive.since("sim-1", o2, 1).await)?;
    let rest = TargetItem::Samples { samples: vec![sample("on", o3, Scalar::Bool(true))] };
    same("reading goes on behind `after`, within a packet as well", &behind, &vec![rest])?;
    same("the last samples are kept", &good("latest", archive.latest("sim-1").await)?, &latest)?;
    same("orders are not used again", &(archive.next_order() > o6), &true)
}
