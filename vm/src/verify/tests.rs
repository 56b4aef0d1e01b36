//! Every claim that is edited and every rule that is broken is refused, by its code.

use alloc::{format, string::String, vec, vec::Vec};

use super::*;
use crate::{
    bounds::MAX_DURATION,
    condition::{Expr, ExprOp, Read},
    program::{Claims, Part, Sequence, Template},
    sample::*,
    value::{Type, Value},
};

const UNIT_STANDBY: usize = 0;
const UNIT_ANSWERS: usize = 1;
const UNIT_ACQUISITION: usize = 2;

#[test]
fn a_whole_program_is_let_through_with_its_bounds() {
    let program = verify(whole()).unwrap();
    let standby = &program.units[UNIT_STANDBY].claims;
    // Two windows of 10 s, the question, the transfer, the longer branch, two waits within 4 s.
    assert_eq!(standby.attempt, (10 + 10 + 60 + 30 + 3 + 4 + 4) * S);
    assert_eq!(standby.statements, 11);
    assert!(!standby.eligible);
    let answers = &program.units[UNIT_ANSWERS].claims;
    assert_eq!((answers.attempt, answers.max, answers.attempts_max, answers.statements), (10 * S, 40 * S, 4, 8));
    let acquisition = &program.units[UNIT_ACQUISITION];
    // `run "Inner"`: 1 s and one attempt of "TCU answers", 11 s; three attempts by the count, 33 s, below 60 s.
    assert_eq!(acquisition.claims.on_failure, 33 * S);
    assert_eq!(acquisition.calls.last().unwrap().claims.statements, 1 + 3 * (1 + (1 + 2)));
    // 3 min; the branches, 123 s; three times two attempts of 5 s; four times 40 s.
    assert_eq!(acquisition.claims.attempt, (180 + 123 + 3 * 10 + 4 * 40 + 33) * S);
    let answers_called = 1 + 35 * 2;
    let together = 1 + 12 + 12 + 1;
    let repeated = 1 + 3 * (1 + 2);
    let each = 1 + 4 * (1 + 4 * 2);
    assert_eq!(acquisition.claims.statements, answers_called + 2 + together + repeated + each + 13);
}

#[test]
fn what_the_machine_needs_is_found() {
    let program = verify(whole()).unwrap();
    let facts = program.facts(2).unwrap();
    assert!(facts.changes_state);
    let at = program.units[2].code.iter().position(|op| matches!(op, Op::OnFailure { .. })).unwrap() as Pc;
    assert_eq!((facts.body_end, facts.on_failure), (at, Some((at + 1, program.units[2].code.len() as Pc))));
    assert_eq!(facts.steps[0], CallFacts { eligible: true, policy: None });
    assert_eq!(facts.steps[1].policy, program.parameters_of_compilation.retry);
    assert_eq!(facts.calls[0].policy, program.units[2].calls[0].policy);
    assert_eq!(facts.calls[1], CallFacts { eligible: false, policy: None });
    assert_eq!(facts.calls[3].policy, program.units[1].policy);
    let inner = program.facts(3).unwrap();
    assert_eq!(inner.calls[0], CallFacts { eligible: true, policy: None });
    assert!(!inner.changes_state && inner.on_failure.is_none());
    assert_eq!(program.find(Kind::Procedure, "Inner"), Some(3));
    assert_eq!(program.find(Kind::Step, "Inner"), None);
}

#[test]
fn every_edited_claim_is_refused() {
    type Edit = fn(&mut Claims);
    let edits: [(Edit, &str); 6] = [
        (|claims| claims.attempt += 1, BOUND),
        (|claims| claims.on_failure -= 1, BOUND),
        (|claims| claims.max += 1, BOUND),
        (|claims| claims.attempts_max += 1, ATTEMPTS),
        (|claims| claims.statements ^= 1, STATEMENTS),
        (|claims| claims.eligible ^= true, ELIGIBILITY),
    ];
    let original = whole();
    let mut tried = 0;
    for unit in 0..original.units.len() {
        let Unit { steps, calls, .. } = &original.units[unit];
        for place in 0..1 + steps.len() + calls.len() {
            for (edit, code) in edits {
                let mut program = original.clone();
                let of = &mut program.units[unit];
                let steps = of.steps.len();
                match place {
                    0 => edit(&mut of.claims),
                    step if step <= steps => edit(&mut of.steps[step - 1].claims),
                    call => edit(&mut of.calls[call - 1 - steps].claims),
                }
                let (found, message) = refused(program);
                assert_eq!(found, code, "{message}");
                assert!(message.contains(&*original.units[unit].name), "{message}");
                assert!(message.contains("its code"), "{message}");
                tried += 1;
            }
        }
    }
    assert_eq!(tried, 12 * 6);
}

/// Breaks the program by a function and asks for the words of the refusal.
fn broken(words: &str, edit: impl FnOnce(&mut Program)) {
    let mut program = whole();
    edit(&mut program);
    let (code, message) = refused(program);
    assert_eq!(code, MALFORMED, "{message}");
    assert!(message.contains(words), "`{message}` does not say `{words}`");
}

/// The same for a unit of its own, which is let through before the edit.
fn broken_unit(words: &str, unit: Build, edit: impl FnOnce(&mut Unit)) {
    let good = program(vec![unit.0]);
    verify(good.clone()).unwrap();
    let mut bad = good;
    edit(&mut bad.units[0]);
    let (code, message) = refused(bad);
    assert_eq!(code, MALFORMED, "{message}");
    assert!(message.contains(words), "`{message}` does not say `{words}`");
}

#[test]
fn tables_are_checked() {
    broken("does not exist", |p| p.parameters[0].platform = 1);
    broken("does not exist", |p| p.parameters[1].ty = Type::Enum(1));
    broken("does not exist", |p| p.units[0].file = 1);
    broken("does not exist", |p| p.units[0].targets[0].platform = 9);
    broken("the same name", |p| p.platforms.push(text("platform-v3")));
    broken("the same name", |p| p.units[3].name = text("AOS acquisition"));
    broken("two targets have the same name", |p| {
        let target = p.units[2].targets[0].clone();
        p.units[2].targets.push(target);
    });
    broken("two inputs have the same name", |p| {
        let input = p.units[2].inputs[0].clone();
        p.units[2].inputs.push(input);
    });
    broken("no labels", |p| p.enums[0].labels.clear());
    broken("empty range", |p| p.parameters[0].index = Some((4, 1)));
    broken("range is empty", |p| p.units[1].inputs[0].ty = Type::Int { min: 2, max: 1 });
    broken("not finite", |p| p.telecommands[2].args[0].ty = Type::Float { unit: None, min: Some(f64::NAN), max: None });
    broken("does not fit", |p| p.telecommands[2].args[1].default = Some(Value::Int(5)));
    broken("does not fit", |p| p.units[2].inputs[0].default = Some(Value::Bool(true)));
    broken("0 s to 365 d", |p| p.telecommands[0].verify.window = MAX_DURATION + 1);
    broken("0 s to 365 d", |p| p.units[0].durations[0] = -1);
    broken("0 s to 365 d", |p| p.parameters[0].period = Some(-1));
    broken("default window", |p| p.parameters_of_compilation.window = 11 * S);
    broken("outside of its window", |p| p.telecommands[0].verify.stages[0].1 = 6 * S);
    broken("not in order", |p| {
        let stages = &mut p.telecommands[0].verify.stages;
        stages.push(stages[0]);
    });
    broken("1 MiB", |p| p.units[0].doc = Some(Arc::from("x".repeat(MAX_TEXT + 1))));
    broken("choice twice", |p| p.units[0].asks[0].choices[1] = text("A"));
    broken("longer than its limit", |p| p.units[2].expects[0].held = Some(5 * S + 1));
}

#[test]
fn conditions_of_the_catalogue_are_checked() {
    let requires = |p: &mut Program, expr: Expr| p.telecommands[2].requires = Some(expr);
    broken("not true or false", |p| {
        requires(p, Expr { code: vec![ExprOp::Local(0)], ..Expr::default() });
    });
    broken("local does not exist", |p| requires(p, Expr { code: vec![ExprOp::Local(1)], ..Expr::default() }));
    broken("target does not exist", |p| p.telecommands[2].requires.as_mut().unwrap().reads[0].target = 1);
    broken("parameter does not exist", |p| p.telecommands[1].verify.until.as_mut().unwrap().reads[0].parameter = 2);
}

#[test]
fn policies_are_checked() {
    use crate::program::Policy;
    let every = Policy { times: None, every: Some(S), total: None };
    broken("neither a count nor", |p| p.parameters_of_compilation.retry = Some(every));
    broken("neither a count nor", |p| p.units[2].calls[0].policy = Some(every));
    let many = Policy { times: Some(10_001), every: None, total: None };
    broken("more than 10000", |p| p.units[1].policy = Some(many));
    let long = Policy { times: None, every: None, total: Some(MAX_DURATION + 1) };
    broken("0 s to 365 d", |p| p.units[2].steps[1].policy = Some(long));
    let once = Policy { times: Some(1), every: None, total: None };
    broken("only a step has", |p| p.units[3].policy = Some(once));
    broken("without a step line", |p| p.units[2].steps[0].policy = Some(once));
    broken("changes the on-board state", |p| p.units[0].policy = Some(once));
    broken("changes the on-board state", |p| p.units[2].calls[1].policy = Some(once));
    let never = Policy { times: Some(0), every: None, total: None };
    let mut program = whole();
    program.units[0].policy = Some(never);
    program.units[2].calls[1].policy = Some(never);
    verify(sealed(program)).unwrap();
}

#[test]
fn an_inline_step_that_changes_the_state_is_not_retried() {
    let mut b = Build::procedure("P");
    let step = b.open_step("s", true, None);
    let index = b.value(Value::Int(1));
    b.send(STANDBY, 0, index, vec![]);
    b.end(step);
    broken_unit("changes the on-board state", b, |unit| {
        unit.steps[0].policy = Some(crate::program::Policy { times: Some(1), every: None, total: None });
    });
}

/// `step "S"` with these ops, all operands at hand.
fn with_code(kind: Kind, code: &[Op]) -> Program {
    let mut b = Build::new(kind, "S");
    let cond = b.value(Value::Bool(true));
    assert_eq!(cond, 0);
    b.expr(vec![ExprOp::Local(0)], vec![], vec![]);
    b.local("", Type::Bool);
    b.0.durations.push(S);
    b.0.texts.push(text("no"));
    b.0.expects.push(crate::program::Expect { cond, held: None, within: S });
    for op in code {
        b.op(*op);
        if let Op::Step { .. } = op {
            let written = b.0.steps.is_empty();
            let claims = Claims::default();
            b.0.steps.push(crate::program::InlineStep { name: text("s"), written, policy: None, claims });
        }
    }
    Program { units: vec![b.0], ..program(vec![]) }
}

const WAIT: Op = Op::Wait(0);

fn if_(otherwise: Pc, end: Pc) -> Op {
    Op::If { cond: 0, otherwise, end }
}

#[test]
fn blocks_nest_and_are_not_empty() {
    let good: [&[Op]; 6] = [
        &[WAIT],
        &[if_(2, 2), WAIT],
        &[if_(2, 3), WAIT, WAIT],
        &[Op::Repeat { times: 10_000, end: 3 }, if_(3, 3), WAIT],
        &[if_(3, 5), if_(3, 3), WAIT, if_(5, 5), WAIT],
        &[if_(4, 5), WAIT, if_(4, 4), WAIT, WAIT],
    ];
    for code in good {
        verify(sealed(with_code(Kind::Step, code))).unwrap();
    }
    let bad: [&[Op]; 12] = [
        &[],
        &[if_(1, 1)],
        &[if_(0, 2), WAIT],
        &[if_(2, 1), WAIT],
        &[if_(3, 2), WAIT, WAIT],
        &[if_(2, 3), WAIT],
        &[Op::Repeat { times: 2, end: 1 }, WAIT],
        &[Op::Repeat { times: 2, end: 2 }, if_(3, 3), WAIT],
        &[if_(3, 5), if_(3, 4), WAIT, WAIT, WAIT],
        &[Op::Repeat { times: 2, end: Pc::MAX }, WAIT],
        &[Op::Repeat { times: 0, end: 2 }, WAIT],
        &[Op::Repeat { times: 10_001, end: 2 }, WAIT],
    ];
    for code in bad {
        assert_eq!(refused(with_code(Kind::Step, code)).0, MALFORMED, "{code:?}");
    }
}

#[test]
fn statements_stand_where_they_can() {
    let step = |end| Op::Step { step: 0, end };
    let single = |end| Op::Step { step: 1, end };
    let check = Op::Check(0);
    let good: [(Kind, &[Op]); 5] = [
        (Kind::Procedure, &[step(2), check, single(4), check, if_(6, 6), WAIT]),
        (
            Kind::Procedure,
            &[
                step(2),
                Op::Fail(0),
                single(4),
                Op::Judge { cond: 0, local: 0 },
                { Op::If { cond: 1, otherwise: 6, end: 6 } },
                WAIT,
            ],
        ),
        (Kind::Procedure, &[Op::Together { end: 5 }, Op::Branch { end: 3 }, WAIT, Op::Branch { end: 5 }, WAIT]),
        (Kind::Procedure, &[WAIT, Op::OnFailure { end: 3 }, WAIT]),
        (Kind::Step, &[check, Op::Expect(0), Op::Fail(0)]),
    ];
    for (kind, code) in good {
        verify(sealed(with_code(kind, code))).unwrap();
    }
    let bad: [(Kind, &[Op]); 17] = [
        (Kind::Procedure, &[check]),
        (Kind::Procedure, &[Op::Expect(0)]),
        (Kind::Procedure, &[Op::Fail(0)]),
        (Kind::Procedure, &[Op::Judge { cond: 0, local: 0 }]),
        (Kind::Step, &[Op::Judge { cond: 0, local: 0 }]),
        (Kind::Step, &[step(2), WAIT]),
        (Kind::Step, &[Op::Together { end: 3 }, Op::Branch { end: 3 }, WAIT]),
        (Kind::Step, &[WAIT, Op::OnFailure { end: 3 }, WAIT]),
        (Kind::Procedure, &[step(3), step(3), check]),
        (Kind::Procedure, &[step(2), check, single(4), WAIT]),
        (Kind::Procedure, &[step(2), check, single(5), check, check]),
        (Kind::Procedure, &[step(2), check, single(4), Op::Judge { cond: 0, local: 0 }, WAIT]),
        (Kind::Procedure, &[step(2), check, single(4), Op::Judge { cond: 0, local: 0 }, if_(6, 6), WAIT]),
        (Kind::Procedure, &[Op::Together { end: 2 }, WAIT]),
        (Kind::Procedure, &[Op::Branch { end: 2 }, WAIT]),
        (Kind::Procedure, &[Op::OnFailure { end: 2 }, WAIT]),
        (Kind::Procedure, &[WAIT, Op::OnFailure { end: 3 }, WAIT, WAIT]),
    ];
    for (kind, code) in bad {
        let (found, message) = refused(with_code(kind, code));
        assert_eq!(found, MALFORMED, "{code:?}");
        assert!(!message.contains("tables"), "{code:?}: {message}");
    }
}

#[test]
fn sixty_four_blocks_nest_and_sixty_five_do_not() {
    let nested = |count: Pc| {
        let mut code: Vec<Op> = (0..count).map(|_| if_(count + 1, count + 1)).collect();
        code.push(WAIT);
        with_code(Kind::Step, &code)
    };
    verify(sealed(nested(63))).unwrap();
    assert!(refused(nested(64)).1.contains("nested deeper than 64"));
    assert!(refused(nested(100_000)).1.contains("nested deeper than 64"));
}

#[test]
fn operands_are_checked() {
    broken("operands do not exist", |p| p.units[0].code[0] = Op::Send(7));
    broken("operands do not exist", |p| p.units[3].code[0] = Op::Wait(7));
    broken("telecommand does not exist", |p| p.units[1].sends[0].telecommand = 3);
    broken("route does not exist", |p| p.units[1].sends[0].route = 1);
    broken("target does not exist", |p| p.units[1].sends[0].target = 1);
    broken("not of one platform", |p| {
        p.platforms.push(text("other"));
        p.routes[0].platform = 1;
    });
    broken("superfluous index", |p| p.units[1].sends[0].index = None);
    broken("superfluous index", |p| p.units[0].transfers[0].index = Some(0));
    broken("number of arguments", |p| p.units[1].sends[0].args.push(None));
    broken("lacks an argument", |p| p.units[0].sends[1].args[0] = None);
    broken("fixed value", |p| p.units[0].sends[1].args[2] = Some(0));
    broken("wrong type", |p| p.units[0].sends[1].args[0] = Some(0));
    broken("another type", |p| p.units[0].asks[0].choices.clear());
    broken("goes over nothing", |p| p.units[2].loops[0].over = Sequence::Range(2, 1));
    broken("goes over nothing", |p| p.units[2].loops[0].over = Sequence::List(vec![]));
    broken("does not fit", |p| p.units[2].loops[0].over = Sequence::Range(1, 5));
    broken("does not fit", |p| p.units[2].loops[0].over = Sequence::List(vec![Value::Bool(true)]));
    broken("share one entry", |p| p.units[2].code[7] = p.units[2].code[9]);
    broken("not in its code", |p| {
        let again = p.units[2].calls[0].clone();
        p.units[2].calls.push(again);
    });
    broken("source map", |p| drop(p.units[0].source.pop()));
}

#[test]
fn nothing_that_can_fail_stands_directly_in_a_procedure() {
    let b = |kind| {
        let mut b = Build::new(kind, "P");
        let local = b.local("x", Type::Int { min: 0, max: 9 });
        let value = b.value(Value::Int(1));
        b.op(Op::Let { local, value });
        b
    };
    let sum = Expr {
        code: vec![ExprOp::Const(0), ExprOp::Const(0), ExprOp::Add],
        constants: vec![Value::Int(1)],
        reads: vec![],
    };
    broken_unit("stands in no step", b(Kind::Procedure), |unit| unit.exprs[0] = sum.clone());
    let mut step = program(vec![b(Kind::Step).0]);
    step.units[0].exprs[0] = sum.clone();
    verify(step).unwrap();
    broken("stands in no step", |p| p.units[2].exprs[0] = sum);
}

#[test]
fn calls_are_checked() {
    broken("unit that does not exist", |p| p.units[2].calls[0].unit = 9);
    broken("as many targets", |p| p.units[2].calls[0].targets.push(1));
    broken("as many targets", |p| p.units[2].calls[0].inputs.clear());
    broken("target does not exist", |p| p.units[2].calls[0].targets[0] = 2);
    broken("lacks an input", |p| p.units[2].calls[0].inputs[0] = None);
    broken("`do` calls a step", |p| p.units[2].code[0] = Op::Run(0));
    broken("expression does not exist", |p| p.units[2].calls[0].inputs[0] = Some(99));
    broken("input of the wrong type", |p| p.units[3].exprs[0].constants[0] = Value::Bool(true));
}

#[test]
fn one_target_is_not_given_twice() {
    let mut callee = Build::procedure("Callee");
    callee.target("other");
    callee.wait(S);
    let mut caller = Build::procedure("Caller");
    caller.target("other");
    caller.call(Kind::Procedure, 0, vec![0, 1], vec![], None);
    let good = program(vec![callee.0, caller.0]);
    verify(good.clone()).unwrap();
    let mut bad = good.clone();
    bad.units[1].calls[0].targets = vec![1, 1];
    assert!(refused(bad).1.contains("one target twice"));
    let mut bad = good;
    bad.platforms.push(text("other"));
    bad.units[1].targets[1].platform = 1;
    assert!(refused(bad).1.contains("another platform"));
}

#[test]
fn calls_form_no_circle_however_deep() {
    let chain = |count: u32, last: u32| {
        let units = (0..count).map(|at| {
            let mut b = Build::procedure(&format!("P{at}"));
            if at + 1 < count || last < count {
                b.call(Kind::Procedure, if at + 1 < count { at + 1 } else { last }, vec![0], vec![], None);
            }
            b.wait(0);
            b.0
        });
        Program { units: units.collect(), ..program(vec![]) }
    };
    verify(sealed(chain(20_000, 20_000))).unwrap();
    let (code, message) = refused(chain(3, 1));
    assert_eq!(code, MALFORMED);
    assert!(message.contains("procedure `P1` → procedure `P2` → procedure `P1`"), "{message}");
    assert!(refused(chain(1, 0)).1.contains("`P0` → procedure `P0`"));
    assert!(refused(chain(20_000, 0)).1.len() < 1_000);
}

#[test]
fn a_name_is_read_only_where_it_is_given_on_every_path() {
    let b = || {
        let mut b = Build::step("S");
        let local = b.local("x", Type::Bool);
        let value = b.value(Value::Bool(true));
        b.op(Op::Let { local, value });
        b.note(vec![Part::Local(local)]);
        b
    };
    let words = "not given on every path";
    broken_unit(words, b(), |unit| unit.code.swap(0, 1));
    broken_unit(words, b(), |unit| unit.notes[0].text = Template { parts: vec![Part::Local(1)] });
    broken_unit("given elsewhere", b(), |unit| unit.code[1] = unit.code[0]);
    broken_unit("does not exist", b(), |unit| drop(unit.locals.pop()));
    // Given in one branch, read behind the `if`; given in one, read in the other.
    for otherwise in [2, 3] {
        let code = [if_(otherwise, 3), Op::Let { local: 0, value: 0 }, WAIT, Op::Check(1)];
        let behind = with_code(Kind::Step, &code);
        assert!(refused(behind).1.contains(words));
    }
    let other = with_code(Kind::Step, &[if_(2, 3), Op::Let { local: 0, value: 0 }, Op::Check(1)]);
    assert!(refused(other).1.contains(words));
    let inside = with_code(Kind::Step, &[if_(3, 3), Op::Let { local: 0, value: 0 }, Op::Check(1)]);
    verify(sealed(inside)).unwrap();
    // Given in the body, read in `on failure`; given in a written step, read behind it.
    let note = |b: &mut Build| b.note(vec![Part::Local(0)]);
    let mut b = Build::procedure("P");
    b.local("x", Type::Bool);
    let value = b.value(Value::Bool(true));
    b.op(Op::Let { local: 0, value });
    let failure = b.op(Op::OnFailure { end: 0 });
    note(&mut b);
    b.end(failure);
    assert!(refused(program(vec![b.0])).1.contains(words));
    for written in [true, false] {
        let mut b = Build::procedure("P");
        b.local("x", Type::Bool);
        let value = b.responding(0, 1);
        let step = b.open_step("s", written, None);
        b.op(Op::Let { local: 0, value });
        b.end(step);
        note(&mut b);
        let program = program(vec![b.0]);
        match written {
            true => assert!(refused(program).1.contains(words)),
            false => drop(verify(program).unwrap()),
        }
    }
}

#[test]
fn inputs_are_the_first_locals() {
    broken("first locals", |p| p.units[1].locals[0].ty = Type::Bool);
    broken("first locals", |p| p.units[1].locals.clear());
}

/// Verifies one expression, kept under a name of this type.
fn typed(ty: Type, code: &[ExprOp], constants: &[Value]) -> Result<(), String> {
    let mut b = Build::step("S");
    let local = b.local("x", ty);
    let reads = vec![Read { target: 0, parameter: RESPONDING }, Read { target: 0, parameter: MODE }];
    let value = b.expr(code.to_vec(), constants.to_vec(), reads);
    b.op(Op::Let { local, value });
    verify(program(vec![b.0])).map(drop).map_err(|error| error.message().into())
}

#[test]
fn expressions_are_typed() {
    use ExprOp::*;
    let int = Type::Int { min: i64::MIN, max: i64::MAX };
    let float = Type::Float { unit: None, min: None, max: None };
    let constants = [
        Value::Int(1),
        Value::Float(1.0),
        Value::Float(0.5),
        Value::Duration(S),
        Value::Time(0),
        Value::Bool(true),
        Value::Str(text("s")),
        Value::Enum { def: 0, label: 1 },
    ];
    let [i, f, d, t, b, s, e] = [0, 1, 3, 4, 5, 6, 7].map(Const);
    let good: [(Type, &[ExprOp]); 27] = [
        (int.clone(), &[i, i, Add]),
        (float.clone(), &[f, f, Sub]),
        (Type::Duration, &[d, d, Add]),
        (Type::Time, &[t, d, Sub]),
        (Type::Time, &[d, t, Add]),
        (Type::Duration, &[t, t, Sub]),
        (int.clone(), &[i, i, Mul]),
        (float.clone(), &[i, i, Div]),
        (Type::Duration, &[d, i, Div]),
        (Type::Duration, &[i, d, Mul]),
        (float.clone(), &[d, d, Div]),
        (float.clone(), &[i, Widen]),
        (float.clone(), &[f, Scale(1)]),
        (float.clone(), &[d, Seconds]),
        (Type::Duration, &[d, Neg]),
        (Type::Bool, &[i, f, Is]),
        (Type::Bool, &[e, e, IsNot]),
        (Type::Bool, &[s, s, Is]),
        (Type::Bool, &[i, f, Lt]),
        (Type::Bool, &[t, t, Ge]),
        (Type::Bool, &[f, i, i, Between]),
        (Type::Bool, &[s, s, s, OneOf(2)]),
        (Type::Bool, &[f, f, f, Near]),
        (Type::Bool, &[b, b, b, And(3), Not]),
        (Type::Bool, &[i, Read(0)]),
        (Type::Bool, &[i, Known(1)]),
        (Type::Enum(0), &[i, Read(1)]),
    ];
    for (ty, code) in good {
        assert_eq!(typed(ty, code, &constants), Ok(()), "{code:?}");
    }
    let bad: [(Type, &[ExprOp]); 33] = [
        (int.clone(), &[]),
        (int.clone(), &[i, i]),
        (int.clone(), &[Const(8)]),
        (int.clone(), &[f]),
        (float.clone(), &[i]),
        (int.clone(), &[i, f, Add]),
        (int.clone(), &[Add]),
        (Type::Time, &[t, t, Add]),
        (Type::Time, &[d, t, Sub]),
        (Type::Str, &[s, s, Add]),
        (Type::Duration, &[d, d, Mul]),
        (Type::Duration, &[i, d, Div]),
        (Type::Bool, &[b, Neg]),
        (float.clone(), &[f, Widen]),
        (float.clone(), &[f, Scale(0)]),
        (float.clone(), &[f, Scale(7)]),
        (float.clone(), &[f, Scale(u32::MAX)]),
        (float.clone(), &[i, Seconds]),
        (Type::Bool, &[i, d, Is]),
        (Type::Bool, &[s, s, Lt]),
        (Type::Bool, &[b, b, Gt]),
        (Type::Bool, &[e, e, Le]),
        (Type::Bool, &[i, t, t, Between]),
        (Type::Bool, &[i, OneOf(0)]),
        (Type::Bool, &[i, i, s, OneOf(2)]),
        (Type::Bool, &[t, t, t, Near]),
        (Type::Bool, &[b, And(1)]),
        (Type::Bool, &[b, i, Or(2)]),
        (Type::Bool, &[b, b, And(u32::MAX)]),
        (Type::Bool, &[Read(0)]),
        (Type::Bool, &[f, Read(0)]),
        (Type::Bool, &[i, Read(2)]),
        (Type::Bool, &[Local(1)]),
    ];
    for (ty, code) in bad {
        assert!(typed(ty, code, &constants).is_err(), "{code:?}");
    }
    let nan = [Value::Float(f64::NAN)];
    assert!(typed(float, &[Const(0)], &nan).is_err());
    assert!(typed(Type::Enum(0), &[Const(0)], &[Value::Enum { def: 0, label: 3 }]).is_err());
}

#[test]
fn two_branches_do_not_change_one_target() {
    broken("another branch changes", |p| p.units[2].calls[2].targets = vec![0]);
    // The second one only looks.
    let mut program = whole();
    let call = &mut program.units[2].calls[2];
    (call.unit, call.targets) = (1, vec![0]);
    call.inputs = vec![Some(0)];
    verify(sealed(program)).unwrap();
}

#[test]
fn limits_of_duration_and_count_hold_at_the_limit_and_not_past_it() {
    let repeated = |times, ns| {
        let mut b = Build::step("S");
        let repeat = b.op(Op::Repeat { times, end: 0 });
        b.wait(ns);
        b.end(repeat);
        Program { units: vec![b.0], ..program(vec![]) }
    };
    verify(sealed(repeated(365, MAX_DURATION / 365))).unwrap();
    assert!(refused(repeated(366, MAX_DURATION / 365)).1.contains("longer than 365 d"));
    let counted = |outer, rest: usize| {
        let mut b = Build::step("S");
        let first = b.op(Op::Repeat { times: outer, end: 0 });
        let second = b.op(Op::Repeat { times: 9_998, end: 0 });
        b.wait(0);
        b.end(second);
        b.wait(0);
        b.end(first);
        for _ in 0..rest {
            b.wait(0);
        }
        Program { units: vec![b.0], ..program(vec![]) }
    };
    let program = verify(sealed(counted(99, 1 + 9_998))).unwrap();
    assert_eq!(program.units[0].claims.statements, 1 + 99 * 10_000 + 9_999);
    assert!(refused(counted(99, 10_000)).1.contains("1000000 statements"));
}
