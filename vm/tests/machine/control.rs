//! Start, leases, abort; and what may not enter the log.

use std::{collections::BTreeMap, sync::Arc};

use stellar_vm::{
    event::{Fact, RunOutcome, TelecommandStatus},
    machine::{Machine, RefusedKind, RunState},
    time::{Instant, Scale},
    value::{Scalar, Type, Value},
    verify::Verified,
};

use crate::support::*;

const YES: Scalar = Scalar::Bool(true);

fn one(body: Vec<St>) -> Arc<Verified> {
    program(vec![
        procedure("P", vec![St::Do("A", None), St::Note("on")]).on_failure(vec![St::Note("never")]),
        step("A", body),
    ])
}

#[test]
fn leases_refused_at_the_start_end_the_run_with_the_reason() {
    let told = World::new(&one(vec![St::Wait(S)])).refuse(&[true]).run("P").is("0 start P
             0 no leases: `sim-1` is held by run 01K6B
             0 end failed (`sim-1` is held by run 01K6B)");
    assert_eq!(told.outcome(), Some(RunOutcome::Failed));
}

#[test]
fn an_abort_ends_in_one_terminal_event() {
    let body = vec![St::Send("set", vec![]), St::Expect(on("on"), 5 * S)];
    World::new(&one(body)).react("set", &[(0, RELEASED)]).abort(2 * S).abort(2 * S).abort(3 * S).run("P").is(
        "0 start P
             0 leases
             0 step A #1
             0 send set T1 #1
             0 T1 released
             2 abort
             2 end aborted (aborted by ann)",
    );
    World::new(&one(vec![St::Transfer("a", 5 * S)])).abort(2 * S).run("P").is("0 start P
             0 leases
             0 step A #1
             0 transfer F1 a until 5
             2 abort
             2 F1 cancelled
             2 end aborted (aborted by ann)");
}

/// A change of targets, inputs and procedure.
type Change<'a> = &'a dyn Fn(&mut BTreeMap<Arc<str>, Arc<str>>, &mut BTreeMap<Arc<str>, Scalar>, &mut Arc<str>);

#[test]
fn a_run_starts_only_with_what_its_procedure_asks_for() {
    let tcu = Type::Int { min: 1, max: 4 };
    let program = program(vec![
        procedure("P", vec![St::Note("n is {n}")]).input("n", tcu, Some(Value::Int(2))),
        step("A", vec![St::Wait(S)]),
    ]);
    let start = |change: Change<'_>| {
        let mut fact = World::started("P");
        let Fact::RunStarted { targets, inputs, procedure, .. } = &mut fact else { unreachable!() };
        change(targets, inputs, procedure);
        let refused = Machine::new(Arc::clone(&program)).accept(&fact, instant(0));
        refused.err().map(|refused| (refused.why, refused.message))
    };
    let refused = |message: &str| Some((RefusedKind::Start, message.to_owned()));
    assert_eq!(start(&|_, _, _| {}), None);
    assert_eq!(start(&|_, _, procedure| *procedure = "A".into()), refused("there is no procedure `A`"));
    assert_eq!(start(&|targets, _, _| targets.clear()), refused("no target is given for `sat`"));
    let more = |targets: &mut BTreeMap<Arc<str>, Arc<str>>| targets.insert("other".into(), "sim-2".into());
    assert_eq!(start(&|targets, _, _| drop(more(targets))), refused("`P` uses no target named `other`"));
    let with = |scalar: Scalar| start(&move |_, inputs, _| drop(inputs.insert("n".into(), scalar.clone())));
    assert_eq!(with(Scalar::Int(4)), None);
    assert_eq!(with(Scalar::Int(5)), refused("`5` is no value for input `n`: a whole number from 1 to 4"));
    assert_eq!(with(Scalar::Str("x".into())), refused("`x` is no value for input `n`: a whole number from 1 to 4"));
    let unknown = start(&|_, inputs, _| drop(inputs.insert("m".into(), Scalar::Int(1))));
    assert_eq!(unknown, refused("`P` has no input `m`"));
}

/// A run that waits for its `expect`, 5 s from 1 s on.
fn waiting() -> World {
    let program = one(vec![St::Send("ping", vec![]), St::Expect(on("on"), 5 * S)]);
    let mut world = World::new(&program);
    world.enter(World::started("P")).unwrap();
    world.until_await();
    world.now = S;
    world.enter_status_of_last(TelecommandStatus::Released);
    world.enter_status_of_last(TelecommandStatus::Completed);
    world
}

fn why(world: &mut World, fact: Fact) -> RefusedKind {
    let before = world.machine.view();
    let seq = world.machine.seq();
    let refused = world.enter(fact).unwrap_err();
    assert_eq!((world.machine.view(), world.machine.seq()), (before, seq), "a refused fact changes nothing");
    refused.why
}

#[test]
fn facts_that_do_not_fit_are_refused_and_change_nothing() {
    let mut world = waiting();
    let pending = world.machine.pending().next().unwrap();
    assert_eq!(why(&mut world, World::started("P")), RefusedKind::Order);
    let observed = |pending| Fact::Observed { pending, samples: vec![], utc: None };
    assert_eq!(why(&mut world, observed(pending.id + 1)), RefusedKind::NotPending);
    let due = pending.deadline.unwrap();
    let elapsed = |due| Fact::Elapsed { pending: pending.id, due, utc: None };
    assert_eq!(why(&mut world, elapsed(due)), RefusedKind::NotDue);
    world.now = 6 * S;
    assert_eq!(why(&mut world, elapsed(due.after(1))), RefusedKind::NotDue);
    let answered = Fact::Answered { question: RUN.into(), value: "yes".into(), by: "ann".into(), ctl: None };
    assert_eq!(why(&mut world, answered), RefusedKind::NotPending);
    let resumed = Fact::Resumed { by: "ann".into(), known: vec![], ctl: None };
    assert_eq!(why(&mut world, resumed), RefusedKind::NotSuspended);
    let leases = Fact::Leases { taken: vec!["sim-1".into()], shared: false, refused: None };
    assert_eq!(why(&mut world, leases), RefusedKind::NotPending);
    let status = |id: &str| Fact::TelecommandStatus {
        id: id.into(),
        status: TelecommandStatus::Completed,
        received_at: instant(6 * S),
        order: None,
        stage: None,
        code: None,
        reason: None,
    };
    assert_eq!(why(&mut world, status("01K6A3D3Y4Q8K1P9W2N6R5T7XZ")), RefusedKind::NotPending);
    let sent = world.last_sent();
    assert_eq!(why(&mut world, status(&sent)), RefusedKind::Repeated);
    world.now = 0;
    assert_eq!(why(&mut world, elapsed(due)), RefusedKind::Time);
    let tai = Instant { scale: Scale::Tai, ..instant(7 * S) };
    assert_eq!(world.machine.accept(&elapsed(due), tai).unwrap_err().why, RefusedKind::Time);
}

#[test]
fn a_fact_behind_a_pending_deadline_is_refused_but_for_what_was_received_before_it() {
    let mut world = waiting();
    let pending = world.machine.pending().next().unwrap();
    world.telemetry.put("on", YES, instant(5 * S), 90);
    let samples = world.machine.evidence(pending.id, &world.telemetry);
    assert_eq!(samples.len(), 1);
    let observed = |samples| Fact::Observed { pending: pending.id, samples, utc: None };
    world.now = 6 * S + 400 * MS;
    let mut late = samples.clone();
    late[0].received_at = instant(6 * S + 1);
    assert_eq!(why(&mut world, observed(late)), RefusedKind::Late);
    let sent = world.last_sent();
    let accepted = |received_at| Fact::TelecommandStatus {
        id: sent.clone(),
        status: TelecommandStatus::Accepted,
        received_at,
        order: None,
        stage: None,
        code: None,
        reason: None,
    };
    assert_eq!(why(&mut world, accepted(instant(6 * S + 1))), RefusedKind::Late);
    let declined = Fact::Declined { ctl: Some(3), why: "too late".into() };
    world.enter(declined).unwrap();
    world.enter(accepted(instant(6 * S))).unwrap();
    world.enter(observed(samples)).unwrap();
    world.go_on().ends(
        "0 start P
             0 leases
             0 step A #1
             0 send ping T1 #1
             1 T1 released
             1 T1 completed
             6.4 declined too late
             6.4 T1 accepted
             6.4 observed eps.on=true
             6.4 passed A #1
             6.4 note on
             6.4 end passed",
    );
}

#[test]
fn a_run_that_has_ended_takes_nothing_more() {
    let mut told = World::new(&one(vec![St::Wait(S)])).run("P");
    assert_eq!(told.machine.view().state, RunState::Passed);
    let abort = Fact::AbortRequested { by: "ann".into(), ctl: None };
    assert_eq!(told.machine.accept(&abort, instant(99 * S)).unwrap_err().why, RefusedKind::Ended);
    assert_eq!(told.machine.pending().count(), 0);
}
