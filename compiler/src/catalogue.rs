//! The catalogue of telecommands and telemetry: YAML to tables that are checked.

mod model;

pub use model::{AlarmEntry, Catalogue, Entry, Platform, TelecommandEntry};
