//! The whole system against its limits and its peers: compilation as a process, a telecommand from its transition to the
//! link, waiting runs, pings to a target that nobody here wrote.
//!
//! Prints a row a figure: what, figure, limit, pass or MISS. Nothing is asserted of a time.

#![expect(clippy::expect_used, reason = "a benchmark that cannot run ends at once")]

use std::{
    fmt::Write as _,
    fs,
    io::Read,
    net::UdpSocket,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;
use stellar_tests::{
    hex, instance,
    mission::{Mission, at, instant},
    satrs_target::process::TargetProcess,
};

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");
const TARGET: &str = env!("CARGO_BIN_EXE_satrs-target");
const ROUNDS: usize = 7;
const PINGS: u32 = 200;
const WAITING: usize = 500;

fn row(what: &str, figure: &str, limit: &str, reached: bool) {
    println!("| {what} | {figure} | {limit} | {} |", if reached { "pass" } else { "MISS" });
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A program of about so many lines: steps of ten lines, called one after the other.
fn program(lines: usize) -> String {
    let mut text = String::new();
    let steps = (lines / 10).max(1);
    for step in 0..steps {
        let _ = write!(
            text,
            "step \"Step {step}\" retry 2 times every 20 s\n  uses sat: platform-v3\n  input tcu: tcu_id\n  \
             send ping to sat.tcu[tcu] via direct\n  expect sat.tcu[tcu].responding is true within 5 s\n  \
             if sat.tcu[tcu].temperature > {}.5 degC\n    note \"warm\"\n  else\n    wait {} s\n\n",
            step % 60,
            step % 9 + 1
        );
    }
    text.push_str("procedure \"All\"\n  uses sat: platform-v3\n");
    for step in (0..steps).step_by(steps.div_ceil(100)) {
        let _ = writeln!(text, "  do \"Step {step}\" with sat, {}", step % 4 + 1);
    }
    text
}

/// Seconds and greatest resident memory, in MB, of a process that must end well.
fn process(mut command: Command) -> (f64, f64) {
    let begin = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0.0_f64;
    let ended = loop {
        // The high-water mark only grows: the last one read is that of the end, less what grew in between.
        if let Ok(text) = fs::read_to_string(&status)
            && let Some(line) = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))
        {
            let kib: f64 = line.trim().trim_end_matches(" kB").parse().unwrap_or(0.0);
            peak = peak.max(kib / 1024.0);
        }
        if let Some(ended) = child.try_wait().expect("it can be waited for") {
            break ended;
        }
        std::thread::sleep(Duration::from_micros(200));
    };
    let seconds = begin.elapsed().as_secs_f64();
    let mut err = String::new();
    if let Some(mut pipe) = child.stderr.take() {
        let _ = pipe.read_to_string(&mut err);
    }
    assert!(ended.success(), "{err}");
    (seconds, peak)
}

fn compiling() {
    let mut at_10_000 = f64::NAN;
    for lines in [10, 1_000, 10_000, 100_000] {
        let mission = Mission::empty(STELLAR);
        let text = program(lines);
        mission.write("stellar.yaml", "{}\n").write("test.proc", &text);
        let rounds = if lines > 10_000 { 3 } else { ROUNDS };
        let runs: Vec<(f64, f64)> =
            (0..rounds).map(|_| process(mission.command(&["compile", "test.proc", "-o", "out.stc"]))).collect();
        let seconds = median(runs.iter().map(|run| run.0).collect());
        let memory = runs.iter().map(|run| run.1).fold(0.0, f64::max);
        let what = format!("`stellar compile` of {} lines, the whole process", text.lines().count());
        let figure = format!("{:.1} ms, {memory:.0} MB", seconds * 1e3);
        match lines {
            10 => row(&what, &figure, "15 ms", seconds < 0.015),
            10_000 => {
                at_10_000 = seconds;
                row(&what, &figure, "170 ms, 60 MB", seconds < 0.17 && memory < 60.0);
            }
            100_000 => {
                row(&what, &figure, "-", true);
                let ratio = seconds / at_10_000 / 10.0;
                row(
                    "time for a line at 100,000 lines to that at 10,000",
                    &format!("{ratio:.2}×"),
                    "1.2× (linear)",
                    ratio < 1.2,
                );
            }
            _ => row(&what, &figure, "-", true),
        }
    }
}

const PROBE: &str = "
platform: probe
components:
  eps:
    telecommands:
      ping: {changes_state: false, verify: {within: 5s}}
";

const PROBED: &str = "
procedure \"Pings\"
  uses sat: probe
  step \"Pings\"
    repeat 200 times
      send ping to sat.eps

procedure \"Waits\"
  uses sat: probe
  wait 1 h
";

fn probe(procedures: &str) -> Mission {
    let mission = Mission::empty(STELLAR);
    mission.write(
        "stellar.yaml",
        "catalogue: [catalogue/]\nprocedures: [procedures/]\n\
         targets: {probe-1: {platform: probe, link: {sim: {behaviours: sim.yaml}}}}\n",
    );
    mission.write("catalogue/probe.yaml", PROBE).write("procedures/test.proc", procedures);
    let quick = "telecommands: {eps.ping: {delay: 0s, reports: {accepted: 0s, started: 0s, completed: 1ms}}}\n";
    mission.write("sim.yaml", quick);
    mission
}

/// Two commits in turn are the least that a telecommand costs before it leaves: its event, and the gateway's claim.
fn two_commits() -> f64 {
    const TABLE: redb::TableDefinition<'_, u64, &[u8]> = redb::TableDefinition::new("raw");
    let folder = tempfile::tempdir().expect("a folder");
    let database = redb::Database::create(folder.path().join("raw.redb")).expect("redb opens");
    let pairs = (0..u64::from(PINGS)).map(|pair| {
        let begin = Instant::now();
        for half in 0..2 {
            let txn = database.begin_write().expect("a transaction");
            txn.open_table(TABLE).expect("a table").insert(pair * 2 + half, [0_u8; 400].as_slice()).expect("a write");
            txn.commit().expect("a commit");
        }
        begin.elapsed().as_secs_f64()
    });
    median(pairs.collect())
}

fn to_the_link() {
    let mission = probe(PROBED);
    let ran = mission.ran(&["run", "Pings", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let record = mission.record("probe-1");
    let took = ran.of("telecommand_sent").into_iter().map(|sent| {
        let left = record.iter().find(|line| line["id"] == sent["id"]).expect("it left");
        instant(&left["at"]).since(at(sent)) as f64 / 1e9
    });
    let (ours, floor) = (median(took.collect()), two_commits());
    let figure = format!("{:.2} ms, {:.2}× two commits of redb", ours * 1e3, ours / floor);
    row("a telecommand, from its transition to the link", &figure, "1.5×", ours < 1.5 * floor);
}

/// Resident memory of this process, in bytes.
fn resident() -> f64 {
    let text = fs::read_to_string("/proc/self/statm").expect("Linux says it");
    let pages: f64 = text.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).expect("a number of pages");
    pages * 4096.0
}

fn waiting() {
    let mission = probe(PROBED);
    let artifact = instance::artifact(&mission, &["Waits"]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let each = runtime.block_on(async {
        let mode = stellar_runtime::instance::ClockMode::Real;
        let instance = instance::with_limit(&mission, &[("probe-1", "probe")], mode, WAITING + 10).await;
        let start = async |count: usize| {
            for _ in 0..count {
                let request = stellar_runtime::executor::StartRequest {
                    artifact: artifact.clone(),
                    procedure: "Waits".to_owned(),
                    targets: [("sat".into(), "probe-1".into())].into(),
                    inputs: std::collections::BTreeMap::new(),
                    by: "os:bench".to_owned(),
                };
                let run = instance.start(request).await.expect("the run starts");
                let mut events = run.events(1);
                while let Ok(Some(line)) = events.next().await {
                    if line.text.contains("\"type\":\"leases\"") {
                        break;
                    }
                }
            }
        };
        // What is allocated once is there before the count begins.
        start(5).await;
        let before = resident();
        start(WAITING).await;
        (resident() - before) / WAITING as f64
    });
    let figure = format!("{:.1} KiB each, of {WAITING}", each / 1024.0);
    row(
        "resident memory of a waiting run, program included",
        &figure,
        "10 KiB beyond its program",
        each < 10.0 * 1024.0,
    );
}

const SATRS: &str = "
platform: satrs
routes: {direct: {default: true}}
ccsds:
  source_id: 0
  ack: [acceptance, start, progress, completion]
  time: 7
  failure_code: 2
  checksum: true
  correlation: request-id
  packets: {}
components:
  pus:
    telecommands:
      ping:
        changes_state: false
        verify: {stages: {accepted: 1s, started: 2s, completed: 2s}}
        ccsds: {apid: 2, service: 17, subtype: 1}
";

const STACK: &str = "
procedure \"Stack\"
  uses sat: satrs
  step \"Pings\"
    repeat 200 times
      send ping to sat.pus
";

/// Milliseconds a ping where nothing but the target works: a packet out, its completion report awaited, the next one.
fn bare(target: &TargetProcess) -> f64 {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.connect(target.address()).expect("loopback");
    socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a time-out");
    let crc = crc::Crc::<u16>::new(&crc::CRC_16_IBM_3740);
    let begin = Instant::now();
    for count in 0..PINGS {
        let mut packet = hex::decode("1802c00000062f11010000").expect("hexadecimal");
        let sequence = (0xc000 | u16::try_from(count).expect("14 bits")).to_be_bytes();
        packet.splice(2..4, sequence);
        packet.extend(crc.checksum(&packet).to_be_bytes());
        socket.send(&packet).expect("it is sent");
        let mut buffer = [0; 2048];
        loop {
            let length = socket.recv(&mut buffer).expect("a report within 10 s");
            // TM[1,7]: the completion.
            if buffer.get(..length).and_then(|report| report.get(7..9)) == Some(&[1, 7]) {
                break;
            }
        }
    }
    begin.elapsed().as_secs_f64() * 1e3 / f64::from(PINGS)
}

/// Milliseconds a ping by a procedure: from the first sent to the last reported.
fn by_procedure(target: &TargetProcess) -> f64 {
    let mission = Mission::empty(STELLAR);
    mission.write(
        "stellar.yaml",
        format!(
            "catalogue: [catalogue/]\nprocedures: [procedures/]\n\
             targets: {{satrs-1: {{platform: satrs, link: {{ccsds: {{udp: {{target: \"{}\"}}}}}}}}}}\n",
            target.address()
        ),
    );
    mission.write("catalogue/satrs.yaml", SATRS).write("procedures/test.proc", STACK);
    let ran = mission.ran(&["run", "Stack", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let (sent, status) = (ran.of("telecommand_sent"), ran.of("telecommand_status"));
    assert_eq!(sent.len(), usize::try_from(PINGS).expect("a count"));
    let completed = |event: &&&Value| event["status"] == "completed";
    let last = status.iter().rfind(completed).expect("the last one completed");
    at(last).since(at(sent.first().expect("the first"))) as f64 / 1e6 / f64::from(PINGS)
}

fn pings() {
    let rounds: Vec<(f64, f64)> = (0..3)
        .map(|_| {
            let target = TargetProcess::start(TARGET, 0).expect("the target starts");
            let alone = bare(&target);
            let target = TargetProcess::start(TARGET, 0).expect("the target starts");
            (by_procedure(&target), alone)
        })
        .collect();
    let (ours, alone) =
        (median(rounds.iter().map(|round| round.0).collect()), median(rounds.iter().map(|round| round.1).collect()));
    let figure = format!("{ours:.2} ms each, {:.2}× the target alone ({alone:.2} ms)", ours / alone);
    // The nearest peer adds 0.34 ms to a target that takes 5.2 ms alone, and keeps no log that survives it.
    let floor = two_commits() * 1e3;
    let limit = format!("target + 1.5 × two commits ({:.2} ms)", alone + 1.5 * floor);
    row(&format!("a stack of {PINGS} pings to the satrs target"), &figure, &limit, ours < alone + 1.5 * floor);
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let parts: [(&str, fn()); 4] =
        [("compile", compiling), ("link", to_the_link), ("waiting", waiting), ("pings", pings)];
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|wanted| name.contains(wanted.as_str())) {
            part();
        }
    }
}
