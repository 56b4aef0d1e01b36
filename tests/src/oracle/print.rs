//! The text of a program, as the compiler reads it; each statement is told its line and its text on one line.

use std::fmt::Write;

use super::{model::*, text::instant};

/// A duration as the language writes it.
pub(super) fn duration(ns: Ns) -> String {
    if ns % S == 0 { format!("{} s", ns / S) } else { format!("{} ms", ns / MS) }
}

/// What an expression of a definition (`None`: of the catalogue) is written as.
pub(super) fn expr_text(catalogue: &Catalogue, def: Option<&Def>, expr: &Expr) -> String {
    let text = |expr: &Expr| operand(catalogue, def, expr);
    let list = |all: &[Expr], by: &str| all.iter().map(text).collect::<Vec<_>>().join(by);
    match expr {
        Expr::Literal(_, text) => text.clone(),
        Expr::Name(name) => def.unwrap().names[*name].0.clone(),
        Expr::Read(read) => read_text(catalogue, def, read),
        Expr::Known(read) => format!("{} is known", read_text(catalogue, def, read)),
        Expr::Not(a) => format!("not ({})", expr_text(catalogue, def, a)),
        Expr::And(all) => list(all, " and "),
        Expr::Or(all) => list(all, " or "),
        Expr::Compare(cmp, a, b) => {
            let op = match cmp {
                Cmp::Is => "is",
                Cmp::IsNot => "is not",
                Cmp::Lt => "<",
                Cmp::Le => "<=",
                Cmp::Gt => ">",
                Cmp::Ge => ">=",
            };
            format!("{} {op} {}", text(a), text(b))
        }
        Expr::Between(x, a, b) => format!("{} between {} and {}", text(x), text(a), text(b)),
        Expr::OneOf(x, all) => format!("{} in [{}]", text(x), list(all, ", ")),
        Expr::Near(x, v, tolerance) => format!("{} is {} +- {}", text(x), text(v), text(tolerance)),
        Expr::Calc(calc, a, b) => {
            let op = match calc {
                Calc::Add => "+",
                Calc::Sub => "-",
                Calc::Mul => "*",
                Calc::Div => "/",
            };
            format!("{} {op} {}", text(a), text(b))
        }
    }
}

fn operand(catalogue: &Catalogue, def: Option<&Def>, expr: &Expr) -> String {
    let text = expr_text(catalogue, def, expr);
    if matches!(expr, Expr::Literal(..) | Expr::Name(_) | Expr::Read(_)) { text } else { format!("({text})") }
}

fn read_text(catalogue: &Catalogue, def: Option<&Def>, read: &Read) -> String {
    let param = &catalogue.params[read.param];
    let Some(def) = def else { return param.name.to_owned() };
    component_path(catalogue, def, read.target, param.component, read.index.as_deref()) + "." + param.name
}

fn component_path(catalogue: &Catalogue, def: &Def, target: usize, component: usize, index: Option<&Expr>) -> String {
    let index = index.map_or(String::new(), |index| format!("[{}]", expr_text(catalogue, Some(def), index)));
    format!("{}.{}{index}", def.targets[target], catalogue.components[component].name)
}

fn policy_text(policy: Option<&Policy>) -> String {
    let Some(policy) = policy else { return String::new() };
    let mut text = " retry".to_owned();
    if let Some(times) = policy.times {
        write!(text, " {times} {}", if times == 1 { "time" } else { "times" }).unwrap();
    }
    if let Some(every) = policy.every {
        write!(text, " every {}", duration(every)).unwrap();
    }
    if let Some(total) = policy.total {
        write!(text, " for {}", duration(total)).unwrap();
    }
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn template(def: &Def, parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(plain) => text.push_str(&plain.replace('{', "{{").replace('}', "}}")),
            Part::Name(name) => write!(text, "{{{}}}", def.names[*name].0).unwrap(),
        }
    }
    quoted(&text)
}

fn type_text(catalogue: &Catalogue, ty: &Ty) -> String {
    match ty {
        Ty::Bool => "bool".to_owned(),
        Ty::Int(Some((1, 3))) => "tcu_id".to_owned(),
        Ty::Int(_) => "int".to_owned(),
        Ty::Float(..) => "float".to_owned(),
        Ty::Str => "string".to_owned(),
        Ty::Duration => "duration".to_owned(),
        Ty::Time => "time".to_owned(),
        Ty::Enum(which) => catalogue.enums[*which].0.to_owned(),
    }
}

/// A text in the making.
struct Printer<'a> {
    program: &'a Program,
    out: String,
    line: u32,
}

/// The text of all definitions; the statements are told where they stand.
pub(super) fn print(program: &mut Program) -> String {
    let frozen = program.clone();
    let mut printer = Printer { program: &frozen, out: String::new(), line: 0 };
    for (at, def) in program.defs.iter_mut().enumerate() {
        printer.def(&frozen.defs[at], def);
    }
    printer.out
}

impl Printer<'_> {
    fn put(&mut self, depth: usize, text: &str) -> u32 {
        self.line += 1;
        writeln!(self.out, "{}{text}", "  ".repeat(depth)).unwrap();
        self.line
    }

    fn def(&mut self, def: &Def, told: &mut Def) {
        let kind = if def.is_step { "step" } else { "procedure" };
        self.put(0, &format!("{kind} {}{}", quoted(&def.title), policy_text(def.policy.as_ref())));
        for target in &def.targets {
            self.put(1, &format!("uses {target}: {PLATFORM}"));
        }
        for input in &def.inputs {
            let (name, ty) = &def.names[input.name];
            let default = input.default.as_ref().map_or(String::new(), |(_, text)| format!(" = {text}"));
            self.put(1, &format!("input {name}: {}{default}", type_text(&self.program.catalogue, ty)));
        }
        self.block(def, 1, &mut told.body);
        if let Some(block) = &mut told.on_failure {
            self.put(1, "on failure");
            self.block(def, 2, block);
        }
        self.put(0, "");
    }

    fn block(&mut self, def: &Def, depth: usize, block: &mut [Stmt]) {
        for stmt in block {
            self.stmt(def, depth, stmt);
        }
    }

    fn stmt(&mut self, def: &Def, depth: usize, stmt: &mut Stmt) {
        stmt.text = head(self.program, def, &stmt.kind);
        stmt.line = self.put(depth, &stmt.text.clone());
        match &mut stmt.kind {
            Kind::If { then, other, .. } => {
                self.block(def, depth + 1, then);
                if !other.is_empty() {
                    self.put(depth, "else");
                    self.block(def, depth + 1, other);
                }
            }
            Kind::Repeat { body, .. } | Kind::ForEach { body, .. } | Kind::Step { body, .. } => {
                self.block(def, depth + 1, body);
            }
            Kind::Together(branches) => {
                for branch in branches {
                    self.put(depth + 1, "branch");
                    self.block(def, depth + 2, branch);
                }
            }
            _ => {}
        }
    }
}

/// A statement's line.
fn head(program: &Program, def: &Def, kind: &Kind) -> String {
    let catalogue = &program.catalogue;
    let text = |expr: &Expr| expr_text(catalogue, Some(def), expr);
    let arg = |name: &str, expr: &Expr| format!("{name} = {}", operand(catalogue, Some(def), expr));
    match kind {
        Kind::Send(send) => {
            let telecommand = &catalogue.telecommands[send.telecommand];
            let given = telecommand.args.iter().zip(&send.args);
            let given: Vec<_> = given.filter_map(|(of, value)| Some(arg(of.name, value.as_ref()?))).collect();
            let with = if given.is_empty() { String::new() } else { format!(" with {}", given.join(", ")) };
            let to = component_path(catalogue, def, send.target, telecommand.component, send.index.as_ref());
            let via = send.route.map_or(String::new(), |route| format!(" via {route}"));
            format!("send {}{with} to {to}{via}", telecommand.name)
        }
        Kind::Expect { cond, held, within } => {
            let held = held.map_or(String::new(), |held| format!(" held for {}", duration(held)));
            format!("expect {}{held} within {}", text(cond), duration(*within))
        }
        Kind::Check(cond) => format!("check {}", text(cond)),
        Kind::WaitUntil { cond, within } => format!("wait until {} within {}", text(cond), duration(*within)),
        Kind::WaitTime { time, within } => format!("wait until {} within {}", text(time), duration(*within)),
        Kind::Wait(ns) => format!("wait {}", duration(*ns)),
        Kind::Ask(ask) => {
            let of: Vec<_> = ask.choices.iter().map(|choice| quoted(choice)).collect();
            let of = if of.is_empty() { String::new() } else { format!(" of {}", of.join(", ")) };
            let name = ask.name.map_or(String::new(), |name| format!(" as {}", def.names[name].0));
            format!("ask {}{of} within {}{name}", quoted(&ask.text), duration(ask.within))
        }
        Kind::Transfer { file, target, component, index, within } => {
            let to = component_path(catalogue, def, *target, *component, index.as_ref());
            format!("transfer {} to {to} within {}", quoted(file), duration(*within))
        }
        Kind::Note(parts) => format!("note {}", template(def, parts)),
        Kind::Let { name, value } => format!("let {} = {}", def.names[*name].0, text(value)),
        Kind::Fail(text) => format!("fail {}", quoted(text)),
        Kind::If { cond, .. } => format!("if {}", text(cond)),
        Kind::Repeat { times, .. } => format!("repeat {times} {}", if *times == 1 { "time" } else { "times" }),
        Kind::ForEach { name, over, .. } => {
            let over = match over {
                Over::Range(low, high) => format!("{low}..{high}"),
                Over::List(all) => {
                    format!("[{}]", all.iter().map(|(_, text)| text.clone()).collect::<Vec<_>>().join(", "))
                }
            };
            format!("for each {} in {over}", def.names[*name].0)
        }
        Kind::Together(_) => "together".to_owned(),
        Kind::Step { name, policy, .. } => format!("step {}{}", quoted(name), policy_text(policy.as_ref())),
        Kind::Do(call) => format!("do {}", call_text(program, def, call)),
        Kind::Run(call) => format!("run {}", call_text(program, def, call)),
    }
}

fn call_text(program: &Program, def: &Def, call: &Call) -> String {
    let callee = &program.defs[call.def];
    let mut args = Vec::new();
    for (place, target) in call.targets.iter().enumerate() {
        let given = def.targets[*target];
        args.push(if call.by_name { format!("{} = {given}", callee.targets[place]) } else { given.to_owned() });
    }
    for (input, value) in callee.inputs.iter().zip(&call.inputs) {
        let Some(value) = value else { continue };
        let text = operand(&program.catalogue, Some(def), value);
        args.push(if call.by_name { format!("{} = {text}", callee.names[input.name].0) } else { text });
    }
    format!("{} with {}{}", quoted(&callee.title), args.join(", "), policy_text(call.policy.as_ref()))
}

/// A time as a literal.
pub(super) fn time_literal(ns: Ns) -> Expr {
    Expr::Literal(Value::Time(ns), instant(ns))
}
