//! Typed tree to the machine's code.

use std::collections::BTreeMap;

use stellar_vm::{
    condition::{Expr, ExprOp, Read as Slot},
    value::Value,
};

use super::{
    Slots, Typed,
    typed::{Conversion, Node, Read},
};

impl Typed {
    /// The code of the expression, complete in itself.
    #[must_use]
    pub fn lower(&self, slots: &mut dyn Slots) -> Expr {
        let mut writer = Writer { expr: Expr::default(), reads: BTreeMap::new(), slots };
        writer.write(self);
        writer.expr
    }
}

struct Writer<'a> {
    expr: Expr,
    reads: BTreeMap<Slot, u32>,
    slots: &'a mut dyn Slots,
}

/// A length as the machine counts; no text is so long that it does not fit.
fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

impl Writer<'_> {
    fn push(&mut self, op: ExprOp) {
        self.expr.code.push(op);
    }

    fn constant(&mut self, value: Value) -> u32 {
        self.expr.constants.push(value);
        count(self.expr.constants.len().saturating_sub(1))
    }

    fn read(&mut self, read: &Read) -> u32 {
        let slot = Slot { target: read.target, parameter: self.slots.parameter(read.platform, read.parameter) };
        if let Some(at) = self.reads.get(&slot) {
            return *at;
        }
        let at = count(self.expr.reads.len());
        self.expr.reads.push(slot);
        self.reads.insert(slot, at);
        at
    }

    fn write(&mut self, typed: &Typed) {
        match &typed.node {
            Node::Constant(constant) => {
                let value = constant.to_vm(self.slots);
                let at = self.constant(value);
                self.push(ExprOp::Const(at));
            }
            Node::Local(local) => self.push(ExprOp::Local(*local)),
            Node::Read(read) | Node::Known(read) => {
                if let Some(index) = &read.index {
                    self.write(index);
                }
                let at = self.read(read);
                let known = matches!(typed.node, Node::Known(_));
                self.push(if known { ExprOp::Known(at) } else { ExprOp::Read(at) });
            }
            Node::Convert(inner, conversion) => {
                self.write(inner);
                self.convert(conversion);
            }
            Node::Chain(first, links) => {
                self.write(first);
                for link in links {
                    for conversion in &link.before {
                        self.convert(conversion);
                    }
                    self.write(&link.right);
                    self.push(link.op.code());
                }
            }
            Node::Not(inner) => {
                self.write(inner);
                self.push(ExprOp::Not);
            }
            Node::All(operands) => self.joined(operands, ExprOp::And(count(operands.len()))),
            Node::Any(operands) => self.joined(operands, ExprOp::Or(count(operands.len()))),
            Node::Test(op, operands) => self.joined(operands, *op),
        }
    }

    fn joined(&mut self, operands: &[Typed], op: ExprOp) {
        for operand in operands {
            self.write(operand);
        }
        self.push(op);
    }

    fn convert(&mut self, conversion: &Conversion) {
        match conversion {
            Conversion::Widen => self.push(ExprOp::Widen),
            Conversion::Seconds => self.push(ExprOp::Seconds),
            Conversion::Scale { from, to } => {
                // A conversion is made only between like dimensions, so that there always is a scale.
                let (factor, offset) = from.scale_to(to).unwrap_or((1.0, 0.0));
                let at = self.constant(Value::Float(factor));
                self.constant(Value::Float(offset));
                self.push(ExprOp::Scale(at));
            }
        }
    }
}
