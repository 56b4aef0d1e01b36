//! `stellar check [PATH…]`.

use serde::Serialize;
use stellar_compiler::{
    diagnostics::{JsonDiagnostic, json},
    format::{JsonDefinition, critical_path, definitions, table},
};

use crate::{
    args::{Check, Format, Global},
    exit::{Exit, Failure},
    mission::{Compiled, Mission},
    output,
};

/// What `--format json` prints.
#[derive(Serialize)]
struct Checked {
    schema: u32,
    diagnostics: Vec<JsonDiagnostic>,
    definitions: Vec<JsonDefinition>,
}

/// Checks, and lists the definitions of the files named.
pub(super) fn check(args: &Check, global: &Global) -> Result<Exit, Failure> {
    let mut mission = Mission::find(global, &args.sources.paths)?;
    let compiled = mission.compile(&args.sources, &[])?;
    match args.format {
        Format::Json => as_json(&compiled),
        Format::Text => {
            compiled.report(global)?;
            let mut text = table(&compiled.checked);
            if args.critical_path {
                text.push_str(&paths(&compiled));
            }
            output::print(&text)?;
            Ok(Exit::Done)
        }
    }
}

fn as_json(compiled: &Compiled<'_>) -> Result<Exit, Failure> {
    let findings = compiled.findings();
    let diagnostics = findings.iter().flat_map(|(one, sources)| json(std::slice::from_ref(one), sources)).collect();
    output::print_json(&Checked { schema: 1, diagnostics, definitions: definitions(&compiled.checked) })?;
    let wrong = findings.iter().any(|(one, _)| one.is_error());
    Ok(if wrong { Exit::Failed } else { Exit::Done })
}

/// The critical path of each definition that is listed.
fn paths(compiled: &Compiled<'_>) -> String {
    let listed = definitions(&compiled.checked);
    let found = listed.iter().filter_map(|it| Some((it, compiled.checked.find(&it.name)?)));
    found
        .map(|(it, id)| {
            format!("\ncritical path of {} \"{}\"\n{}", it.kind, it.name, critical_path(&compiled.checked, id))
        })
        .collect()
}
