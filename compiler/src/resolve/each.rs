//! `for each`: the values, and the type of the name that takes them.

use std::collections::BTreeMap;

use stellar_grammar::{Span, ast};

use super::{AMBIGUOUS_LABEL, NOT_CONSTANT, body::Body};
use crate::{
    diagnostics::Diagnostic,
    expr::{Constant, EMPTY_RANGE, Typed},
    tree::{ForEach, GivenBy, Sequence, StmtKind},
    types::{
        Enumeration, Type,
        interval::{Floats, Ints},
    },
};

impl Body<'_> {
    pub(super) fn for_each(&mut self, it: &ast::ForEach, in_step: bool) -> StmtKind {
        let (over, ty) = match self.domain(&it.domain) {
            Some((over, ty)) => (Some(over), Some(ty)),
            None => (None, None),
        };
        self.names.open();
        let local = self.give(&it.name, ty, GivenBy::ForEach);
        let body = self.body_of_loop(&it.body, in_step);
        self.names.close();
        StmtKind::ForEach(ForEach { local, over, body })
    }

    fn domain(&mut self, domain: &ast::Domain) -> Option<(Sequence, Type)> {
        match domain {
            ast::Domain::Error(_) => None,
            ast::Domain::Range(range) => {
                let (low, high) = (self.end(&range.low), self.end(&range.high));
                let (low, high) = low.zip(high)?;
                if low > high {
                    self.empty(range.span, "the range ends before it begins");
                    return None;
                }
                Some((Sequence::Range(low, high), Type::Int(Ints { min: low, max: high })))
            }
            ast::Domain::List { items, span } => {
                if items.is_empty() {
                    self.empty(*span, "the list holds nothing");
                    return None;
                }
                self.list(items, *span)
            }
        }
    }

    fn empty(&mut self, span: Span, message: &str) {
        let diagnostic = Diagnostic::new(&EMPTY_RANGE, self.place(span), message);
        self.report(diagnostic);
    }

    /// An end of a range: an integer that is known while compiling.
    fn end(&mut self, expr: &ast::Expr) -> Option<i64> {
        let typed = self.value_of(expr, &Type::INT)?;
        match self.constant(&typed)? {
            Constant::Int(value) => Some(value),
            _ => None,
        }
    }

    fn constant(&mut self, typed: &Typed) -> Option<Constant> {
        let constant = typed.constant().cloned();
        if constant.is_none() {
            let message = "the values of a `for each` are constants, and this depends on something";
            self.report(Diagnostic::new(&NOT_CONSTANT, self.place(typed.span), message));
        }
        constant
    }

    /// A list: the first value tells the type of all, or the labels together do.
    fn list(&mut self, items: &[ast::Expr], span: Span) -> Option<(Sequence, Type)> {
        let want = match self.labels(items, span)? {
            Some(which) => Some(Type::Enum(which)),
            None if items.iter().any(is_float) && items.iter().all(is_number) => Some(Type::FLOAT),
            None => None,
        };
        let mut constants = Vec::new();
        let mut ty: Option<Type> = None;
        let mut faulty = false;
        for item in items {
            let asked = want.clone().or_else(|| ty.clone().map(general));
            let typed = match &asked {
                Some(asked) => self.value_of(item, asked),
                None => self.value(item),
            };
            let Some(typed) = typed else {
                faulty = true;
                continue;
            };
            let Some(constant) = self.constant(&typed) else {
                faulty = true;
                continue;
            };
            let own = own_type(&typed, asked.as_ref());
            ty = Some(ty.map_or_else(|| own.clone(), |before| joined(before, &own)));
            constants.push(constant);
        }
        if faulty { None } else { Some((Sequence::List(constants), ty?)) }
    }

    /// The enumeration to which the names of a list belong as labels, if they are labels. `None` after an error.
    #[expect(clippy::option_option, reason = "an error and a list of other values are two things")]
    fn labels(&mut self, items: &[ast::Expr], span: Span) -> Option<Option<Enumeration>> {
        let mut names = Vec::new();
        for item in items {
            match &item.kind {
                ast::ExprKind::Path(path) => match path.as_name() {
                    Some(name) if self.names.get(&name.text).is_none() => names.push(name.text.as_str()),
                    _ => return Some(None),
                },
                _ => return Some(None),
            }
        }
        let platforms = self.names.targets.iter().filter_map(|target| self.world.catalogue.get(target.platform?));
        let mut found: BTreeMap<(String, u32), Enumeration> = BTreeMap::new();
        for which in platforms.flat_map(|platform| &platform.enums) {
            if names.iter().all(|name| which.label(name).is_some()) {
                found.insert((which.platform.to_string(), which.index), which.clone());
            }
        }
        let mut found = found.into_values();
        let first = found.next();
        let others: Vec<String> = found.map(|which| format!("`{}`", which.def.name)).collect();
        match first {
            Some(first) if !others.is_empty() => {
                let message = "these labels belong to several enumerations, and nothing tells which is meant";
                let help = format!("they are labels of `{}` and of {}", first.def.name, others.join(", "));
                self.report(Diagnostic::new(&AMBIGUOUS_LABEL, self.place(span), message).help(help));
                None
            }
            first => Some(first),
        }
    }
}

fn is_number(expr: &ast::Expr) -> bool {
    matches!(expr.kind, ast::ExprKind::Number(_))
}

fn is_float(expr: &ast::Expr) -> bool {
    matches!(&expr.kind, ast::ExprKind::Number(number) if matches!(number.value, ast::NumberValue::Float(_)))
}

/// The type of a constant of a list: with the range of the constant alone.
fn own_type(typed: &Typed, asked: Option<&Type>) -> Type {
    match (asked, typed.constant()) {
        (Some(Type::Float(measure, _)), Some(Constant::Float(value))) => {
            Type::Float(measure.clone(), Floats::one(*value))
        }
        _ => typed.ty.clone(),
    }
}

/// A type without its range.
fn general(ty: Type) -> Type {
    match ty {
        Type::Int(_) => Type::INT,
        Type::Float(measure, _) => Type::Float(measure, Floats::ALL),
        ty => ty,
    }
}

/// A type that holds the values of both, which differ by their range alone.
fn joined(a: Type, b: &Type) -> Type {
    match (a, b) {
        (Type::Int(a), Type::Int(b)) => Type::Int(Ints { min: a.min.min(b.min), max: a.max.max(b.max) }),
        (Type::Float(measure, a), Type::Float(_, b)) => {
            let least = a.min.zip(b.min).map(|(a, b)| a.min(b));
            let most = a.max.zip(b.max).map(|(a, b)| a.max(b));
            Type::Float(measure, Floats { min: least, max: most })
        }
        (a, _) => a,
    }
}
