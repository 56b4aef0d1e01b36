//! All definitions of a compilation: which there are, which one a name means, and which are looked at.
//!
//! The project's own definition wins over a standard one of the same name. Of the standard ones only those are looked at
//! that something reaches: a standard procedure for a platform that this mission does not have concerns nobody.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use stellar_grammar::ast::{self, CallKind, DefinitionKind, Stmt, StmtKind};
use stellar_vm::program::Kind;

use super::DUPLICATE;
use crate::{
    diagnostics::Diagnostic,
    pipeline::{ParsedFile, Unread},
    source::{FileId, Origin, Place},
    tree::DefinitionId,
};

/// A definition as it was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header<'a> {
    /// Its file.
    pub(crate) file: FileId,
    /// Whose it is.
    pub(crate) origin: Origin,
    /// The definition.
    pub(crate) ast: &'a ast::Definition,
}

impl Header<'_> {
    /// Step or procedure.
    pub(crate) const fn kind(&self) -> Kind {
        match self.ast.kind {
            DefinitionKind::Step => Kind::Step,
            DefinitionKind::Procedure => Kind::Procedure,
        }
    }

    fn place(&self) -> Place {
        Place::new(self.file, self.ast.name.span)
    }
}

/// The definitions that are looked at.
#[derive(Debug, Default)]
pub(crate) struct Definitions<'a> {
    /// Sorted by kind, name and place; a [`DefinitionId`] is a place in it.
    pub(crate) headers: Vec<Header<'a>>,
    by_name: BTreeMap<&'a str, DefinitionId>,
    /// What can be called, reached or not.
    callable: BTreeSet<(Kind, &'a str)>,
    /// Texts of lines that could not be read: one of them may be the name of a definition.
    unread: BTreeSet<&'a str>,
    /// Whether a file could not be read, or not to its end: any definition may have been in it.
    cut: bool,
}

impl<'a> Definitions<'a> {
    /// Gathers the definitions of all files; `entries` are names of standard definitions that are wanted too.
    pub(crate) fn gather(
        files: &'a [ParsedFile],
        entries: &[Arc<str>],
        missing: Unread,
        out: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut all: Vec<Header<'a>> = files
            .iter()
            .flat_map(|file| {
                let header = |ast| Header { file: file.id, origin: file.origin, ast };
                file.ast.definitions.iter().map(header)
            })
            .collect();
        // The project's own come first, so that the first of a name is the one that is meant.
        all.sort_by_key(|header| (header.origin, header.place()));
        let mut meant: BTreeMap<&'a str, Header<'a>> = BTreeMap::new();
        let mut kept = Vec::new();
        for header in all {
            let name = header.ast.name.value.as_str();
            let Some(first) = meant.get(name) else {
                meant.insert(name, header);
                kept.push(header);
                continue;
            };
            if first.origin == header.origin {
                let message = format!("`{name}` is defined twice");
                out.push(Diagnostic::new(&DUPLICATE, header.place(), message).label(first.place(), "first here"));
                kept.push(header);
            }
        }
        let reached = reached(&kept, &meant, entries);
        let mut headers: Vec<Header<'a>> =
            kept.into_iter().filter(|it| it.origin == Origin::Project || reached.contains(&it.place())).collect();
        headers.sort_by(|a, b| (a.kind(), &a.ast.name.value, a.place()).cmp(&(b.kind(), &b.ast.name.value, b.place())));
        let by_name = headers
            .iter()
            .enumerate()
            .filter(|(_, it)| meant.get(it.ast.name.value.as_str()).is_some_and(|first| first.place() == it.place()))
            .map(|(id, it)| (it.ast.name.value.as_str(), id))
            .collect();
        let broken = files.iter().flat_map(|file| &file.ast.broken);
        let unread = broken.flat_map(|it| it.texts.iter().map(|text| text.value.as_str())).collect();
        let callable = meant.iter().map(|(name, header)| (header.kind(), *name)).collect();
        let cut = missing.procedures || files.iter().any(|file| file.cut);
        Self { headers, by_name, callable, unread, cut }
    }

    /// The definition that a name means, of either kind.
    pub(crate) fn get(&self, name: &str) -> Option<DefinitionId> {
        self.by_name.get(name).copied()
    }

    /// The header of a definition.
    pub(crate) fn header(&self, id: DefinitionId) -> Option<&Header<'a>> {
        self.headers.get(id)
    }

    /// The names of a kind, sorted; those of the standard library that nothing reaches are among them.
    pub(crate) fn names(&self, kind: Kind) -> impl Iterator<Item = &'a str> {
        self.callable.iter().filter(move |it| it.0 == kind).map(|it| it.1)
    }

    /// Whether a definition of that name may stand where nothing could be read.
    pub(crate) fn may_be_unread(&self, name: &str) -> bool {
        self.cut || self.unread.contains(name)
    }
}

/// The places of the definitions that are reached from those of the project and from the entries, through calls.
fn reached(kept: &[Header<'_>], meant: &BTreeMap<&str, Header<'_>>, entries: &[Arc<str>]) -> BTreeSet<Place> {
    let mut open: Vec<Header<'_>> = kept.iter().filter(|it| it.origin == Origin::Project).copied().collect();
    open.extend(entries.iter().filter_map(|name| meant.get(&**name)).copied());
    let mut reached: BTreeSet<Place> = open.iter().map(Header::place).collect();
    while let Some(header) = open.pop() {
        let failure = header.ast.on_failure.iter().flat_map(|it| &it.body);
        for call in calls(header.ast.body.iter().chain(failure)) {
            // What is of the wrong kind is looked at too: the message about the call names it.
            let Some(callee) = meant.get(call.name.value.as_str()) else { continue };
            if reached.insert(callee.place()) {
                open.push(*callee);
            }
        }
    }
    reached
}

/// Every call in some statements.
fn calls<'a>(stmts: impl Iterator<Item = &'a Stmt>) -> Vec<&'a ast::Call> {
    let mut open: Vec<&Stmt> = stmts.collect();
    let mut calls = Vec::new();
    while let Some(stmt) = open.pop() {
        match &stmt.kind {
            StmtKind::Call(call) => calls.push(call),
            StmtKind::If(it) => {
                open.extend(&it.then);
                open.extend(it.otherwise.iter().flat_map(|otherwise| &otherwise.body));
            }
            StmtKind::Repeat(it) => open.extend(&it.body),
            StmtKind::ForEach(it) => open.extend(&it.body),
            StmtKind::Together(it) => open.extend(it.branches.iter().flat_map(|branch| &branch.body)),
            StmtKind::Step(it) => open.extend(&it.body),
            StmtKind::Error(it) => open.extend(&it.body),
            _ => {}
        }
    }
    calls
}

/// The kind of definition that a call asks for.
pub(crate) const fn kind_of(call: CallKind) -> Kind {
    match call {
        CallKind::Do => Kind::Step,
        CallKind::Run => Kind::Procedure,
    }
}
