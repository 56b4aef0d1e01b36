//! What the machine must reach: replay from JSON, plain instructions, sends, samples that decide nothing.
//!
//! Prints ratios and figures with what is asked of them; asserts no time.

#![expect(
    clippy::disallowed_types,
    clippy::indexing_slicing,
    reason = "a benchmark reads the clock and its own arrays"
)]

#[expect(
    dead_code,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "the harness of the tests, of which a part is used"
)]
#[path = "../tests/support/mod.rs"]
mod support;

use std::{sync::Arc, time::Instant as Wall};

use stellar_vm::{
    condition::ExprOp,
    event::{Body, Event, Fact, TelecommandStatus, Transition},
    machine::{Advance, Machine, replay},
    value::Scalar,
    verify::Verified,
};
use support::*;

fn seconds(wall: Wall) -> f64 {
    wall.elapsed().as_secs_f64()
}

fn report(what: &str, figure: String, asked: &str, reached: bool) {
    println!("| {what} | {figure} | {asked} | {} |", if reached { "pass" } else { "MISS" });
}

/// The fact that grants the leases.
fn leases() -> Fact {
    Fact::Leases { taken: vec!["sim-1".into()], shared: false, refused: None }
}

/// A status of a telecommand.
fn status(id: &Arc<str>, status: TelecommandStatus, order: Option<u64>) -> Fact {
    let id = Arc::clone(id);
    Fact::TelecommandStatus { id, status, received_at: instant(0), order, stage: None, code: None, reason: None }
}

/// The log of a run that sends and reads, over and over: 4 events a turn.
fn long(turns: u32) -> (Arc<Verified>, Vec<String>) {
    let turn = vec![St::Send("ping", vec![]), St::Check(on("on"))];
    let body = vec![St::Repeat(100, vec![St::Repeat(turns / 100, turn)])];
    let program = program(vec![procedure("P", vec![St::Do("A", times(0))]), step("A", body)]);
    let mut machine = Machine::new(Arc::clone(&program));
    let mut telemetry = Telemetry::default();
    telemetry.put("on", Scalar::Bool(true), instant(0), 1);
    let mut lines = vec![];
    let mut log = |machine: &Machine, body: Body| {
        let (seq, at) = (machine.seq(), machine.now());
        lines.extend(Event { seq, at, epoch: 1, nonce: Some("4f1c".into()), fence: None, body }.to_json());
    };
    let mut next = vec![World::started("P"), leases()];
    next.reverse();
    loop {
        while let Some(fact) = next.pop() {
            assert!(machine.accept(&fact, instant(0)).is_ok());
            log(&machine, Body::Fact(fact));
        }
        match machine.advance(instant(0)) {
            Advance::Emit(transition) => {
                if let Transition::TelecommandSent { id, .. } = &transition {
                    next.push(status(id, TelecommandStatus::Completed, None));
                    next.push(status(id, TelecommandStatus::Released, Some(2)));
                }
                log(&machine, Body::Transition(transition));
            }
            Advance::Await => {
                let Some(pending) = machine.settles(&telemetry) else { break };
                let samples = machine.evidence(pending, &telemetry);
                next.push(Fact::Observed { pending, samples, utc: None });
            }
            Advance::Done(_) => break,
        }
    }
    (program, lines)
}

fn replaying() {
    let (program, lines) = long(25_000);
    let mut took = f64::MAX;
    for _ in 0..5 {
        let wall = Wall::now();
        let replayed = replay(Arc::clone(&program), lines.iter().map(String::as_str));
        took = took.min(seconds(wall));
        assert!(replayed.is_ok_and(|replayed| replayed.machine().outcome().is_some()));
    }
    let for_100_000 = took * 100_000.0 / lines.len() as f64;
    report("replay of 100,000 events from JSON", format!("{for_100_000:.3} s"), "0.2 s", for_100_000 < 0.2);
}

fn arithmetic(turns: u32) -> Arc<Verified> {
    let local = Ex::Local;
    let op = |op, a, b| Ex::Op(op, vec![a, b]);
    let turn = vec![
        St::Let("x", INT, op(ExprOp::Add, op(ExprOp::Mul, local("n"), int(3)), local("m"))),
        St::If(
            op(ExprOp::Gt, local("x"), int(5_000)),
            vec![St::Let("y", INT, op(ExprOp::Sub, local("x"), int(1)))],
            vec![St::Let("z", INT, op(ExprOp::Add, local("x"), int(1)))],
        ),
    ];
    let body = vec![St::Each("m", 1, 20, vec![St::Each("n", 1, i64::from(turns), turn)])];
    program(vec![procedure("P", vec![St::Do("A", times(0))]), step("A", body)])
}

/// An instruction of the loop by hand.
#[derive(Clone, Copy)]
enum Hand {
    Const(i64),
    Load(usize),
    Store(usize),
    Add,
    Sub,
    Mul,
    Greater,
    Unless(usize),
    Goto(usize),
    /// Next turn of a loop over a local, up to a limit; where it goes on.
    Turn(usize, i64, usize),
}

/// A dynamic value of the loop by hand.
#[derive(Clone, Copy, PartialEq)]
enum Number {
    Int(i64),
    Bool(bool),
}

/// The same work as a flat loop by hand: a plain match, dynamic values, checked arithmetic, fuel. Gives its instructions.
fn by_hand(turns: i64) -> u64 {
    use Hand::{Add, Const, Goto, Greater, Load, Mul, Store, Sub, Turn, Unless};
    #[rustfmt::skip]
    let code = [
        Const(0), Store(0),
        Turn(0, 20, 24), Const(0), Store(1),
        Turn(1, turns, 2), Load(1), Const(3), Mul, Load(0), Add, Store(2),
        Load(2), Const(5_000), Greater, Unless(20), Load(2), Const(1), Sub, Goto(23),
        Load(2), Const(1), Add, Goto(5),
    ];
    let (mut stack, mut locals) = (Vec::with_capacity(8), vec![Number::Bool(false); 3]);
    let (mut pc, mut fuel) = (0_usize, 100_000_000_u64);
    let code = std::hint::black_box(code);
    while let Some(op) = code.get(pc) {
        fuel -= 1;
        pc += 1;
        match *op {
            Const(value) => stack.push(Number::Int(value)),
            Load(local) => stack.push(locals[local]),
            Store(local) => locals[local] = stack.pop().unwrap_or(Number::Bool(false)),
            Unless(to) => {
                if stack.pop() != Some(Number::Bool(true)) {
                    pc = to;
                }
            }
            Goto(to) => {
                stack.clear();
                pc = to;
            }
            Turn(local, limit, end) => match locals[local] {
                Number::Int(turn) if turn < limit => locals[local] = Number::Int(turn + 1),
                _ => pc = end,
            },
            Add | Sub | Mul | Greater => {
                let (Some(Number::Int(b)), Some(Number::Int(a))) = (stack.pop(), stack.pop()) else { break };
                let result = match op {
                    Add => a.checked_add(b),
                    Sub => a.checked_sub(b),
                    Mul => a.checked_mul(b),
                    _ => {
                        stack.push(Number::Bool(a > b));
                        continue;
                    }
                };
                let Some(result) = result else { break };
                stack.push(Number::Int(result));
            }
        }
    }
    100_000_000 - fuel
}

/// Ops and expression ops of one turn of [`arithmetic`]: `for each`, `let` with five, `if` with three, `let` with three.
const PER_TURN: f64 = 14.0;

fn plain() {
    let turns = 10_000_u32;
    let program = arithmetic(turns);
    let mut best = f64::MAX;
    for _ in 0..7 {
        let mut machine = Machine::new(Arc::clone(&program));
        assert!(machine.accept(&World::started("P"), instant(0)).is_ok());
        assert!(machine.accept(&leases(), instant(0)).is_ok());
        let wall = Wall::now();
        assert!(matches!(machine.advance(instant(0)), Advance::Emit(_)));
        best = best.min(seconds(wall));
    }
    let count = PER_TURN * 20.0 * f64::from(turns);
    let mut hand = f64::MAX;
    let mut instructions = 0;
    for _ in 0..7 {
        let wall = Wall::now();
        instructions = by_hand(i64::from(std::hint::black_box(turns)));
        hand = hand.min(seconds(wall));
    }
    let by_hand = instructions as f64 / hand / 1e6;
    report("plain instructions, of a loop by hand", format!("{by_hand:.0} M/s"), "-", true);
    report("plain instructions, of the machine", format!("{:.0} M/s", count / best / 1e6), "-", true);
    report("  time of the machine to that by hand", format!("{:.2}x", best / hand), "2x", best < 2.0 * hand);
}

fn sends() {
    let body = vec![St::Repeat(100, vec![St::Repeat(2_000, vec![St::Send("poke", vec![])])])];
    let program = program(vec![procedure("P", vec![St::Do("A", times(0))]), step("A", body)]);
    let mut machine = Machine::new(program);
    assert!(machine.accept(&World::started("P"), instant(0)).is_ok());
    assert!(machine.accept(&leases(), instant(0)).is_ok());
    let (mut count, mut order) = (0_u32, 0_u64);
    let wall = Wall::now();
    loop {
        match machine.advance(instant(0)) {
            Advance::Emit(Transition::TelecommandSent { id, .. }) => {
                count += 1;
                order += 1;
                let released = status(&id, TelecommandStatus::Released, Some(order));
                assert!(machine.accept(&released, instant(0)).is_ok());
            }
            Advance::Emit(_) => {}
            Advance::Await | Advance::Done(_) => break,
        }
    }
    let rate = f64::from(count) / seconds(wall);
    report("sends with their release", format!("{:.2} M/s", rate / 1e6), "2 M/s", rate > 2e6);
}

fn undecided() {
    let program =
        program(vec![procedure("P", vec![St::Do("A", times(0))]), step("A", vec![St::Expect(on("on"), 5 * S)])]);
    let mut world = World::new(&program);
    assert!(world.enter(World::started("P")).is_ok());
    world.until_await();
    world.telemetry.put("on", Scalar::Bool(false), instant(0), 1);
    let wall = Wall::now();
    let rounds = 1_000_000_u32;
    for _ in 0..rounds {
        assert!(!std::hint::black_box(&world.machine).would_settle(&world.telemetry));
    }
    report("would_settle", format!("{:.0} ns", seconds(wall) * 1e9 / f64::from(rounds)), "-", true);
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let parts: [(&str, fn()); 4] =
        [("replay", replaying), ("plain", plain), ("sends", sends), ("undecided", undecided)];
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|wanted| name.contains(wanted.as_str())) {
            part();
        }
    }
}
