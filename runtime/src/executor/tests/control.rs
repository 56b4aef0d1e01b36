//! What operators send: answers, decisions, suspension, abort; each once.

use stellar_vm::event::{Body, DecisionOption, Fact, RunOutcome, Transition};

use super::{
    programs::{S, hour, question, standby},
    world::{Reply, START, Script, decision_of, process, question_of, short, wait_for, willing},
};
use crate::{
    executor::{ControlError, ControlReply, Ending},
    ports::RunState,
};

fn code(reply: &ControlReply) -> &'static str {
    match reply {
        ControlReply::Declined { code, .. } => code,
        other => panic!("not declined: {other:?}"),
    }
}

#[test]
fn a_question_is_answered_once() {
    let folder = tempfile::tempdir().unwrap();
    process(folder.path(), START, willing(), async |world| {
        let handle = world.start(question()).await;
        let asked = question_of(&handle).await;
        let wrong = handle.answer("os:ada", None, "01K6A3D3Y4Q8K1P9W2N6R5T7XZ", "yes").await.unwrap();
        assert_eq!(code(&wrong), "run::not-pending");
        let wrong = handle.answer("os:ada", None, &asked, "perhaps").await.unwrap();
        assert_eq!(code(&wrong), "run::not-offered");
        let first = handle.answer("os:ada", Some("k"), &asked, "yes").await.unwrap();
        let ControlReply::Applied { ctl: 3, repeated: false, event } = &first else { panic!("{first:?}") };
        let again = handle.answer("os:ada", Some("k"), &asked, "no").await.unwrap();
        assert_eq!(again, ControlReply::Applied { ctl: 3, repeated: true, event: event.clone() });
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
        let told = handle.answer("os:ada", Some("k"), &asked, "yes").await.unwrap();
        assert_eq!(told, again, "also when the run has ended");
        let late = handle.answer("os:bob", None, &asked, "yes").await.unwrap_err();
        assert!(matches!(late, ControlError::Ended(_)), "{late}");
        let log = short(&world.log(handle.id()).await);
        assert_eq!(log.iter().filter(|event| event.ends_with(" answered")).count(), 1, "{log:?}");
    });
}

#[test]
fn an_unanswered_question_ends_at_its_bound() {
    let folder = tempfile::tempdir().unwrap();
    process(folder.path(), START, willing(), async |world| {
        let handle = world.start(question()).await;
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Failed)));
        assert_eq!(short(&world.log(handle.id()).await)[4], "60 elapsed");
    });
}

#[test]
fn a_failed_step_that_changes_state_waits_for_a_decision() {
    let folder = tempfile::tempdir().unwrap();
    let script = Script::from([("standby", vec![(S, Reply::Failed)])]);
    process(folder.path(), START, script, async |world| {
        let handle = world.start(standby()).await;
        let (seq, first, _) = decision_of(&handle, 1).await;
        let replayed = handle.decide("os:ada", None, &first, DecisionOption::Replay).await.unwrap();
        assert!(matches!(replayed, ControlReply::Applied { .. }), "{replayed:?}");
        let late = handle.decide("os:bob", None, &first, DecisionOption::Skip).await.unwrap();
        assert_eq!(code(&late), "run::not-pending");
        let (_, second, _) = decision_of(&handle, seq + 1).await;
        assert_ne!(first, second);
        handle.decide("os:ada", None, &second, DecisionOption::Skip).await.unwrap();
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
        assert_eq!(world.handed_over().len(), 2, "one telecommand an attempt");
    });
}

#[test]
fn a_suspended_run_holds_nothing_and_goes_on_when_resumed() {
    let folder = tempfile::tempdir().unwrap();
    process(folder.path(), START, willing(), async |world| {
        let handle = world.start(hour()).await;
        wait_for(&handle, |body| matches!(body, Body::Fact(Fact::Leases { .. }))).await;
        handle.suspend("os:ada", None).await.unwrap();
        assert!(world.executor.leases().held().await.unwrap().is_empty(), "leases are released");
        let record = handle.record().await.unwrap().unwrap();
        assert_eq!(record.state, RunState::Suspended);
        let twice = handle.resume("os:ada", None).await.unwrap();
        assert!(matches!(twice, ControlReply::Applied { .. }));
        let wrong = handle.resume("os:ada", None).await.unwrap();
        assert_eq!(code(&wrong), "run::not-suspended");
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
        let log = short(&world.log(handle.id()).await);
        assert!(log.contains(&String::from("0 suspended operator")), "{log:?}");
        assert_eq!(log.last().map(String::as_str), Some("3600 run_finished passed"), "a wait goes on counting");
    });
}

#[test]
fn resumed_on_a_held_target_it_stays_suspended_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let script = Script::from([("standby", vec![])]);
    process(folder.path(), START, script, async |world| {
        let handle = world.start(hour()).await;
        wait_for(&handle, |body| matches!(body, Body::Fact(Fact::Leases { .. }))).await;
        handle.suspend("os:ada", None).await.unwrap();
        let other = world.start(standby()).await;
        wait_for(&other, |body| matches!(body, Body::Transition(Transition::TelecommandSent { .. }))).await;
        handle.resume("os:ada", None).await.unwrap();
        let told = wait_for(&handle, |body| matches!(body, Body::Fact(Fact::Leases { refused: Some(_), .. }))).await;
        let Body::Fact(Fact::Leases { refused: Some(refusal), .. }) = told.body else { panic!() };
        assert_eq!(refusal.reason, format!("`sim-1` is held by run {}", other.id()));
        let record = handle.record().await.unwrap().unwrap();
        assert_eq!((record.state, record.reason), (RunState::Suspended, Some(refusal.reason)));
    });
}

#[test]
fn an_abort_ends_a_run_in_one_event_and_nothing_leaves_after() {
    let folder = tempfile::tempdir().unwrap();
    process(folder.path(), START, Script::new(), async |world| {
        let handle = world.start(standby()).await;
        wait_for(&handle, |body| matches!(body, Body::Transition(Transition::TelecommandSent { .. }))).await;
        handle.abort("os:ada", None).await.unwrap();
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Aborted)));
        let log = short(&world.log(handle.id()).await);
        assert_eq!(log.iter().filter(|event| event.contains("run_finished")).count(), 1);
        assert!(log.last().unwrap().ends_with("run_finished aborted"), "{log:?}");
        let sent = world.handed_over().len();
        world.clock.sleep_until(world.clock.now().after(60 * S), crate::clock::Phase::Run).await;
        assert_eq!(world.handed_over().len(), sent);
        assert!(world.executor.leases().held().await.unwrap().is_empty());
    });
}
