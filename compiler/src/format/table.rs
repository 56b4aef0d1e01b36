//! The definitions for a reader: one line each, its calls below it.

use stellar_vm::{program::Policy, time::duration_text};

use super::json::{JsonCall, JsonDefinition, JsonPolicy, definitions};
use crate::{pipeline::Checked, tree::DefinitionId};

/// The table of the definitions that [`definitions`] lists; empty where there is none. Each line ends.
#[must_use]
pub fn table(checked: &Checked) -> String {
    let mut rows = vec![["", "MAXIMUM", "ATTEMPTS", "STATEMENTS", "RETRY"].map(String::from)];
    for definition in definitions(checked) {
        rows.push(row(&definition));
        rows.extend(definition.calls.iter().map(call));
    }
    if rows.len() == 1 { String::new() } else { aligned(&rows) }
}

fn row(it: &JsonDefinition) -> [String; 5] {
    let mut maximum = duration_text(it.max_ns);
    if it.on_failure_ns > 0 {
        maximum.push_str(&format!(" (on failure {})", duration_text(it.on_failure_ns)));
    }
    let eligible = if it.eligible { "eligible" } else { "never: changes the on-board state" };
    [
        format!("{} \"{}\"  {}:{}", it.kind, it.name, it.file, it.line),
        maximum,
        it.attempts_max.to_string(),
        it.statements.to_string(),
        eligible.to_owned(),
    ]
}

fn call(it: &JsonCall) -> [String; 5] {
    [
        format!("  \"{}\"  line {}", it.name, it.line),
        duration_text(it.max_ns),
        it.attempts_max.to_string(),
        String::new(),
        it.policy.as_ref().map_or_else(|| String::from("none"), policy),
    ]
}

fn policy(it: &JsonPolicy) -> String {
    let written = written(&Policy { times: it.times, every: it.every_ns, total: it.for_ns });
    match it.from {
        "call" => written,
        "step" => format!("{written} (of the step)"),
        _ => format!("{written} (default)"),
    }
}

/// A policy as it is written.
fn written(policy: &Policy) -> String {
    let mut parts = Vec::new();
    match policy.times {
        Some(1) => parts.push(String::from("1 time")),
        Some(times) => parts.push(format!("{times} times")),
        None => {}
    }
    parts.extend(policy.every.map(|every| format!("every {}", duration_text(every))));
    parts.extend(policy.total.map(|total| format!("for {}", duration_text(total))));
    parts.join(" ")
}

/// Rows in columns as wide as their widest cell.
fn aligned(rows: &[[String; 5]]) -> String {
    let mut widths = [0; 5];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (width, cell) in widths.iter().zip(row) {
            line.push_str(cell);
            let missing = width.saturating_sub(cell.chars().count()).saturating_add(2);
            line.extend(std::iter::repeat_n(' ', missing));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// The critical path of a definition for a reader: duration, turns or attempts, and the text, indented by depth.
#[must_use]
pub fn critical_path(checked: &Checked, id: DefinitionId) -> String {
    let mut out = String::new();
    for link in checked.critical_path(id) {
        let text = crate::lower::fold(checked.sources().text_of(link.place));
        let times = if link.times > 1 { format!(" ({} times)", link.times) } else { String::new() };
        let indent = "  ".repeat(link.depth.saturating_add(1));
        let location = checked.sources().location(link.place);
        out.push_str(&format!("{indent}{}{times}  {text}  {location}\n", duration_text(link.ns)));
    }
    out
}
