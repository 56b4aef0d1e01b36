//! What is received together is judged together: no statement sees half a packet.

#![cfg(test)]

use stellar_tests::{
    mission::{Mission, Ran},
    proof,
};

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");

/// One packet with three parameters.
const CATALOGUE: &str = "
platform: packet
components:
  unit:
    telemetry:
      first: {type: int, period: 1s}
      second: {type: int, period: 1s}
      third: {type: int, period: 1s}
    telecommands:
      go: {requires: \"second is 2\", changes_state: false, verify: {within: 1s}}
";

/// Runs the procedure "Test" with this body; its log is proved.
fn run(body: &str, scenario: &str, code: i32) -> Ran {
    let mission = Mission::empty(STELLAR);
    mission.write("catalogue/packet.yaml", CATALOGUE).write("sim.yaml", scenario);
    mission.write(
        "stellar.yaml",
        "catalogue: [catalogue/]\nprocedures: [procedures/]\ntargets:\n  unit-1: {platform: packet, link: {sim: \
         {behaviours: sim.yaml}}}\n",
    );
    mission.write("procedures/test.proc", format!("procedure \"Test\"\n  uses sat: packet\n{body}"));
    let ran = mission.run("Test", &[]);
    assert_eq!(ran.code, code, "{}\n{:#?}", ran.err, ran.events);
    proof::of(&mission, ran.id());
    ran
}

const FIXED: &str = "telemetry: {unit.first: 1, unit.second: 2, unit.third: 3}\n";

#[test]
fn what_stands_behind_a_wait_reads_the_whole_packet_that_ended_it() {
    for body in [
        "  wait until sat.unit.first is 1 within 5 s\n  check sat.unit.second is 2 and sat.unit.third is 3\n",
        "  wait until sat.unit.second is 2 within 5 s\n  check sat.unit.first is 1 and sat.unit.third is 3\n",
        "  wait until sat.unit.third is 3 within 5 s\n  check sat.unit.first is 1 and sat.unit.second is 2\n",
        "  wait until sat.unit.first is 1 within 5 s\n  let third = sat.unit.third\n  note \"{third}\"\n",
        "  step \"Go\" retry 0 times\n    expect sat.unit.first is 1 within 5 s\n    send go to sat.unit\n",
    ] {
        run(body, FIXED, 0);
    }
}

#[test]
fn a_branch_that_reads_does_not_keep_another_from_what_it_waits_for() {
    let body = "  together\n    branch\n      wait until sat.unit.first is 1 within 5 s\n      check sat.unit.third is 3\n    \
                branch\n      wait until sat.unit.second is 2 within 5 s\n      check sat.unit.first is 1\n";
    run(body, FIXED, 0);
}

#[test]
fn a_condition_is_never_true_on_half_a_packet() {
    // All three count in step: in no packet do two of them differ.
    let counting = "{profile: {steps: {values: [0, 1], every: 1s, repeat: true}}}";
    let scenario =
        format!("telemetry:\n  unit.first: {counting}\n  unit.second: {counting}\n  unit.third: {counting}\n");
    for (one, other) in [("first", "second"), ("second", "first"), ("second", "third"), ("third", "second")] {
        let body = format!("  wait until sat.unit.{one} is 1 and sat.unit.{other} is 0 within 10 s\n");
        let ran = run(&body, &scenario, 1);
        assert_eq!(ran.failures(), ["WAIT_FAILED"], "{one} and {other}: {:#?}", ran.events);
    }
}
