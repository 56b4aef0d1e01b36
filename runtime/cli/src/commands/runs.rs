//! `stellar runs`.

use serde_json::{Value, json};

use crate::{
    args::{Format, Global, Runs},
    exit::{Exit, Failure},
    look::{Look, block_on},
    mission::Mission,
    output,
};

/// Lists the runs, the oldest first.
pub(super) fn runs(args: &Runs, global: &Global) -> Result<Exit, Failure> {
    let mission = Mission::find(global, &[])?;
    mission.sound(global)?;
    let runs = block_on(async { Look::at(&mission.store()).await?.runs().await })?;
    match args.format {
        Format::Json => output::print_json(&json!({"schema": 1, "runs": runs}))?,
        Format::Text if runs.is_empty() => output::print("there are no runs yet\n")?,
        Format::Text => output::print(&runs.iter().map(line).collect::<String>())?,
    }
    Ok(Exit::Done)
}

/// A run on one line.
fn line(run: &Value) -> String {
    let text = |key: &str| run.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let state = run.get("outcome").and_then(Value::as_str).map_or_else(|| standing(run), ToOwned::to_owned);
    format!("{}  {:10}  {}  \"{}\"\n", text("run"), state, text("requested_at"), text("procedure"))
}

/// How a run stands that has not ended; one that its process left says so.
pub(super) fn standing(run: &Value) -> String {
    let state = run.get("state").and_then(Value::as_str).unwrap_or_default();
    let under_way = run.get("under_way").and_then(Value::as_bool).unwrap_or_default();
    if !under_way && (state == "running" || state == "requested") { "left".to_owned() } else { state.to_owned() }
}
