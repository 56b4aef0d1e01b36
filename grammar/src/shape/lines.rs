//! Lines to statements, blocks and definitions.

use crate::{
    ast::{
        Ast, Branch, Count, Definition, DefinitionKind, Domain, Else, ErrorStmt, Expr, ForEach, If, InlineStep, Name,
        OnFailure, Repeat, Retry, Stmt, StmtKind, Text, Together,
    },
    error::{EMPTY_BODY, MISPLACED, SyntaxError},
    shape::{Context, Item, Line, Recovery},
    span::Span,
};

/// What a block is that lines are collected for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The block of a definition.
    Definition(DefinitionKind),
    /// The block of an inline step, which a text may document.
    Step,
    /// Any other.
    Other,
}

/// The lines of a block, sorted.
#[derive(Default)]
struct Sorted {
    doc: Option<Text>,
    declared: Vec<Line>,
    body: Vec<Stmt>,
    on_failure: Option<OnFailure>,
}

impl<'t> Context<'t> {
    #[expect(clippy::unused_self, reason = "every action of the grammar is a method of its context")]
    pub(crate) fn file(&self, items: Vec<Item>) -> Ast {
        let mut ast = Ast::default();
        for item in items {
            match item {
                Item::Definition(definition) => ast.definitions.push(*definition),
                Item::Broken(broken) => ast.broken.push(broken),
            }
        }
        ast
    }

    pub(crate) fn definition(
        &mut self,
        kind: DefinitionKind,
        name: Text,
        retry: Option<Retry>,
        start: usize,
        end: usize,
        block: Vec<Line>,
    ) -> Item {
        let header = Span::new(start, end);
        if let (DefinitionKind::Procedure, Some(retry)) = (kind, &retry) {
            self.misplaced(retry.span, "a procedure has no `retry`", "write it on the `run` that calls the procedure");
        }
        let had_lines = !block.is_empty();
        let sorted = self.sort(block, Place::Definition(kind));
        if had_lines && sorted.body.is_empty() {
            self.without_statements(header, &name);
        }
        let mut definition = Definition {
            kind,
            name,
            retry,
            doc: sorted.doc,
            uses: Vec::new(),
            inputs: Vec::new(),
            body: sorted.body,
            on_failure: sorted.on_failure,
            keyword: self.keyword_at(start),
            header,
            span: header.to(Span::at(self.last_before_here(header))),
        };
        for line in sorted.declared.into_iter().chain(core::mem::take(&mut self.hoisted)) {
            match line {
                Line::Uses(uses) => definition.uses.push(uses),
                Line::Input(input) => definition.inputs.push(input),
                _ => {}
            }
        }
        Item::Definition(Box::new(definition))
    }

    /// The end of the definition with this header: where the last line before the next definition ends.
    fn last_before_here(&self, header: Span) -> usize {
        use crate::token::Token;
        // The block of the definition is balanced, and its dedent is of zero width, behind its last line.
        let first = self.tokens.partition_point(|lexeme| lexeme.span.start < header.end);
        let mut depth: usize = 0;
        let mut end = header.end;
        for lexeme in self.tokens.get(first..).unwrap_or_default() {
            match lexeme.token {
                Token::Indent => depth += 1,
                Token::Dedent if depth <= 1 => break,
                Token::Dedent => depth -= 1,
                _ => end = end.max(lexeme.span.end),
            }
        }
        end
    }

    fn without_statements(&mut self, header: Span, name: &Text) {
        let message = format!("`{}` has no statement", crate::lexer::shown(&name.value));
        self.errors
            .push(SyntaxError::new(EMPTY_BODY, header, message).with_help("write at least one statement into it"));
    }

    /// A block at the margin, which the layout pass has reported.
    pub(crate) fn outside(&mut self, start: usize, block: Vec<Line>) -> Item {
        let body = self.sort(block, Place::Other).body;
        self.hoisted.clear();
        Item::Broken(ErrorStmt { span: Span::at(start), body, ..ErrorStmt::default() })
    }

    pub(crate) fn broken_item(&mut self, recovery: Recovery<'t>, start: usize, block: Vec<Line>) -> Item {
        self.recovered(recovery);
        // Whatever it was to be, it was a definition: its lines are where they belong.
        let body = self.sort(block, Place::Definition(DefinitionKind::Procedure)).body;
        self.hoisted.clear();
        Item::Broken(self.error_stmt(start, body))
    }

    pub(crate) fn statement(&self, kind: StmtKind, start: usize, end: usize) -> Line {
        Line::Statement(Stmt { kind, keyword: self.keyword_at(start), span: Span::new(start, end) })
    }

    pub(crate) fn compound(&self, (kind, end): (StmtKind, usize), start: usize) -> Line {
        self.statement(kind, start, end)
    }

    pub(crate) fn broken_line(&mut self, recovery: Recovery<'t>, start: usize, block: Vec<Line>) -> Line {
        self.recovered(recovery);
        let body = self.sort(block, Place::Step).body;
        let broken = self.error_stmt(start, body);
        let span = broken.span;
        Line::Statement(Stmt { kind: StmtKind::Error(broken), keyword: self.keyword_at(span.start), span })
    }

    pub(crate) fn on_failure(&mut self, start: usize, end: usize, block: Vec<Line>) -> Line {
        let body = self.block(block);
        let header = Span::new(start, end);
        let span = header.to(Span::at(self.last_before_here(header)));
        Line::OnFailure(OnFailure { body, header, span })
    }

    pub(crate) fn otherwise(&mut self, start: usize, end: usize, block: Vec<Line>) -> Line {
        let body = self.block(block);
        Line::Otherwise(Else { header: Span::new(start, end), body })
    }

    pub(crate) fn branch(&mut self, start: usize, end: usize, block: Vec<Line>) -> Line {
        let body = self.block(block);
        Line::Branch(Branch { header: Span::new(start, end), body })
    }

    pub(crate) fn if_true(&mut self, condition: Expr, end: usize, block: Vec<Line>) -> (StmtKind, usize) {
        (StmtKind::If(If { condition, then: self.block(block), otherwise: None }), end)
    }

    pub(crate) fn repeat(&mut self, count: Count, end: usize, block: Vec<Line>) -> (StmtKind, usize) {
        (StmtKind::Repeat(Repeat { count, body: self.block(block) }), end)
    }

    pub(crate) fn for_each(&mut self, name: Name, domain: Domain, end: usize, block: Vec<Line>) -> (StmtKind, usize) {
        (StmtKind::ForEach(ForEach { name, domain, body: self.block(block) }), end)
    }

    pub(crate) fn inline_step(
        &mut self,
        name: Text,
        retry: Option<Retry>,
        start: usize,
        end: usize,
        block: Vec<Line>,
    ) -> (StmtKind, usize) {
        let had_lines = !block.is_empty();
        let sorted = self.sort(block, Place::Step);
        if had_lines && sorted.body.is_empty() {
            self.without_statements(Span::new(start, end), &name);
        }
        (StmtKind::Step(InlineStep { name, retry, doc: sorted.doc, body: sorted.body }), end)
    }

    pub(crate) fn together(&mut self, end: usize, block: Vec<Line>) -> (StmtKind, usize) {
        let mut branches = Vec::new();
        let mut others = Vec::new();
        for line in block {
            match line {
                Line::Branch(branch) => branches.push(branch),
                other => others.push(other),
            }
        }
        if let Some(first) = others.first() {
            let span = span_of(first);
            // A line that could not be read has been reported; what is no statement is reported where it is sorted.
            if matches!(first, Line::Statement(statement) if !matches!(statement.kind, StmtKind::Error(_))) {
                self.misplaced(span, "a `together` holds branches only", "write it into the block of a `branch`");
            }
            let body = self.block(others);
            branches.push(Branch { header: span, body });
        }
        (StmtKind::Together(Together { branches }), end)
    }

    fn block(&mut self, lines: Vec<Line>) -> Vec<Stmt> {
        self.sort(lines, Place::Other).body
    }

    fn sort(&mut self, lines: Vec<Line>, place: Place) -> Sorted {
        let mut sorted = Sorted::default();
        for (at, line) in lines.into_iter().enumerate() {
            if sorted.on_failure.is_some() && !matches!(line, Line::Doc(_)) {
                self.behind_on_failure(&line, &mut sorted);
            }
            match line {
                Line::Statement(statement) => sorted.body.push(statement),
                Line::Doc(text) => self.documented(text, at, place, &mut sorted),
                Line::Uses(_) | Line::Input(_) => self.declared(line, place, &mut sorted),
                Line::Otherwise(otherwise) => self.attach_else(otherwise, &mut sorted.body),
                Line::Branch(branch) => {
                    self.misplaced(branch.header, "this `branch` stands in no `together`", "write `together` above it");
                    sorted.body.push(self.stray(branch.header, branch.body));
                }
                Line::OnFailure(on_failure) => self.put_on_failure(on_failure, place, &mut sorted),
            }
        }
        sorted
    }

    fn behind_on_failure(&mut self, line: &Line, sorted: &mut Sorted) {
        let reported = sorted
            .body
            .last()
            .is_some_and(|last| sorted.on_failure.as_ref().is_some_and(|it| last.span.start > it.span.start));
        if !reported && matches!(line, Line::Statement(_)) {
            self.misplaced(
                span_of(line),
                "`on failure` is the last block of a procedure",
                "write this statement above it",
            );
        }
    }

    fn documented(&mut self, text: Text, at: usize, place: Place, sorted: &mut Sorted) {
        if at == 0 && place != Place::Other {
            sorted.doc = Some(text);
            return;
        }
        let help = "a text stands directly below the header that it documents; `note` writes one into the log";
        self.misplaced(text.span, "a text is no statement", help);
    }

    fn declared(&mut self, line: Line, place: Place, sorted: &mut Sorted) {
        let word = if matches!(line, Line::Uses(_)) { "uses" } else { "input" };
        let in_definition = matches!(place, Place::Definition(_));
        if !in_definition {
            let message = format!("`{word}` stands inside a block");
            self.misplaced(span_of(&line), message, "write it directly below the header of the step or procedure");
            self.hoisted.push(line);
            return;
        }
        if !sorted.body.is_empty() {
            let message = format!("`{word}` stands behind a statement");
            self.misplaced(span_of(&line), message, "write it above the first statement");
        }
        sorted.declared.push(line);
    }

    fn attach_else(&mut self, otherwise: Else, body: &mut Vec<Stmt>) {
        match body.last_mut().map(|last| &mut last.kind) {
            Some(StmtKind::If(branch)) if branch.otherwise.is_none() => branch.otherwise = Some(otherwise),
            // It may have been an `if`.
            Some(StmtKind::Error(broken)) => broken.body.extend(otherwise.body),
            _ => {
                let help = "an `else` stands directly below the block of an `if`, indented as much";
                self.misplaced(otherwise.header, "this `else` follows no `if`", help);
                body.push(self.stray(otherwise.header, otherwise.body));
            }
        }
    }

    fn put_on_failure(&mut self, on_failure: OnFailure, place: Place, sorted: &mut Sorted) {
        let header = on_failure.header;
        match place {
            Place::Definition(DefinitionKind::Procedure) if sorted.on_failure.is_none() => {}
            Place::Definition(DefinitionKind::Procedure) => {
                self.misplaced(header, "this procedure has an `on failure` already", "write one block for both");
                sorted.body.push(self.stray(header, on_failure.body));
                return;
            }
            Place::Definition(DefinitionKind::Step) => {
                self.misplaced(
                    header,
                    "a step has no `on failure`",
                    "write it at the end of the procedure that calls the step",
                );
            }
            Place::Step | Place::Other => {
                self.misplaced(header, "`on failure` stands inside a block", "write it at the end of the procedure");
                sorted.body.push(self.stray(header, on_failure.body));
                return;
            }
        }
        sorted.on_failure.get_or_insert(on_failure);
    }

    /// A block in a place where it cannot stand, kept so that what it gives is known.
    fn stray(&self, header: Span, body: Vec<Stmt>) -> Stmt {
        let broken = ErrorStmt { span: header, body, ..ErrorStmt::default() };
        Stmt { kind: StmtKind::Error(broken), keyword: self.keyword_at(header.start), span: header }
    }

    fn misplaced(&mut self, span: Span, message: impl Into<String>, help: &str) {
        self.errors.push(SyntaxError::new(MISPLACED, span, message).with_help(help));
    }
}

fn span_of(line: &Line) -> Span {
    match line {
        Line::Statement(statement) => statement.span,
        Line::Uses(uses) => uses.span,
        Line::Input(input) => input.span,
        Line::Doc(text) => text.span,
        Line::Otherwise(otherwise) => otherwise.header,
        Line::Branch(branch) => branch.header,
        Line::OnFailure(on_failure) => on_failure.header,
    }
}
