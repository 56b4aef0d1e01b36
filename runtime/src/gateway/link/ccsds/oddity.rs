//! What a link receives and cannot use: counted by kind, told once a kind, and never a reason to stop.

use std::collections::BTreeMap;
use std::fmt;

/// The most kinds that are told apart: the bytes are hostile and must not fill the memory with counters.
pub const MAX_KINDS: usize = 256;

/// A kind of what cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Oddity {
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
    /// Any further kind, past [`MAX_KINDS`].
    Other,
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
            Self::Other => f.write_str("further kinds that are not told apart"),
        }
    }
}

/// How often each kind came.
#[derive(Debug, Default)]
pub struct Oddities {
    counts: BTreeMap<Oddity, u64>,
    news: Vec<Oddity>,
}

impl Oddities {
    /// Counts one.
    pub fn note(&mut self, oddity: Oddity) {
        let known = self.counts.contains_key(&oddity) || self.counts.len() < MAX_KINDS;
        let oddity = if known { oddity } else { Oddity::Other };
        let count = self.counts.entry(oddity).or_insert_with(|| {
            self.news.push(oddity);
            0
        });
        *count = count.saturating_add(1);
    }

    /// The kinds that came for the first time since this was last asked: what is to be logged.
    pub fn take_news(&mut self) -> Vec<Oddity> {
        std::mem::take(&mut self.news)
    }

    /// How often each kind came so far.
    #[must_use]
    pub fn counts(&self) -> &BTreeMap<Oddity, u64> {
        &self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_news_once_and_counted_always() {
        let mut oddities = Oddities::default();
        for _ in 0..3 {
            oddities.note(Oddity::Checksum);
        }
        oddities.note(Oddity::Report { subtype: 9 });
        assert_eq!(oddities.take_news(), [Oddity::Checksum, Oddity::Report { subtype: 9 }]);
        oddities.note(Oddity::Checksum);
        assert_eq!(oddities.take_news(), []);
        assert_eq!(oddities.counts()[&Oddity::Checksum], 4);
    }

    #[test]
    fn past_the_last_kind_they_are_counted_together() {
        let mut oddities = Oddities::default();
        for apid in 0..1_000 {
            oddities.note(Oddity::Packet { apid, service: 3, subtype: 25 });
        }
        assert_eq!(oddities.counts().len(), MAX_KINDS + 1);
        assert_eq!(oddities.counts()[&Oddity::Other], 1_000 - MAX_KINDS as u64);
        assert_eq!(oddities.take_news().len(), MAX_KINDS + 1);
    }
}
