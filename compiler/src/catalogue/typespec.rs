//! Types of the catalogue: the named ones under `types`, and those that parameters and arguments give themselves.

use std::{collections::BTreeMap, sync::Arc};

use stellar_grammar::{
    ast::{Expr, ExprKind, NumberValue, Range},
    parse_range,
};

use super::{BAD_VALUE, CONFLICT, MISSING_KEY, UNKNOWN_UNIT, draft::Draft};
use crate::{
    diagnostics::Diagnostic,
    expr::EMPTY_RANGE,
    suggest::did_you_mean,
    types::{
        Measure, Type, UNIT_MISMATCH, UNKNOWN_TYPE,
        interval::{Floats, Ints},
    },
    yaml::{Fields, Key, Node, Value},
};

/// The keys by which a type is told.
pub(super) const TYPE_KEYS: [&str; 6] = ["type", "int", "float", "enum", "unit", "range"];

/// The most instances that a component can have.
pub(super) const INSTANCES_MAX: i64 = 65_536;

impl<'a> Draft<'a, '_> {
    /// `types`: names with what they stand for.
    pub(super) fn types(&mut self, node: &'a Node) {
        for (key, node) in self.reader.entries(node).unwrap_or_default() {
            let Some(name) = self.identifier(key) else { continue };
            if Type::basic(&name).is_some() {
                let message = format!("`{name}` is a type of the language itself");
                self.say(&super::BAD_NAME, key.place, message);
                continue;
            }
            let known: Vec<&str> = TYPE_KEYS.into_iter().chain(["description"]).collect();
            let ty = self.reader.fields(node, key.place, &known).and_then(|fields| {
                self.description(&fields);
                self.type_of(&fields, &name, false)
            });
            self.platform.types.entry(name).or_insert(ty);
        }
    }

    /// The type that an entry gives. `dotted` names an enumeration without a name of its own; `named` says whether a
    /// type of the catalogue may be named.
    pub(super) fn type_of(&mut self, fields: &Fields<'a>, dotted: &str, named: bool) -> Option<Type> {
        let forms: Vec<(&Key, &Node)> =
            ["type", "int", "float", "enum"].into_iter().filter_map(|form| fields.entry(form)).collect();
        let [(key, node)] = forms.as_slice() else {
            match forms.as_slice() {
                [(first, _), (second, _), ..] => self.exclusive(first, second),
                _ => {
                    let diagnostic = Diagnostic::new(&MISSING_KEY, fields.place, "no type is given here")
                        .help("give one, as in `type: bool`, `int: 1..4` or `enum: {OFF: 0, ON: 1}`");
                    self.reader.report(diagnostic);
                }
            }
            return None;
        };
        match key.text.as_str() {
            "type" => self.named_type(fields, node, named),
            "int" => {
                self.without(fields, key, &["unit", "range"])?;
                let range = if node.value == Value::Null { Ints::ALL } else { self.int_range(node)? };
                Some(Type::Int(range))
            }
            "float" => {
                self.without(fields, key, &["range"])?;
                let measure = self.measure(fields)?;
                let range = if node.value == Value::Null { Floats::ALL } else { self.float_range(node, &measure)? };
                Some(Type::Float(measure, range))
            }
            _ => {
                self.without(fields, key, &["unit", "range"])?;
                let labels = self.labels(node)?;
                Some(self.enumeration(dotted, labels))
            }
        }
    }

    fn exclusive(&mut self, first: &Key, second: &Key) {
        let message = format!("`{}` and `{}` exclude each other", first.text, second.text);
        let diagnostic = Diagnostic::new(&CONFLICT, second.place, message).label(first.place, "the other one");
        self.reader.report(diagnostic);
    }

    /// Reports keys that have no meaning beside another.
    fn without(&mut self, fields: &Fields<'a>, beside: &Key, keys: &[&str]) -> Option<()> {
        let found: Vec<&Key> = keys.iter().filter_map(|key| fields.entry(key)).map(|(key, _)| key).collect();
        for key in &found {
            self.exclusive(beside, key);
        }
        found.is_empty().then_some(())
    }

    /// `type: NAME`, with `unit` and `range` where the type has them.
    fn named_type(&mut self, fields: &Fields<'a>, node: &'a Node, named: bool) -> Option<Type> {
        let name = self.reader.text(node)?;
        let base = match Type::basic(name) {
            Some(base) => base,
            None if named && self.platform.types.contains_key(name) => self.platform.types.get(name)?.clone()?,
            None => {
                let basic = Type::BASIC.iter().map(|(name, _)| *name);
                let own = self.platform.types.keys().filter(|_| named).map(|name| &**name);
                let help = did_you_mean(name, basic.chain(own));
                let message = format!("the type `{}` is not known", crate::yaml::shortened(name));
                self.reader.report(Diagnostic::new(&UNKNOWN_TYPE, node.place, message).maybe_help(help));
                return None;
            }
        };
        let unit = fields.entry("unit");
        let base = match (base, unit) {
            (Type::Float(measure, range), Some(_)) if measure.is_plain() => Type::Float(self.measure(fields)?, range),
            (base, None) => base,
            (base, Some((key, _))) => {
                let why = if matches!(base, Type::Float(..)) { "has its own unit" } else { "has no unit" };
                self.say(&CONFLICT, key.place, format!("{base} {why}"));
                return None;
            }
        };
        let Some((key, range)) = fields.entry("range") else { return Some(base) };
        match base {
            Type::Int(whole) => {
                let range = self.int_range(range)?;
                self.within(whole.covers(range), key, &Type::Int(whole))?;
                Some(Type::Int(range))
            }
            Type::Float(measure, whole) => {
                let range = self.float_range(range, &measure)?;
                self.within(whole.covers(range), key, &Type::Float(measure.clone(), whole))?;
                Some(Type::Float(measure, range))
            }
            base => {
                self.say(&CONFLICT, key.place, format!("{base} has no range"));
                None
            }
        }
    }

    fn within(&mut self, fits: bool, key: &Key, whole: &Type) -> Option<()> {
        if !fits {
            self.say(&BAD_VALUE, key.place, format!("this range goes beyond {whole}"));
        }
        fits.then_some(())
    }

    /// `unit`, or that of a plain number.
    fn measure(&mut self, fields: &Fields<'a>) -> Option<Measure> {
        let Some(node) = fields.get("unit") else { return Some(Measure::PLAIN) };
        let text = self.reader.text(node)?;
        let measure = Measure::parse(text);
        if measure.is_none() {
            let message = format!("the unit `{}` is not known", crate::yaml::shortened(text));
            let help = "units are written as in `V`, `mV`, `degC`, `%`, `deg/s`, `m/s^2`";
            self.reader.report(Diagnostic::new(&UNKNOWN_UNIT, node.place, message).help(help));
        }
        measure
    }

    /// `A..B` of integers.
    pub(super) fn int_range(&mut self, node: &Node) -> Option<Ints> {
        let range = self.range(node)?;
        let mut end = |expr: &Expr| match &expr.kind {
            ExprKind::Number(number) => match number.value {
                NumberValue::Int(value) => Some(value),
                NumberValue::Float(_) => {
                    self.say(&BAD_VALUE, node.place_of(expr.span), "a whole number is due here");
                    None
                }
            },
            ExprKind::Error => None,
            _ => {
                self.say(&BAD_VALUE, node.place_of(expr.span), "a whole number is due here");
                None
            }
        };
        let (min, max) = (end(&range.low), end(&range.high));
        let (min, max) = (min?, max?);
        self.not_empty(min <= max, node)?;
        Some(Ints { min, max })
    }

    /// `A..B` of numbers in a unit.
    fn float_range(&mut self, node: &Node, measure: &Measure) -> Option<Floats> {
        let range = self.range(node)?;
        let (min, max) = (self.end(node, &range.low, measure), self.end(node, &range.high, measure));
        let (min, max) = (min?, max?);
        self.not_empty(min <= max, node)?;
        Some(Floats { min: Some(min), max: Some(max) })
    }

    /// An end of a range: a number in the unit that is declared beside it, or a quantity.
    fn end(&mut self, node: &Node, expr: &Expr, measure: &Measure) -> Option<f64> {
        match &expr.kind {
            ExprKind::Number(number) => Some(number.as_f64()),
            ExprKind::Quantity(quantity) => {
                let value = quantity.unit.unit.convert(quantity.number.as_f64(), &measure.unit);
                if value.is_none() {
                    let due = measure.text.as_ref().map_or("a plain number".to_owned(), |unit| format!("`{unit}`"));
                    let message = format!("`{}` stands where {due} is due", quantity.unit.text);
                    self.say(&UNIT_MISMATCH, node.place_of(expr.span), message);
                }
                value
            }
            ExprKind::Error => None,
            _ => {
                self.say(&BAD_VALUE, node.place_of(expr.span), "a number is due here");
                None
            }
        }
    }

    fn range(&mut self, node: &Node) -> Option<Range> {
        let Some(text) = node.as_text() else {
            self.reader.bad(node, format!("{} stands where a range such as `0..20` is due", node.kind()));
            return None;
        };
        let (range, errors) = parse_range(text);
        let faulty = !errors.is_empty();
        self.reader.syntax(node, errors);
        range.filter(|_| !faulty)
    }

    fn not_empty(&mut self, fits: bool, node: &Node) -> Option<()> {
        if !fits {
            let diagnostic = Diagnostic::new(&EMPTY_RANGE, node.place, "nothing lies between these two")
                .help("write the lower end first");
            self.reader.report(diagnostic);
        }
        fits.then_some(())
    }

    /// `enum`: labels with their numbers, or a list of labels that count from 0.
    fn labels(&mut self, node: &'a Node) -> Option<Vec<(Arc<str>, i64)>> {
        let mut labels: Vec<(Arc<str>, i64)> = Vec::new();
        let mut numbers: BTreeMap<i64, Arc<str>> = BTreeMap::new();
        let mut right = true;
        if let Value::List(items) = &node.value {
            for (number, item) in (0..).zip(items) {
                let text = self.reader.text(item)?;
                if labels.iter().any(|(label, _)| **label == *text) {
                    self.say(&super::DUPLICATE_KEY, item.place, format!("the label `{text}` stands here twice"));
                    right = false;
                }
                labels.push((text.into(), number));
            }
        } else {
            for (key, item) in self.reader.entries(node)? {
                let Some(number) = self.reader.int(item) else {
                    right = false;
                    continue;
                };
                let label: Arc<str> = key.text.as_str().into();
                if let Some(other) = numbers.insert(number, label.clone()) {
                    let message = format!("`{label}` and `{other}` both stand for {number}");
                    self.say(&CONFLICT, item.place, message);
                    right = false;
                }
                labels.push((label, number));
            }
        }
        if labels.iter().any(|(label, _)| label.trim().is_empty() || label.chars().any(char::is_control)) {
            self.reader.bad(node, "a label is a text of one line that is not empty");
            right = false;
        }
        if labels.is_empty() && right {
            self.reader.bad(node, "an enumeration has at least one label");
            right = false;
        }
        right.then_some(labels)
    }
}
