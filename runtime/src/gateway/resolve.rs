//! From a telecommand in words to one of the catalogue.

use std::sync::Arc;

use stellar_vm::{
    catalogue::{Platform, Stage, Telecommand},
    value::Value,
};

use super::{TelecommandOrder, link::Command};

/// Splits `tcu[2]` into the component and its index; the index is `Err` where it is no number.
pub(super) fn component(text: &str) -> Result<(&str, Option<i64>), String> {
    let Some((name, rest)) = text.split_once('[') else { return Ok((text, None)) };
    let index = rest.strip_suffix(']').and_then(|index| index.parse().ok());
    index.map(|index| (name, Some(index))).ok_or_else(|| format!("`{text}` is no component"))
}

/// The telecommand of the catalogue that an order names, with every argument as a value of its type, and
/// the last stage of its verification.
pub(super) fn command(platform: &Platform, order: &TelecommandOrder) -> Result<(Command, Stage), String> {
    let (name, index) = component(&order.component)?;
    let (number, entry) = find(platform, name, &order.telecommand)
        .ok_or_else(|| format!("`{}` has no telecommand `{}`", platform.name, order.path()))?;
    let range = usize::try_from(entry.component).ok().and_then(|number| platform.components.get(number)?.index);
    match (range, index) {
        (None, None) => {}
        (Some((min, max)), Some(index)) if (min..=max).contains(&index) => {}
        (Some((min, max)), _) => return Err(format!("the index of `{}` is not in {min}..{max}", order.component)),
        (None, Some(_)) => return Err(format!("`{name}` has no index")),
    }
    if !platform.routes.iter().any(|route| route.name == order.route) {
        return Err(format!("`{}` has no route `{}`", platform.name, order.route));
    }
    if let Some(unknown) = order.args.keys().find(|given| entry.args.iter().all(|arg| arg.name != **given)) {
        return Err(format!("`{}` has no argument `{unknown}`", entry.name));
    }
    let mut args = Vec::with_capacity(entry.args.len());
    for arg in &entry.args {
        let given = order.args.get(&arg.name).ok_or_else(|| format!("argument `{}` has no value", arg.name))?;
        let value = Value::from_scalar(given, &arg.ty, &platform.enums).filter(|value| value.fits(&arg.ty));
        args.push(value.ok_or_else(|| format!("`{given}` does not fit argument `{}`", arg.name))?);
    }
    let command = Command {
        id: Arc::clone(&order.id),
        telecommand: number,
        index,
        args,
        route: Arc::clone(&order.route),
        deadline: order.deadline,
    };
    let last = entry.verify.stages.last().map_or(Stage::Completed, |(stage, _)| *stage);
    Ok((command, last))
}

/// A telecommand by the names of its component and its own.
pub(super) fn find<'a>(platform: &'a Platform, component: &str, name: &str) -> Option<(u32, &'a Telecommand)> {
    let of =
        |entry: &Telecommand| usize::try_from(entry.component).ok().and_then(|number| platform.components.get(number));
    let found = platform
        .telecommands
        .iter()
        .enumerate()
        .find(|(_, entry)| &*entry.name == name && of(entry).is_some_and(|of| &*of.name == component))?;
    Some((u32::try_from(found.0).ok()?, found.1))
}
