//! Conditions whose index is telemetry itself.

use std::sync::Arc;

use stellar_vm::{
    condition::ExprOp,
    value::{Scalar, Value},
    verify::Verified,
};

use crate::support::*;

const YES: Scalar = Scalar::Bool(true);

/// `sat.tcu[sat.eps.sel].responding is true`; `sel` is fresh for 2 s.
fn selected() -> Ex {
    let read = Ex::ReadAt(Box::new(Ex::Read("sel")), "responding");
    Ex::Op(ExprOp::Is, vec![read, Ex::Value(Value::Bool(true))])
}

fn one(body: Vec<St>) -> Arc<Verified> {
    program_with(vec![procedure("P", vec![St::Do("A", None)]), step("A", body)], None)
}

#[test]
fn an_index_that_is_stale_when_the_sample_comes_leads_nowhere() {
    let stale = "not satisfied within 6 s, unknown: sim-1 eps.sel is stale, last 2, 5 s old (fresh up to 2 s); \
                 sim-1 tcu[?].responding has no such index";
    for wait in [St::Expect(selected(), 6 * S), St::WaitUntil(selected(), 6 * S)] {
        let world = World::new(&one(vec![wait]));
        let told = world.sample(S, "sel", Scalar::Int(2)).sample(4 * S, "responding", YES).run("P");
        let waited = ["0 step A #1", "6 observed eps.sel=2 tcu[2].responding=true", "6 elapsed 6"];
        assert_eq!(told.story[2..5], waited);
        assert_eq!(told.message(), stale);
    }
}

#[test]
fn held_for_does_not_begin_before_the_sample_that_makes_it_true() {
    let held = one(vec![St::ExpectHeld(selected(), 2 * S, 9 * S)]);
    World::new(&held)
        .sample(S, "sel", Scalar::Int(2))
        .sample(4 * S, "responding", YES)
        .sample(5 * S, "sel", Scalar::Int(2))
        .run("P")
        .is("0 start P
             0 leases
             0 step A #1
             5 observed eps.sel=2 tcu[2].responding=true
             7 observed eps.sel=2 tcu[2].responding=true
             7 elapsed 7
             7 passed A #1
             7 end passed");
}
