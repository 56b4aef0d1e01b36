//! Conditions of the catalogue: the language's own, with names relative to the component they belong to.
//!
//! A name alone is a parameter of the own component, of the own instance where that is an array; `index` is that
//! instance's index. `eps.voltage` and `tcu[2].mode` are parameters of other components of the platform.

use std::sync::Arc;

use stellar_grammar::{Span, parse_condition};
use stellar_vm::{condition::Expr, value};

use super::{Platform, VOCABULARY};
use crate::{
    diagnostics::{Code, Diagnostic},
    expr::{self, Root, Scope, Slots, UNKNOWN_COMPONENT, UNKNOWN_PARAMETER},
    source::Place,
    types::{Enumeration, Enumerations, Type},
    yaml::{Node, Reader},
};

/// The name of the own instance's index.
pub(super) const INDEX: &str = "index";

/// A condition that waits until all names of the platform are known.
pub(super) struct Pending<'a> {
    pub(super) node: &'a Node,
    /// The component it belongs to.
    pub(super) component: Option<u32>,
    pub(super) due: Due,
}

/// Where a condition belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// `valid_when` of a parameter.
    ValidWhen(u32),
    /// `requires` of a telecommand.
    Requires(u32),
    /// `verify.until` of a telecommand.
    Until(u32),
    /// `when` of an alarm.
    When(u32),
}

/// The tables of one platform: numbers are its own.
pub(super) struct Own;

impl Enumerations for Own {
    fn enumeration(&mut self, which: &Enumeration) -> u32 {
        which.index
    }
}

impl Slots for Own {
    fn parameter(&mut self, _: u32, parameter: u32) -> u32 {
        parameter
    }
}

struct Inside<'a> {
    platform: &'a Platform,
    component: Option<u32>,
    node: &'a Node,
}

impl Scope for Inside<'_> {
    fn place(&self, span: Span) -> Place {
        self.node.place_of(span)
    }

    fn root(&self, name: &str, alone: bool) -> Root {
        if alone && let Some(own) = self.component {
            if name == INDEX
                && let Some(range) = self.platform.index_of(own)
            {
                return Root::Local { local: 0, ty: Some(Type::Int(range)) };
            }
            if let Some(parameter) = self.platform.parameter(own, name) {
                return Root::Parameter { platform: 0, parameter };
            }
            let component = self.platform.component_at(own).map_or("", |component| &*component.name);
            if self.platform.is_unread(&format!("{component}.{name}")) {
                return Root::Reported;
            }
        }
        match self.platform.component(name) {
            Some(component) => Root::Component { platform: 0, component },
            None if self.platform.is_unread(name) => Root::Reported,
            None => Root::Unknown,
        }
    }

    fn names(&self) -> Vec<Arc<str>> {
        let own = self.component.into_iter().flat_map(|own| self.platform.parameters_of(own)).map(Arc::from);
        let index = self.component.and_then(|own| self.platform.index_of(own)).map(|_| Arc::from(INDEX));
        let components = self.platform.compiled.components.iter().map(|component| component.name.clone());
        own.chain(index).chain(components).collect()
    }

    fn platform(&self, _: u32) -> Option<&Platform> {
        Some(self.platform)
    }

    fn unknown(&self, alone: bool) -> (&'static Code, &'static str) {
        if alone && self.component.is_some() {
            (&UNKNOWN_PARAMETER, "parameter")
        } else {
            (&UNKNOWN_COMPONENT, "component")
        }
    }
}

/// Checks and lowers the conditions of a platform, and puts each where it belongs.
pub(super) fn settle(platform: &mut Platform, pending: Vec<Pending<'_>>, out: &mut Vec<Diagnostic>) {
    for Pending { node, component, due } in pending {
        let Some(expr) = condition(platform, node, component, out) else { continue };
        let compiled = &mut platform.compiled;
        let number = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        match due {
            Due::ValidWhen(of) => {
                if let Some(parameter) = compiled.parameters.get_mut(number(of)) {
                    parameter.valid_when = Some(expr);
                }
            }
            Due::Requires(of) => {
                if let Some(telecommand) = compiled.telecommands.get_mut(number(of)) {
                    telecommand.requires = Some(expr);
                }
            }
            Due::Until(of) => {
                if let Some(telecommand) = compiled.telecommands.get_mut(number(of)) {
                    telecommand.verify.until = Some(expr);
                }
            }
            Due::When(of) => {
                if let Some(alarm) = compiled.alarms.get_mut(number(of)) {
                    alarm.when = expr;
                }
            }
        }
    }
}

fn condition(platform: &Platform, node: &Node, component: Option<u32>, out: &mut Vec<Diagnostic>) -> Option<Expr> {
    let mut reader = Reader { vocabulary: &VOCABULARY, out };
    let text = reader.text(node)?;
    let (expr, errors) = parse_condition(text);
    if !errors.is_empty() {
        reader.syntax(node, errors);
    }
    let scope = Inside { platform, component, node };
    let typed = expr::condition(&expr, &scope, out)?;
    Some(typed.lower(&mut Own))
}

/// A condition that is always false: what stands in a table until the one of the text is checked.
pub(super) fn never() -> Expr {
    Expr {
        code: vec![stellar_vm::condition::ExprOp::Const(0)],
        constants: vec![value::Value::Bool(false)],
        reads: Vec::new(),
    }
}
