//! A catalogue and small programs for it, built by hand and sealed with the claims that their code bears out.

use std::sync::Arc;

use stellar_vm::{
    artifact, bounds,
    catalogue::{Catalogue, Component, Freshness, Parameter, Platform, Route, Stage, Telecommand, Verification},
    compare,
    condition::{Expr, ExprOp, Read},
    op::Op,
    program::{
        Ask, Claims, Defaults, Expect, InlineStep, Kind, Note, ParameterUse, Part, Policy, Program, RouteUse, Send,
        Source, TargetUse, TelecommandUse, Template, Unit,
    },
    value::{Type, Value},
};

pub(super) const S: i64 = 1_000_000_000;
/// Index of the telecommand `ping`, which changes nothing.
pub(super) const PING: u32 = 0;
/// Index of the telecommand `standby`, which changes the on-board state.
pub(super) const STANDBY: u32 = 1;
/// A policy without new attempts.
pub(super) const ONCE: Option<Policy> = Some(Policy { times: Some(0), every: None, total: None });

pub(super) fn verification(within: i64) -> Verification {
    Verification { window: within, default_window: false, stages: vec![(Stage::Completed, within)], until: None }
}

fn telecommand(name: &str, changes_state: bool, within: i64) -> Telecommand {
    Telecommand {
        component: 0,
        name: Arc::from(name),
        description: None,
        changes_state,
        hazardous: None,
        args: vec![],
        requires: None,
        verify: verification(within),
        ccsds: None,
    }
}

/// `tcu` with `responding`, `ping` (5 s) and `standby` (10 s).
pub(super) fn catalogue() -> Catalogue {
    let responding = Parameter {
        component: 0,
        name: Arc::from("responding"),
        ty: Type::Bool,
        period: None,
        freshness: Freshness::Within(60 * S),
        valid_when: None,
        ccsds: None,
    };
    let platform = Platform {
        name: Arc::from("platform-v3"),
        enums: vec![],
        routes: vec![Route { name: Arc::from("direct"), default: true }],
        components: vec![Component { name: Arc::from("tcu"), index: None }],
        parameters: vec![responding],
        telecommands: vec![telecommand("ping", false, 5 * S), telecommand("standby", true, 10 * S)],
        alarms: vec![],
        ccsds: None,
    };
    let other = Platform { name: Arc::from("lander"), ..platform.clone() };
    Catalogue { platforms: vec![other, platform] }
}

/// A procedure under construction.
pub(super) struct Build(Unit);

impl Build {
    pub(super) fn procedure(name: &str) -> Self {
        Self(Unit {
            kind: Kind::Procedure,
            name: Arc::from(name),
            doc: None,
            file: 0,
            line: 1,
            targets: vec![TargetUse { name: Arc::from("sat"), platform: 0 }],
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

    fn op(mut self, op: Op) -> Self {
        self.0.code.push(op);
        let line = u32::try_from(self.0.code.len()).unwrap() + 1;
        self.0.source.push(Source { line, column: 3, text: Arc::from(format!("statement {line}")) });
        self
    }

    /// An inline step with these statements.
    pub(super) fn step(mut self, name: &str, policy: Option<Policy>, body: impl FnOnce(Self) -> Self) -> Self {
        let step = u32::try_from(self.0.steps.len()).unwrap();
        self.0.steps.push(InlineStep { name: Arc::from(name), written: true, policy, claims: Claims::default() });
        let at = self.0.code.len();
        let mut built = body(self.op(Op::Step { step, end: 0 }));
        let end = u32::try_from(built.0.code.len()).unwrap();
        built.0.code[at] = Op::Step { step, end };
        built
    }

    pub(super) fn send(mut self, telecommand: u32) -> Self {
        self.0.sends.push(Send { telecommand, target: 0, index: None, args: vec![], route: 0 });
        let at = u32::try_from(self.0.sends.len()).unwrap() - 1;
        self.op(Op::Send(at))
    }

    fn responding(&mut self) -> u32 {
        self.0.exprs.push(Expr {
            code: vec![ExprOp::Read(0), ExprOp::Const(0), ExprOp::Is],
            constants: vec![Value::Bool(true)],
            reads: vec![Read { target: 0, parameter: 0 }],
        });
        u32::try_from(self.0.exprs.len()).unwrap() - 1
    }

    /// `expect sat.tcu.responding is true within …`.
    pub(super) fn expect(mut self, within: i64) -> Self {
        let cond = self.responding();
        self.0.expects.push(Expect { cond, held: None, within });
        let at = u32::try_from(self.0.expects.len()).unwrap() - 1;
        self.op(Op::Expect(at))
    }

    pub(super) fn wait(mut self, ns: i64) -> Self {
        self.0.durations.push(ns);
        let at = u32::try_from(self.0.durations.len()).unwrap() - 1;
        self.op(Op::Wait(at))
    }

    pub(super) fn ask(mut self, text: &str, within: i64) -> Self {
        let text = Template { parts: vec![Part::Text(Arc::from(text))] };
        self.0.asks.push(Ask { text, choices: vec![], within, local: None });
        let at = u32::try_from(self.0.asks.len()).unwrap() - 1;
        self.op(Op::Ask(at))
    }

    pub(super) fn note(mut self, text: &str) -> Self {
        self.0.notes.push(Note { text: Template { parts: vec![Part::Text(Arc::from(text))] } });
        let at = u32::try_from(self.0.notes.len()).unwrap() - 1;
        self.op(Op::Note(at))
    }

    /// The program of this one procedure, sealed.
    pub(super) fn program(self) -> Program {
        let catalogue = catalogue();
        let platform = &catalogue.platforms[1];
        let telecommands = (0_u32..).zip(&platform.telecommands).map(|(at, one)| TelecommandUse {
            platform: 0,
            component: Arc::from("tcu"),
            index: None,
            name: one.name.clone(),
            changes_state: one.changes_state,
            hazardous: None,
            args: vec![],
            requires: None,
            verify: one.verify.clone(),
            hash: compare::telecommand_hash(platform, at).unwrap(),
        });
        let one = &platform.parameters[0];
        let parameter = ParameterUse {
            platform: 0,
            component: Arc::from("tcu"),
            index: None,
            name: one.name.clone(),
            ty: one.ty.clone(),
            period: one.period,
            freshness: one.freshness,
            hash: compare::parameter_hash(platform, 0).unwrap(),
        };
        let route =
            RouteUse { platform: 0, name: Arc::from("direct"), hash: compare::route_hash(platform, 0).unwrap() };
        let mut program = Program {
            compiler: Arc::from("0.1.0"),
            parameters_of_compilation: Defaults { retry: None, window: 10 * S, freshness: 10 * S },
            platforms: vec![Arc::from("platform-v3")],
            enums: vec![],
            parameters: vec![parameter],
            telecommands: telecommands.collect(),
            routes: vec![route],
            files: vec![Arc::from("procedures/test.proc")],
            units: vec![self.0],
        };
        let claims = bounds::claims(&program).unwrap();
        for (claims, unit) in claims.iter().zip(&mut program.units) {
            claims.write(unit);
        }
        program
    }

    /// Its artifact.
    pub(super) fn artifact(self) -> Vec<u8> {
        artifact::encode(&self.program()).unwrap()
    }
}

/// `ping`, then `expect responding within 5 s`, once.
pub(super) fn acquire() -> Vec<u8> {
    Build::procedure("Acquire").step("answers", ONCE, |step| step.send(PING).expect(5 * S)).artifact()
}

/// `standby`, which changes the on-board state.
pub(super) fn standby() -> Vec<u8> {
    Build::procedure("Standby").step("standby", None, |step| step.send(STANDBY)).artifact()
}

/// A question for a minute.
pub(super) fn question() -> Vec<u8> {
    Build::procedure("Question").step("asks", ONCE, |step| step.ask("go?", 60 * S)).artifact()
}

/// A wait of an hour, then a note.
pub(super) fn hour() -> Vec<u8> {
    Build::procedure("Hour").wait(3_600 * S).note("over").artifact()
}
