//! The state of a machine, as JSON, for people.

use std::fmt::Write;

use serde_json::Value;
use stellar_vm::time::duration_text;

/// The state in a few lines: elapsed against the bound, then each strand.
pub(crate) fn text(view: &Value) -> String {
    let of = |key: &str| view.get(key).and_then(Value::as_str).unwrap_or_default();
    let number = |key: &str| view.get(key).and_then(Value::as_i64).unwrap_or_default();
    let mut out = String::new();
    let _ = writeln!(out, "events     {}, the last at {}", number("seq"), of("at"));
    let bound = duration_text(number("bound_ns"));
    let added = number("added_ns");
    let added =
        if added > 0 { format!(" and {} by operators and interruptions", duration_text(added)) } else { String::new() };
    let _ = writeln!(out, "bound      {bound}{added}");
    let _ = writeln!(out, "machine    {}", of("state"));
    for strand in view.get("strands").and_then(Value::as_array).into_iter().flatten() {
        let path: Vec<&str> =
            strand.get("path").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let text = |key: &str| strand.get(key).and_then(Value::as_str).unwrap_or_default();
        let line = strand.get("line").and_then(Value::as_u64).unwrap_or_default();
        let doing = strand.pointer("/doing/kind").and_then(Value::as_str).unwrap_or_default();
        let attempt =
            strand.get("attempt").and_then(Value::as_u64).map(|n| format!(", attempt {n}")).unwrap_or_default();
        let until =
            strand.get("deadline").and_then(Value::as_str).map(|at| format!(", until {at}")).unwrap_or_default();
        let _ = writeln!(out, "  at       {}{attempt}", path.join(" / "));
        let _ = writeln!(out, "           {}:{line}: {} ({doing}{until})", text("file"), text("statement"));
        out.extend(strand.get("doing").and_then(asked));
    }
    out
}

/// What an operator is asked, with what can be said to it.
fn asked(doing: &Value) -> Option<String> {
    let texts = |key: &str| {
        let texts = doing.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        texts.collect::<Vec<_>>().join(", ")
    };
    let of = |key: &str| doing.get(key).and_then(Value::as_str);
    match of("kind")? {
        "answer" => Some(format!("open       question {}: {} [{}]\n", of("question")?, of("text")?, texts("choices"))),
        "decision" => {
            Some(format!("open       decision {}: {} [{}]\n", of("decision")?, of("reason")?, texts("options")))
        }
        _ => None,
    }
}
