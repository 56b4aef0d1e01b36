//! What the link's record tells of a hand-over, one line each.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stellar_vm::time::Instant;

use crate::gateway::link::HandOver;

/// One line of the record: a telecommand that was handed to the network, or the note that the network refused it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordLine {
    /// Identifier of the telecommand.
    pub id: Arc<str>,
    /// When.
    pub at: Instant,
    /// The run that sent it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<Arc<str>>,
    /// The telecommand: `tcu[2].ping`.
    pub telecommand: String,
    /// What its reports call it.
    pub name: Arc<str>,
    /// End of its verification window.
    pub deadline: Instant,
    /// The packet in hexadecimal; left out in the note of a refusal.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes: Option<String>,
    /// Why the network refused it, the line with its bytes standing before: it never left.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refused: Option<String>,
}

impl RecordLine {
    /// The line of a telecommand that is about to leave.
    pub(super) fn of(hand_over: &HandOver<'_>) -> Self {
        let HandOver { frame, order, at } = hand_over;
        Self {
            id: frame.id.clone(),
            at: *at,
            run: order.run.clone(),
            telecommand: order.path(),
            name: frame.name.clone(),
            deadline: order.deadline,
            bytes: Some(hex(&frame.bytes)),
            refused: None,
        }
    }

    /// The note behind it that it did not leave.
    pub(super) fn refused(self, why: String) -> Self {
        Self { bytes: None, refused: Some(why), ..self }
    }
}

/// Bytes in lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let digit = |half: u8| DIGITS.get(usize::from(half)).copied();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_two_digits_each() {
        assert_eq!(hex(&[0x00, 0x1f, 0xa0, 0xff]), "001fa0ff");
    }
}
