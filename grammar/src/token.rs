//! The tokens that the parser reads.
//!
//! Blocks and ends of lines are tokens too ([`crate::layout`] makes them), and so is what could not be read
//! ([`Token::Bad`]): an error never ends the stream.

use crate::span::Span;

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lexeme<'t> {
    pub(crate) token: Token<'t>,
    pub(crate) span: Span,
}

/// What a text is parsed as. It is the first token of each stream, so that one parser serves all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    File,
    Condition,
    Value,
    Range,
    Duration,
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'t> {
    Start(Start),
    Indent,
    Dedent,
    Newline,
    Word(&'t str),
    Keyword(Keyword),
    /// A text as written: opening quote included, closing quote too where there is one.
    Text(&'t str),
    Number(&'t str),
    /// A number and a unit; the unit begins at the byte `unit` of `text`.
    Quantity {
        text: &'t str,
        unit: usize,
    },
    /// A number and a unit of a duration, likewise.
    Duration {
        text: &'t str,
        unit: usize,
    },
    Time(&'t str),
    /// Stands for a value that could not be read; it has been reported.
    Bad,
    Comma,
    Dot,
    DotDot,
    Colon,
    Open,
    Close,
    OpenBracket,
    CloseBracket,
    Assign,
    Equals,
    NotEquals,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Plus,
    Minus,
    PlusMinus,
    Times,
    Over,
    Power,
    Percent,
}

impl<'t> Token<'t> {
    /// The word, where it is a name or a keyword.
    pub(crate) const fn word(self) -> Option<&'t str> {
        match self {
            Self::Word(text) => Some(text),
            Self::Keyword(keyword) => Some(keyword.text()),
            _ => None,
        }
    }

    /// The keyword, where it is one.
    pub(crate) const fn keyword(self) -> Option<Keyword> {
        if let Self::Keyword(keyword) = self { Some(keyword) } else { None }
    }
}

macro_rules! keywords {
    ($($variant:ident $text:literal,)*) => {
        /// A word that means something in the language. Each one is a name wherever it cannot be a keyword.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Keyword {
            $($variant,)*
        }

        impl Keyword {
            /// Every keyword.
            pub(crate) const ALL: &[Self] = &[$(Self::$variant,)*];

            /// As it is written.
            pub(crate) const fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// The keyword that is written so.
            pub(crate) fn of(word: &str) -> Option<Self> {
                match word {
                    $($text => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

keywords! {
    Step "step",
    Procedure "procedure",
    Uses "uses",
    Input "input",
    On "on",
    Failure "failure",
    Send "send",
    With "with",
    To "to",
    Via "via",
    Expect "expect",
    Held "held",
    Within "within",
    Check "check",
    Wait "wait",
    Until "until",
    Ask "ask",
    Of "of",
    As "as",
    Transfer "transfer",
    Note "note",
    Let "let",
    Fail "fail",
    If "if",
    Else "else",
    Repeat "repeat",
    Time "time",
    Times "times",
    For "for",
    Each "each",
    In "in",
    Together "together",
    Branch "branch",
    Do "do",
    Run "run",
    Retry "retry",
    Every "every",
    Is "is",
    Not "not",
    Between "between",
    And "and",
    Or "or",
    Known "known",
    True "true",
    False "false",
}

impl Keyword {
    /// Whether it begins a definition.
    pub(crate) const fn begins_definition(self) -> bool {
        matches!(self, Self::Step | Self::Procedure)
    }

    /// Whether a line that begins with it opens a block.
    pub(crate) const fn opens_block(self) -> bool {
        matches!(
            self,
            Self::Step
                | Self::Procedure
                | Self::If
                | Self::Else
                | Self::Repeat
                | Self::For
                | Self::Together
                | Self::Branch
                | Self::On
        )
    }

    /// Whether a line of a block begins with it.
    pub(crate) const fn begins_line(self) -> bool {
        self.opens_block()
            || matches!(
                self,
                Self::Uses
                    | Self::Input
                    | Self::Send
                    | Self::Expect
                    | Self::Check
                    | Self::Wait
                    | Self::Ask
                    | Self::Transfer
                    | Self::Note
                    | Self::Let
                    | Self::Fail
                    | Self::Do
                    | Self::Run
            )
    }
}
