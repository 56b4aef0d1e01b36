//! What a log leaves open for an operator.

use serde_json::Value;

/// Something that an operator is to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A question.
    Question {
        /// Its identifier.
        id: String,
        /// What can be answered.
        choices: Vec<String>,
    },
    /// A decision.
    Decision {
        /// Its identifier.
        id: String,
        /// Name of the step.
        step: String,
        /// What can be decided.
        options: Vec<String>,
    },
    /// The run is suspended.
    Suspended,
}

impl Asked {
    /// Its identifier; empty for a suspension.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Question { id, .. } | Self::Decision { id, .. } => id,
            Self::Suspended => "",
        }
    }
}

/// What is open behind the last of these lines.
#[must_use]
pub fn of<T: AsRef<str>>(lines: &[T]) -> Vec<Asked> {
    let mut open: Vec<(Value, Asked)> = Vec::new();
    for line in lines {
        let Ok(event) = serde_json::from_str::<Value>(line.as_ref()) else { continue };
        take(&mut open, &event);
    }
    open.into_iter().map(|(_, asked)| asked).collect()
}

fn take(open: &mut Vec<(Value, Asked)>, event: &Value) {
    let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let list = |key: &str| -> Vec<String> {
        let all = event.get(key).and_then(Value::as_array).into_iter().flatten();
        all.filter_map(Value::as_str).map(ToOwned::to_owned).collect()
    };
    let step = event.get("step").cloned().unwrap_or_default();
    let ends = |open: &mut Vec<(Value, Asked)>| {
        open.retain(|(of, asked)| *of != step || !matches!(asked, Asked::Question { .. }));
    };
    match text("type").as_str() {
        "question_asked" => open.push((step, Asked::Question { id: text("id"), choices: list("choices") })),
        "decision_required" => {
            ends(open);
            let name = list("step").pop().unwrap_or_default();
            open.push((step, Asked::Decision { id: text("id"), step: name, options: list("options") }));
        }
        "step_finished" => ends(open),
        "answered" => open.retain(|(_, asked)| asked.id() != text("question")),
        "decided" => open.retain(|(_, asked)| asked.id() != text("decision")),
        // Who is refused its leases is suspended; at the start of a run the end follows.
        "leases" if event.get("refused").is_none() => {}
        "suspended" | "leases" => {
            open.retain(|(_, asked)| matches!(asked, Asked::Decision { .. }));
            open.push((Value::Null, Asked::Suspended));
        }
        "resumed" => open.retain(|(_, asked)| *asked != Asked::Suspended),
        "run_finished" => open.clear(),
        _ => {}
    }
}
