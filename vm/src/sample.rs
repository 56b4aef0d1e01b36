//! Small programs for the tests of this crate, built by hand and sealed with the claims that their code bears out.

use alloc::{string::String, sync::Arc, vec, vec::Vec};

use crate::{
    bounds,
    catalogue::{
        Argument, ArgumentSource, Calibration, Catalogue, CcsdsArgument, CcsdsField, CcsdsPacket, CcsdsPlatform,
        CcsdsTelecommand, Component, Correlation, Encoding, Endian, FieldSource, Freshness, IndexSource, Parameter,
        Platform, Route, Stage, Telecommand, Verification,
    },
    compare,
    condition::{Expr, ExprOp, Read},
    op::{ExprId, Local, Op, Pc},
    program::*,
    value::{EnumDef, Type, Value},
};

pub(crate) const S: i64 = 1_000_000_000;

pub(crate) fn text(text: &str) -> Arc<str> {
    Arc::from(text)
}

/// Builds one unit.
pub(crate) struct Build(pub(crate) Unit);

impl Build {
    pub(crate) fn new(kind: Kind, name: &str) -> Self {
        Self(Unit {
            kind,
            name: text(name),
            doc: None,
            file: 0,
            line: 1,
            targets: vec![TargetUse { name: text("sat"), platform: 0 }],
            inputs: vec![],
            locals: vec![],
            policy: None,
            code: vec![],
            source: vec![],
            exprs: vec![],
            durations: vec![],
            texts: vec![],
            sends: vec![],
            expects: vec![],
            asks: vec![],
            transfers: vec![],
            notes: vec![],
            loops: vec![],
            steps: vec![],
            calls: vec![],
            claims: Claims::default(),
        })
    }

    pub(crate) fn step(name: &str) -> Self {
        Self::new(Kind::Step, name)
    }

    pub(crate) fn procedure(name: &str) -> Self {
        Self::new(Kind::Procedure, name)
    }

    pub(crate) fn target(&mut self, name: &str) {
        self.0.targets.push(TargetUse { name: text(name), platform: 0 });
    }

    /// An input; before any other local.
    pub(crate) fn input(&mut self, name: &str, ty: Type, default: Option<Value>) -> Local {
        self.0.inputs.push(Input { name: text(name), ty: ty.clone(), default });
        self.local(name, ty)
    }

    pub(crate) fn local(&mut self, name: &str, ty: Type) -> Local {
        self.0.locals.push(LocalDef { name: text(name), ty });
        (self.0.locals.len() - 1) as Local
    }

    pub(crate) fn expr(&mut self, code: Vec<ExprOp>, constants: Vec<Value>, reads: Vec<Read>) -> ExprId {
        self.0.exprs.push(Expr { code, constants, reads });
        (self.0.exprs.len() - 1) as ExprId
    }

    /// A constant.
    pub(crate) fn value(&mut self, value: Value) -> ExprId {
        self.expr(vec![ExprOp::Const(0)], vec![value], vec![])
    }

    /// A local.
    pub(crate) fn name(&mut self, local: Local) -> ExprId {
        self.expr(vec![ExprOp::Local(local)], vec![], vec![])
    }

    /// `sat.tcu[index].responding is true`, of the target at `target`.
    pub(crate) fn responding(&mut self, target: u32, index: i64) -> ExprId {
        self.expr(
            vec![ExprOp::Const(0), ExprOp::Read(0), ExprOp::Const(1), ExprOp::Is],
            vec![Value::Int(index), Value::Bool(true)],
            vec![Read { target, parameter: RESPONDING }],
        )
    }

    pub(crate) fn op(&mut self, op: Op) -> Pc {
        self.0.code.push(op);
        let line = self.0.code.len() as u32 + 1;
        let source = alloc::format!("statement {line}");
        self.0.source.push(Source { line, column: 3, text: text(&source) });
        (self.0.code.len() - 1) as Pc
    }

    /// The block opened at `pc` ends here.
    pub(crate) fn end(&mut self, pc: Pc) {
        let here = self.0.code.len() as Pc;
        match &mut self.0.code[pc as usize] {
            Op::If { otherwise, end, .. } => {
                *end = here;
                *otherwise = if *otherwise == 0 { here } else { *otherwise };
            }
            Op::Repeat { end, .. }
            | Op::ForEach { end, .. }
            | Op::Together { end }
            | Op::Branch { end }
            | Op::Step { end, .. }
            | Op::OnFailure { end } => *end = here,
            other => panic!("{other:?} opens no block"),
        }
    }

    /// The `else` of the `if` at `pc` begins here.
    pub(crate) fn otherwise(&mut self, pc: Pc) {
        let here = self.0.code.len() as Pc;
        let Op::If { otherwise, .. } = &mut self.0.code[pc as usize] else { panic!("no if") };
        *otherwise = here;
    }

    pub(crate) fn open_step(&mut self, name: &str, written: bool, policy: Option<Policy>) -> Pc {
        let step = self.0.steps.len() as u32;
        self.0.steps.push(InlineStep { name: text(name), written, policy, claims: Claims::default() });
        self.op(Op::Step { step, end: 0 })
    }

    pub(crate) fn wait(&mut self, ns: i64) -> Pc {
        self.0.durations.push(ns);
        let index = self.0.durations.len() as u32 - 1;
        self.op(Op::Wait(index))
    }

    pub(crate) fn note(&mut self, parts: Vec<Part>) -> Pc {
        self.0.notes.push(Note { text: Template { parts } });
        let index = self.0.notes.len() as u32 - 1;
        self.op(Op::Note(index))
    }

    pub(crate) fn expect(&mut self, cond: ExprId, held: Option<i64>, within: i64) -> Pc {
        self.0.expects.push(Expect { cond, held, within });
        let index = self.0.expects.len() as u32 - 1;
        self.op(Op::Expect(index))
    }

    /// Sends a telecommand of `tcu` to the instance of the index.
    pub(crate) fn send(&mut self, telecommand: u32, target: u32, index: ExprId, args: Vec<Option<ExprId>>) -> Pc {
        self.0.sends.push(Send { telecommand, target, index: Some(index), args, route: 0 });
        let at = self.0.sends.len() as u32 - 1;
        self.op(Op::Send(at))
    }

    pub(crate) fn call(
        &mut self,
        kind: Kind,
        unit: u32,
        targets: Vec<u32>,
        inputs: Vec<Option<ExprId>>,
        policy: Option<Policy>,
    ) -> Pc {
        self.0.calls.push(Call { unit, targets, inputs, policy, claims: Claims::default() });
        let at = self.0.calls.len() as u32 - 1;
        self.op(if kind == Kind::Step { Op::Do(at) } else { Op::Run(at) })
    }
}

pub(crate) const RESPONDING: u32 = 0;
pub(crate) const MODE: u32 = 1;
pub(crate) const PING: u32 = 0;
pub(crate) const STANDBY: u32 = 1;
pub(crate) const HEATER: u32 = 2;

pub(crate) fn tcu_id() -> Type {
    Type::Int { min: 1, max: 4 }
}

fn modes() -> EnumDef {
    let labels = vec![(text("STANDBY"), 0), (text("OPERATIONAL"), 1), (text("SAFE"), 2)];
    EnumDef { name: text("tcu_mode"), labels }
}

fn mode_is(op: ExprOp, def: u32, label: u32, parameter: u32) -> Expr {
    Expr {
        code: vec![ExprOp::Local(0), ExprOp::Read(0), ExprOp::Const(0), op],
        constants: vec![Value::Enum { def, label }],
        reads: vec![Read { target: 0, parameter }],
    }
}

/// The catalogue that the programs here are made against.
pub(crate) fn catalogue() -> Catalogue {
    let big = |bits| Encoding::Unsigned(bits, Endian::Big);
    let unused = EnumDef { name: text("unused"), labels: vec![(text("A"), 0)] };
    let parameter = |name: &str, ty, offset| Parameter {
        component: 1,
        name: text(name),
        ty,
        period: Some(S),
        freshness: Freshness::Within(5 * S),
        valid_when: None,
        ccsds: Some(CcsdsField {
            packet: 0,
            source: FieldSource::Bits { offset, encoding: big(8) },
            index: Some(IndexSource::Stride(16)),
            calibration: Some(Calibration::Polynomial(vec![0.0, 1.0])),
        }),
    };
    let telecommand = |name: &str, subtype, changes_state, args, requires, verify| Telecommand {
        component: 1,
        name: text(name),
        description: Some(text("what it does")),
        changes_state,
        hazardous: None,
        args,
        requires,
        verify,
        ccsds: Some(CcsdsTelecommand {
            apid: 2,
            service: 8,
            subtype,
            ack_flags: None,
            fields: vec![CcsdsArgument { source: ArgumentSource::Index, encoding: big(8) }],
        }),
    };
    let within =
        |ns, until| Verification { window: ns, default_window: false, stages: vec![(Stage::Completed, ns)], until };
    let power = Argument {
        name: text("power"),
        ty: Type::Float { unit: Some(text("W")), min: Some(0.0), max: Some(20.0) },
        default: None,
        fixed: None,
    };
    let level = Argument { name: text("level"), ty: tcu_id(), default: Some(Value::Int(2)), fixed: None };
    let fixed = Argument { name: text("key"), ty: Type::Str, default: None, fixed: Some(Value::Str(text("k"))) };
    let platform = Platform {
        name: text("platform-v3"),
        enums: vec![unused, modes()],
        routes: vec![Route { name: text("direct"), default: true }, Route { name: text("relay"), default: false }],
        components: vec![
            Component { name: text("eps"), index: None },
            Component { name: text("tcu"), index: Some((1, 4)) },
        ],
        parameters: vec![
            parameter("mode", Type::Enum(1), 0),
            parameter("responding", Type::Bool, 8),
            parameter("spare", Type::Int { min: 0, max: 255 }, 16),
        ],
        telecommands: vec![
            telecommand("ping", 1, false, vec![], None, within(5 * S, None)),
            telecommand(
                "set_heater",
                3,
                true,
                vec![power, level, fixed],
                Some(mode_is(ExprOp::IsNot, 1, 2, 0)),
                Verification {
                    window: 10 * S,
                    default_window: true,
                    stages: vec![(Stage::Completed, 10 * S)],
                    until: None,
                },
            ),
            telecommand("standby", 2, true, vec![], None, within(10 * S, Some(mode_is(ExprOp::Is, 1, 0, 0)))),
        ],
        alarms: vec![],
        ccsds: Some(CcsdsPlatform {
            source_id: 0,
            ack_flags: 15,
            time_bytes: 7,
            failure_code_bytes: 1,
            failure_codes: vec![],
            checksum: true,
            correlation: Correlation::RequestId,
            packets: vec![CcsdsPacket { name: text("hk"), apid: 2, service: 3, subtype: 25, mark: None }],
        }),
    };
    Catalogue { platforms: vec![platform] }
}

/// The slice of the catalogue that the programs here use.
fn slice() -> Program {
    let catalogue = catalogue();
    let platform = &catalogue.platforms[0];
    let parameter = |at: u32, ty| ParameterUse {
        platform: 0,
        component: text("tcu"),
        index: Some((1, 4)),
        name: platform.parameters[at as usize].name.clone(),
        ty,
        period: Some(S),
        freshness: Freshness::Within(5 * S),
        hash: compare::parameter_hash(platform, at).unwrap(),
    };
    let telecommand = |at: u32| {
        let one = &platform.telecommands[at as usize];
        TelecommandUse {
            platform: 0,
            component: text("tcu"),
            index: Some((1, 4)),
            name: one.name.clone(),
            changes_state: one.changes_state,
            hazardous: None,
            args: one.args.clone(),
            requires: one.requires.as_ref().map(|_| mode_is(ExprOp::IsNot, 0, 2, MODE)),
            verify: Verification {
                until: one.verify.until.as_ref().map(|_| mode_is(ExprOp::Is, 0, 0, MODE)),
                ..one.verify.clone()
            },
            hash: compare::telecommand_hash(platform, at).unwrap(),
        }
    };
    Program {
        compiler: text("0.1.0"),
        parameters_of_compilation: Defaults {
            retry: Some(Policy { times: Some(1), every: Some(2 * S), total: None }),
            window: 10 * S,
            freshness: 10 * S,
        },
        platforms: vec![text("platform-v3")],
        enums: vec![modes()],
        parameters: vec![parameter(1, Type::Bool), parameter(0, Type::Enum(0))],
        telecommands: vec![telecommand(0), telecommand(2), telecommand(1)],
        routes: vec![RouteUse { platform: 0, name: text("direct"), hash: compare::route_hash(platform, 0).unwrap() }],
        files: vec![text("procedures/test.proc")],
        units: vec![],
    }
}

/// A program of these units, claims computed.
pub(crate) fn program(units: Vec<Unit>) -> Program {
    sealed(Program { units, ..slice() })
}

/// Writes the claims that the code bears out.
pub(crate) fn sealed(mut program: Program) -> Program {
    let claims = bounds::claims(&program).unwrap();
    for (unit, claims) in program.units.iter_mut().zip(claims) {
        claims.write(unit);
    }
    program
}

/// `step "TCU answers" retry 3 times every 2 s`, the example of the specification.
pub(crate) fn answers() -> Unit {
    let mut b = Build::step("TCU answers");
    let tcu = b.input("tcu", tcu_id(), None);
    b.0.policy = Some(Policy { times: Some(3), every: Some(2 * S), total: None });
    let index = b.name(tcu);
    b.send(PING, 0, index, vec![]);
    let cond = b.expr(
        vec![ExprOp::Local(tcu), ExprOp::Read(0), ExprOp::Const(0), ExprOp::Is],
        vec![Value::Bool(true)],
        vec![Read { target: 0, parameter: RESPONDING }],
    );
    b.expect(cond, None, 5 * S);
    b.0
}

/// `step "Standby"`: changes the state, with every other statement of a step.
pub(crate) fn standby() -> Unit {
    let mut b = Build::step("Standby");
    let index = b.value(Value::Int(2));
    b.send(STANDBY, 0, index, vec![]);
    let cond = b.responding(0, 2);
    b.op(Op::Check(cond));
    let power = b.local("power", Type::Float { unit: None, min: None, max: None });
    let value = b.expr(
        vec![ExprOp::Const(0), ExprOp::Widen, ExprOp::Const(1), ExprOp::Mul],
        vec![Value::Int(2), Value::Float(1.5)],
        vec![],
    );
    b.op(Op::Let { local: power, value });
    let (index, value) = (b.value(Value::Int(1)), b.name(power));
    b.send(HEATER, 0, index, vec![Some(value), None, None]);
    let answer = b.local("answer", Type::Str);
    let question = Template { parts: vec![Part::Text(text("power ")), Part::Local(power)] };
    b.0.asks.push(Ask { text: question, choices: vec![text("A"), text("B")], within: 60 * S, local: Some(answer) });
    b.op(Op::Ask(0));
    b.0.transfers.push(Transfer {
        file: Template { parts: vec![Part::Local(answer)] },
        target: 0,
        component: text("eps"),
        component_index: None,
        index: None,
        within: 30 * S,
    });
    b.op(Op::Transfer(0));
    let cond = b.responding(0, 1);
    let branch = b.op(Op::If { cond, otherwise: 0, end: 0 });
    b.wait(S);
    b.otherwise(branch);
    b.wait(3 * S);
    b.0.texts.push(text("not so"));
    b.op(Op::Fail(0));
    b.end(branch);
    let cond = b.responding(0, 3);
    b.0.durations.push(4 * S);
    b.op(Op::WaitUntil { cond, within: 2 });
    let time = b.value(Value::Time(1_800_000_000 * S));
    b.op(Op::WaitTime { time, within: 2 });
    b.0
}

/// `procedure "AOS acquisition"`: with every statement of a procedure.
pub(crate) fn acquisition(answers: u32, standby: u32, inner: u32) -> Unit {
    let mut b = Build::procedure("AOS acquisition");
    b.target("other");
    let tcu = b.input("tcu", tcu_id(), Some(Value::Int(1)));
    let given = b.name(tcu);
    let policy = Policy { times: None, every: Some(5 * S), total: Some(180 * S) };
    b.call(Kind::Step, answers, vec![0], vec![Some(given)], Some(policy));
    let hot = b.local("", Type::Bool);
    let single = b.open_step("if sat.tcu[1].responding is true", false, None);
    let cond = b.responding(0, 1);
    b.op(Op::Judge { cond, local: hot });
    b.end(single);
    let cond = b.name(hot);
    let branch = b.op(Op::If { cond, otherwise: 0, end: 0 });
    b.note(vec![Part::Text(text("tcu ")), Part::Local(tcu)]);
    b.end(branch);
    let together = b.op(Op::Together { end: 0 });
    let first = b.op(Op::Branch { end: 0 });
    b.call(Kind::Step, standby, vec![0], vec![], None);
    b.end(first);
    let second = b.op(Op::Branch { end: 0 });
    b.call(Kind::Step, standby, vec![1], vec![], None);
    b.wait(2 * S);
    b.end(second);
    b.end(together);
    let repeat = b.op(Op::Repeat { times: 3, end: 0 });
    let inline = b.open_step("look", true, None);
    let cond = b.responding(1, 4);
    b.expect(cond, Some(S), 5 * S);
    b.end(inline);
    b.end(repeat);
    let n = b.local("n", tcu_id());
    b.0.loops.push(ForEach { local: n, over: Sequence::Range(1, 4) });
    let each = b.op(Op::ForEach { each: 0, end: 0 });
    let given = b.name(n);
    b.call(Kind::Step, answers, vec![1], vec![Some(given)], None);
    b.end(each);
    let failure = b.op(Op::OnFailure { end: 0 });
    b.call(Kind::Procedure, inner, vec![1], vec![], Some(Policy { times: Some(2), every: None, total: Some(60 * S) }));
    b.end(failure);
    b.0
}

/// `procedure "Inner"`: eligible.
pub(crate) fn inner(answers: u32) -> Unit {
    let mut b = Build::procedure("Inner");
    b.wait(S);
    let given = b.value(Value::Int(1));
    b.call(Kind::Step, answers, vec![0], vec![Some(given)], Some(Policy { times: Some(0), every: None, total: None }));
    b.0
}

/// A program with all of these.
pub(crate) fn whole() -> Program {
    program(vec![standby(), answers(), acquisition(1, 0, 3), inner(1)])
}

/// The text of a failure, for the tests that ask for a rule.
pub(crate) fn refused(program: Program) -> (String, String) {
    let error = crate::verify::verify(program).expect_err("it is refused");
    (error.code().into(), error.message().into())
}
