//! What a link receives and cannot use: told to the gateway by kind, which counts it, and never a reason to stop.

use std::fmt;

/// A kind of what cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Oddity {
    /// Bytes from an address that is not the target's.
    Stranger,
    /// Fewer bytes than the header, or than its length field tells.
    Short,
    /// A space packet version other than 0.
    Version,
    /// A telecommand, where telemetry comes in.
    Telecommand,
    /// A packet without secondary header.
    NoSecondaryHeader,
    /// A secondary header that is not PUS-C's.
    PusVersion,
    /// A packet that is too short for its secondary header and checksum.
    Truncated,
    /// A wrong checksum.
    Checksum,
    /// A report of service 1 that is too short, or of a subtype that the standard does not have.
    Report {
        /// Message subtype.
        subtype: u8,
    },
    /// A packet that the catalogue does not have.
    Packet {
        /// Application process identifier.
        apid: u16,
        /// Service type.
        service: u8,
        /// Message subtype.
        subtype: u8,
    },
    /// A packet that ends before a field of it.
    MissingField {
        /// Index of the parameter in the platform.
        parameter: u32,
    },
    /// A field whose bits are no value of its type.
    BadField {
        /// Index of the parameter in the platform.
        parameter: u32,
    },
    /// A component's index that it does not have.
    BadIndex {
        /// Index of the parameter in the platform.
        parameter: u32,
    },
    /// A report in a packet that is played back: it may name a telecommand of another time.
    ReplayedReport,
}

impl Oddity {
    /// Its kind, one of few: the bytes are hostile and must not make kinds without end.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Stranger => "stranger",
            Self::Short => "short",
            Self::Version => "bad-version",
            Self::Telecommand => "telecommand",
            Self::NoSecondaryHeader => "no-secondary-header",
            Self::PusVersion => "bad-pus-version",
            Self::Truncated => "truncated",
            Self::Checksum => "bad-checksum",
            Self::Report { .. } => "bad-report",
            Self::Packet { .. } => "unknown-packet",
            Self::MissingField { .. } => "missing-field",
            Self::BadField { .. } => "bad-field",
            Self::BadIndex { .. } => "bad-index",
            Self::ReplayedReport => "replayed-report",
        }
    }
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stranger => f.write_str("bytes from an address that is not the target's"),
            Self::Short => f.write_str("fewer bytes than a space packet tells"),
            Self::Version => f.write_str("a space packet of an unknown version"),
            Self::Telecommand => f.write_str("a telecommand packet where telemetry comes in"),
            Self::NoSecondaryHeader => f.write_str("a packet without secondary header"),
            Self::PusVersion => f.write_str("a secondary header that is not PUS-C's"),
            Self::Truncated => f.write_str("a packet too short for its secondary header"),
            Self::Checksum => f.write_str("a packet with a wrong checksum"),
            Self::Report { subtype } => write!(f, "a malformed report TM[1,{subtype}]"),
            Self::Packet { apid, service, subtype } => {
                write!(f, "a packet that the catalogue does not have: APID {apid}, TM[{service},{subtype}]")
            }
            Self::MissingField { parameter } => write!(f, "a packet that ends before its parameter number {parameter}"),
            Self::BadField { parameter } => write!(f, "bits that are no value of parameter number {parameter}"),
            Self::BadIndex { parameter } => {
                write!(f, "an index that the component of parameter number {parameter} lacks")
            }
            Self::ReplayedReport => f.write_str("a verification report that is played back"),
        }
    }
}
