//! The table by which telemetry is read, compiled once from the catalogue: for each packet its fields, nothing to search.

use std::collections::BTreeMap;
use std::sync::Arc;

use stellar_vm::catalogue::{
    Calibration, CcsdsField, CcsdsPacket, CcsdsPlatform, Encoding, FieldSource, IndexSource, Platform, path,
};
use stellar_vm::value::{EnumDef, Type, Value};

use super::field::{self, Raw, Unreadable};
use super::oddity::Oddity;
use super::packet::Packet;
use super::{bits, convert};
use crate::gateway::link::RawSample;

/// Why a platform's telemetry cannot be read by a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The catalogue has no `ccsds` part for the platform.
    #[error("the platform `{0}` has no `ccsds` part in the catalogue")]
    NoCcsds(Arc<str>),
    /// A parameter's field cannot be: a width of no bits, an index of a component without one.
    #[error("the `ccsds` field of `{parameter}` of the platform `{platform}` {what}")]
    Field {
        /// Platform.
        platform: Arc<str>,
        /// Parameter, with its component.
        parameter: String,
        /// What is wrong.
        what: &'static str,
    },
}

/// All telemetry packets of a platform.
#[derive(Debug)]
pub(super) struct Table {
    packets: BTreeMap<(u16, u8, u8), Vec<Layout>>,
    enums: Vec<EnumDef>,
}

#[derive(Debug)]
struct Layout {
    mark: Option<(u32, u8, u64)>,
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Field {
    parameter: u32,
    ty: Type,
    calibration: Option<Calibration>,
    source: Source,
    instances: Instances,
}

#[derive(Debug)]
enum Source {
    Bits(u64, Encoding),
    SequenceCount,
    /// A value already: no calibration applies.
    Constant(Value),
}

/// Of which instances of its component a packet speaks.
#[derive(Debug)]
enum Instances {
    /// The component has no index.
    One,
    /// The one that a field names, within the range.
    Named { offset: u64, width: u8, range: (i64, i64) },
    /// All of the range, so many bits apart.
    Each { stride: u64, range: (i64, i64) },
}

impl Table {
    /// Compiles the table of a platform.
    ///
    /// # Errors
    /// Where a field cannot be read as the catalogue says.
    pub(super) fn new(platform: &Platform) -> Result<Self, TableError> {
        let ccsds = platform.ccsds.as_ref().ok_or_else(|| TableError::NoCcsds(platform.name.clone()))?;
        let mut fields: BTreeMap<usize, Vec<Field>> = BTreeMap::new();
        for (number, parameter) in platform.parameters.iter().enumerate() {
            let Some(place) = &parameter.ccsds else { continue };
            let component = platform.components.get(parameter.component as usize);
            let wrong = |what| TableError::Field {
                platform: platform.name.clone(),
                parameter: path(component.map_or("?", |component| &component.name), None, &parameter.name),
                what,
            };
            let range = component.ok_or_else(|| wrong("is of no component"))?.index;
            let packet = place.packet as usize;
            if packet >= ccsds.packets.len() {
                return Err(wrong("is in no packet"));
            }
            fields.entry(packet).or_default().push(Field {
                parameter: u32::try_from(number).map_err(|_| wrong("is one too many"))?,
                ty: parameter.ty.clone(),
                calibration: place.calibration.clone(),
                source: source(&place.source, &parameter.ty, &platform.enums)
                    .ok_or_else(|| wrong("has a width or a constant that it cannot have"))?,
                instances: instances(place, range).ok_or_else(|| {
                    wrong("does not say of which instance of its component it is, or how many bits tell")
                })?,
            });
        }
        Ok(Self { packets: layouts(ccsds, fields), enums: platform.enums.clone() })
    }

    /// Reads the samples of a packet; `None` where the catalogue does not have it.
    pub(super) fn read(&self, packet: &Packet<'_>, oddities: &mut Vec<Oddity>) -> Option<Vec<RawSample>> {
        let layouts = self.packets.get(&(packet.apid, packet.service, packet.subtype))?;
        let mut samples = None;
        for layout in layouts.iter().filter(|layout| layout.is_of(packet)) {
            let samples: &mut Vec<RawSample> = samples.get_or_insert_default();
            for field in &layout.fields {
                field.read(packet, &self.enums, samples, oddities);
            }
        }
        samples
    }
}

fn source(source: &FieldSource, ty: &Type, enums: &[EnumDef]) -> Option<Source> {
    Some(match source {
        FieldSource::Bits { offset, encoding } => {
            field::width(*encoding)?;
            Source::Bits(u64::from(*offset), *encoding)
        }
        FieldSource::SequenceCount => Source::SequenceCount,
        FieldSource::Constant(constant) => Source::Constant(Value::from_scalar(constant, ty, enums)?),
    })
}

fn instances(place: &CcsdsField, range: Option<(i64, i64)>) -> Option<Instances> {
    // Only a field of bits can stand once for each instance.
    let bits = matches!(place.source, FieldSource::Bits { .. });
    match (&place.index, range) {
        (None, None) => Some(Instances::One),
        (Some(IndexSource::Bits(offset, width)), Some(range)) if (1..=bits::WIDEST).contains(width) => {
            Some(Instances::Named { offset: u64::from(*offset), width: *width, range })
        }
        (Some(IndexSource::Stride(stride)), Some(range)) if *stride > 0 && bits => {
            Some(Instances::Each { stride: u64::from(*stride), range })
        }
        _ => None,
    }
}

fn layouts(ccsds: &CcsdsPlatform, mut fields: BTreeMap<usize, Vec<Field>>) -> BTreeMap<(u16, u8, u8), Vec<Layout>> {
    let mut layouts: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (number, CcsdsPacket { apid, service, subtype, mark, .. }) in ccsds.packets.iter().enumerate() {
        let fields = fields.remove(&number).unwrap_or_default();
        layouts.entry((*apid, *service, *subtype)).or_default().push(Layout { mark: *mark, fields });
    }
    layouts
}

impl Layout {
    fn is_of(&self, packet: &Packet<'_>) -> bool {
        self.mark.is_none_or(|(offset, width, value)| bits::read(packet.data, u64::from(offset), width) == Some(value))
    }
}

impl Field {
    fn read(&self, packet: &Packet<'_>, enums: &[EnumDef], samples: &mut Vec<RawSample>, oddities: &mut Vec<Oddity>) {
        let parameter = self.parameter;
        match &self.instances {
            Instances::One => samples.extend(self.sample(packet, 0, None, enums, oddities)),
            Instances::Named { offset, width, range: (first, last) } => {
                match bits::read(packet.data, *offset, *width).map(i64::try_from) {
                    None => oddities.push(Oddity::MissingField { parameter }),
                    Some(Ok(index)) if (*first..=*last).contains(&index) => {
                        samples.extend(self.sample(packet, 0, Some(index), enums, oddities));
                    }
                    Some(_) => oddities.push(Oddity::BadIndex { parameter }),
                }
            }
            Instances::Each { stride, range: (first, last) } => {
                for (place, index) in (0_u64..).zip(*first..=*last) {
                    let further = stride.saturating_mul(place);
                    match self.sample(packet, further, Some(index), enums, oddities) {
                        Some(sample) => samples.push(sample),
                        // The packet has ended: nor will those after it be there.
                        None => break,
                    }
                }
            }
        }
    }

    /// The sample of one instance, `further` bits behind the first; `None` where the packet ends before.
    fn sample(
        &self,
        packet: &Packet<'_>,
        further: u64,
        index: Option<i64>,
        enums: &[EnumDef],
        oddities: &mut Vec<Oddity>,
    ) -> Option<RawSample> {
        let parameter = self.parameter;
        let raw = match &self.source {
            Source::SequenceCount => Some(Raw::Int(i128::from(packet.count))),
            Source::Constant(value) => return Some(RawSample { parameter, index, value: Some(value.clone()) }),
            Source::Bits(offset, encoding) => {
                match field::read(packet.data, offset.saturating_add(further), *encoding) {
                    Ok(raw) => Some(raw),
                    Err(Unreadable::Bits) => None,
                    Err(Unreadable::Short) => {
                        oddities.push(Oddity::MissingField { parameter });
                        return None;
                    }
                }
            }
        };
        let value = raw.and_then(|raw| convert::to_value(raw, self.calibration.as_ref(), &self.ty, enums));
        if value.is_none() {
            oddities.push(Oddity::BadField { parameter });
        }
        Some(RawSample { parameter, index, value })
    }
}

#[cfg(test)]
mod tests {
    use stellar_vm::catalogue::Endian;
    use stellar_vm::value::Scalar;

    use super::super::packet::{First, first, tests::telemetry};
    use super::super::testing::{BYTE, FLOAT, INT, bits, parameter, platform};
    use super::*;

    /// A table with one more parameter, number 6: of the component without index (0) or with (1).
    fn with(component: u32, ty: Type, source: FieldSource, index: Option<IndexSource>) -> Result<Table, TableError> {
        let mut platform = Platform::clone(&platform());
        let field = CcsdsField { packet: 0, source, index, calibration: None };
        platform.parameters.push(parameter(component, "more", ty, field));
        Table::new(&platform)
    }

    fn last(table: &Table) -> RawSample {
        let pong = telemetry(17, 2, &[]);
        let First::Packet(packet) = first(&pong, 7, true).0 else { panic!("no packet") };
        table.read(&packet, &mut Vec::new()).unwrap().pop().unwrap()
    }

    #[test]
    fn a_constant_is_read_as_its_type() {
        let constant = |text: &str| FieldSource::Constant(Scalar::Str(text.to_owned()));
        for (ty, source, value) in [
            (Type::Duration, constant("1500 ms"), Value::Duration(1_500_000_000)),
            (Type::Enum(0), constant("SAFE"), Value::Enum { def: 0, label: 1 }),
            (FLOAT, FieldSource::Constant(Scalar::Int(2)), Value::Float(2.0)),
        ] {
            let sample = last(&with(0, ty, source, None).unwrap());
            assert_eq!(sample, RawSample { parameter: 6, index: None, value: Some(value) });
        }
    }

    #[test]
    fn a_field_that_cannot_be_is_told_with_its_name() {
        let stride = || Some(IndexSource::Stride(8));
        for (what, table) in [
            ("no bits", with(0, INT, bits(0, Encoding::Unsigned(0, Endian::Big)), None)),
            ("a constant of another type", with(0, INT, FieldSource::Constant(Scalar::Bool(true)), None)),
            ("an index that its component lacks", with(0, INT, bits(0, BYTE), stride())),
            ("no index of an array", with(1, INT, bits(0, BYTE), None)),
            ("an index of no bits", with(1, INT, bits(0, BYTE), Some(IndexSource::Bits(0, 0)))),
            ("a stride of nothing", with(1, INT, bits(0, BYTE), Some(IndexSource::Stride(0)))),
            ("many of what is once", with(1, INT, FieldSource::SequenceCount, stride())),
            ("no component", with(9, INT, bits(0, BYTE), None)),
        ] {
            let error = table.map(|_| ()).unwrap_err().to_string();
            assert!(error.contains("more` of the platform `demo`"), "{what}: {error}");
        }
        let mut plain = Platform::clone(&platform());
        plain.ccsds = None;
        let words = "the platform `demo` has no `ccsds` part in the catalogue";
        assert_eq!(Table::new(&plain).map(|_| ()).unwrap_err().to_string(), words);
    }
}
