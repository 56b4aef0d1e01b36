//! The name under which a target reports on a telecommand: packet identifier and sequence control of the telecommand.

use std::fmt;

/// The first four bytes of a telecommand packet, as a report of service 1 repeats them; shown as `1802c001`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct RequestId(u32);

impl RequestId {
    /// Bytes of it.
    pub(super) const BYTES: usize = 4;

    /// The name of the packet that begins with these bytes.
    pub(super) fn of(packet: &[u8]) -> Option<Self> {
        packet.first_chunk().map(|first| Self(u32::from_be_bytes(*first)))
    }

    /// Reads what [`fmt::Display`] wrote.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let digits = text.len() == 2 * Self::BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if digits { u32::from_str_radix(text, 16).ok().map(Self) } else { None }
    }

    /// The name of a telecommand to the same application process under another sequence count.
    pub(super) fn with_count(self, count: u16) -> Self {
        Self(self.0 & !0x3fff | u32::from(count & 0x3fff))
    }

    /// Application process identifier.
    pub(super) fn apid(self) -> u16 {
        (self.0 >> 16 & 0x7ff) as u16
    }

    /// Sequence count.
    pub(super) fn count(self) -> u16 {
        (self.0 & 0x3fff) as u16
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_shown_and_read_back_with_its_parts() {
        let request = RequestId::of(&[0x18, 0x02, 0xc0, 0x01, 0xff]).unwrap();
        assert_eq!(request.to_string(), "1802c001");
        assert_eq!((request.apid(), request.count()), (2, 1));
        assert_eq!(RequestId::parse("1802c001"), Some(request));
        for wrong in ["", "1802c0", "1802c0011", "+802c001", "1802c00g"] {
            assert_eq!(RequestId::parse(wrong), None, "{wrong}");
        }
        assert_eq!(RequestId::of(&[0x18, 0x02, 0xc0]), None);
    }
}
