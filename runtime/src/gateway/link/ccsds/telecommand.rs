//! A telecommand of the catalogue as a PUS-C packet.

use std::sync::Arc;

use arbitrary_int::{u4, u11, u14};
use spacepackets::SpHeader;
use spacepackets::ecss::tc::{AckFlags, PusTcCreator, PusTcSecondaryHeader};
use spacepackets::ecss::{CreatorConfig, MessageTypeId, WritablePusPacket};
use stellar_vm::catalogue::{ArgumentSource, CcsdsArgument, Platform, Telecommand};
use stellar_vm::value::Value;

use super::field::{self, Raw, Unwritable};
use super::{bits, convert};

/// The longest packet that a space packet header can tell, in bytes.
pub(super) const LONGEST: usize = 65_542;

/// Why a telecommand cannot be encoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum EncodeError {
    /// The platform has no such telecommand.
    #[error("the platform `{0}` has no telecommand number {1}")]
    Unknown(Arc<str>, u32),
    /// The catalogue does not say what the packet looks like.
    #[error("the catalogue has no `ccsds` packet for the telecommand `{0}`")]
    NoPacket(Arc<str>),
    /// A field takes an argument, or the index of a component, that is not given.
    #[error("`{0}` has no value for {1}")]
    Missing(Arc<str>, String),
    /// A value does not go into its field.
    #[error("{1} of `{0}`: {2}")]
    Field(Arc<str>, String, Unwritable),
    /// Every sequence count of the application process is that of a telecommand whose window is open.
    #[error("all 16,384 sequence counts of APID {0} are under way")]
    NoCount(u16),
    /// The packet is longer than a space packet can be, or its numbers are out of their ranges.
    #[error("the packet of `{0}` is no space packet: {1}")]
    Packet(Arc<str>, String),
}

/// The bytes of telecommand number `telecommand` of `platform`, its checksum included.
///
/// `index` is that of the component, `args` are the arguments in the order of the catalogue, `count` is the sequence count.
///
/// # Errors
/// Where the catalogue has no encoding for it, or a value does not go into its field.
pub(super) fn encode(
    platform: &Platform,
    telecommand: u32,
    index: Option<i64>,
    args: &[Value],
    count: u16,
) -> Result<Vec<u8>, EncodeError> {
    let entry = usize::try_from(telecommand).ok().and_then(|number| platform.telecommands.get(number));
    let entry = entry.ok_or_else(|| EncodeError::Unknown(platform.name.clone(), telecommand))?;
    let wrong = |what: &str| EncodeError::Packet(entry.name.clone(), what.to_owned());
    let (Some(packet), Some(link)) = (&entry.ccsds, &platform.ccsds) else {
        return Err(EncodeError::NoPacket(entry.name.clone()));
    };
    let mut data = bits::Writer::default();
    for place in &packet.fields {
        write_field(&mut data, platform, entry, place, index, args)?;
    }
    let data = data.into_bytes();
    let apid = u11::try_new(packet.apid).map_err(|_| wrong("its APID has more than 11 bits"))?;
    let count = u14::try_new(count).map_err(|_| wrong("its sequence count has more than 14 bits"))?;
    let flags = u4::try_new(packet.ack_flags.unwrap_or(link.ack_flags))
        .map_err(|_| wrong("its acknowledgement flags have more than 4 bits"))?;
    let header = PusTcSecondaryHeader::new(
        MessageTypeId::new(packet.service, packet.subtype),
        AckFlags::new_with_raw_value(flags),
        link.source_id,
    );
    let creator =
        PusTcCreator::new(SpHeader::new_for_unseg_tc(apid, count, 0), header, &data, CreatorConfig::default());
    if creator.len_written() > LONGEST {
        return Err(wrong("it is longer than 65,542 bytes"));
    }
    creator.to_vec().map_err(|error| wrong(&error.to_string()))
}

fn write_field(
    data: &mut bits::Writer,
    platform: &Platform,
    entry: &Telecommand,
    place: &CcsdsArgument,
    index: Option<i64>,
    args: &[Value],
) -> Result<(), EncodeError> {
    let (what, raw) = match &place.source {
        ArgumentSource::Constant(constant) => ("a constant".to_owned(), Some(convert::from_constant(constant))),
        ArgumentSource::Index => {
            ("the index of the component".to_owned(), index.map(|index| Raw::Int(i128::from(index))))
        }
        ArgumentSource::Argument(number) => {
            let number = usize::try_from(*number).unwrap_or(usize::MAX);
            let name = entry.args.get(number).map_or("?", |argument| &argument.name);
            let raw = args.get(number).and_then(|value| convert::from_value(value, &platform.enums));
            (format!("the argument `{name}`"), raw)
        }
    };
    let raw = raw.ok_or_else(|| EncodeError::Missing(entry.name.clone(), what.clone()))?;
    field::write(data, place.encoding, &raw).map_err(|error| EncodeError::Field(entry.name.clone(), what, error))
}
