//! The procedures of the specification, as texts.

/// "TCU answers" and "AOS acquisition".
pub const PROCEDURES: &str = r#"# On the step: its own policy, wherever it is called.
step "TCU answers" retry 3 times every 2 s
  uses sat: platform-v3
  input tcu: tcu_id
  send ping to sat.tcu[tcu] via direct
  expect sat.tcu[tcu].responding is true within 5 s

# On the call: overrides the policy of the step, for this call only.
procedure "AOS acquisition"
  uses sat: platform-v3
  input tcu: tcu_id

  do "TCU answers" with sat, tcu retry every 5 s for 3 min
"#;

/// A step that cannot be retried.
pub const STANDBY: &str = r#"step "Standby" retry 2 times
  uses sat: platform-v3
  input tcu: tcu_id
  send standby to sat.tcu[tcu]
"#;

/// The first six lines of the report on [`STANDBY`].
pub const REPORT: &str = "procedure::retry-not-allowed

  × this step cannot be retried: it sends telecommands that change the on-board state
   ╭─[test.proc:1:16]
 1 │ step \"Standby\" retry 2 times
   ·                ─────────────
";

/// The procedures with another policy on the step and on the call; an empty text is none.
#[must_use]
pub fn with_policies(step: &str, call: &str) -> String {
    let text = PROCEDURES.replace(" retry 3 times every 2 s", step).replace(" retry every 5 s for 3 min", call);
    assert!(step.is_empty() || text.contains(step), "the policy of the step is in the text");
    text
}
