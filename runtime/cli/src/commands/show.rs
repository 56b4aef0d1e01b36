//! `stellar show RUN`.

use std::fmt::Write;

use super::runs::standing;
use crate::{
    args::{Format, Global, Show},
    exit::{Exit, Failure},
    look::{Look, block_on},
    mission::Mission,
    output, program, state,
};
use serde_json::Value;

/// Shows one run: its record, and how its machine stands at the end of its log.
pub(super) fn show(args: &Show, global: &Global) -> Result<Exit, Failure> {
    let mission = Mission::find(global, &[])?;
    mission.sound(global)?;
    let run = block_on(async {
        let look = Look::at(&mission.store()).await?;
        let id = look.find(&args.run).await?;
        let mut run = look.run(&id).await?;
        let view = match run.get("view") {
            Some(_) => None,
            None => replayed(&look, &id, &run).await?,
        };
        if let Some(fields) = run.as_object_mut() {
            fields.entry("schema").or_insert_with(|| 1.into());
            fields.extend(view.map(|view| ("view".to_owned(), view)));
        }
        Ok(run)
    })?;
    match args.format {
        Format::Json => output::print_json(&run)?,
        Format::Text => output::print(&text(&run))?,
    }
    Ok(Exit::Done)
}

/// The state of a run that nobody has in a process: its log, run through the machine. A halted run need not have one:
/// its record says what is wrong.
async fn replayed(look: &Look, id: &str, run: &Value) -> Result<Option<Value>, Failure> {
    let halted = run.get("state").is_some_and(|state| state == "halted");
    match view(look, id, run).await {
        Err(_) if halted => Ok(None),
        view => view.map(Some),
    }
}

async fn view(look: &Look, id: &str, run: &Value) -> Result<Value, Failure> {
    let hash = run.get("artifact").and_then(Value::as_str).unwrap_or_default();
    let loaded = program::prove(look.artifact(hash).await?, "the artifact of the run")?;
    let lines = look.log(id).await?;
    let replay = stellar_vm::machine::replay(loaded.verified, lines.iter().map(String::as_str));
    let replay = replay.map_err(|e| Failure::failed(format!("{}: {e}", e.code())))?;
    serde_json::to_value(replay.machine().view()).map_err(|e| Failure::failed(format!("no JSON can be made: {e}")))
}

fn text(run: &Value) -> String {
    let of = |key: &str| run.get(key).and_then(Value::as_str).unwrap_or_default();
    let pairs = |key: &str| {
        let pairs = run.get(key).and_then(Value::as_object).into_iter().flatten();
        pairs.map(|(name, value)| format!("{name}={}", plain(value))).collect::<Vec<_>>().join(" ")
    };
    let mut out = String::new();
    let state = run.get("outcome").and_then(Value::as_str).map_or_else(|| standing(run), ToOwned::to_owned);
    let _ = writeln!(out, "run        {}", of("run"));
    let _ = writeln!(out, "procedure  \"{}\"", of("procedure"));
    let _ = writeln!(out, "state      {state}");
    if let Some(reason) = run.get("reason").and_then(Value::as_str) {
        let _ = writeln!(out, "reason     {reason}");
    }
    let _ = writeln!(out, "targets    {}", pairs("targets"));
    let _ = writeln!(out, "inputs     {}", pairs("inputs"));
    let _ = writeln!(out, "asked by   {} at {}", of("by"), of("requested_at"));
    let _ = writeln!(out, "artifact   {}", of("artifact"));
    if let Some(view) = run.get("view") {
        out.push_str(&state::text(view));
    }
    if state == "left" {
        let _ = writeln!(out, "\nits process is gone; go on with: stellar resume {}", of("run"));
    }
    out
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}
