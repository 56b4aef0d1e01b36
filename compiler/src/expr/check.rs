//! The check of an expression: which kind of node it is, and what its operands have to be.

use stellar_grammar::ast::{Expr, ExprKind, Number, NumberValue, Time};
use stellar_vm::time::Instant;

use super::{CONSTANT_CONDITION, Constant, Context, Scope, TIME_OUT_OF_RANGE, Typed, fold, typed::Node};
use crate::{
    diagnostics::Diagnostic,
    types::{MISMATCH, Measure, Type, interval::Floats},
};

/// An expression of whatever type it has.
pub fn value(expr: &Expr, scope: &dyn Scope, out: &mut Vec<Diagnostic>) -> Option<Typed> {
    Context { scope, out }.check(expr, None)
}

/// An expression where a value of the type `want` is due: of that type, in its unit and in its range.
pub fn value_of(expr: &Expr, want: &Type, scope: &dyn Scope, out: &mut Vec<Diagnostic>) -> Option<Typed> {
    coerced(&mut Context { scope, out }, expr, want)
}

/// An expression where a condition is due. One that is constant is warned of.
pub fn condition(expr: &Expr, scope: &dyn Scope, out: &mut Vec<Diagnostic>) -> Option<Typed> {
    let mut context = Context { scope, out };
    let typed = context.condition(expr)?;
    if let Some(constant) = typed.constant() {
        context.warn_constant(constant.clone(), &typed);
    }
    Some(typed)
}

pub(super) fn coerced(context: &mut Context<'_>, expr: &Expr, want: &Type) -> Option<Typed> {
    let typed = context.check(expr, Some(want))?;
    context.coerce(typed, want)
}

impl Context<'_> {
    /// An expression, with the type that is due as a hint: it tells what a label is.
    pub(super) fn check(&mut self, expr: &Expr, want: Option<&Type>) -> Option<Typed> {
        let span = expr.span;
        Some(match &expr.kind {
            ExprKind::Error => return None,
            ExprKind::Bool(value) => Typed::constant_of(Constant::Bool(*value), span),
            ExprKind::Number(number) => Typed::constant_of(plain(number), span),
            ExprKind::Quantity(quantity) => {
                let measure = Measure {
                    text: Some(quantity.unit.text.as_str().into()),
                    unit: quantity.unit.unit,
                    difference: false,
                };
                let value = quantity.number.as_f64();
                Typed::new(Node::Constant(Constant::Float(value)), Type::Float(measure, Floats::one(value)), span)
            }
            ExprKind::Duration(duration) => Typed::constant_of(Constant::Duration(duration.nanos), span),
            ExprKind::Time(time) => match nanoseconds(time) {
                Some(ns) => Typed::constant_of(Constant::Time(ns), span),
                None => {
                    let message = format!("`{}` cannot be counted in nanoseconds", time.text);
                    let help = "write a time from 1678 to 2261";
                    let diagnostic = self.at(&TIME_OUT_OF_RANGE, span, message).help(help);
                    self.report(diagnostic);
                    return None;
                }
            },
            ExprKind::Text(text) => Typed::constant_of(Constant::Str(text.value.as_str().into()), span),
            ExprKind::Path(path) => return self.path(path, want),
            ExprKind::Sum(chain) => return self.sum(chain, span),
            ExprKind::Product(chain) => return self.product(chain, span),
            ExprKind::Compare(comparison) => return self.compare(comparison, span),
            ExprKind::Not(inner) => fold::not(self.condition(inner)?, span),
            ExprKind::And(operands) => {
                let operands = self.conditions(operands)?;
                let folded = fold::all(operands, span);
                self.warn_operands(&folded);
                folded
            }
            ExprKind::Or(operands) => {
                let operands = self.conditions(operands)?;
                let folded = fold::any(operands, span);
                self.warn_operands(&folded);
                folded
            }
        })
    }

    /// An expression where a condition is due.
    fn condition(&mut self, expr: &Expr) -> Option<Typed> {
        let typed = self.check(expr, Some(&Type::Bool))?;
        if typed.ty == Type::Bool {
            return Some(typed);
        }
        let message = format!("a condition is due here, and this is {}", typed.ty);
        let help = "compare it with something, as in `X is V` or `X > V`";
        let diagnostic = self.at(&MISMATCH, typed.span, message).help(help);
        self.report(diagnostic);
        None
    }

    /// Several conditions: all are checked, even behind one with an error.
    fn conditions(&mut self, operands: &[Expr]) -> Option<Vec<Typed>> {
        let checked: Vec<Option<Typed>> = operands.iter().map(|operand| self.condition(operand)).collect();
        checked.into_iter().collect()
    }

    /// Warns of operands that are constant where the whole is not.
    fn warn_operands(&mut self, typed: &Typed) {
        if let Node::All(operands) | Node::Any(operands) = &typed.node {
            for operand in operands {
                if let Some(constant) = operand.constant() {
                    self.warn_constant(constant.clone(), operand);
                }
            }
        }
    }

    fn warn_constant(&mut self, constant: Constant, typed: &Typed) {
        let when = if constant == Constant::Bool(true) { "always" } else { "never" };
        self.say(&CONSTANT_CONDITION, typed.span, format!("this condition is {when} true: it depends on nothing"));
    }
}

fn plain(number: &Number) -> Constant {
    match number.value {
        NumberValue::Int(value) => Constant::Int(value),
        NumberValue::Float(value) => Constant::Float(value),
    }
}

/// Nanoseconds of UTC since 1970. A leap second is the one behind it, as POSIX counts.
fn nanoseconds(time: &Time) -> Option<i64> {
    let Time { year, month, day, hour, minute, second, nanosecond, offset_minutes, .. } = time;
    let leap = *second == 60;
    let second = (*second).min(59);
    let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanosecond:09}Z");
    let instant: Instant = text.parse().ok()?;
    let offset = i64::from(*offset_minutes).checked_mul(60_000_000_000)?;
    instant.ns.checked_sub(offset)?.checked_add(if leap { 1_000_000_000 } else { 0 })
}
