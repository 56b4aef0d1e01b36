//! The truth table of conditions: every operator over every type, known and unknown.

use std::sync::Arc;

use stellar_vm::{
    catalogue::Freshness,
    condition::{Context, Expr, ExprOp, Parameter, Parameters, Read, SampleView, Since, Snapshot},
    time::Instant,
    value::{EnumDef, Operand, Scalar, Type, Value},
};

use crate::support::instant;

const S: i64 = 1_000_000_000;

struct World {
    enums: Vec<EnumDef>,
    types: Vec<Type>,
    samples: Vec<Option<(Scalar, i64, bool)>>,
    freshness: Freshness,
}

impl Parameters for World {
    fn parameter(&self, index: u32) -> Option<Parameter<'_>> {
        let ty = self.types.get(index as usize)?;
        Some(Parameter { component: "c", index: None, name: NAMES[index as usize], ty, freshness: self.freshness })
    }

    fn enums(&self) -> &[EnumDef] {
        &self.enums
    }
}

const NAMES: [&str; 4] = ["0", "1", "2", "3"];

impl Snapshot for World {
    fn latest(&self, _: &str, _: &str, _: Option<i64>, name: &str) -> Option<SampleView<'_>> {
        let (value, at, valid) = self.samples[name.parse::<usize>().unwrap()].as_ref()?;
        Some(SampleView { value, received_at: instant(*at), order: 5, valid: *valid })
    }
}

fn world(samples: Vec<(Type, Option<Scalar>)>) -> World {
    let labels = vec![("OFF".into(), 7), ("ON".into(), 3)];
    let (types, samples): (Vec<_>, Vec<_>) = samples.into_iter().unzip();
    let samples = samples.into_iter().map(|sample| sample.map(|value| (value, 0, true))).collect();
    World { enums: vec![EnumDef { name: "e".into(), labels }], types, samples, freshness: Freshness::Within(5 * S) }
}

fn context<'a>(world: &'a World, targets: &'a [Arc<str>], locals: &'a [Option<Value>]) -> Context<'a> {
    Context { parameters: world, locals, targets, snapshot: world, at: instant(S), since: None }
}

fn on_stack(world: &World, locals: &[Option<Value>], expr: &Expr) -> Option<Value> {
    let targets: [Arc<str>; 1] = ["t".into()];
    expr.evaluate(&context(world, &targets, locals)).value()
}

/// An op over the parameters in their order.
fn over(world: &World, op: ExprOp) -> Option<bool> {
    let mut expr = Expr::default();
    for parameter in 0..world.types.len() as u32 {
        expr.reads.push(Read { target: 0, parameter });
        expr.code.push(ExprOp::Read(parameter));
    }
    expr.code.push(op);
    match on_stack(world, &[], &expr) {
        Some(Value::Bool(outcome)) => Some(outcome),
        Some(other) => panic!("{other:?}"),
        None => None,
    }
}

const INT: Type = Type::Int { min: -10, max: 10 };
const FLOAT: Type = Type::Float { unit: None, min: None, max: None };
const SIX: [ExprOp; 6] = [ExprOp::Is, ExprOp::IsNot, ExprOp::Lt, ExprOp::Le, ExprOp::Gt, ExprOp::Ge];

fn text(value: &str) -> Scalar {
    Scalar::Str(value.into())
}

/// The six comparisons of two values; `-` is unknown.
fn six(a: (Type, Scalar), b: (Type, Scalar)) -> String {
    let world = world(vec![(a.0, Some(a.1)), (b.0, Some(b.1))]);
    SIX.iter().map(|op| over(&world, *op).map_or('-', |outcome| if outcome { 't' } else { 'f' })).collect()
}

#[test]
fn six_operators_over_all_types() {
    let (less, equal, greater) = ("ftttff", "tfftft", "ftfftt");
    let pairs = [
        (INT, Scalar::Int(1), Scalar::Int(2)),
        (FLOAT, Scalar::Float(1.0), Scalar::Float(1.5)),
        (Type::Duration, text("1 s"), text("1500 ms")),
        (Type::Time, text("2026-10-02T10:15:00Z"), text("2026-10-02T12:16:00+02:00")),
    ];
    for (ty, low, high) in pairs {
        let of = |value: &Scalar| (ty.clone(), value.clone());
        assert_eq!(six(of(&low), of(&high)), less, "{ty:?}");
        assert_eq!(six(of(&high), of(&low)), greater, "{ty:?}");
        assert_eq!(six(of(&low), of(&low)), equal, "{ty:?}");
    }
    for (ty, a, b) in [
        (Type::Bool, Scalar::Bool(true), Scalar::Bool(false)),
        (Type::Str, text("a"), text("b")),
        (Type::Enum(0), text("OFF"), text("ON")),
    ] {
        assert_eq!(six((ty.clone(), a.clone()), (ty.clone(), a.clone())), "tf----", "{ty:?}");
        assert_eq!(six((ty.clone(), a), (ty.clone(), b)), "ft----", "{ty:?}");
    }
}

#[test]
fn whole_numbers_and_floats_compare_as_numbers_exactly() {
    assert_eq!(six((INT, Scalar::Int(2)), (FLOAT, Scalar::Float(2.0))), "tfftft");
    assert_eq!(six((INT, Scalar::Float(2.0)), (FLOAT, Scalar::Int(2))), "tfftft");
    assert_eq!(six((INT, Scalar::Int(2)), (FLOAT, Scalar::Float(2.5))), "ftttff");
    assert_eq!(six((INT, Scalar::Int(-2)), (FLOAT, Scalar::Float(-2.5))), "ftfftt");
    let big = 9_007_199_254_740_993;
    assert_eq!(six((INT, Scalar::Int(big)), (FLOAT, Scalar::Float(9_007_199_254_740_992.0))), "ftfftt");
    assert_eq!(six((INT, Scalar::Int(i64::MAX)), (FLOAT, Scalar::Float(9.3e18))), "ftttff");
    assert_eq!(six((INT, Scalar::Int(i64::MIN)), (FLOAT, Scalar::Float(-9.3e18))), "ftfftt");
}

#[test]
fn values_of_different_types_and_what_is_no_value_are_unknown() {
    assert_eq!(six((INT, Scalar::Int(1)), (Type::Bool, Scalar::Bool(true))), "------");
    assert_eq!(six((Type::Duration, text("1 s")), (FLOAT, Scalar::Float(1.0))), "------");
    assert_eq!(six((INT, text("1")), (INT, Scalar::Int(1))), "------");
    assert_eq!(six((INT, Scalar::Float(1.5)), (INT, Scalar::Int(1))), "------");
    assert_eq!(six((Type::Enum(0), text("UNHEARD")), (Type::Enum(0), text("ON"))), "------");
    assert_eq!(six((Type::Enum(0), Scalar::Int(3)), (Type::Enum(0), text("ON"))), "------");
    for value in ["NaN", "inf", "-inf"] {
        assert_eq!(six((FLOAT, text(value)), (FLOAT, text(value))), "------", "{value}");
        assert_eq!(six((FLOAT, text(value)), (FLOAT, Scalar::Float(1.0))), "------", "{value}");
    }
}

#[test]
fn missing_stale_and_invalid_samples_are_unknown_and_known_says_so() {
    let known = |change: &dyn Fn(&mut World)| {
        let mut world = world(vec![(INT, Some(Scalar::Int(1)))]);
        change(&mut world);
        let mut expr = Expr { reads: vec![Read { target: 0, parameter: 0 }], ..Expr::default() };
        expr.code = vec![ExprOp::Known(0)];
        let known = on_stack(&world, &[], &expr);
        expr.code = vec![ExprOp::Read(0)];
        (known.unwrap(), on_stack(&world, &[], &expr))
    };
    let (yes, no) = (Value::Bool(true), Value::Bool(false));
    assert_eq!(known(&|_| {}), (yes.clone(), Some(Value::Int(1))));
    assert_eq!(known(&|world| world.samples[0] = None), (no.clone(), None));
    assert_eq!(known(&|world| world.samples[0].as_mut().unwrap().2 = false), (no.clone(), None));
    // Fresh up to and including its freshness; judged at 1 s.
    assert_eq!(known(&|world| world.samples[0].as_mut().unwrap().1 = -4 * S), (yes.clone(), Some(Value::Int(1))));
    assert_eq!(known(&|world| world.samples[0].as_mut().unwrap().1 = -4 * S - 1), (no, None));
    let on_change = |world: &mut World| {
        world.freshness = Freshness::OnChange;
        world.samples[0].as_mut().unwrap().1 = -4_000 * S;
    };
    assert_eq!(known(&on_change), (yes.clone(), Some(Value::Int(1))));
    // A valid, fresh sample that is no number is known to be none.
    let nan = |world: &mut World| {
        world.types[0] = FLOAT;
        world.samples[0].as_mut().unwrap().0 = text("NaN");
    };
    assert_eq!(known(&nan), (yes, None));
}

#[test]
fn only_samples_since_count_where_it_is_asked() {
    let world = world(vec![(INT, Some(Scalar::Int(1)))]);
    let expr = Expr { code: vec![ExprOp::Read(0)], reads: vec![Read { target: 0, parameter: 0 }], ..Expr::default() };
    let targets: [Arc<str>; 1] = ["t".into()];
    let at = |order, received_at: Instant| {
        let since = Some(Since { order, received_at });
        expr.evaluate(&Context { since, ..context(&world, &targets, &[]) }) != Operand::Unknown
    };
    assert!(at(Some(4), instant(0)));
    assert!(!at(Some(5), instant(0)));
    assert!(at(None, instant(0)));
    assert!(!at(None, instant(1)));
}

fn kleene(op: fn(u32) -> ExprOp, a: Option<bool>, b: Option<bool>) -> Option<bool> {
    let sample = |value: Option<bool>| (Type::Bool, value.map(Scalar::Bool));
    over(&world(vec![sample(a), sample(b)]), op(2))
}

#[test]
fn and_or_and_not_are_kleenes() {
    let all = [Some(true), Some(false), None];
    for a in all {
        for b in all {
            let and = if a == Some(false) || b == Some(false) { Some(false) } else { a.and(b) };
            let or = if a == Some(true) || b == Some(true) { Some(true) } else { a.and(b) };
            assert_eq!(kleene(ExprOp::And, a, b), and, "{a:?} and {b:?}");
            assert_eq!(kleene(ExprOp::Or, a, b), or, "{a:?} or {b:?}");
        }
        let one = world(vec![(Type::Bool, a.map(Scalar::Bool))]);
        assert_eq!(over(&one, ExprOp::Not), a.map(|a| !a));
    }
}

fn numbers(op: ExprOp, values: &[Option<f64>]) -> Option<bool> {
    over(&world(values.iter().map(|value| (FLOAT, value.map(Scalar::Float))).collect()), op)
}

#[test]
fn between_near_and_one_of_include_their_ends() {
    let between = |x, a, b| numbers(ExprOp::Between, &[x, a, b]);
    assert_eq!(between(Some(1.0), Some(1.0), Some(2.0)), Some(true));
    assert_eq!(between(Some(2.0), Some(1.0), Some(2.0)), Some(true));
    assert_eq!(between(Some(2.1), Some(1.0), Some(2.0)), Some(false));
    assert_eq!(between(Some(0.5), Some(1.0), None), Some(false));
    assert_eq!(between(Some(1.5), Some(1.0), None), None);
    let near = |x, v, tolerance| numbers(ExprOp::Near, &[Some(x), Some(v), tolerance]);
    for (x, v, tolerance) in [(1.1, 1.0, 0.1), (0.9, 1.0, 0.1), (0.3, 0.2, 0.1), (0.1, 0.2, 0.1), (5.0, 5.0, 0.0)] {
        assert_eq!(near(x, v, Some(tolerance)), Some(true), "{x} is {v} +- {tolerance}");
    }
    assert_eq!(near(1.2, 1.0, Some(0.1)), Some(false));
    assert_eq!(near(0.8, 1.0, Some(0.1)), Some(false));
    assert_eq!(near(1.0, 1.0, None), None);
    let one_of = |values: &[Option<f64>]| numbers(ExprOp::OneOf(values.len() as u32 - 1), values);
    assert_eq!(one_of(&[Some(2.0), Some(1.0), Some(2.0)]), Some(true));
    assert_eq!(one_of(&[Some(3.0), Some(1.0), Some(2.0)]), Some(false));
    assert_eq!(one_of(&[Some(2.0), None, Some(2.0)]), Some(true));
    assert_eq!(one_of(&[Some(3.0), None, Some(2.0)]), None);
    assert_eq!(one_of(&[None, Some(1.0)]), None);
}

fn value(op: ExprOp, operands: &[Value]) -> Option<Value> {
    let code = (0..operands.len() as u32).map(ExprOp::Local).chain([op]).collect();
    let locals: Vec<_> = operands.iter().cloned().map(Some).collect();
    on_stack(&world(vec![]), &locals, &Expr { code, ..Expr::default() })
}

#[test]
fn arithmetic_is_checked() {
    use Value::{Duration as D, Float as F, Int as I, Time as T};
    let two = |op, a: Value, b: Value| value(op, &[a, b]);
    assert_eq!(two(ExprOp::Add, I(1), I(2)), Some(I(3)));
    assert_eq!(two(ExprOp::Add, I(i64::MAX), I(1)), None);
    assert_eq!(two(ExprOp::Sub, I(i64::MIN), I(1)), None);
    assert_eq!(two(ExprOp::Mul, I(i64::MAX), I(2)), None);
    assert_eq!(two(ExprOp::Mul, F(1e308), F(10.0)), None);
    assert_eq!(two(ExprOp::Div, I(7), I(2)), Some(F(3.5)));
    assert_eq!(two(ExprOp::Div, I(7), I(0)), None);
    assert_eq!(two(ExprOp::Div, F(0.0), F(0.0)), None);
    assert_eq!(value(ExprOp::Neg, &[I(i64::MIN)]), None);
    assert_eq!(value(ExprOp::Neg, &[D(5)]), Some(D(-5)));
    assert_eq!(value(ExprOp::Widen, &[I(5)]), Some(F(5.0)));
    assert_eq!(value(ExprOp::Seconds, &[D(1_500_000_000)]), Some(F(1.5)));
    assert_eq!(two(ExprOp::Add, T(5), D(3)), Some(T(8)));
    assert_eq!(two(ExprOp::Add, D(3), T(5)), Some(T(8)));
    assert_eq!(two(ExprOp::Sub, T(5), T(3)), Some(D(2)));
    assert_eq!(two(ExprOp::Sub, T(5), D(3)), Some(T(2)));
    assert_eq!(two(ExprOp::Sub, D(5), T(3)), None);
    assert_eq!(two(ExprOp::Add, T(i64::MAX), D(1)), None);
    assert_eq!(two(ExprOp::Mul, D(3), F(0.5)), Some(D(2)));
    assert_eq!(two(ExprOp::Mul, D(3), F(1e300)), None);
    assert_eq!(two(ExprOp::Div, D(10), I(4)), Some(D(3)));
    assert_eq!(two(ExprOp::Div, D(-10), I(4)), Some(D(-3)));
    assert_eq!(two(ExprOp::Div, D(i64::MIN), I(-1)), None);
    assert_eq!(two(ExprOp::Div, D(10), I(0)), None);
    assert_eq!(two(ExprOp::Div, D(10), D(4)), Some(F(2.5)));
    let constants = vec![F(0.001), F(0.5)];
    let scale = Expr { code: vec![ExprOp::Local(0), ExprOp::Scale(0)], constants, reads: vec![] };
    assert_eq!(on_stack(&world(vec![]), &[Some(F(2000.0))], &scale), Some(F(2.5)));
}

#[test]
fn code_that_no_verified_program_has_gives_unknown_and_no_panic() {
    for op in [ExprOp::And(9), ExprOp::OneOf(9), ExprOp::Between, ExprOp::Near, ExprOp::Add, ExprOp::Scale(9)] {
        for code in [vec![op], vec![ExprOp::Const(7), op], vec![ExprOp::Local(7), ExprOp::Read(7), op]] {
            let _ = on_stack(&world(vec![]), &[], &Expr { code, ..Expr::default() });
        }
    }
    let long = Expr { code: vec![ExprOp::Local(0); 1000], ..Expr::default() };
    assert_eq!(on_stack(&world(vec![]), &[Some(Value::Int(1))], &long), Some(Value::Int(1)));
}
