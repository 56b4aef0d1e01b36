//! Text to tokens.
//!
//! logos cuts the text into words, digits and signs; then numbers take the unit behind them, by whole words and on
//! the same line only (a rule for durations in the lexer would cut `5 sat` into `5 s` and `at`). What cannot be read
//! is reported and either left out (a character that means nothing) or handed on as [`Token::Bad`].

use logos::Logos;

use crate::{
    error::{BAD_NUMBER, BAD_TIME, BAD_UNIT, SyntaxError, UNKNOWN_CHARACTER, UNTERMINATED_STRING},
    span::Span,
    token::{Keyword, Lexeme, Token},
    units::Unit,
};

/// What logos tells apart.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t]+")]
#[logos(skip(r"#[^\n]*", allow_greedy = true))]
enum Raw {
    #[regex(r"\r?\n")]
    Newline,
    // The `-` of a name is followed by a letter or a digit; the naive class would eat that of `a -> b`.
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*")]
    Word,
    #[regex(r"[0-9][0-9_]*(\.[0-9][0-9_]*)?([eE][+-]?[0-9][0-9_]*)?")]
    #[regex(r"0x[0-9A-Za-z_]*")]
    #[regex(r"0b[0-9][0-9A-Za-z_]*")]
    Number,
    #[regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt][0-9A-Za-z:.+\-]*)?")]
    Time,
    #[regex(r#""([^"\\\r\n]|\\[^\r\n])*""#)]
    Text,
    #[regex(r#""([^"\\\r\n]|\\[^\r\n])*\\?"#)]
    OpenText,
    #[token(",")]
    Comma,
    #[token(".")]
    Dot,
    #[token("..")]
    DotDot,
    #[token(":")]
    Colon,
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("=")]
    Assign,
    #[token("==")]
    Equals,
    #[token("!=")]
    NotEquals,
    #[token("<")]
    Less,
    #[token("<=")]
    LessOrEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterOrEqual,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("+-")]
    PlusMinus,
    #[token("*")]
    Times,
    #[token("/")]
    Over,
    #[token("^")]
    Power,
    #[token("%")]
    Percent,
}

/// The tokens of `text`, in order, with a [`Token::Newline`] for each end of a line, and what could not be read.
pub(crate) fn lex(text: &str) -> (Vec<Lexeme<'_>>, Vec<SyntaxError>) {
    let mut lexer = Lexer { text, raws: Vec::new(), at: 0, tokens: Vec::new(), errors: Vec::new() };
    lexer.cut();
    lexer.tokens.reserve(lexer.raws.len());
    while let Some((raw, span)) = lexer.peek(0) {
        lexer.at += 1;
        lexer.token(raw, span);
    }
    (lexer.tokens, lexer.errors)
}

struct Lexer<'t> {
    text: &'t str,
    raws: Vec<(Raw, Span)>,
    at: usize,
    tokens: Vec<Lexeme<'t>>,
    errors: Vec<SyntaxError>,
}

impl<'t> Lexer<'t> {
    /// Runs logos over the text, a byte order mark at its beginning aside.
    fn cut(&mut self) {
        let skipped = if self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let text = self.text.get(skipped..).unwrap_or_default();
        // One unknown character a line is enough: the others are mostly its companions, as a pair of quotes.
        let mut reported = false;
        for (raw, range) in Raw::lexer(text).spanned() {
            let span = Span::new(range.start, range.end).shifted(skipped);
            match raw {
                Ok(raw) => {
                    reported &= raw != Raw::Newline;
                    self.raws.push((raw, span));
                }
                Err(()) if reported => {}
                Err(()) => {
                    reported = true;
                    let error = unknown_character(self.text, span);
                    self.errors.push(error);
                }
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<(Raw, Span)> {
        self.raws.get(self.at + ahead).copied()
    }

    /// The next but `ahead`, where it begins exactly at `offset`.
    fn adjacent(&self, ahead: usize, offset: usize) -> Option<(Raw, Span)> {
        self.peek(ahead).filter(|(_, span)| span.start == offset)
    }

    fn slice(&self, span: Span) -> &'t str {
        span.of(self.text)
    }

    fn push(&mut self, token: Token<'t>, span: Span) {
        self.tokens.push(Lexeme { token, span });
    }

    fn token(&mut self, raw: Raw, span: Span) {
        let text = self.slice(span);
        let token = match raw {
            Raw::Number => return self.number(span),
            Raw::Time => return self.time(span),
            Raw::OpenText => {
                self.errors.push(
                    SyntaxError::new(UNTERMINATED_STRING, span, "this text is not closed on its line")
                        .with_help("write `\"` at its end; `\\n` stands for a new line in a text"),
                );
                Token::Text(text)
            }
            Raw::Text => Token::Text(text),
            Raw::Word => Keyword::of(text).map_or(Token::Word(text), Token::Keyword),
            Raw::Newline => Token::Newline,
            Raw::Comma => Token::Comma,
            Raw::Dot => Token::Dot,
            Raw::DotDot => Token::DotDot,
            Raw::Colon => Token::Colon,
            Raw::Open => Token::Open,
            Raw::Close => Token::Close,
            Raw::OpenBracket => Token::OpenBracket,
            Raw::CloseBracket => Token::CloseBracket,
            Raw::Assign => Token::Assign,
            Raw::Equals => Token::Equals,
            Raw::NotEquals => Token::NotEquals,
            Raw::Less => Token::Less,
            Raw::LessOrEqual => Token::LessOrEqual,
            Raw::Greater => Token::Greater,
            Raw::GreaterOrEqual => Token::GreaterOrEqual,
            Raw::Plus => Token::Plus,
            Raw::Minus => Token::Minus,
            Raw::PlusMinus => Token::PlusMinus,
            Raw::Times => Token::Times,
            Raw::Over => Token::Over,
            Raw::Power => Token::Power,
            Raw::Percent => Token::Percent,
        };
        self.push(token, span);
    }

    fn time(&mut self, span: Span) {
        let text = self.slice(span);
        if crate::literal::time(text).is_some() {
            return self.push(Token::Time(text), span);
        }
        self.errors.push(
            SyntaxError::new(BAD_TIME, span, format!("`{}` is no time", shown(text)))
                .with_help("write date, time of day and zone, as in `2026-10-02T10:15:00Z`"),
        );
        self.push(Token::Bad, span);
    }

    /// A number, with the unit behind it where there is one.
    fn number(&mut self, number: Span) {
        if crate::literal::magnitude(self.slice(number)).is_none() {
            self.bad_number(number);
            if let Some((Raw::Word | Raw::Percent, word)) = self.peek(0)
                && self.is_unit(word)
            {
                self.at += 1;
                self.unit(word);
            }
            return;
        }
        match self.peek(0) {
            Some((Raw::Word | Raw::Percent, word)) if self.is_unit(word) && self.is_close(number, word) => {
                self.at += 1;
                self.quantity(number, word);
            }
            Some((Raw::Word, word)) if word.start == number.end && Keyword::of(self.slice(word)).is_none() => {
                self.bad_number(number);
            }
            Some((Raw::Number | Raw::Dot, next)) if next.start == number.end => self.bad_number(number),
            _ => self.push(Token::Number(self.slice(number)), number),
        }
    }

    /// A number and the unit that begins with `word`.
    fn quantity(&mut self, number: Span, word: Span) {
        let unit = self.unit(word);
        let span = number.to(unit);
        let unit_text = self.slice(unit);
        if Unit::parse(unit_text).is_none() {
            let message = format!("`{}` is past what a unit can be", shown(unit_text));
            self.errors.push(SyntaxError::new(BAD_UNIT, unit, message));
            return self.push(Token::Bad, span);
        }
        let text = self.slice(span);
        let at = unit.start - span.start;
        let token = match unit_text {
            "ms" | "s" | "min" | "h" | "d" => Token::Duration { text, unit: at },
            _ => Token::Quantity { text, unit: at },
        };
        self.push(token, span);
    }

    fn is_unit(&self, word: Span) -> bool {
        let text = self.slice(word);
        Keyword::of(text).is_none() && Unit::word(text).is_some()
    }

    /// Whether nothing but spaces stands between the two: a character that has been left out may.
    fn is_close(&self, number: Span, word: Span) -> bool {
        self.slice(Span::new(number.end, word.start)).bytes().all(|byte| matches!(byte, b' ' | b'\t'))
    }

    /// The end of the unit that begins with the word `word`: powers, products and quotients without a space follow.
    fn unit(&mut self, word: Span) -> Span {
        let mut unit = word;
        loop {
            if let Some(power) = self.power(unit.end) {
                unit = unit.to(power);
            }
            match (self.adjacent(0, unit.end), self.adjacent(1, unit.end + 1)) {
                (Some((Raw::Times | Raw::Over, _)), Some((Raw::Word | Raw::Percent, word))) if self.is_unit(word) => {
                    self.at += 2;
                    unit = unit.to(word);
                }
                _ => return unit,
            }
        }
    }

    /// `^2`, `^-1` at `offset`.
    fn power(&mut self, offset: usize) -> Option<Span> {
        let (Raw::Power, _) = self.adjacent(0, offset)? else { return None };
        let (sign, length) = match self.adjacent(1, offset + 1)? {
            (Raw::Minus, _) => (1, 2),
            _ => (0, 1),
        };
        let (Raw::Number, digits) = self.adjacent(1 + sign, offset + length)? else { return None };
        self.at += 2 + sign;
        Some(Span::new(offset, digits.end))
    }

    /// Digits that make no number, with all that is glued to them.
    fn bad_number(&mut self, number: Span) {
        let mut span = number;
        while let Some((Raw::Word | Raw::Number | Raw::Dot, next)) = self.adjacent(0, span.end) {
            self.at += 1;
            span = span.to(next);
        }
        let text = self.slice(span);
        let error = SyntaxError::new(BAD_NUMBER, span, format!("`{}` is no number", shown(text)));
        let digits = self.slice(number);
        let error = if span == number {
            error.with_help(match digits.get(..2) {
                Some("0x") => "behind `0x` stand the digits `0` to `9` and `A` to `F`, 64 bits at most",
                Some("0b") => "behind `0b` stand the digits `0` and `1`, 64 bits at most",
                _ => "a `_` stands between two digits; a whole number has 64 bits at most",
            })
        } else {
            let glued = text.get(digits.len()..).unwrap_or_default();
            error.with_help(format!("`{}` is no unit; the reference has the table of units", shown(glued)))
        };
        self.errors.push(error);
        self.push(Token::Bad, span);
    }
}

fn unknown_character(text: &str, span: Span) -> SyntaxError {
    let character = span.of(text).chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
    let shown = if character.is_control() || character.is_whitespace() {
        format!("U+{:04X}", u32::from(character))
    } else {
        character.to_string()
    };
    let error = SyntaxError::new(
        UNKNOWN_CHARACTER,
        Span::new(span.start, span.start + character.len_utf8()),
        format!("`{shown}` means nothing here"),
    );
    match character {
        '\'' | '“' | '”' | '„' | '«' | '»' | '‘' | '’' => {
            error.with_help("write a text between double quotes: `\"…\"`")
        }
        ';' => error.with_help("a statement ends with its line"),
        '{' | '}' => error.with_help("a block is told by its indentation"),
        '&' => error.with_help("write `and`"),
        '|' => error.with_help("write `or`"),
        '!' => error.with_help("write `not`"),
        '±' => error.with_help("write `+-`"),
        '°' => error.with_help("write `deg` or `degC`"),
        '\u{b5}' | '\u{3bc}' => error.with_help("write `u` for micro"),
        '\u{3a9}' | '\u{2126}' => error.with_help("write `ohm`"),
        '≤' => error.with_help("write `<=`"),
        '≥' => error.with_help("write `>=`"),
        '≠' => error.with_help("write `is not`"),
        '–' | '—' | '−' => error.with_help("write `-`"),
        '\r' => error.with_help("end a line with LF or CRLF"),
        _ if character.is_alphabetic() => {
            error.with_help("a name is made of the letters `a` to `z` and `A` to `Z`, digits, `_` and `-`")
        }
        _ if character.is_whitespace() => error.with_help("write a space"),
        _ => error,
    }
}

/// The text as a message shows it: on one line, and cut where it is long.
pub(crate) fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut line = String::new();
    let mut shown = 0;
    for character in text.chars() {
        let character = if character.is_control() { ' ' } else { character };
        if character == ' ' && line.ends_with(' ') {
            continue;
        }
        if shown == LONGEST {
            line.push('…');
            break;
        }
        line.push(character);
        shown += 1;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        let (tokens, errors) = lex(text);
        assert_eq!(errors, [], "{text}");
        tokens.into_iter().map(|lexeme| lexeme.token).collect()
    }

    #[test]
    fn a_unit_is_fused_as_a_whole_word_on_the_same_line() {
        assert_eq!(tokens("5 sat"), [Token::Number("5"), Token::Word("sat")]);
        assert_eq!(tokens("5\ns"), [Token::Number("5"), Token::Newline, Token::Word("s")]);
        assert_eq!(tokens("5 s"), [Token::Duration { text: "5 s", unit: 2 }]);
        assert_eq!(tokens("1.5s"), [Token::Duration { text: "1.5s", unit: 3 }]);
        assert_eq!(tokens("12 %"), [Token::Quantity { text: "12 %", unit: 3 }]);
        assert_eq!(tokens("1eV"), [Token::Quantity { text: "1eV", unit: 1 }]);
        assert_eq!(tokens("9 m/s^2*kg"), [Token::Quantity { text: "9 m/s^2*kg", unit: 2 }]);
        assert_eq!(tokens("9 s^-1"), [Token::Quantity { text: "9 s^-1", unit: 2 }]);
        assert_eq!(tokens("9 m/x"), [Token::Quantity { text: "9 m", unit: 2 }, Token::Over, Token::Word("x")]);
        assert_eq!(tokens("9 m / s"), [Token::Quantity { text: "9 m", unit: 2 }, Token::Over, Token::Word("s")]);
    }

    #[test]
    fn ranges_and_names_with_hyphens() {
        assert_eq!(tokens("1..4"), [Token::Number("1"), Token::DotDot, Token::Number("4")]);
        assert_eq!(tokens("platform-v3"), [Token::Word("platform-v3")]);
        assert_eq!(tokens("a - 1"), [Token::Word("a"), Token::Minus, Token::Number("1")]);
        assert_eq!(tokens("a- b"), [Token::Word("a"), Token::Minus, Token::Word("b")]);
        assert_eq!(tokens("3times"), [Token::Number("3"), Token::Keyword(Keyword::Times)]);
    }

    #[test]
    fn glued_digits_are_one_bad_number() {
        for text in ["12abc", "1.2.3", "0x1G", "0b12", "1_", "0x", "99999999999999999999", "1e999", "5.x"] {
            let (tokens, errors) = lex(text);
            assert_eq!(tokens.len(), 1, "{text}: {tokens:?}");
            assert_eq!(errors.iter().map(|error| error.code).collect::<Vec<_>>(), [BAD_NUMBER], "{text}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_character_of_the_text() {
        let (tokens, errors) = lex("\u{feff}step");
        assert_eq!(errors, []);
        assert_eq!(tokens, [Lexeme { token: Token::Keyword(Keyword::Step), span: Span::new(3, 7) }]);
    }
}
