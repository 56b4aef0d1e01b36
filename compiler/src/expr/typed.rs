//! The typed tree: every operand of its type, every conversion written down.
//!
//! Chains stay flat, so that a sum of thousands of terms needs no deep stack.

use std::collections::BTreeSet;

use stellar_grammar::Span;
use stellar_vm::condition::ExprOp;

use super::Constant;
use crate::types::{Measure, Type};

/// A checked expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Typed {
    /// Its type.
    pub ty: Type,
    /// Where it stands.
    pub span: Span,
    pub(super) node: Node,
}

/// A parameter that is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The target, by its number; 0 in a condition of the catalogue.
    pub target: u32,
    /// The platform, by its number.
    pub platform: u32,
    /// The parameter, by its number in the platform.
    pub parameter: u32,
    /// The index of its component, where that is an array.
    pub index: Option<Box<Typed>>,
    /// Where the path stands.
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Constant(Constant),
    Local(u32),
    Read(Read),
    Known(Read),
    Convert(Box<Typed>, Conversion),
    /// Operands from left to right.
    Chain(Box<Typed>, Vec<Link>),
    Not(Box<Typed>),
    All(Vec<Typed>),
    Any(Vec<Typed>),
    /// A comparison: its operands in the order in which the machine takes them.
    Test(ExprOp, Vec<Typed>),
}

/// A further operand of a chain.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Link {
    /// What becomes of the chain so far before the operand is taken.
    pub(super) before: Vec<Conversion>,
    /// What is done with both.
    pub(super) op: Arithmetic,
    /// The operand.
    pub(super) right: Typed,
}

/// An operator of arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
}

impl Arithmetic {
    /// The machine's operation.
    pub(super) const fn code(self) -> ExprOp {
        match self {
            Self::Add => ExprOp::Add,
            Self::Sub => ExprOp::Sub,
            Self::Mul => ExprOp::Mul,
            Self::Div => ExprOp::Div,
        }
    }
}

/// A conversion.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Conversion {
    /// Int to float.
    Widen,
    /// Duration to seconds.
    Seconds,
    /// From one unit to another.
    Scale { from: Measure, to: Measure },
}

impl Typed {
    pub(super) const fn new(node: Node, ty: Type, span: Span) -> Self {
        Self { ty, span, node }
    }

    pub(super) fn constant_of(value: Constant, span: Span) -> Self {
        Self { ty: value.ty(), span, node: Node::Constant(value) }
    }

    /// Its value, where that is known while compiling.
    #[must_use]
    pub const fn constant(&self) -> Option<&Constant> {
        match &self.node {
            Node::Constant(constant) => Some(constant),
            _ => None,
        }
    }

    /// The number of the local that it is, where it is one and nothing else.
    #[must_use]
    pub const fn local(&self) -> Option<u32> {
        match &self.node {
            Node::Local(local) => Some(*local),
            _ => None,
        }
    }

    /// Every parameter that it reads, those of `is known` and of indices included, in source order.
    #[must_use]
    pub fn reads(&self) -> Vec<&Read> {
        let mut reads = Vec::new();
        self.visit(&mut |node| {
            if let Node::Read(read) | Node::Known(read) = node {
                reads.push(read);
            }
        });
        reads
    }

    /// Every local that it reads.
    #[must_use]
    pub fn locals(&self) -> BTreeSet<u32> {
        let mut locals = BTreeSet::new();
        self.visit(&mut |node| {
            if let Node::Local(local) = node {
                locals.insert(*local);
            }
        });
        locals
    }

    /// Calls `visit` with every node. The depth is that of the brackets in the text, which is limited.
    pub(super) fn visit<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        visit(&self.node);
        match &self.node {
            Node::Constant(_) | Node::Local(_) => {}
            Node::Read(read) | Node::Known(read) => {
                if let Some(index) = &read.index {
                    index.visit(visit);
                }
            }
            Node::Convert(inner, _) | Node::Not(inner) => inner.visit(visit),
            Node::Chain(first, links) => {
                first.visit(visit);
                for link in links {
                    link.right.visit(visit);
                }
            }
            Node::All(operands) | Node::Any(operands) | Node::Test(_, operands) => {
                for operand in operands {
                    operand.visit(visit);
                }
            }
        }
    }
}
