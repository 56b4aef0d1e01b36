//! The contract of [`crate::ports::Log`].

use std::sync::Arc;

use super::{Checked, Subject, conflict, good, reopen, same, violation};
use crate::ports::{Line, StoreError};

fn line(seq: u64, epoch: u64, text: &str) -> Line {
    Line { seq, epoch, text: Arc::from(text) }
}

pub(super) async fn check(subject: &mut dyn Subject) -> Checked {
    let log = subject.store().log;
    same("a run without events has no last line", &good("last", log.last("r").await)?, &None)?;
    same("and no lines", &good("read", log.read("r", 1, 9).await)?, &vec![])?;
    conflict("the first event is 1", log.append("r", vec![line(2, 1, "two")]).await)?;

    good("lines are appended", log.append("r", vec![line(1, 1, "one"), line(2, 1, "two")]).await)?;
    good("one's own line again is acknowledged", log.append("r", vec![line(2, 1, "two")]).await)?;
    conflict("another's line is a conflict", log.append("r", vec![line(2, 1, "other")]).await)?;
    conflict("a gap is a conflict", log.append("r", vec![line(4, 1, "four")]).await)?;
    let half = log.append("r", vec![line(3, 1, "three"), line(5, 1, "five")]).await;
    conflict("all or none", half)?;
    same("nothing of a refused append is there", &good("last", log.last("r").await)?, &Some(line(2, 1, "two")))?;

    good("a higher epoch appends", log.append("r", vec![line(3, 2, "three")]).await)?;
    match log.append("r", vec![line(4, 1, "late")]).await {
        Err(StoreError::Fenced { own: 1, found: 2 }) => {}
        other => return Err(violation("a lower epoch is fenced", &other)),
    }
    good("runs are apart", log.append("s", vec![line(1, 1, "öne")]).await)?;

    drop(log);
    reopen(subject).await?;
    let log = subject.store().log;
    let all = vec![line(1, 1, "one"), line(2, 1, "two"), line(3, 2, "three")];
    same("what was acknowledged is there", &good("read", log.read("r", 1, 9).await)?, &all)?;
    same("reading starts at `from`", &good("read", log.read("r", 3, 9).await)?, &vec![line(3, 2, "three")])?;
    same("reading ends at `limit`", &good("read", log.read("r", 1, 1).await)?, &vec![line(1, 1, "one")])?;
    same("text is kept", &good("last", log.last("s").await)?, &Some(line(1, 1, "öne")))
}
