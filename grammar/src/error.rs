//! What is wrong with the shape of a text.
//!
//! An error carries a code that stays the same over versions. The compiler turns it into a diagnostic with a page;
//! this crate only says what, where, and what to write instead.

use crate::span::Span;

/// One error in the shape of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Stable code, one of [`SYNTAX_CODES`].
    pub code: &'static str,
    /// What is wrong, in one line: lower case, no final period, the user's text between backticks.
    pub message: String,
    /// The text that is wrong.
    pub span: Span,
    /// Other places that explain it, in source order.
    pub labels: Vec<Label>,
    /// What to write instead.
    pub help: Option<String>,
    /// The text around it whose meaning is in doubt because of it, so that nothing more is to be said of it.
    pub spoils: Option<Span>,
}

/// A place that explains an error, with a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What it has to do with the error.
    pub text: String,
}

impl SyntaxError {
    /// An error without further labels and without help. `code` is one of [`SYNTAX_CODES`].
    #[must_use]
    pub fn new(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), span, labels: Vec::new(), help: None, spoils: None }
    }

    /// The same error, saying what to write instead.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same error, pointing at another place too.
    #[must_use]
    pub fn with_label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }
}

/// `tab-indent`: a tab in the indentation.
pub const TAB_INDENT: &str = "syntax::tab-indent";
/// `bad-dedent`: a line that goes back to no open block.
pub const BAD_DEDENT: &str = "syntax::bad-dedent";
/// `unexpected-indent`: a deeper line that nothing opens.
pub const UNEXPECTED_INDENT: &str = "syntax::unexpected-indent";
/// `invalid-utf8`: bytes that are no text.
pub const INVALID_UTF8: &str = "syntax::invalid-utf8";
/// `unknown-character`: a character that begins nothing.
pub const UNKNOWN_CHARACTER: &str = "syntax::unknown-character";
/// `unterminated-string`: a text whose line ends before it.
pub const UNTERMINATED_STRING: &str = "syntax::unterminated-string";
/// `bad-escape`: an escape that means nothing.
pub const BAD_ESCAPE: &str = "syntax::bad-escape";
/// `bad-placeholder`: braces in a note that hold no name.
pub const BAD_PLACEHOLDER: &str = "syntax::bad-placeholder";
/// `bad-number`: digits that make no number.
pub const BAD_NUMBER: &str = "syntax::bad-number";
/// `bad-unit`: units multiplied past what a unit can be.
pub const BAD_UNIT: &str = "syntax::bad-unit";
/// `bad-time`: a time that is not RFC 3339 or does not exist.
pub const BAD_TIME: &str = "syntax::bad-time";
/// `not-a-duration`: something else where a duration is due.
pub const NOT_A_DURATION: &str = "syntax::not-a-duration";
/// `not-a-count`: something else where a count is due.
pub const NOT_A_COUNT: &str = "syntax::not-a-count";
/// `unclosed-bracket`: a bracket still open where the statement ends.
pub const UNCLOSED_BRACKET: &str = "syntax::unclosed-bracket";
/// `expected`: something stands where something else is due.
pub const EXPECTED: &str = "syntax::expected";
/// `unknown-statement`: a line that begins with no keyword.
pub const UNKNOWN_STATEMENT: &str = "syntax::unknown-statement";
/// `outside-definition`: a statement that no definition holds.
pub const OUTSIDE_DEFINITION: &str = "syntax::outside-definition";
/// `misplaced`: a line of the language in a place where it cannot stand.
pub const MISPLACED: &str = "syntax::misplaced";
/// `retry-order`: the parts of a `retry` doubled or out of order.
pub const RETRY_ORDER: &str = "syntax::retry-order";
/// `unnamed-argument`: an argument of a telecommand without its name.
pub const UNNAMED_ARGUMENT: &str = "syntax::unnamed-argument";
/// `use-is`: `=`, `==` or `!=` in a condition.
pub const USE_IS: &str = "syntax::use-is";
/// `empty-body`: an opener that nothing follows.
pub const EMPTY_BODY: &str = "procedure::empty-body";
/// `nesting-too-deep`: more blocks or brackets inside one another than the limit.
pub const NESTING_TOO_DEEP: &str = "procedure::nesting-too-deep";
/// `duration-out-of-range`: a duration longer than 365 d.
pub const DURATION_OUT_OF_RANGE: &str = "type::duration-out-of-range";
/// `inexact-duration`: a duration that is no whole number of nanoseconds.
pub const INEXACT_DURATION: &str = "type::inexact-duration";

/// Every code that this crate reports, with a summary of one line.
pub const SYNTAX_CODES: &[(&str, &str)] = &[
    (TAB_INDENT, "a tab stands in the indentation of a line"),
    (BAD_DEDENT, "a line goes back to an indentation that no open block has"),
    (UNEXPECTED_INDENT, "a line is indented deeper although nothing opens a block"),
    (INVALID_UTF8, "a file is not UTF-8"),
    (UNKNOWN_CHARACTER, "a character means nothing in the language"),
    (UNTERMINATED_STRING, "a text is not closed on its line"),
    (BAD_ESCAPE, "an escape in a text means nothing"),
    (BAD_PLACEHOLDER, "braces in a note hold no name"),
    (BAD_NUMBER, "digits make no number"),
    (BAD_UNIT, "a unit is multiplied past what a unit can be"),
    (BAD_TIME, "a time is not RFC 3339 with a zone, or does not exist"),
    (NOT_A_DURATION, "something else stands where a duration is due"),
    (NOT_A_COUNT, "something else stands where a whole number is due"),
    (UNCLOSED_BRACKET, "a bracket is still open where its statement ends"),
    (EXPECTED, "something stands where something else is due"),
    (UNKNOWN_STATEMENT, "a line begins with a word that begins no statement"),
    (OUTSIDE_DEFINITION, "a statement stands in no step and no procedure"),
    (MISPLACED, "a line stands in a place where it cannot stand"),
    (RETRY_ORDER, "the parts of a retry are doubled or out of order"),
    (UNNAMED_ARGUMENT, "an argument of a telecommand has no name"),
    (USE_IS, "a condition compares with `=` instead of `is`"),
    (EMPTY_BODY, "an opener has no body"),
    (NESTING_TOO_DEEP, "more than 64 blocks or brackets stand inside one another"),
    (DURATION_OUT_OF_RANGE, "a duration is longer than 365 d"),
    (INEXACT_DURATION, "a duration is no whole number of nanoseconds"),
];
