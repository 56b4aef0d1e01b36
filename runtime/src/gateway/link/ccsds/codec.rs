//! Both directions of the link as one pure thing: telecommands to bytes, bytes to reports and samples.

use std::sync::Arc;

use stellar_vm::catalogue::Platform;
use stellar_vm::value::Value;

use super::counts::Counts;
use super::oddity::{Oddities, Oddity};
use super::packet::{self, First, Packet};
use super::report::{self, Report};
use super::request::RequestId;
use super::table::{Sample, Table, TableError};
use super::telecommand::{self, EncodeError};

/// The codec of one target: its platform's table and its own sequence counts.
#[derive(Debug)]
pub struct Codec {
    platform: Arc<Platform>,
    table: Table,
    counts: Counts,
    oddities: Oddities,
}

/// A telecommand packet, ready to leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// The packet, its checksum included.
    pub bytes: Vec<u8>,
    /// What its reports will call it.
    pub request: RequestId,
}

/// A telemetry packet that the catalogue knows.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    /// On-board time in nanoseconds of UTC since 1970, where the packet has one.
    pub time: Option<i64>,
    /// What it reports on a telecommand.
    pub report: Option<Report>,
    /// The samples in it, in the order of the catalogue.
    pub samples: Vec<Sample>,
}

impl Codec {
    /// A codec whose sequence counts begin at 0; see [`Codec::used`].
    ///
    /// # Errors
    /// Where a field of the platform's telemetry cannot be read as the catalogue says.
    pub fn new(platform: Arc<Platform>) -> Result<Self, TableError> {
        let table = Table::new(&platform)?;
        Ok(Self { platform, table, counts: Counts::default(), oddities: Oddities::default() })
    }

    /// Encodes a telecommand under the next sequence count of its application process.
    ///
    /// `args` are the arguments in the order of the catalogue; `under_way` tells whether the window of a telecommand with
    /// that name is still open, so that no two can be taken for each other. The count is used up by [`Codec::used`] only.
    ///
    /// # Errors
    /// Where the catalogue has no packet for it, a value does not go into its field, or all 16,384 counts are under way.
    pub fn encode(
        &self,
        telecommand: u32,
        index: Option<i64>,
        args: &[Value],
        under_way: impl Fn(RequestId) -> bool,
    ) -> Result<Encoded, EncodeError> {
        // The name is the first four bytes, and only the count in it differs from telecommand to telecommand.
        let packet = |count| telecommand::encode(&self.platform, telecommand, index, args, count);
        let request = |bytes: &[u8]| {
            RequestId::of(bytes)
                .ok_or_else(|| EncodeError::Packet(self.platform.name.clone(), "it is empty".to_owned()))
        };
        let any = request(&packet(0)?)?;
        let count = self.counts.next(any.apid(), |count| under_way(any.with_count(count)));
        let bytes = packet(count.ok_or(EncodeError::NoCount(any.apid()))?)?;
        Ok(Encoded { request: request(&bytes)?, bytes })
    }

    /// Goes on counting behind a telecommand that was claimed, by this process or, at a start, by an earlier one.
    pub fn used(&mut self, request: RequestId) {
        self.counts.used(request);
    }

    /// Reads the packets in one datagram; what cannot be used is counted in [`Codec::oddities`].
    pub fn decode(&mut self, datagram: &[u8]) -> Vec<Received> {
        let Some((time_bytes, checksum)) = self.platform.ccsds.as_ref().map(|link| (link.time_bytes, link.checksum))
        else {
            return Vec::new();
        };
        if datagram.is_empty() {
            self.oddities.note(Oddity::Short);
        }
        let mut received = Vec::new();
        let mut rest = datagram;
        while !rest.is_empty() {
            let (first, behind) = packet::first(rest, time_bytes, checksum);
            rest = behind;
            match first {
                First::Packet(packet) => received.extend(self.read(&packet)),
                First::Idle => {}
                First::Odd(oddity) => self.oddities.note(oddity),
            }
        }
        received
    }

    fn read(&mut self, packet: &Packet<'_>) -> Option<Received> {
        let report = match &self.platform.ccsds {
            Some(link) if packet.service == report::SERVICE => {
                let report = report::read(packet, link);
                if report.is_none() {
                    self.oddities.note(Oddity::Report { subtype: packet.subtype });
                }
                report
            }
            _ => None,
        };
        let samples = self.table.read(packet, &mut self.oddities);
        if samples.is_none() && packet.service != report::SERVICE {
            let Packet { apid, service, subtype, .. } = *packet;
            self.oddities.note(Oddity::Packet { apid, service, subtype });
        }
        if report.is_none() && samples.is_none() {
            return None;
        }
        Some(Received { time: packet.time, report, samples: samples.unwrap_or_default() })
    }

    /// What was received and could not be used.
    pub fn oddities(&mut self) -> &mut Oddities {
        &mut self.oddities
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::packet::tests::telemetry;
    use super::super::report::Phase;
    use super::super::testing::{parameter, platform, telecommand};
    use super::*;

    fn codec() -> Codec {
        Codec::new(platform()).unwrap()
    }

    fn encoded(codec: &Codec, telecommand: u32, index: Option<i64>, args: &[Value]) -> Result<Vec<u8>, EncodeError> {
        codec.encode(telecommand, index, args, |_| false).map(|encoded| encoded.bytes)
    }

    fn sample(parameter: u32, index: Option<i64>, value: Value) -> Sample {
        Sample { parameter, index, value: Some(value) }
    }

    fn samples(codec: &mut Codec, packet: &[u8]) -> Vec<Sample> {
        codec.decode(packet).into_iter().flat_map(|received| received.samples).collect()
    }

    const PING: [u8; 13] = [0x18, 0x02, 0xc0, 0x01, 0x00, 0x06, 0x2f, 0x11, 0x01, 0x00, 0x00, 0xe0, 0x01];

    #[test]
    fn a_ping_has_the_measured_bytes_and_counts_go_on_from_what_was_used() {
        let mut codec = codec();
        codec.used(RequestId::parse("1802c000").unwrap());
        let ping = codec.encode(telecommand::PING, None, &[], |_| false).unwrap();
        assert_eq!(ping.bytes, PING);
        assert_eq!(ping.request.to_string(), "1802c001");
        assert_eq!(codec.encode(telecommand::PING, None, &[], |_| false), Ok(ping.clone()), "not used up by asking");
        let next = codec.encode(telecommand::PING, None, &[], |request| request == ping.request).unwrap();
        assert_eq!(next.request.to_string(), "1802c002");
        let none = codec.encode(telecommand::PING, None, &[], |_| true);
        assert_eq!(none, Err(EncodeError::NoCount(2)));
    }

    #[test]
    fn arguments_the_index_and_constants_stand_bit_by_bit() {
        let args = [Value::Float(1.5), Value::Enum { def: 0, label: 1 }];
        let bytes = encoded(&codec(), telecommand::SET, Some(3), &args).unwrap();
        assert_eq!(bytes[6..17], [0x2f, 8, 1, 0, 0, 0x2a, 0x37, 0x3f, 0xc0, 0, 0]);
        assert_eq!(bytes.len(), 19);
        assert_eq!(bytes[4..6], [0, 12]);
    }

    #[test]
    fn what_cannot_be_encoded_is_told_in_words() {
        let codec = codec();
        let power = Value::Float(1.5);
        let safe = Value::Enum { def: 0, label: 1 };
        for (result, words) in [
            (encoded(&codec, 99, None, &[]), "the platform `demo` has no telecommand number 99"),
            (
                encoded(&codec, telecommand::UNENCODED, None, &[]),
                "the catalogue has no `ccsds` packet for the telecommand `unencoded`",
            ),
            (
                encoded(&codec, telecommand::SET, None, &[power.clone(), safe.clone()]),
                "`set` has no value for the index of the component",
            ),
            (
                encoded(&codec, telecommand::SET, Some(1), std::slice::from_ref(&power)),
                "`set` has no value for the argument `mode`",
            ),
            (
                encoded(&codec, telecommand::SET, Some(16), &[power, safe.clone()]),
                "the index of the component of `set`: it does not fit into an unsigned field of 4 bits",
            ),
            (
                encoded(&codec, telecommand::SET, Some(1), &[Value::Str("x".into()), safe]),
                "the argument `power` of `set`: it cannot be written as a float of 32 bits",
            ),
            (
                encoded(&codec, telecommand::WIDE, None, &[Value::Str("x".into())]),
                "the packet of `wide` is no space packet: it is longer than 65,542 bytes",
            ),
        ] {
            assert_eq!(result.unwrap_err().to_string(), words);
        }
    }

    #[test]
    fn a_pong_is_telemetry_and_a_report_names_its_telecommand() {
        let mut codec = codec();
        let mut pong = telemetry(17, 2, &[]);
        pong.extend(telemetry(1, 4, &[0x18, 0x02, 0xc0, 0x01, 0x02, 0x01]));
        let received = codec.decode(&pong);
        let [pong, report] = received.as_slice() else { panic!("{received:?}") };
        assert_eq!(pong.time, Some(1_795_996_800_000_000_000));
        assert_eq!(pong.report, None);
        assert_eq!(
            pong.samples,
            [sample(parameter::PONG, None, Value::Bool(true)), sample(parameter::REPLIES, None, Value::Int(0))]
        );
        let report = report.report.as_ref().unwrap();
        assert_eq!((report.request.to_string().as_str(), report.phase), ("1802c001", Phase::Start));
        assert_eq!(report.failure.as_ref().unwrap().to_string(), "513 (invalid service)");
        assert!(codec.oddities().take_news().is_empty());
    }

    #[test]
    fn a_mark_tells_packets_apart_and_fields_name_their_instance() {
        let mut codec = codec();
        let unit = telemetry(3, 25, &[1, 2, 7, 100]);
        assert_eq!(
            samples(&mut codec, &unit),
            [
                sample(parameter::MODE, Some(2), Value::Enum { def: 0, label: 1 }),
                sample(parameter::TEMPERATURE, Some(2), Value::Float(10.0)),
            ]
        );
        let bus = telemetry(3, 25, &[2, 10, 20, 30, 40, 0x40, 0x11, 0x1f, 0, 0, 0, 1]);
        let currents = (1..=4).map(|index| sample(parameter::CURRENT, Some(index), Value::Int(index * 10)));
        let clock = sample(parameter::CLOCK, None, Value::Time(1_000_000));
        assert_eq!(samples(&mut codec, &bus), currents.chain([clock]).collect::<Vec<_>>());
        assert!(codec.oddities().take_news().is_empty());
    }

    #[test]
    fn what_a_packet_lacks_or_has_wrong_is_counted_and_the_rest_is_read() {
        let mut codec = codec();
        // An unknown mode is an invalid sample; the temperature stands.
        let unit = samples(&mut codec, &telemetry(3, 25, &[1, 2, 9, 100]));
        assert_eq!(unit[0], Sample { parameter: parameter::MODE, index: Some(2), value: None });
        assert_eq!(unit[1], sample(parameter::TEMPERATURE, Some(2), Value::Float(10.0)));
        // There is no fifth unit.
        assert_eq!(samples(&mut codec, &telemetry(3, 25, &[1, 5, 0, 0])), []);
        // The packet ends behind the second current.
        assert_eq!(samples(&mut codec, &telemetry(3, 25, &[2, 10, 20])).len(), 2);
        // No packet has this mark; no packet has this service; a report without a name.
        for packet in [telemetry(3, 25, &[3]), telemetry(3, 26, &[]), telemetry(1, 1, &[0])] {
            assert_eq!(codec.decode(&packet), []);
        }
        codec.decode(&[]);
        codec.decode(&PING);
        let counts: Vec<_> = codec.oddities().counts().iter().map(|(oddity, count)| (*oddity, *count)).collect();
        assert_eq!(
            counts,
            [
                (Oddity::Short, 1),
                (Oddity::Telecommand, 1),
                (Oddity::Report { subtype: 1 }, 1),
                (Oddity::Packet { apid: 2, service: 3, subtype: 25 }, 1),
                (Oddity::Packet { apid: 2, service: 3, subtype: 26 }, 1),
                (Oddity::MissingField { parameter: parameter::CURRENT }, 1),
                (Oddity::MissingField { parameter: parameter::CLOCK }, 1),
                (Oddity::BadField { parameter: parameter::MODE }, 1),
                (Oddity::BadIndex { parameter: parameter::MODE }, 1),
                (Oddity::BadIndex { parameter: parameter::TEMPERATURE }, 1),
            ]
        );
    }

    proptest! {
        #[test]
        fn no_datagram_panics(
            bytes in prop::collection::vec(any::<u8>(), 0..80),
            service in prop_oneof![Just(1_u8), Just(3), Just(17)], subtype in 0_u8..30,
        ) {
            let mut codec = codec();
            codec.decode(&bytes);
            codec.decode(&telemetry(service, subtype, &bytes));
        }
    }
}
