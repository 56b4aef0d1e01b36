//! Lines and indentation to blocks.
//!
//! The pass is total and balanced: whatever comes in, every [`Token::Indent`] that goes out has its
//! [`Token::Dedent`]; a line whose first word opens a block is always followed by an indent (an empty one, reported,
//! where no deeper line follows), any other line by a [`Token::Newline`]. All of these are of zero width. Two kinds of
//! line are the exception that keeps one mistake one error: a line that begins with no keyword and has a deeper line
//! below it opens a block too, and statements outside a definition get one around them.
//!
//! The limits of nesting are here, since what is cut off here can make nobody's stack deep.

use crate::{
    error::{
        BAD_DEDENT, EMPTY_BODY, NESTING_TOO_DEEP, OUTSIDE_DEFINITION, SyntaxError, TAB_INDENT, UNCLOSED_BRACKET,
        UNEXPECTED_INDENT,
    },
    span::Span,
    token::{Keyword, Lexeme, Start, Token},
};

/// How many blocks, and how many brackets, may stand inside one another.
pub const NESTING_LIMIT: usize = 64;

/// A tab goes on to the next multiple of this many columns. It is an error all the same.
const TAB_STOP: usize = 4;

/// What the pass makes of a text.
pub(crate) struct Laid<'t> {
    /// The tokens for the parser.
    pub(crate) tokens: Vec<Lexeme<'t>>,
    /// The logical lines, in order.
    pub(crate) lines: Vec<LineSpan>,
    /// Errors, in no order.
    pub(crate) errors: Vec<SyntaxError>,
}

/// Where a logical line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineSpan {
    /// From its first token to its last.
    pub(crate) span: Span,
    /// Whether a block is open around it.
    pub(crate) in_block: bool,
}

/// Blocks and logical lines of `tokens`, which are those of `text`.
pub(crate) fn lay_out<'t>(text: &str, tokens: Vec<Lexeme<'t>>) -> Laid<'t> {
    let mut pass = Pass::new(text, tokens);
    while let Some(line) = pass.gather() {
        pass.place(&line);
        pass.emit(line);
    }
    pass.finish()
}

/// The tokens of a text that is one expression: no blocks, and an end of line is a space.
pub(crate) fn lay_flat(start: Start, tokens: Vec<Lexeme<'_>>) -> Laid<'_> {
    let span = tokens.iter().map(|lexeme| lexeme.span).reduce(Span::to).unwrap_or_default();
    let tokens: Vec<_> = tokens.into_iter().filter(|lexeme| lexeme.token != Token::Newline).collect();
    let mut brackets = Brackets::default();
    let mut laid = Vec::with_capacity(tokens.len() + 1);
    laid.push(Lexeme { token: Token::Start(start), span: Span::at(0) });
    for lexeme in tokens {
        laid.extend(brackets.pass(lexeme));
    }
    brackets.close(span.end, &mut laid);
    Laid { tokens: laid, lines: vec![LineSpan { span, in_block: true }], errors: brackets.errors }
}

/// A line of the text that holds a token.
#[derive(Clone, Copy)]
struct Physical {
    /// The range of its tokens.
    first: usize,
    last: usize,
    indent: usize,
    /// Whether a tab stands in its indentation, so that no other fault of the indentation is reported.
    tabbed: bool,
}

/// Lines that belong together, brackets closed.
struct Logical<'t> {
    tokens: Vec<Lexeme<'t>>,
    indent: usize,
    tabbed: bool,
}

impl Logical<'_> {
    fn span(&self) -> Span {
        self.tokens.iter().map(|lexeme| lexeme.span).reduce(Span::to).unwrap_or_default()
    }

    fn keyword(&self) -> Option<Keyword> {
        self.tokens.first().and_then(|lexeme| lexeme.token.keyword())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The file itself.
    Base,
    /// A block: its end is a dedent.
    Block,
    /// A block that no indentation tells: statements at the margin.
    Stray,
    /// Deeper lines that nothing opened: they belong to the block around them.
    Flat,
}

#[derive(Clone, Copy)]
struct Level {
    indent: usize,
    kind: Kind,
}

struct Pass<'t> {
    source: Vec<Lexeme<'t>>,
    physical: Vec<Physical>,
    /// The next physical line.
    at: usize,
    base: Level,
    levels: Vec<Level>,
    out: Vec<Lexeme<'t>>,
    lines: Vec<LineSpan>,
    errors: Vec<SyntaxError>,
    /// Whether the definition last begun has no body.
    empty_definition: bool,
    /// Whether the definition last begun has been reported as nested too deep.
    too_deep: bool,
}

impl<'t> Pass<'t> {
    fn new(text: &str, tokens: Vec<Lexeme<'t>>) -> Self {
        let mut errors = Vec::new();
        let (source, physical) = cut_lines(text, tokens, &mut errors);
        let mut out = Vec::with_capacity(source.len() + 2 * physical.len() + 1);
        out.push(Lexeme { token: Token::Start(Start::File), span: Span::at(0) });
        Self {
            source,
            physical,
            at: 0,
            base: Level { indent: 0, kind: Kind::Base },
            levels: Vec::new(),
            out,
            lines: Vec::new(),
            errors,
            empty_definition: false,
            too_deep: false,
        }
    }

    fn top(&self) -> Level {
        self.levels.last().copied().unwrap_or(self.base)
    }

    fn tokens_of(&self, line: Physical) -> &[Lexeme<'t>] {
        self.source.get(line.first..line.last).unwrap_or_default()
    }

    fn next_line(&self) -> Option<Physical> {
        self.physical.get(self.at).copied()
    }

    /// The next logical line: physical ones joined at commas, in brackets, and where one goes on by mistake.
    fn gather(&mut self) -> Option<Logical<'t>> {
        let first = self.next_line()?;
        let mut line = Logical { tokens: Vec::new(), indent: first.indent, tabbed: first.tabbed };
        let mut brackets = Brackets::default();
        let mut current = first;
        let mut mistaken = false;
        loop {
            self.at += 1;
            for lexeme in self.source.get(current.first..current.last).unwrap_or_default() {
                line.tokens.extend(brackets.pass(*lexeme));
            }
            let Some(next) = self.next_line() else { break };
            let following = self.tokens_of(next);
            if begins_statement(following) {
                break;
            }
            let open = brackets.is_open() || line.tokens.last().is_some_and(|last| last.token == Token::Comma);
            if !open {
                let Some(silent) = goes_on_by_mistake(&line, next, following) else { break };
                if !silent && !mistaken {
                    mistaken = true;
                    let span = following.first().map_or_else(Span::default, |first| first.span);
                    let error =
                        unexpected_indent(span).with_help("a line goes on on the next after a `,` or between brackets");
                    self.errors.push(error);
                }
            }
            current = next;
        }
        let end = line.span().end;
        brackets.close(end, &mut line.tokens);
        self.errors.append(&mut brackets.errors);
        Some(line)
    }

    /// Closes and opens what the indentation of a line says.
    fn place(&mut self, line: &Logical<'t>) {
        let at = line.tokens.first().map_or(0, |first| first.span.start);
        let begins_definition = line.keyword().is_some_and(Keyword::begins_definition);
        let mut flattened = false;
        while let Some(top) = self.levels.last().copied() {
            let leaves = top.kind == Kind::Stray && line.indent <= top.indent && !self.is_stray(line);
            if line.indent >= top.indent && !leaves {
                break;
            }
            let below = self.levels.iter().nth_back(1).copied().unwrap_or(self.base);
            if line.indent > below.indent && top.kind == Kind::Block && !flattened {
                self.bad_dedent(line);
                return;
            }
            flattened |= top.kind == Kind::Flat;
            self.levels.pop();
            if top.kind != Kind::Flat {
                self.out.push(Lexeme { token: Token::Dedent, span: Span::at(at) });
            }
        }
        if line.indent > self.top().indent {
            if !flattened && !line.tabbed {
                self.errors.push(unexpected_indent(line.span()));
            }
            self.levels.push(Level { indent: line.indent, kind: Kind::Flat });
        }
        if begins_definition && self.depth() == 0 {
            self.too_deep = false;
            self.empty_definition = false;
        } else if self.depth() == 0 && self.is_stray(line) {
            self.open_stray(line);
        }
    }

    /// Whether a line at the margin is a statement that lost its definition.
    fn is_stray(&self, line: &Logical<'t>) -> bool {
        line.keyword().is_some_and(|keyword| keyword.begins_line() && !keyword.begins_definition())
    }

    /// A statement at the margin: it goes on in the definition before it, or in a block of its own.
    fn open_stray(&mut self, line: &Logical<'t>) {
        if !self.empty_definition {
            let word = line.keyword().map_or("", Keyword::text);
            self.errors.push(
                SyntaxError::new(OUTSIDE_DEFINITION, line.span(), format!("this `{word}` stands in no definition"))
                    .with_help("indent what belongs to a `step` or `procedure`"),
            );
        }
        self.empty_definition = false;
        if self.out.last().is_some_and(|last| last.token == Token::Dedent) {
            self.out.pop();
        } else {
            let at = line.span().start;
            self.out.push(Lexeme { token: Token::Indent, span: Span::at(at) });
        }
        self.levels.push(Level { indent: line.indent, kind: Kind::Stray });
    }

    /// A line between the indentations of two blocks: it stays in the deeper one, and so do those that follow it.
    fn bad_dedent(&mut self, line: &Logical<'t>) {
        let blocks = self.levels.iter().filter(|level| level.kind == Kind::Block);
        let open: Vec<String> = blocks.map(|level| level.indent.to_string()).collect();
        let message = format!("this line is indented by {}, which no open block is", spaces(line.indent));
        let help = format!("indent it as the lines of an open block, by {}", crate::expected::join(&open, "or"));
        if !line.tabbed {
            self.errors.push(SyntaxError::new(BAD_DEDENT, line.span(), message).with_help(help));
        }
        if let Some(top) = self.levels.last_mut() {
            top.indent = line.indent;
        }
    }

    /// Blocks open here.
    fn depth(&self) -> usize {
        self.levels.iter().filter(|level| matches!(level.kind, Kind::Block | Kind::Stray)).count()
    }

    /// Hands a line on, with the block that it opens.
    fn emit(&mut self, line: Logical<'t>) {
        let span = line.span();
        let keyword = line.keyword();
        let unknown = !keyword.is_some_and(Keyword::begins_line);
        self.lines.push(LineSpan { span, in_block: self.depth() > 0 });
        self.out.extend(line.tokens);
        let end = Span::at(span.end);
        let next = self.next_line().filter(|next| next.indent > line.indent);
        let opens = keyword.is_some_and(Keyword::opens_block) || (unknown && next.is_some());
        if !opens {
            self.out.push(Lexeme { token: Token::Newline, span: end });
            return;
        }
        self.out.push(Lexeme { token: Token::Indent, span: end });
        match next {
            Some(next) if self.depth() < NESTING_LIMIT => {
                self.levels.push(Level { indent: next.indent, kind: Kind::Block });
            }
            Some(_) => {
                self.nested_too_deep(span);
                self.skip_block(line.indent);
                self.out.push(Lexeme { token: Token::Dedent, span: end });
            }
            None => {
                self.empty_definition = self.depth() == 0;
                let word = match keyword {
                    Some(Keyword::On) => "on failure",
                    Some(Keyword::For) => "for each",
                    _ => keyword.map_or("", Keyword::text),
                };
                self.errors.push(
                    SyntaxError::new(EMPTY_BODY, span, format!("this `{word}` has no body"))
                        .with_help("indent the lines below it that belong to it"),
                );
                self.out.push(Lexeme { token: Token::Dedent, span: end });
            }
        }
    }

    fn nested_too_deep(&mut self, header: Span) {
        if !self.too_deep {
            self.too_deep = true;
            self.errors.push(
                SyntaxError::new(
                    NESTING_TOO_DEEP,
                    header,
                    format!("more than {NESTING_LIMIT} blocks inside one another"),
                )
                .with_help("move the inner blocks into a step or procedure of their own"),
            );
        }
    }

    /// Passes over the lines that are deeper than `indent`.
    fn skip_block(&mut self, indent: usize) {
        let errors = self.errors.len();
        while self.next_line().is_some_and(|next| next.indent > indent) {
            if let Some(line) = self.gather() {
                self.lines.push(LineSpan { span: line.span(), in_block: true });
            }
        }
        self.errors.truncate(errors);
    }

    fn finish(mut self) -> Laid<'t> {
        let end = self.lines.last().map_or(0, |line| line.span.end);
        while let Some(level) = self.levels.pop() {
            if level.kind != Kind::Flat {
                self.out.push(Lexeme { token: Token::Dedent, span: Span::at(end) });
            }
        }
        Laid { tokens: self.out, lines: self.lines, errors: self.errors }
    }
}

/// The tokens without the ends of lines, and the lines that hold one.
fn cut_lines<'t>(
    text: &str,
    tokens: Vec<Lexeme<'t>>,
    errors: &mut Vec<SyntaxError>,
) -> (Vec<Lexeme<'t>>, Vec<Physical>) {
    let mut source = Vec::with_capacity(tokens.len());
    let mut physical: Vec<Physical> = Vec::new();
    let mut begin = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut first = 0;
    for lexeme in tokens {
        if lexeme.token == Token::Newline {
            begin = lexeme.span.end;
            first = source.len();
            continue;
        }
        if source.len() == first {
            let (indent, tab) = indentation(text, begin);
            if let Some(tab) = tab {
                errors.push(
                    SyntaxError::new(TAB_INDENT, tab, "a tab in the indentation")
                        .with_help("indent with spaces, two for each block"),
                );
            }
            physical.push(Physical { first, last: first, indent, tabbed: tab.is_some() });
        }
        source.push(lexeme);
        if let Some(line) = physical.last_mut() {
            line.last = source.len();
        }
    }
    (source, physical)
}

/// Columns before the first character of the line that begins at `begin`, and the tabs among them.
fn indentation(text: &str, begin: usize) -> (usize, Option<Span>) {
    let mut columns: usize = 0;
    let mut tab: Option<Span> = None;
    for (at, byte) in text.bytes().enumerate().skip(begin) {
        match byte {
            b' ' => columns += 1,
            b'\t' => {
                columns = (columns / TAB_STOP + 1) * TAB_STOP;
                let span = Span::new(at, at + 1);
                tab = Some(tab.map_or(span, |before| before.to(span)));
            }
            _ => break,
        }
    }
    (columns, tab)
}

/// Whether a line that could go on another one begins a statement instead. A keyword in a list is a name.
fn begins_statement(line: &[Lexeme<'_>]) -> bool {
    let Some(keyword) = line.first().and_then(|first| first.token.keyword()) else { return false };
    if !keyword.begins_line() {
        return false;
    }
    match (keyword, line.get(1).map(|second| second.token)) {
        (_, Some(Token::Assign | Token::Comma | Token::Close | Token::CloseBracket | Token::Dot)) => false,
        // `for 3 min` belongs to a `retry`.
        (Keyword::For, Some(second)) => second.word().is_some(),
        (Keyword::On, Some(second)) => second.word().is_some(),
        _ => true,
    }
}

/// Whether a deeper line that begins no statement goes on the line before it, and whether that needs no report of its
/// own, since the line before it begins with no keyword.
fn goes_on_by_mistake(line: &Logical<'_>, next: Physical, following: &[Lexeme<'_>]) -> Option<bool> {
    if next.indent <= line.indent {
        return None;
    }
    let keyword = line.keyword().filter(|keyword| keyword.begins_line());
    let dangling = line.tokens.last().is_some_and(|last| dangles(last.token));
    let first = following.first().map(|first| first.token);
    let documents = matches!(first, Some(Token::Text(_)));
    let joins = first.is_some_and(|first| joins(first));
    match keyword {
        Some(keyword) if keyword.opens_block() => (dangling || joins).then_some(false),
        Some(_) => Some(false),
        None if documents => None,
        None => Some(true),
    }
}

/// Whether a line cannot end with this token.
const fn dangles(token: Token<'_>) -> bool {
    matches!(
        token,
        Token::Keyword(
            Keyword::And | Keyword::Or | Keyword::Not | Keyword::Is | Keyword::Between | Keyword::In | Keyword::With
        ) | Token::Assign
            | Token::Equals
            | Token::NotEquals
            | Token::Less
            | Token::LessOrEqual
            | Token::Greater
            | Token::GreaterOrEqual
            | Token::Plus
            | Token::Minus
            | Token::PlusMinus
            | Token::Times
            | Token::Over
    )
}

/// Whether a line cannot begin with this token.
fn joins(token: Token<'_>) -> bool {
    token.keyword().is_some() || (dangles(token) && token != Token::Minus)
}

fn unexpected_indent(span: Span) -> SyntaxError {
    SyntaxError::new(UNEXPECTED_INDENT, span, "this line is indented deeper, but nothing opens a block")
}

fn spaces(count: usize) -> String {
    if count == 1 { "1 space".to_owned() } else { format!("{count} spaces") }
}

/// The brackets open in a line.
#[derive(Default)]
struct Brackets<'t> {
    open: Vec<Lexeme<'t>>,
    /// Brackets open past the limit.
    past: usize,
    too_deep: bool,
    errors: Vec<SyntaxError>,
}

impl<'t> Brackets<'t> {
    fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// What goes on of a token: nothing of what is nested too deep, but one [`Token::Bad`] in its place.
    fn pass(&mut self, lexeme: Lexeme<'t>) -> Option<Lexeme<'t>> {
        match lexeme.token {
            Token::Open | Token::OpenBracket if self.past > 0 || self.open.len() == NESTING_LIMIT => {
                self.past += 1;
                if self.past > 1 {
                    return None;
                }
                if !self.too_deep {
                    self.too_deep = true;
                    let message = format!("more than {NESTING_LIMIT} brackets inside one another");
                    self.errors.push(
                        SyntaxError::new(NESTING_TOO_DEEP, lexeme.span, message)
                            .with_help("give a part of it a name with `let`"),
                    );
                }
                Some(Lexeme { token: Token::Bad, span: lexeme.span })
            }
            Token::Close | Token::CloseBracket if self.past > 0 => {
                self.past -= 1;
                None
            }
            _ if self.past > 0 => None,
            Token::Open | Token::OpenBracket => {
                self.open.push(lexeme);
                Some(lexeme)
            }
            Token::Close | Token::CloseBracket => {
                self.open.pop();
                Some(lexeme)
            }
            _ => Some(lexeme),
        }
    }

    /// Reports what is still open at `end`, and closes it.
    fn close(&mut self, end: usize, line: &mut Vec<Lexeme<'t>>) {
        if let Some(first) = self.open.first()
            && !self.too_deep
        {
            let (opening, closing) = if first.token == Token::Open { ("(", ")") } else { ("[", "]") };
            self.errors.push(
                SyntaxError::new(UNCLOSED_BRACKET, first.span, format!("`{opening}` is not closed"))
                    .with_help(format!("write `{closing}` before the statement ends")),
            );
        }
        while let Some(open) = self.open.pop() {
            let token = if open.token == Token::Open { Token::Close } else { Token::CloseBracket };
            line.push(Lexeme { token, span: Span::at(end) });
        }
    }
}
