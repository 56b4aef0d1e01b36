//! An event of a log as a line for people.

use std::fmt::Write;

use stellar_vm::{
    event::{
        Body, Event, Fact, Failure, Known, LeaseRefusal, RunOutcome, SampleRecord, StepOutcome, TelecommandKnown,
        TelecommandStatus, Transition,
    },
    time::{Instant, Scale, duration_text},
    value::Scalar,
};

/// Shows events one by one; times are told since the first.
#[derive(Debug, Default)]
pub(crate) struct Render {
    color: bool,
    began: Option<Instant>,
}

/// How a line is coloured.
#[derive(Clone, Copy)]
enum Tone {
    Plain,
    Dim,
    Good,
    Bad,
    Asking,
}

impl Render {
    /// Shows in colour or not.
    pub(crate) const fn new(color: bool) -> Self {
        Self { color, began: None }
    }

    /// The line of an event, without a line feed.
    pub(crate) fn event(&mut self, event: &Event) -> String {
        let began = *self.began.get_or_insert(event.at);
        let (tone, text) = match &event.body {
            Body::Transition(transition) => of_transition(transition, event.at),
            Body::Fact(fact) => of_fact(fact),
        };
        let code = match tone {
            Tone::Plain => "",
            Tone::Dim => "2",
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Asking => "33",
        };
        let head = format!("{:>4} {}", event.seq, clock(event.at.since(began)));
        if self.color && !code.is_empty() {
            format!("\u{1b}[2m{head}\u{1b}[0m  \u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            format!("{head}  {text}")
        }
    }
}

/// A time since the start: `00:03:05.250`.
pub(crate) fn clock(ns: i64) -> String {
    let ms = ns.max(0) / 1_000_000;
    format!("{:02}:{:02}:{:02}.{:03}", ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60, ms % 1_000)
}

/// A scalar as people write it.
pub(crate) fn scalar(value: &Scalar) -> String {
    match value {
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) => value.to_string(),
        Scalar::Str(value) => value.clone(),
    }
}

fn name(path: &[std::sync::Arc<str>]) -> String {
    path.last().map(ToString::to_string).unwrap_or_default()
}

fn tries(attempt: u32) -> String {
    if attempt > 1 { format!(" (attempt {attempt})") } else { String::new() }
}

fn failed(failure: Option<&Failure>) -> String {
    failure.map(|it| format!(": {}", failure_text(it))).unwrap_or_default()
}

/// A failure in one line, with its place.
pub(crate) fn failure_text(it: &Failure) -> String {
    let code =
        serde_json::to_value(it.code).ok().and_then(|code| code.as_str().map(ToOwned::to_owned)).unwrap_or_default();
    format!("{code}: {} ({}:{}: `{}`)", it.message, it.file, it.line, it.statement)
}

fn ended(outcome: StepOutcome) -> (Tone, &'static str) {
    match outcome {
        StepOutcome::Passed => (Tone::Good, "passed"),
        StepOutcome::Failed => (Tone::Bad, "failed"),
        StepOutcome::Skipped => (Tone::Asking, "skipped"),
        StepOutcome::Interrupted => (Tone::Asking, "interrupted"),
    }
}

fn of_transition(transition: &Transition, at: Instant) -> (Tone, String) {
    match transition {
        Transition::StepStarted { step, attempt, .. } | Transition::CallStarted { step, attempt, .. } => {
            (Tone::Plain, format!("▶ {}{}", name(step), tries(*attempt)))
        }
        Transition::StepFinished { step, attempt, outcome, failure }
        | Transition::CallFinished { step, attempt, outcome, failure } => {
            let (tone, word) = ended(*outcome);
            (tone, format!("■ {}{} {word}{}", name(step), tries(*attempt), failed(failure.as_ref())))
        }
        Transition::TelecommandSent { telecommand, component, target, args, route, id, retry_of, .. } => {
            let args = args.iter().fold(String::new(), |mut text, (name, value)| {
                let _ = write!(text, " {name}={}", scalar(value));
                text
            });
            let again = retry_of.as_ref().map(|first| format!(", again for {first}")).unwrap_or_default();
            (Tone::Plain, format!("→ {target}.{component} {telecommand}{args} via {route} [{id}{again}]"))
        }
        Transition::QuestionAsked { text, choices, due, .. } => {
            let within = duration_text(due.since(at));
            (Tone::Asking, format!("? {text} ({}) within {within}", choices.join(", ")))
        }
        Transition::DecisionRequired { step, reason, options, telecommands, .. } => {
            let options: Vec<String> = options.iter().map(|option| option_text(*option)).collect();
            let known: String = telecommands.iter().map(known).collect();
            (Tone::Asking, format!("? decide on {}: {reason}{known} ({})", name(step), options.join(", ")))
        }
        Transition::AttemptScheduled { step, attempt, due } => {
            (Tone::Dim, format!("↻ {} attempt {attempt} in {}", name(step), duration_text(due.since(at))))
        }
        Transition::Noted { text, .. } => (Tone::Plain, format!("✎ {text}")),
        Transition::TransferRequested { transfer, target, component, .. } => {
            (Tone::Plain, format!("⇅ transfer {transfer} to {target}.{component}"))
        }
        Transition::RunFinished { outcome, reason, failure } => {
            let (tone, word) = match outcome {
                RunOutcome::Passed => (Tone::Good, "passed"),
                RunOutcome::Failed => (Tone::Bad, "failed"),
                RunOutcome::Aborted => (Tone::Bad, "aborted"),
            };
            let why = match (reason, failure) {
                (_, Some(failure)) => format!(": {}", failure_text(failure)),
                (Some(reason), None) => format!(": {reason}"),
                (None, None) => String::new(),
            };
            (tone, format!("■ run {word}{why}"))
        }
    }
}

/// A decision as it is written.
pub(crate) fn option_text(option: stellar_vm::event::DecisionOption) -> String {
    format!("{option:?}").to_lowercase()
}

fn known(it: &TelecommandKnown) -> String {
    let what = match it.known {
        Known::Left => "left",
        Known::NeverLeft => "never left",
        Known::MayHaveLeft => "may have left",
    };
    format!("; {}.{} {what}", it.component, it.telecommand)
}

fn of_fact(fact: &Fact) -> (Tone, String) {
    match fact {
        Fact::RunStarted { run, procedure, targets, inputs, scale, virtual_clock, links, by, .. } => {
            let targets: Vec<String> = targets
                .iter()
                .map(|(name, target)| {
                    let link = links.get(target).map(|link| live(link)).unwrap_or_default();
                    format!("{name}={target}{link}")
                })
                .collect();
            let inputs: Vec<String> = inputs.iter().map(|(name, value)| format!("{name}={}", scalar(value))).collect();
            let clock = if *virtual_clock { ", virtual clock" } else { "" };
            let scale = match scale {
                Scale::Utc => "",
                Scale::Tai => ", TAI",
                Scale::Gps => ", GPS",
            };
            let with = [targets, inputs].concat().join(" ");
            (Tone::Plain, format!("run {run} of \"{procedure}\" {with} by {by}{clock}{scale}"))
        }
        Fact::Leases { taken, shared, refused } => leases(taken, *shared, refused.as_ref()),
        Fact::TelecommandStatus { id, status, stage, code, reason, .. } => {
            let (tone, word) = status_text(*status);
            let stage = stage.map(|stage| format!(" at {stage:?}").to_lowercase()).unwrap_or_default();
            let code = code.as_ref().map(|code| format!(", code {code}")).unwrap_or_default();
            // The reason may say itself that nothing left.
            let reason = reason.as_deref().map(|reason| reason.strip_prefix("never left: ").unwrap_or(reason));
            let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            (tone, format!("  {word}{stage}{code}{reason} [{id}]"))
        }
        Fact::Observed { samples, .. } => {
            let samples: Vec<String> = samples.iter().map(sample).collect();
            (
                Tone::Dim,
                format!("  observed {}", if samples.is_empty() { "nothing".to_owned() } else { samples.join(", ") }),
            )
        }
        Fact::Elapsed { .. } => (Tone::Dim, "  time is over".to_owned()),
        Fact::Answered { value, by, .. } => (Tone::Plain, format!("  {by} answers {value}")),
        Fact::Decided { option, by, .. } => (Tone::Plain, format!("  {by} decides {}", option_text(*option))),
        Fact::Suspended { why, by, .. } => (Tone::Asking, format!("⏸ suspended by {by}: {why}")),
        Fact::Resumed { by, .. } => (Tone::Plain, format!("⏵ resumed by {by}")),
        Fact::AbortRequested { by, .. } => (Tone::Asking, format!("  {by} aborts")),
        Fact::TakenOver { instance, known, .. } => (
            Tone::Asking,
            format!("⏵ taken over by {instance}{}", if known.is_empty() { "" } else { ", telecommands looked up" }),
        ),
        Fact::Declined { why, .. } => (Tone::Dim, format!("  declined: {why}")),
        Fact::TransferStatus { status, reason, .. } => {
            let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            (Tone::Plain, format!("  transfer {}{reason}", format!("{status:?}").to_lowercase()))
        }
    }
}

/// Live or simulated, as a run's header says it per target.
fn live(link: &str) -> String {
    if link == "sim" { " (simulated)".to_owned() } else { format!(" (live, {link})") }
}

fn leases(taken: &[std::sync::Arc<str>], shared: bool, refused: Option<&LeaseRefusal>) -> (Tone, String) {
    match refused {
        Some(refused) => (Tone::Bad, format!("  {}", refused.reason)),
        None => (Tone::Dim, format!("  holds {}{}", taken.join(", "), if shared { ", shared" } else { "" })),
    }
}

const fn status_text(status: TelecommandStatus) -> (Tone, &'static str) {
    match status {
        TelecommandStatus::Released => (Tone::Dim, "released"),
        TelecommandStatus::NotReleased => (Tone::Bad, "never left"),
        TelecommandStatus::Accepted => (Tone::Dim, "accepted"),
        TelecommandStatus::Started => (Tone::Dim, "started"),
        TelecommandStatus::Completed => (Tone::Dim, "completed"),
        TelecommandStatus::Failed => (Tone::Bad, "failed"),
        TelecommandStatus::EncodeFailed => (Tone::Bad, "not encoded"),
    }
}

/// A sample in words.
pub(crate) fn sample(it: &SampleRecord) -> String {
    let invalid = if it.valid { "" } else { " (invalid)" };
    format!("{}.{} = {}{invalid}", it.target, it.parameter, scalar(&it.value))
}
