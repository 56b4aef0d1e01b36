//! From telecommands to packets, purely: encoding, sequence counts, and which names are taken.

use std::collections::BTreeMap;
use std::sync::Arc;

use stellar_vm::catalogue::Platform;
use stellar_vm::time::Instant;

use super::counts::Counts;
use super::request::RequestId;
use super::telecommand::{self, EncodeError};
use crate::gateway::link::Command;

/// Encodes the telecommands of one target.
#[derive(Debug)]
pub(super) struct Encoder {
    platform: Arc<Platform>,
    counts: Counts,
    /// Of each name the end of the last window it was used in; `None` where that is not known. It has no more entries
    /// than there are names.
    windows: BTreeMap<RequestId, Option<Instant>>,
}

/// A telecommand packet, ready to leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Encoded {
    /// The packet, its checksum included.
    pub(super) bytes: Vec<u8>,
    /// What its reports will call it.
    pub(super) request: RequestId,
}

impl Encoder {
    /// An encoder whose sequence counts begin at 0; see [`Encoder::used`].
    pub(super) fn new(platform: Arc<Platform>) -> Self {
        Self { platform, counts: Counts::default(), windows: BTreeMap::new() }
    }

    /// Goes on counting behind a telecommand of this name, which stays taken until `deadline`.
    pub(super) fn used(&mut self, request: RequestId, deadline: Option<Instant>) {
        self.counts.used(request);
        self.windows.insert(request, deadline);
    }

    /// Encodes a telecommand under the next sequence count of its application process, and takes that name.
    ///
    /// # Errors
    /// Where the catalogue has no packet for it, a value does not go into its field, or all 16,384 counts are under way:
    /// then no count is used up.
    pub(super) fn encode(&mut self, command: &Command, now: Instant) -> Result<Encoded, EncodeError> {
        let packet =
            |count| telecommand::encode(&self.platform, command.telecommand, command.index, &command.args, count);
        // The name is the first four bytes, and only the count in it differs from telecommand to telecommand.
        let any = RequestId::of(&packet(0)?).ok_or_else(|| self.no_packet())?;
        let count = self.counts.next(any.apid(), |count| self.is_taken(any.with_count(count), now));
        let bytes = packet(count.ok_or(EncodeError::NoCount(any.apid()))?)?;
        let request = RequestId::of(&bytes).ok_or_else(|| self.no_packet())?;
        self.used(request, Some(command.deadline));
        Ok(Encoded { bytes, request })
    }

    fn is_taken(&self, request: RequestId, now: Instant) -> bool {
        self.windows.get(&request).is_some_and(|deadline| deadline.is_none_or(|deadline| deadline >= now))
    }

    fn no_packet(&self) -> EncodeError {
        EncodeError::Packet(self.platform.name.clone(), "it is empty".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use stellar_vm::time::Scale;
    use stellar_vm::value::Value;

    use super::super::testing::{platform, telecommand};
    use super::*;

    fn at(ns: i64) -> Instant {
        Instant { ns, scale: Scale::Utc }
    }

    fn command(telecommand: u32, index: Option<i64>, args: &[Value]) -> Command {
        Command { id: "A".into(), telecommand, index, args: args.to_vec(), route: "direct".into(), deadline: at(100) }
    }

    fn encoder() -> Encoder {
        Encoder::new(platform())
    }

    fn request(text: &str) -> RequestId {
        RequestId::parse(text).unwrap()
    }

    const PING: [u8; 13] = [0x18, 0x02, 0xc0, 0x01, 0x00, 0x06, 0x2f, 0x11, 0x01, 0x00, 0x00, 0xe0, 0x01];

    #[test]
    fn a_ping_has_the_measured_bytes_and_counts_go_on_from_what_was_used() {
        let mut encoder = encoder();
        encoder.used(request("1802c000"), None);
        let ping = command(telecommand::PING, None, &[]);
        let encoded = encoder.encode(&ping, at(0)).unwrap();
        assert_eq!((encoded.bytes, encoded.request), (PING.to_vec(), request("1802c001")));
        assert_eq!(encoder.encode(&ping, at(0)).unwrap().request, request("1802c002"));
    }

    #[test]
    fn a_name_is_free_again_past_its_window_and_never_where_that_is_not_known() {
        let mut encoder = encoder();
        encoder.used(request("1802c002"), None);
        encoder.used(request("1802c001"), Some(at(50)));
        encoder.used(request("1802c000"), Some(at(50)));
        let ping = command(telecommand::PING, None, &[]);
        assert_eq!(encoder.encode(&ping, at(50)).unwrap().request, request("1802c003"));
        encoder.used(request("1802c000"), Some(at(50)));
        assert_eq!(encoder.encode(&ping, at(51)).unwrap().request, request("1802c001"));
        assert_eq!(encoder.encode(&ping, at(51)).unwrap().request, request("1802c004"));
    }

    #[test]
    fn with_every_count_under_way_nothing_is_encoded_until_a_window_ends() {
        let mut encoder = encoder();
        let ping = command(telecommand::PING, None, &[]);
        for _ in 0..super::super::counts::COUNTS {
            encoder.encode(&ping, at(0)).unwrap();
        }
        assert_eq!(encoder.encode(&ping, at(100)), Err(EncodeError::NoCount(2)));
        assert_eq!(encoder.encode(&ping, at(101)).unwrap().request, request("1802c000"));
    }

    #[test]
    fn arguments_the_index_and_constants_stand_bit_by_bit() {
        let args = [Value::Float(1.5), Value::Enum { def: 0, label: 1 }];
        let bytes = encoder().encode(&command(telecommand::SET, Some(3), &args), at(0)).unwrap().bytes;
        assert_eq!(bytes[6..17], [0x2f, 8, 1, 0, 0, 0x2a, 0x37, 0x3f, 0xc0, 0, 0]);
        assert_eq!(bytes.len(), 19);
        assert_eq!(bytes[4..6], [0, 12]);
    }

    #[test]
    fn what_cannot_be_encoded_is_told_in_words_and_uses_no_count() {
        let mut encoder = encoder();
        let power = Value::Float(1.5);
        let safe = Value::Enum { def: 0, label: 1 };
        for (command, words) in [
            (command(99, None, &[]), "the platform `demo` has no telecommand number 99"),
            (
                command(telecommand::UNENCODED, None, &[]),
                "the catalogue has no `ccsds` packet for the telecommand `unencoded`",
            ),
            (
                command(telecommand::SET, None, &[power.clone(), safe.clone()]),
                "`set` has no value for the index of the component",
            ),
            (
                command(telecommand::SET, Some(1), std::slice::from_ref(&power)),
                "`set` has no value for the argument `mode`",
            ),
            (
                command(telecommand::SET, Some(16), &[power, safe.clone()]),
                "the index of the component of `set`: it does not fit into an unsigned field of 4 bits",
            ),
            (
                command(telecommand::SET, Some(1), &[Value::Str("x".into()), safe]),
                "the argument `power` of `set`: it cannot be written as a float of 32 bits",
            ),
            (
                command(telecommand::WIDE, None, &[Value::Str("x".into())]),
                "the packet of `wide` is no space packet: it is longer than 65,542 bytes",
            ),
        ] {
            assert_eq!(encoder.encode(&command, at(0)).unwrap_err().to_string(), words);
        }
        assert_eq!(encoder.encode(&command(telecommand::PING, None, &[]), at(0)).unwrap().request, request("1802c000"));
    }
}
