//! What the grammar's actions do: tokens to nodes, lines to statements, and reports.
//!
//! The grammar takes lines in any order; whether a line may stand where it stands is judged here, so that a line in a
//! wrong place is one error with a good message and not the end of its block.

use core::convert::Infallible;

use lalrpop_util::{ErrorRecovery, ParseError};

use crate::{
    ast::{Ast, Branch, Count, Definition, Duration, Else, ErrorStmt, Expr, Input, OnFailure, Range, Stmt, Text, Uses},
    error::SyntaxError,
    expected,
    layout::LineSpan,
    span::Span,
    token::{Lexeme, Token},
};

mod lines;
mod values;

/// What a text is parsed to.
pub(crate) enum Parsed {
    File(Ast),
    Expr(Expr),
    Range(Option<Range>),
    Duration(Duration),
}

/// What stands at the top of a file.
pub(crate) enum Item {
    Definition(Box<Definition>),
    Broken(ErrorStmt),
}

/// A line of a block, with the block that it opens.
pub(crate) enum Line {
    Statement(Stmt),
    Uses(Uses),
    Input(Input),
    Doc(Text),
    /// `else`.
    Otherwise(Else),
    Branch(Branch),
    OnFailure(OnFailure),
}

/// A part of a `retry`.
pub(crate) enum RetryPart {
    Times(Count),
    Every(Duration),
    For(Duration),
}

/// The recovery of the parser from a token that did not fit.
pub(crate) type Recovery<'t> = ErrorRecovery<usize, Token<'t>, Infallible>;

/// An error of the parser.
pub(crate) type Failure<'t> = ParseError<usize, Token<'t>, Infallible>;

/// What the actions share.
pub(crate) struct Context<'t> {
    source: &'t str,
    tokens: &'t [Lexeme<'t>],
    lines: &'t [LineSpan],
    /// Reports of the actions.
    pub(crate) errors: Vec<SyntaxError>,
    /// Reports of tokens that did not fit.
    pub(crate) failures: Vec<SyntaxError>,
    /// `uses` and `input` lines found inside blocks: they belong to the definition that is being read.
    hoisted: Vec<Line>,
}

impl<'t> Context<'t> {
    pub(crate) const fn new(source: &'t str, tokens: &'t [Lexeme<'t>], lines: &'t [LineSpan]) -> Self {
        Self { source, tokens, lines, errors: Vec::new(), failures: Vec::new(), hoisted: Vec::new() }
    }

    /// Notes what the parser recovered from.
    pub(crate) fn recovered(&mut self, recovery: Recovery<'t>) {
        self.failed(recovery.error);
    }

    /// Notes what the parser says.
    pub(crate) fn failed(&mut self, failure: Failure<'t>) {
        let error = expected::describe(failure, &self.place());
        self.failures.push(error);
    }

    fn place(&self) -> expected::Place<'t> {
        expected::Place { source: self.source, tokens: self.tokens, lines: self.lines }
    }

    /// The first word at `offset`.
    fn keyword_at(&self, offset: usize) -> Span {
        let rest = self.source.get(offset..).unwrap_or_default();
        let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        Span::new(offset, offset + length)
    }

    /// The whole line that `offset` lies in.
    fn line_at(&self, offset: usize) -> Span {
        self.place().line_at(offset).map_or_else(|| Span::at(offset), |line| line.span)
    }

    /// A line that could not be read, and what is known of it.
    fn error_stmt(&mut self, offset: usize, body: Vec<Stmt>) -> ErrorStmt {
        let span = self.line_at(offset);
        let first = self.tokens.partition_point(|lexeme| lexeme.span.start < span.start);
        let mut found = ErrorStmt { span, body, ..ErrorStmt::default() };
        let line = self.tokens.get(first..).unwrap_or_default().iter();
        for lexeme in line.take_while(|lexeme| lexeme.span.start <= span.end && lexeme.span.end <= span.end) {
            match lexeme.token {
                Token::Word(_) => found.words.push(self.name(lexeme.token, lexeme.span.start, lexeme.span.end)),
                Token::Text(raw) => found.texts.push(self.quiet_text(raw, lexeme.span.start)),
                _ => {}
            }
        }
        found
    }
}
