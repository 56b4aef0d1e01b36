//! Runs that command a target which nobody here wrote: procedure to wire and back, through the relay that records it.

#![cfg(test)]

use std::collections::BTreeSet;

use serde_json::{Value, json};
use stellar_tests::{
    hex,
    mission::{Mission, Ran},
    proxy::{Direction, Fate, Proxy, Seen},
    satrs_target::process::TargetProcess,
};

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");

const CATALOGUE: &str = "
platform: satrs
routes: {direct: {default: true}}
types:
  pump: {enum: {OFF: 0, LOW: 1, HIGH: 7}}
ccsds:
  source_id: 0
  ack: [acceptance, start, progress, completion]
  time: 7
  failure_code: 2
  failure_codes: {513: service not available}
  checksum: true
  correlation: request-id
  packets:
    connection_report: {apid: 2, service: 17, subtype: 2}
components:
  pus:
    telemetry:
      connection_report: {type: bool, freshness: on-change, ccsds: {packet: connection_report, constant: true}}
      report_count: {type: int, freshness: on-change, ccsds: {packet: connection_report, sequence_count: true}}
    telecommands:
      ping:
        changes_state: false
        verify: {stages: {accepted: 1s, started: 2s, completed: 2s}}
        ccsds: {apid: 2, service: 17, subtype: 1}
      perform:
        changes_state: false
        args:
          pump: {type: pump}
          power: {type: float, unit: W, range: 0..20}
          steps: {type: int, range: -8..7}
          name: {type: string}
        verify: {stages: {accepted: 1s, started: 2s, completed: 2s}}
        ccsds:
          apid: 2
          service: 8
          subtype: 1
          fields:
            - {constant: 42, bits: 16, encoding: unsigned, endian: little}
            - {arg: steps, bits: 4, encoding: signed}
            - {arg: pump, bits: 4, encoding: unsigned}
            - {arg: power, bits: 32, encoding: float}
            - {arg: name, bytes: 4, encoding: text}
";

const PROCEDURES: &str = r#"
procedure "Ping"
  uses sat: satrs
  step "Ping" retry 0 times
    send ping to sat.pus
    expect sat.pus.connection_report is true within 5 s
  let count = sat.pus.report_count
  note "report {count}"

procedure "Ping twice"
  uses sat: satrs
  step "Ping" retry 1 time
    send ping to sat.pus

procedure "Perform"
  uses sat: satrs
  step "Perform" retry 3 times
    send perform with pump = HIGH, power = 1500 mW, steps = -2, name = "ab" to sat.pus
"#;

struct Ground {
    target: TargetProcess,
    proxy: Proxy,
    mission: Mission,
}

impl Ground {
    fn start(fate: Option<Fate>) -> Self {
        let ground = Self::of("satrs", fate);
        ground.mission.write("catalogue/satrs.yaml", CATALOGUE).write("procedures/test.proc", PROCEDURES);
        ground
    }

    /// A mission without catalogue and procedures of its own, whose one target is of this platform.
    fn of(platform: &str, fate: Option<Fate>) -> Self {
        let target = TargetProcess::start(env!("CARGO_BIN_EXE_satrs-target"), 0).unwrap();
        let pass: Fate = Box::new(|seen| vec![seen.bytes.clone()]);
        let proxy = Proxy::with_fate(target.address(), fate.unwrap_or(pass)).unwrap();
        let mission = Mission::empty(STELLAR);
        mission.write("catalogue/.keep", "").write("procedures/.keep", "");
        mission.write(
            "stellar.yaml",
            format!(
                "catalogue: [catalogue/]\nprocedures: [procedures/]\nstore: {{embedded: {{path: .stellar}}}}\n\
                 targets:\n  satrs-1: {{platform: {platform}, link: {{ccsds: {{udp: {{target: \"{}\"}}}}}}}}\n",
                proxy.address()
            ),
        );
        Self { target, proxy, mission }
    }

    /// Runs a procedure to this exit code; its replay holds, and every telecommand in it is on the wire as the link's
    /// record has it, and no other.
    fn run(&self, procedure: &str, code: i32) -> Ran {
        self.run_with(procedure, "sat=satrs-1", code)
    }

    fn run_with(&self, procedure: &str, target: &str, code: i32) -> Ran {
        let ran = self.mission.ran(&["run", procedure, "-t", target, "--format", "json"]);
        assert_eq!(ran.code, code, "{}\n{:#?}", ran.err, ran.events);
        let said = self.mission.done(&["replay", ran.id()]);
        assert!(said.contains("the replay holds"), "{said}");
        let record = self.mission.record("satrs-1");
        let text = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let recorded: Vec<String> = record.iter().map(|line| text(line, "bytes")).collect();
        assert_eq!(recorded, self.up());
        let handed: BTreeSet<String> = record.iter().map(|line| text(line, "id")).collect();
        assert_eq!(handed.len(), record.len(), "each at most once");
        for sent in ran.of("telecommand_sent") {
            assert!(handed.contains(&text(sent, "id")), "{sent}");
        }
        ran
    }

    /// The telecommands on the wire.
    fn up(&self) -> Vec<String> {
        self.proxy.bytes(Direction::Up).iter().map(|bytes| hex::encode(bytes)).collect()
    }
}

fn statuses(ran: &Ran) -> Vec<(&str, &str)> {
    let statuses = ran.of("telecommand_status").into_iter();
    statuses.map(|status| (status["id"].as_str().unwrap(), status["status"].as_str().unwrap())).collect()
}

fn messages(ran: &Ran) -> Vec<String> {
    let finished = ran.of("step_finished").into_iter();
    finished.filter_map(|step| step["failure"]["message"].as_str().map(str::to_owned)).collect()
}

/// Whether a packet is a report TM[1,`subtype`].
fn is_report(seen: &Seen, subtype: u8) -> bool {
    seen.direction == Direction::Down && seen.bytes.get(7..9) == Some(&[1, subtype])
}

/// The sequence count that a report names.
fn names(seen: &Seen, count: u8) -> bool {
    seen.direction == Direction::Down && seen.bytes.get(20..24) == Some(&[0x18, 0x02, 0xc0, count])
}

#[test]
fn a_ping_is_verified_and_its_reply_seen_though_it_came_before_the_completion() {
    let ground = Ground::start(None);
    let ran = ground.run("Ping", 0);
    assert_eq!(ran.one("run_started")["links"]["satrs-1"], json!("ccsds"));
    let kinds: Vec<&str> = statuses(&ran).into_iter().map(|(_, status)| status).collect();
    assert_eq!(kinds.first(), Some(&"released"));
    assert_eq!(kinds.last(), Some(&"completed"));
    // The third packet of the target is the connection report: its sequence count is 2.
    assert_eq!(ran.one("noted")["text"], json!("report 2"));
    // The next run is another process: its packet counts on, and has the measured bytes.
    ground.run("Ping", 0);
    assert_eq!(ground.up(), ["1802c00000062f11010000a7d2", "1802c00100062f11010000e001"]);
}

#[test]
fn the_connection_test_of_the_standard_library_passes() {
    let ground = Ground::of("pus-c", None);
    let ran = ground.run_with("PUS connection test", "obc=satrs-1", 0);
    assert_eq!(ran.one("noted")["text"], json!("connection report 2 received"));
}

#[test]
fn a_service_that_the_target_lacks_fails_once_with_its_code_and_typed_fields_are_on_the_wire() {
    let ground = Ground::start(None);
    let ran = ground.run("Perform", 1);
    assert_eq!(ran.failures(), ["VERIFY_FAILED"], "never retried");
    let message = messages(&ran).concat();
    assert!(message.contains("513 (service not available)"), "{message}");
    // Constant 42, then -2 and HIGH in one byte, 1.5 W, the name.
    let data = "2a00e73fc0000061620000";
    let [packet] = <[String; 1]>::try_from(ground.up()).unwrap();
    assert_eq!(packet[..22], *"1802c00000112f08010000");
    assert_eq!(packet[22..packet.len() - 4], *data);
}

#[test]
fn a_target_that_is_gone_is_silence_and_a_time_out_that_names_the_stage() {
    let mut ground = Ground::start(None);
    ground.target.stop().unwrap();
    let ran = ground.run("Ping", 1);
    assert_eq!(ran.failures(), ["VERIFY_TIMEOUT"]);
    let message = messages(&ran).concat();
    assert!(message.contains("not reported accepted within 1 s"), "{message}");
    assert_eq!(ground.up().len(), 1);
}

#[test]
fn a_target_that_skips_the_start_report_is_verified_by_the_completion() {
    let fate: Fate = Box::new(|seen| if is_report(seen, 3) { Vec::new() } else { vec![seen.bytes.clone()] });
    Ground::start(Some(fate)).run("Ping", 0);
}

#[test]
fn acceptance_alone_is_no_completion() {
    // The handler died behind the acceptance.
    let fate: Fate = Box::new(|seen| match seen.direction {
        Direction::Down if !is_report(seen, 1) => Vec::new(),
        _ => vec![seen.bytes.clone()],
    });
    let ran = Ground::start(Some(fate)).run("Ping", 1);
    assert_eq!(ran.failures(), ["VERIFY_TIMEOUT"]);
    assert!(statuses(&ran).iter().any(|(_, status)| *status == "accepted"));
}

#[test]
fn late_answers_to_one_telecommand_do_not_verify_the_next() {
    // What answers the first ping is kept until the second is answered, and comes in place of that.
    let mut kept = Vec::new();
    let fate: Fate = Box::new(move |seen| {
        if names(seen, 0) {
            kept.push(seen.bytes.clone());
            Vec::new()
        } else if names(seen, 1) {
            std::mem::take(&mut kept)
        } else {
            vec![seen.bytes.clone()]
        }
    });
    let ground = Ground::start(Some(fate));
    let ran = ground.run("Ping twice", 1);
    assert_eq!(ran.failures(), ["VERIFY_TIMEOUT", "VERIFY_TIMEOUT"]);
    let sent: Vec<&str> = ran.of("telecommand_sent").iter().map(|sent| sent["id"].as_str().unwrap()).collect();
    let [first, second] = <[&str; 2]>::try_from(sent).unwrap();
    assert_eq!(ran.of("telecommand_sent")[1]["retry_of"], json!(first));
    let of_second: Vec<&str> =
        statuses(&ran).into_iter().filter(|(id, _)| *id == second).map(|(_, status)| status).collect();
    assert_eq!(of_second, ["released"]);
}

#[test]
fn noise_and_doubled_reports_change_nothing() {
    let fate: Fate = Box::new(|seen| match seen.direction {
        Direction::Up => vec![seen.bytes.clone()],
        Direction::Down => {
            let mut spoilt = seen.bytes.clone();
            spoilt[10] ^= 0x40;
            vec![spoilt, vec![0xff; 40], seen.bytes.clone(), seen.bytes.clone(), Vec::new()]
        }
    });
    Ground::start(Some(fate)).run("Ping", 0);
}
