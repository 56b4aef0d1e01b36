//! Values, conditions and words.

use crate::{
    ast::{
        Arg, Ask, Chain, Comparison, Count, Duration, DurationLiteral, Expr, ExprKind, Name, Note, Number, NumberValue,
        Path, Piece, ProductOp, Quantity, Range, Retry, Segment, Send, StmtKind, SumOp, Test, Text, UnitText,
    },
    error::{
        BAD_ESCAPE, BAD_NUMBER, BAD_PLACEHOLDER, DURATION_OUT_OF_RANGE, INEXACT_DURATION, NOT_A_COUNT, NOT_A_DURATION,
        RETRY_ORDER, SyntaxError, UNNAMED_ARGUMENT, USE_IS,
    },
    lexer::shown,
    literal::{self, DurationError, Magnitude, Written},
    shape::{Context, Recovery, RetryPart},
    span::Span,
    token::Token,
    units::Unit,
};

/// A number and its unit as the lexer fused them: the text, and where the unit begins in it.
type Fused<'t> = (&'t str, usize);

impl<'t> Context<'t> {
    #[expect(clippy::unused_self, reason = "every action of the grammar is a method of its context")]
    pub(crate) fn name(&self, word: Token<'t>, start: usize, end: usize) -> Name {
        Name { text: word.word().unwrap_or_default().to_owned(), span: Span::new(start, end) }
    }

    pub(crate) fn segment(
        &self,
        word: Token<'t>,
        start: usize,
        end: usize,
        index: Option<Box<Expr>>,
        last: usize,
    ) -> Segment {
        Segment { name: self.name(word, start, end), index, span: Span::new(start, last) }
    }

    /// Text of a token, its escapes resolved and judged.
    pub(crate) fn text(&mut self, raw: &str, start: usize) -> Text {
        for written in literal::characters(raw) {
            if written.character.is_none() {
                let span = Span::new(written.start, written.end).shifted(start);
                let message = format!("`{}` is no escape", shown(span.of(self.source)));
                self.errors.push(
                    SyntaxError::new(BAD_ESCAPE, span, message)
                        .with_help("the escapes are `\\\"`, `\\\\`, `\\n`, `\\t` and `\\u{…}`"),
                );
            }
        }
        self.quiet_text(raw, start)
    }

    /// The same without judging them, for a line that has been reported.
    #[expect(clippy::unused_self, reason = "the twin of `text`")]
    pub(crate) fn quiet_text(&self, raw: &str, start: usize) -> Text {
        let value =
            literal::characters(raw).into_iter().map(|one| one.character.unwrap_or(char::REPLACEMENT_CHARACTER));
        Text { value: value.collect(), span: Span::at(start).to(Span::at(start + raw.len())) }
    }

    pub(crate) fn note(&mut self, raw: &str, start: usize) -> Note {
        let text = self.text(raw, start);
        let characters = literal::characters(raw);
        let mut pieces = Vec::new();
        let mut words = String::new();
        let mut rest = characters.as_slice();
        while let Some((first, behind)) = rest.split_first() {
            rest = behind;
            let next_is =
                |brace: char| behind.first().is_some_and(|next| !next.escaped && next.character == Some(brace));
            match first.character {
                Some(brace @ ('{' | '}')) if !first.escaped && next_is(brace) => {
                    words.push(brace);
                    rest = behind.get(1..).unwrap_or_default();
                }
                Some('{') if !first.escaped => {
                    let end = behind.iter().position(|one| !one.escaped && matches!(one.character, Some('{' | '}')));
                    let (inside, closing) = behind.split_at(end.unwrap_or(behind.len()));
                    let closed = closing.first().is_some_and(|one| one.character == Some('}'));
                    rest = if closed { closing.get(1..).unwrap_or_default() } else { closing };
                    if let Some(name) = self.placeholder(*first, inside, closed, start) {
                        if !words.is_empty() {
                            pieces.push(Piece::Words(core::mem::take(&mut words)));
                        }
                        pieces.push(Piece::Name(name));
                    }
                }
                Some('}') if !first.escaped => self.bad_placeholder(Span::new(first.start, first.end).shifted(start)),
                Some(character) => words.push(character),
                None => words.push(char::REPLACEMENT_CHARACTER),
            }
        }
        if !words.is_empty() {
            pieces.push(Piece::Words(words));
        }
        Note { text, pieces }
    }

    /// The name between the brace `open` and its partner, spaces around it left out.
    fn placeholder(&mut self, open: Written, inside: &[Written], closed: bool, start: usize) -> Option<Name> {
        let end = inside.last().map_or(open.end, |last| last.end) + usize::from(closed);
        let whole = Span::new(open.start, end).shifted(start);
        let held = Span::new(open.end, end - usize::from(closed)).shifted(start);
        let written = held.of(self.source);
        let text = written.trim_matches(' ');
        let is_name = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && text
                .split('-')
                .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
        if !closed || !is_name {
            self.bad_placeholder(whole);
            return None;
        }
        let before = written.len() - written.trim_start_matches(' ').len();
        let span = Span::new(held.start + before, held.start + before + text.len());
        Some(Name { text: text.to_owned(), span })
    }

    fn bad_placeholder(&mut self, span: Span) {
        let message = format!("`{}` is no placeholder", shown(span.of(self.source)));
        self.errors.push(
            SyntaxError::new(BAD_PLACEHOLDER, span, message)
                .with_help("write `{NAME}` for the value of a name, `{{` and `}}` for braces"),
        );
    }

    pub(crate) fn number(&mut self, text: &str, negative: bool, start: usize, end: usize) -> Expr {
        let span = Span::new(start, end);
        let kind = self.number_of(text, negative, span).map_or(ExprKind::Error, ExprKind::Number);
        Expr { kind, span }
    }

    fn number_of(&mut self, text: &str, negative: bool, span: Span) -> Option<Number> {
        let value = literal::magnitude(text).and_then(|magnitude| literal::signed(magnitude, negative));
        if value.is_none() {
            self.errors.push(
                SyntaxError::new(BAD_NUMBER, span, format!("`{}` is too large a number", shown(text)))
                    .with_help("a whole number has 64 bits at most"),
            );
        }
        let sign = if negative { "-" } else { "" };
        let value: NumberValue = value?;
        Some(Number { value, text: format!("{sign}{}", literal::without_underscores(text)), span })
    }

    pub(crate) fn quantity(&mut self, fused: Fused<'t>, negative: bool, start: usize, end: usize) -> Expr {
        let kind = match self.fused(fused, negative, start, end) {
            Some((number, unit)) => ExprKind::Quantity(Box::new(Quantity { number, unit })),
            None => ExprKind::Error,
        };
        Expr { kind, span: Span::new(start, end) }
    }

    /// The number and the unit of a fused token that ends at `end`, its sign beginning at `start`.
    fn fused(&mut self, (text, at): Fused<'t>, negative: bool, start: usize, end: usize) -> Option<(Number, UnitText)> {
        let (number, unit_text) = text.split_at_checked(at)?;
        let number = number.trim_end();
        let begin = end - text.len();
        let number = self.number_of(number, negative, Span::new(start, begin + number.len()))?;
        let unit = Unit::parse(unit_text)?;
        Some((number, UnitText { text: unit_text.to_owned(), unit, span: Span::new(end - unit_text.len(), end) }))
    }

    pub(crate) fn duration_value(&mut self, fused: Fused<'t>, negative: bool, start: usize, end: usize) -> Expr {
        let span = Span::new(start, end);
        let kind = match (self.nanos(fused, span), self.fused(fused, negative, start, end)) {
            (Some(nanos), Some((number, unit))) => {
                let nanos = if negative { -nanos } else { nanos };
                ExprKind::Duration(Box::new(DurationLiteral { nanos, number, unit }))
            }
            _ => ExprKind::Error,
        };
        Expr { kind, span }
    }

    pub(crate) fn duration(&mut self, fused: Fused<'t>, start: usize, end: usize) -> Duration {
        let span = Span::new(start, end);
        Duration { nanos: self.nanos(fused, span), span }
    }

    fn nanos(&mut self, (text, at): Fused<'t>, span: Span) -> Option<i64> {
        let (number, unit) = text.split_at_checked(at)?;
        match literal::nanos(number.trim_end(), unit) {
            Ok(nanos) => Some(nanos),
            Err(DurationError::TooLong) => {
                let message = format!("`{}` is longer than 365 d", shown(text));
                self.errors.push(SyntaxError::new(DURATION_OUT_OF_RANGE, span, message));
                None
            }
            Err(DurationError::Inexact) => {
                let message = format!("`{}` is no whole number of nanoseconds", shown(text));
                self.errors.push(
                    SyntaxError::new(INEXACT_DURATION, span, message)
                        .with_help("write it with nine decimals of a second at most"),
                );
                None
            }
        }
    }

    pub(crate) fn not_a_duration(&mut self, start: usize, end: usize) -> Duration {
        let span = Span::new(start, end);
        let text = span.of(self.source);
        let error = SyntaxError::new(NOT_A_DURATION, span, format!("`{}` is no duration", shown(text)));
        let error = if text.starts_with('-') {
            error.with_help("a duration of a statement is not negative")
        } else if literal::magnitude(text).is_some() {
            error
                .with_help(format!("write a unit behind it, as in `{text} s`; there are `ms`, `s`, `min`, `h` and `d`"))
        } else if text.starts_with(|first: char| first.is_ascii_digit()) {
            error.with_help("the units of a duration are `ms`, `s`, `min`, `h` and `d`")
        } else {
            error.with_help("write a number and a unit, as in `5 s`: the duration of a statement is a literal")
        };
        self.errors.push(error);
        Duration { nanos: None, span }
    }

    pub(crate) fn count(&mut self, text: &str, start: usize, end: usize) -> Count {
        match literal::magnitude(text) {
            Some(Magnitude::Int(value)) => Count { value: Some(value), span: Span::new(start, end) },
            _ => self.not_a_count(start, end),
        }
    }

    pub(crate) fn not_a_count(&mut self, start: usize, end: usize) -> Count {
        let span = Span::new(start, end);
        let message = format!("`{}` is no count", shown(span.of(self.source)));
        self.errors.push(
            SyntaxError::new(NOT_A_COUNT, span, message)
                .with_help("write a whole number, as in `3 times`: a count is a literal"),
        );
        Count { value: None, span }
    }

    pub(crate) fn time(&mut self, text: &str, start: usize, end: usize) -> Expr {
        let kind = literal::time(text).map_or(ExprKind::Error, |time| ExprKind::Time(Box::new(time)));
        Expr { kind, span: Span::new(start, end) }
    }

    /// Operands joined by `or`, by `and`; one alone stays what it is.
    #[expect(clippy::unused_self, reason = "every action of the grammar is a method of its context")]
    pub(crate) fn chain(
        &self,
        first: Expr,
        rest: Vec<Expr>,
        kind: fn(Vec<Expr>) -> ExprKind,
        start: usize,
        end: usize,
    ) -> Expr {
        if rest.is_empty() {
            return first;
        }
        let mut all = Vec::with_capacity(rest.len() + 1);
        all.push(first);
        all.extend(rest);
        Expr { kind: kind(all), span: Span::new(start, end) }
    }

    pub(crate) fn sum(&self, first: Expr, rest: Vec<((SumOp, Span), Expr)>, start: usize, end: usize) -> Expr {
        self.operators(first, rest, |chain| ExprKind::Sum(Box::new(chain)), start, end)
    }

    pub(crate) fn product(&self, first: Expr, rest: Vec<((ProductOp, Span), Expr)>, start: usize, end: usize) -> Expr {
        self.operators(first, rest, |chain| ExprKind::Product(Box::new(chain)), start, end)
    }

    #[expect(clippy::unused_self, reason = "shared by two actions of the grammar")]
    fn operators<Op>(
        &self,
        first: Expr,
        rest: Vec<((Op, Span), Expr)>,
        kind: fn(Chain<Op>) -> ExprKind,
        start: usize,
        end: usize,
    ) -> Expr {
        if rest.is_empty() {
            return first;
        }
        let rest = rest.into_iter().map(|((op, span), operand)| (op, span, operand)).collect();
        Expr { kind: kind(Chain { first, rest }), span: Span::new(start, end) }
    }

    /// `not`, so many times. Two cancel each other, in Kleene's logic too, so that a long row of them is no deep tree.
    #[expect(clippy::unused_self, reason = "every action of the grammar is a method of its context")]
    pub(crate) fn not(&self, count: usize, of: Expr, start: usize, end: usize) -> Expr {
        let span = Span::new(start, end);
        if count.is_multiple_of(2) {
            Expr { kind: of.kind, span }
        } else {
            Expr { kind: ExprKind::Not(Box::new(of)), span }
        }
    }

    #[expect(clippy::unused_self, reason = "every action of the grammar is a method of its context")]
    pub(crate) fn comparison(&self, left: Expr, (test, operator): (Test, Span), start: usize, end: usize) -> Expr {
        let comparison = Comparison { left, test, operator };
        Expr { kind: ExprKind::Compare(Box::new(comparison)), span: Span::new(start, end) }
    }

    pub(crate) fn use_is(&mut self, sign: &str, start: usize, end: usize) -> (bool, Span) {
        let span = Span::new(start, end);
        let negated = sign == "!=";
        let instead = if negated { "is not" } else { "is" };
        self.errors.push(
            SyntaxError::new(USE_IS, span, format!("a condition does not compare with `{sign}`"))
                .with_help(format!("write `{instead}`")),
        );
        (negated, span)
    }

    /// A value that is missing behind `start`, reported here.
    pub(crate) fn missing(&mut self, recovery: Recovery<'t>, start: usize, end: usize) -> Expr {
        self.recovered(recovery);
        Expr { kind: ExprKind::Error, span: Span::new(start, end) }
    }

    pub(crate) fn no_expression(&mut self, recovery: Recovery<'t>, start: usize) -> Expr {
        let span = self.line_at(start);
        self.missing(recovery, span.start, span.end)
    }

    pub(crate) fn no_range(&mut self, recovery: Recovery<'t>) -> Option<Range> {
        self.recovered(recovery);
        None
    }

    pub(crate) fn no_duration(&mut self, recovery: Recovery<'t>, start: usize) -> Duration {
        self.recovered(recovery);
        Duration { nanos: None, span: self.line_at(start) }
    }

    pub(crate) fn retry(&mut self, parts: Vec<(RetryPart, Span)>, start: usize, end: usize) -> Retry {
        let mut retry = Retry {
            times: None,
            every: None,
            total: None,
            keyword: self.keyword_at(start),
            span: Span::new(start, end),
        };
        let mut latest = 0;
        for (part, span) in parts {
            let (rank, doubled) = match part {
                RetryPart::Times(count) => (1, retry.times.replace(count).is_some()),
                RetryPart::Every(duration) => (2, retry.every.replace(duration).is_some()),
                RetryPart::For(duration) => (3, retry.total.replace(duration).is_some()),
            };
            if doubled || rank < latest {
                let text = shown(span.of(self.source));
                let message = if doubled {
                    format!("`{text}` says again what this `retry` says already")
                } else {
                    format!("`{text}` stands too late in this `retry`")
                };
                self.errors.push(
                    SyntaxError::new(RETRY_ORDER, span, message)
                        .with_help("write `retry N times every D for D`, each part once or not at all"),
                );
            }
            latest = latest.max(rank);
        }
        retry
    }

    pub(crate) fn send(
        &mut self,
        telecommand: Name,
        args: Option<Vec<Arg>>,
        component: Path,
        route: Option<Name>,
    ) -> StmtKind {
        let args = args.unwrap_or_default();
        for arg in args.iter().filter(|arg| arg.name.is_none()) {
            let text = shown(arg.value.span.of(self.source));
            self.errors.push(
                SyntaxError::new(UNNAMED_ARGUMENT, arg.span, format!("`{text}` does not say which argument it is"))
                    .with_help(format!("write `NAME = {text}`: a telecommand takes its arguments by name")),
            );
        }
        StmtKind::Send(Send { telecommand, args, component, route })
    }

    #[expect(clippy::unused_self, reason = "every action of the grammar is a method of its context")]
    pub(crate) fn ask(&self, text: Text, choices: Option<Vec<Text>>, within: Duration, name: Option<Name>) -> StmtKind {
        StmtKind::Ask(Ask { text, choices: choices.unwrap_or_default(), within, name })
    }
}
