//! The contract of [`crate::ports::Artifacts`].

use super::{Checked, Subject, conflict, good, reopen, same};

pub(super) async fn check(subject: &mut dyn Subject) -> Checked {
    let artifacts = subject.store().artifacts;
    same("no artifact yet", &good("get", artifacts.get("aa").await)?, &None)?;
    good("an artifact is kept", artifacts.put("aa", vec![0, 1, 255]).await)?;
    good("the same again changes nothing", artifacts.put("aa", vec![0, 1, 255]).await)?;
    conflict("other bytes are a conflict", artifacts.put("aa", vec![0, 1]).await)?;
    let large = vec![7; 3_000_000];
    good("a large artifact is kept", artifacts.put("bb", large.clone()).await)?;

    drop(artifacts);
    reopen(subject).await?;
    let artifacts = subject.store().artifacts;
    same("its bytes are kept", &good("get", artifacts.get("aa").await)?, &Some(vec![0, 1, 255]))?;
    let kept = good("get", artifacts.get("bb").await)?;
    same("all of them", &(kept == Some(large)), &true)
}
