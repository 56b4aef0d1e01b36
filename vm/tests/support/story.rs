//! An event in one short line, to be read in tests: seconds since the start, what, and of identifiers only which one.

use stellar_vm::event::{Body, Event, Fact, Failure, Path, Transition};

/// Names of identifiers in the order in which they appear: `T1`, `Q1`, `D1`, `F1`.
#[derive(Default)]
pub(crate) struct Names {
    known: Vec<(String, String)>,
}

impl Names {
    fn give(&mut self, kind: char, id: &str) -> String {
        let count = self.known.iter().filter(|(_, name)| name.starts_with(kind)).count();
        let name = format!("{kind}{}", count + 1);
        self.known.push((id.to_owned(), name.clone()));
        name
    }

    fn name(&self, id: &str) -> String {
        let found = self.known.iter().find(|(known, _)| known == id);
        found.map_or_else(|| "?".to_owned(), |(_, name)| name.clone())
    }
}

fn path(path: &Path) -> String {
    path.iter().skip(1).map(|name| &**name).collect::<Vec<_>>().join("/")
}

fn label<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap().trim_matches('"').to_owned()
}

fn because(failure: &Option<Failure>) -> String {
    failure.as_ref().map_or_else(String::new, |failure| format!(" {}", label(&failure.code)))
}

/// Seconds since the start, as short as they are exact.
pub(crate) fn seconds(ns: i64) -> String {
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Tells an event.
pub(crate) fn tell(event: &Event, start: i64, names: &mut Names) -> String {
    let what = match &event.body {
        Body::Transition(transition) => done(transition, start, names),
        Body::Fact(fact) => happened(fact, start, names),
    };
    format!("{} {what}", seconds(event.at.ns - start))
}

fn done(transition: &Transition, start: i64, names: &mut Names) -> String {
    match transition {
        Transition::StepStarted { step, attempt, .. } => format!("step {} #{attempt}", path(step)),
        Transition::StepFinished { step, attempt, outcome, failure } => {
            format!("{} {} #{attempt}{}", label(outcome), path(step), because(failure))
        }
        Transition::CallStarted { step, attempt, .. } => format!("call {} #{attempt}", path(step)),
        Transition::CallFinished { step, attempt, outcome, failure } => {
            format!("call {} {} #{attempt}{}", label(outcome), path(step), because(failure))
        }
        Transition::TelecommandSent { id, telecommand, retry_of, attempt, .. } => {
            let id = names.give('T', id);
            let again = retry_of.as_ref().map_or_else(String::new, |first| format!(" of {}", names.name(first)));
            format!("send {telecommand} {id}{again} #{attempt}")
        }
        Transition::QuestionAsked { id, text, choices, due, .. } => {
            let id = names.give('Q', id);
            format!("ask {id} `{text}` {} until {}", choices.join("|"), seconds(due.ns - start))
        }
        Transition::DecisionRequired { id, step, options, failure, telecommands, reason, .. } => {
            let id = names.give('D', id);
            let options: Vec<_> = options.iter().map(label).collect();
            let known: Vec<_> = telecommands
                .iter()
                .map(|known| format!(" {} {}", names.name(&known.id), label(&known.known)))
                .collect();
            let why = if failure.is_some() { because(failure) } else { format!(" ({reason})") };
            format!("decide {id} {}{why} {}{}", path(step), options.join("|"), known.concat())
        }
        Transition::AttemptScheduled { step, attempt, due } => {
            format!("next {} #{attempt} at {}", path(step), seconds(due.ns - start))
        }
        Transition::Noted { text, .. } => format!("note {text}"),
        Transition::TransferRequested { id, transfer, due, .. } => {
            let id = names.give('F', id);
            format!("transfer {id} {transfer} until {}", seconds(due.ns - start))
        }
        Transition::RunFinished { outcome, reason, failure } => {
            let reason = reason.as_ref().filter(|_| failure.is_none());
            format!(
                "end {}{}{}",
                label(outcome),
                because(failure),
                reason.map_or_else(String::new, |why| format!(" ({why})"))
            )
        }
    }
}

fn happened(fact: &Fact, start: i64, names: &mut Names) -> String {
    match fact {
        Fact::RunStarted { procedure, .. } => format!("start {procedure}"),
        Fact::Leases { refused: None, .. } => "leases".to_owned(),
        Fact::Leases { refused: Some(refusal), .. } => format!("no leases: {}", refusal.reason),
        Fact::TelecommandStatus { id, status, .. } => format!("{} {}", names.name(id), label(status)),
        Fact::Observed { samples, utc, .. } => {
            let told: Vec<_> = samples.iter().map(|sample| format!(" {}={}", sample.parameter, sample.value)).collect();
            let utc = utc.map_or_else(String::new, |utc| format!(" utc {}", seconds(utc.ns - start)));
            format!("observed{}{utc}", told.concat())
        }
        Fact::Elapsed { due, .. } => format!("elapsed {}", seconds(due.ns - start)),
        Fact::Answered { question, value, .. } => format!("answer {} {value}", names.name(question)),
        Fact::Decided { decision, option, .. } => format!("decided {} {}", names.name(decision), label(option)),
        Fact::Suspended { why, .. } => format!("suspended {why}"),
        Fact::Resumed { .. } => "resumed".to_owned(),
        Fact::AbortRequested { .. } => "abort".to_owned(),
        Fact::TakenOver { .. } => "taken over".to_owned(),
        Fact::Declined { why, .. } => format!("declined {why}"),
        Fact::TransferStatus { id, status, .. } => format!("{} {}", names.name(id), label(status)),
    }
}
