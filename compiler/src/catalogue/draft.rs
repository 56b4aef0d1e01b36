//! One platform out of one document: the parts in their order.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use stellar_vm::catalogue as vm;

use super::{BAD_NAME, CONFLICT, Options, Platform, VOCABULARY, conditions, conditions::Pending};
use crate::{
    diagnostics::{Code, Diagnostic},
    source::{Origin, Place},
    types::{Enumeration, Type},
    yaml::{Fields, Key, Node, Reader},
};

const KEYS: [&str; 8] = ["platform", "description", "routes", "reports", "types", "components", "alarms", "ccsds"];

/// The name of the platform of a document, and where it stands.
pub(super) fn name_of(node: &Node, out: &mut Vec<Diagnostic>) -> Option<(String, Place)> {
    let mut quiet = Vec::new();
    let mut reader = Reader { vocabulary: &VOCABULARY, out: &mut quiet };
    let Some(fields) = reader.fields(node, node.place, &KEYS) else {
        out.append(&mut quiet);
        return None;
    };
    // What is wrong with the keys is said when the platform is read.
    let mut reader = Reader { vocabulary: &VOCABULARY, out };
    let name = reader.required(&fields, "platform")?;
    let text = reader.text(name)?;
    if !is_identifier(text) {
        reader.report(bad_name(text, name.place));
        return None;
    }
    Some((text.to_owned(), name.place))
}

/// Which report of the target verifies a telecommand that declares no stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reports {
    /// The report of its completion.
    Completed,
    /// That of its acceptance: none comes of the completion.
    Accepted,
    /// None at all: the release verifies it.
    None,
}

impl Reports {
    pub(super) const WORDS: [(&'static str, Self); 3] =
        [("completed", Self::Completed), ("accepted", Self::Accepted), ("none", Self::None)];
}

/// A platform while it is read.
pub(super) struct Draft<'a, 'o> {
    pub(super) reader: Reader<'o>,
    pub(super) options: &'o Options,
    pub(super) platform: Platform,
    /// What verifies where nothing else is said.
    pub(super) reports: Reports,
    /// Conditions, to be checked when all names are there.
    pub(super) pending: Vec<Pending<'a>>,
}

/// Reads a platform.
pub(super) fn platform(
    node: &Node,
    name: &str,
    place: Place,
    origin: Origin,
    options: &Options,
    out: &mut Vec<Diagnostic>,
) -> Platform {
    let compiled = vm::Platform {
        name: name.into(),
        enums: Vec::new(),
        routes: Vec::new(),
        components: Vec::new(),
        parameters: Vec::new(),
        telecommands: Vec::new(),
        alarms: Vec::new(),
        ccsds: None,
    };
    let platform = Platform {
        compiled,
        place,
        origin,
        types: BTreeMap::new(),
        enums: Vec::new(),
        parameters: Vec::new(),
        telecommands: Vec::new(),
        alarms: Vec::new(),
        unread: BTreeSet::new(),
    };
    let reader = Reader { vocabulary: &VOCABULARY, out };
    let mut draft = Draft { reader, options, platform, reports: Reports::Completed, pending: Vec::new() };
    if let Some(fields) = draft.reader.fields(node, place, &KEYS) {
        draft.read(&fields);
    }
    let Draft { mut platform, pending, .. } = draft;
    platform.compiled.enums = platform.enums.iter().map(|which| (*which.def).clone()).collect();
    conditions::settle(&mut platform, pending, out);
    platform
}

impl<'a> Draft<'a, '_> {
    fn read(&mut self, fields: &Fields<'a>) {
        self.description(fields);
        if let Some(node) = fields.get("reports")
            && let Some(reports) = self.reader.word(node, &Reports::WORDS)
        {
            self.reports = reports;
        }
        self.routes(fields.get("routes"));
        if let Some(node) = fields.get("types") {
            self.types(node);
        }
        if let Some((key, node)) = fields.entry("ccsds") {
            self.platform_encoding(key, node);
        }
        if let Some(node) = fields.get("components") {
            self.components(node);
        }
        self.encoded();
        if let Some(node) = fields.get("alarms") {
            self.alarms(node);
        }
    }

    /// `description`: a text, which is all that is asked of it.
    pub(super) fn description(&mut self, fields: &Fields<'a>) -> Option<Arc<str>> {
        let node = fields.get("description")?;
        self.reader.text(node).map(Into::into)
    }

    fn routes(&mut self, node: Option<&'a Node>) {
        let Some(node) = node else {
            // A platform that says nothing of routes has the one that every target has.
            self.platform.compiled.routes = vec![vm::Route { name: "direct".into(), default: true }];
            return;
        };
        let mut routes: BTreeMap<Arc<str>, bool> = BTreeMap::new();
        let mut default: Option<Place> = None;
        for (key, node) in self.reader.entries(node).unwrap_or_default() {
            let Some(name) = self.identifier(key) else { continue };
            let fields = self.reader.fields(node, key.place, &["default", "description"]);
            let entry = fields.and_then(|fields| fields.entry("default"));
            let is_default = entry.is_some_and(|(_, node)| self.reader.bool(node) == Some(true));
            if let Some((key, _)) = entry.filter(|_| is_default) {
                if let Some(first) = default {
                    let message = "two routes are the default";
                    let diagnostic = Diagnostic::new(&CONFLICT, key.place, message).label(first, "first here");
                    self.reader.report(diagnostic);
                } else {
                    default = Some(key.place);
                }
            }
            routes.entry(name).or_insert(is_default);
        }
        // One route alone needs no word: there is no other.
        let alone = routes.len() == 1;
        self.platform.compiled.routes =
            routes.into_iter().map(|(name, default)| vm::Route { name, default: default || alone }).collect();
    }

    /// A key that is a name of the language; reported where it is none.
    pub(super) fn identifier(&mut self, key: &Key) -> Option<Arc<str>> {
        if is_identifier(&key.text) {
            return Some(key.text.as_str().into());
        }
        self.reader.report(bad_name(&key.text, key.place));
        None
    }

    pub(super) fn say(&mut self, code: &'static Code, place: Place, message: impl Into<String>) {
        self.reader.say(code, place, message);
    }

    /// Gives an enumeration its number.
    pub(super) fn enumeration(&mut self, name: &str, labels: Vec<(Arc<str>, i64)>) -> Type {
        let def = stellar_vm::value::EnumDef { name: name.into(), labels };
        let which = Enumeration {
            platform: self.platform.compiled.name.clone(),
            index: u32::try_from(self.platform.enums.len()).unwrap_or(u32::MAX),
            def: Arc::new(def),
        };
        self.platform.enums.push(which.clone());
        Type::Enum(which)
    }
}

/// Whether a text is a name of the language: `platform-v3`, `tcu_id`.
pub(crate) fn is_identifier(text: &str) -> bool {
    let word = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    !text.starts_with(|c: char| c.is_ascii_digit()) && text.split('-').all(word)
}

fn bad_name(text: &str, place: Place) -> Diagnostic {
    let text = crate::yaml::shortened(text);
    let message = format!("`{text}` is no name that the language can write");
    let help = "a name is made of letters, digits and `_`, with `-` between them, and begins with no digit";
    Diagnostic::new(&BAD_NAME, place, message).help(help)
}

#[cfg(test)]
mod tests {
    use super::is_identifier;

    #[test]
    fn names_are_those_of_the_language() {
        for name in ["a", "_", "platform-v3", "tcu_id", "a-1"] {
            assert!(is_identifier(name), "{name}");
        }
        for name in ["", "1a", "a-", "-a", "a--b", "é", "a b", "a.b"] {
            assert!(!is_identifier(name), "{name}");
        }
    }
}
