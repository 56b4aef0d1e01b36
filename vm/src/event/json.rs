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
        let (head, body) = head(line)?;
        let body = if is_transition(&head.kind) {
            Body::Transition(transition(line)?)
        } else {
            Body::Fact(fact(&head.kind, line, body)?)
        };
        Ok(Self { seq: head.seq, at: head.at, epoch: head.epoch, nonce: head.nonce, fence: head.fence, body })
    }
}

/// Reads the transition of a line.
pub(crate) fn transition(line: &str) -> Result<Transition, NotAnEvent> {
    serde_json::from_str(line).map_err(wrong)
}

/// Reads the fact of a line, whose type is known; `body` is what follows the envelope, where that was cut off by hand.
pub(crate) fn fact(kind: &str, line: &str, body: Option<&str>) -> Result<Fact, NotAnEvent> {
    if let Some(fact) = body.and_then(plain_status) {
        return Ok(fact);
    }
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

/// A good `telecommand_status` laid out as it is written: most of the facts of most logs.
fn plain_status(body: &str) -> Option<Fact> {
    let (id, rest) = text(body.strip_prefix("\"type\":\"telecommand_status\",\"id\":\"")?)?;
    let (status, rest) = text(rest.strip_prefix(",\"status\":\"")?)?;
    let status = match status {
        "released" => TelecommandStatus::Released,
        "accepted" => TelecommandStatus::Accepted,
        "started" => TelecommandStatus::Started,
        "completed" => TelecommandStatus::Completed,
        _ => return None,
    };
    let (received_at, rest) = text(rest.strip_prefix(",\"received_at\":\"")?)?;
    let received_at = received_at.parse().ok()?;
    let (order, rest) = match rest.strip_prefix(",\"order\":") {
        None => (None, rest),
        Some(rest) => {
            let (order, rest) = number(rest)?;
            (Some(order), rest)
        }
    };
    (rest == "}").then(|| Fact::TelecommandStatus {
        id: Arc::from(id),
        status,
        received_at,
        order,
        stage: None,
        code: None,
        reason: None,
    })
}

/// A text without escapes up to its closing quote, and what follows.
fn text(rest: &str) -> Option<(&str, &str)> {
    let (text, rest) = rest.split_once('"')?;
    (!text.contains('\\')).then_some((text, rest))
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
        let (value, after) = text(after)?;
        nonce = Some(Arc::from(value));
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

#[cfg(test)]
mod tests {
    use alloc::{string::ToString, vec};

    use proptest::prelude::*;

    use super::*;
    use crate::{event::RunOutcome, time::Scale, value::Scalar};

    fn event(body: Body) -> Event {
        let at = Instant { ns: 1_790_936_100_000_000_000, scale: Scale::Utc };
        Event { seq: 7, at, epoch: 2, nonce: Some("a\"b".into()), fence: Some(9), body }
    }

    #[test]
    fn the_envelope_comes_first_and_what_is_empty_is_left_out() {
        let end = Transition::RunFinished { outcome: RunOutcome::Passed, reason: None, failure: None };
        let line = event(Body::Transition(end)).to_json().unwrap();
        let expected = "{\"seq\":7,\"at\":\"2026-10-02T10:15:00.000000000Z\",\"epoch\":2,\"nonce\":\"a\\\"b\",\"fence\":9,\
                        \"type\":\"run_finished\",\"outcome\":\"passed\"}";
        assert_eq!(line, expected);
    }

    #[test]
    fn a_log_of_another_schema_is_no_log() {
        let at = "\"at\":\"2026-10-02T10:15:00.000000000Z\"";
        let line = |schema: &str| {
            format!(
                "{{\"seq\":1,{at},\"epoch\":1,\"type\":\"run_started\",{schema}\"run\":\"01K6\",\"procedure\":\"P\",\
                 \"targets\":{{}},\"inputs\":{{}},\"artifact\":\"00\",\"scale\":\"utc\",\"links\":{{}},\"by\":\"os:test\"}}"
            )
        };
        let first = line("\"schema\":1,");
        assert_eq!(Event::from_json(&first).and_then(|event| event.to_json()), Ok(first.clone()));
        assert_eq!(Event::from_json(&line("")), Event::from_json(&first), "without a number it is the first");
        for other in ["2", "0", "\"1\"", "null"] {
            assert!(Event::from_json(&line(&format!("\"schema\":{other},"))).is_err(), "{other}");
        }
        let said = Event::from_json(&line("\"schema\":2,")).map_err(|error| format!("{error}"));
        assert_eq!(said, Err("no event of a run: the log is of schema 2, and this program reads schema 1".into()));
    }

    #[test]
    fn facts_read_by_hand_and_by_their_shape_are_the_same() {
        let at = event(Body::Fact(Fact::Declined { ctl: None, why: String::new() })).at;
        let status = |status, order, code: Option<&str>| Fact::TelecommandStatus {
            id: "01K6".into(),
            status,
            received_at: at,
            order,
            stage: None,
            code: code.map(ToString::to_string),
            reason: None,
        };
        let sample = SampleRecord {
            target: "sim-1".into(),
            parameter: "tcu[2].t".into(),
            value: Scalar::from_float(f64::NAN),
            received_at: at,
            order: 3,
            valid: false,
        };
        for fact in [
            status(TelecommandStatus::Released, Some(4), None),
            status(TelecommandStatus::Completed, None, None),
            status(TelecommandStatus::Failed, None, Some("3 (\"bad\")")),
            status(TelecommandStatus::NotReleased, None, None),
            Fact::Observed { pending: 3, samples: vec![sample], utc: Some(at) },
            Fact::Elapsed { pending: 3, due: at, utc: None },
        ] {
            let event = event(Body::Fact(fact));
            let line = event.to_json().unwrap();
            assert_eq!(Event::from_json(&line).as_ref(), Ok(&event), "{line}");
            let spaced = line.replace("\":", "\" : ").replace(",\"", " , \"");
            assert_eq!(Event::from_json(&spaced), Ok(event), "{spaced}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_text_makes_the_reader_panic(cut in 0..200_usize, put in "[ -~]{0,6}") {
            let fact = Fact::Elapsed { pending: 3, due: event(Body::Fact(Fact::Declined { ctl: None, why: String::new() })).at, utc: None };
            let line = event(Body::Fact(fact)).to_json().unwrap();
            let (before, after) = line.split_at(cut.min(line.len()));
            let _ = Event::from_json(&format!("{before}{put}{after}"));
            let _ = Event::from_json(&format!("{before}{put}"));
        }
    }
}
