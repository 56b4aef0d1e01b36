//! A process ends suddenly, another takes its runs over.

use std::{future::Future, pin::Pin, sync::Arc};

use stellar_vm::event::{Body, DecisionOption, Event, Fact, Known, RunOutcome, Transition};

use super::{
    programs::{S, acquire, hour, question, standby},
    world::{Reply, START, Script, decision_of, process, process_with, question_of, short, wait_for, willing},
};
use crate::{
    commanding::{Subscribed, TargetGateway},
    executor::{Ending, ResumeError},
    gateway::{Gateway, TelecommandOrder},
    ports::{Line, RunState},
};

fn sent(body: &Body) -> bool {
    matches!(body, Body::Transition(Transition::TelecommandSent { .. }))
}

fn released(body: &Body) -> bool {
    matches!(body, Body::Fact(Fact::TelecommandStatus { .. }))
}

/// A gateway that loses what it is offered, as one does whose process ends between log and claim.
struct Deaf(Gateway);

impl TargetGateway for Deaf {
    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    fn subscribe(&self) -> Subscribed {
        TargetGateway::subscribe(&self.0)
    }

    fn offer(&self, _: TelecommandOrder) {}

    fn withdraw<'a>(&'a self, run: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        TargetGateway::withdraw(&self.0, run)
    }

    fn flush(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        TargetGateway::flush(&self.0)
    }
}

/// A gateway that tells a run nothing: what it publishes is archived and waits there.
struct Mute(Gateway);

impl TargetGateway for Mute {
    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    fn subscribe(&self) -> Subscribed {
        let (_, items) = tokio::sync::mpsc::unbounded_channel();
        Subscribed { items, ..TargetGateway::subscribe(&self.0) }
    }

    fn offer(&self, order: TelecommandOrder) {
        TargetGateway::offer(&self.0, order);
    }

    fn withdraw<'a>(&'a self, run: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        TargetGateway::withdraw(&self.0, run)
    }

    fn flush(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        TargetGateway::flush(&self.0)
    }
}

/// A gateway that panics.
struct Panics(Gateway);

impl TargetGateway for Panics {
    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    fn subscribe(&self) -> Subscribed {
        TargetGateway::subscribe(&self.0)
    }

    fn offer(&self, _: TelecommandOrder) {
        panic!("a bug in a gateway");
    }

    fn withdraw<'a>(&'a self, run: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        TargetGateway::withdraw(&self.0, run)
    }

    fn flush(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        TargetGateway::flush(&self.0)
    }
}

#[test]
fn a_wait_goes_on_where_it_was_and_does_not_begin_again() {
    let folder = tempfile::tempdir().unwrap();
    let run = process(folder.path(), START, willing(), async |world| {
        let handle = world.start(hour()).await;
        wait_for(&handle, |body| matches!(body, Body::Fact(Fact::Leases { .. }))).await;
        handle.id().clone()
    });
    process(folder.path(), START.after(600 * S), willing(), async |world| {
        assert_eq!(world.executor.left_behind().await.unwrap(), std::slice::from_ref(&run));
        let handle = world.executor.resume(&run, "os:ada").await.unwrap();
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
        let log = world.log(&run).await;
        assert_eq!(
            short(&log),
            [
                "0 run_started",
                "0 leases",
                "600 taken_over",
                "600 leases",
                "3600 elapsed",
                "3600 noted",
                "3600 run_finished passed"
            ]
        );
        assert_eq!(log.iter().map(|event| event.epoch).collect::<Vec<_>>(), [1, 1, 2, 2, 2, 2, 2]);
        let again = world.executor.resume(&run, "os:ada").await.err().unwrap();
        assert!(matches!(again, ResumeError::Ended(_)), "{again}");
    });
}

#[test]
fn a_wait_that_is_over_ends_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let run = process(folder.path(), START, willing(), async |world| {
        let handle = world.start(hour()).await;
        wait_for(&handle, |body| matches!(body, Body::Fact(Fact::Leases { .. }))).await;
        handle.id().clone()
    });
    process(folder.path(), START.after(7_200 * S), willing(), async |world| {
        let handle = world.executor.resume(&run, "os:ada").await.unwrap();
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
        let log = short(&world.log(&run).await);
        assert_eq!(log.last().map(String::as_str), Some("7200 run_finished passed"), "{log:?}");
    });
}

#[test]
fn a_clock_that_went_back_moves_no_run_back() {
    let folder = tempfile::tempdir().unwrap();
    let run = process(folder.path(), START, willing(), async |world| {
        let handle = world.start(question()).await;
        question_of(&handle).await;
        handle.id().clone()
    });
    process(folder.path(), START.after(-900 * S), willing(), async |world| {
        let handle = world.executor.resume(&run, "os:ada").await.unwrap();
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Failed)));
        let log = world.log(&run).await;
        let last = &log.last().unwrap().body;
        let log = short(&log);
        assert_eq!(log.last().map(String::as_str), Some("60 run_finished failed"), "{log:?} {last:?}");
    });
}

#[test]
fn what_was_logged_and_not_claimed_is_offered_again_under_its_identifier() {
    let folder = tempfile::tempdir().unwrap();
    let (run, id) = process_with(
        folder.path(),
        START,
        willing(),
        |gateway| Arc::new(Deaf(gateway)),
        async |world| {
            let handle = world.start(acquire()).await;
            let event = wait_for(&handle, sent).await;
            let Body::Transition(Transition::TelecommandSent { id, .. }) = event.body else { panic!() };
            (handle.id().clone(), id)
        },
    );
    process(folder.path(), START.after(100 * S), willing(), async |world| {
        let handle = world.executor.resume(&run, "os:ada").await.unwrap();
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
        assert_eq!(world.handed_over(), [id.to_string()]);
        let log = world.log(&run).await;
        let known = log.iter().find_map(|event| match &event.body {
            Body::Fact(Fact::TakenOver { known, .. }) => Some(known.clone()),
            _ => None,
        });
        assert_eq!(known.unwrap()[0].known, Known::NeverLeft);
        let log = short(&log);
        assert_eq!(log.iter().filter(|event| event.contains("telecommand_sent")).count(), 1, "{log:?}");
        assert_eq!(log.last().map(String::as_str), Some("102 run_finished passed"));
    });
}

#[test]
fn what_left_is_not_sent_again_and_is_followed_from_the_archive() {
    let folder = tempfile::tempdir().unwrap();
    let run = process(folder.path(), START, willing(), async |world| {
        let handle = world.start(acquire()).await;
        wait_for(&handle, released).await;
        // Received and archived, and the run does not get to log it.
        let release = wait_for(&handle, released).await;
        world.clock.sleep_until(release.at.after(S), crate::clock::Phase::Link).await;
        world.store.store().archive.flush().await.unwrap();
        handle.id().clone()
    });
    process(folder.path(), START.after(3 * S), Script::new(), async |world| {
        let handle = world.executor.resume(&run, "os:ada").await.unwrap();
        let ended = handle.ended().await;
        assert!(world.handed_over().is_empty(), "it left before");
        // Its completion is in the log or in the archive; only the sample is missing.
        assert_eq!(ended, Some(Ending::Finished(RunOutcome::Failed)));
        let log = short(&world.log(&run).await);
        assert_eq!(log.iter().filter(|event| event.ends_with("status completed")).count(), 1, "{log:?}");
        assert_eq!(log.last().map(String::as_str), Some("8 run_finished failed"), "{log:?}");
    });
}

#[test]
fn what_the_archive_received_is_judged_in_its_order() {
    let brief = Script::from([(
        "ping",
        vec![(S, Reply::Completed), (2 * S, Reply::Responding(true)), (3 * S, Reply::Responding(false))],
    )]);
    let folder = tempfile::tempdir().unwrap();
    let run = process_with(
        folder.path(),
        START,
        brief,
        |gateway| Arc::new(Mute(gateway)),
        async |world| {
            let handle = world.start(acquire()).await;
            wait_for(&handle, sent).await;
            world.clock.sleep_until(START.after(7 * S / 2), crate::clock::Phase::Link).await;
            world.store.store().archive.flush().await.unwrap();
            handle.id().clone()
        },
    );
    process(folder.path(), START.after(4 * S), Script::new(), async |world| {
        let handle = world.executor.resume(&run, "os:ada").await.unwrap();
        let ended = handle.ended().await;
        let log = short(&world.log(&run).await);
        assert_eq!(ended, Some(Ending::Finished(RunOutcome::Passed)), "it responded after it had completed: {log:?}");
    });
}

#[test]
fn after_a_telecommand_that_changes_state_an_operator_decides() {
    let folder = tempfile::tempdir().unwrap();
    let run = process(folder.path(), START, Script::new(), async |world| {
        let handle = world.start(standby()).await;
        wait_for(&handle, released).await;
        handle.id().clone()
    });
    let decision = process(folder.path(), START.after(3 * S), willing(), async |world| {
        let handle = world.executor.resume(&run, "os:ada").await.unwrap();
        let (_, id, Transition::DecisionRequired { reason, telecommands, .. }) = decision_of(&handle, 1).await else {
            panic!()
        };
        assert_eq!(reason, "interrupted by a restart after a telecommand changing the on-board state");
        assert_eq!(telecommands[0].known, Known::Left);
        assert!(world.handed_over().is_empty());
        id
    });
    // The decision is sent, and its owner ends before it is applied: the next one applies it, once.
    process(folder.path(), START.after(9 * S), willing(), async |world| {
        let message = crate::ports::ControlMessage {
            id: crate::ident::message_id("os:ada", "key"),
            by: String::from("os:ada"),
            action: crate::ports::ControlAction::Decide { decision: decision.clone(), option: DecisionOption::Replay },
        };
        world.store.store().control.send(&run, message).await.unwrap();
    });
    process(folder.path(), START.after(20 * S), willing(), async |world| {
        let handle = world.executor.resume(&run, "os:ada").await.unwrap();
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
        assert_eq!(world.handed_over().len(), 1, "a replay has an identifier of its own");
        let log = short(&world.log(&run).await);
        assert_eq!(log.iter().filter(|event| event.ends_with(" decided")).count(), 1, "{log:?}");
        assert_eq!(log.iter().filter(|event| event.contains("decision_required")).count(), 1, "{log:?}");
    });
}

#[test]
fn a_suspended_run_stays_suspended_until_it_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let run = process(folder.path(), START, willing(), async |world| {
        let handle = world.start(hour()).await;
        wait_for(&handle, |body| matches!(body, Body::Fact(Fact::Leases { .. }))).await;
        handle.suspend("os:ada", None).await.unwrap();
        handle.id().clone()
    });
    process(folder.path(), START.after(10 * S), willing(), async |world| {
        let handle = world.executor.take_over(&run).await.unwrap();
        assert!(world.executor.leases().held().await.unwrap().is_empty());
        let view = handle.view().await.unwrap();
        assert_eq!(view.state, stellar_vm::machine::RunState::Suspended);
    });
    process(folder.path(), START.after(20 * S), willing(), async |world| {
        let handle = world.executor.resume(&run, "os:ada").await.unwrap();
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
        let log = short(&world.log(&run).await);
        assert_eq!(
            log[2..7],
            ["0 suspended operator", "10 taken_over", "20 taken_over", "20 resumed", "20 leases"],
            "{log:?}"
        );
    });
}

#[test]
fn a_log_that_diverges_halts_its_run_and_sends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let run = process(folder.path(), START, willing(), async |world| {
        let handle = world.start(hour()).await;
        let last = wait_for(&handle, |body| matches!(body, Body::Fact(Fact::Leases { .. }))).await;
        let foreign = Event {
            seq: last.seq + 1,
            body: Body::Transition(Transition::Noted {
                step: vec![Arc::from("Hour")].into(),
                text: String::from("no"),
            }),
            ..last
        };
        let text = foreign.to_json().unwrap().into();
        let line = Line { seq: foreign.seq, epoch: 1, text };
        world.store.store().log.append(handle.id(), vec![line]).await.unwrap();
        handle.id().clone()
    });
    process(folder.path(), START.after(S), willing(), async |world| {
        let error = world.executor.resume(&run, "os:ada").await.err().unwrap();
        assert_eq!(error.code(), "run::replay-diverged", "{error}");
        let handle = world.executor.handle(&run).await.unwrap().unwrap();
        let record = handle.record().await.unwrap().unwrap();
        assert_eq!(record.state, RunState::Halted);
        assert!(record.reason.unwrap().contains("event 3 of the log is not what the run does"));
        assert!(world.executor.left_behind().await.unwrap().is_empty(), "no sweep touches it");
    });
}

#[test]
fn a_task_that_panics_halts_its_run_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    process_with(
        folder.path(),
        START,
        willing(),
        |gateway| Arc::new(Panics(gateway)),
        async |world| {
            let victim = world.start(acquire()).await;
            let other = world.start(hour()).await;
            let Some(Ending::Halted(why)) = victim.ended().await else { panic!() };
            assert_eq!(why, "its task panicked: a bug in a gateway");
            let record = victim.record().await.unwrap().unwrap();
            assert_eq!(record.state, RunState::Halted);
            assert_eq!(other.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
            assert!(world.executor.leases().held().await.unwrap().is_empty(), "a halted run holds nothing");
        },
    );
}
