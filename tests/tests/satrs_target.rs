//! The satrs target on the wire: its replies byte for byte, and how it refuses.

#![cfg(test)]

use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use stellar_tests::hex;
use stellar_tests::satrs_target::{INVALID_SERVICE, INVALID_SUBTYPE, process::TargetProcess};

const PROGRAM: &str = env!("CARGO_BIN_EXE_satrs-target");
const PING: &str = "1802c00100062f11010000e001";
/// Bytes 13 to 19 of a report: CDS short, after the space packet header and seven bytes of the secondary header.
const TIME: std::ops::Range<usize> = 13..20;

struct Ground {
    target: TargetProcess,
    socket: UdpSocket,
}

fn connect(target: &TargetProcess) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(target.address()).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    socket
}

impl Ground {
    fn start() -> Self {
        let target = TargetProcess::start(PROGRAM, 0).unwrap();
        let socket = connect(&target);
        Self { target, socket }
    }

    fn send(&self, packet: &[u8]) {
        self.socket.send(packet).unwrap();
    }

    fn receive(&self) -> Vec<u8> {
        let mut buffer = [0; 2048];
        let length = self.socket.recv(&mut buffer).expect("a reply within 10 s");
        buffer[..length].to_vec()
    }
}

/// A telecommand packet of APID 2 without arguments, with all acknowledgement flags.
fn telecommand(count: u16, service: u8, subtype: u8) -> Vec<u8> {
    let mut packet = hex::decode("1802c00000062f00000000").unwrap();
    packet[2..4].copy_from_slice(&(0xc000 | count).to_be_bytes());
    packet[7..9].copy_from_slice(&[service, subtype]);
    let crc = crc::Crc::<u16>::new(&crc::CRC_16_IBM_3740).checksum(&packet);
    packet.extend(crc.to_be_bytes());
    packet
}

/// The packet in hexadecimal with its time masked, after its own checksum was seen to be right.
fn masked(packet: &[u8]) -> String {
    assert_eq!(crc::Crc::<u16>::new(&crc::CRC_16_IBM_3740).checksum(packet), 0, "the checksum of {packet:02x?}");
    assert_eq!(packet[13], 0x40, "a preamble of CDS short");
    let mut packet = packet[..packet.len() - 2].to_vec();
    packet[TIME].fill(0);
    hex::encode(&packet)
}

/// A reply as it was measured on the wire, masked like `masked` does.
fn measured(reply: &str) -> String {
    masked(&hex::decode(reply).unwrap())
}

#[test]
fn a_ping_gets_the_measured_replies_and_its_pong_precedes_the_completion() {
    let ground = Ground::start();
    assert_eq!(hex::encode(&telecommand(1, 17, 1)), PING);
    ground.send(&hex::decode(PING).unwrap());
    for reply in [
        "0802c000001320010100000000406252041b85761802c001344c",
        "0802c001001320010300010000406252041b863b1802c0012440",
        "0802c002000f20110200000000406252041b863b5a1a",
        "0802c003001320010700020000406252041b863b1802c00192fc",
    ] {
        assert_eq!(masked(&ground.receive()), measured(reply));
    }
}

#[test]
fn a_service_that_it_lacks_fails_at_its_start_report_with_a_code() {
    let ground = Ground::start();
    ground.send(&telecommand(7, 8, 1));
    assert_eq!(masked(&ground.receive()), "0802c000001320010100000000000000000000001802c007");
    let failure = ground.receive();
    assert_eq!(failure[7..9], [1, 4]);
    assert_eq!(failure[20..24], [0x18, 0x02, 0xc0, 0x07]);
    assert_eq!(failure[24..26], INVALID_SERVICE.to_be_bytes());
    assert_eq!(failure.len(), 28);
}

#[test]
fn a_subtype_that_it_lacks_fails_at_its_start_report_with_another_code() {
    let ground = Ground::start();
    ground.send(&telecommand(3, 17, 9));
    assert_eq!(ground.receive()[7..9], [1, 1]);
    let failure = ground.receive();
    assert_eq!(failure[7..9], [1, 4]);
    assert_eq!(failure[24..26], INVALID_SUBTYPE.to_be_bytes());
}

#[test]
fn bytes_with_a_wrong_checksum_get_silence() {
    let ground = Ground::start();
    let mut broken = telecommand(1, 17, 1);
    *broken.last_mut().unwrap() ^= 1;
    ground.send(&broken);
    ground.send(&[]);
    ground.send(&[0x18]);
    ground.send(&telecommand(2, 17, 1));
    // The first that comes answers the last that was sent, and nothing was numbered before it.
    let first = ground.receive();
    assert_eq!(first[2..4], [0xc0, 0x00]);
    assert_eq!(first[20..24], [0x18, 0x02, 0xc0, 0x02]);
}

#[test]
fn replies_go_to_who_sent_last() {
    let ground = Ground::start();
    let other = connect(&ground.target);
    ground.send(&telecommand(1, 17, 1));
    for _ in 0..4 {
        ground.receive();
    }
    other.send(&telecommand(2, 17, 1)).unwrap();
    let mut reply = [0; 64];
    other.recv(&mut reply).expect("a reply within 10 s");
    assert_eq!(reply[20..24], [0x18, 0x02, 0xc0, 0x02]);
}

#[test]
fn it_ends_when_its_input_closes_and_takes_no_address_but_loopback() {
    let mut child = Command::new(PROGRAM).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    drop(child.stdin.take());
    let limit = Instant::now() + Duration::from_secs(10);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(Instant::now() < limit, "still there 10 s after its input closed");
        std::thread::yield_now();
    };
    assert!(status.success());

    let refused = Command::new(PROGRAM).args(["--listen", "0.0.0.0:0"]).stdin(Stdio::null()).output().unwrap();
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("not a loopback address"));
}
