//! What holds for every program and every world: one end, within the bound, the same again from the log, no panic.

use std::sync::Arc;

use proptest::prelude::*;
use stellar_vm::{
    condition::ExprOp,
    event::{Body, DecisionOption, Fact, RunOutcome, TelecommandStatus, TransferStatus, Transition},
    machine::Machine,
    value::Scalar,
    verify::Verified,
};

use crate::support::*;

fn condition() -> impl Strategy<Value = Ex> {
    let leaf = prop_oneof![Just(on("on")), Just(on("responding")), Just(on("armed")), Just(above("temperature", 20.0))];
    leaf.prop_recursive(2, 4, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Ex::Op(ExprOp::And(2), vec![a, b])),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Ex::Op(ExprOp::Or(2), vec![a, b])),
            inner.prop_map(|a| Ex::Op(ExprOp::Not, vec![a])),
        ]
    })
}

fn limit() -> impl Strategy<Value = i64> {
    prop_oneof![Just(0), Just(MS), Just(S), Just(2 * S), Just(5 * S), Just(7 * S + 1)]
}

/// A statement that may stand in a step and sends nothing.
fn judging() -> impl Strategy<Value = St> {
    prop_oneof![
        (condition(), limit()).prop_map(|(cond, within)| St::WaitUntil(cond, within)),
        condition().prop_map(St::Check),
        limit().prop_map(St::Wait),
        (limit(), limit()).prop_map(|(time, within)| St::WaitTime(START + time, within)),
        limit().prop_map(|within| St::Ask("Go?", within)),
        Just(St::Note("noted")),
    ]
}

fn step_body(telecommands: &'static [&'static str]) -> impl Strategy<Value = Vec<St>> {
    let send = prop::sample::select(telecommands).prop_map(|name| St::Send(name, vec![]));
    let leaf = prop_oneof![
        3 => send,
        3 => judging(),
        2 => (condition(), limit()).prop_map(|(cond, within)| St::Expect(cond, within)),
        1 => (condition(), limit(), limit()).prop_map(|(cond, a, b)| St::ExpectHeld(cond, a.min(b), a.max(b))),
        1 => Just(St::Fail("failed")),
    ];
    let leaf = leaf.prop_recursive(2, 8, 3, |inner| {
        let body = || prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            (condition(), body(), body()).prop_map(|(cond, then, other)| St::If(cond, then, other)),
            (1..3_u32, body()).prop_map(|(times, body)| St::Repeat(times, body)),
        ]
    });
    prop::collection::vec(leaf, 1..5)
}

fn policy() -> impl Strategy<Value = Option<stellar_vm::program::Policy>> {
    let some = (prop::option::of(0..3_u32), prop::option::of(limit()), prop::option::of(limit()));
    some.prop_map(|(times, every, total)| {
        let bounded = times.is_some() || total.is_some();
        bounded.then_some(stellar_vm::program::Policy { times, every, total })
    })
}

fn procedure_body(calls: Vec<St>) -> impl Strategy<Value = Vec<St>> {
    let leaf = prop_oneof![3 => prop::sample::select(calls), 1 => judging()];
    let leaf = leaf.prop_recursive(2, 6, 2, |inner| {
        let body = || prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            prop::collection::vec(body(), 2..3).prop_map(St::Together),
            (condition(), body(), body()).prop_map(|(cond, then, other)| St::If(cond, then, other)),
            (1..3_u32, body()).prop_map(|(times, body)| St::Repeat(times, body)),
        ]
    });
    prop::collection::vec(leaf, 1..4)
}

/// Read-only and state-changing steps, a procedure that calls the former and is called, one that calls all.
fn programs() -> impl Strategy<Value = Option<Arc<Verified>>> {
    let read_only: &[&str] = &["ping", "poke"];
    let changing: &[&str] = &["set", "mode", "arm", "heat", "ping"];
    let steps = (step_body(read_only), policy(), step_body(changing), policy(), policy());
    let bodies = steps.prop_flat_map(|(reads, own, changes, called, run)| {
        let do_reads = vec![St::Do("Reads", None), St::Do("Reads", called)];
        let mut all = do_reads.clone();
        all.extend([St::Do("Changes", None), St::Run("Inner", run), St::Run("Inner", None)]);
        let clean_up = prop::collection::vec(judging(), 0..2);
        (Just((reads, own, changes)), procedure_body(do_reads), procedure_body(all), clean_up)
    });
    bodies.prop_map(|((reads, own, changes), inner, outer, clean_up)| {
        let defs = vec![
            step("Reads", reads).retry(own),
            step("Changes", changes),
            procedure("Inner", inner).on_failure(clean_up.clone()),
            procedure("P", outer).on_failure(clean_up),
        ];
        let default = stellar_vm::program::Policy { times: Some(1), every: Some(2 * S), total: None };
        try_program(defs, Some(default)).ok()
    })
}

#[derive(Debug, Clone)]
enum Deed {
    Sample(&'static str, Scalar),
    React(&'static str, Vec<(i64, TelecommandStatus)>),
    Answer(i64, bool),
    Decide(i64, DecisionOption),
    Transfer(i64, TransferStatus),
    Suspend,
    Resume,
    TakeOver,
    Abort,
}

fn deeds() -> impl Strategy<Value = Vec<(i64, Deed)>> {
    use DecisionOption as O;
    use TelecommandStatus as T;
    let at = (0..25_000_i64).prop_map(|ms| ms * MS);
    let flag = prop::sample::select(vec!["on", "responding", "armed"]);
    let status = prop::sample::select(vec![
        T::Released,
        T::NotReleased,
        T::Accepted,
        T::Started,
        T::Completed,
        T::Failed,
        T::EncodeFailed,
    ]);
    let good = Just(vec![(0, T::Released), (S, T::Accepted), (S, T::Completed)]);
    let some = prop::collection::vec((limit(), status), 0..4);
    let deed = prop_oneof![
        9 => (flag, prop::bool::weighted(0.8)).prop_map(|(name, value)| Deed::Sample(name, Scalar::Bool(value))),
        2 => (10..30_i64).prop_map(|value| Deed::Sample("temperature", Scalar::Float(value as f64))),
        3 => (prop::sample::select(vec!["ping", "poke", "set", "mode", "arm", "heat"]), prop_oneof![good, some])
            .prop_map(|(name, reactions)| Deed::React(name, reactions)),
        2 => (limit(), prop::bool::weighted(0.8)).prop_map(|(after, yes)| Deed::Answer(after, yes)),
        4 => (limit(), prop::sample::select(vec![O::Replay, O::Skip, O::Fail, O::Recheck, O::Abort]))
            .prop_map(|(after, option)| Deed::Decide(after, option)),
        1 => (limit(), prop::sample::select(vec![TransferStatus::Completed, TransferStatus::Failed]))
            .prop_map(|(after, status)| Deed::Transfer(after, status)),
        1 => Just(Deed::Suspend),
        2 => Just(Deed::Resume),
        1 => Just(Deed::TakeOver),
        1 => prop::bool::weighted(0.1).prop_map(|abort| if abort { Deed::Abort } else { Deed::Resume }),
    ];
    prop::collection::vec((at, deed), 0..30)
}

fn world(program: &Arc<Verified>, deeds: Vec<(i64, Deed)>) -> World {
    let good = [(0, RELEASED), (S, Reaction::Status(TelecommandStatus::Accepted)), (S, COMPLETED)];
    let names = ["ping", "poke", "set", "mode", "arm", "heat"];
    let begin = names.into_iter().fold(World::new(program), |world, name| world.react(name, &good).react(name, &good));
    let begin =
        begin.had("on", Scalar::Bool(true)).had("temperature", Scalar::Float(25.0)).had("armed", Scalar::Bool(true));
    deeds.into_iter().fold(begin, |world, (at, deed)| match deed {
        Deed::Sample(name, value) => world.sample(at, name, value),
        Deed::React(name, reactions) => {
            let reactions: Vec<_> =
                reactions.into_iter().map(|(after, status)| (after, Reaction::Status(status))).collect();
            world.react(name, &reactions)
        }
        Deed::Answer(after, yes) => world.answer("Go?", after, if yes { "yes" } else { "no" }),
        Deed::Decide(after, option) => world.decide(after, option),
        Deed::Transfer(after, status) => world.transfer(after, status),
        Deed::Suspend => world.suspend(at),
        Deed::Resume => world.resume(at),
        Deed::TakeOver => world.take_over(at),
        Deed::Abort => world.abort(at),
    })
}

/// Facts that make no sense here, or only by chance.
fn junk(machine: &Machine, turn: i64) -> Vec<Fact> {
    let now = machine.now();
    let mut facts = vec![
        Fact::Leases { taken: vec![], shared: false, refused: None },
        Fact::Observed { pending: turn as u64 % 7, samples: vec![], utc: None },
        Fact::Elapsed { pending: turn as u64 % 7, due: now, utc: Some(now) },
        Fact::Answered { question: RUN.into(), value: "yes".into(), by: "ann".into(), ctl: None },
        Fact::Decided { decision: "x".into(), option: DecisionOption::Skip, by: "ann".into(), ctl: None },
        Fact::TransferStatus { id: RUN.into(), status: TransferStatus::Completed, reason: None },
    ];
    for pending in machine.pending() {
        let due = pending.deadline.unwrap_or(now);
        facts.push(Fact::Elapsed { pending: pending.id, due, utc: None });
        facts.push(Fact::Observed { pending: pending.id, samples: vec![], utc: Some(now) });
    }
    facts
}

fn holds(program: &Arc<Verified>, deeds: Vec<(i64, Deed)>) {
    let mut world = world(program, deeds);
    world.enter(World::started("P")).unwrap();
    let mut turns = 0;
    while world.turn() {
        turns += 1;
        assert!(turns < 20_000, "the run does not end");
        if turns % 5 == 0 {
            for fact in junk(&world.machine, turns) {
                let mut other = world.machine.clone();
                let before = (other.view(), other.seq());
                if other.accept(&fact, world.machine.now()).is_err() {
                    assert_eq!((other.view(), other.seq()), before, "{fact:?}");
                } else {
                    assert_eq!(other.seq(), before.1 + 1);
                    let _ = other.advance(instant(world.now));
                }
            }
        }
    }
    let told = world.told();
    let ends =
        told.events.iter().filter(|event| matches!(&event.body, Body::Transition(Transition::RunFinished { .. })));
    assert_eq!(ends.count(), usize::from(told.outcome().is_some()));
    let (view, last) = (told.machine.view(), told.events.last().unwrap());
    if told.outcome().is_some() {
        assert!(matches!(&last.body, Body::Transition(Transition::RunFinished { .. })));
        let took = last.at.since(told.events[0].at);
        assert!(
            took <= view.bound_ns + view.added_ns,
            "{took} {} {}\n{}",
            view.bound_ns,
            view.added_ns,
            told.story.join("\n")
        );
    }
    balanced(&told);
}

/// Every attempt ends once, and unless the run was aborted all that began have ended.
fn balanced(told: &Told) {
    let mut open = std::collections::BTreeMap::new();
    for event in &told.events {
        match &event.body {
            Body::Transition(Transition::StepStarted { step, .. } | Transition::CallStarted { step, .. }) => {
                *open.entry(step.clone()).or_insert(0) += 1;
            }
            Body::Transition(Transition::StepFinished { step, .. } | Transition::CallFinished { step, .. }) => {
                let count = open.get_mut(step).unwrap();
                *count -= 1;
                assert!(*count >= 0, "{step:?} ends without having begun");
            }
            _ => {}
        }
    }
    if matches!(told.outcome(), Some(RunOutcome::Passed | RunOutcome::Failed)) {
        assert!(open.values().all(|count| *count == 0), "{open:?}\n{}", told.story.join("\n"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn every_run_of_every_program_holds(program in programs(), deeds in deeds()) {
        if let Some(program) = program {
            holds(&program, deeds);
        }
    }
}

#[test]
fn the_programs_of_the_property_are_mostly_ones_that_keep_the_rules() {
    use proptest::{strategy::ValueTree, test_runner::TestRunner};
    let mut runner = TestRunner::deterministic();
    let kept = (0..200).filter(|_| programs().new_tree(&mut runner).unwrap().current().is_some()).count();
    assert!(kept > 80, "{kept} of 200");
}
