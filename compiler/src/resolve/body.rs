//! The statements of a definition.

use std::sync::Arc;

use stellar_grammar::{Span, ast};
use stellar_vm::program::Kind;

use super::{
    World,
    definitions::Header,
    names::{Named, Names},
    signature::{Asked, Signature, taken},
};
use crate::{
    catalogue::{Catalogue, Platform},
    diagnostics::Diagnostic,
    expr::{self, NOT_A_VALUE, Root, Scope, Typed, UNKNOWN_NAME},
    rules,
    source::{FileId, Place},
    suggest::{MOST_HELPED, nearest},
    tree::{
        Ask, Block, Branch, Definition, Expect, GivenBy, If, InlineStep, Let, Local, LocalId, Piece, Repeat, Stmt,
        StmtKind, Transfer, Until,
    },
    types::{MISMATCH, Type},
};

/// The names that an expression can use where it stands.
pub(super) struct View<'a> {
    pub(super) file: FileId,
    pub(super) catalogue: &'a Catalogue,
    pub(super) names: &'a Names,
}

impl Scope for View<'_> {
    fn place(&self, span: Span) -> Place {
        Place::new(self.file, span)
    }

    fn root(&self, name: &str, _alone: bool) -> Root {
        match self.names.get(name) {
            Some(Named::Target(id)) => Root::Target {
                target: number(id),
                platform: self.names.targets.get(id).and_then(|target| target.platform),
            },
            Some(Named::Local(id)) => {
                let ty = self.names.locals.get(id).and_then(|local| local.ty.clone());
                Root::Local { local: number(id), ty }
            }
            None if self.names.unread.contains(name) => Root::Reported,
            None => Root::Unknown,
        }
    }

    fn names(&self) -> Vec<Arc<str>> {
        self.names.visible().map(|(name, _)| name.into()).collect()
    }

    fn platform(&self, number: u32) -> Option<&Platform> {
        self.catalogue.get(number)
    }
}

/// A place in a table as the machine counts; no table is so long that it does not fit.
pub(super) fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// A definition while its statements are resolved.
pub(super) struct Body<'a> {
    pub(super) world: &'a World<'a>,
    pub(super) file: FileId,
    pub(super) names: Names,
    pub(super) out: &'a mut Vec<Diagnostic>,
}

/// Resolves a definition, whose targets and inputs are in `names`.
pub(super) fn definition(
    world: &World<'_>,
    header: &Header<'_>,
    signature: &Signature,
    names: Names,
    out: &mut Vec<Diagnostic>,
) -> Definition {
    let ast = header.ast;
    let kind = header.kind();
    let in_step = kind == Kind::Step;
    let mut body = Body { world, file: header.file, names, out };
    let statements = body.block(&ast.body, in_step);
    let on_failure = ast.on_failure.as_ref().map(|it| body.block(&it.body, in_step));
    let used = body.names.used();
    Definition {
        kind,
        name: ast.name.value.as_str().into(),
        name_place: Place::new(header.file, ast.name.span),
        file: header.file,
        header: ast.header,
        keyword: ast.keyword,
        span: ast.span,
        faulty: false,
        retry: ast.retry.clone(),
        doc: ast.doc.as_ref().map(|doc| doc.value.as_str().into()),
        targets: used.targets,
        inputs: signature.inputs.iter().map(Asked::input).collect(),
        locals: used.locals,
        body: statements,
        on_failure,
        on_failure_header: ast.on_failure.as_ref().map(|it| it.header).unwrap_or_default(),
        used_locals: used.used_locals,
        used_targets: used.used_targets,
        unread: used.unread,
    }
}

impl Body<'_> {
    pub(super) fn place(&self, span: Span) -> Place {
        Place::new(self.file, span)
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.out.push(diagnostic);
    }

    /// The name that is nearest to one that is not known, as long as it is read.
    pub(super) fn near<'n>(&self, name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
        (self.out.len() < MOST_HELPED).then(|| nearest(name, candidates)).flatten()
    }

    /// The help that offers it.
    pub(super) fn offer<'n>(&self, name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<String> {
        self.near(name, candidates).map(|near| format!("is it `{near}`?"))
    }

    fn block(&mut self, body: &[ast::Stmt], in_step: bool) -> Block {
        self.names.open();
        let block = body.iter().map(|stmt| self.stmt(stmt, in_step)).collect();
        self.names.close();
        block
    }

    fn stmt(&mut self, stmt: &ast::Stmt, in_step: bool) -> Stmt {
        let kind = self.kind(stmt, in_step);
        // One in the wrong place is looked into, and then left out.
        let kind = match kind {
            StmtKind::Step(step) if in_step => StmtKind::Poison(step.body),
            _ if rules::is_misplaced(&stmt.kind, in_step) => StmtKind::Poison(Vec::new()),
            kind => kind,
        };
        Stmt { kind, keyword: stmt.keyword, span: stmt.span }
    }

    fn kind(&mut self, stmt: &ast::Stmt, in_step: bool) -> StmtKind {
        match &stmt.kind {
            ast::StmtKind::Send(it) => StmtKind::Send(Box::new(self.send(it))),
            ast::StmtKind::Expect(it) => StmtKind::Expect(Expect {
                condition: self.condition(&it.condition),
                held: it.held.clone(),
                within: it.within.nanos,
            }),
            ast::StmtKind::Check(it) => StmtKind::Check(self.condition(&it.condition)),
            ast::StmtKind::Wait(ast::Wait::For(duration)) => StmtKind::Wait(duration.nanos),
            ast::StmtKind::Wait(ast::Wait::Until { until, within }) => self.wait_until(until, within.nanos),
            ast::StmtKind::Ask(it) => self.ask(it),
            ast::StmtKind::Transfer(it) => self.transfer(it),
            ast::StmtKind::Note(it) => StmtKind::Note(it.pieces.iter().filter_map(|it| self.piece(it)).collect()),
            ast::StmtKind::Let(it) => {
                let value = self.value(&it.value);
                let local = self.give(&it.name, value.as_ref().map(|value| value.ty.clone()), GivenBy::Let);
                StmtKind::Let(Let { local, value })
            }
            ast::StmtKind::Fail(it) => StmtKind::Fail(it.text.value.as_str().into()),
            ast::StmtKind::If(it) => StmtKind::If(Box::new(If {
                condition: self.condition(&it.condition),
                then: self.block(&it.then, in_step),
                otherwise: it.otherwise.as_ref().map(|it| self.block(&it.body, in_step)).unwrap_or_default(),
                otherwise_header: it.otherwise.as_ref().map(|it| it.header),
            })),
            ast::StmtKind::Repeat(it) => StmtKind::Repeat(Repeat {
                times: it.count.value.and_then(|times| u32::try_from(times).ok()),
                body: self.block(&it.body, in_step),
            }),
            ast::StmtKind::ForEach(it) => self.for_each(it, in_step),
            ast::StmtKind::Together(it) => StmtKind::Together(
                it.branches
                    .iter()
                    .map(|branch| Branch { header: branch.header, body: self.block(&branch.body, in_step) })
                    .collect(),
            ),
            ast::StmtKind::Call(it) => StmtKind::Call(Box::new(self.call(it))),
            ast::StmtKind::Step(it) => StmtKind::Step(Box::new(InlineStep {
                name: it.name.value.as_str().into(),
                retry: it.retry.clone(),
                body: self.block(&it.body, true),
            })),
            ast::StmtKind::Error(it) => StmtKind::Poison(self.block(&it.body, in_step)),
        }
    }

    pub(super) fn body_of_loop(&mut self, body: &[ast::Stmt], in_step: bool) -> Block {
        self.block(body, in_step)
    }

    pub(super) fn condition(&mut self, expr: &ast::Expr) -> Option<Typed> {
        let view = View { file: self.file, catalogue: self.world.catalogue, names: &self.names };
        expr::condition(expr, &view, self.out)
    }

    pub(super) fn value(&mut self, expr: &ast::Expr) -> Option<Typed> {
        let view = View { file: self.file, catalogue: self.world.catalogue, names: &self.names };
        expr::value(expr, &view, self.out)
    }

    pub(super) fn value_of(&mut self, expr: &ast::Expr, want: &Type) -> Option<Typed> {
        let view = View { file: self.file, catalogue: self.world.catalogue, names: &self.names };
        expr::value_of(expr, want, &view, self.out)
    }

    /// A value for something that is not known: only what is wrong in itself is reported. A name alone may be a label.
    pub(super) fn loose(&mut self, expr: &ast::Expr) {
        let alone = match &expr.kind {
            ast::ExprKind::Path(path) => path.as_name(),
            _ => None,
        };
        match alone {
            // It counts as used.
            Some(name) => drop(self.names.get(&name.text)),
            None => drop(self.value(expr)),
        }
    }

    pub(super) fn component(&mut self, path: &ast::Path) -> Option<expr::Component> {
        let view = View { file: self.file, catalogue: self.world.catalogue, names: &self.names };
        expr::component(path, &view, self.out)
    }

    /// Gives a name.
    pub(super) fn give(&mut self, name: &ast::Name, ty: Option<Type>, given_by: GivenBy) -> LocalId {
        let text: Arc<str> = name.text.as_str().into();
        let (id, before) = self.names.give_local(Local { name: text.clone(), span: name.span, ty, given_by });
        if let Some(before) = before {
            self.report(taken(&text, self.place(name.span), self.place(before)));
        }
        id
    }

    fn wait_until(&mut self, until: &ast::Expr, within: Option<i64>) -> StmtKind {
        use ast::ExprKind::{And, Bool, Compare, Not, Or};
        if matches!(until.kind, Compare(_) | Not(_) | And(_) | Or(_) | Bool(_)) {
            return StmtKind::WaitUntil(Until { until: self.condition(until), within });
        }
        let typed = self.value(until);
        match typed.as_ref().map(|typed| &typed.ty) {
            Some(Type::Bool) => StmtKind::WaitUntil(Until { until: typed, within }),
            Some(Type::Time) | None => StmtKind::WaitTime(Until { until: typed, within }),
            Some(ty) => {
                let message = format!("a condition or a time is due here, and this is {ty}");
                self.report(Diagnostic::new(&MISMATCH, self.place(until.span), message));
                StmtKind::WaitTime(Until { until: None, within })
            }
        }
    }

    fn ask(&mut self, it: &ast::Ask) -> StmtKind {
        let local = it.name.as_ref().map(|name| self.give(name, Some(Type::Str), GivenBy::Ask));
        StmtKind::Ask(Ask {
            text: it.text.value.as_str().into(),
            choices: it.choices.iter().map(|choice| choice.value.as_str().into()).collect(),
            within: it.within.nanos,
            local,
        })
    }

    fn transfer(&mut self, it: &ast::Transfer) -> StmtKind {
        let component = self.component(&it.component);
        StmtKind::Transfer(Box::new(Transfer {
            file: it.file.value.as_str().into(),
            target: component.as_ref().and_then(|it| usize::try_from(it.target).ok()),
            component: component.as_ref().map(|it| (it.platform, it.component)),
            index: component.and_then(|it| it.index),
            within: it.within.nanos,
        }))
    }

    fn piece(&mut self, piece: &ast::Piece) -> Option<Piece> {
        let name = match piece {
            ast::Piece::Words(words) => return Some(Piece::Words(words.as_str().into())),
            ast::Piece::Name(name) => name,
        };
        let diagnostic = match self.names.get(&name.text) {
            Some(Named::Local(local)) => return Some(Piece::Local(local)),
            Some(Named::Target(_)) => {
                let message = format!("`{}` is a target, and a note shows values", name.text);
                Diagnostic::new(&NOT_A_VALUE, self.place(name.span), message)
            }
            None if self.names.unread.contains(name.text.as_str()) => return None,
            None => {
                let message = format!("the name `{}` is not known", name.text);
                let locals = self.names.visible().filter(|(_, named)| matches!(named, Named::Local(_)));
                let help = self.offer(&name.text, locals.map(|(name, _)| name));
                Diagnostic::new(&UNKNOWN_NAME, self.place(name.span), message).maybe_help(help)
            }
        };
        self.report(diagnostic);
        None
    }
}
