//! The slice of the catalogue that the code uses.

use std::sync::Arc;

use stellar_vm::{
    catalogue::{Argument, Verification},
    compare::{parameter_hash, route_hash, telecommand_hash},
    condition::Expr,
    program::{ParameterUse, RouteUse, TelecommandUse},
    value::{EnumDef, Type, Value},
};

use super::tables::{Entry, Tables};
use crate::{catalogue::Platform, source::SourceFile};

/// Notes what the entries that the code uses use themselves: `requires` and `until` read parameters, and types name
/// enumerations.
pub(super) fn note(tables: &mut Tables<'_>) -> Option<()> {
    telecommands(tables)?;
    parameters(tables)?;
    Some(())
}

fn platform<'a>(tables: &Tables<'a>, number: u32) -> Option<&'a Platform> {
    tables.catalogue.get(number)
}

pub(super) fn platforms(tables: &Tables<'_>) -> Option<Vec<Arc<str>>> {
    let name = |number| Some(platform(tables, number)?.compiled.name.clone());
    tables.platforms.keys().into_iter().map(name).collect()
}

pub(super) fn enums(tables: &Tables<'_>) -> Option<Vec<EnumDef>> {
    let def = |(number, index)| crate::catalogue::at(&platform(tables, number)?.compiled.enums, index).cloned();
    tables.enums.keys().into_iter().map(def).collect()
}

pub(super) fn files(tables: &Tables<'_>) -> Vec<Arc<str>> {
    let name = |id| tables.sources.get(id).map_or("", SourceFile::name).into();
    tables.files.keys().into_iter().map(name).collect()
}

pub(super) fn parameters(tables: &mut Tables<'_>) -> Option<Vec<ParameterUse>> {
    tables.parameters.keys().into_iter().map(|entry| parameter(tables, entry)).collect()
}

fn parameter(tables: &mut Tables<'_>, (number, index): Entry) -> Option<ParameterUse> {
    let from = platform(tables, number)?;
    let found = from.parameter_at(index)?;
    let component = from.component_at(found.component)?;
    Some(ParameterUse {
        platform: tables.platforms.number(number),
        component: component.name.clone(),
        index: component.index,
        name: found.name.clone(),
        ty: ty(tables, number, &found.ty),
        period: found.period,
        freshness: found.freshness,
        hash: parameter_hash(&from.compiled, index)?,
    })
}

pub(super) fn telecommands(tables: &mut Tables<'_>) -> Option<Vec<TelecommandUse>> {
    tables.telecommands.keys().into_iter().map(|entry| telecommand(tables, entry)).collect()
}

fn telecommand(tables: &mut Tables<'_>, (number, index): Entry) -> Option<TelecommandUse> {
    let from = platform(tables, number)?;
    let found = from.telecommand_at(index)?;
    let component = from.component_at(found.component)?;
    let args = found.args.iter().map(|argument| Argument {
        name: argument.name.clone(),
        ty: ty(tables, number, &argument.ty),
        default: argument.default.as_ref().map(|default| value(tables, number, default)),
        fixed: argument.fixed.as_ref().map(|fixed| value(tables, number, fixed)),
    });
    let args = args.collect();
    let verify = &found.verify;
    Some(TelecommandUse {
        platform: tables.platforms.number(number),
        component: component.name.clone(),
        index: component.index,
        name: found.name.clone(),
        changes_state: found.changes_state,
        hazardous: found.hazardous.clone(),
        args,
        requires: found.requires.as_ref().map(|requires| expr(tables, number, requires)),
        verify: Verification {
            window: verify.window,
            default_window: verify.default_window,
            stages: verify.stages.clone(),
            until: verify.until.as_ref().map(|until| expr(tables, number, until)),
        },
        hash: telecommand_hash(&from.compiled, index)?,
    })
}

pub(super) fn routes(tables: &mut Tables<'_>) -> Option<Vec<RouteUse>> {
    let entries = tables.routes.keys();
    let route = |(number, index): Entry| {
        let from = platform(tables, number)?;
        let found = crate::catalogue::at(&from.compiled.routes, index)?;
        Some(RouteUse {
            platform: tables.platforms.number(number),
            name: found.name.clone(),
            hash: route_hash(&from.compiled, index)?,
        })
    };
    entries.into_iter().map(route).collect()
}

/// A type of a platform as one of the program.
fn ty(tables: &mut Tables<'_>, platform: u32, ty: &Type) -> Type {
    match ty {
        Type::Enum(index) => Type::Enum(tables.enums.number((platform, *index))),
        ty => ty.clone(),
    }
}

/// A value of a platform as one of the program.
fn value(tables: &mut Tables<'_>, platform: u32, value: &Value) -> Value {
    match value {
        Value::Enum { def, label } => Value::Enum { def: tables.enums.number((platform, *def)), label: *label },
        value => value.clone(),
    }
}

/// A condition of a platform as one of the program.
fn expr(tables: &mut Tables<'_>, platform: u32, expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    for constant in &mut expr.constants {
        *constant = value(tables, platform, constant);
    }
    for read in &mut expr.reads {
        read.parameter = tables.parameters.number((platform, read.parameter));
    }
    expr
}
