//! Statements of a step: what each waits for, when it fails, what is retried.

use std::sync::Arc;

use stellar_vm::{
    condition::ExprOp,
    event::{DecisionOption, TelecommandStatus, TransferStatus},
    program::Policy,
    value::{Scalar, Value},
    verify::Verified,
};

use crate::support::*;

const YES: Scalar = Scalar::Bool(true);
const NO: Scalar = Scalar::Bool(false);

/// A procedure that does one step.
fn one(body: Vec<St>) -> Arc<Verified> {
    program_with(vec![procedure("P", vec![St::Do("A", None)]), step("A", body)], None)
}

fn acquire(retry: Option<Policy>) -> Arc<Verified> {
    let body = vec![St::Send("ping", vec![]), St::Expect(on("responding"), 5 * S)];
    program(vec![procedure("P", vec![St::Do("A", None)]), step("A", body).retry(retry)])
}

const PING: [(i64, Reaction); 2] = [(10 * MS, RELEASED), (S, COMPLETED)];

#[test]
fn a_step_sends_is_verified_and_sees_its_telemetry() {
    World::new(&acquire(None))
        .react("ping", &[(10 * MS, RELEASED), (500 * MS, Reaction::Sample("responding", YES)), (S, COMPLETED)])
        .run("P")
        .is("0 start P
             0 leases
             0 step A #1
             0 send ping T1 #1
             0.01 T1 released
             1 T1 completed
             1 observed tcu[2].responding=true
             1 passed A #1
             1 end passed");
}

#[test]
fn a_sample_from_before_the_send_does_not_satisfy_the_expect_behind_it() {
    let told = World::new(&acquire(times(0))).had("responding", YES).react("ping", &PING).run("P").is("0 start P
             0 leases
             0 step A #1
             0 send ping T1 #1
             0.01 T1 released
             1 T1 completed
             6 observed tcu[2].responding=true
             6 elapsed 6
             6 failed A #1 EXPECT_FAILED
             6 end failed EXPECT_FAILED");
    assert_eq!(
        told.message(),
        "not satisfied within 5 s, unknown: sim-1 tcu[2].responding was not received since; before it was true, 7 s old"
    );
}

#[test]
fn the_default_policy_retries_an_eligible_step_once_from_the_start_of_its_attempt() {
    World::new(&acquire(None))
        .react("ping", &[(0, NOT_RELEASED)])
        .react("ping", &PING)
        .sample(4 * S, "responding", YES)
        .run("P")
        .is("0 start P
             0 leases
             0 step A #1
             0 send ping T1 #1
             0 T1 not_released
             0 failed A #1 SEND_FAILED
             0 next A #2 at 2
             2 elapsed 2
             2 step A #2
             2 send ping T2 of T1 #2
             2.01 T2 released
             3 T2 completed
             4 observed tcu[2].responding=true
             4 passed A #2
             4 end passed");
}

#[test]
fn retries_by_count_end_with_the_last() {
    World::new(&acquire(every(Some(2), 2 * S, None))).run("P").is("0 start P
             0 leases
             0 step A #1
             0 send ping T1 #1
             5 elapsed 5
             5 failed A #1 VERIFY_TIMEOUT
             5 next A #2 at 5
             5 step A #2
             5 send ping T2 of T1 #2
             10 elapsed 10
             10 failed A #2 VERIFY_TIMEOUT
             10 next A #3 at 10
             10 step A #3
             10 send ping T3 of T1 #3
             15 elapsed 15
             15 failed A #3 VERIFY_TIMEOUT
             15 end failed VERIFY_TIMEOUT");
}

#[test]
fn retries_by_total_end_when_none_fits() {
    World::new(&acquire(every(None, 5 * S, Some(20 * S)))).react("ping", &[(0, NOT_RELEASED)]).run("P").is("0 start P
             0 leases
             0 step A #1
             0 send ping T1 #1
             0 T1 not_released
             0 failed A #1 SEND_FAILED
             0 next A #2 at 5
             5 elapsed 5
             5 step A #2
             5 send ping T2 of T1 #2
             5 T2 not_released
             5 failed A #2 SEND_FAILED
             5 next A #3 at 10
             10 elapsed 10
             10 step A #3
             10 send ping T3 of T1 #3
             10 T3 not_released
             10 failed A #3 SEND_FAILED
             10 end failed SEND_FAILED");
}

#[test]
fn without_a_count_attempts_start_a_tenth_of_a_second_apart() {
    let body = vec![St::Check(on("on"))];
    let policy = Some(Policy { times: None, every: None, total: Some(250 * MS) });
    World::new(&program(vec![procedure("P", vec![St::Do("A", policy)]), step("A", body)])).run("P").is("0 start P
             0 leases
             0 step A #1
             0 observed
             0 failed A #1 CHECK_FAILED
             0 next A #2 at 0.1
             0.1 elapsed 0.1
             0.1 step A #2
             0.1 observed
             0.1 failed A #2 CHECK_FAILED
             0.1 next A #3 at 0.2
             0.2 elapsed 0.2
             0.2 step A #3
             0.2 observed
             0.2 failed A #3 CHECK_FAILED
             0.2 end failed CHECK_FAILED");
}

#[test]
fn failures_that_are_never_retried() {
    World::new(&acquire(times(3)))
        .react("ping", &[(0, RELEASED), (S, Reaction::Status(TelecommandStatus::Failed))])
        .run("P")
        .is("0 start P
             0 leases
             0 step A #1
             0 send ping T1 #1
             0 T1 released
             1 T1 failed
             1 failed A #1 VERIFY_FAILED
             1 end failed VERIFY_FAILED");
    World::new(&acquire(times(3)))
        .react("ping", &[(S, Reaction::Status(TelecommandStatus::EncodeFailed))])
        .run("P")
        .is("0 start P
             0 leases
             0 step A #1
             0 send ping T1 #1
             1 T1 encode_failed
             1 failed A #1 ENCODE_FAILED
             1 end failed ENCODE_FAILED");
}

#[test]
fn a_stage_that_is_not_reported_in_time_fails_and_names_it() {
    let told = World::new(&one(vec![St::Send("mode", vec![])]))
        .react("mode", &[(S, RELEASED), (2 * S, Reaction::Status(TelecommandStatus::Accepted))])
        .run("P")
        .is("0 start P
             0 leases
             0 step A #1
             0 send mode T1 #1
             1 T1 released
             2 T1 accepted
             6 elapsed 6
             6 decide D1 A VERIFY_TIMEOUT replay|skip|fail|abort|recheck");
    assert_eq!(told.message(), "`mode` left, but was not reported started within 5 s");
}

#[test]
fn a_later_stage_meets_an_earlier_one_and_a_report_tells_that_it_left() {
    World::new(&one(vec![St::Send("mode", vec![])])).react("mode", &[(S, COMPLETED)]).run("P").is("0 start P
             0 leases
             0 step A #1
             0 send mode T1 #1
             1 T1 completed
             1 passed A #1
             1 end passed");
}

#[test]
fn a_telecommand_that_nothing_is_heard_of_may_have_left() {
    let told = World::new(&one(vec![St::Send("ping", vec![])])).run("P").is("0 start P
             0 leases
             0 step A #1
             0 send ping T1 #1
             5 elapsed 5
             5 failed A #1 VERIFY_TIMEOUT
             5 end failed VERIFY_TIMEOUT");
    assert_eq!(told.message(), "`ping`: within 5 s nothing told that it left; it may have left");
}

#[test]
fn until_counts_samples_since_the_release() {
    let world = World::new(&one(vec![St::Send("arm", vec![])])).had("armed", YES);
    world
        .react("arm", &[(S, RELEASED), (2 * S, Reaction::Sample("armed", NO)), (3 * S, Reaction::Sample("armed", YES))])
        .run("P")
        .is("0 start P
             0 leases
             0 step A #1
             0 send arm T1 #1
             1 T1 released
             3 observed eps.armed=true
             3 passed A #1
             3 end passed");
    let world = World::new(&one(vec![St::Send("arm", vec![])])).had("armed", YES);
    let told = world.react("arm", &[(S, RELEASED)]).run("P").is("0 start P
             0 leases
             0 step A #1
             0 send arm T1 #1
             1 T1 released
             5 observed eps.armed=true
             5 elapsed 5
             5 decide D1 A VERIFY_TIMEOUT replay|skip|fail|abort|recheck");
    assert_eq!(
        told.message(),
        "`arm` left, but what verifies it did not hold within 5 s, unknown: sim-1 eps.armed was not received since; before it was true, 6 s old"
    );
}

#[test]
fn requires_and_arguments_are_judged_before_anything_is_sent() {
    let heat = |value: f64| one(vec![St::Send("heat", vec![("power", Ex::Value(Value::Float(value)))])]);
    let told = World::new(&heat(5.0)).run("P").is("0 start P
             0 leases
             0 step A #1
             0 observed
             0 decide D1 A REJECTED replay|skip|fail|abort");
    assert_eq!(told.message(), "what `heat` requires is not met, unknown: sim-1 eps.on was never received");
    let told = World::new(&heat(5.0)).had("on", NO).run("P").is("0 start P
             0 leases
             0 step A #1
             0 observed eps.on=false
             0 decide D1 A REJECTED replay|skip|fail|abort");
    assert_eq!(told.message(), "what `heat` requires is not met, false: sim-1 eps.on is false, 1 s old");
    let told = World::new(&heat(25.0)).had("on", YES).run("P").is("0 start P
             0 leases
             0 step A #1
             0 observed eps.on=true
             0 decide D1 A ENCODE_FAILED replay|skip|fail|abort");
    assert_eq!(told.message(), "argument `power` is 25.0 W, which does not fit a number in W from 0.0 to 20.0");
    World::new(&heat(5.0)).had("on", YES).react("heat", &PING).run("P").is("0 start P
             0 leases
             0 step A #1
             0 observed eps.on=true
             0 send heat T1 #1
             0.01 T1 released
             1 T1 completed
             1 passed A #1
             1 end passed");
}

#[test]
fn held_for_begins_breaks_begins_again_and_is_won() {
    let held = one(vec![St::ExpectHeld(on("on"), 3 * S, 20 * S)]);
    World::new(&held)
        .sample(S, "on", YES)
        .sample(2 * S, "on", NO)
        .sample(4 * S, "on", YES)
        .sample(5 * S, "on", YES)
        .run("P")
        .is("0 start P
             0 leases
             0 step A #1
             1 observed eps.on=true
             2 observed eps.on=false
             4 observed eps.on=true
             7 observed eps.on=true
             7 elapsed 7
             7 passed A #1
             7 end passed");
}

#[test]
fn held_for_needs_a_fresh_sample_at_its_end() {
    let held = one(vec![St::ExpectHeld(above("temperature", 10.0), 6 * S, 20 * S)]);
    let told = World::new(&held).sample(S, "temperature", Scalar::Float(20.0)).run("P").is("0 start P
             0 leases
             0 step A #1
             1 observed tcu[2].temperature=20.0
             7 observed tcu[2].temperature=20.0
             7 elapsed 7
             20 observed tcu[2].temperature=20.0
             20 elapsed 20
             20 failed A #1 EXPECT_FAILED
             20 end failed EXPECT_FAILED");
    assert_eq!(
        told.message(),
        "not satisfied for 6 s within 20 s, unknown: sim-1 tcu[2].temperature is stale, last 20.0 degC, 19 s old (fresh up to 5 s)"
    );
    World::new(&held)
        .sample(S, "temperature", Scalar::Float(20.0))
        .sample(6 * S, "temperature", Scalar::Float(20.0))
        .run("P")
        .is("0 start P
             0 leases
             0 step A #1
             1 observed tcu[2].temperature=20.0
             7 observed tcu[2].temperature=20.0
             7 elapsed 7
             7 passed A #1
             7 end passed");
}

#[test]
fn held_for_does_not_begin_where_it_no_longer_fits() {
    let held = one(vec![St::ExpectHeld(on("on"), 3 * S, 5 * S)]);
    World::new(&held).sample(2 * S, "on", YES).sample(4 * S, "on", NO).run("P").is("0 start P
             0 leases
             0 step A #1
             2 observed eps.on=true
             4 observed eps.on=false
             5 observed eps.on=false
             5 elapsed 5
             5 failed A #1 EXPECT_FAILED
             5 end failed EXPECT_FAILED");
    World::new(&held).sample(2 * S + 1, "on", YES).run("P").is("0 start P
             0 leases
             0 step A #1
             5 observed eps.on=true
             5 elapsed 5
             5 failed A #1 EXPECT_FAILED
             5 end failed EXPECT_FAILED");
}

#[test]
fn at_the_deadline_itself_the_fact_wins() {
    let expect = one(vec![St::Expect(on("on"), 5 * S)]);
    World::new(&expect).sample(5 * S, "on", YES).run("P").is("0 start P
             0 leases
             0 step A #1
             5 observed eps.on=true
             5 passed A #1
             5 end passed");
    World::new(&expect).sample(5 * S + 1, "on", YES).run("P").is("0 start P
             0 leases
             0 step A #1
             5 elapsed 5
             5 failed A #1 EXPECT_FAILED
             5 end failed EXPECT_FAILED");
}

#[test]
fn check_if_and_let_read_at_once() {
    let body = vec![
        St::Check(on("on")),
        St::If(above("temperature", 50.0), vec![St::Note("hot")], vec![St::Note("cool")]),
        St::Let("t", FLOAT, Ex::Read("temperature")),
        St::Let("sum", FLOAT, Ex::Op(ExprOp::Add, vec![Ex::Local("t"), Ex::Value(Value::Float(0.5))])),
        St::Note("t is {t}, {sum}"),
    ];
    World::new(&one(body)).had("on", YES).had("temperature", Scalar::Float(20.0)).run("P").is("0 start P
             0 leases
             0 step A #1
             0 observed eps.on=true
             0 observed tcu[2].temperature=20.0
             0 note cool
             0 observed tcu[2].temperature=20.0
             0 note t is 20.0, 20.5
             0 passed A #1
             0 end passed");
}

/// What a statement fails with, 8 s after the start.
fn failing(statement: St, sample: Option<(i64, Scalar)>) -> String {
    let mut world = World::new(&one(vec![St::Wait(8 * S), statement]));
    if let Some((at, value)) = sample {
        world = world.sample(at, "temperature", value);
    }
    world.run("P").message()
}

#[test]
fn never_received_stale_no_number_and_false_are_told_apart() {
    let stale = || Some((0, Scalar::Float(60.0)));
    let check = || St::Check(above("temperature", 50.0));
    assert_eq!(failing(check(), None), "not satisfied, unknown: sim-1 tcu[2].temperature was never received");
    assert_eq!(
        failing(check(), stale()),
        "not satisfied, unknown: sim-1 tcu[2].temperature is stale, last 60.0 degC, 8 s old (fresh up to 5 s)"
    );
    assert_eq!(
        failing(check(), Some((7 * S, Scalar::Str("NaN".into())))),
        "not satisfied, unknown: sim-1 tcu[2].temperature has no usable value, last NaN degC, 1 s old"
    );
    assert_eq!(
        failing(check(), Some((7500 * MS, Scalar::Float(7.0)))),
        "not satisfied, false: sim-1 tcu[2].temperature is 7.0 degC, 500 ms old"
    );
    let read = St::Let("t", FLOAT, Ex::Read("temperature"));
    assert_eq!(
        failing(read, stale()),
        "the value is not known: sim-1 tcu[2].temperature is stale, last 60.0 degC, 8 s old (fresh up to 5 s)"
    );
    let branch = St::If(above("temperature", 50.0), vec![St::Fail("then")], vec![St::Fail("else")]);
    assert_eq!(failing(branch, None), "not satisfied, unknown: sim-1 tcu[2].temperature was never received");
    assert_eq!(
        failing(St::WaitUntil(above("temperature", 50.0), 2 * S), stale()),
        "not satisfied within 2 s, unknown: sim-1 tcu[2].temperature is stale, last 60.0 degC, 10 s old (fresh up to 5 s)"
    );
    let overflow = Ex::Op(ExprOp::Add, vec![int(i64::MAX), int(1)]);
    assert_eq!(failing(St::Let("t", INT, overflow), None), "the value is not known: arithmetic gives none");
}

#[test]
fn wait_until_counts_what_is_there_already() {
    let body = vec![St::Wait(2 * S), St::WaitUntil(on("on"), 5 * S), St::WaitUntil(on("responding"), 5 * S)];
    World::new(&one(body)).sample(S, "on", YES).sample(4 * S, "responding", YES).run("P").is("0 start P
             0 leases
             0 step A #1
             2 elapsed 2
             2 observed eps.on=true
             4 observed tcu[2].responding=true
             4 passed A #1
             4 end passed");
}

#[test]
fn wait_until_a_time() {
    let utc = |at: i64| START + at;
    World::new(&one(vec![St::WaitTime(utc(10 * S), 20 * S)])).run("P").is("0 start P
             0 leases
             0 step A #1
             0 observed utc 0
             10 observed utc 10
             10 passed A #1
             10 end passed");
    World::new(&one(vec![St::WaitTime(utc(0), 20 * S)])).run("P").is("0 start P
             0 leases
             0 step A #1
             0 observed utc 0
             0 passed A #1
             0 end passed");
    let told = World::new(&one(vec![St::WaitTime(utc(30 * S), 20 * S)])).run("P").is("0 start P
             0 leases
             0 step A #1
             0 observed utc 0
             0 failed A #1 WAIT_FAILED
             0 end failed WAIT_FAILED");
    assert_eq!(told.message(), "2026-10-02T10:15:30.000000000Z is 30 s away, more than 20 s");
    let mut behind = World::new(&one(vec![St::WaitTime(utc(10 * S), 20 * S)]));
    behind.utc_behind = 5 * S;
    behind.run("P").is("0 start P
             0 leases
             0 step A #1
             0 observed utc -5
             15 observed utc 10
             15 passed A #1
             15 end passed");
}

#[test]
fn questions() {
    let ask = one(vec![St::Ask("Go?", 10 * S), St::Note("on")]);
    World::new(&ask).answer("Go?", 2 * S, "yes").run("P").is("0 start P
             0 leases
             0 step A #1
             0 ask Q1 `Go?` yes|no until 10
             2 answer Q1 yes
             2 note on
             2 passed A #1
             2 end passed");
    World::new(&ask).answer("Go?", 2 * S, "no").run("P").is("0 start P
             0 leases
             0 step A #1
             0 ask Q1 `Go?` yes|no until 10
             2 answer Q1 no
             2 failed A #1 ASK_REFUSED
             2 end failed ASK_REFUSED");
    World::new(&ask).answer("Go?", 2 * S, "maybe").run("P").is("0 start P
             0 leases
             0 step A #1
             0 ask Q1 `Go?` yes|no until 10
             2 refused run::not-offered
             10 elapsed 10
             10 failed A #1 ASK_TIMEOUT
             10 end failed ASK_TIMEOUT");
    World::new(&ask).answer("Go?", 10 * S, "yes").run("P").is("0 start P
             0 leases
             0 step A #1
             0 ask Q1 `Go?` yes|no until 10
             10 answer Q1 yes
             10 note on
             10 passed A #1
             10 end passed");
    let choice = one(vec![St::AskOf("Which?", &["A", "B"], 10 * S, "w"), St::Note("took {w}")]);
    World::new(&choice).answer("Which?", 2 * S, "B").run("P").is("0 start P
             0 leases
             0 step A #1
             0 ask Q1 `Which?` A|B until 10
             2 answer Q1 B
             2 note took B
             2 passed A #1
             2 end passed");
}

#[test]
fn transfers() {
    let transfer = one(vec![St::Transfer("a.bin", 10 * S)]);
    World::new(&transfer).transfer(3 * S, TransferStatus::Completed).run("P").is("0 start P
             0 leases
             0 step A #1
             0 transfer F1 a.bin until 10
             3 F1 completed
             3 passed A #1
             3 end passed");
    World::new(&transfer).transfer(3 * S, TransferStatus::Failed).decide(S, DecisionOption::Skip).run("P").is(
        "0 start P
             0 leases
             0 step A #1
             0 transfer F1 a.bin until 10
             3 F1 failed
             3 decide D1 A TRANSFER_FAILED replay|skip|fail|abort
             4 decided D1 skip
             4 skipped A #1 TRANSFER_FAILED
             4 end passed",
    );
    World::new(&transfer).transfer(3 * S, TransferStatus::NotCreated).decide(S, DecisionOption::Fail).run("P").is(
        "0 start P
             0 leases
             0 step A #1
             0 transfer F1 a.bin until 10
             3 F1 not_created
             3 decide D1 A TRANSFER_NOT_CREATED replay|skip|fail|abort
             4 decided D1 fail
             4 failed A #1 TRANSFER_NOT_CREATED
             4 end failed TRANSFER_NOT_CREATED",
    );
    World::new(&transfer).decide(S, DecisionOption::Fail).run("P").is("0 start P
             0 leases
             0 step A #1
             0 transfer F1 a.bin until 10
             10 elapsed 10
             10 F1 cancelled
             10 decide D1 A TRANSFER_FAILED replay|skip|fail|abort
             11 decided D1 fail
             11 failed A #1 TRANSFER_FAILED
             11 end failed TRANSFER_FAILED");
}

#[test]
fn loops_and_fail() {
    let turn = vec![St::Note("turn {n}"), St::Send("poke", vec![])];
    let body = vec![St::Each("n", 1, 3, turn), St::Repeat(2, vec![St::Wait(S)]), St::Fail("enough")];
    World::new(&one(body)).react("poke", &[(S, RELEASED)]).run("P").is("0 start P
             0 leases
             0 step A #1
             0 note turn 1
             0 send poke T1 #1
             1 T1 released
             1 note turn 2
             1 send poke T2 #1
             2 T2 released
             2 note turn 3
             2 send poke T3 #1
             3 T3 released
             4 elapsed 4
             5 elapsed 5
             5 failed A #1 FAILED
             5 end failed FAILED");
}
