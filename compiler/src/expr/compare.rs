//! Comparisons: both sides become one type, or it is said why not.

use stellar_grammar::{
    Span,
    ast::{Comparison, Expr, OrderOp, Test},
};
use stellar_vm::condition::ExprOp;

use super::{
    Constant, Context, EMPTY_RANGE, FLOAT_EQUALITY, NOT_ORDERED, NOT_TELEMETRY, Root, Typed, fold, lone_name,
    typed::Node,
};
use crate::types::{Measure, OUT_OF_RANGE, Type, interval::Floats};

impl Context<'_> {
    /// `LEFT TEST`.
    pub(super) fn compare(&mut self, comparison: &Comparison, span: Span) -> Option<Typed> {
        let left = &comparison.left;
        let operator = comparison.operator;
        match &comparison.test {
            Test::Known { negated } => self.known(left, *negated, span),
            Test::Is { negated, value, tolerance: None } => {
                let (left, right) = self.pair(left, value)?;
                self.warn_float_equality(&left, operator);
                let op = if *negated { ExprOp::IsNot } else { ExprOp::Is };
                Some(fold::test(op, vec![left, right], span))
            }
            Test::Is { negated, value, tolerance: Some(tolerance) } => {
                let near = self.near(left, value, tolerance, span);
                if *negated { near.map(|near| fold::not(near, span)) } else { near }
            }
            Test::Order { op, value } => {
                let (left, right) = self.pair(left, value)?;
                self.ordered(&left, operator)?;
                let op = match op {
                    OrderOp::Less => ExprOp::Lt,
                    OrderOp::LessOrEqual => ExprOp::Le,
                    OrderOp::Greater => ExprOp::Gt,
                    OrderOp::GreaterOrEqual => ExprOp::Ge,
                };
                Some(fold::test(op, vec![left, right], span))
            }
            Test::Between { low, high } => {
                let operands = self.brought(left, &[low, high])?;
                self.ordered(operands.first()?, operator)?;
                if let [_, low, high] = operands.as_slice() {
                    self.not_empty(low, high)?;
                }
                Some(fold::test(ExprOp::Between, operands, span))
            }
            Test::In { items, list } => {
                if items.is_empty() {
                    self.say(&EMPTY_RANGE, *list, "nothing is in an empty list");
                    return None;
                }
                let others: Vec<&Expr> = items.iter().collect();
                let operands = self.brought(left, &others)?;
                self.warn_float_equality(operands.first()?, operator);
                let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
                Some(fold::test(ExprOp::OneOf(count), operands, span))
            }
        }
    }

    fn known(&mut self, left: &Expr, negated: bool, span: Span) -> Option<Typed> {
        let typed = self.check(left, None)?;
        let Node::Read(read) = typed.node else {
            let message = "`is known` asks for a sample, and this is no telemetry";
            self.say(&NOT_TELEMETRY, typed.span, message);
            return None;
        };
        let known = Typed::new(Node::Known(read), Type::Bool, span);
        Some(if negated { fold::not(known, span) } else { known })
    }

    /// Both sides of a comparison, as one type. Where one of them is constant, that one is converted.
    fn pair(&mut self, left: &Expr, right: &Expr) -> Option<(Typed, Typed)> {
        // A label says nothing by itself: the other side tells of which enumeration it is.
        let (left, right) = if self.may_be_label(left) && !self.may_be_label(right) {
            let right = self.check(right, None);
            let left = self.beside(left, right.as_ref());
            (left?, right?)
        } else {
            let left = self.check(left, None);
            let right = self.beside(right, left.as_ref());
            (left?, right?)
        };
        if left.constant().is_some() && right.constant().is_none() {
            let (right, left) = self.unify(right, left)?;
            return Some((left, right));
        }
        self.unify(left, right)
    }

    /// Whether it is a name alone that is nothing by itself, and so perhaps a label.
    fn may_be_label(&self, expr: &Expr) -> bool {
        lone_name(expr).is_some_and(|name| self.scope.root(&name.text, true) == Root::Unknown)
    }

    /// An expression beside another one. Where that one has an error, nothing tells whether a name here is a label.
    fn beside(&mut self, expr: &Expr, other: Option<&Typed>) -> Option<Typed> {
        if other.is_none() && self.may_be_label(expr) {
            return None;
        }
        self.check(expr, other.map(|other| &other.ty))
    }

    /// A value and several that it is compared with, all of the type that the value then has.
    fn brought(&mut self, left: &Expr, others: &[&Expr]) -> Option<Vec<Typed>> {
        let left = self.check(left, None);
        let others: Vec<Option<Typed>> = others.iter().map(|other| self.beside(other, left.as_ref())).collect();
        let mut left = left?;
        let others: Option<Vec<Typed>> = others.into_iter().collect();
        let others = others?;
        // The widest of them decides, so that the value itself is converted once, before all.
        if let Some(wide) = others.iter().find(|other| matches!(other.ty, Type::Float(..))) {
            match (&left.ty, &wide.ty) {
                (Type::Int(_), _) => left = left.widen(),
                (Type::Duration, Type::Float(measure, _)) if measure.is_time() => left = left.measured(measure),
                _ => {}
            }
        }
        let brought: Vec<Option<Typed>> = others.into_iter().map(|other| self.like(&left, other)).collect();
        let brought: Option<Vec<Typed>> = brought.into_iter().collect();
        let mut operands = vec![left];
        operands.extend(brought?);
        Some(operands)
    }

    /// `left` and `right` as one type; what has to give way is `right`, unless only `left` can.
    fn unify(&mut self, left: Typed, right: Typed) -> Option<(Typed, Typed)> {
        let left = match (&left.ty, &right.ty) {
            (Type::Int(_), Type::Float(..)) => left.widen(),
            (Type::Duration, Type::Float(measure, _)) if measure.is_time() => left.measured(measure),
            _ => left,
        };
        // What stands bare on the left of a quantity is what is wrong, not the quantity.
        if let (true, Type::Float(measure, _)) = (left.is_bare(), &right.ty) {
            let left = self.in_measure(left.widen(), measure)?;
            return Some((left, right));
        }
        let right = self.like(&left, right)?;
        Some((left, right))
    }

    /// `right` as a value that can be compared with `left`.
    fn like(&mut self, left: &Typed, right: Typed) -> Option<Typed> {
        match (&left.ty, &right.ty) {
            (Type::Int(_), Type::Int(_)) => Some(right),
            (Type::Float(measure, _), Type::Int(_) | Type::Float(..)) => self.in_measure(right.widen(), measure),
            (Type::Float(measure, _), Type::Duration) if measure.is_time() => Some(right.measured(measure)),
            (want, _) => {
                let want = want.clone();
                self.coerce(right, &want)
            }
        }
    }

    /// `X is V +- TOL`.
    fn near(&mut self, left: &Expr, value: &Expr, tolerance: &Expr, span: Span) -> Option<Typed> {
        let pair = self.pair(left, value);
        let tolerance = self.check(tolerance, None);
        let ((left, right), tolerance) = (pair?, tolerance?);
        let (left, right, tolerance) = match (&left.ty, &tolerance.ty) {
            (Type::Int(_), Type::Int(_)) | (Type::Duration | Type::Time, Type::Duration) => (left, right, tolerance),
            (Type::Int(_), Type::Float(measure, _)) if measure.is_plain() => (left.widen(), right.widen(), tolerance),
            (Type::Float(measure, _), _) => {
                let difference = Measure { difference: true, ..measure.clone() };
                let tolerance = match &tolerance.ty {
                    Type::Int(_) | Type::Float(..) => self.in_measure(tolerance.widen(), &difference)?,
                    Type::Duration if measure.is_time() => tolerance.measured(&difference),
                    _ => {
                        self.mismatch(&tolerance, &Type::Float(difference, Floats::ALL));
                        return None;
                    }
                };
                (left, right, tolerance)
            }
            (Type::Int(_) | Type::Duration | Type::Time, _) => {
                let due = if matches!(left.ty, Type::Int(_)) { Type::INT } else { Type::Duration };
                self.mismatch(&tolerance, &due);
                return None;
            }
            _ => {
                self.say(&NOT_ORDERED, left.span, format!("{} has no tolerance: its values have no order", left.ty));
                return None;
            }
        };
        if is_negative(&tolerance) {
            self.say(&OUT_OF_RANGE, tolerance.span, "a tolerance is not negative");
            return None;
        }
        Some(fold::test(ExprOp::Near, vec![left, right, tolerance], span))
    }

    fn ordered(&mut self, typed: &Typed, operator: Span) -> Option<()> {
        if typed.ty.is_ordered() {
            return Some(());
        }
        let message = format!("values of {} have no order", typed.ty);
        let help = "compare them by `is`, `is not` or `in [..]`";
        let diagnostic = self.at(&NOT_ORDERED, operator, message).help(help);
        self.report(diagnostic);
        None
    }

    fn warn_float_equality(&mut self, typed: &Typed, operator: Span) {
        let Type::Float(measure, _) = &typed.ty else { return };
        let unit = measure.text.as_ref().map(|unit| format!(" {unit}")).unwrap_or_default();
        let help = format!("give a tolerance, as in `X is V +- 0.1{unit}`, or compare by `<` or `>`");
        let message = "floats are seldom equal to the last bit";
        let diagnostic = self.at(&FLOAT_EQUALITY, operator, message).help(help);
        self.report(diagnostic);
    }

    fn not_empty(&mut self, low: &Typed, high: &Typed) -> Option<()> {
        let empty = match (low.constant(), high.constant()) {
            (Some(low), Some(high)) => fold::is_greater(low, high),
            _ => false,
        };
        if !empty {
            return Some(());
        }
        let span = low.span.to(high.span);
        let diagnostic =
            self.at(&EMPTY_RANGE, span, "nothing lies between these two").help("write the lower end first");
        self.report(diagnostic);
        None
    }
}

fn is_negative(typed: &Typed) -> bool {
    match typed.constant() {
        Some(Constant::Int(value) | Constant::Duration(value)) => *value < 0,
        Some(Constant::Float(value)) => *value < 0.0,
        _ => false,
    }
}
