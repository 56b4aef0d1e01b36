//! The simulated target behind a gateway, in virtual time.

use std::{path::Path, time::Duration};

use stellar_vm::{catalogue::Stage, value::Scalar};

use super::*;
use crate::{
    gateway::{
        Gateway, TelecommandOrder,
        testing::{Memory, SECOND, START, options, order, ping, platform},
    },
    ports::TargetItem,
};

const MS: i64 = 1_000_000;

/// What the ground saw: when, in milliseconds since the start, and what.
type Seen = Vec<(i64, String)>;

struct Ground {
    clock: Clock,
    gateway: Gateway,
    items: tokio::sync::mpsc::UnboundedReceiver<Arc<TargetItem>>,
}

impl Ground {
    async fn open(clock: &Clock, memory: &Arc<Memory>, folder: &Path, scenario: &str) -> Self {
        Self::seeded(clock, memory, folder, scenario, 1).await
    }

    async fn seeded(clock: &Clock, memory: &Arc<Memory>, folder: &Path, scenario: &str, seed: u64) -> Self {
        let behaviours = folder.join("sim-1.yaml");
        std::fs::write(&behaviours, scenario).unwrap();
        let link = SimLink::open(SimOptions {
            platform: platform(),
            clock: clock.clone(),
            behaviours: Some(behaviours),
            seed,
            record: folder.join("links/sim-1.jsonl"),
        });
        let link = link.unwrap_or_else(|error| panic!("{error}"));
        let gateway = Gateway::open(options(memory, clock), Box::new(link)).await.unwrap();
        let items = gateway.subscribe().items;
        Self { clock: clock.clone(), gateway, items }
    }

    async fn until(&self, ns: i64) {
        self.clock.sleep_until(START.after(ns), Phase::Run).await;
        self.gateway.flush().await.unwrap();
    }

    /// What came so far; samples of the parameter named only.
    fn seen(&mut self, parameter: &str) -> Seen {
        let mut seen = Vec::new();
        while let Ok(item) = self.items.try_recv() {
            let ms = |at: Instant| at.since(START) / MS;
            match &*item {
                TargetItem::Release { id, at, .. } => seen.push((ms(*at), format!("released {id}"))),
                TargetItem::NotReleased { id, at, reason, .. } => seen.push((ms(*at), format!("{id} {reason}"))),
                TargetItem::EncodeFailed { id, at, reason, .. } => seen.push((ms(*at), format!("{id} {reason}"))),
                TargetItem::Report { id, at, stage, code, .. } => {
                    let code = code.as_ref().map_or(String::new(), |code| format!(" failed: {code}"));
                    seen.push((ms(*at), format!("{stage:?} {id}{code}")));
                }
                TargetItem::Samples { samples } => {
                    for sample in samples {
                        let record = sample.record();
                        if &*record.parameter == parameter {
                            let old = if sample.replayed { "old " } else { "" };
                            seen.push((ms(sample.received_at), format!("{old}{}", sample.value)));
                        }
                    }
                }
            }
        }
        seen
    }

    fn offer(&self, order: TelecommandOrder) {
        self.gateway.offer(order).unwrap();
    }
}

fn fresh() -> (tempfile::TempDir, Clock, Arc<Memory>) {
    (tempfile::tempdir().unwrap(), Clock::virtual_from(START), Arc::new(Memory::default()))
}

fn seen(entries: &[(i64, &str)]) -> Seen {
    entries.iter().map(|(ms, what)| (*ms, (*what).to_owned())).collect()
}

#[tokio::test(start_paused = true)]
async fn what_a_telecommand_asks_for_comes_each_time_although_nothing_changed() {
    let scenario = "
telemetry: {tcu.mode: {initial: SAFE, on_change: true}}
telecommands: {tcu.ping: {tells: [mode, eps.volts], after: 300ms}}
faults: [{telecommand: tcu.ping, nth: 3, lose: true}]
";
    // What the three telecommands, sent at 0.5, 1.5 and 2.5 s, are answered by: the last is lost. Another instance is not
    // asked, and what comes at a period comes beside it.
    let cases: [(&str, &[i64]); 3] =
        [("tcu[2].mode", &[800, 1_800]), ("tcu[1].mode", &[]), ("eps.volts", &[800, 1_000, 1_800, 2_000, 3_000])];
    for (parameter, wanted) in cases {
        let (folder, clock, memory) = fresh();
        let mut ground = Ground::open(&clock, &memory, folder.path(), scenario).await;
        ground.until(SECOND / 2).await;
        assert_eq!(ground.seen(parameter).len(), 1, "{parameter} is sent at the start");
        for (turn, id) in (1..).zip(["A", "B", "C"]) {
            ground.offer(ping(id, clock.now()));
            ground.until(turn * SECOND + SECOND / 2).await;
        }
        let told = |what: &str| what.starts_with("SAFE") || what.starts_with("20");
        let told: Vec<i64> = ground.seen(parameter).into_iter().filter(|it| told(&it.1)).map(|it| it.0).collect();
        assert_eq!(told, wanted, "{parameter}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_scenario_telecommands_complete_and_parameters_come_every_second() {
    let (folder, clock, memory) = fresh();
    let mut ground = Ground::open(&clock, &memory, folder.path(), "").await;
    ground.offer(ping("A", START));
    ground.until(2 * SECOND).await;
    let wanted = [
        (0, "20.0"),
        (0, "released A"),
        (100, "Accepted A"),
        (200, "Started A"),
        (500, "Completed A"),
        (1_000, "20.0"),
        (2_000, "20.0"),
    ];
    let mut came = ground.seen("eps.volts");
    // The release and the first packet are both at the very start.
    came.sort();
    let mut wanted = seen(&wanted);
    wanted.sort();
    assert_eq!(came, wanted);
    let latest = ground.gateway.latest();
    let value = |component: &str, index, name: &str| latest.get(component, index, name).unwrap().value.clone();
    assert_eq!(value("eps", None, "count"), Scalar::Int(3), "the least");
    assert_eq!(value("tcu", Some(4), "responding"), Scalar::Bool(false));
    assert_eq!(value("tcu", Some(1), "mode"), Scalar::Str("STANDBY".into()), "the first label");
}

const BEHAVIOURS: &str = "
telemetry:
  tcu.mode: {on_change: true}
  tcu[2].mode: {initial: SAFE, on_change: true}
  eps.volts: {period: 250ms, profile: {ramp: {from: 10, to: 20, over: 1s}}}
  eps.count: 7
telecommands:
  tcu.set_mode: {sets: {mode: $mode, eps.count: $index}, after: 300 ms, reports: {started: none}, delay: 50ms}
  tcu.ping: {reports: none, sets: {responding: true}}
";

#[tokio::test(start_paused = true)]
async fn a_telecommand_sets_what_its_arguments_say_before_it_reports_completion() {
    let (folder, clock, memory) = fresh();
    let mut ground = Ground::open(&clock, &memory, folder.path(), BEHAVIOURS).await;
    ground.until(SECOND).await;
    assert_eq!(ground.seen("tcu[2].mode"), seen(&[(0, "SAFE")]), "on change, and once at the start");
    let operational = [("mode", Scalar::Str("OPERATIONAL".into()))];
    ground.offer(order("A", clock.now(), "tcu[2]", "set_mode", &operational));
    ground.until(2 * SECOND).await;
    let wanted = [(1_000, "released A"), (1_150, "Accepted A"), (1_350, "OPERATIONAL"), (1_550, "Completed A")];
    assert_eq!(ground.seen("tcu[2].mode"), seen(&wanted));
    let latest = ground.gateway.latest();
    assert_eq!(latest.get("tcu", Some(1), "mode").unwrap().value, Scalar::Str("STANDBY".into()));
    assert_eq!(latest.get("eps", None, "count").unwrap().value, Scalar::Int(2));
    ground.offer(ping("B", clock.now()));
    ground.until(3 * SECOND).await;
    assert_eq!(ground.seen("tcu[2].responding"), seen(&[(2_000, "released B"), (3_000, "true")]), "no reports");
}

#[tokio::test(start_paused = true)]
async fn profiles_run_from_the_start_of_the_target() {
    let (folder, clock, memory) = fresh();
    let mut ground = Ground::open(&clock, &memory, folder.path(), BEHAVIOURS).await;
    ground.until(1_300 * MS).await;
    let volts = [(0, "10.0"), (250, "12.5"), (500, "15.0"), (750, "17.5"), (1_000, "20.0"), (1_250, "20.0")];
    assert_eq!(ground.seen("eps.volts"), seen(&volts));
}

async fn pings(faults: &str, times: &[i64]) -> Seen {
    let (folder, clock, memory) = fresh();
    let mut ground = Ground::open(&clock, &memory, folder.path(), &format!("faults:\n{faults}\n")).await;
    for (number, at) in times.iter().enumerate() {
        ground.until(*at).await;
        ground.offer(ping(&number.to_string(), clock.now()));
    }
    ground.until(60 * SECOND).await;
    ground.seen("nothing")
}

#[tokio::test(start_paused = true)]
async fn each_fault_of_telecommands_does_what_it_says() {
    let at = [0, 10 * SECOND];
    let usual = |from: i64, id: &str| {
        let stages = [(0, "released"), (100, "Accepted"), (200, "Started"), (500, "Completed")];
        stages.map(|(ms, what)| (from + ms, format!("{what} {id}"))).to_vec()
    };
    let one = |first: &[(i64, &str)]| [seen(first), usual(10_000, "1")].concat();
    for (fault, wanted) in [
        ("{telecommand: tcu.ping, nth: 1, lose: true}", one(&[(0, "released 0")])),
        ("{telecommand: tcu.ping, first: 1, unreported: true}", one(&[(0, "released 0")])),
        ("{telecommand: 'tcu[3].ping', lose: true}", [usual(0, "0"), usual(10_000, "1")].concat()),
        ("{telecommand: eps.reset, lose: true}", [usual(0, "0"), usual(10_000, "1")].concat()),
        (
            "{telecommand: 'tcu[2].ping', until: 1s, fail: {stage: started, code: 3 (busy)}}",
            one(&[(0, "released 0"), (100, "Accepted 0"), (200, "Started 0 failed: 3 (busy)")]),
        ),
        (
            "{telecommand: tcu.ping, until: 10s, delay: 3s}",
            one(&[(0, "released 0"), (3_100, "Accepted 0"), (3_200, "Started 0"), (3_500, "Completed 0")]),
        ),
        ("{telecommand: tcu.ping, nth: 1, refuse: no carrier}", one(&[(0, "0 never left: no carrier")])),
        ("{link: down, until: 10s}", one(&[(0, "0 never left: the link is down")])),
        (
            "{link: down, from: 150ms, until: 450ms}",
            one(&[(0, "released 0"), (100, "Accepted 0"), (500, "Completed 0")]),
        ),
    ] {
        assert_eq!(pings(&format!("  - {fault}"), &at).await, wanted, "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_probability_is_met_nearly_and_the_same_each_time() {
    let times: Vec<i64> = (0..200).map(|number| number * SECOND / 10).collect();
    let fault = "  - {telecommand: tcu.ping, probability: 0.25, lose: true}";
    let first = pings(fault, &times).await;
    let lost = 200 - first.iter().filter(|(_, what)| what.starts_with("Completed")).count();
    assert!((25..=75).contains(&lost), "{lost}");
    assert_eq!(pings(fault, &times).await, first);
}

#[tokio::test(start_paused = true)]
async fn each_fault_of_telemetry_does_what_it_says() {
    let ramp = "telemetry: {eps.volts: {profile: {ramp: {from: 10, to: 20, over: 10s}}}}\nfaults:";
    for (fault, wanted) in [
        (
            "{telemetry: eps.volts, from: 1s, until: 3s, silent: true}",
            vec![(0, "10.0"), (3_000, "13.0"), (4_000, "14.0")],
        ),
        (
            "{telemetry: eps.volts, from: 1s, until: 3s, freeze: true}",
            vec![(0, "10.0"), (1_000, "10.0"), (2_000, "10.0"), (3_000, "13.0"), (4_000, "14.0")],
        ),
        (
            "{telemetry: eps.volts, from: 1s, until: 2s, nan: true}",
            vec![(0, "10.0"), (1_000, "NaN"), (2_000, "12.0"), (3_000, "13.0"), (4_000, "14.0")],
        ),
        (
            "{telemetry: eps.volts, from: 3s, value: 28.5}",
            vec![(0, "10.0"), (1_000, "11.0"), (2_000, "12.0"), (3_000, "28.5"), (4_000, "28.5")],
        ),
        ("{link: down, from: 1s, until: 2500ms}", vec![(0, "10.0"), (3_000, "13.0"), (4_000, "14.0")]),
    ] {
        let (folder, clock, memory) = fresh();
        let mut ground = Ground::open(&clock, &memory, folder.path(), &format!("{ramp}\n  - {fault}\n")).await;
        ground.until(4 * SECOND).await;
        assert_eq!(ground.seen("eps.volts"), seen(&wanted), "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn old_packets_are_played_back_whenever_the_link_comes_up_and_are_marked() {
    let (folder, clock, memory) = fresh();
    let scenario = "
telemetry: {tcu.mode: {on_change: true}, tcu.responding: {on_change: true}, tcu.temperature: {on_change: true}, eps.count: {on_change: true}}
faults: [{replay: 2}, {link: down, from: 2500ms, until: 3500ms}]";
    let mut ground = Ground::open(&clock, &memory, folder.path(), scenario).await;
    ground.until(4 * SECOND).await;
    let came = ground.seen("eps.volts");
    let wanted = [
        (0, "old 20.0"),
        (0, "20.0"),
        (1_000, "20.0"),
        (2_000, "20.0"),
        (3_500, "old 20.0"),
        (3_500, "old 20.0"),
        (4_000, "20.0"),
    ];
    assert_eq!(came, seen(&wanted));
    assert!(ground.gateway.status().up);
}

#[tokio::test(start_paused = true)]
async fn faults_and_values_can_be_given_by_hand_and_cleared() {
    let (folder, clock, memory) = fresh();
    let mut ground = Ground::open(&clock, &memory, folder.path(), "").await;
    ground.until(1_500 * MS).await;
    ground.seen("eps.volts");
    let control = ground.gateway.control("faults: [{link: down, until: 1s}, {telecommand: tcu.ping, lose: true}]");
    assert_eq!(control.await.unwrap(), "2 faults are added");
    ground.gateway.control("set: {eps.volts: 12}").await.unwrap();
    ground.until(2_500 * MS).await;
    ground.offer(ping("A", clock.now()));
    ground.until(3_500 * MS).await;
    assert_eq!(ground.seen("eps.volts"), seen(&[(2_500, "released A"), (3_000, "12.0")]));
    assert_eq!(
        ground.gateway.control("clear: faults").await.unwrap(),
        "2 faults are cleared; those of the scenario stay"
    );
    ground.offer(ping("B", clock.now()));
    ground.until(4_100 * MS).await;
    assert!(ground.seen("x").contains(&(4_000, "Completed B".to_owned())));
    for (wrong, why) in [
        ("{}", "a request has one of the keys"),
        ("fault: []", "is it `faults`?"),
        ("set: {eps.volt: 12}", "`eps` has no parameter `volt`; is it `volts`?"),
        ("clear: all", "`clear: faults` is all that can be cleared"),
        ("faults: [{link: up}]", "`link: down` is the only fault of the link"),
        ("set: {eps.count: $index}", "`$index` is no value"),
    ] {
        let error = ground.gateway.control(wrong).await.unwrap_err().to_string();
        assert!(error.contains(why) && error.starts_with("request:1:"), "{wrong}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_state_is_rebuilt_from_the_record_and_what_was_under_way_goes_on() {
    let (folder, clock, memory) = fresh();
    let scenario = format!(
        "{BEHAVIOURS}faults: [{{telecommand: tcu.set_mode, nth: 2, lose: true}}, {{telecommand: eps.reset, nth: 2, lose: true}}]"
    );
    let mode = |id: &str, at, to: &str| order(id, at, "tcu[2]", "set_mode", &[("mode", Scalar::Str(to.into()))]);
    let ground = Ground::open(&clock, &memory, folder.path(), &scenario).await;
    ground.offer(mode("A", clock.now(), "OPERATIONAL"));
    ground.offer(mode("B", clock.now(), "SAFE"));
    ground.until(SECOND).await;
    ground.offer(order("C", clock.now(), "eps", "reset", &[]));
    ground.until(SECOND + 150 * MS).await;
    ground.gateway.control("faults: [{telecommand: tcu.ping, lose: true}]").await.unwrap();
    ground.offer(ping("D", clock.now()));
    ground.offer(mode("E", clock.now(), "SAFE"));
    ground.until(SECOND + 250 * MS).await;
    // The process ends and another one begins, in the middle of C and E.
    drop(ground);
    let record = std::fs::read_to_string(folder.path().join("links/sim-1.jsonl")).unwrap();
    assert_eq!(record.lines().count(), 5);
    assert!(record.lines().all(|line| serde_json::from_str::<HandedOver>(line).is_ok()));
    let mut ground = Ground::open(&clock, &memory, folder.path(), &scenario).await;
    ground.until(3 * SECOND).await;
    let wanted = [
        (1_250, "OPERATIONAL"),
        (1_300, "Accepted E"),
        (1_500, "Completed C"),
        (1_500, "SAFE"),
        (1_700, "Completed E"),
    ];
    assert_eq!(ground.seen("tcu[2].mode"), seen(&wanted), "A is done, B was lost, C and E go on");
    assert_eq!(
        ground.gateway.latest().get("tcu", Some(2), "responding").unwrap().value,
        Scalar::Bool(false),
        "D was lost"
    );
    assert_eq!(
        ground.gateway.latest().get("eps", None, "volts").unwrap().value,
        Scalar::Float(20.0),
        "since the first start"
    );
    ground.offer(order("F", clock.now(), "eps", "reset", &[]));
    ground.until(4 * SECOND).await;
    assert_eq!(ground.seen("x"), seen(&[(3_000, "released F")]), "the second one is counted over the restart");
}

#[tokio::test(start_paused = true)]
async fn a_record_from_later_in_virtual_time_is_done_and_no_future() {
    let (folder, clock, memory) = fresh();
    let ground = Ground::open(&clock, &memory, folder.path(), BEHAVIOURS).await;
    ground.until(3_600 * SECOND).await;
    ground.offer(ping("A", clock.now()));
    ground.until(3_601 * SECOND).await;
    drop(ground);
    let earlier = Clock::virtual_from(START.after(SECOND));
    let mut ground = Ground::open(&earlier, &Arc::new(Memory::default()), folder.path(), BEHAVIOURS).await;
    ground.until(2 * SECOND).await;
    assert_eq!(ground.seen("tcu[2].responding"), seen(&[(1_000, "true"), (2_000, "true")]));
}

#[tokio::test(start_paused = true)]
async fn hours_of_telemetry_pass_in_no_time_and_two_runs_are_alike() {
    let scenario = "telemetry: {eps.volts: {period: 10s, profile: {sine: {mean: 20, amplitude: 5, period: 90min, phase: 1 min}}, noise: 0.5}}";
    let mut runs = Vec::new();
    for seed in [1, 1, 2] {
        let (folder, clock, memory) = fresh();
        let mut ground = Ground::seeded(&clock, &memory, folder.path(), scenario, seed).await;
        tokio::time::timeout(Duration::from_secs(3_600), ground.until(7_200 * SECOND)).await.unwrap();
        runs.push(ground.seen("eps.volts"));
    }
    assert_eq!(runs[0].len(), 721);
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0], runs[2]);
    let numbers: Vec<f64> = runs[0].iter().map(|(_, volts)| volts.parse().unwrap()).collect();
    assert!(numbers.iter().all(|volts| (14.5..=25.5).contains(volts)) && numbers.iter().any(|volts| *volts > 24.0));
}

#[tokio::test]
async fn it_works_in_real_time_as_well() {
    let (folder, memory) = (tempfile::tempdir().unwrap(), Arc::new(Memory::default()));
    let clock = Clock::real(stellar_vm::time::Scale::Utc).unwrap();
    let quick = "telecommands: {tcu.ping: {reports: {accepted: 1ms, started: 2ms, completed: 3ms}}}";
    let mut ground = Ground::open(&clock, &memory, folder.path(), quick).await;
    ground.offer(ping("A", clock.now()));
    let completed = async {
        while let Some(item) = ground.items.recv().await {
            if let TargetItem::Report { stage: Stage::Completed, .. } = &*item {
                return;
            }
        }
        panic!("the gateway ended");
    };
    tokio::time::timeout(Duration::from_secs(30), completed).await.unwrap();
}

mod hostile;
