//! Bytes that come over a network link: datagrams of space packets.
//!
//! They are read as the `ccsds` link reads them, once as they are and once with length and checksum of each packet
//! repaired, so that what stands behind these two is reached. The standard PUS-C platform and one with every kind of
//! field are tried.

use std::sync::{Arc, LazyLock};

use stellar_compiler::{
    catalogue::{Options, compile},
    source::{Origin, Sources},
};
use stellar_runtime::gateway::link::{Received, ccsds::Datagrams};
use stellar_vm::{catalogue::Platform, time::Instant};

const PRIMARY: usize = 6;

/// Every platform with a `ccsds` part among the repository's catalogues.
static PLATFORMS: LazyLock<Vec<(Arc<Platform>, Datagrams)>> = LazyLock::new(|| {
    let mut sources = Sources::default();
    let mut platforms = Vec::new();
    for (name, bytes) in super::seeds::catalogues() {
        let file = sources.add(&name, &bytes, Origin::Project);
        let (catalogue, found) = compile(&[file], &sources, &Options::default());
        if found.iter().any(|it| it.is_error()) {
            continue;
        }
        for platform in catalogue.compiled().platforms.into_iter().filter(|platform| platform.ccsds.is_some()) {
            let platform = Arc::new(platform);
            let datagrams = Datagrams::new(Arc::clone(&platform)).expect("a good catalogue has a table");
            platforms.push((platform, datagrams));
        }
    }
    assert!(platforms.len() > 1, "there are platforms with packets");
    platforms
});

/// Tries one input.
///
/// # Panics
/// Where something does not hold.
pub fn holds(data: &[u8]) {
    let utc: Instant = "2026-10-02T10:15:00Z".parse().expect("an instant");
    for (platform, datagrams) in PLATFORMS.iter() {
        let checksum = platform.ccsds.as_ref().is_some_and(|link| link.checksum);
        for datagram in [data.to_vec(), repaired(data, checksum)] {
            for replayed_after in [None, Some(0), Some(i64::MAX)] {
                let received = datagrams.read(&datagram, replayed_after, utc);
                received.iter().for_each(|one| judge(one, platform, datagram.len()));
            }
        }
    }
}

fn judge(received: &Received, platform: &Platform, bytes: usize) {
    match received {
        Received::Report { name, failure, .. } => {
            assert_eq!(name.len(), 8, "a request is named by four bytes");
            assert!(failure.as_ref().is_none_or(|failure| !failure.is_empty()));
        }
        Received::Samples { samples, .. } => {
            assert!(!samples.is_empty() && bytes > PRIMARY);
            for sample in samples {
                let parameter =
                    platform.parameters.get(sample.parameter as usize).expect("a parameter of the platform");
                let component = &platform.components[parameter.component as usize];
                let fits = match (component.index, sample.index) {
                    (None, None) => true,
                    (Some((least, greatest)), Some(index)) => (least..=greatest).contains(&index),
                    _ => false,
                };
                assert!(fits, "{}.{} with index {:?}", component.name, parameter.name, sample.index);
            }
        }
        Received::Link { .. } => panic!("a datagram says nothing of the link"),
        Received::Anomaly { kind, detail } => assert!(!kind.is_empty() && !detail.is_empty()),
    }
}

/// The packets of a datagram with version, length and checksum as they must be.
fn repaired(data: &[u8], checksum: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = data;
    while rest.len() > PRIMARY {
        // The length that stands there says where the packet ends, as far as there are so many bytes.
        let told = usize::from(u16::from_be_bytes([rest[4], rest[5]])) % 256 + PRIMARY + 1;
        let (packet, behind) = rest.split_at(told.min(rest.len()));
        let mut packet = packet.to_vec();
        packet[0] &= 0x0f;
        let more = if checksum { 2 } else { 0 };
        let length = u16::try_from(packet.len() + more - PRIMARY - 1).expect("a short packet");
        packet[4..6].copy_from_slice(&length.to_be_bytes());
        if checksum {
            let sum = crc(&packet);
            packet.extend(sum.to_be_bytes());
        }
        out.extend(packet);
        rest = behind;
    }
    out.extend(rest);
    out
}

/// CRC-16/IBM-3740, written out: the test is not to be wrong where the link is.
fn crc(bytes: &[u8]) -> u16 {
    let step = |sum: u16, _: u8| if sum & 0x8000 == 0 { sum << 1 } else { (sum << 1) ^ 0x1021 };
    bytes.iter().fold(0xffff, |sum, byte| (0..8).fold(sum ^ (u16::from(*byte) << 8), step))
}

/// A few datagrams for a platform: each of its packets, all bits 0 and all bits 1, long and short.
pub(super) fn some(platform: &Platform) -> Vec<Vec<u8>> {
    let Some(link) = &platform.ccsds else { return Vec::new() };
    let mut datagrams = Vec::new();
    for packet in link.packets.iter().take(20) {
        let apid = packet.apid.to_be_bytes();
        for (byte, length) in [(0, 64), (0xff, 64), (0x55, 5), (1, 300)] {
            let mut bytes =
                vec![0x08 | apid[0], apid[1], 0xc0, 0, 0, 255, 0x20, packet.service, packet.subtype, 0, 0, 0, 0];
            bytes.extend(std::iter::repeat_n(0, usize::from(link.time_bytes)));
            bytes.extend(std::iter::repeat_n(byte, length));
            datagrams.push(repaired(&bytes, link.checksum));
        }
    }
    datagrams
}
