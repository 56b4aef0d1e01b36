//! The last table of a `BOUND.md`: the figures that were worked out by hand.

use std::collections::BTreeMap;

use serde_json::Value;
use stellar_vm::time::parse_duration;

/// The figures of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// One attempt, `on failure` included, in nanoseconds.
    pub attempt: i64,
    /// The part of it that is `on failure`.
    pub on_failure: i64,
    /// All attempts.
    pub max: i64,
    /// Attempts at most.
    pub attempts: i64,
}

/// The head of the table.
const HEAD: &str = "| definition | attempt | on failure | max | attempts |";

/// Reads the table.
///
/// # Panics
/// Where there is none, or where a line of it is not of its form.
#[must_use]
pub fn by_hand(text: &str) -> BTreeMap<String, Figures> {
    let (_, table) = text.rsplit_once(HEAD).unwrap_or_else(|| panic!("no table `{HEAD}`"));
    let lines = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    lines.map(|line| row(line).unwrap_or_else(|| panic!("no figures: {line}"))).collect()
}

fn row(line: &str) -> Option<(String, Figures)> {
    let mut cells = line.trim_matches('|').split('|').map(str::trim);
    let name = cells.next()?.trim_matches('"').to_owned();
    let mut duration = || parse_duration(cells.next()?);
    let (attempt, on_failure, max) = (duration()?, duration()?, duration()?);
    let attempts = cells.next()?.parse().ok()?;
    Some((name, Figures { attempt, on_failure, max, attempts }))
}

/// The same figures out of `stellar check --format json`.
#[must_use]
pub fn checked(report: &Value) -> BTreeMap<String, Figures> {
    let definitions = report["definitions"].as_array().into_iter().flatten();
    let figure = |of: &Value, key: &str| of[key].as_i64().unwrap_or(-1);
    definitions
        .map(|of| {
            let figures = Figures {
                attempt: figure(of, "attempt_ns"),
                on_failure: figure(of, "on_failure_ns"),
                max: figure(of, "max_ns"),
                attempts: figure(of, "attempts_max"),
            };
            (of["name"].as_str().unwrap_or_default().to_owned(), figures)
        })
        .collect()
}
