//! A unit while its code is written.

use std::sync::Arc;

use stellar_grammar::Span;
use stellar_vm::{
    op::{ExprId, Op, Pc},
    program::{Claims, InlineStep, LocalDef, Source, Unit},
    value::Type,
};

use super::{tables::Tables, text::fold};
use crate::{
    bounds::Figures,
    expr::Typed,
    sure::is_sure,
    tree::{Definition, Stmt, StmtKind},
};

/// A unit while its code is written. Every method gives `None` where something is missing in the tree.
pub(super) struct Code<'a, 'b> {
    pub(super) tables: &'a mut Tables<'b>,
    pub(super) definition: &'a Definition,
    pub(super) figures: &'a Figures,
    pub(super) unit: Unit,
}

/// A place in a table as the machine counts.
pub(super) fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Appends to a table of the unit and tells the place.
pub(super) fn append<T>(table: &mut Vec<T>, entry: T) -> u32 {
    table.push(entry);
    number(table.len().saturating_sub(1))
}

impl Code<'_, '_> {
    pub(super) fn block(&mut self, block: &[Stmt], in_step: bool) -> Option<()> {
        block.iter().try_for_each(|stmt| self.stmt(stmt, in_step))
    }

    fn stmt(&mut self, stmt: &Stmt, in_step: bool) -> Option<()> {
        match &stmt.kind {
            StmtKind::Send(it) => self.send(stmt, it),
            StmtKind::Expect(it) => self.expect(stmt, it),
            StmtKind::Check(it) => self.check(stmt, it.as_ref()?, in_step),
            StmtKind::WaitUntil(it) => self.wait_until(stmt, it, in_step),
            StmtKind::WaitTime(it) => self.wait_time(stmt, it, in_step),
            StmtKind::Wait(ns) => self.wait(stmt, (*ns)?),
            StmtKind::Ask(it) => self.ask(stmt, it, in_step),
            StmtKind::Transfer(it) => self.transfer(stmt, it),
            StmtKind::Note(it) => self.note(stmt, it),
            StmtKind::Let(it) => self.let_name(stmt, it, in_step),
            StmtKind::Fail(it) => self.fail(stmt, it),
            StmtKind::If(it) => self.if_else(stmt, it, in_step),
            StmtKind::Repeat(it) => self.repeat(stmt, it, in_step),
            StmtKind::ForEach(it) => self.for_each(stmt, it, in_step),
            StmtKind::Together(it) => self.together(stmt, it),
            StmtKind::Call(it) => self.call(stmt, it),
            StmtKind::Step(it) => self.step(stmt, it),
            StmtKind::Poison(_) => None,
        }
    }

    /// Where the next op will stand.
    pub(super) fn here(&self) -> Pc {
        number(self.unit.code.len())
    }

    /// Writes an op that comes from a piece of the text.
    pub(super) fn emit(&mut self, op: Op, span: Span) -> Pc {
        let source = self.source(span);
        self.unit.source.push(source);
        append(&mut self.unit.code, op)
    }

    /// Replaces an op, now that the end of its block is known.
    pub(super) fn patch(&mut self, at: Pc, op: Op) {
        let place = usize::try_from(at).ok().and_then(|at| self.unit.code.get_mut(at));
        if let Some(place) = place {
            *place = op;
        }
    }

    fn source(&self, span: Span) -> Source {
        let place = self.definition.place(span);
        let position = self.tables.sources.position(place);
        Source { line: position.line, column: position.column, text: self.text(span) }
    }

    /// A piece of the text, on one line.
    pub(super) fn text(&self, span: Span) -> Arc<str> {
        fold(self.tables.sources.text_of(self.definition.place(span))).into()
    }

    pub(super) fn expr(&mut self, typed: &Typed) -> ExprId {
        let expr = typed.lower(self.tables);
        append(&mut self.unit.exprs, expr)
    }

    pub(super) fn duration(&mut self, ns: i64) -> u32 {
        append(&mut self.unit.durations, ns)
    }

    /// A local without a name.
    pub(super) fn unnamed(&mut self, ty: Type) -> u32 {
        append(&mut self.unit.locals, LocalDef { name: Arc::from(""), ty })
    }

    /// Writes a statement that can fail: where it stands directly in a procedure, as a step of its own.
    pub(super) fn judged(&mut self, stmt: &Stmt, in_step: bool, op: Op) -> Option<()> {
        if in_step {
            self.emit(op, stmt.span);
        } else {
            let claims = self.figures.part(stmt.keyword)?.claims?;
            self.single(stmt.span, claims, op);
        }
        Some(())
    }

    /// Writes a step that was not written as one, with its only statement.
    pub(super) fn single(&mut self, span: Span, claims: Claims, op: Op) {
        let name = self.text(span);
        let step = append(&mut self.unit.steps, InlineStep { name, written: false, policy: None, claims });
        let end = self.here().saturating_add(2);
        self.emit(Op::Step { step, end }, span);
        self.emit(op, span);
    }

    /// A value as an expression that cannot fail: one that can is kept in a local by a step of its own before.
    pub(super) fn sure(&mut self, typed: &Typed, span: Span) -> ExprId {
        let value = self.expr(typed);
        if is_sure(typed) {
            return value;
        }
        let ty = typed.ty.to_vm(self.tables);
        let local = self.unnamed(ty);
        let claims = Claims { eligible: true, attempt: 0, on_failure: 0, max: 0, attempts_max: 1, statements: 1 };
        self.single(span, claims, Op::Let { local, value });
        append(&mut self.unit.exprs, local_expr(local))
    }
}

/// The expression that is a local.
pub(super) fn local_expr(local: u32) -> stellar_vm::condition::Expr {
    stellar_vm::condition::Expr {
        code: vec![stellar_vm::condition::ExprOp::Local(local)],
        ..stellar_vm::condition::Expr::default()
    }
}
