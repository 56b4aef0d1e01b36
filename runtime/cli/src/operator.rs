//! What an operator is asked, and what was answered beforehand.

use std::{cell::Cell, sync::Arc};

use stellar_vm::event::{Body, DecisionOption, Event, Fact, Path, StepOutcome, Transition};

use crate::{
    args::Operator,
    exit::{Exit, Failure},
    output,
    render::option_text,
};

/// Answers and decisions given on the command line.
#[derive(Debug)]
pub(crate) struct Beforehand {
    answers: Vec<Given>,
    decisions: Vec<Given>,
}

/// One of them: `name=value`.
#[derive(Debug)]
struct Given {
    name: String,
    value: String,
    used: Cell<bool>,
}

/// Something that an operator must say, as the log tells of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Asked {
    /// A question.
    Question {
        /// Its identifier.
        id: Arc<str>,
        /// Its text.
        text: String,
        /// The choices.
        choices: Vec<Arc<str>>,
        /// The step.
        step: Path,
    },
    /// A decision.
    Decision {
        /// Its identifier.
        id: Arc<str>,
        /// The step.
        step: Path,
        /// What can be chosen.
        options: Vec<DecisionOption>,
    },
}

/// What an operator says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// An answer.
    Answer(String),
    /// A decision.
    Decide(DecisionOption),
}

const OPTIONS: [DecisionOption; 5] = [
    DecisionOption::Replay,
    DecisionOption::Skip,
    DecisionOption::Fail,
    DecisionOption::Abort,
    DecisionOption::Recheck,
];

/// The decision of that name.
pub(crate) fn option(name: &str) -> Option<DecisionOption> {
    OPTIONS.into_iter().find(|option| option_text(*option) == name)
}

impl Beforehand {
    /// Reads what the command line says.
    pub(crate) fn new(args: &Operator) -> Result<Self, Failure> {
        let read = |list: &[String], flag: &str| {
            list.iter()
                .map(|text| match text.rsplit_once('=') {
                    Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok(Given {
                        name: name.trim().to_owned(),
                        value: value.trim().to_owned(),
                        used: Cell::new(false),
                    }),
                    _ => Err(Failure::wrong_call(format!("`--{flag} {text}` is not of the form NAME=VALUE"))),
                })
                .collect::<Result<Vec<_>, _>>()
        };
        let (answers, decisions) = (read(&args.answer, "answer")?, read(&args.decide, "decide")?);
        for decision in &decisions {
            if option(&decision.value).is_none() {
                let known: Vec<String> = OPTIONS.into_iter().map(option_text).collect();
                return Err(Failure::wrong_call(format!("`{}` is no decision", decision.value))
                    .help(format!("one of {}", known.join(", "))));
            }
        }
        Ok(Self { answers, decisions })
    }

    /// What was said beforehand to this. An answer holds for every question of its text (of several the next, the last
    /// one from then on); a decision holds once, so that nothing is replayed without end.
    pub(crate) fn reply(&self, asked: &Asked) -> Option<Reply> {
        match asked {
            Asked::Question { text, .. } => {
                let mut fitting = self.answers.iter().filter(|given| given.name == *text);
                let fresh = fitting.clone().find(|given| !given.used.get());
                let given = fresh.or_else(|| fitting.next_back())?;
                given.used.set(true);
                Some(Reply::Answer(given.value.clone()))
            }
            Asked::Decision { step, .. } => {
                let given = self.decisions.iter().find(|given| !given.used.get() && is_step(&given.name, step))?;
                given.used.set(true);
                option(&given.value).map(Reply::Decide)
            }
        }
    }

    /// Says what nobody asked for, where the run has ended.
    pub(crate) fn tell_unused(&self, exit: Exit) {
        let unused = self.unused();
        if !unused.is_empty() && matches!(exit, Exit::Done | Exit::Failed) {
            output::tell(&format!("stellar: nobody asked for {}", unused.join(", ")));
        }
    }

    /// What nobody asked for, as it was given.
    fn unused(&self) -> Vec<String> {
        let list = |all: &[Given], flag: &str| {
            let unused = all.iter().filter(|given| !given.used.get());
            unused.map(|given| format!("--{flag} \"{}={}\"", given.name, given.value)).collect::<Vec<_>>()
        };
        [list(&self.answers, "answer"), list(&self.decisions, "decide")].concat()
    }
}

/// A step is named by its own name, or by the names on the way to it with ` / ` between them.
fn is_step(name: &str, step: &[Arc<str>]) -> bool {
    let path: Vec<&str> = step.iter().map(AsRef::as_ref).collect();
    path.last() == Some(&name) || path.join(" / ") == name
}

/// Keeps what is open, event by event.
#[derive(Debug, Default)]
pub(crate) struct Open {
    asked: Vec<Asked>,
    suspended: bool,
}

impl Open {
    /// Takes in an event; gives what it asks.
    pub(crate) fn take(&mut self, event: &Event) -> Option<Asked> {
        let asked = match &event.body {
            Body::Transition(Transition::QuestionAsked { id, text, choices, step, .. }) => {
                Asked::Question { id: id.clone(), text: text.clone(), choices: choices.clone(), step: step.clone() }
            }
            Body::Transition(Transition::DecisionRequired { id, step, options, .. }) => {
                // A question ends with its attempt, and the decision stands in its place.
                self.drop_questions(step);
                Asked::Decision { id: id.clone(), step: step.clone(), options: options.clone() }
            }
            other => {
                self.settle(other);
                return None;
            }
        };
        self.asked.push(asked.clone());
        Some(asked)
    }

    fn settle(&mut self, body: &Body) {
        match body {
            Body::Fact(Fact::Answered { question, .. }) => self.drop_id(question),
            Body::Fact(Fact::Decided { decision, .. }) => self.drop_id(decision),
            Body::Fact(Fact::Suspended { .. }) => {
                self.suspended = true;
                self.asked.retain(|asked| matches!(asked, Asked::Decision { .. }));
            }
            Body::Fact(Fact::Resumed { .. }) => self.suspended = false,
            Body::Transition(Transition::StepFinished { step, outcome, .. }) => {
                let _: StepOutcome = *outcome;
                self.drop_questions(step);
            }
            Body::Transition(Transition::RunFinished { .. }) => *self = Self::default(),
            _ => {}
        }
    }

    fn drop_id(&mut self, gone: &str) {
        self.asked.retain(|asked| match asked {
            Asked::Question { id, .. } | Asked::Decision { id, .. } => **id != *gone,
        });
    }

    fn drop_questions(&mut self, ended: &Path) {
        self.asked.retain(|asked| !matches!(asked, Asked::Question { step, .. } if step == ended));
    }

    /// What is open, the oldest first.
    pub(crate) fn asked(&self) -> &[Asked] {
        &self.asked
    }

    /// Whether the run is suspended.
    pub(crate) const fn suspended(&self) -> bool {
        self.suspended
    }
}

impl Asked {
    /// Its identifier.
    pub(crate) fn id(&self) -> &Arc<str> {
        match self {
            Self::Question { id, .. } | Self::Decision { id, .. } => id,
        }
    }

    /// What can be said to it.
    pub(crate) fn choices(&self) -> Vec<String> {
        match self {
            Self::Question { choices, .. } => choices.iter().map(ToString::to_string).collect(),
            Self::Decision { options, .. } => options.iter().map(|option| option_text(*option)).collect(),
        }
    }

    /// What a line typed by an operator says to it: a choice, or a beginning that only one choice has.
    pub(crate) fn read(&self, line: &str) -> Option<Reply> {
        let wanted = line.trim();
        let choices = self.choices();
        let exact = choices.iter().find(|choice| *choice == wanted);
        let lower = wanted.to_lowercase();
        let mut near = choices.iter().filter(|choice| choice.to_lowercase().starts_with(&lower) && !lower.is_empty());
        let chosen = match (exact, near.next(), near.next()) {
            (Some(exact), ..) => exact,
            (None, Some(only), None) => only,
            _ => return None,
        };
        match self {
            Self::Question { .. } => Some(Reply::Answer(chosen.clone())),
            Self::Decision { .. } => option(chosen).map(Reply::Decide),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beforehand(answer: &[&str], decide: &[&str]) -> Result<Beforehand, Failure> {
        let list = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        Beforehand::new(&Operator { answer: list(answer), decide: list(decide), format: crate::args::Format::Text })
    }

    fn question(text: &str) -> Asked {
        let choices = vec!["yes".into(), "no".into()];
        Asked::Question { id: "q".into(), text: text.into(), choices, step: ["P".into(), "S".into()].into() }
    }

    fn decision() -> Asked {
        let options = vec![DecisionOption::Replay, DecisionOption::Recheck, DecisionOption::Abort];
        Asked::Decision { id: "d".into(), step: ["P".into(), "S".into()].into(), options }
    }

    #[test]
    fn answers_hold_for_every_question_of_their_text() {
        let given = beforehand(&["a=b?=yes", "a=b?=no"], &[]).unwrap();
        let said = |given: &Beforehand| given.reply(&question("a=b?"));
        assert_eq!(said(&given), Some(Reply::Answer("yes".into())));
        assert_eq!(said(&given), Some(Reply::Answer("no".into())));
        assert_eq!(said(&given), Some(Reply::Answer("no".into())), "the last one holds from then on");
        assert_eq!(given.reply(&question("other?")), None);
        assert!(given.unused().is_empty());
    }

    #[test]
    fn a_decision_holds_once() {
        let given = beforehand(&[], &["S=replay", "P / S=abort", "T=skip"]).unwrap();
        assert_eq!(given.reply(&decision()), Some(Reply::Decide(DecisionOption::Replay)));
        assert_eq!(given.reply(&decision()), Some(Reply::Decide(DecisionOption::Abort)));
        assert_eq!(given.reply(&decision()), None);
        assert_eq!(given.unused(), ["--decide \"T=skip\""]);
    }

    #[test]
    fn what_cannot_be_is_a_wrong_call() {
        assert!(beforehand(&["yes"], &[]).is_err());
        assert!(beforehand(&[], &["S=perhaps"]).is_err());
        assert!(beforehand(&["=yes"], &[]).is_err());
    }

    #[test]
    fn a_typed_line_is_a_choice_or_its_unique_beginning() {
        assert_eq!(question("?").read(" Y \n"), Some(Reply::Answer("yes".into())));
        assert_eq!(decision().read("re"), None, "replay or recheck");
        assert_eq!(decision().read("rep"), Some(Reply::Decide(DecisionOption::Replay)));
        assert_eq!(decision().read(""), None);
    }
}
