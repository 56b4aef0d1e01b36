//! Takeover and suspension: how a run goes on afterwards.

use std::sync::Arc;

use stellar_vm::{
    event::{DecisionOption, TransferStatus},
    program::Policy,
    value::Scalar,
    verify::Verified,
};

use crate::support::*;

const YES: Scalar = Scalar::Bool(true);

fn one(body: Vec<St>) -> Arc<Verified> {
    program(vec![
        procedure("P", vec![St::Do("A", None), St::Note("on")]).on_failure(vec![St::Note("clean up")]),
        step("A", body),
    ])
}

#[test]
fn taken_over_an_open_expect_counts_anew() {
    let body = vec![St::Send("ping", vec![]), St::Expect(on("on"), 5 * S)];
    let world = World::new(&one(body)).react("ping", &[(0, RELEASED), (S, COMPLETED)]);
    world.take_over(5 * S).sample(9 * S, "on", YES).run("P").is("0 start P
             0 leases
             0 step A #1
             0 send ping T1 #1
             0 T1 released
             1 T1 completed
             5 taken over
             5 leases
             9 observed eps.on=true
             9 passed A #1
             9 note on
             9 end passed");
}

#[test]
fn taken_over_an_open_send_counts_anew_under_its_identifier() {
    let world = World::new(&one(vec![St::Send("ping", vec![])]));
    world.react("ping", &[(6 * S, RELEASED), (7 * S, COMPLETED)]).take_over(4 * S).run("P").is("0 start P
             0 leases
             0 step A #1
             0 send ping T1 #1
             4 taken over
             4 leases
             6 T1 released
             7 T1 completed
             7 passed A #1
             7 note on
             7 end passed");
}

#[test]
fn taken_over_after_a_state_changing_send_an_operator_decides() {
    let body = vec![St::Send("set", vec![]), St::Expect(on("on"), 5 * S)];
    let world = World::new(&one(body)).react("set", &[(0, RELEASED)]);
    world.take_over(2 * S).sample(4 * S, "on", YES).decide(3 * S, DecisionOption::Recheck).run("P").is("0 start P
             0 leases
             0 step A #1
             0 send set T1 #1
             0 T1 released
             2 taken over
             2 leases
             2 decide D1 A (interrupted by a restart after a telecommand changing the on-board state) replay|skip|fail|abort|recheck T1 left
             5 decided D1 recheck
             5 observed eps.on=true
             5 passed A #1
             5 note on
             5 end passed");
}

#[test]
fn taken_over_with_a_telecommand_that_never_left_recheck_is_not_offered() {
    let world = World::new(&one(vec![St::Send("set", vec![])]));
    world.take_over(2 * S).decide(S, DecisionOption::Fail).run("P").is("0 start P
             0 leases
             0 step A #1
             0 send set T1 #1
             2 taken over
             2 leases
             2 decide D1 A (interrupted by a restart after a telecommand changing the on-board state) replay|skip|fail|abort T1 never left
             3 decided D1 fail
             3 failed A #1 FAILED
             3 note clean up
             3 end failed FAILED");
    let world = World::new(&one(vec![St::Send("mode", vec![])])).react("mode", &[(0, RELEASED), (5 * S, COMPLETED)]);
    world.take_over(2 * S).decide(6 * S, DecisionOption::Recheck).run("P").is("0 start P
             0 leases
             0 step A #1
             0 send mode T1 #1
             0 T1 released
             2 taken over
             2 leases
             2 decide D1 A (interrupted by a restart after a telecommand changing the on-board state) replay|skip|fail|abort|recheck T1 left
             5 T1 completed
             8 decided D1 recheck
             8 passed A #1
             8 note on
             8 end passed");
}

#[test]
fn taken_over_an_open_decision_and_an_open_question_stay() {
    let body = vec![St::Send("set", vec![]), St::Check(on("on"))];
    let world = World::new(&one(body)).react("set", &[(0, RELEASED)]);
    world.take_over(2 * S).decide(4 * S, DecisionOption::Skip).run("P").is("0 start P
             0 leases
             0 step A #1
             0 send set T1 #1
             0 T1 released
             0 observed
             0 decide D1 A CHECK_FAILED replay|skip|fail|abort|recheck
             2 taken over
             2 leases
             4 decided D1 skip
             4 skipped A #1 CHECK_FAILED
             4 note on
             4 end passed");
    let world = World::new(&one(vec![St::Ask("Go?", 5 * S)])).answer("Go?", 8 * S, "yes");
    world.take_over(4 * S).run("P").is("0 start P
             0 leases
             0 step A #1
             0 ask Q1 `Go?` yes|no until 5
             4 taken over
             4 leases
             8 answer Q1 yes
             8 passed A #1
             8 note on
             8 end passed");
}

#[test]
fn taken_over_in_a_question_after_a_state_changing_send_the_question_ends() {
    let body = vec![St::Send("set", vec![]), St::Ask("Go?", 5 * S)];
    let world =
        World::new(&one(body)).react("set", &[(0, RELEASED)]).answer("Go?", 3 * S, "yes").answer("Go?", S, "yes");
    world.take_over(2 * S).decide(2 * S, DecisionOption::Recheck).run("P").is("0 start P
             0 leases
             0 step A #1
             0 send set T1 #1
             0 T1 released
             0 ask Q1 `Go?` yes|no until 5
             2 taken over
             2 leases
             2 decide D1 A (interrupted by a restart after a telecommand changing the on-board state) replay|skip|fail|abort|recheck T1 left
             3 refused run::not-pending
             4 decided D1 recheck
             4 ask Q2 `Go?` yes|no until 9
             5 answer Q2 yes
             5 passed A #1
             5 note on
             5 end passed");
}

#[test]
fn taken_over_pure_time_goes_on_and_is_over_if_it_passed() {
    let body = vec![St::Wait(5 * S), St::Do("B", None)];
    let b = step("B", vec![St::Check(on("on"))]).retry(every(Some(1), 5 * S, None));
    let program = program(vec![procedure("P", body), b]);
    World::new(&program).take_over(3 * S).take_over(7 * S).run("P").is("0 start P
             0 leases
             3 taken over
             3 leases
             5 elapsed 5
             5 step B #1
             5 observed
             5 failed B #1 CHECK_FAILED
             5 next B #2 at 10
             7 taken over
             7 leases
             10 elapsed 10
             10 step B #2
             10 observed
             10 failed B #2 CHECK_FAILED
             10 end failed CHECK_FAILED");
}

#[test]
fn taken_over_where_the_step_is_through_it_goes_to_its_end() {
    // The status comes while the leases are awaited: the statement was the step's last.
    let program = one(vec![St::Send("set", vec![])]);
    let mut world = World::new(&program);
    world.enter(World::started("P")).unwrap();
    world.until_await();
    world.enter_take_over();
    world.enter_status_of_last(stellar_vm::event::TelecommandStatus::Released);
    world.go_on().is("0 start P
             0 leases
             0 step A #1
             0 send set T1 #1
             0 taken over
             0 T1 released
             0 leases
             0 passed A #1
             0 note on
             0 end passed");
}

#[test]
fn taken_over_a_transfer_goes_on_but_not_beside_a_state_changing_send() {
    let world = World::new(&one(vec![St::Transfer("a", 5 * S)])).transfer(4 * S, TransferStatus::Completed);
    world.take_over(2 * S).run("P").is("0 start P
             0 leases
             0 step A #1
             0 transfer F1 a until 5
             2 taken over
             2 leases
             4 F1 completed
             4 passed A #1
             4 note on
             4 end passed");
    let world = World::new(&one(vec![St::Send("set", vec![]), St::Transfer("a", 5 * S)]));
    world.react("set", &[(0, RELEASED)]).take_over(2 * S).decide(S, DecisionOption::Skip).run("P").is("0 start P
             0 leases
             0 step A #1
             0 send set T1 #1
             0 T1 released
             0 transfer F1 a until 5
             2 taken over
             2 leases
             2 F1 cancelled
             2 decide D1 A (interrupted by a restart after a telecommand changing the on-board state) replay|skip|fail|abort T1 left
             3 decided D1 skip
             3 skipped A #1
             3 note on
             3 end passed");
}

#[test]
fn taken_over_before_the_leases_the_start_goes_on() {
    let program = one(vec![St::Wait(S)]);
    let mut world = World::new(&program);
    world.enter(World::started("P")).unwrap();
    world.enter_take_over();
    world.go_on().is("0 start P
             0 taken over
             0 leases
             0 step A #1
             1 elapsed 1
             1 passed A #1
             1 note on
             1 end passed");
}

#[test]
fn a_requires_that_was_judged_before_a_takeover_is_judged_again() {
    let program = one(vec![St::Send("heat", vec![])]);
    let mut world = World::new(&program).had("on", YES).decide(0, DecisionOption::Skip);
    world.enter(World::started("P")).unwrap();
    world.until_due("observed");
    world.now = 3600 * S;
    world.enter_take_over();
    world.go_on().is("0 start P
             0 leases
             0 step A #1
             0 observed eps.on=true
             3600 taken over
             3600 leases
             3600 observed eps.on=true
             3600 decide D1 A REJECTED replay|skip|fail|abort
             3600 decided D1 skip
             3600 skipped A #1 REJECTED
             3600 note on
             3600 end passed");
}

#[test]
fn suspended_in_a_step_that_changed_nothing_a_new_attempt_begins_and_costs_none() {
    let body = vec![St::Send("ping", vec![]), St::Expect(on("on"), 5 * S)];
    let defs = vec![procedure("P", vec![St::Do("A", times(1))]), step("A", body)];
    let world = World::new(&program(defs)).react("ping", &[(0, RELEASED), (S, COMPLETED)]);
    world.suspend(3 * S).resume(60 * S).run("P").is("0 start P
             0 leases
             0 step A #1
             0 send ping T1 #1
             0 T1 released
             1 T1 completed
             3 suspended operator
             60 resumed
             60 leases
             60 interrupted A #1
             60 step A #2
             60 send ping T2 of T1 #2
             60 T2 released
             61 T2 completed
             66 elapsed 66
             66 failed A #2 EXPECT_FAILED
             66 next A #3 at 66
             66 step A #3
             66 send ping T3 of T1 #3
             66 T3 released
             67 T3 completed
             72 elapsed 72
             72 failed A #3 EXPECT_FAILED
             72 end failed EXPECT_FAILED");
}

#[test]
fn suspended_after_a_state_changing_send_an_operator_decides() {
    let body = vec![St::Send("set", vec![]), St::Expect(on("on"), 5 * S)];
    let world = World::new(&one(body)).react("set", &[(0, RELEASED)]);
    world.suspend(3 * S).resume(60 * S).decide(S, DecisionOption::Fail).run("P").is("0 start P
             0 leases
             0 step A #1
             0 send set T1 #1
             0 T1 released
             3 suspended operator
             60 resumed
             60 leases
             60 decide D1 A (interrupted by a suspension after a telecommand changing the on-board state) replay|skip|fail|abort|recheck T1 left
             61 decided D1 fail
             61 failed A #1 FAILED
             61 note clean up
             61 end failed FAILED");
}

#[test]
fn suspended_after_a_transfer_an_operator_decides_and_it_is_cancelled() {
    let world = World::new(&one(vec![St::Transfer("a", 5 * S)]));
    world.suspend(3 * S).resume(60 * S).decide(S, DecisionOption::Skip).run("P").is("0 start P
             0 leases
             0 step A #1
             0 transfer F1 a until 5
             3 suspended operator
             3 F1 cancelled
             60 resumed
             60 leases
             60 decide D1 A (interrupted by a suspension after a telecommand changing the on-board state) replay|skip|fail|abort
             61 decided D1 skip
             61 skipped A #1
             61 note on
             61 end passed");
}

#[test]
fn suspended_a_decision_stays_open_and_answers_are_refused() {
    let body = vec![St::Send("set", vec![]), St::Check(on("on"))];
    let world = World::new(&one(body)).react("set", &[(0, RELEASED)]).decide(3 * S, DecisionOption::Skip);
    world.suspend(2 * S).resume(4 * S).abort(5 * S).run("P").is("0 start P
             0 leases
             0 step A #1
             0 send set T1 #1
             0 T1 released
             0 observed
             0 decide D1 A CHECK_FAILED replay|skip|fail|abort|recheck
             2 suspended operator
             3 refused run::suspended
             4 resumed
             4 leases
             5 abort
             5 end aborted (aborted by ann)");
    let world = World::new(&one(vec![St::Ask("Go?", 5 * S)])).answer("Go?", 2 * S, "yes").answer("Go?", S, "yes");
    world.suspend(S).resume(4 * S).run("P").is("0 start P
             0 leases
             0 step A #1
             0 ask Q1 `Go?` yes|no until 5
             1 suspended operator
             2 refused run::suspended
             4 resumed
             4 leases
             4 interrupted A #1
             4 step A #2
             4 ask Q2 `Go?` yes|no until 9
             5 answer Q2 yes
             5 passed A #2
             5 note on
             5 end passed");
}

#[test]
fn suspended_the_wait_of_a_procedure_and_an_interval_go_on_and_for_stands_still() {
    let body = vec![St::Wait(10 * S), St::Note("waited")];
    World::new(&program(vec![procedure("P", body.clone())])).suspend(2 * S).resume(4 * S).run("P").is("0 start P
             0 leases
             2 suspended operator
             4 resumed
             4 leases
             10 elapsed 10
             10 note waited
             10 end passed");
    World::new(&program(vec![procedure("P", body)])).suspend(2 * S).resume(40 * S).run("P").is("0 start P
             0 leases
             2 suspended operator
             40 resumed
             40 leases
             40 elapsed 10
             40 note waited
             40 end passed");
    let policy = Some(Policy { times: None, every: Some(4 * S), total: Some(10 * S) });
    let b = step("B", vec![St::Check(on("on"))]);
    let program = program(vec![procedure("P", vec![St::Do("B", policy)]), b]);
    World::new(&program).suspend(5 * S).resume(100 * S).run("P").is("0 start P
             0 leases
             0 step B #1
             0 observed
             0 failed B #1 CHECK_FAILED
             0 next B #2 at 4
             4 elapsed 4
             4 step B #2
             4 observed
             4 failed B #2 CHECK_FAILED
             4 next B #3 at 8
             5 suspended operator
             100 resumed
             100 leases
             100 elapsed 8
             100 step B #3
             100 observed
             100 failed B #3 CHECK_FAILED
             100 next B #4 at 104
             104 elapsed 104
             104 step B #4
             104 observed
             104 failed B #4 CHECK_FAILED
             104 end failed CHECK_FAILED");
}

#[test]
fn suspended_a_report_is_logged_and_an_abort_ends_the_run() {
    let body = vec![St::Send("mode", vec![])];
    let world = World::new(&one(body)).react("mode", &[(0, RELEASED), (4 * S, COMPLETED)]);
    world.suspend(3 * S).abort(5 * S).run("P").is("0 start P
             0 leases
             0 step A #1
             0 send mode T1 #1
             0 T1 released
             2 elapsed 2
             2 decide D1 A VERIFY_TIMEOUT replay|skip|fail|abort|recheck
             3 suspended operator
             4 T1 completed
             5 abort
             5 end aborted (aborted by ann)");
}

#[test]
fn resumed_without_leases_it_stays_suspended_naming_the_holder() {
    let world = World::new(&one(vec![St::Wait(10 * S)])).refuse(&[false, true, false]);
    let told = world.suspend(S).resume(2 * S).resume(5 * S).run("P").is("0 start P
             0 leases
             0 step A #1
             1 suspended operator
             2 resumed
             2 no leases: `sim-1` is held by run 01K6B
             5 resumed
             5 leases
             5 interrupted A #1
             5 step A #2
             15 elapsed 15
             15 passed A #2
             15 note on
             15 end passed");
    assert_eq!(told.machine.view().added_ns, 4 * S + 10 * S);
}

#[test]
fn taken_over_without_leases_it_is_suspended() {
    let world = World::new(&one(vec![St::Wait(10 * S)])).refuse(&[false, true]);
    let told = world.take_over(S).run("P").is("0 start P
             0 leases
             0 step A #1
             1 taken over
             1 no leases: `sim-1` is held by run 01K6B");
    assert_eq!(told.machine.view().reason.as_deref(), Some("`sim-1` is held by run 01K6B"));
}

#[test]
fn taken_over_while_suspended_it_stays_suspended() {
    let world = World::new(&one(vec![St::Wait(10 * S)]));
    world.suspend(S).take_over(2 * S).resume(3 * S).run("P").is("0 start P
             0 leases
             0 step A #1
             1 suspended operator
             2 taken over
             3 resumed
             3 leases
             3 interrupted A #1
             3 step A #2
             13 elapsed 13
             13 passed A #2
             13 note on
             13 end passed");
}

#[test]
fn taken_over_what_was_held_goes_on_being_held_and_the_window_counts_anew() {
    let world = World::new(&one(vec![St::ExpectHeld(on("on"), 4 * S, 6 * S)]));
    world
        .sample(S, "on", YES)
        .take_over(2 * S)
        .sample(3 * S, "on", Scalar::Bool(false))
        .sample(4 * S, "on", YES)
        .run("P")
        .is("0 start P
             0 leases
             0 step A #1
             1 observed eps.on=true
             2 taken over
             2 leases
             3 observed eps.on=false
             4 observed eps.on=true
             8 observed eps.on=true
             8 elapsed 8
             8 passed A #1
             8 note on
             8 end passed");
}

#[test]
fn an_attempt_that_no_longer_fits_when_it_is_to_start_fails_the_step_without_an_event() {
    let policy = Some(Policy { times: None, every: Some(4 * S), total: Some(12 * S) });
    let b = step("B", vec![St::Wait(3 * S), St::Check(on("on"))]);
    let program = program(vec![procedure("P", vec![St::Do("B", policy), St::Note("never")]), b]);
    let mut world = World::new(&program);
    world.enter(World::started("P")).unwrap();
    world.until_due("elapsed 4");
    // The start comes so late that the attempt would not end by 12 s.
    world.now = 10 * S;
    world.go_on().is("0 start P
             0 leases
             0 step B #1
             3 elapsed 3
             3 observed
             3 failed B #1 CHECK_FAILED
             3 next B #2 at 4
             4 elapsed 4
             10 end failed CHECK_FAILED");
}
