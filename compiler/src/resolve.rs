//! Names and types: syntax trees to the typed tree.
//!
//! First the definitions of all files are gathered, then what each asks of its callers, then the statements of each. An
//! expression is checked by [`crate::expr`]; here is what stands around it. Everything that is wrong is reported, and
//! nothing twice: what depends on something wrong is left out in silence.

use std::{collections::BTreeSet, sync::Arc};

use stellar_grammar::ast;

use crate::{
    catalogue::Catalogue,
    diagnostics::{Code, Diagnostic},
    pipeline::{ParsedFile, Unread},
    rules,
    source::Place,
    tree::Definition,
};

mod alarms;
mod body;
mod call;
mod definitions;
mod each;
mod graph;
mod names;
mod send;
mod signature;

pub use graph::{CallSite, Circle, Order, order};

/// A name that is taken.
pub(crate) static DUPLICATE: Code = Code::error("name::duplicate", "a name is given twice");
/// A platform that no catalogue describes.
static UNKNOWN_PLATFORM: Code = Code::error("name::unknown-platform", "a platform is not known");
/// A telecommand that its component does not have.
static UNKNOWN_TELECOMMAND: Code = Code::error("name::unknown-telecommand", "a component has no such telecommand");
/// An argument or input that does not exist.
static UNKNOWN_ARGUMENT: Code =
    Code::error("name::unknown-argument", "a telecommand, step or procedure has no such argument");
/// A route that the platform does not have.
static UNKNOWN_ROUTE: Code = Code::error("name::unknown-route", "a platform has no such route");
/// No route is named and none is the default.
static NO_DEFAULT_ROUTE: Code =
    Code::error("name::no-default-route", "a `send` names no route and the platform has no default");
/// A step that no file defines.
static UNKNOWN_STEP: Code = Code::error("name::unknown-step", "a step is not known");
/// A procedure that no file defines.
static UNKNOWN_PROCEDURE: Code = Code::error("name::unknown-procedure", "a procedure is not known");
/// A label that several enumerations have, where nothing tells which is meant.
static AMBIGUOUS_LABEL: Code =
    Code::error("name::ambiguous-label", "labels belong to several enumerations, and nothing tells which is meant");
/// An argument that is given twice.
static ARGUMENT_TWICE: Code = Code::error("call::argument-twice", "an argument is given twice");
/// An argument that the catalogue fixes.
static FIXED_ARGUMENT: Code = Code::error("call::fixed-argument", "an argument is given that has a fixed value");
/// An argument without default that is not given.
static MISSING_ARGUMENT: Code = Code::error("call::missing-argument", "an argument is not given");
/// A target that is not given.
static MISSING_TARGET: Code = Code::error("call::missing-target", "a target is not given");
/// Something else where a target is due.
static NOT_A_TARGET: Code = Code::error("call::not-a-target", "something else stands where a target is due");
/// A positional argument behind a named one.
static POSITIONAL_AFTER_NAMED: Code =
    Code::error("call::positional-after-named", "an argument without a name stands behind one with a name");
/// One target for two `uses` names.
static TARGET_TWICE: Code = Code::error("call::target-twice", "one target is given for two names");
/// More arguments than targets and inputs.
static TOO_MANY_ARGUMENTS: Code = Code::error("call::too-many-arguments", "a call gives more arguments than it can");
/// A target of another platform than asked for.
static WRONG_PLATFORM: Code = Code::error("call::wrong-platform", "a target of another platform is due");
/// A value that has to be known while compiling.
static NOT_CONSTANT: Code = Code::error("type::not-constant", "a value that has to be a constant depends on something");

/// The codes of this module.
pub(crate) static CODES: &[&Code] = &[
    &DUPLICATE,
    &UNKNOWN_PLATFORM,
    &UNKNOWN_TELECOMMAND,
    &UNKNOWN_ARGUMENT,
    &UNKNOWN_ROUTE,
    &NO_DEFAULT_ROUTE,
    &UNKNOWN_STEP,
    &UNKNOWN_PROCEDURE,
    &AMBIGUOUS_LABEL,
    &ARGUMENT_TWICE,
    &FIXED_ARGUMENT,
    &MISSING_ARGUMENT,
    &MISSING_TARGET,
    &NOT_A_TARGET,
    &POSITIONAL_AFTER_NAMED,
    &TARGET_TWICE,
    &TOO_MANY_ARGUMENTS,
    &WRONG_PLATFORM,
    &NOT_CONSTANT,
];

/// What all definitions share while they are resolved.
struct World<'a> {
    catalogue: &'a Catalogue,
    definitions: &'a definitions::Definitions<'a>,
    signatures: &'a [signature::Signature],
}

/// The definitions of all files, typed, sorted by kind and name; what is wrong goes to `out`.
pub(crate) fn definitions(
    files: &[ParsedFile],
    catalogue: &Catalogue,
    entries: &[Arc<str>],
    unread: Unread,
    out: &mut Vec<Diagnostic>,
) -> Vec<Definition> {
    let mut entries = entries.to_vec();
    entries.extend(alarms::procedures(catalogue));
    let definitions = definitions::Definitions::gather(files, &entries, unread, out);
    let mut signatures = Vec::new();
    let mut names = Vec::new();
    for header in &definitions.headers {
        rules::check_shape(&rules::Shape { file: header.file, definition: header.ast }, out);
        let (signature, given) = signature::of(header, catalogue, out);
        signatures.push(signature);
        names.push(given);
    }
    let world = World { catalogue, definitions: &definitions, signatures: &signatures };
    alarms::check(&world, out);
    let headers = definitions.headers.iter().zip(&signatures).zip(names);
    headers.map(|((header, signature), names)| body::definition(&world, header, signature, names, out)).collect()
}

/// Marks the definitions in which something has no known meaning.
pub(crate) fn mark_faulty(definitions: &mut [Definition], diagnostics: &[Diagnostic]) {
    // What a rule says leaves the meaning as it is, but for the two that the grammar reports.
    let unknown = |it: &&Diagnostic| {
        let name = it.code.name;
        let of_grammar = stellar_grammar::SYNTAX_CODES.iter().any(|(code, _)| *code == name);
        it.is_error() && (of_grammar || !name.starts_with("procedure::"))
    };
    let mut places: Vec<Place> = diagnostics.iter().filter(unknown).filter_map(Diagnostic::place).collect();
    places.sort();
    for definition in definitions {
        let first =
            places.partition_point(|place| (place.file, place.span.start) < (definition.file, definition.span.start));
        definition.faulty = places
            .get(first)
            .is_some_and(|place| place.file == definition.file && place.span.start <= definition.span.end);
    }
}

/// Every word in lines that could not be read.
fn unread(definition: &ast::Definition) -> BTreeSet<Arc<str>> {
    let failure = definition.on_failure.iter().flat_map(|it| &it.body);
    let mut open: Vec<&ast::Stmt> = definition.body.iter().chain(failure).collect();
    let mut words = BTreeSet::new();
    while let Some(stmt) = open.pop() {
        match &stmt.kind {
            ast::StmtKind::If(it) => {
                open.extend(&it.then);
                open.extend(it.otherwise.iter().flat_map(|otherwise| &otherwise.body));
            }
            ast::StmtKind::Repeat(it) => open.extend(&it.body),
            ast::StmtKind::ForEach(it) => open.extend(&it.body),
            ast::StmtKind::Together(it) => open.extend(it.branches.iter().flat_map(|branch| &branch.body)),
            ast::StmtKind::Step(it) => open.extend(&it.body),
            ast::StmtKind::Error(it) => {
                words.extend(it.words.iter().map(|word| Arc::from(word.text.as_str())));
                open.extend(&it.body);
            }
            _ => {}
        }
    }
    words
}
