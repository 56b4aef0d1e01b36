//! A unit: its header, what it claims, its code with the source beside it.

use alloc::{format, string::String, vec::Vec};

use super::{
    claims_text, duration_text, expr, line, local_name, nowhere, path, policy_text, quoted, target_name, template_text,
    type_text, value_text,
};
use crate::{
    bounds::MAX_NESTING,
    op::{ExprId, Op, Pc},
    program::{Program, Sequence, Unit},
    verify::{entry, told},
};

/// Width of the code, behind which the source stands.
const CODE: usize = 72;

pub(super) fn print(program: &Program, unit: &Unit, out: &mut String) {
    let file = entry(&program.files, unit.file).map_or_else(|| nowhere(unit.file), |file| String::from(&**file));
    line(out, format_args!("{} at {file}:{}", told(unit.kind, &unit.name), unit.line));
    if let Some(doc) = &unit.doc {
        line(out, format_args!("  {}", quoted(doc)));
    }
    for target in &unit.targets {
        let platform = entry(&program.platforms, target.platform);
        let platform = platform.map_or_else(|| nowhere(target.platform), |name| String::from(&**name));
        line(out, format_args!("  uses {}: {platform}", target.name));
    }
    for input in &unit.inputs {
        let default = input.default.as_ref().map(|value| format!(" = {}", value_text(&program.enums, value)));
        let (ty, default) = (type_text(&program.enums, &input.ty), default.unwrap_or_default());
        line(out, format_args!("  input {}: {ty}{default}", input.name));
    }
    for (at, local) in (0..).zip(&unit.locals).skip(unit.inputs.len()) {
        let ty = type_text(&program.enums, &local.ty);
        line(out, format_args!("  local {}: {ty}", local_name(&unit.locals, at)));
    }
    if let Some(policy) = &unit.policy {
        line(out, format_args!("  {}", policy_text(policy)));
    }
    line(out, format_args!("  claims {}", claims_text(&unit.claims)));
    code(&Code { program, unit }, out);
}

fn code(code: &Code<'_>, out: &mut String) {
    let mut ends: Vec<(Pc, Pc)> = Vec::new();
    for (pc, op) in (0..).zip(&code.unit.code) {
        while ends.last().is_some_and(|(_, end)| *end <= pc) {
            ends.pop();
        }
        if ends.last().is_some_and(|(otherwise, _)| *otherwise == pc) {
            line(out, format_args!("        {:1$}else", "", (ends.len() - 1).min(MAX_NESTING) * 2));
        }
        let indent = ends.len().min(MAX_NESTING) * 2;
        let text = format!("  {pc:4}  {:indent$}{}", "", code.op(*op));
        match entry(&code.unit.source, pc) {
            Some(source) => {
                let (at, column, source) = (source.line, source.column, &source.text);
                line(out, format_args!("{text:CODE$}  # {at}:{column} {source}"));
            }
            None => line(out, format_args!("{text}")),
        }
        if let Some(more) = code.more(*op) {
            line(out, format_args!("        {:1$}  claims {more}", "", indent));
        }
        if let Some((otherwise, end)) = op.block() {
            ends.push((if otherwise < end { otherwise } else { Pc::MAX }, end));
        }
    }
}

struct Code<'a> {
    program: &'a Program,
    unit: &'a Unit,
}

impl Code<'_> {
    /// The claims of a call or inline step.
    fn more(&self, op: Op) -> Option<String> {
        match op {
            Op::Step { step, .. } => entry(&self.unit.steps, step).map(|step| claims_text(&step.claims)),
            Op::Do(call) | Op::Run(call) => entry(&self.unit.calls, call).map(|call| claims_text(&call.claims)),
            _ => None,
        }
    }

    fn op(&self, op: Op) -> String {
        let unit = self.unit;
        let text = match op {
            Op::Send(at) => self.send(at),
            Op::Expect(at) => entry(&unit.expects, at).map(|expect| {
                let held = expect.held.map(|held| format!(" held for {}", duration_text(held))).unwrap_or_default();
                format!("expect {}{held} within {}", self.expr(expect.cond), duration_text(expect.within))
            }),
            Op::Check(cond) => Some(format!("check {}", self.expr(cond))),
            Op::WaitUntil { cond, within } => {
                Some(format!("wait until {} within {}", self.expr(cond), self.duration(within)))
            }
            Op::Wait(duration) => Some(format!("wait {}", self.duration(duration))),
            Op::WaitTime { time, within } => {
                Some(format!("wait until time {} within {}", self.expr(time), self.duration(within)))
            }
            Op::Ask(at) => self.ask(at),
            Op::Transfer(at) => self.transfer(at),
            Op::Note(at) => {
                entry(&unit.notes, at).map(|note| format!("note {}", template_text(&unit.locals, &note.text)))
            }
            Op::Let { local, value } => Some(format!("let {} = {}", self.local(local), self.expr(value))),
            Op::Fail(at) => entry(&unit.texts, at).map(|text| format!("fail {}", quoted(text))),
            Op::Judge { cond, local } => Some(format!("judge {} = {}", self.local(local), self.expr(cond))),
            Op::If { cond, .. } => Some(format!("if {}", self.expr(cond))),
            Op::Repeat { times, .. } => Some(format!("repeat {times} times")),
            Op::ForEach { each, .. } => self.for_each(each),
            Op::Together { .. } => Some(String::from("together")),
            Op::Branch { .. } => Some(String::from("branch")),
            Op::Step { step, .. } => entry(&unit.steps, step).map(|step| {
                let word = if step.written { "step" } else { "statement" };
                let policy = step.policy.map(|policy| format!(" {}", policy_text(&policy))).unwrap_or_default();
                format!("{word} {}{policy}", quoted(&step.name))
            }),
            Op::OnFailure { .. } => Some(String::from("on failure")),
            Op::Do(at) => self.call("do", at),
            Op::Run(at) => self.call("run", at),
        };
        text.unwrap_or_else(|| format!("{op:?}"))
    }

    fn expr(&self, index: ExprId) -> String {
        expr::of_unit(self.program, self.unit, index)
    }

    fn local(&self, index: u32) -> String {
        local_name(&self.unit.locals, index)
    }

    fn duration(&self, index: u32) -> String {
        entry(&self.unit.durations, index).map_or_else(|| nowhere(index), |ns| duration_text(*ns))
    }

    fn send(&self, at: u32) -> Option<String> {
        let send = entry(&self.unit.sends, at)?;
        let telecommand = entry(&self.program.telecommands, send.telecommand)?;
        let index = send.index.map(|index| self.expr(index));
        let place = path(&telecommand.component, index.as_deref(), &telecommand.name);
        let target = target_name(&self.unit.targets, send.target);
        let given = telecommand.args.iter().zip(&send.args).filter_map(|(argument, value)| {
            let value = value.map(|value| self.expr(value))?;
            Some(format!("{} = {value}", argument.name))
        });
        let given: Vec<String> = given.collect();
        let with = if given.is_empty() { String::new() } else { format!(" with {}", given.join(", ")) };
        let route = entry(&self.program.routes, send.route);
        let route = route.map_or_else(|| nowhere(send.route), |route| String::from(&*route.name));
        Some(format!("send {target}.{place}{with} via {route}"))
    }

    fn ask(&self, at: u32) -> Option<String> {
        let ask = entry(&self.unit.asks, at)?;
        let choices: Vec<String> = ask.choices.iter().map(|choice| quoted(choice)).collect();
        let of = if choices.is_empty() { String::new() } else { format!(" of {}", choices.join(", ")) };
        let kept = ask.local.map(|local| format!(" as {}", self.local(local))).unwrap_or_default();
        let text = template_text(&self.unit.locals, &ask.text);
        Some(format!("ask {text}{of} within {}{kept}", duration_text(ask.within)))
    }

    fn transfer(&self, at: u32) -> Option<String> {
        let transfer = entry(&self.unit.transfers, at)?;
        let index = transfer.index.map(|index| self.expr(index));
        let place = path(&transfer.component, index.as_deref(), "");
        let (file, target) =
            (template_text(&self.unit.locals, &transfer.file), target_name(&self.unit.targets, transfer.target));
        Some(format!("transfer {file} to {target}.{place} within {}", duration_text(transfer.within)))
    }

    fn for_each(&self, at: u32) -> Option<String> {
        let each = entry(&self.unit.loops, at)?;
        let over = match &each.over {
            Sequence::Range(first, last) => format!("{first}..{last}"),
            Sequence::List(values) => {
                let values: Vec<String> = values.iter().map(|value| value_text(&self.program.enums, value)).collect();
                format!("[{}]", values.join(", "))
            }
        };
        Some(format!("for each {} in {over}", self.local(each.local)))
    }

    fn call(&self, word: &str, at: u32) -> Option<String> {
        let call = entry(&self.unit.calls, at)?;
        let callee = entry(&self.program.units, call.unit)?;
        let targets = call.targets.iter().map(|target| target_name(&self.unit.targets, *target));
        let inputs = callee.inputs.iter().zip(&call.inputs).filter_map(|(input, value)| {
            let value = value.map(|value| self.expr(value))?;
            Some(format!("{} = {value}", input.name))
        });
        let given: Vec<String> = targets.chain(inputs).collect();
        let with = if given.is_empty() { String::new() } else { format!(" with {}", given.join(", ")) };
        let policy = call.policy.map(|policy| format!(" {}", policy_text(&policy))).unwrap_or_default();
        Some(format!("{word} {}{with}{policy}", quoted(&callee.name)))
    }
}
