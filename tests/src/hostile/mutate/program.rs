//! Changes of a program, part by part, through its JSON: whatever stands somewhere in it is replaced by everything that
//! its type allows there, as far as that is known from other programs.
//!
//! A number becomes another one, a truth its opposite, a text another text, an absent part present and the other way
//! round; of a list an entry goes, comes twice, changes its place, or all of them go; and any part, an op above all,
//! becomes any other part that stands at the same kind of place in some program.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, from_value, json, to_value};
use stellar_vm::{adversary::Dice, op::Op, program::Program};

/// Parts by the kind of their place: the keys that lead there, without numbers.
#[derive(Debug, Default)]
pub struct Parts(BTreeMap<String, BTreeSet<String>>);

/// More different parts of one kind of place than this are not kept.
const KEPT: usize = 400;

impl Parts {
    /// The parts of some programs, and every op with small and great operands.
    #[must_use]
    pub fn of<'a>(programs: impl IntoIterator<Item = &'a Program>) -> Self {
        let mut parts = Self::default();
        for program in programs {
            parts.add("", &json_of(program));
        }
        for op in ops() {
            parts.put("/units/code", &op);
        }
        parts
    }

    fn put(&mut self, kind: &str, part: &Value) {
        let known = self.0.entry(kind.to_owned()).or_default();
        if known.len() < KEPT {
            known.insert(part.to_string());
        }
    }

    fn add(&mut self, kind: &str, value: &Value) {
        match value {
            Value::Array(entries) => {
                for entry in entries {
                    self.put(kind, entry);
                    self.add(kind, entry);
                }
            }
            Value::Object(fields) => {
                for (key, field) in fields {
                    let kind = format!("{kind}/{key}");
                    self.put(&kind, field);
                    self.add(&kind, field);
                }
            }
            _ => {}
        }
    }

    fn one(&self, kind: &str, dice: &mut Dice) -> Option<Value> {
        let known = self.0.get(kind)?;
        let at = dice.below(known.len() as u64) as usize;
        serde_json::from_str(known.iter().nth(at)?).ok()
    }
}

fn json_of(program: &Program) -> Value {
    to_value(program).expect("a program has JSON")
}

/// Every op, its operands small, at the ends of small tables, and past every table.
fn ops() -> Vec<Value> {
    let mut ops: Vec<Op> = Vec::new();
    for a in [0, 1, 2, 5, u32::MAX] {
        ops.extend([
            Op::Send(a),
            Op::Expect(a),
            Op::Check(a),
            Op::Wait(a),
            Op::Ask(a),
            Op::Transfer(a),
            Op::Note(a),
            Op::Fail(a),
            Op::Do(a),
            Op::Run(a),
            Op::Together { end: a },
            Op::Branch { end: a },
            Op::OnFailure { end: a },
        ]);
        for b in [0, 1, 3, u32::MAX] {
            ops.extend([
                Op::WaitUntil { cond: a, within: b },
                Op::WaitTime { time: a, within: b },
                Op::Let { local: a, value: b },
                Op::Judge { cond: a, local: b },
                Op::Repeat { times: a, end: b },
                Op::ForEach { each: a, end: b },
                Op::Step { step: a, end: b },
                Op::If { cond: a, otherwise: b, end: b },
                Op::If { cond: a, otherwise: b, end: 9 },
            ]);
        }
    }
    ops.into_iter().map(|op| to_value(op).expect("an op has JSON")).collect()
}

/// A place in a program: keys and numbers from its root, and its kind.
type Place = (Vec<Step>, String);

#[derive(Debug, Clone)]
enum Step {
    Key(String),
    Number(usize),
}

/// Every place of a program.
fn places(value: &Value) -> Vec<Place> {
    let mut places = Vec::new();
    let mut open: Vec<(Place, &Value)> = vec![((Vec::new(), String::new()), value)];
    while let Some(((path, kind), value)) = open.pop() {
        match value {
            Value::Array(entries) => {
                for (at, entry) in entries.iter().enumerate() {
                    let path = [path.clone(), vec![Step::Number(at)]].concat();
                    open.push(((path, kind.clone()), entry));
                }
            }
            Value::Object(fields) => {
                for (key, field) in fields {
                    let path = [path.clone(), vec![Step::Key(key.clone())]].concat();
                    open.push(((path, format!("{kind}/{key}")), field));
                }
            }
            _ => {}
        }
        // A byte of a hash is as good as any other: one a hash.
        let hash = kind.ends_with("/hash") && matches!(path.last(), Some(Step::Number(1..)));
        if !path.is_empty() && !hash {
            places.push((path, kind));
        }
    }
    places
}

fn at<'a>(value: &'a mut Value, path: &[Step]) -> &'a mut Value {
    path.iter().fold(value, |value, step| match step {
        Step::Key(key) => &mut value[key.as_str()],
        Step::Number(number) => &mut value[*number],
    })
}

/// Every change of every place, `each` of them replaced by parts of other programs; what is no program any more is left
/// out. Gives how many were tried.
pub fn every(program: &Program, parts: &Parts, each: u64, dice: &mut Dice, mut tried: impl FnMut(Program)) -> u64 {
    let json = json_of(program);
    let mut count = 0;
    for (path, kind) in places(&json) {
        let mut whole = json.clone();
        let original = at(&mut whole, &path).clone();
        let mut others = changes(&original, dice);
        others.extend((0..each).filter_map(|_| parts.one(&kind, dice)));
        others.retain(|other| *other != original);
        for other in others {
            *at(&mut whole, &path) = other;
            if let Ok(changed) = from_value::<Program>(whole.clone()) {
                count += 1;
                tried(changed);
            }
        }
    }
    count
}

/// A program with a few random changes; `None` where it is no program any more.
pub fn changed(program: &Program, parts: &Parts, dice: &mut Dice) -> Option<Program> {
    let mut json = json_of(program);
    for _ in 0..=dice.below(3) {
        let places = places(&json);
        // Code is where most is to be broken.
        let code: Vec<&Place> = places.iter().filter(|(_, kind)| kind.contains("/units/")).collect();
        let (path, kind) = if dice.one_in(4) || code.is_empty() {
            dice.choose(&places)?.clone()
        } else {
            (*dice.choose(&code)?).clone()
        };
        let place = at(&mut json, &path);
        let mut others = changes(place, dice);
        others.extend(parts.one(&kind, dice));
        others.extend(parts.one(&kind, dice));
        *place = dice.choose(&others)?.clone();
    }
    from_value(json).ok()
}

/// What a value may be instead, in its own terms.
fn changes(value: &Value, dice: &mut Dice) -> Vec<Value> {
    match value {
        Value::Null => vec![json!(0), json!(""), json!([0, 0])],
        Value::Bool(truth) => vec![json!(!truth)],
        Value::Number(number) => {
            let near = number.as_i64().unwrap_or_default();
            let mut others = vec![json!(near.wrapping_add(1)), json!(near.wrapping_sub(1)), json!(0), json!(-1)];
            others.extend([json!(u32::MAX), json!(i64::MAX), json!(i64::MIN), json!(u64::MAX), json!(dice.below(20))]);
            if number.is_f64() {
                others.extend([json!(1e308), json!(-0.0), json!(5e-324)]);
            }
            others
        }
        Value::String(text) => vec![json!(""), json!(format!("{text}x")), json!("\u{0}\"é")],
        Value::Array(entries) => {
            let mut others = vec![json!([]), Value::Array([&entries[..], &entries[..]].concat())];
            for at in 0..entries.len().min(40) {
                let mut fewer = entries.clone();
                fewer.remove(at);
                others.push(Value::Array(fewer));
                let mut swapped = entries.clone();
                swapped.swap(at, dice.below(entries.len() as u64) as usize);
                others.push(Value::Array(swapped));
                let mut twice = entries.clone();
                twice.insert(at, entries[at].clone());
                others.push(Value::Array(twice));
            }
            others.push(Value::Array(entries[..entries.len() / 2].to_vec()));
            others.push(Value::Null);
            others
        }
        Value::Object(_) => vec![Value::Null],
    }
}
