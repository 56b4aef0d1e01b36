//! A program as readable text: what `stellar disasm` prints.
//!
//! Deterministic, and total: it prints any program that could be decoded, verified or not; an index that leads nowhere
//! is shown as `?7`. The code stands beside the source that it comes from.

use alloc::{format, string::String, vec::Vec};
use core::fmt::Write;

use crate::{
    program::{Claims, LocalDef, Policy, Program, TargetUse, Template},
    time::{Instant, duration_text},
    value::{EnumDef, Type, Value},
    verify::entry,
};

mod code;
mod expr;
mod slice;

/// Prints a program.
#[must_use]
pub fn disassemble(program: &Program) -> String {
    let mut out = String::new();
    slice::print(program, &mut out);
    for unit in &program.units {
        out.push('\n');
        code::print(program, unit, &mut out);
    }
    out
}

/// A line of text.
fn line(out: &mut String, text: core::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(text);
    out.push('\n');
}

/// An index that leads nowhere.
fn nowhere(index: u32) -> String {
    format!("?{index}")
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

fn local_name(locals: &[LocalDef], index: u32) -> String {
    match entry(locals, index) {
        Some(local) if local.name.is_empty() => format!("%{index}"),
        Some(local) => String::from(&*local.name),
        None => nowhere(index),
    }
}

fn target_name(targets: &[TargetUse], index: u32) -> String {
    entry(targets, index).map_or_else(|| nowhere(index), |target| String::from(&*target.name))
}

fn value_text(enums: &[EnumDef], value: &Value) -> String {
    match value {
        Value::Bool(value) => format!("{value}"),
        Value::Int(value) => format!("{value}"),
        Value::Float(value) => format!("{value:?}"),
        Value::Str(value) => quoted(value),
        Value::Duration(ns) => duration_text(*ns),
        Value::Time(ns) => format!("{}", Instant { ns: *ns, ..Instant::default() }),
        Value::Enum { def, label } => match entry(enums, *def).and_then(|def| entry(&def.labels, *label)) {
            Some((label, _)) => String::from(&**label),
            None => format!("?{def}.{label}"),
        },
    }
}

fn type_text(enums: &[EnumDef], ty: &Type) -> String {
    match ty {
        Type::Bool => String::from("bool"),
        Type::Int { min: i64::MIN, max: i64::MAX } => String::from("int"),
        Type::Int { min, max } => format!("int {min}..{max}"),
        Type::Float { unit, min, max } => {
            let unit = unit.as_ref().map(|unit| format!(" {unit}")).unwrap_or_default();
            let end = |end: &Option<f64>| end.map(|end| format!("{end:?}")).unwrap_or_default();
            let range = if min.or(*max).is_some() { format!(" {}..{}", end(min), end(max)) } else { String::new() };
            format!("float{unit}{range}")
        }
        Type::Str => String::from("string"),
        Type::Duration => String::from("duration"),
        Type::Time => String::from("time"),
        Type::Enum(def) => entry(enums, *def).map_or_else(|| nowhere(*def), |def| String::from(&*def.name)),
    }
}

fn policy_text(policy: &Policy) -> String {
    let times = policy.times.map(|times| format!(" {times} time{}", if times == 1 { "" } else { "s" }));
    let every = policy.every.map(|every| format!(" every {}", duration_text(every)));
    let total = policy.total.map(|total| format!(" for {}", duration_text(total)));
    let parts: Vec<String> = [times, every, total].into_iter().flatten().collect();
    format!("retry{}", parts.concat())
}

fn claims_text(claims: &Claims) -> String {
    let failure = match claims.on_failure {
        0 => String::new(),
        ns => format!(" ({} of it `on failure`)", duration_text(ns)),
    };
    format!(
        "one attempt {}{failure}, at most {} in {} attempt{}, {} statement{}, {} for retry",
        duration_text(claims.attempt),
        duration_text(claims.max),
        claims.attempts_max,
        if claims.attempts_max == 1 { "" } else { "s" },
        claims.statements,
        if claims.statements == 1 { "" } else { "s" },
        if claims.eligible { "eligible" } else { "not eligible" },
    )
}

/// A text with values, as it is written in the language.
fn template_text(locals: &[LocalDef], template: &Template) -> String {
    let parts = template.parts.iter().map(|part| match part {
        crate::program::Part::Text(text) => {
            let text = quoted(text);
            String::from(text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(&text))
        }
        crate::program::Part::Local(local) => format!("{{{}}}", local_name(locals, *local)),
    });
    format!("\"{}\"", parts.collect::<String>())
}

/// `tcu[1..4].ping`, the index of the component as it is given.
fn path(component: &str, index: Option<&str>, name: &str) -> String {
    let index = index.map(|index| format!("[{index}]")).unwrap_or_default();
    match name {
        "" => format!("{component}{index}"),
        name => format!("{component}{index}.{name}"),
    }
}

fn range(range: Option<(i64, i64)>) -> Option<String> {
    range.map(|(first, last)| format!("{first}..{last}"))
}

#[cfg(test)]
mod tests;
