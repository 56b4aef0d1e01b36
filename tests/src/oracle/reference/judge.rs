//! Three-valued evaluation of the model's expressions, and what is said of one that does not hold.

use std::{cell::RefCell, cmp::Ordering, rc::Rc};

use serde_json::Value as Json;

use crate::oracle::{
    model::*,
    text::{span, words},
    world::{START, Sample},
};

/// The names of a definition and the targets that it was given.
#[derive(Debug, Clone)]
pub(crate) struct Env {
    pub(crate) names: Rc<RefCell<Vec<Option<Value>>>>,
    pub(crate) targets: Rc<Vec<&'static str>>,
}

/// From when on samples count.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Since {
    /// Those behind a release.
    Release(u64),
    /// Those received at or after a time, and later in the order where there is one.
    Time(Ns, Option<u64>),
}

impl Since {
    fn counts(self, sample: &Sample) -> bool {
        match self {
            Self::Release(order) => sample.order > order,
            Self::Time(at, order) => sample.received_at >= at && order.is_none_or(|order| sample.order > order),
        }
    }
}

/// What stands behind a read.
#[derive(Debug, Clone)]
enum Found {
    NoIndex,
    Never,
    Before(Sample),
    Invalid(Sample),
    Stale(Sample, Ns),
    NoValue(Sample),
    Good(Sample),
}

impl Found {
    fn sample(&self) -> Option<&Sample> {
        match self {
            Self::NoIndex | Self::Never => None,
            Self::Before(it) | Self::Invalid(it) | Self::Stale(it, _) | Self::NoValue(it) | Self::Good(it) => Some(it),
        }
    }
}

/// A read of an evaluation.
#[derive(Debug, Clone)]
struct Seen {
    name: String,
    param: usize,
    found: Found,
}

/// Where samples are looked for: target, parameter, index.
pub(crate) type Latest<'a> = &'a dyn Fn(&str, usize, Option<i64>) -> Option<Sample>;

/// An expression with what it is evaluated in.
#[derive(Debug, Clone)]
pub(crate) struct Closed {
    pub(crate) expr: Expr,
    pub(crate) env: Env,
    /// In a condition of the catalogue: the index of the own instance, where it has one.
    pub(crate) own: Option<Option<i64>>,
}

/// One evaluation.
pub(crate) struct Evaluation<'a> {
    catalogue: &'a Catalogue,
    of: &'a Closed,
    latest: Latest<'a>,
    at: Ns,
    since: Option<Since>,
    seen: Vec<Seen>,
}

/// What came of an evaluation.
pub(crate) struct Outcome {
    pub(crate) value: Option<Value>,
    seen: Vec<Seen>,
    at: Ns,
}

impl Closed {
    pub(crate) fn evaluate(&self, catalogue: &Catalogue, latest: Latest<'_>, at: Ns, since: Option<Since>) -> Outcome {
        let mut one = Evaluation { catalogue, of: self, latest, at, since, seen: Vec::new() };
        let value = one.value(&self.expr);
        Outcome { value, seen: one.seen, at }
    }
}

impl Outcome {
    pub(crate) fn is_true(&self) -> bool {
        self.value == Some(Value::Bool(true))
    }

    /// The samples that it read, once each.
    pub(crate) fn samples(&self, into: &mut Vec<Sample>) {
        for sample in self.seen.iter().filter_map(|seen| seen.found.sample()) {
            let same = |it: &Sample| (it.target, it.param, it.index) == (sample.target, sample.param, sample.index);
            if !into.iter().any(same) {
                into.push(sample.clone());
            }
        }
    }

    /// When the latest of its samples was received.
    pub(crate) fn received(&self) -> Option<Ns> {
        self.seen.iter().filter_map(|seen| seen.found.sample()).map(|sample| sample.received_at).max()
    }

    /// In words.
    pub(crate) fn told(&self, catalogue: &Catalogue) -> String {
        let head = match &self.value {
            Some(Value::Bool(true)) => "true",
            Some(Value::Bool(false)) => "false",
            Some(_) => "known",
            None => "unknown",
        };
        let mut parts: Vec<String> = Vec::new();
        for Seen { name, param, found } in &self.seen {
            let of = &catalogue.params[*param];
            let last = |sample: &Sample| {
                let age = (self.at - sample.received_at).max(0);
                format!("{}, {} old", words(&sample.value, &of.ty), span(age))
            };
            let part = match found {
                Found::NoIndex => format!("{name} has no such index"),
                Found::Never => format!("{name} was never received"),
                Found::Before(it) => format!("{name} was not received since; before it was {}", last(it)),
                Found::Invalid(it) => format!("{name} is invalid, last {}", last(it)),
                Found::Stale(it, limit) => {
                    format!("{name} is stale, last {} (fresh up to {})", last(it), span(*limit))
                }
                Found::NoValue(it) => format!("{name} has no usable value, last {}", last(it)),
                Found::Good(it) => format!("{name} is {}", last(it)),
            };
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        if parts.is_empty() { head.to_owned() } else { format!("{head}: {}", parts.join("; ")) }
    }
}

impl Evaluation<'_> {
    fn value(&mut self, expr: &Expr) -> Option<Value> {
        let boolean = |truth: Option<bool>| truth.map(Value::Bool);
        match expr {
            Expr::Literal(value, _) => Some(value.clone()),
            Expr::Name(name) => self.of.env.names.borrow()[*name].clone(),
            Expr::Read(read) => self.read(read).1,
            Expr::Known(read) => Some(Value::Bool(matches!(self.read(read).0, Found::Good(_) | Found::NoValue(_)))),
            Expr::Not(a) => boolean(self.truth(a).map(|truth| !truth)),
            Expr::And(all) => boolean(self.joined(all, false)),
            Expr::Or(all) => boolean(self.joined(all, true)),
            Expr::Compare(cmp, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                boolean(compared(*cmp, a?, b?))
            }
            Expr::Between(x, a, b) => {
                let (x, a, b) = (self.value(x), self.value(a), self.value(b));
                let above = x.clone().zip(a).and_then(|(x, a)| compared(Cmp::Ge, x, a));
                let below = x.zip(b).and_then(|(x, b)| compared(Cmp::Le, x, b));
                boolean(both(above, below))
            }
            Expr::OneOf(x, all) => {
                let x = self.value(x);
                let mut found = Some(false);
                for one in all {
                    let one = self.value(one);
                    let same = x.clone().zip(one).and_then(|(x, one)| compared(Cmp::Is, x, one));
                    found = either(found, same);
                }
                boolean(found)
            }
            Expr::Near(x, v, tolerance) => {
                let (x, v, tolerance) = (self.value(x), self.value(v), self.value(tolerance));
                let low = v.clone().zip(tolerance.clone()).and_then(|(v, t)| calculated(Calc::Sub, v, t));
                let high = v.zip(tolerance).and_then(|(v, t)| calculated(Calc::Add, v, t));
                let above = x.clone().zip(low).and_then(|(x, low)| compared(Cmp::Ge, x, low));
                let below = x.zip(high).and_then(|(x, high)| compared(Cmp::Le, x, high));
                boolean(both(above, below))
            }
            Expr::Calc(calc, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                calculated(*calc, a?, b?)
            }
        }
    }

    fn truth(&mut self, expr: &Expr) -> Option<bool> {
        match self.value(expr) {
            Some(Value::Bool(truth)) => Some(truth),
            _ => None,
        }
    }

    /// Kleene's `or` (`deciding` true) or `and` (false) of all.
    fn joined(&mut self, all: &[Expr], deciding: bool) -> Option<bool> {
        let truths: Vec<_> = all.iter().map(|one| self.truth(one)).collect();
        if truths.contains(&Some(deciding)) {
            return Some(deciding);
        }
        if truths.contains(&None) { None } else { Some(!deciding) }
    }

    fn read(&mut self, read: &Read) -> (Found, Option<Value>) {
        let catalogue = self.catalogue;
        let param = &catalogue.params[read.param];
        let component = &catalogue.components[param.component];
        let index = match (component.index, &read.index, self.of.own) {
            (None, ..) => Some(None),
            (Some((low, high)), Some(index), _) => match self.value(index) {
                Some(Value::Int(index)) if (low..=high).contains(&index) => Some(Some(index)),
                _ => None,
            },
            (Some((low, high)), None, own) => own.flatten().filter(|own| (low..=high).contains(own)).map(Some),
        };
        let target = self.of.env.targets[read.target];
        let (found, value) = match index {
            None => (Found::NoIndex, None),
            Some(index) => match (self.latest)(target, read.param, index) {
                None => (Found::Never, None),
                Some(sample) => self.found(param, sample),
            },
        };
        let instance = match (component.index, index) {
            (None, _) => String::new(),
            (Some(_), Some(Some(index))) => format!("[{index}]"),
            (Some(_), _) => "[?]".to_owned(),
        };
        let name = format!("{target} {}{instance}.{}", component.name, param.name);
        self.seen.push(Seen { name, param: read.param, found: found.clone() });
        (found, value)
    }

    fn found(&self, param: &Param, sample: Sample) -> (Found, Option<Value>) {
        if self.since.is_some_and(|since| !since.counts(&sample)) {
            return (Found::Before(sample), None);
        }
        if !sample.valid {
            return (Found::Invalid(sample), None);
        }
        if let Some(limit) = param.freshness
            && self.at - sample.received_at > limit
        {
            return (Found::Stale(sample, limit), None);
        }
        match typed(self.catalogue, &sample.value, &param.ty) {
            None => (Found::NoValue(sample), None),
            Some(Value::Float(value)) if !value.is_finite() => (Found::NoValue(sample), None),
            value => (Found::Good(sample), value),
        }
    }
}

/// A scalar as a value of a type.
fn typed(catalogue: &Catalogue, json: &Json, ty: &Ty) -> Option<Value> {
    Some(match (ty, json) {
        (Ty::Bool, Json::Bool(value)) => Value::Bool(*value),
        (Ty::Int(_), Json::Number(number)) if number.is_i64() => Value::Int(number.as_i64()?),
        (Ty::Float(..), Json::Number(number)) => Value::Float(number.as_f64()?),
        (Ty::Float(..), Json::String(text)) if text == "NaN" => Value::Float(f64::NAN),
        (Ty::Float(..), Json::String(text)) if text == "inf" => Value::Float(f64::INFINITY),
        (Ty::Str, Json::String(text)) => Value::Str(text.clone()),
        (Ty::Duration, Json::String(text)) => Value::Duration(duration_of(text)?),
        (Ty::Time, Json::String(text)) => Value::Time(time_of(text)?),
        (Ty::Enum(which), Json::String(text)) => {
            Value::Label(*which, catalogue.enums[*which].1.iter().position(|label| label == text)?)
        }
        _ => return None,
    })
}

fn duration_of(text: &str) -> Option<Ns> {
    let (number, unit) = text.split_once(' ')?;
    let size = match unit {
        "ms" => MS,
        "s" => S,
        "min" => 60 * S,
        _ => return None,
    };
    Some(number.parse::<i64>().ok()? * size)
}

/// An instant of the day on which every run starts: the world tells no others.
fn time_of(text: &str) -> Option<Ns> {
    let clock = text.strip_prefix("2026-10-02T")?.strip_suffix("Z")?;
    let (seconds, nanos) = clock.split_once('.')?;
    let mut of_day = 0;
    for part in seconds.split(':') {
        of_day = of_day * 60 + part.parse::<i64>().ok()?;
    }
    let midnight = START - (10 * 3_600 + 15 * 60) * S;
    Some(midnight + of_day * S + nanos.parse::<i64>().ok()?)
}

fn both(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn either(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

fn order(a: Value, b: Value) -> Option<Ordering> {
    use Value as V;
    match (a, b) {
        (V::Bool(a), V::Bool(b)) => Some(a.cmp(&b)),
        (V::Str(a), V::Str(b)) => Some(a.cmp(&b)),
        (V::Label(x, a), V::Label(y, b)) if x == y => Some(a.cmp(&b)),
        (V::Int(a), V::Int(b)) | (V::Duration(a), V::Duration(b)) | (V::Time(a), V::Time(b)) => Some(a.cmp(&b)),
        (V::Float(a), V::Float(b)) => a.partial_cmp(&b),
        (V::Int(a), V::Float(b)) => (a as f64).partial_cmp(&b),
        (V::Float(a), V::Int(b)) => a.partial_cmp(&(b as f64)),
        _ => None,
    }
}

fn compared(cmp: Cmp, a: Value, b: Value) -> Option<bool> {
    let order = order(a, b)?;
    Some(match cmp {
        Cmp::Is => order.is_eq(),
        Cmp::IsNot => order.is_ne(),
        Cmp::Lt => order.is_lt(),
        Cmp::Le => order.is_le(),
        Cmp::Gt => order.is_gt(),
        Cmp::Ge => order.is_ge(),
    })
}

fn calculated(calc: Calc, a: Value, b: Value) -> Option<Value> {
    use Value as V;
    let finite = |value: f64| value.is_finite().then_some(V::Float(value));
    match (calc, a, b) {
        (Calc::Add, V::Int(a), V::Int(b)) => a.checked_add(b).map(V::Int),
        (Calc::Sub, V::Int(a), V::Int(b)) => a.checked_sub(b).map(V::Int),
        (Calc::Mul, V::Int(a), V::Int(b)) => a.checked_mul(b).map(V::Int),
        (Calc::Add, V::Float(a), V::Float(b)) => finite(a + b),
        (Calc::Sub, V::Float(a), V::Float(b)) => finite(a - b),
        (Calc::Mul, V::Float(a), V::Float(b)) => finite(a * b),
        (Calc::Div, V::Float(a), V::Float(b)) => finite(a / b),
        (Calc::Div, V::Float(a), V::Int(b)) => finite(a / b as f64),
        (Calc::Add, V::Duration(a), V::Duration(b)) => a.checked_add(b).map(V::Duration),
        (Calc::Sub, V::Duration(a), V::Duration(b)) => a.checked_sub(b).map(V::Duration),
        (Calc::Add, V::Time(a), V::Duration(b)) => a.checked_add(b).map(V::Time),
        (Calc::Sub, V::Time(a), V::Duration(b)) => a.checked_sub(b).map(V::Time),
        (Calc::Mul, V::Duration(a), V::Int(b)) => a.checked_mul(b).map(V::Duration),
        // To the nearest nanosecond, halves away from zero; what is divided by is positive here.
        (Calc::Div, V::Duration(a), V::Int(b)) if b > 0 => Some(V::Duration((a.abs() + b / 2) / b * a.signum())),
        _ => None,
    }
}
