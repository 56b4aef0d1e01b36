//! The head of a program and its slice of the catalogue.

use alloc::{format, string::String, vec::Vec};

use super::{duration_text, expr, line, nowhere, path, policy_text, range, type_text, value_text};
use crate::{
    catalogue::{Argument, Freshness, Stage, Verification},
    program::{ParameterUse, Program, TelecommandUse},
    verify::entry,
};

pub(super) fn print(program: &Program, out: &mut String) {
    let defaults = &program.parameters_of_compilation;
    line(out, format_args!("program, compiler {}", program.compiler));
    let retry = defaults.retry.as_ref().map_or_else(|| String::from("no retry"), policy_text);
    let (window, freshness) = (duration_text(defaults.window), duration_text(defaults.freshness));
    line(out, format_args!("  default {retry}, window {window}, freshness {freshness}"));
    for file in &program.files {
        line(out, format_args!("  file {file}"));
    }
    for def in &program.enums {
        let labels: Vec<String> = def.labels.iter().map(|(label, number)| format!("{label} = {number}")).collect();
        line(out, format_args!("  enum {}: {}", def.name, labels.join(", ")));
    }
    for used in &program.parameters {
        parameter(program, used, out);
    }
    for used in &program.telecommands {
        telecommand(program, used, out);
    }
    for used in &program.routes {
        line(out, format_args!("  route {} {}  {}", platform(program, used.platform), used.name, hash(&used.hash)));
    }
}

fn platform(program: &Program, index: u32) -> String {
    entry(&program.platforms, index).map_or_else(|| nowhere(index), |name| String::from(&**name))
}

/// The first half of the digits that matter to a reader.
fn hash(hash: &[u8; 32]) -> String {
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn parameter(program: &Program, used: &ParameterUse, out: &mut String) {
    let place = path(&used.component, range(used.index).as_deref(), &used.name);
    let ty = type_text(&program.enums, &used.ty);
    let period = used.period.map(|period| format!(", every {}", duration_text(period))).unwrap_or_default();
    let fresh = match used.freshness {
        Freshness::Within(ns) => format!("fresh {}", duration_text(ns)),
        Freshness::OnChange => String::from("on change"),
    };
    let platform = platform(program, used.platform);
    line(out, format_args!("  parameter {platform} {place}: {ty}{period}, {fresh}  {}", hash(&used.hash)));
}

fn telecommand(program: &Program, used: &TelecommandUse, out: &mut String) {
    let place = path(&used.component, range(used.index).as_deref(), &used.name);
    let effect = if used.changes_state { "changes the state" } else { "no effect on board" };
    let platform = platform(program, used.platform);
    line(out, format_args!("  telecommand {platform} {place}: {effect}  {}", hash(&used.hash)));
    if let Some(reason) = &used.hazardous {
        line(out, format_args!("    hazardous: {reason}"));
    }
    for argument in &used.args {
        let Argument { name, ty, default, fixed } = argument;
        let default = default.as_ref().map(|value| format!(", default {}", value_text(&program.enums, value)));
        let fixed = fixed.as_ref().map(|value| format!(", always {}", value_text(&program.enums, value)));
        let (default, fixed) = (default.unwrap_or_default(), fixed.unwrap_or_default());
        line(out, format_args!("    argument {name}: {}{default}{fixed}", type_text(&program.enums, ty)));
    }
    if let Some(requires) = &used.requires {
        line(out, format_args!("    requires {}", expr::of_catalogue(program, requires)));
    }
    let Verification { window, default_window, stages, until } = &used.verify;
    let default = if *default_window { " (default)" } else { "" };
    let stages = stages.iter().map(|(stage, limit)| {
        let stage = match stage {
            Stage::Accepted => "accepted",
            Stage::Started => "started",
            Stage::Completed => "completed",
        };
        format!(", {stage} within {}", duration_text(*limit))
    });
    let stages: String = stages.collect();
    let until = until.as_ref().map(|until| format!(", until {}", expr::of_catalogue(program, until)));
    line(out, format_args!("    window {}{default}{stages}{}", duration_text(*window), until.unwrap_or_default()));
}
