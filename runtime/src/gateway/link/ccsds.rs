//! The `ccsds` link: telecommands as PUS-C packets, reports of service 1, telemetry by a table compiled from the catalogue.

mod bits;
mod codec;
mod convert;
mod counts;
mod field;
mod oddity;
mod packet;
mod report;
mod request;
mod table;
mod telecommand;
#[cfg(test)]
mod testing;
mod time;

pub use codec::{Codec, Encoded, Received};
pub use field::{FieldName, Unwritable};
pub use oddity::{MAX_KINDS, Oddities, Oddity};
pub use report::{FailureCode, Phase, Report};
pub use request::RequestId;
pub use table::{Sample, TableError};
pub use telecommand::EncodeError;
