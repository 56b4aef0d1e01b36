//! The configuration of a mission, `stellar.yaml`.
//!
//! What can be read of it is told apart from what cannot, and what it gives to the compilation is something that every
//! procedure can be compiled with.

use stellar_compiler::{
    config,
    pipeline::{Came, Checked, File, Input},
    source::{Origin, Sources},
};

use super::{sources, told};

/// Words of the configuration.
pub const WORDS: &[&str] = &[
    "time: ",
    "scale: ",
    "utc",
    "tai",
    "gps",
    "catalogue: ",
    "procedures: ",
    "store: ",
    "embedded: ",
    "path: ",
    "nats: ",
    "targets: ",
    "platform: ",
    "link: ",
    "sim: ",
    "ccsds: ",
    "behaviours: ",
    "seed: ",
    "target: ",
    "local: ",
    "127.0.0.1:8420",
    "[::1]:1",
    "replayed_after: ",
    "executor: ",
    "instance: ",
    "default_retry: ",
    "times: ",
    "every: ",
    "for: ",
    "default_window: ",
    "freshness: ",
    "max_runs: ",
    "warnings: ",
    "allow: ",
    "deny: ",
    "procedure::unused",
    "api: ",
    "alarms: ",
    "{",
    "}",
    "[",
    "]",
    "- ",
    ": ",
    "\n",
    "\n  ",
    "&a ",
    "*a",
    "null",
    "0",
    "365 d",
    "1 min",
    "---\n",
];

const STEP: &str = "step \"A\"\n  wait 1 s\nstep \"B\"\n  uses sat: platform-v3\n  send ping to sat.tcu[1]\n";

/// Tries one input.
///
/// # Panics
/// Where something does not hold.
pub fn holds(data: &[u8]) {
    let mut read = Sources::default();
    let file = read.add("stellar.yaml", data, Origin::Project);
    let mut found = Vec::new();
    let config = config::read(file, &read, &mut found);
    let faulty = found.iter().any(|it| it.is_error());
    found.extend(config.unknown_platforms(["platform-v3", "pus-c"].into_iter()));
    stellar_compiler::diagnostics::sort(&mut found);
    told::holds(&found, &read);
    if faulty {
        return;
    }
    let standard = stellar_stdlib_procs::CATALOGUES.iter();
    let catalogue = standard.map(|file| File {
        path: file.path.to_owned(),
        bytes: file.text.as_bytes().to_vec(),
        came: Came::Standard,
    });
    let mut files = sources::standard();
    files.push(File { path: "a.proc".to_owned(), bytes: STEP.as_bytes().to_vec(), came: Came::Named });
    let input = Input { files, catalogue: catalogue.collect(), defaults: config.defaults(), ..Input::default() };
    let checked = Checked::new(&input);
    sources::compiled(&checked);
    let mut levels = checked.diagnostics_at(&config.levels);
    levels.retain(|it| it.is_error());
    told::holds(&levels, checked.sources());
}
