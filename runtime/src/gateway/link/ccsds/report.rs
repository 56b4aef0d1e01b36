//! The verification reports of PUS service 1.

use std::sync::Arc;

use stellar_vm::catalogue::CcsdsPlatform;

use super::request::RequestId;
use super::{bits, packet::Packet};

/// The service of verification reports.
pub(super) const SERVICE: u8 = 1;

/// A report on a telecommand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Report {
    /// The telecommand.
    pub(super) request: RequestId,
    /// What is reported on.
    pub(super) phase: Phase,
    /// What failed; `None` in a good report.
    pub(super) failure: Option<FailureCode>,
}

/// What a report is on, in the order in which they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Acceptance.
    Acceptance,
    /// The start of its execution.
    Start,
    /// A step of its execution; a good one verifies no stage.
    Progress,
    /// The completion of its execution.
    Completion,
}

/// Why the target failed a telecommand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FailureCode {
    /// The code; `None` where the report does not tell one.
    pub(super) code: Option<u64>,
    /// Its label in the catalogue.
    pub(super) label: Option<Arc<str>>,
}

impl std::fmt::Display for FailureCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.code, &self.label) {
            (Some(code), Some(label)) => write!(f, "{code} ({label})"),
            (Some(code), None) => write!(f, "{code}"),
            (None, _) => f.write_str("without code"),
        }
    }
}

/// Reads a packet of service 1; `None` where it is too short or of no known subtype.
pub(super) fn read(packet: &Packet<'_>, platform: &CcsdsPlatform) -> Option<Report> {
    let (phase, good) = match packet.subtype {
        1 | 2 => (Phase::Acceptance, packet.subtype == 1),
        3 | 4 => (Phase::Start, packet.subtype == 3),
        5 | 6 => (Phase::Progress, packet.subtype == 5),
        7 | 8 => (Phase::Completion, packet.subtype == 7),
        // A routing failure is a failed acceptance: the telecommand never came to its application process.
        10 => (Phase::Acceptance, false),
        _ => return None,
    };
    let request = RequestId::of(packet.data)?;
    let failure = if good { None } else { Some(failure(packet.data, phase, platform)?) };
    Some(Report { request, phase, failure })
}

fn failure(data: &[u8], phase: Phase, platform: &CcsdsPlatform) -> Option<FailureCode> {
    // The step identifier that stands before the code of a progress report has no width in the catalogue.
    if phase == Phase::Progress || platform.failure_code_bytes == 0 {
        return Some(FailureCode { code: None, label: None });
    }
    let width = platform.failure_code_bytes.checked_mul(8)?;
    let code = bits::read(data, RequestId::BYTES as u64 * 8, width)?;
    let label = platform.failure_codes.iter().find(|(of, _)| *of == code).map(|(_, label)| label.clone());
    Some(FailureCode { code: Some(code), label })
}

#[cfg(test)]
mod tests {
    use stellar_vm::catalogue::Correlation;

    use super::*;

    fn platform(failure_code_bytes: u8) -> CcsdsPlatform {
        CcsdsPlatform {
            source_id: 0,
            ack_flags: 15,
            time_bytes: 7,
            failure_code_bytes,
            failure_codes: vec![(0x0201, "invalid service".into())],
            checksum: true,
            correlation: Correlation::RequestId,
            packets: Vec::new(),
        }
    }

    fn report(subtype: u8, data: &[u8], failure_code_bytes: u8) -> Option<Report> {
        let packet = Packet { apid: 2, count: 0, service: SERVICE, subtype, time: None, data };
        read(&packet, &platform(failure_code_bytes))
    }

    const REQUEST: [u8; 4] = [0x18, 0x02, 0xc0, 0x01];

    #[test]
    fn good_reports_tell_their_phase() {
        for (subtype, phase) in
            [(1, Phase::Acceptance), (3, Phase::Start), (5, Phase::Progress), (7, Phase::Completion)]
        {
            let expected = Report { request: RequestId::of(&REQUEST).unwrap(), phase, failure: None };
            assert_eq!(report(subtype, &REQUEST, 2), Some(expected));
        }
    }

    #[test]
    fn failures_tell_their_code_with_its_label() {
        let told = |subtype, code: &[u8], bytes| {
            report(subtype, &[&REQUEST, code].concat(), bytes).map(|report| report.failure.unwrap().to_string())
        };
        assert_eq!(told(2, &[2, 1], 2).unwrap(), "513 (invalid service)");
        assert_eq!(told(4, &[2, 2], 2).unwrap(), "514");
        assert_eq!(told(8, &[2, 1, 9], 2).unwrap(), "513 (invalid service)");
        assert_eq!(told(10, &[7], 1).unwrap(), "7");
        assert_eq!(told(6, &[1, 2, 1], 2).unwrap(), "without code");
        assert_eq!(told(2, &[], 0).unwrap(), "without code");
    }

    #[test]
    fn malformed_reports_are_none() {
        assert_eq!(report(1, &REQUEST[..3], 2), None);
        assert_eq!(report(2, &[&REQUEST[..], &[2]].concat(), 2), None);
        assert_eq!(report(2, &[0; 64], 255), None);
        for subtype in [0, 9, 11, 255] {
            assert_eq!(report(subtype, &REQUEST, 2), None);
        }
    }
}
