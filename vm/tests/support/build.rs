//! Programs for scenarios, written as trees and lowered as the compiler would.

use std::sync::Arc;

use stellar_vm::{
    bounds::claims,
    catalogue::{Argument, Freshness, Stage, Verification},
    condition::{Expr, ExprOp, Read},
    op::{ExprId, Op, Pc},
    program::*,
    value::{EnumDef, Type, Value},
    verify::{Verified, VerifyError, verify},
};

pub(crate) const MS: i64 = 1_000_000;
pub(crate) const S: i64 = 1_000 * MS;

/// A statement.
#[derive(Debug, Clone)]
pub(crate) enum St {
    Send(&'static str, Vec<(&'static str, Ex)>),
    Expect(Ex, i64),
    ExpectHeld(Ex, i64, i64),
    Check(Ex),
    WaitUntil(Ex, i64),
    Wait(i64),
    WaitTime(i64, i64),
    Ask(&'static str, i64),
    AskOf(&'static str, &'static [&'static str], i64, &'static str),
    Transfer(&'static str, i64),
    Note(&'static str),
    Let(&'static str, Type, Ex),
    Fail(&'static str),
    If(Ex, Vec<St>, Vec<St>),
    Repeat(u32, Vec<St>),
    Each(&'static str, i64, i64, Vec<St>),
    Together(Vec<Vec<St>>),
    Step(&'static str, Option<Policy>, Vec<St>),
    Do(&'static str, Option<Policy>),
    Run(&'static str, Option<Policy>),
}

/// An expression.
#[derive(Debug, Clone)]
pub(crate) enum Ex {
    Value(Value),
    Local(&'static str),
    /// A parameter of the component `tcu` of index 2, or one without component index of `eps`.
    Read(&'static str),
    /// One of the component `tcu`, of an index that is computed.
    ReadAt(Box<Ex>, &'static str),
    Op(ExprOp, Vec<Ex>),
}

pub(crate) fn int(value: i64) -> Ex {
    Ex::Value(Value::Int(value))
}

pub(crate) fn on(parameter: &'static str) -> Ex {
    Ex::Op(ExprOp::Is, vec![Ex::Read(parameter), Ex::Value(Value::Bool(true))])
}

pub(crate) fn above(parameter: &'static str, value: f64) -> Ex {
    Ex::Op(ExprOp::Gt, vec![Ex::Read(parameter), Ex::Value(Value::Float(value))])
}

pub(crate) fn times(times: u32) -> Option<Policy> {
    Some(Policy { times: Some(times), every: None, total: None })
}

pub(crate) fn every(times: Option<u32>, every: i64, total: Option<i64>) -> Option<Policy> {
    Some(Policy { times, every: Some(every), total })
}

/// A definition.
#[derive(Debug, Clone)]
pub(crate) struct Def {
    pub(crate) kind: Kind,
    pub(crate) name: &'static str,
    pub(crate) inputs: Vec<(&'static str, Type, Option<Value>)>,
    pub(crate) policy: Option<Policy>,
    pub(crate) body: Vec<St>,
    pub(crate) on_failure: Vec<St>,
}

pub(crate) fn procedure(name: &'static str, body: Vec<St>) -> Def {
    Def { kind: Kind::Procedure, name, inputs: vec![], policy: None, body, on_failure: vec![] }
}

pub(crate) fn step(name: &'static str, body: Vec<St>) -> Def {
    Def { kind: Kind::Step, name, inputs: vec![], policy: None, body, on_failure: vec![] }
}

impl Def {
    pub(crate) fn retry(mut self, policy: Option<Policy>) -> Self {
        self.policy = policy;
        self
    }

    pub(crate) fn on_failure(mut self, body: Vec<St>) -> Self {
        self.on_failure = body;
        self
    }

    pub(crate) fn input(mut self, name: &'static str, ty: Type, default: Option<Value>) -> Self {
        self.inputs.push((name, ty, default));
        self
    }
}

pub(crate) const INT: Type = Type::Int { min: i64::MIN, max: i64::MAX };
pub(crate) const FLOAT: Type = Type::Float { unit: None, min: None, max: None };

/// The parameters that there are: `tcu[2].responding`, `tcu[2].temperature` (fresh for 5 s), `tcu[2].mode` (on change),
/// `eps.on` (fresh for 10 s), `eps.sel` (fresh for 2 s), `eps.armed` (on change).
fn parameters() -> Vec<ParameterUse> {
    let one = |component: &str, index, name: &str, ty, freshness| ParameterUse {
        platform: 0,
        component: component.into(),
        index,
        name: name.into(),
        ty,
        period: None,
        freshness,
        hash: [0; 32],
    };
    let celsius = Type::Float { unit: Some("degC".into()), min: None, max: None };
    vec![
        one("eps", None, "armed", Type::Bool, Freshness::OnChange),
        one("eps", None, "on", Type::Bool, Freshness::Within(10 * S)),
        one("eps", None, "sel", Type::Int { min: 1, max: 4 }, Freshness::Within(2 * S)),
        one("tcu", Some((1, 4)), "mode", Type::Enum(0), Freshness::OnChange),
        one("tcu", Some((1, 4)), "responding", Type::Bool, Freshness::Within(10 * S)),
        one("tcu", Some((1, 4)), "temperature", celsius, Freshness::Within(5 * S)),
    ]
}

fn verification(stages: Vec<(Stage, i64)>, window: i64) -> Verification {
    Verification { window, default_window: false, stages, until: None }
}

/// The telecommands that there are: `ping` (read-only, completed within 5 s), `mode` (all stages), `heat` (an argument
/// and a `requires`), `arm` (verified by the release and `eps.armed`), `poke` (read-only, by the release), `set`
/// (changes, by the release).
fn telecommands() -> Vec<TelecommandUse> {
    let one = |name: &str, changes_state, verify| TelecommandUse {
        platform: 0,
        component: "tcu".into(),
        index: Some((1, 4)),
        name: name.into(),
        changes_state,
        hazardous: None,
        args: vec![],
        requires: None,
        verify,
        hash: [0; 32],
    };
    let mut arm = one("arm", true, verification(vec![], 5 * S));
    arm.verify.until = Some(lower_free(&on("armed")));
    let mut heat = one("heat", true, verification(vec![(Stage::Completed, 5 * S)], 5 * S));
    let watts = Type::Float { unit: Some("W".into()), min: Some(0.0), max: Some(20.0) };
    heat.args = vec![Argument { name: "power".into(), ty: watts, default: Some(Value::Float(5.0)), fixed: None }];
    heat.requires = Some(lower_free(&on("on")));
    let stages = vec![(Stage::Accepted, 2 * S), (Stage::Started, 5 * S), (Stage::Completed, 10 * S)];
    vec![
        arm,
        heat,
        one("mode", true, verification(stages, 10 * S)),
        one("ping", false, verification(vec![(Stage::Completed, 5 * S)], 5 * S)),
        one("poke", false, verification(vec![], 5 * S)),
        one("set", true, verification(vec![], 5 * S)),
    ]
}

/// An expression of the catalogue: local 0 is the index.
fn lower_free(expr: &Ex) -> Expr {
    let mut lowered = Expr::default();
    lower_expr(expr, &mut lowered, &[]);
    lowered
}

fn lower_expr(expr: &Ex, to: &mut Expr, locals: &[(&'static str, Type)]) {
    match expr {
        Ex::Value(value) => {
            to.constants.push(value.clone());
            to.code.push(ExprOp::Const(to.constants.len() as u32 - 1));
        }
        Ex::Local(name) => {
            let local = locals.iter().position(|(local, _)| local == name).expect("a known name");
            to.code.push(ExprOp::Local(local as u32));
        }
        Ex::Read(name) => {
            let parameter = parameters().iter().position(|entry| *entry.name == **name).expect("a known parameter");
            if parameters()[parameter].index.is_some() {
                to.constants.push(Value::Int(2));
                to.code.push(ExprOp::Const(to.constants.len() as u32 - 1));
            }
            lower_read(parameter, to);
        }
        Ex::ReadAt(index, name) => {
            let parameter = parameters().iter().position(|entry| *entry.name == **name).expect("a known parameter");
            lower_expr(index, to, locals);
            lower_read(parameter, to);
        }
        Ex::Op(op, operands) => {
            for operand in operands {
                lower_expr(operand, to, locals);
            }
            to.code.push(*op);
        }
    }
}

fn lower_read(parameter: usize, to: &mut Expr) {
    let read = Read { target: 0, parameter: parameter as u32 };
    let place = to.reads.iter().position(|known| *known == read).unwrap_or_else(|| {
        to.reads.push(read);
        to.reads.len() - 1
    }) as u32;
    to.code.push(ExprOp::Read(place));
}

struct Lower<'a> {
    defs: &'a [Def],
    unit: Unit,
    locals: Vec<(&'static str, Type)>,
}

impl Lower<'_> {
    fn expr(&mut self, expr: &Ex) -> ExprId {
        let mut lowered = Expr::default();
        lower_expr(expr, &mut lowered, &self.locals);
        self.unit.exprs.push(lowered);
        self.unit.exprs.len() as u32 - 1
    }

    fn local(&mut self, name: &'static str, ty: Type) -> u32 {
        self.locals.push((name, ty.clone()));
        self.unit.locals.push(LocalDef { name: name.into(), ty });
        self.locals.len() as u32 - 1
    }

    fn template(&self, text: &str) -> Template {
        let mut parts = vec![];
        for (place, part) in text.split(['{', '}']).enumerate() {
            if place % 2 == 0 {
                parts.push(Part::Text(part.into()));
            } else {
                let local = self.locals.iter().position(|(name, _)| *name == part).expect("a known name");
                parts.push(Part::Local(local as u32));
            }
        }
        Template { parts }
    }

    fn op(&mut self, op: Op, text: String) -> usize {
        self.unit.code.push(op);
        let line = self.unit.code.len() as u32 + 1;
        self.unit.source.push(Source { line, column: 1, text: text.into() });
        self.unit.code.len() - 1
    }

    fn end(&self) -> Pc {
        self.unit.code.len() as u32
    }

    fn block(&mut self, body: &[St], in_step: bool) {
        for statement in body {
            self.statement(statement, in_step);
        }
    }

    /// A statement that stands directly in a procedure and can fail is a step of its own.
    fn implicit(&mut self, in_step: bool, text: &str, then: impl FnOnce(&mut Self)) {
        if in_step {
            return then(self);
        }
        let place = self.unit.steps.len() as u32;
        self.unit.steps.push(InlineStep { name: text.into(), written: false, policy: None, claims: Claims::default() });
        let at = self.op(Op::Step { step: place, end: 0 }, text.to_owned());
        then(self);
        self.unit.code[at] = Op::Step { step: place, end: self.end() };
    }

    fn duration(&mut self, ns: i64) -> u32 {
        self.unit.durations.push(ns);
        self.unit.durations.len() as u32 - 1
    }

    fn statement(&mut self, statement: &St, in_step: bool) {
        match statement {
            St::Send(name, args) => {
                let telecommand = telecommands().iter().position(|entry| *entry.name == **name).expect("known");
                let index = Some(self.expr(&int(2)));
                let wanted = telecommands()[telecommand].args.clone();
                let args = wanted
                    .iter()
                    .map(|arg| args.iter().find(|(name, _)| *name == &*arg.name).map(|(_, value)| self.expr(value)))
                    .collect();
                let send = Send { telecommand: telecommand as u32, target: 0, index, args, route: 0 };
                self.unit.sends.push(send);
                self.op(Op::Send(self.unit.sends.len() as u32 - 1), format!("send {name} to sat.tcu[2]"));
            }
            St::Expect(cond, within) => self.expect(cond, None, *within),
            St::ExpectHeld(cond, held, within) => self.expect(cond, Some(*held), *within),
            St::Check(cond) => self.implicit(in_step, "check", |lower| {
                let cond = lower.expr(cond);
                lower.op(Op::Check(cond), "check".into());
            }),
            St::WaitUntil(cond, within) => self.implicit(in_step, "wait until", |lower| {
                let (cond, within) = (lower.expr(cond), lower.duration(*within));
                lower.op(Op::WaitUntil { cond, within }, "wait until".into());
            }),
            St::Wait(duration) => {
                let duration = self.duration(*duration);
                self.op(Op::Wait(duration), "wait".into());
            }
            St::WaitTime(time, within) => self.implicit(in_step, "wait until time", |lower| {
                let time = lower.expr(&Ex::Value(Value::Time(*time)));
                let within = lower.duration(*within);
                lower.op(Op::WaitTime { time, within }, "wait until time".into());
            }),
            St::Ask(text, within) => self.ask(text, &[], *within, None, in_step),
            St::AskOf(text, choices, within, name) => self.ask(text, choices, *within, Some(name), in_step),
            St::Transfer(file, within) => {
                let index = Some(self.expr(&int(2)));
                let transfer = Transfer {
                    file: self.template(file),
                    target: 0,
                    component: "tcu".into(),
                    component_index: Some((1, 4)),
                    index,
                    within: *within,
                };
                self.unit.transfers.push(transfer);
                self.op(Op::Transfer(self.unit.transfers.len() as u32 - 1), "transfer".into());
            }
            St::Note(text) => {
                let text = self.template(text);
                self.unit.notes.push(Note { text });
                self.op(Op::Note(self.unit.notes.len() as u32 - 1), "note".into());
            }
            St::Let(name, ty, value) => {
                let value = self.expr(value);
                let sure = self.unit.exprs[value as usize].code.len() == 1;
                self.implicit(in_step || sure, &format!("let {name}"), |lower| {
                    let local = lower.local(name, ty.clone());
                    lower.op(Op::Let { local, value }, format!("let {name}"));
                });
            }
            St::Fail(text) => {
                self.unit.texts.push((*text).into());
                self.op(Op::Fail(self.unit.texts.len() as u32 - 1), "fail".into());
            }
            _ => self.nested(statement, in_step),
        }
    }

    fn expect(&mut self, cond: &Ex, held: Option<i64>, within: i64) {
        let cond = self.expr(cond);
        self.unit.expects.push(Expect { cond, held, within });
        self.op(Op::Expect(self.unit.expects.len() as u32 - 1), "expect".into());
    }

    fn ask(&mut self, text: &str, choices: &[&str], within: i64, name: Option<&'static str>, in_step: bool) {
        self.implicit(in_step, &format!("ask {text}"), |lower| {
            let text = lower.template(text);
            let local = name.map(|name| lower.local(name, Type::Str));
            let choices = choices.iter().map(|choice| Arc::from(*choice)).collect();
            lower.unit.asks.push(Ask { text, choices, within, local });
            lower.op(Op::Ask(lower.unit.asks.len() as u32 - 1), "ask".into());
        });
    }

    fn nested(&mut self, statement: &St, in_step: bool) {
        match statement {
            St::If(cond, then, otherwise) => {
                let mut cond = self.expr(cond);
                if !in_step {
                    let local = self.local("", Type::Bool);
                    self.implicit(false, "if", |lower| {
                        lower.op(Op::Judge { cond, local }, "if".into());
                    });
                    self.unit.exprs.push(Expr { code: vec![ExprOp::Local(local)], ..Expr::default() });
                    cond = self.unit.exprs.len() as u32 - 1;
                }
                let at = self.op(Op::If { cond, otherwise: 0, end: 0 }, "if".into());
                self.block(then, in_step);
                let middle = self.end();
                self.block(otherwise, in_step);
                self.unit.code[at] = Op::If { cond, otherwise: middle, end: self.end() };
            }
            St::Repeat(times, body) => {
                let at = self.op(Op::Repeat { times: *times, end: 0 }, "repeat".into());
                self.block(body, in_step);
                self.unit.code[at] = Op::Repeat { times: *times, end: self.end() };
            }
            St::Each(name, from, to, body) => {
                let local = self.local(name, INT);
                self.unit.loops.push(ForEach { local, over: Sequence::Range(*from, *to) });
                let each = self.unit.loops.len() as u32 - 1;
                let at = self.op(Op::ForEach { each, end: 0 }, "for each".into());
                self.block(body, in_step);
                self.unit.code[at] = Op::ForEach { each, end: self.end() };
            }
            St::Together(branches) => {
                let at = self.op(Op::Together { end: 0 }, "together".into());
                for branch in branches {
                    let begin = self.op(Op::Branch { end: 0 }, "branch".into());
                    self.block(branch, false);
                    self.unit.code[begin] = Op::Branch { end: self.end() };
                }
                self.unit.code[at] = Op::Together { end: self.end() };
            }
            St::Step(name, policy, body) => {
                let place = self.unit.steps.len() as u32;
                let step =
                    InlineStep { name: (*name).into(), written: true, policy: *policy, claims: Claims::default() };
                self.unit.steps.push(step);
                let at = self.op(Op::Step { step: place, end: 0 }, format!("step {name}"));
                self.block(body, true);
                self.unit.code[at] = Op::Step { step: place, end: self.end() };
            }
            St::Do(name, policy) | St::Run(name, policy) => {
                let unit = self.defs.iter().position(|def| def.name == *name).expect("a known definition");
                let inputs = vec![None; self.defs[unit].inputs.len()];
                let call =
                    Call { unit: unit as u32, targets: vec![0], inputs, policy: *policy, claims: Claims::default() };
                self.unit.calls.push(call);
                let place = self.unit.calls.len() as u32 - 1;
                let op = if self.defs[unit].kind == Kind::Step { Op::Do(place) } else { Op::Run(place) };
                self.op(op, format!("call {name}"));
            }
            _ => unreachable!(),
        }
    }
}

/// The program of some definitions, verified; the default policy is one new attempt after 2 s.
pub(crate) fn program(mut defs: Vec<Def>) -> Arc<Verified> {
    defs.sort_by_key(|def| (def.kind, def.name));
    let default = Policy { times: Some(1), every: Some(2 * S), total: None };
    program_with(defs, Some(default))
}

/// The program of some definitions, verified, with a default policy.
pub(crate) fn program_with(defs: Vec<Def>, default: Option<Policy>) -> Arc<Verified> {
    try_program(defs, default).expect("a program that keeps the rules")
}

/// The program of some definitions, where they keep the rules.
pub(crate) fn try_program(mut defs: Vec<Def>, default: Option<Policy>) -> Result<Arc<Verified>, VerifyError> {
    defs.sort_by_key(|def| (def.kind, def.name));
    let modes = ["STANDBY", "OPERATIONAL", "SAFE"];
    let labels = modes.iter().zip(0..).map(|(label, raw)| ((*label).into(), raw)).collect();
    let mut program = Program {
        compiler: "test".into(),
        parameters_of_compilation: Defaults { retry: default, window: 10 * S, freshness: 10 * S },
        platforms: vec!["platform-v3".into()],
        enums: vec![EnumDef { name: "tcu_mode".into(), labels }],
        parameters: parameters(),
        telecommands: telecommands(),
        routes: vec![RouteUse { platform: 0, name: "direct".into(), hash: [0; 32] }],
        files: vec!["test.proc".into()],
        units: vec![],
    };
    for def in &defs {
        program.units.push(lower(&defs, def));
    }
    let claims = claims(&program)?;
    for (unit, claims) in program.units.iter_mut().zip(claims) {
        claims.write(unit);
    }
    verify(program).map(Arc::new)
}

fn lower(defs: &[Def], def: &Def) -> Unit {
    let inputs: Vec<_> = def
        .inputs
        .iter()
        .map(|(name, ty, default)| Input { name: (*name).into(), ty: ty.clone(), default: default.clone() })
        .collect();
    let unit = Unit {
        kind: def.kind,
        name: def.name.into(),
        doc: None,
        file: 0,
        line: 1,
        targets: vec![TargetUse { name: "sat".into(), platform: 0 }],
        inputs,
        locals: vec![],
        policy: def.policy,
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
    };
    let mut lower = Lower { defs, unit, locals: vec![] };
    for (name, ty, _) in &def.inputs {
        lower.local(name, ty.clone());
    }
    lower.block(&def.body, def.kind == Kind::Step);
    if !def.on_failure.is_empty() {
        let at = lower.op(Op::OnFailure { end: 0 }, "on failure".into());
        lower.block(&def.on_failure, false);
        lower.unit.code[at] = Op::OnFailure { end: lower.end() };
    }
    lower.unit
}
