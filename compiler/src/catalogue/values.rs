//! Constants of the catalogue: defaults and fixed values.

use stellar_grammar::parse_value;

use super::draft::Draft;
use crate::{
    expr::{Constant, Root, Scope, value_of},
    source::Place,
    types::{OUT_OF_RANGE, Type},
    yaml::{Node, parse_float},
};

/// A scope without names, for what is a constant.
struct Nothing<'a> {
    node: &'a Node,
}

impl Scope for Nothing<'_> {
    fn place(&self, span: stellar_grammar::Span) -> Place {
        self.node.place_of(span)
    }

    fn root(&self, _: &str, _: bool) -> Root {
        Root::Unknown
    }

    fn names(&self) -> Vec<std::sync::Arc<str>> {
        Vec::new()
    }

    fn platform(&self, _: u32) -> Option<&super::Platform> {
        None
    }
}

impl Draft<'_, '_> {
    /// A value of a type. A bare number is in the unit that is declared beside it.
    pub(super) fn constant(&mut self, node: &Node, ty: &Type) -> Option<Constant> {
        match ty {
            Type::Bool => self.reader.bool(node).map(Constant::Bool),
            Type::Str => self.reader.text(node).map(|text| Constant::Str(text.into())),
            Type::Enum(which) => {
                let text = self.reader.text(node)?;
                if let Some(label) = which.label(text) {
                    return Some(Constant::Label(which.clone(), label));
                }
                self.parsed(node, ty)
            }
            Type::Float(_, range) => match node.as_plain().and_then(parse_float) {
                Some(value) if range.contains(value) => Some(Constant::Float(value)),
                Some(value) => {
                    self.say(&OUT_OF_RANGE, node.place, format!("`{value}` is out of range: {ty} is due"));
                    None
                }
                None => self.parsed(node, ty),
            },
            Type::Int(_) | Type::Duration | Type::Time => self.parsed(node, ty),
        }
    }

    /// A value in the language's own words.
    fn parsed(&mut self, node: &Node, ty: &Type) -> Option<Constant> {
        let text = self.reader.text(node)?;
        let (expr, errors) = parse_value(text);
        if !errors.is_empty() {
            self.reader.syntax(node, errors);
            return None;
        }
        let typed = value_of(&expr, ty, &Nothing { node }, self.reader.out)?;
        let constant = typed.constant().cloned();
        if constant.is_none() {
            self.reader.bad(node, "a constant is due here");
        }
        constant
    }
}
