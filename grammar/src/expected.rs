//! What the parser says, in words.
//!
//! The parser lists the tokens that would have fitted; a reader wants to know what to write. So the tokens that begin a
//! value are "a value", those that join two are "an operator", and at most five things are listed.

use core::fmt::Write as _;

use lalrpop_util::ParseError;

use crate::{
    error::{EXPECTED, SyntaxError, UNKNOWN_STATEMENT},
    layout::LineSpan,
    lexer::shown,
    shape::Failure,
    span::Span,
    token::{Keyword, Lexeme, Start, Token},
};

/// How many things a message lists.
const MOST: usize = 5;

/// What surrounds a token.
pub(crate) struct Place<'t> {
    pub(crate) source: &'t str,
    pub(crate) tokens: &'t [Lexeme<'t>],
    pub(crate) lines: &'t [LineSpan],
}

impl<'t> Place<'t> {
    /// The logical line that `offset` lies in, its end included.
    pub(crate) fn line_at(&self, offset: usize) -> Option<LineSpan> {
        line_number(self.lines, offset).and_then(|number| self.lines.get(number)).copied()
    }

    /// The token before the one that begins at `offset`.
    fn before(&self, offset: usize) -> Option<Token<'t>> {
        let at = self.tokens.partition_point(|lexeme| lexeme.span.start < offset);
        self.tokens.get(at.checked_sub(1)?).map(|lexeme| lexeme.token)
    }
}

/// The logical line that `offset` lies in, or the last one that begins before it.
pub(crate) fn line_number(lines: &[LineSpan], offset: usize) -> Option<usize> {
    lines.partition_point(|line| line.span.start <= offset).checked_sub(1)
}

/// The report of a token that does not fit.
pub(crate) fn describe(failure: Failure<'_>, place: &Place<'_>) -> SyntaxError {
    let (found, span, expected) = match failure {
        ParseError::UnrecognizedToken { token: (start, token, end), expected } => {
            (Some(token), Span::new(start, end), expected)
        }
        ParseError::UnrecognizedEof { location, expected } => (None, Span::at(location), expected),
        ParseError::ExtraToken { token: (start, token, end) } => (Some(token), Span::new(start, end), Vec::new()),
        ParseError::InvalidToken { location } => (None, Span::at(location), Vec::new()),
        ParseError::User { error } => match error {},
    };
    if let Some(line) = place.line_at(span.start)
        && line.span.start == span.start
        && matches!(place.tokens.first().map(|first| first.token), Some(Token::Start(Start::File)))
        && let Some(word) = found.and_then(Token::word)
    {
        return unknown_statement(word, span, line.in_block);
    }
    let mut message = String::from("expected ");
    message.push_str(&join(&in_words(&expected), "or"));
    let _ = write!(message, ", found {}", found_in_words(found, span, place.source));
    let error = SyntaxError::new(EXPECTED, visible(found, span, place.source), message);
    match (found, place.before(span.start)) {
        (Some(Token::Word(word)), Some(Token::Number(_))) => {
            error.with_help(format!("`{}` is no unit; the reference has the table of units", shown(word)))
        }
        (Some(Token::Colon), _) => error.with_help("a header ends with its line, without `:`"),
        (Some(Token::Keyword(Keyword::If)), Some(Token::Keyword(Keyword::Else))) => {
            error.with_help("write the `if` into the block of the `else`")
        }
        (
            Some(Token::Word(_)),
            Some(Token::Keyword(Keyword::Step | Keyword::Procedure | Keyword::Do | Keyword::Run)),
        ) => error.with_help("write the name between double quotes"),
        _ => error,
    }
}

fn unknown_statement(word: &str, span: Span, in_block: bool) -> SyntaxError {
    let fits = |keyword: &Keyword| {
        if in_block { keyword.begins_line() && *keyword != Keyword::Procedure } else { keyword.begins_definition() }
    };
    let what = if in_block { "statement" } else { "definition" };
    let error = SyntaxError::new(UNKNOWN_STATEMENT, span, format!("`{}` begins no {what}", shown(word)));
    let candidates = Keyword::ALL.iter().filter(|keyword| fits(keyword)).map(|keyword| keyword.text());
    match nearest(word, candidates) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None if in_block => error.with_help("a statement begins with its keyword, as `send` or `expect`"),
        None => error.with_help("a file holds definitions: `step \"…\"` and `procedure \"…\"`"),
    }
}

/// The candidate that `word` is most likely a misspelling of.
fn nearest(word: &str, candidates: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    const LONGEST: usize = 32;
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_ascii_lowercase();
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(&word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().div_ceil(3))
        .min()
        .map(|(_, candidate)| candidate)
}

/// A place that can be seen: the end of a line is the one character behind it, that of a text its last token.
fn visible(found: Option<Token<'_>>, span: Span, source: &str) -> Span {
    if !matches!(found, None | Some(Token::Newline | Token::Indent | Token::Dedent)) {
        return span;
    }
    if let Some(next) = source.get(span.start..).and_then(|rest| rest.chars().next()) {
        return Span::new(span.start, span.start + next.len_utf8());
    }
    let last = source.get(..span.start).and_then(|before| before.chars().next_back());
    Span::new(span.start - last.map_or(0, char::len_utf8), span.start)
}

fn found_in_words(found: Option<Token<'_>>, span: Span, source: &str) -> String {
    match found {
        None => "the end".to_owned(),
        Some(Token::Newline | Token::Indent) => "end of line".to_owned(),
        Some(Token::Dedent) => "the end of the block".to_owned(),
        Some(_) if span.is_empty() => "end of line".to_owned(),
        Some(_) => format!("`{}`", shown(span.of(source))),
    }
}

/// What the parser's list of tokens amounts to, the most telling first.
fn in_words(expected: &[String]) -> Vec<String> {
    let has = |token: &str| expected.iter().any(|one| one == token);
    let mut words: Vec<String> = Vec::new();
    let is_value = has("NUMBER") && has("TEXT");
    if is_value {
        let condition = has("\"not\"") && !has("\"known\"");
        words.push(if condition { "a value or a condition" } else { "a value" }.to_owned());
    } else if has("DURATION") {
        words.push("a duration".to_owned());
    } else if has("NUMBER") {
        words.push("a number".to_owned());
    } else if has("TEXT") {
        words.push("a text between double quotes".to_owned());
    } else if has("WORD") {
        words.push("a name".to_owned());
    }
    // Every keyword can be a name, so where a name fits they tell nothing.
    let names = has("WORD") && has("\"failure\"");
    let ordered = has("\"<\"");
    if !names {
        let keywords = expected.iter().filter(|one| is_keyword(one) && !(ordered && is_operator(one)));
        words.extend(keywords.map(|one| quoted(one)));
    }
    if ordered {
        words.push("an operator".to_owned());
    }
    let signs = expected.iter().filter(|one| is_sign(one) && !(ordered && is_operator(one)));
    words.extend(signs.map(|one| quoted(one)));
    if has("INDENT") {
        words.push("an indented block".to_owned());
    }
    if has("NEWLINE") {
        words.push("end of line".to_owned());
    }
    if words.is_empty() {
        words.push("the end".to_owned());
    }
    words.truncate(MOST);
    words
}

fn quoted(terminal: &str) -> String {
    format!("`{}`", terminal.trim_matches('"'))
}

fn is_keyword(terminal: &str) -> bool {
    Keyword::of(terminal.trim_matches('"')).is_some()
}

/// Whether it joins two operands, where `<` does: `is`, `in` and `=` are among them.
fn is_operator(terminal: &str) -> bool {
    matches!(terminal.trim_matches('"'), "=" | "is" | "in" | "between" | "and" | "or")
}

/// Whether it is a sign worth a mention; the others join operands, or begin a value.
fn is_sign(terminal: &str) -> bool {
    matches!(terminal.trim_matches('"'), "," | ":" | ")" | "]" | ".." | "=")
}

/// The items as a list in a sentence: `a`, `a or b`, `a, b or c`.
pub(crate) fn join(items: &[String], last: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [before @ .., end] => format!("{} {last} {end}", before.join(", ")),
    }
}
