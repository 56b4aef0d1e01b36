//! The contract of [`crate::ports::Control`].

use super::{Checked, Subject, good, reopen, same};
use crate::ports::{ControlAction, ControlMessage};

fn message(id: &str, action: ControlAction) -> ControlMessage {
    ControlMessage { id: id.to_owned(), by: String::from("os:ada"), action }
}

pub(super) async fn check(subject: &mut dyn Subject) -> Checked {
    let answer = ControlAction::Answer { question: String::from("Q"), value: String::from("yes") };
    let control = subject.store().control;
    same("no messages yet", &good("read", control.read("r", 0).await)?, &vec![])?;
    let first = control.send("r", message("a", answer.clone())).await;
    same("the first message is 1", &good("send", first)?, &(1, false))?;
    let second = control.send("r", message("b", ControlAction::Suspend)).await;
    same("then 2", &good("send", second)?, &(2, false))?;
    let again = control.send("r", message("a", ControlAction::Abort)).await;
    same("an id already there is a repetition of the first", &good("send", again)?, &(1, true))?;
    let other = control.send("s", message("a", ControlAction::Abort)).await;
    same("runs are apart", &good("send", other)?, &(1, false))?;

    drop(control);
    reopen(subject).await?;
    let control = subject.store().control;
    let all = vec![(1, message("a", answer)), (2, message("b", ControlAction::Suspend))];
    same("messages are kept in order", &good("read", control.read("r", 0).await)?, &all)?;
    let rest = good("read", control.read("r", 1).await)?;
    same("reading goes on behind `after`", &rest, &vec![(2, message("b", ControlAction::Suspend))])?;
    let again = control.send("r", message("b", ControlAction::Suspend)).await;
    same("ids are kept", &good("send", again)?, &(2, true))
}
