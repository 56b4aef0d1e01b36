//! `executor:` the instance, and the compilation parameters.

use stellar_vm::{bounds::MAX_RETRIES, program::Policy};

use super::{UNBOUNDED_RETRY, not_yet};
use crate::yaml::{Node, Reader};

/// What concerns the executor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executor {
    /// Name of this instance in logs.
    pub instance: String,
    /// Policy of eligible steps that have none.
    pub default_retry: Option<Policy>,
    /// Window of a telecommand that declares none, in nanoseconds.
    pub default_window: i64,
    /// Freshness of a parameter that declares none, in nanoseconds.
    pub freshness: i64,
    /// How many runs may go on at once.
    pub max_runs: usize,
}

const SECOND: i64 = 1_000_000_000;
const MOST_RUNS: i64 = 100_000;

impl Default for Executor {
    fn default() -> Self {
        Self {
            instance: "stellar".to_owned(),
            default_retry: Some(Policy { times: Some(1), every: Some(2 * SECOND), total: None }),
            default_window: 10 * SECOND,
            freshness: 10 * SECOND,
            max_runs: 1_000,
        }
    }
}

/// Reads the mapping.
pub(super) fn read(node: &Node, reader: &mut Reader<'_>) -> Executor {
    let mut executor = Executor::default();
    let known = ["instance", "default_retry", "default_window", "freshness", "max_runs", "drain"];
    let Some(fields) = reader.fields(node, node.place, &known) else { return executor };
    not_yet(reader, &fields, &["drain"]);
    if let Some(node) = fields.get("instance")
        && let Some(text) = reader.text(node)
    {
        if text.is_empty() || text.len() > 128 || text.chars().any(char::is_control) {
            reader.bad(node, "an instance has a name of 1 to 128 bytes, without control characters");
        } else {
            executor.instance = text.to_owned();
        }
    }
    if let Some(node) = fields.get("default_retry") {
        executor.default_retry = policy(node, reader);
    }
    if let Some(node) = fields.get("default_window")
        && let Some(window) = positive(node, reader)
    {
        executor.default_window = window;
    }
    if let Some(node) = fields.get("freshness")
        && let Some(freshness) = positive(node, reader)
    {
        executor.freshness = freshness;
    }
    if let Some(node) = fields.get("max_runs")
        && let Some(most) = reader.int_in(node, 1, MOST_RUNS)
    {
        executor.max_runs = usize::try_from(most).unwrap_or(usize::MAX);
    }
    executor
}

fn positive(node: &Node, reader: &mut Reader<'_>) -> Option<i64> {
    let duration = reader.duration(node)?;
    if duration <= 0 {
        reader.bad(node, "a duration greater than zero is due here");
        return None;
    }
    Some(duration)
}

/// `{times: 1, every: 2s, for: 1 min}`: a count, a total duration or both.
fn policy(node: &Node, reader: &mut Reader<'_>) -> Option<Policy> {
    let fields = reader.fields(node, node.place, &["times", "every", "for"])?;
    let before = reader.out.len();
    let times = fields.get("times").and_then(|node| reader.int_in(node, 0, i64::from(MAX_RETRIES)));
    let every = fields.get("every").and_then(|node| positive(node, reader));
    let total = fields.get("for").and_then(|node| positive(node, reader));
    if reader.out.len() > before {
        return None;
    }
    if times.is_none() && total.is_none() {
        let message = "the default retry has neither `times` nor `for`, so nothing ends it";
        let diagnostic = crate::diagnostics::Diagnostic::new(&UNBOUNDED_RETRY, node.place, message);
        reader.report(diagnostic.help("add `times: 1`, or `for: 1 min`"));
        return None;
    }
    Some(Policy { times: times.and_then(|times| u32::try_from(times).ok()), every, total })
}
