//! The logs of runs: one gapless sequence of lines a run.

use std::sync::Arc;

use super::Reply;

/// One event as it is stored: its place, who wrote it, and its bytes (one line of JSON, without the line's end).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Place in the log, from 1.
    pub seq: u64,
    /// The writer's epoch.
    pub epoch: u64,
    /// The line.
    pub text: Arc<str>,
}

/// The logs of runs.
///
/// Append is the fence of the log: a line is stored only directly behind the last one, and never by an epoch lower than
/// the last one's. A line that already stands at its place with the same bytes is one's own, acknowledged again.
pub trait Log: Send + Sync {
    /// Appends lines of one run, all or none, and answers when they are durable.
    ///
    /// # Errors
    /// `Conflict` where another line stands at the place of one, or the one before it is missing; `Fenced` where the
    /// log's last line is of a higher epoch.
    fn append<'a>(&'a self, run: &'a str, lines: Vec<Line>) -> Reply<'a, ()>;

    /// Reads at most `limit` lines from `from` on, in order.
    ///
    /// # Errors
    /// `Damaged` where a line does not match its checksum.
    fn read<'a>(&'a self, run: &'a str, from: u64, limit: usize) -> Reply<'a, Vec<Line>>;

    /// The last line; `None` where the run has no log.
    ///
    /// # Errors
    /// `Damaged` where it does not match its checksum.
    fn last<'a>(&'a self, run: &'a str) -> Reply<'a, Option<Line>>;
}
