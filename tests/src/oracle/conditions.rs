//! Random well-typed conditions and values.

use super::{
    catalogue::{BUS, COUNT, FLAG, MODE, ON, SEL, TCU},
    model::*,
    print::time_literal,
    rng::Rng,
    world::START,
};

/// What names can stand here, and how many targets.
pub(super) struct Scope<'a> {
    pub(super) catalogue: &'a Catalogue,
    pub(super) names: Vec<(usize, Ty)>,
    pub(super) targets: usize,
}

impl Scope<'_> {
    /// A name of a type.
    pub(super) fn name(&self, rng: &mut Rng, ty: &Ty) -> Option<Expr> {
        let fit: Vec<_> = self.names.iter().filter(|(_, of)| of == ty).map(|(name, _)| *name).collect();
        (!fit.is_empty()).then(|| Expr::Name(rng.pick(&fit)))
    }

    /// The index of a component that is an array.
    pub(super) fn index(&self, rng: &mut Rng, telemetry: bool) -> Expr {
        if telemetry && rng.chance(8) {
            return Expr::Read(Read { target: rng.below(self.targets), param: SEL, index: None });
        }
        match self.name(rng, &Ty::Int(Some((1, 3)))) {
            Some(name) if rng.chance(60) => name,
            _ => int(rng.between(1, 3)),
        }
    }

    pub(super) fn read(&self, rng: &mut Rng, param: usize) -> Read {
        let component = self.catalogue.params[param].component;
        let index = (component == TCU).then(|| Box::new(self.index(rng, true)));
        Read { target: rng.below(self.targets), param, index }
    }

    /// A condition; in half of the cases one that a target in good order makes true.
    pub(super) fn condition(&self, rng: &mut Rng, depth: usize) -> Expr {
        if rng.chance(55) { self.easy(rng) } else { self.any_condition(rng, depth) }
    }

    /// What is mostly true.
    fn easy(&self, rng: &mut Rng) -> Expr {
        let is = |read: Read, cmp, value, text: &str| {
            let literal = Expr::Literal(value, text.to_owned());
            Expr::Compare(cmp, Box::new(Expr::Read(read)), Box::new(literal))
        };
        match rng.below(7) {
            0 | 1 => is(self.read(rng, ON), Cmp::Is, Value::Bool(true), "true"),
            2 => is(self.read(rng, FLAG), Cmp::Is, Value::Bool(true), "true"),
            3 => is(self.read(rng, MODE), Cmp::IsNot, Value::Label(0, 2), "SAFE"),
            4 => is(self.read(rng, BUS), Cmp::Ge, Value::Float(12.0), "12 V"),
            5 => is(self.read(rng, COUNT), Cmp::Ge, Value::Int(0), "0"),
            _ => {
                let param = rng.below(self.catalogue.params.len());
                Expr::Known(self.read(rng, param))
            }
        }
    }

    fn any_condition(&self, rng: &mut Rng, depth: usize) -> Expr {
        let many = |rng: &mut Rng| {
            let count = 2 + usize::from(rng.chance(20));
            (0..count).map(|_| self.condition(rng, depth - 1)).collect()
        };
        match if depth == 0 { 99 } else { rng.below(100) } {
            0..15 => Expr::And(many(rng)),
            15..30 => Expr::Or(many(rng)),
            30..40 => Expr::Not(Box::new(self.condition(rng, depth - 1))),
            _ => self.leaf(rng),
        }
    }

    fn leaf(&self, rng: &mut Rng) -> Expr {
        if rng.chance(10)
            && let Some(about) = self.about_names(rng)
        {
            return about;
        }
        let param = rng.below(self.catalogue.params.len());
        let read = self.read(rng, param);
        if rng.chance(8) {
            return Expr::Known(read);
        }
        let ty = self.catalogue.params[param].ty.clone();
        self.test(rng, Expr::Read(read), &ty)
    }

    /// A condition over names alone.
    pub(super) fn about_names(&self, rng: &mut Rng) -> Option<Expr> {
        let some: Vec<_> = self.names.iter().filter(|(_, ty)| !matches!(ty, Ty::Float(..))).cloned().collect();
        if some.is_empty() {
            return None;
        }
        let (name, ty) = rng.pick(&some);
        Some(self.test(rng, Expr::Name(name), &ty))
    }

    /// A test of something of a type.
    fn test(&self, rng: &mut Rng, left: Expr, ty: &Ty) -> Expr {
        let left = Box::new(left);
        let equal = rng.pick(&[Cmp::Is, Cmp::Is, Cmp::IsNot]);
        match ty {
            Ty::Bool => {
                if rng.chance(15) {
                    return *left;
                }
                Expr::Compare(equal, left, Box::new(boolean(rng.chance(75))))
            }
            Ty::Enum(which) => {
                let label = |rng: &mut Rng| label(self.catalogue, *which, rng);
                if rng.chance(25) {
                    return Expr::OneOf(left, vec![label(rng), label(rng)]);
                }
                Expr::Compare(equal, left, Box::new(label(rng)))
            }
            Ty::Str => Expr::Compare(equal, left, Box::new(string(rng.pick(&["abc", "a b", "A"])))),
            _ => self.ordered(rng, left, ty),
        }
    }

    fn ordered(&self, rng: &mut Rng, left: Box<Expr>, ty: &Ty) -> Expr {
        let cmp = rng.pick(&[Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge, Cmp::Ge, Cmp::Gt]);
        let left = match rng.below(20) {
            // By a whole number that may be zero.
            0 if matches!(ty, Ty::Float(..)) && self.targets > 0 => {
                Box::new(Expr::Calc(Calc::Div, left, Box::new(Expr::Read(self.read(rng, COUNT)))))
            }
            0..4 => Box::new(calculated(rng, *left, ty)),
            _ => left,
        };
        let is_whole = !matches!(ty, Ty::Float(..));
        match rng.below(10) {
            0 | 1 => {
                let (low, high) = ordered_pair(rng, ty);
                Expr::Between(left, Box::new(low), Box::new(high))
            }
            2 if is_whole => Expr::OneOf(left, vec![literal(rng, ty), literal(rng, ty)]),
            3 => Expr::Near(left, Box::new(literal(rng, ty)), Box::new(difference(rng, ty))),
            4 if is_whole => Expr::Compare(rng.pick(&[Cmp::Is, Cmp::IsNot]), left, Box::new(literal(rng, ty))),
            5 if matches!(ty, Ty::Float(Some("V"), _)) => {
                let other = rng.pick(&[4, 5]);
                Expr::Compare(cmp, left, Box::new(Expr::Read(self.read(rng, other))))
            }
            _ => Expr::Compare(cmp, left, Box::new(literal(rng, ty))),
        }
    }

    /// A value of a type that can have any value of it.
    pub(super) fn value(&self, rng: &mut Rng, ty: &Ty, telemetry: bool) -> Expr {
        if rng.chance(40)
            && let Some(name) = self.name(rng, ty)
        {
            return name;
        }
        let fit: Vec<_> = (0..self.catalogue.params.len()).filter(|at| self.catalogue.params[*at].ty == *ty).collect();
        if telemetry && !fit.is_empty() && rng.chance(40) {
            let param = rng.pick(&fit);
            return Expr::Read(self.read(rng, param));
        }
        if telemetry && rng.chance(25) && matches!(ty, Ty::Float(_, None) | Ty::Int(None) | Ty::Duration | Ty::Time) {
            let left = literal(rng, ty);
            return calculated(rng, left, ty);
        }
        literal_of(self.catalogue, rng, ty)
    }
}

/// Something computed with a value of a type, of the same type.
fn calculated(rng: &mut Rng, left: Expr, ty: &Ty) -> Expr {
    let left = Box::new(left);
    let calc = rng.pick(&[Calc::Add, Calc::Sub, Calc::Mul, Calc::Div]);
    match (ty, calc) {
        (Ty::Float(..), Calc::Mul | Calc::Div) => Expr::Calc(calc, left, Box::new(float(rng.pick(&[2.0, 0.5]), None))),
        (Ty::Duration, Calc::Mul | Calc::Div) | (Ty::Int(_), Calc::Mul) => {
            Expr::Calc(calc, left, Box::new(int(rng.between(1, 3))))
        }
        (Ty::Int(_), _) => Expr::Calc(rng.pick(&[Calc::Add, Calc::Sub]), left, Box::new(int(rng.between(0, 3)))),
        (_, _) => Expr::Calc(rng.pick(&[Calc::Add, Calc::Sub]), left, Box::new(difference(rng, ty))),
    }
}

pub(super) fn int(value: i64) -> Expr {
    Expr::Literal(Value::Int(value), value.to_string())
}

pub(super) fn boolean(value: bool) -> Expr {
    Expr::Literal(Value::Bool(value), value.to_string())
}

pub(super) fn string(value: &str) -> Expr {
    Expr::Literal(Value::Str(value.to_owned()), format!("\"{value}\""))
}

fn float(value: f64, unit: Option<&str>) -> Expr {
    let text = format!("{value:?}");
    let text = match unit {
        None => text,
        // Another unit of the same dimension now and then, exact in both.
        Some("V") if value.rem_euclid(1.0) == 0.5 => format!("{:?} mV", value * 1000.0),
        Some("s") if value == 60.0 => "1 min".to_owned(),
        Some("s") if value == 1.5 => "1500 ms".to_owned(),
        Some(unit) => format!("{text} {unit}"),
    };
    Expr::Literal(Value::Float(value), text)
}

fn time(rng: &mut Rng) -> Ns {
    START + rng.pick(&[-60, 0, 2, 5, 10]) * S
}

fn span(ns: Ns) -> Expr {
    Expr::Literal(Value::Duration(ns), super::print::duration(ns))
}

fn label(catalogue: &Catalogue, which: usize, rng: &mut Rng) -> Expr {
    let at = rng.below(catalogue.enums[which].1.len());
    Expr::Literal(Value::Label(which, at), catalogue.enums[which].1[at].to_owned())
}

/// Numbers that telemetry has as well.
pub(super) fn floats(unit: Option<&str>) -> &'static [f64] {
    match unit {
        Some("V") => &[12.0, 27.5, 28.0],
        Some("s") => &[1.5, 60.0, 90.0],
        Some("W") => &[0.0, 12.5, 20.0],
        Some(_) => &[-5.0, 20.0, 25.5, 60.0],
        None => &[0.0, 2.5, 10.0],
    }
}

fn literal(rng: &mut Rng, ty: &Ty) -> Expr {
    match ty {
        Ty::Int(range) => {
            let (low, high) = range.unwrap_or((0, 9));
            int(rng.between(low, high))
        }
        Ty::Float(unit, _) => float(rng.pick(floats(*unit)), *unit),
        Ty::Duration => span(rng.pick(&[0, 500 * MS, S, 5 * S])),
        Ty::Time => time_literal(time(rng)),
        Ty::Bool => boolean(rng.chance(70)),
        Ty::Str => string(rng.pick(&["abc", "a b", "A"])),
        Ty::Enum(_) => unreachable!("labels need the catalogue"),
    }
}

pub(super) fn literal_of(catalogue: &Catalogue, rng: &mut Rng, ty: &Ty) -> Expr {
    match ty {
        Ty::Enum(which) => label(catalogue, *which, rng),
        _ => literal(rng, ty),
    }
}

fn ordered_pair(rng: &mut Rng, ty: &Ty) -> (Expr, Expr) {
    let (a, b) = (literal(rng, ty), literal(rng, ty));
    let key = |expr: &Expr| match expr {
        Expr::Literal(Value::Int(value) | Value::Duration(value) | Value::Time(value), _) => *value as f64,
        Expr::Literal(Value::Float(value), _) => *value,
        _ => 0.0,
    };
    if key(&a) <= key(&b) { (a, b) } else { (b, a) }
}

/// A difference of two values of a type, not negative.
fn difference(rng: &mut Rng, ty: &Ty) -> Expr {
    match ty {
        Ty::Int(_) => int(rng.between(0, 2)),
        Ty::Float(Some("degC"), _) => Expr::Literal(Value::Float(5.5), "5.5 K".to_owned()),
        Ty::Float(unit, _) => float(rng.pick(&[0.5, 1.0]), *unit),
        _ => span(rng.pick(&[S, 3 * S])),
    }
}
