//! The link as its gateway sees it, against a socket in place of the target.

use std::time::Duration;

use stellar_vm::time::{Instant, Scale};
use stellar_vm::value::Value;
use tokio::net::UdpSocket;
use tokio::sync::mpsc;

use super::packet::tests::telemetry;
use super::testing::{parameter, platform, telecommand};
use super::*;
use crate::gateway::TelecommandOrder;
use crate::gateway::link::{Delivery, Inbox, RawSample, Received};
use stellar_vm::catalogue::Stage;

const DEADLINE: Instant = Instant { ns: i64::MAX, scale: Scale::Utc };

struct Ground {
    folder: tempfile::TempDir,
    clock: Clock,
    target: SocketAddr,
    replayed_after: Option<i64>,
}

/// A link that is started.
struct Started {
    link: CcsdsLink,
    past: Vec<Past>,
    deliveries: mpsc::Receiver<Delivery>,
}

impl Ground {
    fn new(target: SocketAddr) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, clock: Clock::real(Scale::Utc).unwrap(), target, replayed_after: None }
    }

    fn link(&self) -> CcsdsLink {
        let record = self.folder.path().join("link.jsonl");
        let options = CcsdsOptions { target: self.target, local: None, record, replayed_after: self.replayed_after };
        CcsdsLink::new(platform(), options, self.clock.clone()).unwrap()
    }

    fn start(&self, claimed: Vec<Past>) -> Started {
        let (inbox, deliveries) = Inbox::channel(16);
        let mut link = self.link();
        let past = link.start(Start { inbox, claimed }).unwrap();
        Started { link, past, deliveries }
    }

    fn lines(&self) -> Vec<RecordLine> {
        Record::read(&self.folder.path().join("link.jsonl")).unwrap()
    }
}

impl Started {
    fn ping(&mut self, id: &str) -> Frame {
        let command = Command {
            id: id.into(),
            telecommand: telecommand::PING,
            index: None,
            args: Vec::new(),
            route: "direct".into(),
            deadline: DEADLINE,
        };
        self.link.encode(&command).unwrap()
    }

    async fn hand_over(&mut self, frame: &Frame) -> Result<(), HandOverError> {
        let order = TelecommandOrder {
            id: frame.id.clone(),
            run: Some("R".into()),
            telecommand: "ping".into(),
            component: "pus".into(),
            args: Default::default(),
            route: "direct".into(),
            deadline: DEADLINE,
        };
        self.link.hand_over(HandOver { frame, order: &order, at: DEADLINE }).await
    }

    async fn received(&mut self) -> Received {
        match tokio::time::timeout(Duration::from_secs(10), self.deliveries.recv()).await {
            Ok(Some(Delivery::Received(received, _))) => received,
            other => panic!("{other:?}"),
        }
    }

    fn address(&self) -> SocketAddr {
        self.link.open.as_ref().unwrap().udp.local().unwrap()
    }
}

fn anomaly(kind: &'static str, detail: &str) -> Received {
    Received::Anomaly { kind, detail: detail.to_owned() }
}

fn pong(replayed: bool) -> Received {
    let samples = vec![
        RawSample { parameter: parameter::PONG, index: None, value: Some(Value::Bool(true)) },
        RawSample { parameter: parameter::REPLIES, index: None, value: Some(Value::Int(0)) },
    ];
    Received::Samples { samples, replayed }
}

const UP: Received = Received::Link { up: true, reason: None };

#[tokio::test]
async fn what_leaves_is_in_the_record_and_names_go_on_over_a_restart() {
    let target = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let ground = Ground::new(target.local_addr().unwrap());
    let packets = ["1802c00000062f11010000a7d2", "1802c00100062f11010000e001"];
    for (number, packet) in packets.into_iter().enumerate() {
        let mut started = ground.start(Vec::new());
        assert_eq!(started.past.len(), number);
        let ping = started.ping(&format!("T{number}"));
        started.hand_over(&ping).await.unwrap();
        let mut buffer = [0; 64];
        let (length, _) = target.recv_from(&mut buffer).await.unwrap();
        assert_eq!(line::hex(&buffer[..length]), packet);
        let last = ground.lines().pop().unwrap();
        assert_eq!((&*last.id, &*last.name, last.bytes.as_deref()), (&*ping.id, &*ping.name, Some(packet)));
        assert_eq!((last.run.as_deref(), last.telecommand.as_str()), (Some("R"), "pus.ping"));
    }
    let names: Vec<_> = ground.start(Vec::new()).past.into_iter().map(|past| past.name).collect();
    assert_eq!(names, ["1802c000".into(), "1802c001".into()]);
}

#[tokio::test]
async fn names_go_on_behind_what_was_claimed_and_never_came_to_the_record() {
    let ground = Ground::new("127.0.0.1:9".parse().unwrap());
    let claimed = Past { id: "A".into(), name: "1802c041".into(), deadline: Some(DEADLINE) };
    assert_eq!(&*ground.start(vec![claimed]).ping("B").name, "1802c042");
}

#[tokio::test]
async fn what_the_network_refuses_never_left_and_is_noted_so() {
    // Nothing can be sent to port 0.
    let ground = Ground::new("127.0.0.1:0".parse().unwrap());
    let mut started = ground.start(Vec::new());
    let ping = started.ping("A");
    assert!(matches!(started.hand_over(&ping).await, Err(HandOverError::Refused(_))));
    let [line, note] = <[RecordLine; 2]>::try_from(ground.lines()).unwrap();
    assert!(line.bytes.is_some() && line.refused.is_none());
    assert!(note.bytes.is_none() && note.refused.is_some());
    assert_ne!(started.ping("B").name, ping.name, "a name is used once");
    let mut again = ground.start(Vec::new());
    assert_eq!(again.past, []);
    assert_ne!(again.ping("C").name, ping.name, "also over a restart");
}

#[tokio::test]
async fn noise_is_told_and_what_is_of_use_comes_through_in_order() {
    let target = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let ground = Ground::new(target.local_addr().unwrap());
    let mut started = ground.start(Vec::new());
    assert_eq!(started.received().await, UP);
    let to = started.address();
    let stranger = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    stranger.send_to(&telemetry(17, 2, &[]), to).await.unwrap();
    let from = stranger.local_addr().unwrap();
    let words = format!("bytes from an address that is not the target's ({from})");
    assert_eq!(started.received().await, anomaly("stranger", &words));

    target.send_to(&[0xff; 30], to).await.unwrap();
    assert_eq!(started.received().await, anomaly("bad-version", "a space packet of an unknown version"));

    let name = [0x18, 0x02, 0xc0, 0x01];
    let failure = [&name[..], &[2, 1]].concat();
    let packets = [telemetry(17, 2, &[]), telemetry(1, 5, &name), telemetry(1, 8, &failure), telemetry(1, 6, &name)];
    target.send_to(&packets.concat(), to).await.unwrap();
    assert_eq!(started.received().await, pong(false));
    for code in ["513 (invalid service)", "without code"] {
        let failure = Some(code.to_owned());
        let report = Received::Report { name: "1802c001".into(), stage: Stage::Completed, failure };
        assert_eq!(started.received().await, report);
    }
}

#[tokio::test]
async fn what_is_played_back_is_marked_and_its_reports_are_not_taken_for_new_ones() {
    let target = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let mut ground = Ground::new(target.local_addr().unwrap());
    // The packets of these tests are of a fixed day; either they are older than nothing, or not yet a century old.
    for (replayed_after, replayed) in [(i64::MIN, true), (100 * 365 * 86_400 * 1_000_000_000, false)] {
        ground.replayed_after = Some(replayed_after);
        let mut started = ground.start(Vec::new());
        assert_eq!(started.received().await, UP);
        let packets = [telemetry(17, 2, &[]), telemetry(1, 1, &[0x18, 0x02, 0xc0, 0x01])].concat();
        target.send_to(&packets, started.address()).await.unwrap();
        assert_eq!(started.received().await, pong(replayed));
        let second = if replayed {
            anomaly("replayed-report", "a verification report that is played back")
        } else {
            Received::Report { name: "1802c001".into(), stage: Stage::Accepted, failure: None }
        };
        assert_eq!(started.received().await, second);
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_is_told_at_the_start() {
    let taken = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let ground = Ground::new("127.0.0.1:9".parse().unwrap());
    let mut link = ground.link();
    link.options.local = taken.local_addr().ok();
    let (inbox, _deliveries) = Inbox::channel(1);
    let error = link.start(Start { inbox, claimed: Vec::new() }).unwrap_err();
    assert!(error.starts_with("no socket for the target at 127.0.0.1:9: "), "{error}");
}
