//! What holds for every input from outside, whatever its bytes: one file an input, each with `holds`, which panics where
//! something does not.
//!
//! Three callers: the fuzzer (`tests/fuzz`), which looks for inputs that panic; the campaign of mutations
//! (`mutations`), which changes the repository's own texts; and a test, which tries what the two have found and every
//! seed. [`seeds`] are where the first two begin.
#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a harness fails its test at once")]

pub mod api;
pub mod artifact;
pub mod catalogue;
pub mod configuration;
pub mod link;
pub mod log;
pub mod mutate;
pub mod scenario;
pub mod seeds;
pub mod sources;
mod told;
mod world;

/// An input from outside.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name: that of its folder in `tests/fixtures/fuzz`.
    pub name: &'static str,
    /// Panics where what must hold for every input does not hold for this one.
    pub holds: fn(&[u8]),
    /// Words that a fuzzer puts into its inputs.
    pub words: &'static [&'static str],
}

/// The inputs from outside.
pub const TARGETS: [Target; 8] = [
    Target { name: "sources", holds: sources::holds, words: sources::WORDS },
    Target { name: "catalogue", holds: catalogue::holds, words: catalogue::WORDS },
    Target { name: "configuration", holds: configuration::holds, words: configuration::WORDS },
    Target { name: "scenario", holds: scenario::holds, words: scenario::WORDS },
    Target { name: "artifact", holds: artifact::holds, words: &[] },
    Target { name: "log", holds: log::holds, words: log::WORDS },
    Target { name: "link", holds: link::holds, words: &[] },
    Target { name: "api", holds: api::holds, words: api::WORDS },
];

/// The target of a name.
#[must_use]
pub fn target(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}
