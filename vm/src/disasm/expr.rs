//! Expressions in infix, from their postfix code: every operation within another stands in parentheses.

use alloc::{format, string::String, vec, vec::Vec};

use super::{local_name, nowhere, path, target_name, value_text};
use crate::{
    condition::{Expr, ExprOp},
    program::{Program, Unit},
    verify::entry,
};

/// An expression of a unit.
pub(super) fn of_unit(program: &Program, unit: &Unit, index: u32) -> String {
    let Some(expr) = entry(&unit.exprs, index) else { return nowhere(index) };
    let target = |index| format!("{}.", target_name(&unit.targets, index));
    Printer { program, expr, target: &target, local: &|index| local_name(&unit.locals, index) }.print()
}

/// A condition of the catalogue: `index` is the index of the component.
pub(super) fn of_catalogue(program: &Program, expr: &Expr) -> String {
    let local = |index| if index == 0 { String::from("index") } else { nowhere(index) };
    Printer { program, expr, target: &|_| String::new(), local: &local }.print()
}

struct Printer<'a> {
    program: &'a Program,
    expr: &'a Expr,
    target: &'a dyn Fn(u32) -> String,
    local: &'a dyn Fn(u32) -> String,
}

/// An operation with its operands, each used once: together they are trees.
struct Node {
    op: ExprOp,
    operands: Vec<usize>,
}

/// What is still to be printed, the next last.
enum Item {
    Text(String),
    Node(usize, bool),
}

impl Printer<'_> {
    fn print(&self) -> String {
        let (nodes, roots) = self.trees();
        let mut out = String::new();
        for (at, root) in roots.iter().enumerate() {
            if at > 0 {
                out.push_str(" | ");
            }
            let mut items = vec![Item::Node(*root, false)];
            while let Some(item) = items.pop() {
                match item {
                    Item::Text(text) => out.push_str(&text),
                    Item::Node(node, inner) => {
                        if let Some(node) = nodes.get(node) {
                            let first = items.len();
                            self.node(node, inner, &mut items);
                            if let Some(new) = items.get_mut(first..) {
                                new.reverse();
                            }
                        }
                    }
                }
            }
        }
        out
    }

    /// The code as trees; a verified expression is one.
    fn trees(&self) -> (Vec<Node>, Vec<usize>) {
        let mut nodes = Vec::with_capacity(self.expr.code.len());
        let mut stack: Vec<usize> = Vec::new();
        for op in &self.expr.code {
            let count = usize::try_from(self.operands(*op)).unwrap_or(usize::MAX);
            let operands = stack.split_off(stack.len().saturating_sub(count));
            stack.push(nodes.len());
            nodes.push(Node { op: *op, operands });
        }
        (nodes, stack)
    }

    fn operands(&self, op: ExprOp) -> u32 {
        match op {
            ExprOp::Const(_) | ExprOp::Local(_) => 0,
            ExprOp::Read(read) | ExprOp::Known(read) => {
                let read = entry(&self.expr.reads, read);
                let parameter = read.and_then(|read| entry(&self.program.parameters, read.parameter));
                u32::from(parameter.is_some_and(|parameter| parameter.index.is_some()))
            }
            ExprOp::Not | ExprOp::Neg | ExprOp::Widen | ExprOp::Scale(_) | ExprOp::Seconds => 1,
            ExprOp::And(count) | ExprOp::Or(count) => count,
            ExprOp::OneOf(count) => count.saturating_add(1),
            ExprOp::Between | ExprOp::Near => 3,
            _ => 2,
        }
    }

    /// Pushes what a node is printed as, in order.
    fn node(&self, node: &Node, inner: bool, items: &mut Vec<Item>) {
        let word = |word: &str| Item::Text(String::from(word));
        let joined = |items: &mut Vec<Item>, operands: &[usize], between: &str| {
            for (at, operand) in operands.iter().enumerate() {
                if at > 0 {
                    items.push(word(between));
                }
                items.push(Item::Node(*operand, true));
            }
        };
        let (enclosed, split) = (inner && is_compound(node.op), node.operands.split_first());
        if enclosed {
            items.push(word("("));
        }
        match (node.op, split) {
            (ExprOp::Const(index), _) => items.push(Item::Text(self.constant(index))),
            (ExprOp::Local(index), _) => items.push(Item::Text((self.local)(index))),
            (ExprOp::Read(read), _) => self.read(read, &node.operands, items),
            (ExprOp::Known(read), _) => {
                self.read(read, &node.operands, items);
                items.push(word(" is known"));
            }
            (ExprOp::Between, Some((x, ends))) => {
                items.extend([Item::Node(*x, true), word(" between ")]);
                joined(items, ends, " and ");
            }
            (ExprOp::OneOf(_), Some((x, values))) => {
                items.extend([Item::Node(*x, true), word(" in [")]);
                joined(items, values, ", ");
                items.push(word("]"));
            }
            (ExprOp::Near, Some((x, value))) => {
                items.extend([Item::Node(*x, true), word(" is ")]);
                joined(items, value, " +- ");
            }
            (ExprOp::Scale(index), _) => {
                joined(items, &node.operands, " ");
                let (factor, offset) = (self.constant(index), self.constant(index.saturating_add(1)));
                items.push(Item::Text(format!(" * {factor} + {offset}")));
            }
            (ExprOp::Not | ExprOp::Neg | ExprOp::Widen | ExprOp::Seconds, _) => {
                items.push(word(infix(node.op)));
                joined(items, &node.operands, " ");
            }
            (op, _) => joined(items, &node.operands, infix(op)),
        }
        if enclosed {
            items.push(word(")"));
        }
    }

    fn constant(&self, index: u32) -> String {
        let value = entry(&self.expr.constants, index);
        value.map_or_else(|| nowhere(index), |value| value_text(&self.program.enums, value))
    }

    fn read(&self, index: u32, operands: &[usize], items: &mut Vec<Item>) {
        let read = entry(&self.expr.reads, index);
        let Some((read, parameter)) =
            read.and_then(|read| Some((read, entry(&self.program.parameters, read.parameter)?)))
        else {
            return items.push(Item::Text(nowhere(index)));
        };
        let head = format!("{}{}", (self.target)(read.target), path(&parameter.component, None, ""));
        items.push(Item::Text(head));
        if let Some(operand) = operands.first() {
            items.extend([Item::Text("[".into()), Item::Node(*operand, false), Item::Text("]".into())]);
        }
        items.push(Item::Text(format!(".{}", parameter.name)));
    }
}

fn is_compound(op: ExprOp) -> bool {
    !matches!(op, ExprOp::Const(_) | ExprOp::Local(_) | ExprOp::Read(_) | ExprOp::Neg)
}

/// The word of an operation, before its one operand or between two.
fn infix(op: ExprOp) -> &'static str {
    match op {
        ExprOp::Not => "not ",
        ExprOp::Neg => "-",
        ExprOp::Widen => "float ",
        ExprOp::Seconds => "seconds ",
        ExprOp::And(_) => " and ",
        ExprOp::Or(_) => " or ",
        ExprOp::Is => " is ",
        ExprOp::IsNot => " is not ",
        ExprOp::Lt => " < ",
        ExprOp::Le => " <= ",
        ExprOp::Gt => " > ",
        ExprOp::Ge => " >= ",
        ExprOp::Add => " + ",
        ExprOp::Sub => " - ",
        ExprOp::Mul => " * ",
        ExprOp::Div => " / ",
        _ => " ? ",
    }
}
