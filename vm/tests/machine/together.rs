//! `together`: branches side by side, and what the first failure stops.

use std::sync::Arc;

use stellar_vm::{event::DecisionOption, value::Scalar, verify::Verified};

use crate::support::*;

const YES: Scalar = Scalar::Bool(true);

fn branches(branches: Vec<Vec<St>>) -> Arc<Verified> {
    let slow = step("Slow", vec![St::Wait(4 * S), St::Note("slow is on"), St::Wait(S)]);
    let fails = step("Fails", vec![St::Wait(2 * S), St::Fail("no")]);
    let retried = step("Retried", vec![St::Wait(S), St::Check(on("on"))]).retry(every(Some(5), 3 * S, None));
    let called = procedure("Called", vec![St::Do("Slow", None), St::Note("never")]).on_failure(vec![St::Note("never")]);
    let arms = step("Arms", vec![St::Send("set", vec![]), St::Wait(3 * S), St::Check(on("on"))]);
    let outer = procedure("P", vec![St::Together(branches), St::Note("all")]).on_failure(vec![St::Note("clean up")]);
    program(vec![outer, slow, fails, retried, called, arms])
}

#[test]
fn branches_advance_in_a_fixed_order_and_end_together() {
    let first = vec![St::Note("a"), St::Wait(2 * S), St::Note("a later")];
    let second = vec![St::Note("b"), St::Wait(S), St::Note("b later")];
    World::new(&branches(vec![first, second])).run("P").is("0 start P
             0 leases
             0 note a
             0 note b
             1 elapsed 1
             1 note b later
             2 elapsed 2
             2 note a later
             2 note all
             2 end passed");
}

#[test]
fn after_the_first_failure_nothing_begins_and_what_has_begun_ends() {
    let fails = vec![St::Do("Fails", None), St::Note("never")];
    let slow = vec![St::Do("Slow", None), St::Note("never"), St::Do("Slow", None)];
    let waits = vec![St::Wait(6 * S), St::Note("never")];
    World::new(&branches(vec![fails, slow, waits])).run("P").is("0 start P
             0 leases
             0 step Fails #1
             0 step Slow #1
             2 elapsed 2
             2 failed Fails #1 FAILED
             4 elapsed 4
             4 note slow is on
             5 elapsed 5
             5 passed Slow #1
             6 elapsed 6
             6 note clean up
             6 end failed FAILED");
}

#[test]
fn after_the_first_failure_no_attempt_begins() {
    let fails = vec![St::Do("Fails", None)];
    World::new(&branches(vec![vec![St::Do("Retried", None)], fails])).run("P").is("0 start P
             0 leases
             0 step Retried #1
             0 step Fails #1
             1 elapsed 1
             1 observed
             1 failed Retried #1 CHECK_FAILED
             1 next Retried #2 at 3
             2 elapsed 2
             2 failed Fails #1 FAILED
             2 note clean up
             2 end failed FAILED");
}

#[test]
fn a_call_that_is_cut_off_fails_with_what_cut_it_off_and_its_on_failure_does_not_run() {
    let fails = vec![St::Do("Fails", None)];
    World::new(&branches(vec![vec![St::Run("Called", None)], fails])).run("P").is("0 start P
             0 leases
             0 call Called #1
             0 step Called/Slow #1
             0 step Fails #1
             2 elapsed 2
             2 failed Fails #1 FAILED
             4 elapsed 4
             4 note slow is on
             5 elapsed 5
             5 passed Called/Slow #1
             5 call failed Called #1 FAILED
             5 note clean up
             5 end failed FAILED");
}

#[test]
fn a_decision_holds_its_branch_alone_and_is_carried_out_after_a_failure() {
    let slow = vec![St::Wait(5 * S), St::Note("slow")];
    World::new(&branches(vec![vec![St::Do("Arms", None)], slow]))
        .react("set", &[(0, RELEASED)])
        .decide(4 * S, DecisionOption::Skip)
        .run("P")
        .is("0 start P
             0 leases
             0 step Arms #1
             0 send set T1 #1
             0 T1 released
             3 elapsed 3
             3 observed
             3 decide D1 Arms CHECK_FAILED replay|skip|fail|abort|recheck
             5 elapsed 5
             5 note slow
             7 decided D1 skip
             7 skipped Arms #1 CHECK_FAILED
             7 note all
             7 end passed");
    World::new(&branches(vec![vec![St::Do("Arms", None), St::Note("never")], vec![St::Do("Fails", None)]]))
        .react("set", &[(0, RELEASED)])
        .sample(8 * S, "on", YES)
        .decide(3 * S, DecisionOption::Replay)
        .run("P")
        .is("0 start P
             0 leases
             0 step Arms #1
             0 send set T1 #1
             0 step Fails #1
             0 T1 released
             2 elapsed 2
             2 failed Fails #1 FAILED
             3 elapsed 3
             3 observed
             3 decide D1 Arms CHECK_FAILED replay|skip|fail|abort|recheck
             6 decided D1 replay
             6 failed Arms #1 CHECK_FAILED
             6 step Arms #2
             6 send set T2 of T1 #2
             6 T2 released
             9 elapsed 9
             9 observed eps.on=true
             9 passed Arms #2
             9 note clean up
             9 end failed FAILED");
}

#[test]
fn a_together_within_a_branch_is_cut_off_with_it() {
    let inner = St::Together(vec![vec![St::Do("Slow", None), St::Note("never")], vec![St::Wait(S), St::Note("inner")]]);
    World::new(&branches(vec![vec![inner, St::Note("never")], vec![St::Do("Fails", None)]])).run("P").is("0 start P
             0 leases
             0 step Slow #1
             0 step Fails #1
             1 elapsed 1
             1 note inner
             2 elapsed 2
             2 failed Fails #1 FAILED
             4 elapsed 4
             4 note slow is on
             5 elapsed 5
             5 passed Slow #1
             5 note clean up
             5 end failed FAILED");
}

#[test]
fn overdue_deadlines_go_by_time_then_by_strand() {
    let waits = || vec![St::Wait(S), St::Note("one")];
    World::new(&branches(vec![waits(), waits()])).run("P").is("0 start P
             0 leases
             1 elapsed 1
             1 note one
             1 elapsed 1
             1 note one
             1 note all
             1 end passed");
}

#[test]
fn retry_of_is_told_within_the_branches_of_a_retried_run() {
    let ping = step("Ping", vec![St::Send("poke", vec![])]);
    let fails = step("Then", vec![St::Check(on("on"))]).retry(times(0));
    let two = St::Together(vec![vec![St::Do("Ping", None)], vec![St::Do("Ping", None)]]);
    let inner = procedure("Inner", vec![two, St::Do("Then", None)]);
    let outer = procedure("P", vec![St::Run("Inner", times(1))]);
    World::new(&program(vec![outer, inner, ping, fails])).react("poke", &[(0, RELEASED)]).run("P").is("0 start P
             0 leases
             0 call Inner #1
             0 step Inner/Ping #1
             0 send poke T1 #1
             0 step Inner/Ping #1
             0 send poke T2 #1
             0 T1 released
             0 passed Inner/Ping #1
             0 T2 released
             0 passed Inner/Ping #1
             0 step Inner/Then #1
             0 observed
             0 failed Inner/Then #1 CHECK_FAILED
             0 call failed Inner #1 CHECK_FAILED
             0 next Inner #2 at 0
             0 call Inner #2
             0 step Inner/Ping #1
             0 send poke T3 of T1 #1
             0 step Inner/Ping #1
             0 send poke T4 of T2 #1
             0 T3 released
             0 passed Inner/Ping #1
             0 T4 released
             0 passed Inner/Ping #1
             0 step Inner/Then #1
             0 observed
             0 failed Inner/Then #1 CHECK_FAILED
             0 call failed Inner #2 CHECK_FAILED
             0 end failed CHECK_FAILED");
}
