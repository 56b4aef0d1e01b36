//! The catalogue of telecommands and telemetry: YAML to tables that are checked.
//!
//! The flow: [`compile`] reads each file to nodes (`crate::yaml`), a `Draft` takes one platform out of a document part
//! by part (types, components with telemetry and telecommands, alarms, encoding), then the conditions, which need all
//! the names, are checked and lowered in it. Everything that is wrong is reported in one run. Reading files is the
//! caller's; whether the procedures of `on_raise` exist is for whoever knows the procedures.

use std::collections::BTreeMap;

use crate::{
    diagnostics::{Code, Diagnostic},
    source::{FileId, Origin, Sources},
    yaml::{self, Node, Vocabulary},
};

mod alarms;
mod ccsds;
mod components;
mod conditions;
mod draft;
mod model;
mod telecommands;
mod typespec;
mod values;

pub(crate) use draft::is_identifier;
pub(crate) use model::at;
pub use model::{AlarmEntry, Catalogue, Entry, Platform, TelecommandEntry};

/// A file that is no YAML.
pub static BAD_YAML: Code = Code::error("catalogue::bad-yaml", "a file of the catalogue is no YAML");
/// A key without a meaning.
pub static UNKNOWN_KEY: Code =
    Code::error("catalogue::unknown-key", "a key of the catalogue has no meaning where it stands");
/// A key twice.
pub static DUPLICATE_KEY: Code =
    Code::error("catalogue::duplicate-key", "a key stands twice in one mapping of the catalogue");
/// A key that is missing.
pub static MISSING_KEY: Code =
    Code::error("catalogue::missing-key", "a key that has to be there is missing in the catalogue");
/// A value that is not what is due.
pub static BAD_VALUE: Code = Code::error("catalogue::bad-value", "a value of the catalogue is not what is due");
/// Keys that exclude each other.
pub static CONFLICT: Code = Code::error("catalogue::conflict", "two keys of the catalogue exclude each other");
/// A name that the language cannot write.
pub static BAD_NAME: Code =
    Code::error("catalogue::bad-name", "a name of the catalogue is none that the language can write");
/// A platform twice.
pub static DUPLICATE_PLATFORM: Code = Code::error("catalogue::duplicate-platform", "two documents define one platform");
/// A unit that is not in the table.
pub static UNKNOWN_UNIT: Code = Code::error("catalogue::unknown-unit", "a unit of the catalogue is not known");
/// A packet that the platform does not list.
pub static UNKNOWN_PACKET: Code =
    Code::error("catalogue::unknown-packet", "a packet is not among those of the platform");
/// An encoding that does not fit its value.
pub static BAD_ENCODING: Code = Code::error("catalogue::bad-encoding", "an encoding does not fit what it encodes");

/// The codes of this module.
pub(crate) const CODES: &[&Code] = &[
    &BAD_YAML,
    &UNKNOWN_KEY,
    &DUPLICATE_KEY,
    &MISSING_KEY,
    &BAD_VALUE,
    &CONFLICT,
    &BAD_NAME,
    &DUPLICATE_PLATFORM,
    &UNKNOWN_UNIT,
    &UNKNOWN_PACKET,
    &BAD_ENCODING,
];

static VOCABULARY: Vocabulary = Vocabulary {
    bad_yaml: &BAD_YAML,
    unknown_key: &UNKNOWN_KEY,
    duplicate_key: &DUPLICATE_KEY,
    missing_key: &MISSING_KEY,
    bad_value: &BAD_VALUE,
};

/// What the configuration gives to the catalogue, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// `executor.default_window`: the window of a telecommand that declares none.
    pub default_window: i64,
    /// `executor.freshness`: that of a parameter that declares none.
    pub freshness: i64,
}

impl Default for Options {
    /// Ten seconds each.
    fn default() -> Self {
        Self { default_window: 10_000_000_000, freshness: 10_000_000_000 }
    }
}

/// The catalogue of some files, and what is wrong with it, in source order. A platform of the project takes the place
/// of a standard one of the same name, which is then not even looked at.
#[must_use]
pub fn compile(files: &[FileId], sources: &Sources, options: &Options) -> (Catalogue, Vec<Diagnostic>) {
    let mut out = Vec::new();
    let mut catalogue = Catalogue::default();
    let mut documents: Vec<(Origin, Node)> = Vec::new();
    for file in files {
        let origin = sources.get(*file).map_or(Origin::Project, |file| file.origin());
        match yaml::read(*file, sources, &VOCABULARY, &mut out) {
            Some(nodes) => documents.extend(nodes.into_iter().map(|node| (origin, node))),
            None => catalogue.incomplete = true,
        }
    }
    // The project's own first, so that a standard platform finds its name taken.
    documents.sort_by_key(|(origin, _)| *origin);
    let mut platforms: BTreeMap<String, Platform> = BTreeMap::new();
    for (origin, node) in &documents {
        let Some((name, place)) = draft::name_of(node, &mut out) else {
            catalogue.incomplete = true;
            continue;
        };
        match platforms.get(&name) {
            Some(first) if first.origin < *origin => {}
            Some(first) => {
                let message = format!("the platform `{name}` is defined twice");
                out.push(Diagnostic::new(&DUPLICATE_PLATFORM, place, message).label(first.place, "first here"));
            }
            None => {
                let platform = draft::platform(node, &name, place, *origin, options, &mut out);
                platforms.insert(name, platform);
            }
        }
    }
    catalogue.platforms = platforms.into_values().collect();
    crate::diagnostics::sort(&mut out);
    (catalogue, out)
}
