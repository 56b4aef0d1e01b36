//! The tables of a program: every index exists, every value has its type, every duration and text is within its limit.

use alloc::{collections::BTreeSet, format, string::String, sync::Arc};

use super::{MAX_TEXT, VerifyError, entry, exprs, told};
use crate::{
    bounds::MAX_DURATION,
    catalogue::{Argument, Freshness, Verification},
    program::{ParameterUse, Part, Program, TelecommandUse, Template, Unit},
    value::{Type, Value},
};

type Check = Result<(), &'static str>;

/// Checks the tables of the program, then those of each unit.
pub(super) fn check(program: &Program) -> Result<(), VerifyError> {
    let at = |place: &dyn Fn() -> String| {
        let place = place();
        move |what| VerifyError::malformed(&place, what)
    };
    head(program).map_err(at(&|| String::from("program")))?;
    for (index, def) in program.enums.iter().enumerate() {
        let labels = def.labels.iter().try_for_each(|(label, _)| text(label));
        let labels = if def.labels.is_empty() { Err("an enumeration has no labels") } else { labels };
        labels.and_then(|()| text(&def.name)).map_err(at(&|| format!("enumeration {index}")))?;
    }
    for used in &program.parameters {
        parameter(program, used).map_err(at(&|| format!("parameter `{}.{}`", used.component, used.name)))?;
    }
    for used in &program.telecommands {
        telecommand(program, used).map_err(at(&|| format!("telecommand `{}.{}`", used.component, used.name)))?;
    }
    for used in &program.routes {
        let exists = platform(program, used.platform).and_then(|()| text(&used.name));
        exists.map_err(at(&|| format!("route `{}`", used.name)))?;
    }
    let mut names = BTreeSet::new();
    for of in &program.units {
        let whole = || told(of.kind, &of.name);
        if !names.insert((of.kind, &of.name)) {
            return Err(VerifyError::malformed(&whole(), "another one has the same name"));
        }
        unit(program, of).and_then(|()| statements(program, of)).map_err(at(&whole))?;
    }
    Ok(())
}

fn head(program: &Program) -> Check {
    let Program { compiler, parameters_of_compilation: defaults, platforms, files, .. } = program;
    text(compiler)?;
    texts(files)?;
    texts(platforms)?;
    if platforms.iter().collect::<BTreeSet<_>>().len() != platforms.len() {
        return Err("two platforms have the same name");
    }
    [defaults.window, defaults.freshness].into_iter().try_for_each(duration)
}

fn parameter(program: &Program, used: &ParameterUse) -> Check {
    platform(program, used.platform)?;
    texts([&used.component, &used.name])?;
    index_range(used.index)?;
    of_type(program, &used.ty)?;
    used.period.map_or(Ok(()), duration)?;
    match used.freshness {
        Freshness::Within(ns) => duration(ns),
        Freshness::OnChange => Ok(()),
    }
}

fn telecommand(program: &Program, used: &TelecommandUse) -> Check {
    platform(program, used.platform)?;
    texts([&used.component, &used.name])?;
    texts(&used.hazardous)?;
    index_range(used.index)?;
    for Argument { name, ty, default, fixed } in &used.args {
        text(name)?;
        of_type(program, ty)?;
        [default, fixed].into_iter().flatten().try_for_each(|value| exprs::fits(program, value, ty))?;
    }
    let Verification { window, default_window, stages, until } = &used.verify;
    duration(*window)?;
    if *default_window && *window != program.parameters_of_compilation.window {
        return Err("its default window is not the configuration's");
    }
    if stages.iter().any(|(_, limit)| !(0..=*window).contains(limit)) {
        return Err("a stage ends outside of its window");
    }
    if stages.iter().zip(stages.iter().skip(1)).any(|((stage, _), (next, _))| stage >= next) {
        return Err("its stages are not in order");
    }
    let conditions = used.requires.iter().chain(until);
    conditions.into_iter().try_for_each(|expr| exprs::condition(program, expr, used.platform, used.index.is_some()))
}

fn unit(program: &Program, unit: &Unit) -> Check {
    text(&unit.name)?;
    texts(&unit.doc)?;
    entry(&program.files, unit.file).ok_or("its file does not exist")?;
    for target in &unit.targets {
        text(&target.name)?;
        platform(program, target.platform)?;
    }
    for input in &unit.inputs {
        text(&input.name)?;
        of_type(program, &input.ty)?;
        input.default.as_ref().map_or(Ok(()), |default| exprs::fits(program, default, &input.ty))?;
    }
    for local in &unit.locals {
        text(&local.name)?;
        of_type(program, &local.ty)?;
    }
    // A run is started with a target and a value by name.
    if unit.targets.iter().map(|target| &target.name).collect::<BTreeSet<_>>().len() != unit.targets.len() {
        return Err("two targets have the same name");
    }
    if unit.inputs.iter().map(|input| &input.name).collect::<BTreeSet<_>>().len() != unit.inputs.len() {
        return Err("two inputs have the same name");
    }
    Ok(())
}

/// Durations and texts of the operands; what they refer to is checked with the code.
fn statements(program: &Program, unit: &Unit) -> Check {
    unit.source.iter().try_for_each(|source| text(&source.text))?;
    unit.durations.iter().copied().try_for_each(duration)?;
    texts(&unit.texts)?;
    unit.steps.iter().try_for_each(|step| text(&step.name))?;
    unit.notes.iter().try_for_each(|note| template(&note.text))?;
    for expect in &unit.expects {
        duration(expect.within)?;
        if expect.held.is_some_and(|held| !(0..=expect.within).contains(&held)) {
            return Err("it expects a condition held for longer than its limit");
        }
    }
    for ask in &unit.asks {
        duration(ask.within)?;
        template(&ask.text)?;
        texts(&ask.choices)?;
        if ask.choices.iter().collect::<BTreeSet<_>>().len() != ask.choices.len() {
            return Err("a question has a choice twice");
        }
    }
    for transfer in &unit.transfers {
        duration(transfer.within)?;
        template(&transfer.file)?;
        text(&transfer.component)?;
        index_range(transfer.component_index)?;
    }
    for each in &unit.loops {
        if let crate::program::Sequence::List(values) = &each.over {
            values.iter().try_for_each(|one| value(program, one))?;
        }
    }
    Ok(())
}

/// Checks that a value can exist: its label does, its number is finite.
pub(super) fn value(program: &Program, value: &Value) -> Check {
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Duration(_) | Value::Time(_) => Ok(()),
        Value::Float(number) if number.is_finite() => Ok(()),
        Value::Float(_) => Err("a number is not finite"),
        Value::Str(value) => text(value),
        Value::Enum { def, label } => {
            let def = entry(&program.enums, *def).ok_or("an enumeration does not exist")?;
            entry(&def.labels, *label).map(|_| ()).ok_or("a label does not exist")
        }
    }
}

fn of_type(program: &Program, ty: &Type) -> Check {
    match ty {
        Type::Bool | Type::Str | Type::Duration | Type::Time => Ok(()),
        Type::Int { min, max } if min <= max => Ok(()),
        Type::Int { .. } => Err("a range is empty"),
        Type::Float { unit, min, max } => {
            texts(unit)?;
            if [min, max].into_iter().flatten().any(|limit| !limit.is_finite()) {
                return Err("a range has an end that is not finite");
            }
            let empty = min.zip(*max).is_some_and(|(min, max)| min > max);
            if empty { Err("a range is empty") } else { Ok(()) }
        }
        Type::Enum(def) => entry(&program.enums, *def).map(|_| ()).ok_or("an enumeration does not exist"),
    }
}

fn platform(program: &Program, index: u32) -> Check {
    entry(&program.platforms, index).map(|_| ()).ok_or("its platform does not exist")
}

fn index_range(range: Option<(i64, i64)>) -> Check {
    if range.is_some_and(|(first, last)| first > last) { Err("its index has an empty range") } else { Ok(()) }
}

fn duration(ns: i64) -> Check {
    if (0..=MAX_DURATION).contains(&ns) { Ok(()) } else { Err("a duration is outside 0 s to 365 d") }
}

fn text(text: &str) -> Check {
    if text.len() <= MAX_TEXT { Ok(()) } else { Err("a text is longer than 1 MiB") }
}

fn texts<'a>(all: impl IntoIterator<Item = &'a Arc<str>>) -> Check {
    all.into_iter().try_for_each(|one| text(one))
}

fn template(template: &Template) -> Check {
    template.parts.iter().try_for_each(|part| match part {
        Part::Text(plain) => text(plain),
        Part::Local(_) => Ok(()),
    })
}
