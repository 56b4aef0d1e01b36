//! The `ccsds` link against the satrs target: what is on the wire, and what comes back, without a gateway.

#![cfg(test)]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use stellar_runtime::gateway::link::ccsds::{CcsdsLink, CcsdsOptions, Encoded, HandOver, Phase, Received};
use stellar_runtime::gateway::link::record::Record;
use stellar_tests::hex;
use stellar_tests::proxy::{Direction, Fate, Proxy};
use stellar_tests::satrs_target::{INVALID_SERVICE, process::TargetProcess};
use stellar_vm::catalogue::{
    CcsdsField, CcsdsPacket, CcsdsPlatform, CcsdsTelecommand, Component, Correlation, FieldSource, Freshness,
    Parameter, Platform, Telecommand, Verification,
};
use stellar_vm::time::{Instant, Scale};
use stellar_vm::value::{Scalar, Type, Value};

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
    link: CcsdsLink,
}

impl Ground {
    async fn start(fate: Option<Fate>) -> Self {
        let target = TargetProcess::start(env!("CARGO_BIN_EXE_satrs-target"), 0).unwrap();
        let proxy = match fate {
            Some(fate) => Proxy::with_fate(target.address(), fate).unwrap(),
            None => Proxy::start(target.address()).unwrap(),
        };
        let folder = tempfile::tempdir().unwrap();
        let link = open(folder.path(), &proxy).await;
        Self { _target: target, proxy, folder, link }
    }

    async fn send(&self, id: &str, telecommand: u32) -> Encoded {
        let encoded = self.link.encode(telecommand, None, &[], |_| false).unwrap();
        self.link.hand_over(id, Instant { ns: 0, scale: Scale::Utc }, &encoded).await.unwrap();
        encoded
    }

    async fn receive(&self) -> Received {
        let received = tokio::time::timeout(Duration::from_secs(10), self.link.receive()).await.expect("within 10 s");
        let [received] = <[Received; 1]>::try_from(received.unwrap()).unwrap();
        received
    }
}

async fn open(folder: &Path, proxy: &Proxy) -> CcsdsLink {
    let options = CcsdsOptions { target: proxy.address(), local: None, record: folder.join("link.jsonl") };
    CcsdsLink::open(platform(), &options).await.unwrap()
}

#[tokio::test]
async fn a_ping_is_verified_by_its_reports_and_answered_by_its_pong() {
    let mut ground = Ground::start(None).await;
    ground.send("A", PING).await;
    for _ in 0..4 {
        ground.receive().await;
    }
    // The next process counts on: this one has the measured bytes.
    ground.link = open(ground.folder.path(), &ground.proxy).await;
    let ping = ground.send("B", PING).await;
    assert_eq!(ping.request.to_string(), "1802c001");

    let mut told = Vec::new();
    for _ in 0..4 {
        let received = ground.receive().await;
        assert!(received.time.is_some());
        match received.report {
            Some(report) => {
                assert_eq!((report.request, report.failure), (ping.request, None));
                told.push(format!("{:?}", report.phase));
            }
            None => {
                assert_eq!(received.samples[0].value, Some(Value::Bool(true)));
                told.push("pong".to_owned());
            }
        }
    }
    assert_eq!(told, ["Acceptance", "Start", "pong", "Completion"]);

    let up: Vec<_> = ground.proxy.bytes(Direction::Up).iter().map(|bytes| hex::encode(bytes)).collect();
    assert_eq!(up, ["1802c00000062f11010000a7d2", "1802c00100062f11010000e001"]);
    let record: Vec<HandOver> = Record::read(&ground.folder.path().join("link.jsonl")).unwrap();
    assert_eq!(record.iter().map(|entry| entry.id.as_str()).collect::<Vec<_>>(), ["A", "B"]);
    assert_eq!(record.into_iter().filter_map(|entry| entry.bytes).collect::<Vec<_>>(), up);
    assert!(ground.link.oddities().is_empty());
}

#[tokio::test]
async fn a_service_that_the_target_lacks_fails_at_its_start_with_the_label_of_its_code() {
    let ground = Ground::start(None).await;
    let perform = ground.send("A", PERFORM).await;
    let accepted = ground.receive().await.report.unwrap();
    assert_eq!((accepted.request, accepted.phase, accepted.failure), (perform.request, Phase::Acceptance, None));
    let failed = ground.receive().await.report.unwrap();
    assert_eq!((failed.request, failed.phase), (perform.request, Phase::Start));
    assert_eq!(failed.failure.unwrap().to_string(), "513 (invalid service)");
}

#[tokio::test]
async fn packets_spoilt_on_the_way_are_counted_and_the_next_come_through() {
    // The acceptance report loses its last byte, the start report has a bit turned, what follows comes as it is.
    let mut number = 0;
    let fate: Fate = Box::new(move |seen| {
        let mut bytes = seen.bytes.clone();
        if seen.direction == Direction::Down {
            number += 1;
            match number {
                1 => drop(bytes.pop()),
                2 => bytes[20] ^= 1,
                _ => {}
            }
        }
        vec![bytes]
    });
    let ground = Ground::start(Some(fate)).await;
    ground.send("A", PING).await;
    assert_eq!(ground.receive().await.report, None, "the pong");
    assert_eq!(ground.receive().await.report.unwrap().phase, Phase::Completion);
    let told: Vec<_> = ground.link.take_news().iter().map(ToString::to_string).collect();
    assert_eq!(told, ["fewer bytes than a space packet tells", "a packet with a wrong checksum"]);
}
