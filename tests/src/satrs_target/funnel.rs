//! The last station of telemetry: satrs leaves sequence and message counters to it.

use std::collections::BTreeMap;

use arbitrary_int::{traits::Integer, u14};
use satrs::spacepackets::{ecss::PusPacket, ecss::tm::PusTmZeroCopyWriter};

/// CDS short: a preamble, two bytes of days, four of milliseconds.
pub const TIMESTAMP_LEN: usize = 7;

/// Numbers telemetry packets: one sequence for the APID, one message counter a service.
#[derive(Debug, Default)]
pub struct Funnel {
    sequence: u16,
    messages: BTreeMap<u8, u16>,
}

impl Funnel {
    /// Writes the next counters into a packet made by satrs and its checksum anew; `false` where it is no packet.
    pub fn number(&mut self, packet: &mut [u8]) -> bool {
        let Some(mut writer) = PusTmZeroCopyWriter::new(packet, TIMESTAMP_LEN, true) else {
            return false;
        };
        let messages = self.messages.entry(PusPacket::service_type_id(&writer)).or_default();
        writer.set_seq_count(u14::masked_new(self.sequence));
        writer.set_msg_count(*messages);
        writer.finish();
        self.sequence = self.sequence.wrapping_add(1);
        *messages = messages.wrapping_add(1);
        true
    }
}
