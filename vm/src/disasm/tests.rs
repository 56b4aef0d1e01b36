use super::*;
use crate::{op::Op, sample};

#[test]
fn a_program_is_printed() {
    insta::assert_snapshot!(disassemble(&sample::whole()));
}

#[test]
fn expressions_are_printed_in_infix() {
    use crate::condition::{Expr, ExprOp::*};
    let mut program = sample::whole();
    let constants = alloc::vec![
        Value::Int(1),
        Value::Float(2.0),
        Value::Float(-0.5),
        Value::Time(0),
        Value::Enum { def: 0, label: 2 }
    ];
    let reads = alloc::vec![crate::condition::Read { target: 0, parameter: sample::MODE }];
    let cases: [(&[crate::condition::ExprOp], &str); 9] = [
        (&[Const(0), Const(0), Add, Const(0), Mul], "(1 + 1) * 1"),
        (&[Const(0), Neg, Const(0), Sub], "-1 - 1"),
        (&[Const(0), Const(0), Const(0), Between, Not], "not (1 between 1 and 1)"),
        (
            &[Const(0), Read(0), Const(4), Is, Const(0), Known(0), And(2)],
            "(sat.tcu[1].mode is SAFE) and (sat.tcu[1].mode is known)",
        ),
        (&[Const(1), Const(1), Const(2), Near], "2.0 is 2.0 +- -0.5"),
        (&[Const(1), Scale(1)], "2.0 * 2.0 + -0.5"),
        (&[Const(3), Const(3), OneOf(1)], "1970-01-01T00:00:00.000000000Z in [1970-01-01T00:00:00.000000000Z]"),
        (&[Const(9), Local(9), Read(9), Add], "?9 | ?9 + ?9"),
        (&[Add, OneOf(7)], "() in []"),
    ];
    for (code, expected) in cases {
        program.units[3].exprs[0] = Expr { code: code.into(), constants: constants.clone(), reads: reads.clone() };
        let text = expr::of_unit(&program, &program.units[3], 0);
        assert_eq!(text, expected, "{code:?}");
    }
    // A sum of many terms is printed in time that grows with it, without recursion.
    let mut code = alloc::vec![Const(0)];
    for _ in 0..100_000 {
        code.extend([Const(0), Add]);
    }
    program.units[3].exprs[0] = Expr { code, constants, reads };
    assert!(expr::of_unit(&program, &program.units[3], 0).ends_with("+ 1) + 1"));
}

#[test]
fn a_program_that_leads_nowhere_is_printed_too() {
    let mut program = sample::whole();
    program.units[1].code[0] = Op::Send(77);
    program.units[2].calls[0].unit = 99;
    program.units[1].file = 5;
    program.telecommands[0].platform = 9;
    let text = disassemble(&program);
    assert!(text.contains("Send(77)") && text.contains("?5:1") && text.contains("Do(0)") && text.contains("?9 tcu"));
}
