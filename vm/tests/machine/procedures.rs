//! Procedures: calls, their attempts, `on failure`, and statements that stand directly in them.

use stellar_vm::{
    condition::ExprOp,
    event::{Body, TelecommandStatus, Transition},
    value::Scalar,
};

use crate::support::*;

const YES: Scalar = Scalar::Bool(true);

fn failing_step() -> Def {
    step("Fails", vec![St::Send("poke", vec![]), St::Check(on("on"))]).retry(times(0))
}

#[test]
fn statements_directly_in_a_procedure_are_steps_of_their_own_and_are_not_retried() {
    let body = vec![
        St::Wait(S),
        St::Note("hello"),
        St::Check(on("on")),
        St::If(on("on"), vec![St::Ask("Go?", 5 * S)], vec![]),
        St::WaitUntil(on("responding"), 5 * S),
        St::Note("never"),
    ];
    World::new(&program(vec![procedure("P", body)])).had("on", YES).answer("Go?", S, "yes").run("P").is("0 start P
             0 leases
             1 elapsed 1
             1 note hello
             1 step check #1
             1 observed eps.on=true
             1 passed check #1
             1 step if #1
             1 observed eps.on=true
             1 passed if #1
             1 step ask Go? #1
             1 ask Q1 `Go?` yes|no until 6
             2 answer Q1 yes
             2 passed ask Go? #1
             2 step wait until #1
             7 elapsed 7
             7 failed wait until #1 WAIT_FAILED
             7 end failed WAIT_FAILED");
}

#[test]
fn an_inline_step_sees_the_names_of_its_procedure_and_has_the_default_policy() {
    let body = vec![
        St::Let("n", INT, Ex::Op(ExprOp::Mul, vec![int(6), int(7)])),
        St::Step("inline", None, vec![St::Note("n is {n}"), St::Check(on("on"))]),
    ];
    World::new(&program(vec![procedure("P", body)])).sample(S, "on", YES).run("P").is("0 start P
             0 leases
             0 step let n #1
             0 passed let n #1
             0 step inline #1
             0 note n is 42
             0 observed
             0 failed inline #1 CHECK_FAILED
             0 next inline #2 at 2
             2 elapsed 2
             2 step inline #2
             2 note n is 42
             2 observed eps.on=true
             2 passed inline #2
             2 end passed");
}

#[test]
fn on_failure_runs_in_every_failed_attempt_of_a_retried_run() {
    let inner = procedure("Inner", vec![St::Do("Fails", None)]).on_failure(vec![St::Note("clean up"), St::Wait(S)]);
    let outer = procedure("P", vec![St::Run("Inner", every(Some(1), 3 * S, None)), St::Note("on")]);
    let program = program(vec![outer, inner, failing_step()]);
    World::new(&program).react("poke", &[(0, RELEASED)]).run("P").is("0 start P
             0 leases
             0 call Inner #1
             0 step Inner/Fails #1
             0 send poke T1 #1
             0 T1 released
             0 observed
             0 failed Inner/Fails #1 CHECK_FAILED
             0 note clean up
             1 elapsed 1
             1 call failed Inner #1 CHECK_FAILED
             1 next Inner #2 at 3
             3 elapsed 3
             3 call Inner #2
             3 step Inner/Fails #1
             3 send poke T2 of T1 #1
             3 T2 released
             3 observed
             3 failed Inner/Fails #1 CHECK_FAILED
             3 note clean up
             4 elapsed 4
             4 call failed Inner #2 CHECK_FAILED
             4 end failed CHECK_FAILED");
    World::new(&program).react("poke", &[(0, RELEASED)]).sample(2 * S, "on", YES).run("P").is("0 start P
             0 leases
             0 call Inner #1
             0 step Inner/Fails #1
             0 send poke T1 #1
             0 T1 released
             0 observed
             0 failed Inner/Fails #1 CHECK_FAILED
             0 note clean up
             1 elapsed 1
             1 call failed Inner #1 CHECK_FAILED
             1 next Inner #2 at 3
             3 elapsed 3
             3 call Inner #2
             3 step Inner/Fails #1
             3 send poke T2 of T1 #1
             3 T2 released
             3 observed eps.on=true
             3 passed Inner/Fails #1
             3 call passed Inner #2
             3 note on
             3 end passed");
}

#[test]
fn a_failure_in_on_failure_ends_it_and_the_first_failure_stands() {
    let overflow = Ex::Op(ExprOp::Add, vec![int(i64::MAX), int(1)]);
    let run = |clean_up: Vec<St>| {
        let outer = procedure("P", vec![St::Do("Fails", None)]).on_failure(clean_up);
        World::new(&program(vec![outer, failing_step()])).react("poke", &[(0, RELEASED)]).run("P")
    };
    run(vec![St::Step("Clean", times(0), vec![St::Fail("dirty")]), St::Note("never")]).is("0 start P
             0 leases
             0 step Fails #1
             0 send poke T1 #1
             0 T1 released
             0 observed
             0 failed Fails #1 CHECK_FAILED
             0 step Clean #1
             0 failed Clean #1 FAILED
             0 end failed CHECK_FAILED");
    run(vec![St::Let("x", INT, overflow), St::Note("never")]).is("0 start P
             0 leases
             0 step Fails #1
             0 send poke T1 #1
             0 T1 released
             0 observed
             0 failed Fails #1 CHECK_FAILED
             0 step let x #1
             0 failed let x #1 READ_FAILED
             0 end failed CHECK_FAILED");
}

#[test]
fn the_failure_from_the_innermost_step_decides_whether_a_run_is_retried() {
    let inner = procedure("Inner", vec![St::Step("Refused", None, vec![St::Ask("Go?", 5 * S)])]);
    let outer = procedure("P", vec![St::Run("Inner", times(3))]);
    World::new(&program(vec![outer, inner])).answer("Go?", S, "no").run("P").is("0 start P
             0 leases
             0 call Inner #1
             0 step Inner/Refused #1
             0 ask Q1 `Go?` yes|no until 5
             1 answer Q1 no
             1 failed Inner/Refused #1 ASK_REFUSED
             1 call failed Inner #1 ASK_REFUSED
             1 end failed ASK_REFUSED");
}

#[test]
fn attempts_are_numbered_within_the_enclosing_attempt_and_retry_of_names_the_first_of_its_place() {
    let acquire = step("A", vec![St::Each("n", 1, 2, vec![St::Send("ping", vec![])])]).retry(times(1));
    let inner = procedure("Inner", vec![St::Do("A", None), St::Do("A", None)]);
    let outer = procedure("P", vec![St::Run("Inner", times(1))]);
    World::new(&program(vec![outer, inner, acquire]))
        .react("ping", &[(0, COMPLETED)])
        .react("ping", &[(0, NOT_RELEASED)])
        .react("ping", &[(0, COMPLETED)])
        .react("ping", &[(0, COMPLETED)])
        .react("ping", &[(0, Reaction::Status(TelecommandStatus::Completed))])
        .react("ping", &[(0, NOT_RELEASED)])
        .react("ping", &[(0, NOT_RELEASED)])
        .react("ping", &[(0, COMPLETED)])
        .run("P")
        .is("0 start P
             0 leases
             0 call Inner #1
             0 step Inner/A #1
             0 send ping T1 #1
             0 T1 completed
             0 send ping T2 #1
             0 T2 not_released
             0 failed Inner/A #1 SEND_FAILED
             0 next Inner/A #2 at 0
             0 step Inner/A #2
             0 send ping T3 of T1 #2
             0 T3 completed
             0 send ping T4 of T2 #2
             0 T4 completed
             0 passed Inner/A #2
             0 step Inner/A #1
             0 send ping T5 #1
             0 T5 completed
             0 send ping T6 #1
             0 T6 not_released
             0 failed Inner/A #1 SEND_FAILED
             0 next Inner/A #2 at 0
             0 step Inner/A #2
             0 send ping T7 of T5 #2
             0 T7 not_released
             0 failed Inner/A #2 SEND_FAILED
             0 call failed Inner #1 SEND_FAILED
             0 next Inner #2 at 0
             0 call Inner #2
             0 step Inner/A #1
             0 send ping T8 of T1 #1
             0 T8 completed
             0 send ping T9 of T2 #1
             0 T9 completed
             0 passed Inner/A #1
             0 step Inner/A #1
             0 send ping T10 of T5 #1
             0 T10 completed
             0 send ping T11 of T6 #1
             0 T11 completed
             0 passed Inner/A #1
             0 call passed Inner #2
             0 end passed");
}

#[test]
fn inputs_are_valued_and_defaults_taken() {
    let inner = procedure("Inner", vec![St::Note("n is {n}")]).input("n", INT, Some(stellar_vm::value::Value::Int(3)));
    World::new(&program(vec![procedure("P", vec![St::Run("Inner", None)]), inner])).run("P").is("0 start P
             0 leases
             0 call Inner #1
             0 note n is 3
             0 call passed Inner #1
             0 end passed");
}

#[test]
fn the_failure_names_file_line_and_statement() {
    let told = World::new(&program(vec![procedure("P", vec![St::Do("Fails", None)]), failing_step()]))
        .react("poke", &[(0, NOT_RELEASED)])
        .run("P");
    let failure = told.events.iter().find_map(|event| match &event.body {
        Body::Transition(Transition::RunFinished { failure, reason, .. }) => Some((failure.clone()?, reason.clone()?)),
        _ => None,
    });
    let (failure, reason) = failure.unwrap();
    assert_eq!((&*failure.file, failure.line, &*failure.statement), ("test.proc", 2, "send poke to sat.tcu[2]"));
    assert_eq!(failure.message, "`poke` never left: the link is down");
    assert_eq!(reason, "test.proc:2: `send poke to sat.tcu[2]`: `poke` never left: the link is down");
    assert!(failure.telecommand.is_some());
}

#[test]
fn a_retry_waits_out_its_interval_and_for_is_applied_at_the_end_of_an_attempt() {
    // One attempt lasts at most 5 s: started at 0 and at 4 s, the next at 8 s would not end by 12 s.
    let policy = every(None, 4 * S, Some(12 * S));
    let program = program(vec![procedure("P", vec![St::Do("Fails", policy)]), failing_step()]);
    World::new(&program).react("poke", &[(S, RELEASED)]).run("P").is("0 start P
             0 leases
             0 step Fails #1
             0 send poke T1 #1
             1 T1 released
             1 observed
             1 failed Fails #1 CHECK_FAILED
             1 next Fails #2 at 4
             4 elapsed 4
             4 step Fails #2
             4 send poke T2 of T1 #2
             5 T2 released
             5 observed
             5 failed Fails #2 CHECK_FAILED
             5 end failed CHECK_FAILED");
}
