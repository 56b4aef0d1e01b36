//! The text of a file as miette is to see it.
//!
//! Without byte order mark; lines are found by our own table, not by reading the file from its beginning for every
//! label. Lines that are too long to be drawn (miette panics past 65,535 columns) are cut round what is pointed at, and
//! control characters, which could mislead a terminal, are replaced.

use std::{borrow::Cow, collections::BTreeMap};

use miette::{LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use stellar_grammar::Span;

use crate::{
    diagnostics::Diagnostic,
    source::{FileId, SourceFile, is_control},
};

/// The longest line, in bytes, that is drawn whole.
const LONGEST: usize = 400;
/// How much of a longer one is drawn before what is pointed at.
const LEAD: usize = 60;

/// A text with the labels in it.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    file: &'a SourceFile,
    text: Cow<'a, str>,
    /// Of a text that was redrawn: the line of the file with which it begins, and where its own lines begin.
    redrawn: Option<(usize, Vec<usize>)>,
    /// Where each label stands in `text`, and in the file; `None` for one of another file.
    labels: Vec<Option<(Span, usize)>>,
}

impl<'a> Shown<'a> {
    pub(super) fn new(diagnostic: &Diagnostic, id: FileId, file: &'a SourceFile) -> Self {
        let mark = file.mark_len();
        let whole = file.text().get(mark..).unwrap_or_default();
        let fitted: Vec<Option<Span>> = diagnostic
            .labels
            .iter()
            .map(|label| (label.place.file == id).then(|| fit(file, whole, label.place.span)))
            .collect();
        if !file.has_controls() && file.longest_line() <= LONGEST {
            let labels = fitted.into_iter().map(|span| span.map(|span| (span, span.start.saturating_add(mark))));
            return Self { file, text: Cow::Borrowed(whole), redrawn: None, labels: labels.collect() };
        }
        let (first, part) = around(file, whole, &fitted);
        let shifted =
            |span: Span| Span::new(span.start.saturating_sub(part.start), span.end.saturating_sub(part.start));
        let local: Vec<Option<Span>> = fitted.iter().map(|span| span.map(shifted)).collect();
        let (text, moved) = redraw(part.of(whole), &local);
        let line_starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at.saturating_add(1))).collect();
        let new = |at: usize| moved.get(&at).copied().unwrap_or(at);
        let labels = fitted.iter().zip(local).map(|(span, local)| {
            let (span, local) = span.as_ref().zip(local)?;
            Some((Span::new(new(local.start), new(local.end)), span.start.saturating_add(mark)))
        });
        let labels = labels.collect();
        Self { file, text: Cow::Owned(text), redrawn: Some((first, line_starts)), labels }
    }

    /// The labels of a finding that stand in this file.
    pub(super) fn labels<'d>(&'d self, diagnostic: &'d Diagnostic) -> impl Iterator<Item = LabeledSpan> + 'd {
        diagnostic.labels.iter().zip(&self.labels).enumerate().filter_map(|(at, (label, placed))| {
            let (span, _) = placed.as_ref()?;
            let span = SourceSpan::from(span.start..span.end);
            Some(if at == 0 {
                LabeledSpan::new_primary_with_span(label.text.clone(), span)
            } else {
                LabeledSpan::new_with_span(label.text.clone(), span)
            })
        })
    }

    /// The line of an offset, from 0 in this text.
    fn line(&self, offset: usize) -> usize {
        match &self.redrawn {
            Some((_, starts)) => starts.partition_point(|start| *start <= offset).saturating_sub(1),
            None => self.file.line_at(offset.saturating_add(self.file.mark_len())),
        }
    }

    fn line_start(&self, line: usize) -> usize {
        match &self.redrawn {
            Some((_, starts)) => starts.get(line).copied().unwrap_or(self.text.len()),
            None => self.file.line_start(line).saturating_sub(self.file.mark_len()),
        }
    }

    /// The column that a reader is told, from 0: that of the file.
    fn column(&self, offset: usize) -> usize {
        let original = self.labels.iter().flatten().find(|(span, _)| span.start == offset).map(|(_, at)| *at);
        let original = original.unwrap_or_else(|| offset.saturating_add(self.file.mark_len()));
        usize::try_from(self.file.position(original).column).unwrap_or(usize::MAX).saturating_sub(1)
    }
}

impl SourceCode for Shown<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let end = span.offset().saturating_add(span.len());
        if end > self.text.len() {
            return Err(MietteError::OutOfBounds);
        }
        let line = self.line(span.offset());
        let last = self.line(end.saturating_sub(1).max(span.offset()));
        let (from, to, first, column) = if before == 0 {
            (span.offset(), end, line, self.column(span.offset()))
        } else {
            let first = line.saturating_sub(before);
            let behind = self.line_start(last.saturating_add(after).saturating_add(1));
            (self.line_start(first), behind.max(end), first, 0)
        };
        let data = self.text.get(from..to).ok_or(MietteError::OutOfBounds)?;
        let lines = data.lines().count();
        let first = first.saturating_add(self.redrawn.as_ref().map_or(0, |(first, _)| *first));
        let place = SourceSpan::from(from..to);
        let name = self.file.name().to_owned();
        Ok(Box::new(MietteSpanContents::new_named(name, data.as_bytes(), place, first, column, lines)))
    }
}

/// A span of the file as one of the text without mark: on characters, inside the text, and where there is something to
/// see.
fn fit(file: &SourceFile, text: &str, span: Span) -> Span {
    let mark = file.mark_len();
    let clamp = |offset| file.clamp(offset).saturating_sub(mark);
    let span = Span::new(clamp(span.start), clamp(span.end));
    let seen = text.trim_end();
    if span.start < seen.len() || seen.is_empty() {
        return span;
    }
    // Behind all there is: the last character stands for it.
    let last = seen.char_indices().next_back().map_or(0, |(at, _)| at);
    Span::new(last, seen.len())
}

/// The lines from the first label to the last with those next to them: the number of the first, from 0, and the bytes.
fn around(file: &SourceFile, text: &str, labels: &[Option<Span>]) -> (usize, Span) {
    // One line of context on either side is drawn.
    const CONTEXT: usize = 2;
    let mark = file.mark_len();
    let start = labels.iter().flatten().map(|span| span.start).min().unwrap_or(0);
    let end = labels.iter().flatten().map(|span| span.end).max().unwrap_or(0);
    let first = file.line_at(start.saturating_add(mark)).saturating_sub(CONTEXT);
    let behind = file.line_at(end.saturating_add(mark)).saturating_add(CONTEXT).saturating_add(1);
    let offset = |line| file.line_start(line).saturating_sub(mark).min(text.len());
    (first, Span::new(offset(first), offset(behind)))
}

/// The text with long lines cut and control characters replaced, and where the ends of the labels went.
fn redraw(text: &str, labels: &[Option<Span>]) -> (String, BTreeMap<usize, usize>) {
    let mut moved: BTreeMap<usize, usize> =
        labels.iter().flatten().flat_map(|span| [span.start, span.end]).map(|at| (at, 0)).collect();
    let mut out = String::new();
    let mut start = 0_usize;
    for line in text.split_inclusive('\n') {
        let end = start.saturating_add(line.len());
        let window = window(line, start, labels);
        let (head, tail) = (start.saturating_add(window.start), start.saturating_add(window.end));
        for (_, to) in moved.range_mut(start..head) {
            *to = out.len();
        }
        if window.start > 0 {
            out.push('…');
        }
        let drawn = window.of(line);
        for (at, c) in drawn.char_indices() {
            if let Some(to) = moved.get_mut(&head.saturating_add(at)) {
                *to = out.len();
            }
            let stray = c == '\r' && !drawn.get(at.saturating_add(1)..).is_some_and(|rest| rest.starts_with('\n'));
            out.push(if stray || is_control(c) { char::REPLACEMENT_CHARACTER } else { c });
        }
        for (_, to) in moved.range_mut(tail..end) {
            *to = out.len();
        }
        if window.end < line.trim_end_matches(['\n', '\r']).len() {
            out.push('…');
        }
        if window.end < line.len() && line.ends_with('\n') {
            out.push('\n');
        }
        start = end;
    }
    for (_, to) in moved.range_mut(start..) {
        *to = out.len();
    }
    (out, moved)
}

/// The part of a line that is drawn: all of it, or what stands round the first label on it.
fn window(line: &str, start: usize, labels: &[Option<Span>]) -> Span {
    if line.len() <= LONGEST {
        return Span::new(0, line.len());
    }
    let end = start.saturating_add(line.len());
    let on_line = labels.iter().flatten().find(|label| start <= label.start && label.start < end);
    let first = on_line.map_or(0, |label| label.start.saturating_sub(start));
    let from = line.floor_char_boundary(first.saturating_sub(LEAD));
    let to = line.floor_char_boundary(from.saturating_add(LONGEST).min(line.trim_end_matches(['\n', '\r']).len()));
    Span::new(from, to)
}
