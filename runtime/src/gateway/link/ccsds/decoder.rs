//! From datagrams to reports and samples, purely; what cannot be used is told beside them.

use std::sync::Arc;

use stellar_vm::catalogue::Platform;

use super::oddity::Oddity;
use super::packet::{self, First, Packet};
use super::report::{self, Report};
use super::table::{Table, TableError};
use crate::gateway::link::RawSample;

/// Reads the telemetry of one platform.
#[derive(Debug)]
pub(super) struct Decoder {
    platform: Arc<Platform>,
    table: Table,
}

/// A telemetry packet that the catalogue knows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Known {
    /// On-board time in nanoseconds of UTC since 1970, where the packet has one.
    pub(super) time: Option<i64>,
    /// What it reports on a telecommand.
    pub(super) report: Option<Report>,
    /// The samples in it, in the order of the catalogue.
    pub(super) samples: Vec<RawSample>,
}

impl Decoder {
    /// Compiles the table of a platform.
    ///
    /// # Errors
    /// Where a field of its telemetry cannot be read as the catalogue says.
    pub(super) fn new(platform: Arc<Platform>) -> Result<Self, TableError> {
        Ok(Self { table: Table::new(&platform)?, platform })
    }

    /// Reads the packets in one datagram, and adds what cannot be used to `oddities`.
    pub(super) fn decode(&self, datagram: &[u8], oddities: &mut Vec<Oddity>) -> Vec<Known> {
        let Some((time_bytes, checksum)) = self.platform.ccsds.as_ref().map(|link| (link.time_bytes, link.checksum))
        else {
            return Vec::new();
        };
        if datagram.is_empty() {
            oddities.push(Oddity::Short);
        }
        let mut received = Vec::new();
        let mut rest = datagram;
        while !rest.is_empty() {
            let (first, behind) = packet::first(rest, time_bytes, checksum);
            rest = behind;
            match first {
                First::Packet(packet) => received.extend(self.read(&packet, oddities)),
                First::Idle => {}
                First::Odd(oddity) => oddities.push(oddity),
            }
        }
        received
    }

    fn read(&self, packet: &Packet<'_>, oddities: &mut Vec<Oddity>) -> Option<Known> {
        let report = match &self.platform.ccsds {
            Some(link) if packet.service == report::SERVICE => {
                let report = report::read(packet, link);
                if report.is_none() {
                    oddities.push(Oddity::Report { subtype: packet.subtype });
                }
                report
            }
            _ => None,
        };
        let samples = self.table.read(packet, oddities);
        if samples.is_none() && packet.service != report::SERVICE {
            let Packet { apid, service, subtype, .. } = *packet;
            oddities.push(Oddity::Packet { apid, service, subtype });
        }
        if report.is_none() && samples.is_none() {
            return None;
        }
        Some(Known { time: packet.time, report, samples: samples.unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use stellar_vm::value::Value;

    use super::super::packet::tests::telemetry;
    use super::super::report::Phase;
    use super::super::testing::{parameter, platform};
    use super::*;

    fn decode(datagram: &[u8]) -> (Vec<Known>, Vec<Oddity>) {
        let mut oddities = Vec::new();
        let known = Decoder::new(platform()).unwrap().decode(datagram, &mut oddities);
        (known, oddities)
    }

    fn samples(datagram: &[u8]) -> (Vec<RawSample>, Vec<Oddity>) {
        let (known, oddities) = decode(datagram);
        (known.into_iter().flat_map(|known| known.samples).collect(), oddities)
    }

    fn sample(parameter: u32, index: Option<i64>, value: Value) -> RawSample {
        RawSample { parameter, index, value: Some(value) }
    }

    #[test]
    fn a_pong_is_telemetry_and_a_report_names_its_telecommand() {
        let mut datagram = telemetry(17, 2, &[]);
        datagram.extend(telemetry(1, 4, &[0x18, 0x02, 0xc0, 0x01, 0x02, 0x01]));
        let (known, oddities) = decode(&datagram);
        let [pong, report] = known.as_slice() else { panic!("{known:?}") };
        assert_eq!(pong.time, Some(1_795_996_800_000_000_000));
        assert_eq!(pong.report, None);
        assert_eq!(
            pong.samples,
            [sample(parameter::PONG, None, Value::Bool(true)), sample(parameter::REPLIES, None, Value::Int(0))]
        );
        let report = report.report.as_ref().unwrap();
        assert_eq!((report.request.to_string().as_str(), report.phase), ("1802c001", Phase::Start));
        assert_eq!(report.failure.as_ref().unwrap().to_string(), "513 (invalid service)");
        assert_eq!(oddities, []);
    }

    #[test]
    fn a_mark_tells_packets_apart_and_fields_name_their_instance() {
        assert_eq!(
            samples(&telemetry(3, 25, &[1, 2, 7, 100])),
            (
                vec![
                    sample(parameter::MODE, Some(2), Value::Enum { def: 0, label: 1 }),
                    sample(parameter::TEMPERATURE, Some(2), Value::Float(10.0)),
                ],
                vec![]
            )
        );
        let bus = telemetry(3, 25, &[2, 10, 20, 30, 40, 0x40, 0x11, 0x1f, 0, 0, 0, 1]);
        let currents = (1..=4).map(|index| sample(parameter::CURRENT, Some(index), Value::Int(index * 10)));
        let clock = sample(parameter::CLOCK, None, Value::Time(1_000_000));
        assert_eq!(samples(&bus), (currents.chain([clock]).collect(), vec![]));
    }

    #[test]
    fn a_value_that_is_none_of_its_type_is_an_invalid_sample_and_the_others_stand() {
        let invalid = RawSample { parameter: parameter::MODE, index: Some(2), value: None };
        let temperature = sample(parameter::TEMPERATURE, Some(2), Value::Float(10.0));
        assert_eq!(
            samples(&telemetry(3, 25, &[1, 2, 9, 100])),
            (vec![invalid, temperature], vec![Oddity::BadField { parameter: parameter::MODE }])
        );
    }

    #[test]
    fn what_is_missing_or_unknown_is_told_and_the_rest_is_read() {
        let unknown = |service, subtype| vec![Oddity::Packet { apid: 2, service, subtype }];
        let bad = |parameter| Oddity::BadIndex { parameter };
        let missing = |parameter| Oddity::MissingField { parameter };
        for (what, packet, read, told) in [
            (
                "no fifth unit",
                telemetry(3, 25, &[1, 5, 0, 0]),
                0,
                vec![bad(parameter::MODE), bad(parameter::TEMPERATURE)],
            ),
            (
                "the end behind the second current",
                telemetry(3, 25, &[2, 10, 20]),
                2,
                vec![missing(parameter::CURRENT), missing(parameter::CLOCK)],
            ),
            ("no such mark", telemetry(3, 25, &[3]), 0, unknown(3, 25)),
            ("too short for a mark", telemetry(3, 25, &[]), 0, unknown(3, 25)),
            ("no such packet", telemetry(3, 26, &[]), 0, unknown(3, 26)),
            ("a report without a name", telemetry(1, 1, &[0]), 0, vec![Oddity::Report { subtype: 1 }]),
            ("an empty datagram", Vec::new(), 0, vec![Oddity::Short]),
        ] {
            let (samples, oddities) = samples(&packet);
            assert_eq!((samples.len(), oddities), (read, told), "{what}");
        }
    }

    proptest! {
        #[test]
        fn no_datagram_panics(
            bytes in prop::collection::vec(any::<u8>(), 0..80),
            service in prop_oneof![Just(1_u8), Just(3), Just(17)], subtype in 0_u8..30,
        ) {
            decode(&bytes);
            decode(&telemetry(service, subtype, &bytes));
        }
    }
}
