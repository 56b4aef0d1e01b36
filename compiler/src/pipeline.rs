//! The stages of a compilation, each a type whose method makes the next one.
//!
//! ```text
//! Input → Parsed → Resolved → Checked → Lowered → Artifact
//! ```
//!
//! [`Parsed`] holds the texts, their trees and the catalogue; [`Resolved`] knows what each name means and what type each
//! value has; [`Checked`] has the figures and every finding; [`Lowered`] is the program, [`Artifact`] its bytes. A
//! program with an error gets no further than [`Checked`]. Nothing here reads a file: the caller gives the texts.

use std::{collections::BTreeMap, sync::Arc};

use stellar_grammar::ast::Ast;
use stellar_vm::{
    artifact::{self, ArtifactError},
    program::{Defaults, Policy, Program},
};

use crate::{
    bounds::{self, Figures},
    catalogue::{self, Catalogue},
    diagnostics::{Diagnostic, Levels, sort},
    lower, resolve, rules,
    source::{FileId, Origin, Place, Sources},
    tree::{Definition, DefinitionId},
};

/// What is compiled.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The procedures.
    pub files: Vec<File>,
    /// The catalogue.
    pub catalogue: Vec<File>,
    /// What the configuration says: default retry, window and freshness.
    pub defaults: Defaults,
    /// Standard definitions that are wanted although nothing of the project calls them.
    pub entries: Vec<Arc<str>>,
    /// What there is besides, and could not be read: names that are not known may stand there, and are not reported.
    pub unread: Unread,
}

/// What could not be read of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// Something of the catalogue.
    pub catalogue: bool,
    /// Some of the procedures.
    pub procedures: bool,
}

/// A file that was read.
#[derive(Clone, Debug)]
pub struct File {
    /// Its path relative to the mission folder (or, of a standard one, within the library); `\` counts as `/`.
    pub path: String,
    /// What is in it.
    pub bytes: Vec<u8>,
    /// How it came to be compiled.
    pub came: Came,
}

/// How a file came to be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Came {
    /// It was named: its definitions are listed.
    Named,
    /// From the project's folders.
    Project,
    /// From the standard library.
    Standard,
}

/// The folder in which the files of the standard library are shown.
pub const STANDARD_FOLDER: &str = "std";

/// The texts, their trees, the catalogue.
#[derive(Debug)]
pub struct Parsed {
    sources: Sources,
    files: Vec<ParsedFile>,
    catalogue: Catalogue,
    defaults: Defaults,
    entries: Vec<Arc<str>>,
    unread: Unread,
    doubtful: Vec<Place>,
    diagnostics: Vec<Diagnostic>,
}

/// A file and its tree.
#[derive(Debug)]
pub(crate) struct ParsedFile {
    /// The file.
    pub(crate) id: FileId,
    /// Whose it is.
    pub(crate) origin: Origin,
    /// Whether it was named.
    pub(crate) named: bool,
    /// Its tree.
    pub(crate) ast: Ast,
    /// Whether it could not be read to its end.
    pub(crate) cut: bool,
}

impl Parsed {
    /// Reads the texts. A file that is given twice is one; the order in which files are given does not matter.
    #[must_use]
    pub fn new(input: &Input) -> Self {
        let mut sources = Sources::default();
        let mut diagnostics = Vec::new();
        let mut yaml = Vec::new();
        let mut files = Vec::new();
        let mut doubtful = Vec::new();
        for ((name, _, is_catalogue), file) in unique(input) {
            let origin = if file.came == Came::Standard { Origin::Standard } else { Origin::Project };
            let id = sources.add(&name, &file.bytes, origin);
            if is_catalogue {
                yaml.push(id);
                continue;
            }
            let (ast, errors) = stellar_grammar::parse_bytes(&file.bytes);
            doubtful.extend(errors.iter().filter_map(|error| Some(Place::new(id, error.spoils?))));
            diagnostics.extend(errors.into_iter().map(|error| Diagnostic::syntax(error, id)));
            let cut = sources.get(id).is_some_and(|file| file.invalid_utf8().is_some());
            files.push(ParsedFile { id, origin, named: file.came == Came::Named, ast, cut });
        }
        let options = catalogue::Options { default_window: input.defaults.window, freshness: input.defaults.freshness };
        let (mut catalogue, findings) = catalogue::compile(&yaml, &sources, &options);
        catalogue.incomplete |= input.unread.catalogue;
        diagnostics.extend(findings);
        let entries = input.entries.clone();
        let retry = input.defaults.retry.filter(Policy::retries);
        let defaults = Defaults { retry, ..input.defaults.clone() };
        let unread = input.unread;
        Self { sources, files, catalogue, defaults, entries, unread, doubtful, diagnostics }
    }

    /// The texts, for showing findings.
    #[must_use]
    pub const fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The catalogue.
    #[must_use]
    pub const fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// What was found so far, in source order: of the shape of the texts, and of the catalogue.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut diagnostics = self.diagnostics.clone();
        sort(&mut diagnostics);
        diagnostics
    }

    /// Finds out what each name means and what type each value has.
    #[must_use]
    pub fn resolve(self) -> Resolved {
        let Self { sources, files, catalogue, defaults, entries, unread, doubtful, mut diagnostics } = self;
        let mut definitions = resolve::definitions(&files, &catalogue, &entries, unread, &mut diagnostics);
        resolve::mark_faulty(&mut definitions, &diagnostics);
        let order = resolve::order(&definitions);
        let named = files.iter().filter(|file| file.named).map(|file| file.id).collect();
        Resolved { sources, named, catalogue, defaults, definitions, order, doubtful, diagnostics }
    }
}

/// The files by name, each once; where one was named and found too, it counts as named.
fn unique(input: &Input) -> BTreeMap<(String, bool, bool), &File> {
    let mut unique: BTreeMap<(String, bool, bool), &File> = BTreeMap::new();
    let procedures = input.files.iter().map(|file| (file, false));
    for (file, is_catalogue) in procedures.chain(input.catalogue.iter().map(|file| (file, true))) {
        let standard = file.came == Came::Standard;
        let key = (shown(&file.path, standard), standard, is_catalogue);
        unique
            .entry(key)
            .and_modify(|known| {
                if file.came < known.came {
                    *known = file
                }
            })
            .or_insert(file);
    }
    unique
}

/// A path as it is shown and kept: with `/`, without `.` and `..` where they lead nowhere.
fn shown(path: &str, standard: bool) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "." => {}
            // Of an absolute path only the leading slash is kept.
            "" if !parts.is_empty() => {}
            ".." if parts.last().is_some_and(|last| *last != ".." && !last.is_empty()) => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    if standard && parts.first() != Some(&STANDARD_FOLDER) {
        parts.insert(0, STANDARD_FOLDER);
    }
    parts.join("/")
}

/// What each name means and what type each value has.
#[derive(Debug)]
pub struct Resolved {
    sources: Sources,
    named: Vec<FileId>,
    catalogue: Catalogue,
    defaults: Defaults,
    definitions: Vec<Definition>,
    order: resolve::Order,
    doubtful: Vec<Place>,
    diagnostics: Vec<Diagnostic>,
}

impl Resolved {
    /// Computes the figures and applies the rules.
    #[must_use]
    pub fn check(self) -> Checked {
        let Self { sources, named, catalogue, defaults, definitions, order, doubtful, mut diagnostics } = self;
        let figures = bounds::figures(&definitions, &order.order, &catalogue, defaults.retry);
        let world = rules::World::new(&definitions, &figures, &catalogue, &order.order);
        rules::check_meaning(&world, &order.circles, &mut diagnostics);
        // What has no certain meaning has no certain fault either, but for its shape.
        let in_doubt = |place: Place| doubtful.iter().any(|it| it.file == place.file && it.span.covers(place.span));
        diagnostics.retain(|one| one.is_of_shape() || !one.place().is_some_and(in_doubt));
        sort(&mut diagnostics);
        Checked { sources, named, catalogue, defaults, definitions, figures, diagnostics }
    }
}

/// Everything that can be said of the program.
#[derive(Debug)]
pub struct Checked {
    sources: Sources,
    named: Vec<FileId>,
    catalogue: Catalogue,
    defaults: Defaults,
    definitions: Vec<Definition>,
    figures: Vec<Figures>,
    diagnostics: Vec<Diagnostic>,
}

impl Checked {
    /// From texts to findings, in one go.
    #[must_use]
    pub fn new(input: &Input) -> Self {
        Parsed::new(input).resolve().check()
    }

    /// The texts, for showing findings.
    #[must_use]
    pub const fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The catalogue.
    #[must_use]
    pub const fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The compilation parameters.
    #[must_use]
    pub const fn defaults(&self) -> &Defaults {
        &self.defaults
    }

    /// All findings, in source order, each with the severity that its code has.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The findings as the user wants them: warnings allowed or denied.
    #[must_use]
    pub fn diagnostics_at(&self, levels: &Levels) -> Vec<Diagnostic> {
        let mut diagnostics = self.diagnostics.clone();
        levels.apply(&mut diagnostics);
        diagnostics
    }

    /// The definitions, sorted by kind and name: the project's, and the standard ones that they reach.
    #[must_use]
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// The figures of the definitions, one for one.
    #[must_use]
    pub fn figures(&self) -> &[Figures] {
        &self.figures
    }

    /// Whether a definition stands in a file that was named.
    #[must_use]
    pub fn is_named(&self, definition: &Definition) -> bool {
        self.named.contains(&definition.file)
    }

    /// The definition of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<DefinitionId> {
        self.definitions.iter().position(|definition| &*definition.name == name)
    }

    /// The critical path of a definition: what makes its maximum duration.
    #[must_use]
    pub fn critical_path(&self, id: DefinitionId) -> Vec<bounds::Link> {
        bounds::critical_path(&self.definitions, &self.figures, &self.catalogue, id)
    }

    /// Makes the program; `None` where there is an error.
    #[must_use]
    pub fn lower(&self) -> Option<Lowered> {
        if self.diagnostics.iter().any(Diagnostic::is_error) {
            return None;
        }
        let program = lower::program(&self.sources, &self.catalogue, &self.defaults, &self.definitions, &self.figures)?;
        Some(Lowered { program })
    }
}

/// The program.
#[derive(Debug)]
pub struct Lowered {
    program: Program,
}

impl Lowered {
    /// The program.
    #[must_use]
    pub const fn program(&self) -> &Program {
        &self.program
    }

    /// Its bytes.
    ///
    /// # Errors
    /// Where the program is past what an artifact can hold.
    pub fn encode(&self) -> Result<Artifact, ArtifactError> {
        artifact::encode(&self.program).map(|bytes| Artifact { bytes })
    }
}

/// The bytes of a program: what stands in an `.stc` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    bytes: Vec<u8>,
}

impl Artifact {
    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, taken out.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The name by which a run is bound to it: BLAKE3 in hexadecimal.
    #[must_use]
    pub fn hash(&self) -> String {
        artifact::hash(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_in_one_way() {
        assert_eq!(shown("./procedures//a.proc", false), "procedures/a.proc");
        assert_eq!(shown("procedures\\x\\..\\a.proc", false), "procedures/a.proc");
        assert_eq!(shown("../a.proc", false), "../a.proc");
        assert_eq!(shown("/abs/./a.proc", false), "/abs/a.proc");
        assert_eq!(shown("tcu/a.proc", true), "std/tcu/a.proc");
        assert_eq!(shown("std/tcu/a.proc", true), "std/tcu/a.proc");
    }
}
