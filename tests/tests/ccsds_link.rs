//! The `ccsds` link against the satrs target: what is on the wire, and what comes back, without a gateway.

#![cfg(test)]

use std::sync::Arc;
use std::time::Duration;

use stellar_runtime::clock::Clock;
use stellar_runtime::gateway::TelecommandOrder;
use stellar_runtime::gateway::link::ccsds::{CcsdsLink, CcsdsOptions, RecordLine};
use stellar_runtime::gateway::link::record::Record;
use stellar_runtime::gateway::link::{Command, Delivery, HandOver, Inbox, Link, Past, Received, Start};
use stellar_tests::hex;
use stellar_tests::proxy::{Direction, Fate, Proxy};
use stellar_tests::satrs_target::{INVALID_SERVICE, process::TargetProcess};
use stellar_vm::catalogue::{
    CcsdsField, CcsdsPacket, CcsdsPlatform, CcsdsTelecommand, Component, Correlation, FieldSource, Freshness,
    Parameter, Platform, Stage, Telecommand, Verification,
};
use stellar_vm::time::Scale;
use stellar_vm::value::{Scalar, Type, Value};
use tokio::sync::mpsc;

const PING: u32 = 0;
const PERFORM: u32 = 1;

/// The on-board services of satrs, and one that it lacks.
fn platform() -> Arc<Platform> {
    let telecommand = |name: &str, service, subtype| Telecommand {
        component: 0,
        name: name.into(),
        description: None,
        changes_state: false,
        hazardous: None,
        args: Vec::new(),
        requires: None,
        verify: Verification { window: 5_000_000_000, default_window: false, stages: Vec::new(), until: None },
        ccsds: Some(CcsdsTelecommand { apid: 2, service, subtype, ack_flags: None, fields: Vec::new() }),
    };
    let pong = Parameter {
        component: 0,
        name: "pong".into(),
        ty: Type::Bool,
        period: None,
        freshness: Freshness::OnChange,
        valid_when: None,
        ccsds: Some(CcsdsField {
            packet: 0,
            source: FieldSource::Constant(Scalar::Bool(true)),
            index: None,
            calibration: None,
        }),
    };
    Arc::new(Platform {
        name: "satrs".into(),
        enums: Vec::new(),
        routes: Vec::new(),
        components: vec![Component { name: "pus".into(), index: None }],
        parameters: vec![pong],
        telecommands: vec![telecommand("ping", 17, 1), telecommand("perform", 8, 1)],
        alarms: Vec::new(),
        ccsds: Some(CcsdsPlatform {
            source_id: 0,
            ack_flags: 15,
            time_bytes: 7,
            failure_code_bytes: 2,
            failure_codes: vec![(u64::from(INVALID_SERVICE), "invalid service".into())],
            checksum: true,
            correlation: Correlation::RequestId,
            packets: vec![CcsdsPacket { name: "pong".into(), apid: 2, service: 17, subtype: 2, mark: None }],
        }),
    })
}

struct Ground {
    _target: TargetProcess,
    proxy: Proxy,
    folder: tempfile::TempDir,
    clock: Clock,
}

/// A link that is started.
struct Started {
    link: CcsdsLink,
    past: Vec<Past>,
    clock: Clock,
    deliveries: mpsc::Receiver<Delivery>,
}

impl Ground {
    fn start(fate: Option<Fate>) -> Self {
        let target = TargetProcess::start(env!("CARGO_BIN_EXE_satrs-target"), 0).unwrap();
        let proxy = match fate {
            Some(fate) => Proxy::with_fate(target.address(), fate).unwrap(),
            None => Proxy::start(target.address()).unwrap(),
        };
        let clock = Clock::real(Scale::Utc).unwrap();
        Self { _target: target, proxy, folder: tempfile::tempdir().unwrap(), clock }
    }

    fn record(&self) -> std::path::PathBuf {
        self.folder.path().join("link.jsonl")
    }

    async fn open(&self) -> Started {
        let options =
            CcsdsOptions { target: self.proxy.address(), local: None, record: self.record(), replayed_after: None };
        let mut link = CcsdsLink::new(platform(), options, self.clock.clone()).unwrap();
        let (inbox, deliveries) = Inbox::channel(16);
        let past = link.start(Start { inbox, claimed: Vec::new() }).unwrap();
        let mut started = Started { link, past, clock: self.clock.clone(), deliveries };
        assert_eq!(started.receive().await, Received::Link { up: true, reason: None });
        started
    }
}

impl Started {
    /// Sends a telecommand and gives the name that its reports will have.
    async fn send(&mut self, id: &str, telecommand: u32) -> Arc<str> {
        let at = self.clock.now();
        let deadline = at.after(5_000_000_000);
        let route: Arc<str> = "direct".into();
        let command =
            Command { id: id.into(), telecommand, index: None, args: Vec::new(), route: route.clone(), deadline };
        let order = TelecommandOrder {
            id: id.into(),
            run: None,
            telecommand: platform().telecommands[telecommand as usize].name.clone(),
            component: "pus".into(),
            args: Default::default(),
            route,
            deadline,
        };
        let frame = self.link.encode(&command).unwrap();
        self.link.hand_over(HandOver { frame: &frame, order: &order, at }).await.unwrap();
        frame.name
    }

    async fn receive(&mut self) -> Received {
        match tokio::time::timeout(Duration::from_secs(10), self.deliveries.recv()).await {
            Ok(Some(Delivery::Received(received, _))) => received,
            other => panic!("nothing within 10 s: {other:?}"),
        }
    }
}

fn good(name: &Arc<str>, stage: Stage) -> Received {
    Received::Report { name: name.clone(), stage, failure: None }
}

fn is_pong(received: &Received) -> bool {
    matches!(received, Received::Samples { samples, replayed: false } if samples[0].value == Some(Value::Bool(true)))
}

#[tokio::test]
async fn a_ping_is_verified_by_its_reports_and_answered_by_its_pong_before_the_last() {
    let ground = Ground::start(None);
    let mut first = ground.open().await;
    first.send("A", PING).await;
    for _ in 0..4 {
        first.receive().await;
    }
    drop(first);
    // The next process counts on: this one has the measured bytes.
    let mut second = ground.open().await;
    assert_eq!(second.past.len(), 1);
    let name = second.send("B", PING).await;
    assert_eq!(&*name, "1802c001");
    assert_eq!(second.receive().await, good(&name, Stage::Accepted));
    assert_eq!(second.receive().await, good(&name, Stage::Started));
    let pong = second.receive().await;
    assert!(is_pong(&pong), "{pong:?}");
    assert_eq!(second.receive().await, good(&name, Stage::Completed));

    let up: Vec<_> = ground.proxy.bytes(Direction::Up).iter().map(|bytes| hex::encode(bytes)).collect();
    assert_eq!(up, ["1802c00000062f11010000a7d2", "1802c00100062f11010000e001"]);
    let record: Vec<RecordLine> = Record::read(&ground.record()).unwrap();
    assert_eq!(record.iter().map(|line| &*line.id).collect::<Vec<_>>(), ["A", "B"]);
    assert_eq!(record.into_iter().filter_map(|line| line.bytes).collect::<Vec<_>>(), up);
}

#[tokio::test]
async fn a_service_that_the_target_lacks_fails_at_its_start_with_the_label_of_its_code() {
    let ground = Ground::start(None);
    let mut link = ground.open().await;
    let name = link.send("A", PERFORM).await;
    assert_eq!(link.receive().await, good(&name, Stage::Accepted));
    let failure = Some("513 (invalid service)".to_owned());
    assert_eq!(link.receive().await, Received::Report { name, stage: Stage::Started, failure });
}

#[tokio::test]
async fn packets_spoilt_on_the_way_are_told_and_the_next_come_through() {
    // The acceptance report loses its last byte, the start report has a bit turned, what follows comes as it is.
    let mut number = 0;
    let fate: Fate = Box::new(move |seen| {
        let mut bytes = seen.bytes.clone();
        if seen.direction == Direction::Down {
            number += 1;
            match number {
                1 => bytes.truncate(bytes.len() - 1),
                2 => bytes[20] ^= 1,
                _ => {}
            }
        }
        vec![bytes]
    });
    let ground = Ground::start(Some(fate));
    let mut link = ground.open().await;
    let name = link.send("A", PING).await;
    for spoilt in ["short", "bad-checksum"] {
        let received = link.receive().await;
        assert!(matches!(received, Received::Anomaly { kind, .. } if kind == spoilt), "{received:?}");
    }
    let pong = link.receive().await;
    assert!(is_pong(&pong), "{pong:?}");
    assert_eq!(link.receive().await, good(&name, Stage::Completed));
}
