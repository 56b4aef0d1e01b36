//! The frame of a telemetry packet: headers, length, time and checksum, of bytes that are hostile.
//!
//! spacepackets reads the space packet header, the checksum's table and the time code. The secondary header is read
//! here: its reader panics on a packet that ends inside the time field, and on a PUS version it does not know.

use spacepackets::crc::CRC_CCITT_FALSE;
use spacepackets::{CcsdsPacket, SpHeader};

use super::oddity::Oddity;
use super::time;

const CHECKSUM_BYTES: usize = 2;
/// PUS version, service, subtype, message counter, destination; the time follows.
const SECONDARY_BYTES: usize = 7;
/// The version of PUS-C, in the high half of the first byte of the secondary header.
const PUS_C: u8 = 2;
/// The application process identifier of idle packets.
const IDLE: u16 = 0x7ff;

/// A telemetry packet, its frame taken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packet<'bytes> {
    pub(super) apid: u16,
    pub(super) count: u16,
    pub(super) service: u8,
    pub(super) subtype: u8,
    /// On-board time in nanoseconds of UTC since 1970, where its code is CDS short.
    pub(super) time: Option<i64>,
    pub(super) data: &'bytes [u8],
}

/// What a run of bytes begins with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum First<'bytes> {
    /// A packet.
    Packet(Packet<'bytes>),
    /// A packet without information, sent to fill the channel.
    Idle,
    /// Something that cannot be used.
    Odd(Oddity),
}

/// Takes the first packet off `bytes` and gives the rest, which is empty where no more packets can be told apart.
pub(super) fn first(bytes: &[u8], time_bytes: u8, checksum: bool) -> (First<'_>, &[u8]) {
    let Ok((header, _)) = SpHeader::from_be_bytes(bytes) else {
        return (First::Odd(Oddity::Short), &[]);
    };
    if header.ccsds_version().value() != 0 {
        return (First::Odd(Oddity::Version), &[]);
    }
    match bytes.split_at_checked(header.packet_len()) {
        Some((packet, rest)) => (parse(&header, packet, time_bytes, checksum), rest),
        None => (First::Odd(Oddity::Short), &[]),
    }
}

fn parse<'bytes>(header: &SpHeader, packet: &'bytes [u8], time_bytes: u8, checksum: bool) -> First<'bytes> {
    let apid = header.apid().value();
    if header.is_tc() {
        return First::Odd(Oddity::Telecommand);
    }
    if apid == IDLE {
        return First::Idle;
    }
    if !header.sec_header_flag() {
        return First::Odd(Oddity::NoSecondaryHeader);
    }
    // Over the packet with its checksum behind it the sum is 0.
    if checksum && CRC_CCITT_FALSE.checksum(packet) != 0 {
        return First::Odd(Oddity::Checksum);
    }
    let end = packet.len() - if checksum { CHECKSUM_BYTES } else { 0 };
    let field = packet.get(SpHeader::LENGTH..end).unwrap_or_default();
    let Some((&[version, service, subtype, ..], behind)) = field.split_first_chunk::<SECONDARY_BYTES>() else {
        return First::Odd(Oddity::Truncated);
    };
    if version >> 4 != PUS_C {
        return First::Odd(Oddity::PusVersion);
    }
    let Some((stamp, data)) = behind.split_at_checked(usize::from(time_bytes)) else {
        return First::Odd(Oddity::Truncated);
    };
    First::Packet(Packet { apid, count: header.seq_count().value(), service, subtype, time: time::read(stamp), data })
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// TM[1,1] as it was measured.
    const ACCEPTANCE: &[u8] = &[
        0x08, 0x02, 0xc0, 0x00, 0x00, 0x13, 0x20, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x40, 0x62, 0x52, 0x04, 0x1b,
        0x85, 0x76, 0x18, 0x02, 0xc0, 0x01, 0x34, 0x4c,
    ];

    /// Writes length and checksum anew.
    pub(in super::super) fn sealed(mut packet: Vec<u8>) -> Vec<u8> {
        let length = u16::try_from(packet.len() + CHECKSUM_BYTES - SpHeader::LENGTH - 1).unwrap();
        packet[4..6].copy_from_slice(&length.to_be_bytes());
        let sum = CRC_CCITT_FALSE.checksum(&packet);
        packet.extend(sum.to_be_bytes());
        packet
    }

    /// A packet of APID 2 at day 25,170, midnight.
    pub(in super::super) fn telemetry(service: u8, subtype: u8, data: &[u8]) -> Vec<u8> {
        let head = [8, 2, 0xc0, 0, 0, 0, 0x20, service, subtype, 0, 0, 0, 0, 0x40, 0x62, 0x52, 0, 0, 0, 0];
        sealed([&head, data].concat())
    }

    fn odd(bytes: &[u8]) -> Option<Oddity> {
        match first(bytes, 7, true).0 {
            First::Odd(oddity) => Some(oddity),
            First::Packet(_) | First::Idle => None,
        }
    }

    #[test]
    fn the_measured_report_is_read() {
        let two = [ACCEPTANCE, ACCEPTANCE].concat();
        let (packet, rest) = first(&two, 7, true);
        assert_eq!(rest, ACCEPTANCE);
        let time = Some(1_795_996_800_000_000_000 + 0x041b_8576 * 1_000_000);
        let data = &ACCEPTANCE[20..24];
        assert_eq!(packet, First::Packet(Packet { apid: 2, count: 0, service: 1, subtype: 1, time, data }));
    }

    #[test]
    fn each_way_of_being_no_packet_has_its_kind() {
        assert_eq!(odd(&[]), Some(Oddity::Short));
        assert_eq!(odd(&ACCEPTANCE[..ACCEPTANCE.len() - 1]), Some(Oddity::Short));
        let changed = |place: usize, bits: u8| {
            let mut packet = ACCEPTANCE.to_vec();
            packet[place] ^= bits;
            odd(&sealed(packet[..packet.len() - 2].to_vec()))
        };
        assert_eq!(changed(0, 0x20), Some(Oddity::Version));
        assert_eq!(changed(0, 0x10), Some(Oddity::Telecommand));
        assert_eq!(changed(0, 0x08), Some(Oddity::NoSecondaryHeader));
        assert_eq!(changed(6, 0x30), Some(Oddity::PusVersion));
        let mut broken = ACCEPTANCE.to_vec();
        broken[20] ^= 1;
        assert_eq!(odd(&broken), Some(Oddity::Checksum));
        // It ends inside the time field, and inside the secondary header.
        assert_eq!(odd(&sealed(ACCEPTANCE[..19].to_vec())), Some(Oddity::Truncated));
        assert_eq!(odd(&sealed(ACCEPTANCE[..8].to_vec())), Some(Oddity::Truncated));
        assert_eq!(odd(&sealed(ACCEPTANCE[..20].to_vec())), None);
    }

    #[test]
    fn an_idle_packet_is_nothing_odd() {
        assert_eq!(first(&[0x07, 0xff, 0xc0, 0, 0, 0, 0xaa], 7, true).0, First::Idle);
    }

    proptest! {
        #[test]
        fn no_bytes_panic_and_the_rest_is_always_shorter(
            bytes in prop::collection::vec(any::<u8>(), 1..80), time_bytes in any::<u8>(), checksum in any::<bool>(),
            place in 0_usize..26, byte in any::<u8>(), cut in 0_usize..26,
        ) {
            prop_assert!(first(&bytes, time_bytes, checksum).1.len() < bytes.len());
            let mut packet = ACCEPTANCE.to_vec();
            packet[place] = byte;
            packet.truncate(cut);
            prop_assert!(first(&packet, time_bytes, checksum).1.len() <= packet.len());
            if cut >= 8 {
                first(&sealed(packet), time_bytes, checksum);
            }
        }
    }
}
