//! One run whose log has every kind of transition, for tests of the whole log.

use crate::mission::{Mission, Ran};

/// A procedure whose log has every kind of transition and many kinds of facts.
pub const PROCEDURES: &str = r#"
procedure "Inner"
  uses sat: platform-v3
  input tcu: tcu_id
  step "Look" retry 1 time every 3 s
    check sat.tcu[tcu].responding is true

procedure "Everything"
  uses sat: platform-v3
  input tcu: tcu_id
  input power: float = 2.5
  wait 2 s
  let mode = sat.tcu[tcu].mode
  note "mode {mode}, power {power}"
  step "Permit"
    ask "heat it?" of "yes", "later" within 1 min as when
    note "{when}"
  step "Heat"
    ask "sure?" within 1 min
    send set_heater with power = 5 W to sat.tcu[tcu]
    expect sat.tcu[tcu].temperature > 50 degC held for 1 s within 3 s
  step "Upload"
    transfer "table.bin" to sat.tcu[tcu] within 1 min
  together
    branch
      wait 1 s
      do "TCU answers" with sat, tcu
    branch
      run "Inner" with sat, tcu retry 1 time
  on failure
    wait until 2020-01-01T00:00:00Z within 1 s
    note "cleaning up"
"#;

const SCENARIO: &str = "
telecommands:
  tcu.ping: {sets: {responding: true}}
telemetry:
  tcu.temperature: {profile: {sine: {mean: 20, amplitude: 5, period: 8s}}, noise: 0.5}
faults:
  - {telecommand: tcu.ping, first: 1, lose: true}
";

/// Runs it in virtual time, in a mission of its own.
#[must_use]
pub fn run(program: &str) -> (Mission, Ran) {
    let mission = Mission::simulated(program, PROCEDURES, SCENARIO);
    let arguments = [
        "-i",
        "tcu=2",
        "--answer",
        "heat it?=yes",
        "--answer",
        "sure?=yes",
        "--decide",
        "Heat=skip",
        "--decide",
        "Upload=skip",
    ];
    let ran = mission.run("Everything", &arguments);
    assert_eq!(ran.code, 1, "{}\n{:#?}", ran.err, ran.events);
    (mission, ran)
}
