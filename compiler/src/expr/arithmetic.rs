//! Sums and products: which types go together, and what comes out.

use stellar_grammar::{
    Span,
    ast::{Chain, Expr, ProductOp, SumOp},
};

use super::{
    BAD_OPERAND, Context, OVERFLOW, Typed, fold,
    typed::{Arithmetic, Conversion, Link, Node},
};
use crate::types::{
    Measure, Type, UNIT_MISMATCH,
    interval::{Floats, Ints},
};

/// The chain so far.
struct Sofar {
    first: Typed,
    links: Vec<Link>,
    ty: Type,
    /// What becomes of it before the next operand.
    before: Vec<Conversion>,
    span: Span,
}

impl Sofar {
    fn new(first: Typed) -> Self {
        Self { ty: first.ty.clone(), span: first.span, first, links: Vec::new(), before: Vec::new() }
    }

    /// Changes the value so far by a conversion of a single value.
    fn convert(&mut self, by: impl FnOnce(Typed) -> Typed) {
        if self.links.is_empty() {
            let first = std::mem::replace(&mut self.first, Typed::constant_of(super::Constant::Bool(false), self.span));
            self.first = by(first);
            self.ty = self.first.ty.clone();
            return;
        }
        // What a conversion does is told by what it makes of a value of the type.
        let mut converted = by(Typed::new(Node::Local(0), self.ty.clone(), self.span));
        self.ty = converted.ty.clone();
        let mut conversions = Vec::new();
        while let Node::Convert(inner, conversion) = converted.node {
            conversions.push(conversion);
            converted = *inner;
        }
        self.before.extend(conversions.into_iter().rev());
    }

    fn finish(mut self, span: Span) -> Typed {
        if self.links.is_empty() {
            self.first.span = span;
            return self.first;
        }
        Typed::new(Node::Chain(Box::new(self.first), self.links), self.ty, span)
    }
}

impl Context<'_> {
    /// `a + b - c`.
    pub(super) fn sum(&mut self, chain: &Chain<SumOp>, span: Span) -> Option<Typed> {
        let op = |op: &SumOp| if *op == SumOp::Plus { Arithmetic::Add } else { Arithmetic::Sub };
        self.chain(chain, op, span)
    }

    /// `a * b / c`.
    pub(super) fn product(&mut self, chain: &Chain<ProductOp>, span: Span) -> Option<Typed> {
        let op = |op: &ProductOp| if *op == ProductOp::Times { Arithmetic::Mul } else { Arithmetic::Div };
        self.chain(chain, op, span)
    }

    fn chain<Op>(&mut self, chain: &Chain<Op>, op_of: impl Fn(&Op) -> Arithmetic, span: Span) -> Option<Typed> {
        let mut sofar = self.operand(&chain.first).map(Sofar::new);
        for (op, at, right) in &chain.rest {
            // All operands are checked, even behind one with an error.
            let right = self.operand(right);
            sofar = match (sofar, right) {
                (Some(sofar), Some(right)) => self.link(sofar, op_of(op), *at, right),
                _ => None,
            };
        }
        Some(sofar?.finish(span))
    }

    fn operand(&mut self, expr: &Expr) -> Option<Typed> {
        let typed = self.check(expr, None)?;
        if matches!(typed.ty, Type::Int(_) | Type::Float(..) | Type::Duration | Type::Time) {
            return Some(typed);
        }
        self.say(&BAD_OPERAND, typed.span, format!("there is no arithmetic on {}", typed.ty));
        None
    }

    fn link(&mut self, mut sofar: Sofar, op: Arithmetic, at: Span, right: Typed) -> Option<Sofar> {
        let right = match op {
            Arithmetic::Add | Arithmetic::Sub => self.like_terms(&mut sofar, op, at, right)?,
            Arithmetic::Mul => self.factors(&mut sofar, at, right)?,
            Arithmetic::Div => self.quotient(&mut sofar, at, right)?,
        };
        let ty = result(op, &sofar.ty, &right.ty);
        let span = sofar.span.to(right.span);
        if sofar.links.is_empty()
            && let (Some(a), Some(b)) = (sofar.first.constant(), right.constant())
        {
            let Some(constant) = fold::arithmetic(op, a, b) else { return self.overflow(span) };
            let own = constant.ty();
            let ty = match (ty, own) {
                (Type::Float(measure, _), Type::Float(_, range)) => Type::Float(measure, range),
                (_, own) => own,
            };
            return Some(Sofar::new(Typed::new(Node::Constant(constant), ty, span)));
        }
        // Whatever is divided by a zero that is known.
        if op == Arithmetic::Div && right.constant().is_some_and(|zero| fold::arithmetic(op, zero, zero).is_none()) {
            return self.overflow(right.span);
        }
        let before = std::mem::take(&mut sofar.before);
        sofar.links.push(Link { before, op, right });
        sofar.ty = ty;
        sofar.span = span;
        Some(sofar)
    }

    fn overflow(&mut self, span: Span) -> Option<Sofar> {
        self.say(&OVERFLOW, span, "this has no value: it overflows or divides by zero");
        None
    }

    /// Both terms of a sum as one type, or a time and a duration.
    fn like_terms(&mut self, sofar: &mut Sofar, op: Arithmetic, at: Span, right: Typed) -> Option<Typed> {
        match (sofar.ty.clone(), &right.ty) {
            (Type::Int(_), Type::Int(_)) | (Type::Duration, Type::Duration) | (Type::Time, Type::Duration) => {
                Some(right)
            }
            (Type::Time, Type::Time) if op == Arithmetic::Sub => Some(right),
            (Type::Duration, Type::Time) if op == Arithmetic::Add => Some(right),
            (Type::Duration, Type::Float(measure, _)) if measure.is_time() => {
                let measure = measure.clone();
                sofar.convert(|value| value.measured(&measure));
                Some(right)
            }
            (Type::Float(measure, _), Type::Duration) if measure.is_time() => Some(right.measured(&measure)),
            (Type::Int(_) | Type::Float(..), Type::Int(_) | Type::Float(..)) => {
                sofar.convert(Typed::widen);
                self.like_quantities(sofar, op, at, right.widen())
            }
            (Type::Duration, Type::Int(_) | Type::Float(..)) => {
                self.mismatch(&right, &Type::Duration);
                None
            }
            (Type::Int(_) | Type::Float(..), Type::Duration) if sofar.links.is_empty() && sofar.first.is_bare() => {
                // What stands bare before a duration is what is wrong, not the duration.
                let first = sofar.first.clone();
                self.mismatch(&first, &Type::Duration);
                None
            }
            (Type::Int(_) | Type::Float(..), Type::Duration) => {
                let want = sofar.ty.clone();
                self.mismatch(&right, &want);
                None
            }
            (left, right) => {
                let sign = if op == Arithmetic::Add { "added" } else { "subtracted" };
                let message = format!("{left} and {right} are not {sign}");
                self.say(&BAD_OPERAND, at, message);
                None
            }
        }
    }

    /// The right term in the unit of the left one: by the factor alone, since what is added is a difference.
    fn like_quantities(&mut self, sofar: &mut Sofar, op: Arithmetic, at: Span, right: Typed) -> Option<Typed> {
        let (Type::Float(left, _), Type::Float(other, _)) = (sofar.ty.clone(), right.ty.clone()) else {
            return Some(right);
        };
        // A bare number before a quantity is what is wrong, not the quantity behind it.
        if sofar.links.is_empty() && sofar.first.is_bare() && !other.is_plain() {
            let first = sofar.first.clone();
            self.in_measure(first, &other)?;
        }
        let zeros_differ = left.unit.offset.total_cmp(&other.unit.offset).is_ne();
        let is_point = other.unit.offset != 0.0 && !other.difference;
        if op == Arithmetic::Sub && zeros_differ && is_point && left.is_like(&other) {
            let (left, other) = (left.text.unwrap_or_default(), other.text.unwrap_or_default());
            let message = format!("`{left}` and `{other}` count from different zeros");
            let diagnostic = self.at(&UNIT_MISMATCH, at, message).help("write both in one unit");
            self.report(diagnostic);
            return None;
        }
        if op == Arithmetic::Sub && is_point {
            let difference = Measure { difference: true, ..left.clone() };
            if let Type::Float(measure, _) = &mut sofar.ty {
                *measure = difference.clone();
            }
            return self.in_measure(right, &difference);
        }
        let target = Measure { difference: true, ..left.clone() };
        let right = self.in_measure(right, &target)?;
        let Type::Float(_, range) = right.ty else { return Some(right) };
        Some(Typed { ty: Type::Float(left, range), ..right })
    }

    /// Two factors, of which at least one is a plain number.
    fn factors(&mut self, sofar: &mut Sofar, at: Span, right: Typed) -> Option<Typed> {
        match (sofar.ty.clone(), &right.ty) {
            (Type::Int(_), Type::Int(_)) => Some(right),
            (Type::Duration, Type::Int(_)) | (Type::Int(_), Type::Duration) => Some(right),
            (Type::Duration, Type::Float(measure, _)) if measure.unit.dimension == Measure::PLAIN.unit.dimension => {
                Some(right.scale(&Measure::PLAIN))
            }
            (Type::Float(measure, _), Type::Duration) if measure.unit.dimension == Measure::PLAIN.unit.dimension => {
                sofar.convert(|value| value.scale(&Measure::PLAIN));
                Some(right)
            }
            (Type::Int(_) | Type::Float(..), Type::Int(_) | Type::Float(..)) => {
                sofar.convert(Typed::widen);
                let right = right.widen();
                let (Type::Float(left, _), Type::Float(other, _)) = (sofar.ty.clone(), &right.ty) else {
                    return Some(right);
                };
                if left.is_plain() || other.is_plain() {
                    Some(right)
                } else if other.is_like(&Measure::PLAIN) {
                    Some(right.scale(&Measure::PLAIN))
                } else if left.is_like(&Measure::PLAIN) {
                    sofar.convert(|value| value.scale(&Measure::PLAIN));
                    Some(right)
                } else {
                    self.no_product(sofar, at, &right)
                }
            }
            _ => self.no_product(sofar, at, &right),
        }
    }

    fn no_product(&mut self, sofar: &Sofar, at: Span, right: &Typed) -> Option<Typed> {
        let message = format!("{} and {} are not multiplied: one of them has to be a plain number", sofar.ty, right.ty);
        self.say(&BAD_OPERAND, at, message);
        None
    }

    /// Dividend and divisor: a plain number, or a quantity of the same dimension.
    fn quotient(&mut self, sofar: &mut Sofar, at: Span, right: Typed) -> Option<Typed> {
        match (sofar.ty.clone(), &right.ty) {
            (Type::Duration, Type::Int(_) | Type::Duration) => Some(right),
            (Type::Duration, Type::Float(measure, _)) if measure.is_like(&Measure::PLAIN) => {
                Some(right.scale(&Measure::PLAIN))
            }
            (Type::Duration, Type::Float(measure, _)) if measure.is_time() => {
                let measure = measure.clone();
                sofar.convert(|value| value.measured(&measure));
                Some(right)
            }
            (Type::Float(measure, _), Type::Duration) if measure.is_time() => Some(right.measured(&measure)),
            (Type::Int(_) | Type::Float(..), Type::Int(_) | Type::Float(..)) => {
                sofar.convert(Typed::widen);
                let right = right.widen();
                let (Type::Float(left, _), Type::Float(other, _)) = (sofar.ty.clone(), &right.ty) else {
                    return Some(right);
                };
                if other.is_plain() {
                    Some(right)
                } else if other.is_like(&left) {
                    Some(right.scale(&Measure { difference: true, ..left }))
                } else if other.is_like(&Measure::PLAIN) {
                    Some(right.scale(&Measure::PLAIN))
                } else {
                    self.no_quotient(sofar, at, &right)
                }
            }
            _ => self.no_quotient(sofar, at, &right),
        }
    }

    fn no_quotient(&mut self, sofar: &Sofar, at: Span, right: &Typed) -> Option<Typed> {
        let message = format!(
            "{} is not divided by {}: divide by a plain number or by a quantity of the same dimension",
            sofar.ty, right.ty
        );
        self.say(&BAD_OPERAND, at, message);
        None
    }
}

/// The type of the result, operands brought together.
fn result(op: Arithmetic, left: &Type, right: &Type) -> Type {
    match (op, left, right) {
        (_, Type::Int(a), Type::Int(b)) => Type::Int(ints(op, *a, *b)),
        (Arithmetic::Sub, Type::Time, Type::Time) => Type::Duration,
        (_, Type::Time, _) | (_, _, Type::Time) => Type::Time,
        (Arithmetic::Div, Type::Duration, Type::Duration) => Type::FLOAT,
        (_, Type::Duration, _) | (_, _, Type::Duration) => Type::Duration,
        (Arithmetic::Div, Type::Float(a, range), Type::Float(b, other)) => {
            let measure = if b.is_plain() { a.clone() } else { Measure::PLAIN };
            Type::Float(measure, floats(op, *range, *other))
        }
        (Arithmetic::Mul, Type::Float(a, range), Type::Float(b, other)) => {
            let measure = if a.is_plain() { b.clone() } else { a.clone() };
            Type::Float(measure, floats(op, *range, *other))
        }
        (_, Type::Float(a, range), Type::Float(_, other)) => Type::Float(a.clone(), floats(op, *range, *other)),
        (_, left, _) => left.clone(),
    }
}

fn ints(op: Arithmetic, a: Ints, b: Ints) -> Ints {
    match op {
        Arithmetic::Add => a.combine(b, i64::checked_add),
        Arithmetic::Sub => a.combine(b, i64::checked_sub),
        Arithmetic::Mul => a.combine(b, i64::checked_mul),
        Arithmetic::Div => Ints::ALL,
    }
}

fn floats(op: Arithmetic, a: Floats, b: Floats) -> Floats {
    match op {
        Arithmetic::Add => a.combine(b, |a, b| a + b),
        Arithmetic::Sub => a.combine(b, |a, b| a - b),
        Arithmetic::Mul => a.combine(b, |a, b| a * b),
        Arithmetic::Div if b.contains(0.0) => Floats::ALL,
        Arithmetic::Div => a.combine(b, |a, b| a / b),
    }
}
