//! Runs in virtual time: what is logged, when, and what left.

use stellar_vm::event::{Body, RunOutcome, Transition};

use super::{
    programs::{Build, ONCE, PING, S, acquire, hour, standby},
    world::{Reply, START, Script, process, question_of, short, willing},
};
use crate::{
    clock::Phase,
    executor::{ControlReply, Ending},
    ports::{Look, RunState, TelecommandResult},
};

#[test]
fn a_run_sends_verifies_and_passes_to_the_nanosecond() {
    let folder = tempfile::tempdir().unwrap();
    process(folder.path(), START, willing(), async |world| {
        let handle = world.start(acquire()).await;
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
        let log = world.log(handle.id()).await;
        let wanted = [
            "0 run_started",
            "0 leases",
            "0 step_started",
            "0 telecommand_sent",
            "0 telecommand_status released",
            "1 telecommand_status completed",
            "2 observed",
            "2 step_finished passed",
            "2 run_finished passed",
        ];
        assert_eq!(short(&log), wanted);
        let Body::Transition(Transition::TelecommandSent { id, .. }) = &log[3].body else { panic!() };
        assert_eq!(world.handed_over(), [id.to_string()]);
        assert_eq!(log[3].fence, Some(1), "a telecommand carries the fence of its target");
        let result = world.store.store().telecommands.look(id).await.unwrap();
        assert!(matches!(result, Look::Result(TelecommandResult::Released { .. })), "{result:?}");
        let record = handle.record().await.unwrap().unwrap();
        assert_eq!((record.state, record.outcome), (RunState::Ended, Some(RunOutcome::Passed)));
        assert!(world.executor.leases().held().await.unwrap().is_empty());
    });
}

#[test]
fn a_window_ends_to_the_nanosecond() {
    let folder = tempfile::tempdir().unwrap();
    process(folder.path(), START, Script::new(), async |world| {
        let handle = world.start(acquire()).await;
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Failed)));
        let log = world.log(handle.id()).await;
        assert_eq!(short(&log)[5..], ["5 elapsed", "5 step_finished failed", "5 run_finished failed"]);
        let record = handle.record().await.unwrap().unwrap();
        assert!(record.reason.is_some(), "the record says why");
    });
}

#[test]
fn at_the_deadline_itself_the_fact_wins() {
    let folder = tempfile::tempdir().unwrap();
    let script = Script::from([("ping", vec![(5 * S, Reply::Completed), (10 * S, Reply::Responding(true))])]);
    process(folder.path(), START, script, async |world| {
        let handle = world.start(acquire()).await;
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
        let log = short(&world.log(handle.id()).await);
        assert_eq!(log[5..7], ["5 telecommand_status completed", "10 observed"]);
    });
}

#[test]
fn at_the_deadline_itself_an_answer_wins_although_a_sample_woke_the_run_first() {
    let folder = tempfile::tempdir().unwrap();
    let script = Script::from([("ping", vec![(S, Reply::Completed), (6 * S, Reply::Responding(true))])]);
    process(folder.path(), START, script, async |world| {
        let program = Build::procedure("Asked late")
            .step("asks", ONCE, |step| step.send(PING).ask("go?", 5 * S).expect(5 * S))
            .artifact();
        let handle = world.start(program).await;
        let asked = question_of(&handle).await;
        // Asked for after the sample was, so that the sample comes first.
        world.clock.sleep_until(START.after(6 * S), Phase::Link).await;
        let answered = handle.answer("os:ada", None, &asked, "yes").await;
        assert!(matches!(answered, Ok(ControlReply::Applied { .. })), "{answered:?}");
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
        let log = short(&world.log(handle.id()).await);
        assert_eq!(log[7..], ["6 answered", "6 observed", "6 step_finished passed", "6 run_finished passed"]);
    });
}

#[test]
fn a_nanosecond_later_it_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let script = Script::from([("ping", vec![(5 * S + 1, Reply::Completed)])]);
    process(folder.path(), START, script, async |world| {
        let handle = world.start(acquire()).await;
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Failed)));
        assert_eq!(short(&world.log(handle.id()).await)[5], "5 elapsed");
    });
}

#[test]
fn a_sample_before_the_send_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let script = Script::from([("ping", vec![(S, Reply::Responding(true)), (2 * S, Reply::Completed)])]);
    process(folder.path(), START, script, async |world| {
        let program = Build::procedure("Twice")
            .step("first", ONCE, |step| step.send(PING).expect(5 * S))
            .step("second", ONCE, |step| step.expect(3 * S))
            .artifact();
        let handle = world.start(program).await;
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Failed)));
        let log = short(&world.log(handle.id()).await);
        // The reply that came before the completion report satisfies the first `expect`; nothing the second.
        assert_eq!(log[5..8], ["2 telecommand_status completed", "2 observed", "2 step_finished passed"]);
        assert_eq!(log[log.len() - 2..], ["5 step_finished failed", "5 run_finished failed"]);
    });
}

#[test]
fn an_hour_passes_at_once() {
    let folder = tempfile::tempdir().unwrap();
    process(folder.path(), START, willing(), async |world| {
        let handle = world.start(hour()).await;
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
        assert_eq!(
            short(&world.log(handle.id()).await)[2..],
            ["3600 elapsed", "3600 noted", "3600 run_finished passed"]
        );
    });
}

#[test]
fn a_held_target_refuses_the_second_run_and_shared_ones_go_together() {
    let folder = tempfile::tempdir().unwrap();
    process(folder.path(), START, willing(), async |world| {
        let first = world.start(standby()).await;
        let second = world.start(acquire()).await;
        assert_eq!(second.ended().await, Some(Ending::Finished(RunOutcome::Failed)));
        let log = world.log(second.id()).await;
        assert_eq!(short(&log), ["0 run_started", "0 leases refused", "0 run_finished failed"]);
        let Body::Transition(Transition::RunFinished { reason, .. }) = &log[2].body else { panic!() };
        assert_eq!(reason.as_deref(), Some(format!("`sim-1` is held by run {}", first.id()).as_str()));
        assert_eq!(first.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
        let (third, fourth) = (world.start(acquire()).await, world.start(acquire()).await);
        assert_eq!(third.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
        assert_eq!(fourth.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
        assert_eq!(world.handed_over().len(), 3);
    });
}
