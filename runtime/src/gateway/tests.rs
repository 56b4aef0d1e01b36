use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use stellar_vm::{
    catalogue::Stage,
    condition::Snapshot,
    time::Instant,
    value::{Scalar, Value},
};

use super::{
    link::{HandOverError, Inbox, Past, RawSample, Received},
    testing::{Memory, SECOND, START, Scripted, lines, options, order, parameter, ping},
    *,
};
use crate::clock::{Clock, Phase};

struct Bench {
    clock: Clock,
    memory: Arc<Memory>,
    gateway: Gateway,
    items: tokio::sync::mpsc::UnboundedReceiver<Arc<TargetItem>>,
    inbox: Arc<Mutex<Option<Inbox>>>,
}

impl Bench {
    async fn with(change: impl FnOnce(&mut Scripted)) -> Self {
        let clock = Clock::virtual_from(START);
        Self::on(clock, Arc::new(Memory::default()), change).await
    }

    async fn on(clock: Clock, memory: Arc<Memory>, change: impl FnOnce(&mut Scripted)) -> Self {
        let mut link = Scripted { log: Arc::clone(&memory.log), ..Scripted::default() };
        change(&mut link);
        let inbox = Arc::clone(&link.inbox);
        let gateway = Gateway::open(options(&memory, &clock), Box::new(link)).await.unwrap();
        let items = gateway.subscribe().items;
        Self { clock, memory, gateway, items, inbox }
    }

    async fn next(&mut self) -> Arc<TargetItem> {
        tokio::time::timeout(Duration::from_secs(3_600), self.items.recv()).await.unwrap().unwrap()
    }

    fn nothing(&mut self) {
        assert!(self.items.try_recv().is_err());
    }

    async fn settle(&self) {
        self.gateway.flush().await.unwrap();
    }

    async fn deliver(&self, received: Received) {
        self.deliver_at(received, self.clock.now()).await;
    }

    async fn deliver_at(&self, received: Received, at: Instant) {
        let inbox = self.inbox.lock().unwrap().clone().unwrap();
        inbox.deliver(received, at).await.unwrap();
    }
}

fn report(name: &str, stage: Stage) -> Received {
    Received::Report { name: name.into(), stage, failure: None }
}

fn one(parameter: u32, index: Option<i64>, value: Value) -> Received {
    packet(&[(parameter, index, value)])
}

fn packet(samples: &[(u32, Option<i64>, Value)]) -> Received {
    let raw = |(parameter, index, value): &(u32, Option<i64>, Value)| RawSample {
        parameter: *parameter,
        index: *index,
        value: Some(value.clone()),
    };
    Received::Samples { samples: samples.iter().map(raw).collect(), replayed: false }
}

#[tokio::test(start_paused = true)]
async fn a_claim_is_durable_before_the_hand_over_and_a_result_after_it() {
    let mut bench = Bench::with(|_| {}).await;
    bench.gateway.offer(ping("A", START)).unwrap();
    bench.gateway.offer(ping("B", START)).unwrap();
    for id in ["A", "B"] {
        assert!(matches!(&*bench.next().await, TargetItem::Release { id: of, .. } if &**of == id));
    }
    let happened = ["claim A", "hand over A", "released A", "claim B", "hand over B", "released B"];
    assert_eq!(lines(&bench.memory.log), happened);
    let claim = bench.memory.claims.lock().unwrap()["A"].clone();
    assert_eq!((claim.link.as_deref(), &*claim.nonce), (Some("n-A"), "nonce-1"));
}

#[tokio::test(start_paused = true)]
async fn without_a_claim_nothing_is_handed_over_and_the_gateway_ends() {
    let mut bench = Bench::with(|_| {}).await;
    *bench.memory.broken.lock().unwrap() = true;
    bench.gateway.offer(ping("A", START)).unwrap();
    assert!(bench.items.recv().await.is_none());
    assert!(lines(&bench.memory.log).is_empty());
    assert!(bench.gateway.status().failed.unwrap().contains("no space left"));
    assert_eq!(bench.gateway.offer(ping("B", START)), Err(Closed));
}

#[tokio::test(start_paused = true)]
async fn an_identifier_is_handed_over_once_and_its_result_told_again() {
    let mut bench = Bench::with(|_| {}).await;
    bench.gateway.offer(ping("A", START)).unwrap();
    let first = bench.next().await;
    bench.gateway.offer(ping("A", START)).unwrap();
    assert_eq!(bench.next().await, first);
    // After a restart as well; one without a result is not told of.
    let Bench { clock, memory, gateway, .. } = bench;
    gateway.close().await;
    memory.results.lock().unwrap().remove("A");
    let mut bench = Bench::on(clock, memory, |_| {}).await;
    bench.gateway.offer(ping("A", START)).unwrap();
    bench.gateway.offer(ping("B", START)).unwrap();
    assert!(matches!(&*bench.next().await, TargetItem::Release { id, .. } if &**id == "B"));
    let handed_over = |line: &&String| line.starts_with("hand over");
    assert_eq!(lines(&bench.memory.log).iter().filter(handed_over).count(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_is_too_late_never_leaves_also_where_the_claim_took_the_time() {
    let mut bench = Bench::with(|_| {}).await;
    bench.gateway.offer(ping("A", START.after(-5 * SECOND))).unwrap();
    let item = bench.next().await;
    assert!(
        matches!(&*item, TargetItem::NotReleased { id, reason, .. } if &**id == "A" && reason.contains("never left"))
    );
    *bench.memory.slow.lock().unwrap() = Some((bench.clock.clone(), 5 * SECOND));
    bench.gateway.offer(ping("B", START)).unwrap();
    assert!(matches!(&*bench.next().await, TargetItem::NotReleased { id, .. } if &**id == "B"));
    assert_eq!(lines(&bench.memory.log), ["cut A", "claim B", "not released B"]);
    *bench.memory.slow.lock().unwrap() = Some((bench.clock.clone(), 5 * SECOND - 1));
    bench.gateway.offer(ping("C", bench.clock.now())).unwrap();
    assert!(matches!(&*bench.next().await, TargetItem::Release { .. }), "a nanosecond is left");
}

#[tokio::test(start_paused = true)]
async fn a_late_report_is_that_of_its_own_telecommand() {
    let mut bench = Bench::with(|_| {}).await;
    bench.gateway.offer(ping("A", START)).unwrap();
    bench.gateway.offer(ping("B", START)).unwrap();
    bench.next().await;
    bench.next().await;
    bench.clock.sleep_until(START.after(60 * SECOND), Phase::Run).await;
    bench.deliver(report("n-A", Stage::Completed)).await;
    bench.deliver(report("n-C", Stage::Completed)).await;
    let failed = Received::Report { name: "n-B".into(), stage: Stage::Started, failure: Some("3 (busy)".into()) };
    bench.deliver(failed).await;
    let item = bench.next().await;
    assert!(matches!(&*item, TargetItem::Report { id, ok: true, stage: Stage::Completed, .. } if &**id == "A"));
    let item = bench.next().await;
    assert!(
        matches!(&*item, TargetItem::Report { id, ok: false, code: Some(code), .. } if &**id == "B" && code == "3 (busy)")
    );
    assert_eq!(bench.gateway.status().anomalies["unknown-telecommand"].count, 1);
}

#[tokio::test(start_paused = true)]
async fn what_was_received_before_the_hand_over_stands_before_the_release() {
    let count = |value| one(parameter::COUNT, None, Value::Int(value));
    let mut bench = Bench::with(|link| {
        // 5 was received before the hand-over and comes only now; 6 at the same instant, as an answer.
        link.meanwhile =
            vec![(one(parameter::COUNT, None, Value::Int(5)), 1), (one(parameter::COUNT, None, Value::Int(6)), 0)];
    })
    .await;
    bench.deliver(count(4)).await;
    bench.gateway.offer(ping("A", START)).unwrap();
    let mut orders = std::collections::BTreeMap::new();
    let mut released = 0;
    for _ in 0..4 {
        match &*bench.next().await {
            TargetItem::Samples { samples } => {
                orders.insert(samples[0].value.to_string(), samples[0].order);
            }
            TargetItem::Release { order, .. } => released = *order,
            other => panic!("{other:?}"),
        }
    }
    assert!(orders["4"] < orders["5"] && orders["5"] < released && released < orders["6"], "{orders:?} {released}");
    assert_eq!(bench.gateway.latest().get("eps", None, "count").unwrap().value, Scalar::Int(6));
}

#[tokio::test(start_paused = true)]
async fn strays_past_the_free_places_are_archived_and_not_judged() {
    let mut bench = Bench::with(|link| {
        link.meanwhile = (0..17).map(|value| (one(parameter::COUNT, None, Value::Int(3 + value)), 1)).collect();
    })
    .await;
    bench.gateway.offer(ping("A", START)).unwrap();
    let mut replayed = Vec::new();
    for _ in 0..18 {
        if let TargetItem::Samples { samples } = &*bench.next().await {
            replayed.push(samples[0].replayed);
        }
    }
    assert_eq!(replayed.iter().filter(|replayed| **replayed).count(), 1);
    assert_eq!(bench.gateway.latest().get("eps", None, "count").unwrap().value, Scalar::Int(18));
}

#[tokio::test(start_paused = true)]
async fn where_names_cannot_be_told_apart_the_next_waits_for_the_last_report_or_the_window() {
    let mut bench = Bench::with(|link| link.opcode = true).await;
    for id in ["A", "B"] {
        bench.gateway.offer(ping(id, START)).unwrap();
    }
    bench.next().await;
    bench.settle().await;
    bench.nothing();
    bench.deliver(report("op1", Stage::Accepted)).await;
    bench.next().await;
    bench.settle().await;
    bench.nothing();
    bench.deliver(report("op1", Stage::Completed)).await;
    assert!(matches!(&*bench.next().await, TargetItem::Report { id, .. } if &**id == "A"));
    assert!(matches!(&*bench.next().await, TargetItem::Release { id, .. } if &**id == "B"));
    // B is never reported on: C has a longer window and leaves when B's is over, D is too late by then.
    let mut longer = ping("C", START);
    longer.deadline = START.after(9 * SECOND);
    bench.gateway.offer(longer).unwrap();
    bench.gateway.offer(ping("D", START)).unwrap();
    let item = bench.next().await;
    assert!(matches!(&*item, TargetItem::NotReleased { id, at, .. } if &**id == "D" && *at == START.after(5 * SECOND)));
    let item = bench.next().await;
    assert!(matches!(&*item, TargetItem::Release { id, at, .. } if &**id == "C" && *at == START.after(5 * SECOND)));
}

#[tokio::test(start_paused = true)]
async fn what_a_run_withdraws_never_leaves() {
    let mut bench = Bench::with(|link| link.opcode = true).await;
    let mut of_other = ping("C", START);
    of_other.run = Some("run-2".into());
    bench.gateway.offer(ping("A", START)).unwrap();
    bench.gateway.offer(ping("B", START)).unwrap();
    bench.gateway.offer(of_other).unwrap();
    bench.next().await;
    bench.gateway.withdraw("run-1").await.unwrap();
    assert!(matches!(&*bench.next().await, TargetItem::NotReleased { id, .. } if &**id == "B"));
    bench.deliver(report("op1", Stage::Completed)).await;
    bench.next().await;
    assert!(matches!(&*bench.next().await, TargetItem::Release { id, .. } if &**id == "C"));
    assert!(!lines(&bench.memory.log).contains(&"claim B".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_encoded_is_told_and_does_not_stand_in_the_way() {
    let mut bench = Bench::with(|_| {}).await;
    let heater = |id, component, args: &[(&str, Scalar)]| order(id, START, component, "set_heater", args);
    let wrong = [
        (heater("A", "tcu[2]", &[]), "argument `power` has no value"),
        (heater("B", "tcu[2]", &[("power", Scalar::Float(20.5))]), "`20.5` does not fit argument `power`"),
        (heater("C", "tcu[5]", &[("power", Scalar::Int(1))]), "the index of `tcu[5]` is not in 1..4"),
        (heater("D", "tcu", &[("power", Scalar::Int(1))]), "the index of `tcu` is not in 1..4"),
        (heater("E", "tcu[2]", &[("power", Scalar::Float(13.0))]), "13 does not go into its field"),
        (order("F", START, "eps", "ping", &[]), "`platform-v3` has no telecommand `eps.ping`"),
        (order("G", START, "eps[1]", "reset", &[]), "`eps` has no index"),
        (order("H", START, "eps[x", "reset", &[]), "`eps[x` is no component"),
        (order("I", START, "eps", "reset", &[("x", Scalar::Int(1))]), "`reset` has no argument `x`"),
    ];
    for (order, why) in wrong {
        let offered = order.id.clone();
        bench.gateway.offer(order).unwrap();
        match &*bench.next().await {
            TargetItem::EncodeFailed { id, reason, .. } => assert_eq!((id, reason.as_str()), (&offered, why)),
            other => panic!("{other:?}"),
        }
    }
    bench.gateway.offer(heater("Z", "tcu[2]", &[("power", Scalar::Int(20))])).unwrap();
    assert!(matches!(&*bench.next().await, TargetItem::Release { .. }));
    assert!(!lines(&bench.memory.log).iter().any(|line| line.starts_with("claim") && !line.ends_with('Z')));
}

#[tokio::test(start_paused = true)]
async fn refused_never_left_and_doubtful_may_have_left() {
    let mut bench = Bench::with(|link| {
        link.answers.push_back(Err(HandOverError::Refused("no link".into())));
        link.answers.push_back(Err(HandOverError::Doubtful("the connection broke".into())));
    })
    .await;
    for id in ["A", "B", "C"] {
        bench.gateway.offer(ping(id, START)).unwrap();
    }
    let item = bench.next().await;
    assert!(
        matches!(&*item, TargetItem::NotReleased { id, reason, .. } if &**id == "A" && reason == "never left: no link")
    );
    assert!(matches!(&*bench.next().await, TargetItem::Release { id, .. } if &**id == "C"));
    assert!(!bench.memory.results.lock().unwrap().contains_key("B"), "its claim stands alone");
    bench.deliver(report("n-B", Stage::Completed)).await;
    assert!(
        matches!(&*bench.next().await, TargetItem::Report { id, .. } if &**id == "B"),
        "and its reports are followed"
    );
}

#[tokio::test(start_paused = true)]
async fn a_hand_over_that_never_ends_is_given_up_at_the_window_and_may_have_left() {
    let mut bench = Bench::with(|link| link.hangs = true).await;
    bench.gateway.offer(ping("A", START)).unwrap();
    bench.settle().await;
    bench.gateway.offer(ping("B", START)).unwrap();
    assert!(matches!(&*bench.next().await, TargetItem::NotReleased { id, .. } if &**id == "B"));
    assert_eq!(bench.clock.now(), START.after(5 * SECOND));
    assert!(!bench.memory.results.lock().unwrap().contains_key("A"));
}

#[tokio::test(start_paused = true)]
async fn reports_on_telecommands_of_an_earlier_process_are_told() {
    let past = Past { id: "A".into(), name: "n-A".into(), deadline: Some(START.after(SECOND)) };
    let mut bench = Bench::with(|link| link.past = vec![past]).await;
    bench.deliver(report("n-A", Stage::Completed)).await;
    assert!(matches!(&*bench.next().await, TargetItem::Report { id, .. } if &**id == "A"));
    // The store has lost it, the link's record has not.
    bench.gateway.offer(ping("A", START)).unwrap();
    bench.gateway.offer(ping("B", START)).unwrap();
    assert!(matches!(&*bench.next().await, TargetItem::Release { id, .. } if &**id == "B"));
    assert_eq!(lines(&bench.memory.log), ["claim B", "hand over B", "released B"]);
    assert_eq!(bench.gateway.status().anomalies["handed-over-before"].count, 1);
}

#[tokio::test(start_paused = true)]
async fn validity_is_judged_by_valid_when_on_the_same_packet_and_not_by_range() {
    let mut bench = Bench::with(|_| {}).await;
    let hot = |responding, temperature| {
        packet(&[
            (parameter::TEMPERATURE, Some(2), Value::Float(temperature)),
            (parameter::RESPONDING, Some(2), Value::Bool(responding)),
        ])
    };
    let mut valid = Vec::new();
    for received in [
        one(parameter::TEMPERATURE, Some(2), Value::Float(20.0)),
        hot(false, 20.0),
        hot(true, 125.0),
        hot(true, 125.5),
        one(parameter::TEMPERATURE, Some(2), Value::Float(21.0)),
        one(parameter::TEMPERATURE, Some(3), Value::Float(21.0)),
    ] {
        bench.deliver(received).await;
        match &*bench.next().await {
            TargetItem::Samples { samples } => valid.push(samples[0].valid),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(
        valid,
        [false, false, true, true, true, false],
        "by the latest, the packet; by instance; a reading outside of the range is a reading"
    );
    // A latest sample that is too old does not make another one valid.
    bench.clock.sleep_until(START.after(11 * SECOND), Phase::Run).await;
    bench.deliver(one(parameter::TEMPERATURE, Some(2), Value::Float(22.0))).await;
    assert!(matches!(&*bench.next().await, TargetItem::Samples { samples } if !samples[0].valid));
    let undecoded = RawSample { parameter: parameter::MODE, index: Some(1), value: None };
    let unknown = RawSample { parameter: 99, index: None, value: None };
    bench.deliver(Received::Samples { samples: vec![undecoded, unknown], replayed: false }).await;
    assert!(matches!(&*bench.next().await, TargetItem::Samples { samples } if samples.len() == 1 && !samples[0].valid));
    assert_eq!(bench.gateway.status().anomalies["unknown-parameter"].count, 1);
}

#[tokio::test(start_paused = true)]
async fn replayed_samples_are_archived_and_never_among_the_latest_also_after_a_restart() {
    let mut bench = Bench::with(|_| {}).await;
    bench.deliver(one(parameter::COUNT, None, Value::Int(3))).await;
    bench.next().await;
    let old = RawSample { parameter: parameter::COUNT, index: None, value: Some(Value::Int(99)) };
    bench.deliver(Received::Samples { samples: vec![old], replayed: true }).await;
    assert!(matches!(&*bench.next().await, TargetItem::Samples { samples } if samples[0].replayed));
    assert_eq!(bench.memory.items.lock().unwrap().len(), 2);
    let Bench { clock, memory, gateway, .. } = bench;
    gateway.close().await;
    let bench = Bench::on(clock, memory, |_| {}).await;
    let latest = bench.gateway.latest();
    assert_eq!(latest.latest("sim-1", "eps", None, "count").unwrap().value, &Scalar::Int(3));
    assert_eq!(latest.latest("sim-2", "eps", None, "count"), None);
    assert_eq!(latest.iter().count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_kinds_of_anomaly_is_counted_together() {
    let bench = Bench::with(|_| {}).await;
    let kinds: Vec<&'static str> = (0..100).map(|kind| &*String::leak(format!("kind-{kind}"))).collect();
    for kind in kinds {
        bench.deliver(Received::Anomaly { kind, detail: "x".into() }).await;
    }
    bench.deliver(Received::Link { up: false, reason: Some("no carrier".into()) }).await;
    bench.settle().await;
    let status = bench.gateway.status();
    assert_eq!((status.anomalies.len(), status.anomalies["other"].count), (65, 36));
    assert_eq!((status.up, status.reason.as_deref()), (false, Some("no carrier")));
}
