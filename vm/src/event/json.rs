//! One event as one line of JSON.
//!
//! Written: the envelope by hand, then the body as its type derives it, the braces between them taken out. Read: the
//! envelope as it is written is cut off by hand and the few facts that make up most of a log are read by their own
//! shape; whatever is laid out otherwise goes through a generic reader. Both ways give the same event.

use alloc::{format, string::String, sync::Arc, vec::Vec};
use core::fmt;

use serde::Deserialize;

use super::{Body, Event, Fact, SampleRecord, TelecommandStatus, Transition};
use crate::{catalogue::Stage, event::PendingId, time::Instant};

/// Why a line is no event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAnEvent(pub String);

impl fmt::Display for NotAnEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no event of a run: {}", self.0)
    }
}

impl core::error::Error for NotAnEvent {}

fn wrong(error: impl fmt::Display) -> NotAnEvent {
    NotAnEvent(format!("{error}"))
}

/// The types of transitions, as they stand in `type`.
const TRANSITIONS: [&str; 11] = [
    "step_started",
    "telecommand_sent",
    "step_finished",
    "call_started",
    "call_finished",
    "question_asked",
    "decision_required",
    "attempt_scheduled",
    "noted",
    "transfer_requested",
    "run_finished",
];

/// Whether a `type` is that of a transition.
pub(crate) fn is_transition(kind: &str) -> bool {
    TRANSITIONS.contains(&kind)
}

/// The envelope and the type of an event.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Head<'a> {
    pub(crate) seq: u64,
    pub(crate) at: Instant,
    pub(crate) epoch: u64,
    #[serde(default)]
    pub(crate) nonce: Option<Arc<str>>,
    #[serde(default)]
    pub(crate) fence: Option<u64>,
    #[serde(rename = "type", borrow)]
    pub(crate) kind: alloc::borrow::Cow<'a, str>,
}

/// What an event is, in JSON: `{"type":…,…}`.
///
/// # Errors
/// None that a caller can bring about: every field of a body has a JSON form.
pub fn body_json<T: serde::Serialize>(body: &T) -> Result<String, NotAnEvent> {
    serde_json::to_string(body).map_err(wrong)
}

impl Event {
    /// The event as a line of JSON, without a line feed.
    ///
    /// # Errors
    /// None that a caller can bring about: every field of an event has a JSON form.
    pub fn to_json(&self) -> Result<String, NotAnEvent> {
        let body = body_json(&self.body)?;
        let mut line = format!("{{\"seq\":{},\"at\":\"{}\",\"epoch\":{}", self.seq, self.at, self.epoch);
        if let Some(nonce) = &self.nonce {
            line.push_str(",\"nonce\":");
            line.push_str(&serde_json::to_string(nonce).map_err(wrong)?);
        }
        if let Some(fence) = self.fence {
            line.push_str(&format!(",\"fence\":{fence}"));
        }
        line.push(',');
        line.push_str(body.strip_prefix('{').unwrap_or(&body));
        Ok(line)
    }

    /// Reads a line of JSON.
    ///
    /// # Errors
    /// Where the line is no JSON object, a field is missing or of another type, or `type` is unknown.
    pub fn from_json(line: &str) -> Result<Self, NotAnEvent> {
        let head = head(line)?.0;
        let body = if is_transition(&head.kind) {
            Body::Transition(transition(line)?)
        } else {
            Body::Fact(fact(&head.kind, line)?)
        };
        Ok(Self { seq: head.seq, at: head.at, epoch: head.epoch, nonce: head.nonce, fence: head.fence, body })
    }
}

/// Reads the transition of a line.
pub(crate) fn transition(line: &str) -> Result<Transition, NotAnEvent> {
    serde_json::from_str(line).map_err(wrong)
}

/// Reads the fact of a line, whose type is known.
pub(crate) fn fact(kind: &str, line: &str) -> Result<Fact, NotAnEvent> {
    Ok(match kind {
        "telecommand_status" => {
            let Status { id, status, received_at, order, stage, code, reason } =
                serde_json::from_str(line).map_err(wrong)?;
            Fact::TelecommandStatus { id, status, received_at, order, stage, code, reason }
        }
        "observed" => {
            let Observed { pending, samples, utc } = serde_json::from_str(line).map_err(wrong)?;
            Fact::Observed { pending, samples, utc }
        }
        "elapsed" => {
            let Elapsed { pending, due, utc } = serde_json::from_str(line).map_err(wrong)?;
            Fact::Elapsed { pending, due, utc }
        }
        _ => serde_json::from_str(line).map_err(wrong)?,
    })
}

/// [`Fact::TelecommandStatus`] alone: read without the detour of a tagged type.
#[derive(Deserialize)]
struct Status {
    id: Arc<str>,
    status: TelecommandStatus,
    received_at: Instant,
    #[serde(default)]
    order: Option<u64>,
    #[serde(default)]
    stage: Option<Stage>,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    reason: Option<String>,
}

/// [`Fact::Observed`] alone.
#[derive(Deserialize)]
struct Observed {
    pending: PendingId,
    samples: Vec<SampleRecord>,
    #[serde(default)]
    utc: Option<Instant>,
}

/// [`Fact::Elapsed`] alone.
#[derive(Deserialize)]
struct Elapsed {
    pending: PendingId,
    due: Instant,
    #[serde(default)]
    utc: Option<Instant>,
}

/// The envelope of a line; where it is laid out as written by [`Event::to_json`], also what follows it from `"type"` on.
pub(crate) fn head(line: &str) -> Result<(Head<'_>, Option<&str>), NotAnEvent> {
    match canonical(line) {
        Some((head, body)) => Ok((head, Some(body))),
        None => Ok((serde_json::from_str(line).map_err(wrong)?, None)),
    }
}

fn canonical(line: &str) -> Option<(Head<'_>, &str)> {
    let rest = line.strip_prefix("{\"seq\":")?;
    let (seq, rest) = number(rest)?;
    let rest = rest.strip_prefix(",\"at\":\"")?;
    let (at, rest) = rest.split_once('"')?;
    let rest = rest.strip_prefix(",\"epoch\":")?;
    let (epoch, mut rest) = number(rest)?;
    let mut nonce = None;
    if let Some(after) = rest.strip_prefix(",\"nonce\":\"") {
        let (text, after) = after.split_once('"')?;
        if text.contains('\\') {
            return None;
        }
        nonce = Some(Arc::from(text));
        rest = after;
    }
    let mut fence = None;
    if let Some(after) = rest.strip_prefix(",\"fence\":") {
        let (value, after) = number(after)?;
        fence = Some(value);
        rest = after;
    }
    let body = rest.strip_prefix(',')?;
    let (kind, _) = body.strip_prefix("\"type\":\"")?.split_once('"')?;
    let kind = alloc::borrow::Cow::Borrowed(kind);
    Some((Head { seq, at: at.parse().ok()?, epoch, nonce, fence, kind }, body))
}

/// The number at the beginning of a text, written as JSON writes it, and what follows.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().position(|b| !b.is_ascii_digit())?;
    let (digits, rest) = text.split_at_checked(end)?;
    (digits == "0" || !digits.starts_with('0')).then_some(())?;
    Some((digits.parse().ok()?, rest))
}
