//! Values and conditions: syntax tree to typed tree to the machine's code.
//!
//! The flow: [`value`], [`value_of`] or [`condition`] checks an [`ast::Expr`] in a [`Scope`] and gives a [`Typed`], in
//! which units agree, integers are widened and constants are folded; [`Typed::lower`] writes it down as
//! `stellar_vm::condition::Expr`. One code for the statements of procedures and for the conditions of the catalogue:
//! they differ by their [`Scope`] alone. An expression with an error gives `None`, and its findings are in `out`.

use std::sync::Arc;

use stellar_grammar::{Span, ast};

use crate::{
    catalogue::Platform,
    diagnostics::{Code, Diagnostic},
    source::Place,
    types::{Enumerations, Type},
};

mod arithmetic;
mod check;
mod coerce;
mod compare;
mod constant;
mod fold;
mod lower;
mod path;
mod typed;

pub use check::{condition, value, value_of};
pub use constant::Constant;
pub use path::{Component, component};
pub use typed::{Read, Typed};

/// A name that nothing gives.
pub static UNKNOWN_NAME: Code = Code::error("name::unknown-name", "a name is not known");
/// A target that no `uses` gives.
pub static UNKNOWN_TARGET: Code = Code::error("name::unknown-target", "a target is not known");
/// A component that its platform does not have.
pub static UNKNOWN_COMPONENT: Code = Code::error("name::unknown-component", "a platform has no such component");
/// A parameter that its component does not have.
pub static UNKNOWN_PARAMETER: Code = Code::error("name::unknown-parameter", "a component has no such parameter");
/// A label that its enumeration does not have.
pub static UNKNOWN_LABEL: Code = Code::error("name::unknown-label", "an enumeration has no such label");
/// A target or component where a value is due, or a value where one of these is.
pub static NOT_A_VALUE: Code = Code::error("type::not-a-value", "a target or a component stands where a value is due");
/// A component that is an array, without index.
pub static MISSING_INDEX: Code = Code::error("type::missing-index", "a component that is an array has no index");
/// An index on what is no array.
pub static UNEXPECTED_INDEX: Code = Code::error("type::unexpected-index", "an index stands behind what is no array");
/// An order of what has none.
pub static NOT_ORDERED: Code = Code::error("type::not-ordered", "values that have no order are compared by `<` or `>`");
/// Equality of floats without tolerance.
pub static FLOAT_EQUALITY: Code =
    Code::warning("type::float-equality", "floats are compared for equality without a tolerance");
/// Arithmetic on what it is not made for.
pub static BAD_OPERAND: Code = Code::error("type::bad-operand", "arithmetic has an operand that it is not made for");
/// Arithmetic on constants that has no value.
pub static OVERFLOW: Code = Code::error("type::overflow", "constants overflow or are divided by zero");
/// `is known` of what is no telemetry.
pub static NOT_TELEMETRY: Code = Code::error("type::not-telemetry", "`is known` is asked of what is no telemetry");
/// A range in which nothing is.
pub static EMPTY_RANGE: Code = Code::error("type::empty-range", "a range or a list holds nothing");
/// A time before 1678 or after 2261.
pub static TIME_OUT_OF_RANGE: Code =
    Code::error("type::time-out-of-range", "a time is too far from the present to be counted in nanoseconds");
/// A condition that does not depend on anything.
pub static CONSTANT_CONDITION: Code =
    Code::warning("procedure::constant-condition", "a condition is always true or never");

/// The codes of this module.
pub(crate) const CODES: &[&Code] = &[
    &UNKNOWN_NAME,
    &UNKNOWN_TARGET,
    &UNKNOWN_COMPONENT,
    &UNKNOWN_PARAMETER,
    &UNKNOWN_LABEL,
    &NOT_A_VALUE,
    &MISSING_INDEX,
    &UNEXPECTED_INDEX,
    &NOT_ORDERED,
    &FLOAT_EQUALITY,
    &BAD_OPERAND,
    &OVERFLOW,
    &NOT_TELEMETRY,
    &EMPTY_RANGE,
    &TIME_OUT_OF_RANGE,
    &CONSTANT_CONDITION,
];

/// What the names of an expression stand for.
pub trait Scope {
    /// The place of a span of the syntax tree.
    fn place(&self, span: Span) -> Place;

    /// What the first name of a path stands for. `alone` says that nothing follows it: no point, though an index may.
    /// Called for every use in the text, for some more than once, so that uses can be noted here.
    fn root(&self, name: &str, alone: bool) -> Root;

    /// Every name that [`Scope::root`] knows, to offer the nearest one.
    fn names(&self) -> Vec<Arc<str>>;

    /// The platform of a number that [`Scope::root`] gave.
    fn platform(&self, number: u32) -> Option<&Platform>;

    /// Under which code, and as what, a first name is reported that [`Scope::root`] does not know.
    fn unknown(&self, alone: bool) -> (&'static Code, &'static str) {
        if alone { (&UNKNOWN_NAME, "name") } else { (&UNKNOWN_TARGET, "target") }
    }
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Root {
    /// A value kept under a name: an input, a `let`, the name of a `for each`; in the catalogue the index.
    Local {
        /// Its number.
        local: u32,
        /// Its type; `None` where that has been reported.
        ty: Option<Type>,
    },
    /// A target of the definition.
    Target {
        /// Its number.
        target: u32,
        /// Its platform; `None` where that has been reported.
        platform: Option<u32>,
    },
    /// In the catalogue: a component of the platform that a condition speaks of.
    Component {
        /// The platform.
        platform: u32,
        /// The component.
        component: u32,
    },
    /// In the catalogue: a parameter of the component that a condition belongs to, with that component's own index.
    Parameter {
        /// The platform.
        platform: u32,
        /// The parameter.
        parameter: u32,
    },
    /// Nothing.
    Unknown,
    /// Something that was reported; nothing more is said of it.
    Reported,
}

/// The tables of the program, or of the platform, that code refers to.
pub trait Slots: Enumerations {
    /// The number under which code reads a parameter of a platform.
    fn parameter(&mut self, platform: u32, parameter: u32) -> u32;
}

/// What a check needs besides the expression.
struct Context<'a> {
    scope: &'a dyn Scope,
    out: &'a mut Vec<Diagnostic>,
}

impl Context<'_> {
    /// A finding at a span.
    fn at(&self, code: &'static Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, self.scope.place(span), message)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.out.push(diagnostic);
    }

    /// Reports a finding that needs no more words.
    fn say(&mut self, code: &'static Code, span: Span, message: impl Into<String>) {
        let diagnostic = self.at(code, span, message);
        self.report(diagnostic);
    }
}

/// A name by itself, without index.
fn lone_name(expr: &ast::Expr) -> Option<&ast::Name> {
    match &expr.kind {
        ast::ExprKind::Path(path) => path.as_name(),
        _ => None,
    }
}
