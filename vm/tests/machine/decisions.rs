//! Decisions about a step that is not eligible and failed.

use std::sync::Arc;

use stellar_vm::{
    event::{DecisionOption, TelecommandStatus},
    value::Scalar,
    verify::Verified,
};

use crate::support::*;

const YES: Scalar = Scalar::Bool(true);

fn arms(body: Vec<St>) -> Arc<Verified> {
    program(vec![
        procedure("P", vec![St::Do("Arm", None), St::Note("armed")]).on_failure(vec![St::Note("clean up")]),
        step("Arm", body),
    ])
}

fn set_and_expect() -> Arc<Verified> {
    arms(vec![St::Send("set", vec![]), St::Expect(on("on"), 3 * S), St::Note("seen")])
}

fn world(program: &Arc<Verified>) -> World {
    World::new(program).react("set", &[(0, RELEASED)])
}

#[test]
fn replay_begins_a_new_attempt_with_new_identifiers() {
    world(&set_and_expect()).sample(6 * S, "on", YES).decide(2 * S, DecisionOption::Replay).run("P").is("0 start P
             0 leases
             0 step Arm #1
             0 send set T1 #1
             0 T1 released
             3 elapsed 3
             3 decide D1 Arm EXPECT_FAILED replay|skip|fail|abort|recheck
             5 decided D1 replay
             5 failed Arm #1 EXPECT_FAILED
             5 step Arm #2
             5 send set T2 of T1 #2
             5 T2 released
             6 observed eps.on=true
             6 note seen
             6 passed Arm #2
             6 note armed
             6 end passed");
}

#[test]
fn skip_counts_as_passed() {
    world(&set_and_expect()).decide(2 * S, DecisionOption::Skip).run("P").is("0 start P
             0 leases
             0 step Arm #1
             0 send set T1 #1
             0 T1 released
             3 elapsed 3
             3 decide D1 Arm EXPECT_FAILED replay|skip|fail|abort|recheck
             5 decided D1 skip
             5 skipped Arm #1 EXPECT_FAILED
             5 note armed
             5 end passed");
}

#[test]
fn fail_fails_the_step_and_on_failure_runs() {
    world(&set_and_expect()).decide(2 * S, DecisionOption::Fail).run("P").is("0 start P
             0 leases
             0 step Arm #1
             0 send set T1 #1
             0 T1 released
             3 elapsed 3
             3 decide D1 Arm EXPECT_FAILED replay|skip|fail|abort|recheck
             5 decided D1 fail
             5 failed Arm #1 EXPECT_FAILED
             5 note clean up
             5 end failed EXPECT_FAILED");
}

#[test]
fn abort_runs_nothing_more() {
    world(&set_and_expect()).decide(2 * S, DecisionOption::Abort).run("P").is("0 start P
             0 leases
             0 step Arm #1
             0 send set T1 #1
             0 T1 released
             3 elapsed 3
             3 decide D1 Arm EXPECT_FAILED replay|skip|fail|abort|recheck
             5 decided D1 abort
             5 end aborted (aborted by ann)");
}

#[test]
fn recheck_judges_again_without_sending() {
    world(&set_and_expect()).sample(4 * S, "on", YES).decide(2 * S, DecisionOption::Recheck).run("P").is("0 start P
             0 leases
             0 step Arm #1
             0 send set T1 #1
             0 T1 released
             3 elapsed 3
             3 decide D1 Arm EXPECT_FAILED replay|skip|fail|abort|recheck
             5 decided D1 recheck
             5 observed eps.on=true
             5 note seen
             5 passed Arm #1
             5 note armed
             5 end passed");
    world(&set_and_expect()).decide(2 * S, DecisionOption::Recheck).decide(0, DecisionOption::Skip).run("P").is(
        "0 start P
             0 leases
             0 step Arm #1
             0 send set T1 #1
             0 T1 released
             3 elapsed 3
             3 decide D1 Arm EXPECT_FAILED replay|skip|fail|abort|recheck
             5 decided D1 recheck
             8 elapsed 8
             8 decide D2 Arm EXPECT_FAILED replay|skip|fail|abort|recheck
             8 decided D2 skip
             8 skipped Arm #1 EXPECT_FAILED
             8 note armed
             8 end passed",
    );
}

#[test]
fn recheck_of_a_verification_goes_by_reports_that_came_late() {
    let program = arms(vec![St::Send("mode", vec![]), St::Note("verified")]);
    let late = [(0, RELEASED), (12 * S, COMPLETED)];
    World::new(&program).react("mode", &late).decide(8 * S, DecisionOption::Recheck).run("P").is("0 start P
             0 leases
             0 step Arm #1
             0 send mode T1 #1
             0 T1 released
             2 elapsed 2
             2 decide D1 Arm VERIFY_TIMEOUT replay|skip|fail|abort|recheck
             10 decided D1 recheck
             12 T1 completed
             12 note verified
             12 passed Arm #1
             12 note armed
             12 end passed");
    let failed = [(0, RELEASED), (12 * S, Reaction::Status(TelecommandStatus::Failed))];
    World::new(&program)
        .react("mode", &failed)
        .decide(S, DecisionOption::Recheck)
        .decide(S, DecisionOption::Recheck)
        .decide(8 * S, DecisionOption::Recheck)
        .decide(0, DecisionOption::Skip)
        .run("P")
        .is("0 start P
             0 leases
             0 step Arm #1
             0 send mode T1 #1
             0 T1 released
             2 elapsed 2
             2 decide D1 Arm VERIFY_TIMEOUT replay|skip|fail|abort|recheck
             3 decided D1 recheck
             5 elapsed 5
             5 decide D2 Arm VERIFY_TIMEOUT replay|skip|fail|abort|recheck
             6 decided D2 recheck
             8 elapsed 8
             8 decide D3 Arm VERIFY_TIMEOUT replay|skip|fail|abort|recheck
             12 T1 failed
             16 decided D3 recheck
             16 decide D4 Arm VERIFY_FAILED replay|skip|fail|abort
             16 decided D4 skip
             16 skipped Arm #1 VERIFY_FAILED
             16 note armed
             16 end passed");
}

#[test]
fn an_option_that_is_not_offered_is_refused() {
    let program = arms(vec![St::Send("set", vec![]), St::Fail("no")]);
    world(&program).decide(S, DecisionOption::Recheck).run("P").is("0 start P
             0 leases
             0 step Arm #1
             0 send set T1 #1
             0 T1 released
             0 decide D1 Arm FAILED replay|skip|fail|abort
             1 refused run::not-offered");
}

#[test]
fn a_late_status_of_an_attempt_that_is_over_is_logged_and_does_nothing() {
    let program = arms(vec![St::Send("mode", vec![])]);
    World::new(&program)
        .react("mode", &[(0, RELEASED), (3 * S, COMPLETED)])
        .react("mode", &[(0, RELEASED), (2 * S, COMPLETED)])
        .decide(0, DecisionOption::Replay)
        .run("P")
        .is("0 start P
             0 leases
             0 step Arm #1
             0 send mode T1 #1
             0 T1 released
             2 elapsed 2
             2 decide D1 Arm VERIFY_TIMEOUT replay|skip|fail|abort|recheck
             2 decided D1 replay
             2 failed Arm #1 VERIFY_TIMEOUT
             2 step Arm #2
             2 send mode T2 of T1 #2
             2 T2 released
             3 T1 completed
             4 T2 completed
             4 passed Arm #2
             4 note armed
             4 end passed");
}
