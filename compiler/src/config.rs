//! The configuration of a mission, `stellar.yaml`: text to [`Config`].
//!
//! Every key that can stand in it is here, one file a part; a key whose part is not built yet is refused
//! (`config::not-yet`), never ignored. Paths are as written, relative to the folder of the file; reading what they name
//! is the caller's.

use std::collections::BTreeMap;

use stellar_vm::{
    program::{Defaults, Policy},
    time::Scale,
};

use crate::{
    diagnostics::{Code, Diagnostic, Levels},
    pipeline::Unread,
    source::{FileId, Place, Sources},
    yaml::{self, Fields, Node, Reader, Vocabulary},
};

mod executor;
mod paths;
mod targets;
mod warnings;

pub use executor::Executor;
pub use paths::Named;
pub use targets::{CcsdsSettings, LinkSettings, SimSettings, Target};

/// The configuration is no YAML.
pub static BAD_YAML: Code = Code::error("config::bad-yaml", "the configuration is no YAML");
/// A key without a meaning.
pub static UNKNOWN_KEY: Code =
    Code::error("config::unknown-key", "a key of the configuration has no meaning where it stands");
/// A key twice.
pub static DUPLICATE_KEY: Code =
    Code::error("config::duplicate-key", "a key stands twice in one mapping of the configuration");
/// A key that is missing.
pub static MISSING_KEY: Code =
    Code::error("config::missing-key", "a key that has to be there is missing in the configuration");
/// A value that is not what is due.
pub static BAD_VALUE: Code = Code::error("config::bad-value", "a value of the configuration is not what is due");
/// A part that is not built yet.
pub static NOT_YET: Code =
    Code::error("config::not-yet", "a part of the configuration that this version does not have");
/// A default policy without a limit.
pub static UNBOUNDED_RETRY: Code =
    Code::error("config::unbounded-retry", "the default retry has neither a count nor a total duration");
/// A target of a platform that no catalogue has.
pub static UNKNOWN_PLATFORM: Code =
    Code::error("config::unknown-platform", "a target is of a platform that no catalogue defines");
/// A path that leads nowhere.
pub static NO_SUCH_PATH: Code = Code::error("config::no-such-path", "a path of the configuration leads nowhere");

/// The codes of this module.
pub(crate) const CODES: &[&Code] = &[
    &NO_SUCH_PATH,
    &BAD_YAML,
    &UNKNOWN_KEY,
    &DUPLICATE_KEY,
    &MISSING_KEY,
    &BAD_VALUE,
    &NOT_YET,
    &UNBOUNDED_RETRY,
    &UNKNOWN_PLATFORM,
];

static VOCABULARY: Vocabulary = Vocabulary {
    bad_yaml: &BAD_YAML,
    unknown_key: &UNKNOWN_KEY,
    duplicate_key: &DUPLICATE_KEY,
    missing_key: &MISSING_KEY,
    bad_value: &BAD_VALUE,
};

/// Keys of parts that later versions have, at the top.
const LATER: [&str; 2] = ["api", "alarms"];

/// The configuration of a mission.
#[derive(Clone, Debug)]
pub struct Config {
    /// The one scale of all times.
    pub scale: Scale,
    /// Files and folders of the catalogue.
    pub catalogue: Vec<Named>,
    /// Files and folders of procedures.
    pub procedures: Vec<Named>,
    /// Folder of the embedded store, as written.
    pub store: String,
    /// The targets.
    pub targets: BTreeMap<String, Target>,
    /// What concerns the executor, and the compilation parameters among it.
    pub executor: Executor,
    /// Which warnings are allowed and denied.
    pub levels: Levels,
    /// What it says of catalogue and procedures, and could not be read.
    pub unread: Unread,
}

impl Default for Config {
    /// What holds where no configuration is found: no catalogue but the standard library's, no target.
    fn default() -> Self {
        Self {
            scale: Scale::default(),
            catalogue: Vec::new(),
            procedures: Vec::new(),
            store: ".stellar".to_owned(),
            targets: BTreeMap::new(),
            executor: Executor::default(),
            levels: Levels::default(),
            unread: Unread::default(),
        }
    }
}

impl Config {
    /// The compilation parameters.
    #[must_use]
    pub fn defaults(&self) -> Defaults {
        let Executor { default_retry, default_window, freshness, .. } = self.executor;
        // `times: 0` is no retry, as on a step.
        let retry = default_retry.filter(|policy: &Policy| policy.times != Some(0));
        Defaults { retry, window: default_window, freshness }
    }

    /// Targets whose platform is not among those given.
    #[must_use]
    pub fn unknown_platforms<'a>(&self, known: impl Iterator<Item = &'a str> + Clone) -> Vec<Diagnostic> {
        let unknown = self.targets.values().filter(|target| !known.clone().any(|name| name == target.platform));
        unknown
            .map(|target| {
                let message = format!("no catalogue defines the platform `{}`", target.platform);
                let help = crate::suggest::did_you_mean(&target.platform, known.clone());
                Diagnostic::new(&UNKNOWN_PLATFORM, target.platform_place, message).maybe_help(help)
            })
            .collect()
    }
}

/// Reads the configuration. What is wrong is in `out`; the configuration is then what could be read of it.
#[must_use]
pub fn read(file: FileId, sources: &Sources, out: &mut Vec<Diagnostic>) -> Config {
    let mut config = Config::default();
    let Some(documents) = yaml::read(file, sources, &VOCABULARY, out) else {
        config.unread = Unread { catalogue: true, procedures: true };
        return config;
    };
    let mut reader = Reader { vocabulary: &VOCABULARY, out };
    let mut documents = documents.iter();
    let Some(node) = documents.next() else { return config };
    if let Some(second) = documents.next() {
        reader.bad(second, "a configuration is one document, and here a second one begins");
    }
    let known = ["time", "catalogue", "procedures", "store", "targets", "executor", "warnings", "api", "alarms"];
    if let Some(fields) = reader.fields(node, Place::new(file, node.place.span), &known) {
        config.fill(&fields, &mut reader);
    }
    config
}

impl Config {
    fn fill(&mut self, fields: &Fields<'_>, reader: &mut Reader<'_>) {
        not_yet(reader, fields, &LATER);
        if let Some(node) = fields.get("time") {
            self.scale = scale(node, reader).unwrap_or_default();
        }
        if let Some(node) = fields.get("catalogue") {
            (self.catalogue, self.unread.catalogue) = paths::read(node, reader);
        }
        if let Some(node) = fields.get("procedures") {
            (self.procedures, self.unread.procedures) = paths::read(node, reader);
        }
        if let Some(node) = fields.get("store")
            && let Some(path) = store(node, reader)
        {
            self.store = path;
        }
        if let Some(node) = fields.get("targets") {
            self.targets = targets::read(node, reader);
        }
        if let Some(node) = fields.get("executor") {
            self.executor = executor::read(node, reader);
        }
        if let Some(node) = fields.get("warnings") {
            self.levels = warnings::read(node, reader);
        }
    }
}

/// Refuses the keys whose part is not built yet.
fn not_yet(reader: &mut Reader<'_>, fields: &Fields<'_>, keys: &[&str]) {
    for key in keys {
        if let Some((key, _)) = fields.entry(key) {
            let message = format!("`{}` belongs to a part that this version does not have", key.text);
            reader.report(Diagnostic::new(&NOT_YET, key.place, message).help("leave it out"));
        }
    }
}

fn scale(node: &Node, reader: &mut Reader<'_>) -> Option<Scale> {
    let fields = reader.fields(node, node.place, &["scale"])?;
    let words = [("utc", Scale::Utc), ("tai", Scale::Tai), ("gps", Scale::Gps)];
    reader.word(fields.get("scale")?, &words)
}

fn store(node: &Node, reader: &mut Reader<'_>) -> Option<String> {
    let fields = reader.fields(node, node.place, &["embedded", "nats"])?;
    not_yet(reader, &fields, &["nats"]);
    let node = fields.get("embedded")?;
    let fields = reader.fields(node, node.place, &["path"])?;
    let path = reader.required(&fields, "path")?;
    paths::one(path, reader)
}

#[cfg(test)]
mod tests;
