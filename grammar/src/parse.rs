//! The ways in: a file, and the pieces of the language that stand in catalogues and configurations.

use crate::{
    ast::{Ast, Duration, Expr, ExprKind, Range},
    error::{
        EMPTY_BODY, INVALID_UTF8, MISPLACED, NESTING_TOO_DEEP, OUTSIDE_DEFINITION, SyntaxError, UNCLOSED_BRACKET,
        UNEXPECTED_INDENT,
    },
    expected::line_number,
    layout::{self, Laid, LineSpan},
    lexer,
    shape::{Context, Parsed},
    span::Span,
    token::Start,
};

#[rustfmt::skip]
mod generated {
    #![expect(
        clippy::all,
        clippy::allow_attributes,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used,
        unreachable_pub,
        unused_imports,
        reason = "made by LALRPOP"
    )]
    include!(concat!(env!("OUT_DIR"), "/stellar.rs"));
}

/// The text of a file.
///
/// # Errors
/// `syntax::invalid-utf8` with the offset of the first byte that is no text.
pub fn decode(bytes: &[u8]) -> Result<&str, Box<SyntaxError>> {
    core::str::from_utf8(bytes).map_err(|error| {
        let start = error.valid_up_to();
        let byte = bytes.get(start).copied().unwrap_or_default();
        // A span for the text as it is shown, where one replacement character stands for what is no text.
        let span = Span::new(start, start + char::REPLACEMENT_CHARACTER.len_utf8());
        let error = SyntaxError::new(INVALID_UTF8, span, format!("byte {start} (0x{byte:02X}) is not UTF-8"));
        Box::new(error.with_help("save the file as UTF-8"))
    })
}

/// The tree of a file given as bytes. A file that is not UTF-8 gives an empty tree and that one error.
#[must_use]
pub fn parse_bytes(bytes: &[u8]) -> (Ast, Vec<SyntaxError>) {
    match decode(bytes) {
        Ok(text) => parse(text),
        Err(error) => (Ast::default(), vec![*error]),
    }
}

/// The tree of a file, and what is wrong with its shape, in source order: at most one token that does not fit a line.
///
/// Takes time in proportion to the length of the text, and a bounded stack.
#[must_use]
pub fn parse(text: &str) -> (Ast, Vec<SyntaxError>) {
    match run(text, Start::File) {
        (Some(Parsed::File(ast)), errors) => (ast, errors),
        (_, errors) => (Ast::default(), errors),
    }
}

/// A condition that stands in another document: `mode is not SAFE`. Spans count from the beginning of `text`; see
/// [`Span::shifted`].
#[must_use]
pub fn parse_condition(text: &str) -> (Expr, Vec<SyntaxError>) {
    expression(text, Start::Condition)
}

/// A value that stands in another document: `2`, `12.5 W`, `STANDBY`, `"text"`, `sat.tcu[1].mode`.
#[must_use]
pub fn parse_value(text: &str) -> (Expr, Vec<SyntaxError>) {
    expression(text, Start::Value)
}

/// A range that stands in another document: `-40..125`. `None` where it cannot be read, which is then reported.
#[must_use]
pub fn parse_range(text: &str) -> (Option<Range>, Vec<SyntaxError>) {
    match run(text, Start::Range) {
        (Some(Parsed::Range(range)), errors) => (range, errors),
        (_, errors) => (None, errors),
    }
}

/// A duration that stands in another document: `2s`, `1 min`.
#[must_use]
pub fn parse_duration(text: &str) -> (Duration, Vec<SyntaxError>) {
    match run(text, Start::Duration) {
        (Some(Parsed::Duration(duration)), errors) => (duration, errors),
        (_, errors) => (Duration { nanos: None, span: Span::new(0, text.len()) }, errors),
    }
}

fn expression(text: &str, start: Start) -> (Expr, Vec<SyntaxError>) {
    match run(text, start) {
        (Some(Parsed::Expr(expr)), errors) => (expr, errors),
        (_, errors) => (Expr { kind: ExprKind::Error, span: Span::new(0, text.len()) }, errors),
    }
}

/// Lexer, layout, parser. Without a result only where the parser gave up, which its recovery never does; that is reported
/// all the same.
pub(crate) fn run(text: &str, start: Start) -> (Option<Parsed>, Vec<SyntaxError>) {
    let (tokens, lexical) = lexer::lex(text);
    let Laid { tokens, lines, errors: layout } = match start {
        Start::File => layout::lay_out(text, tokens),
        _ => layout::lay_flat(start, tokens),
    };
    let mut context = Context::new(text, &tokens, &lines);
    let stream = tokens.iter().map(|lexeme| (lexeme.span.start, lexeme.token, lexeme.span.end));
    let parsed = match generated::TopParser::new().parse(&mut context, stream) {
        Ok(parsed) => Some(parsed),
        Err(failure) => {
            context.failed(failure);
            None
        }
    };
    let Context { errors, failures, .. } = context;
    (parsed, gathered(text, &lines, lexical, layout, errors, failures))
}

/// All reports, in source order. A token that does not fit is not reported on a line with a fault that can have caused it,
/// nor twice on a line, nor is a deeper line that follows a line with a fault.
fn gathered(
    text: &str,
    lines: &[LineSpan],
    lexical: Vec<SyntaxError>,
    layout: Vec<SyntaxError>,
    errors: Vec<SyntaxError>,
    failures: Vec<SyntaxError>,
) -> Vec<SyntaxError> {
    let number = |error: &SyntaxError| number_of(text, lines, error.span.start);
    let mut cause = vec![false; lines.len() + 1];
    let mut faulty = vec![false; lines.len() + 1];
    let set = |flags: &mut Vec<bool>, error: &SyntaxError| {
        if let Some(flag) = flags.get_mut(number(error)) {
            *flag = true;
        }
    };
    let causes =
        layout.iter().filter(|error| matches!(error.code, UNEXPECTED_INDENT | UNCLOSED_BRACKET) || is_bracket(error));
    // Where a value was misread the rest of the line is too; one that stands in a wrong place was read all the same.
    let misread = errors.iter().filter(|error| error.code != MISPLACED);
    for error in lexical.iter().chain(misread).chain(causes) {
        set(&mut cause, error);
    }
    for error in lexical.iter().chain(&errors).chain(&failures) {
        set(&mut faulty, error);
    }
    let is = |flags: &[bool], at: usize| flags.get(at).copied().unwrap_or_default();
    let hidden = hidden_breaks(&lexical, lines, text);
    let lost = lost(&layout, lines, text);
    let mut all = lexical;
    all.extend(layout.into_iter().map(|error| spoiling(error, lines, text)).filter(|error| {
        // One in the middle of a logical line is about that line, which it joined to itself.
        let line = number(error);
        let begins = lines.get(line).is_some_and(|line| line.span.start == error.span.start);
        let follows = begins && line.checked_sub(1).is_some_and(|before| is(&faulty, before));
        match error.code {
            UNEXPECTED_INDENT => !follows,
            EMPTY_BODY => !is(&hidden, line) && !is(&hidden, line + 1),
            OUTSIDE_DEFINITION => !is(&lost, line),
            _ => true,
        }
    }));
    let mut last = None;
    for error in failures {
        let line = number(&error);
        if !is(&cause, line) && last != Some(line) {
            last = Some(line);
            all.push(error);
        }
    }
    all.extend(errors.into_iter().filter(|error| error.code != MISPLACED || !is(&lost, number(error))));
    all.sort_by_key(|error| (error.span.start, error.span.end));
    all
}

/// Lines with a character that stands for a space or an end of line and is none, so that no block begins where one seems to.
fn hidden_breaks(lexical: &[SyntaxError], lines: &[LineSpan], text: &str) -> Vec<bool> {
    let mut hidden = vec![false; lines.len() + 1];
    for error in lexical {
        let blank = error.span.of(text).chars().next().is_some_and(|c| c.is_whitespace() || c.is_control());
        if blank && let Some(flag) = hidden.get_mut(number_of(text, lines, error.span.start)) {
            *flag = true;
        }
    }
    hidden
}

/// Lines of blocks that nothing opens: what they would be in their place is not known.
fn lost(layout: &[SyntaxError], lines: &[LineSpan], text: &str) -> Vec<bool> {
    let mut lost = vec![false; lines.len() + 1];
    let indent = |at: usize| {
        let start = lines.get(at)?.span.start;
        let begins = text.get(..start)?.rfind('\n').map_or(0, |end| end + 1);
        Some(start - begins)
    };
    for error in layout.iter().filter(|error| error.code == UNEXPECTED_INDENT) {
        let mut at = number_of(text, lines, error.span.start);
        let Some(outermost) = indent(at) else { continue };
        while indent(at).is_some_and(|indent| indent >= outermost)
            && let Some(flag) = lost.get_mut(at).filter(|flag| !**flag)
        {
            *flag = true;
            at += 1;
        }
    }
    lost
}

/// A bracket that is not closed leaves open what its whole line means.
fn spoiling(mut error: SyntaxError, lines: &[LineSpan], text: &str) -> SyntaxError {
    if error.code == UNCLOSED_BRACKET {
        error.spoils = lines.get(number_of(text, lines, error.span.start)).map(|line| line.span);
    }
    error
}

/// The logical line of a fault at `offset`. One before the first token of a line belongs to that line.
fn number_of(text: &str, lines: &[LineSpan], offset: usize) -> usize {
    let Some(at) = line_number(lines, offset) else { return 0 };
    let end = lines.get(at).map_or(offset, |line| line.span.end);
    let between = text.get(end..offset).unwrap_or_default();
    if between.contains('\n') { at + 1 } else { at }
}

/// Whether it is about brackets: that about blocks spans a header.
fn is_bracket(error: &SyntaxError) -> bool {
    error.code == NESTING_TOO_DEEP && error.span.len() == 1
}
