//! Diagnostics for a program: the part `diagnostics` of `stellar check --format json`.

use serde::Serialize;

use super::{Diagnostic, Label};
use crate::source::{Place, Position, Sources};

/// A finding.
#[derive(Debug, Clone, Serialize)]
pub struct JsonDiagnostic {
    /// Its code.
    pub code: &'static str,
    /// `error` or `warning`.
    pub severity: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to write instead, or null.
    pub help: Option<String>,
    /// Its page, relative to the root of the project's sources.
    pub url: String,
    /// Where.
    pub labels: Vec<JsonLabel>,
}

/// A place with its words.
#[derive(Debug, Clone, Serialize)]
pub struct JsonLabel {
    /// Name of the file, as it was given.
    pub file: String,
    /// Its first character.
    pub start: JsonPosition,
    /// Behind its last character.
    pub end: JsonPosition,
    /// What it has to do with the finding, or null.
    pub text: Option<String>,
    /// Whether it is the place of the finding itself.
    pub primary: bool,
}

/// A position.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct JsonPosition {
    /// Line, from 1.
    pub line: u32,
    /// Column by characters, from 1.
    pub column: u32,
    /// Byte of the file, from 0.
    pub offset: usize,
}

impl From<Position> for JsonPosition {
    fn from(Position { line, column, offset }: Position) -> Self {
        Self { line, column, offset }
    }
}

/// The findings, in the order given.
#[must_use]
pub fn json(diagnostics: &[Diagnostic], sources: &Sources) -> Vec<JsonDiagnostic> {
    diagnostics.iter().map(|diagnostic| one(diagnostic, sources)).collect()
}

fn one(diagnostic: &Diagnostic, sources: &Sources) -> JsonDiagnostic {
    JsonDiagnostic {
        code: diagnostic.code.name,
        severity: diagnostic.severity.as_str(),
        message: diagnostic.message.clone(),
        help: diagnostic.help.clone(),
        url: diagnostic.code.page(),
        labels: diagnostic.labels.iter().enumerate().map(|(at, label)| place(label, at == 0, sources)).collect(),
    }
}

fn place(label: &Label, primary: bool, sources: &Sources) -> JsonLabel {
    let Place { file, span } = label.place;
    let end = Place::new(file, stellar_grammar::Span::at(span.end));
    JsonLabel {
        file: sources.get(file).map(|file| file.name().to_owned()).unwrap_or_default(),
        start: sources.position(label.place).into(),
        end: sources.position(end).into(),
        text: label.text.clone(),
        primary,
    }
}
