//! What the campaigns run: one platform, two targets, and procedures that have every kind of step between them.

use crate::mission::Mission;

/// The targets, with their platform.
pub const TARGETS: [(&str, &str); 2] = [("probe-1", "probe"), ("probe-2", "probe")];

/// A procedure of the campaigns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Procedure {
    /// Its name.
    pub name: &'static str,
    /// The target of each `uses` name.
    pub targets: &'static [(&'static str, &'static str)],
}

/// The procedures: reads only and tries again; changes the state; asks; fails and cleans up; calls; two targets.
pub const PROCEDURES: [Procedure; 6] = [
    Procedure { name: "Reads", targets: &[("sat", "probe-1")] },
    Procedure { name: "Changes", targets: &[("sat", "probe-1")] },
    Procedure { name: "Asks", targets: &[("sat", "probe-1")] },
    Procedure { name: "Fails", targets: &[("sat", "probe-1")] },
    Procedure { name: "Calls", targets: &[("sat", "probe-1")] },
    Procedure { name: "Both", targets: &[("one", "probe-1"), ("two", "probe-2")] },
];

const CONFIGURATION: &str = "\
catalogue: [catalogue/]
procedures: [procedures/]
targets:
  probe-1: {platform: probe, link: {sim: {behaviours: sim.yaml}}}
  probe-2: {platform: probe, link: {sim: {behaviours: sim.yaml, seed: 2}}}
";

const CATALOGUE: &str = r#"
platform: probe
routes: {direct: {default: true}}
components:
  unit:
    telemetry:
      ready: {type: bool, period: 500ms, freshness: 2s}
      broken: {type: bool, period: 1s, freshness: 2s}
    telecommands:
      ping: {changes_state: false, verify: {within: 2s}}
      switch: {verify: {within: 2s}}
      arm: {verify: {within: 1s}}
"#;

const TEXTS: &str = r#"
procedure "Reads"
  uses sat: probe
  step "Ready" retry 3 times every 2 s
    send ping to sat.unit
    expect sat.unit.ready is true within 1 s
  wait 300 ms
  step "Still ready"
    check sat.unit.broken is false

procedure "Changes"
  uses sat: probe
  step "Ping"
    send ping to sat.unit
  step "Switch"
    send switch to sat.unit
    expect sat.unit.ready is true within 1 s
  wait 500 ms
  step "Arm twice"
    send ping to sat.unit
    repeat 2 times
      send arm to sat.unit
    wait 100 ms
    send switch to sat.unit
  note "done"

procedure "Asks"
  uses sat: probe
  step "Permit"
    ask "go on?" within 20 s
    send switch to sat.unit
  step "Confirm"
    send arm to sat.unit
    ask "did it click?" of "yes", "perhaps" within 20 s
    send ping to sat.unit

procedure "Fails"
  uses sat: probe
  step "Switch back"
    send switch to sat.unit
    check sat.unit.broken is true
  on failure
    wait 100 ms
    step "Make safe"
      send arm to sat.unit
    note "safe"

procedure "Calls"
  uses sat: probe
  run "Reads" with sat retry 1 time
  repeat 2 times
    step "Turn"
      send switch to sat.unit
  run "Changes" with sat

procedure "Both"
  uses one: probe
  uses two: probe
  together
    branch
      step "Switch one"
        send switch to one.unit
        wait 200 ms
      step "Ping one"
        send ping to one.unit
    branch
      step "Ping two" retry 2 times
        send ping to two.unit
      wait 150 ms
      step "Switch two"
        send arm to two.unit
        send switch to two.unit
  step "After both"
    send ping to one.unit
    send arm to two.unit
"#;

const USUAL: &str = "
telemetry: {unit.broken: false}
telecommands:
  unit.ping: {reports: {accepted: 20ms, started: 20ms, completed: 40ms}, sets: {ready: true}}
  unit.switch: {reports: {accepted: 20ms, started: 20ms, completed: 40ms}, sets: {ready: true}}
  unit.arm: {reports: {accepted: 20ms, started: none, completed: 60ms}}
";

/// What goes wrong with the targets, beside what kills processes.
pub const SCENARIOS: [&str; 6] = [
    "",
    "faults:\n  - {telecommand: unit.switch, unreported: true, first: 1}\n",
    "faults:\n  - {telecommand: unit.ping, lose: true, nth: 1}\n",
    "faults:\n  - {telecommand: unit.arm, fail: {stage: completed, code: 3 (busy)}, nth: 1}\n",
    "faults:\n  - {telecommand: unit.switch, refuse: no carrier, nth: 1}\n  - {telemetry: unit.ready, silent: true, until: 3s}\n",
    "faults:\n  - {telecommand: unit.switch, delay: 1500ms, nth: 1}\n  - {link: down, from: 500ms, until: 1s}\n",
];

/// A mission folder of the campaigns, with a scenario of [`SCENARIOS`].
#[must_use]
pub fn mission(stellar: &str, scenario: &str) -> Mission {
    let mission = Mission::empty(stellar);
    mission.write("stellar.yaml", CONFIGURATION).write("catalogue/probe.yaml", CATALOGUE);
    mission.write("procedures/campaign.proc", TEXTS).write("sim.yaml", format!("{USUAL}{scenario}"));
    mission
}
