//! Diagnostics: what is wrong, where, and what to write instead.
//!
//! A [`Code`] is a `static` beside the rule that reports it; [`codes`] lists them all. A [`Diagnostic`] is one finding.
//! It is shown to a reader by [`human`] and to a program by [`json`]; nothing else formats it. Codes, severities and
//! messages are the compiler's; whether a warning is shown at all is decided by [`Levels`].

use stellar_grammar::SyntaxError;

use crate::source::{FileId, Place};

mod code;
mod human;
mod json;
mod levels;

pub use code::{Code, Severity, code, codes};
pub use human::{Look, human};
pub use json::{JsonDiagnostic, JsonLabel, JsonPosition, json};
pub use levels::{Levels, WrongLevel};

/// One finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Which rule it breaks.
    pub code: &'static Code,
    /// How bad it is: the code's severity, unless [`Levels`] raised it.
    pub severity: Severity,
    /// What is wrong, in one line: lower case, no final period, the user's text between backticks.
    pub message: String,
    /// Where: the first is the place itself, the others explain it.
    pub labels: Vec<Label>,
    /// What to write instead.
    pub help: Option<String>,
}

/// A place with or without a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub place: Place,
    /// What it has to do with the finding.
    pub text: Option<String>,
}

impl Diagnostic {
    /// A finding at a place, without further labels and without help.
    #[must_use]
    pub fn new(code: &'static Code, place: Place, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity,
            message: one_line(message.into()),
            labels: vec![Label { place, text: None }],
            help: None,
        }
    }

    /// What the grammar says of a file.
    #[must_use]
    pub fn syntax(error: SyntaxError, file: FileId) -> Self {
        let mut diagnostic = Self::new(code::syntax(error.code), Place::new(file, error.span), error.message);
        for label in error.labels {
            diagnostic = diagnostic.label(Place::new(file, label.span), label.text);
        }
        diagnostic.help = error.help;
        diagnostic
    }

    /// The same finding, with words at its own place.
    #[must_use]
    pub fn here(mut self, text: impl Into<String>) -> Self {
        if let Some(label) = self.labels.first_mut() {
            label.text = Some(text.into());
        }
        self
    }

    /// The same finding, pointing at another place too.
    #[must_use]
    pub fn label(mut self, place: Place, text: impl Into<String>) -> Self {
        self.labels.push(Label { place, text: Some(text.into()) });
        self
    }

    /// The same finding, saying what to write instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same finding with help where there is any.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        if help.is_some() {
            self.help = help;
        }
        self
    }

    /// Where it is.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.labels.first().map(|label| label.place)
    }

    /// Whether it is of the shape of the text, not of its meaning.
    #[must_use]
    pub fn is_of_shape(&self) -> bool {
        self.code.name.starts_with("syntax::")
    }

    /// Whether it keeps the program from being compiled.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// A message is one line, whatever of the user's text stands in it.
fn one_line(message: String) -> String {
    if !message.contains(['\n', '\r']) {
        return message;
    }
    let lines: Vec<&str> = message.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// Puts findings into source order: by file, place and code. What is said twice of one place is said once.
pub fn sort(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by(|a, b| (a.place(), a.code.name, &a.message).cmp(&(b.place(), b.code.name, &b.message)));
    diagnostics.dedup();
}
