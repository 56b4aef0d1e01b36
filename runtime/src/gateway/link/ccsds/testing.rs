//! A platform for the tests of the codec: one component without index, one with, of all kinds of fields.

use std::sync::Arc;

use stellar_vm::catalogue::{
    Argument, ArgumentSource, Calibration, CcsdsArgument, CcsdsField, CcsdsPacket, CcsdsPlatform, CcsdsTelecommand,
    Component, Correlation, Encoding, Endian, FieldSource, Freshness, IndexSource, Parameter, Platform, Telecommand,
    Verification,
};
use stellar_vm::value::{EnumDef, Scalar, Type};

pub(super) const BYTE: Encoding = Encoding::Unsigned(8, Endian::Big);
pub(super) const FLOAT: Type = Type::Float { unit: None, min: None, max: None };
pub(super) const INT: Type = Type::Int { min: i64::MIN, max: i64::MAX };

/// Parameters of [`platform`], by their place in it.
pub(super) mod parameter {
    pub(crate) const PONG: u32 = 0;
    pub(crate) const REPLIES: u32 = 1;
    pub(crate) const MODE: u32 = 2;
    pub(crate) const TEMPERATURE: u32 = 3;
    pub(crate) const CURRENT: u32 = 4;
    pub(crate) const CLOCK: u32 = 5;
}

/// Telecommands of [`platform`], by their place in it.
pub(super) mod telecommand {
    pub(crate) const PING: u32 = 0;
    pub(crate) const SET: u32 = 1;
    pub(crate) const UNENCODED: u32 = 2;
    pub(crate) const WIDE: u32 = 3;
}

pub(super) fn bits(offset: u32, encoding: Encoding) -> FieldSource {
    FieldSource::Bits { offset, encoding }
}

pub(super) fn parameter(component: u32, name: &str, ty: Type, field: CcsdsField) -> Parameter {
    Parameter {
        component,
        name: name.into(),
        ty,
        period: None,
        freshness: Freshness::OnChange,
        valid_when: None,
        ccsds: Some(field),
    }
}

fn telecommand(component: u32, name: &str, args: &[(&str, Type)], ccsds: Option<CcsdsTelecommand>) -> Telecommand {
    let argument =
        |(name, ty): &(&str, Type)| Argument { name: (*name).into(), ty: ty.clone(), default: None, fixed: None };
    Telecommand {
        component,
        name: name.into(),
        description: None,
        changes_state: false,
        hazardous: None,
        args: args.iter().map(argument).collect(),
        requires: None,
        verify: Verification { window: 5_000_000_000, default_window: false, stages: Vec::new(), until: None },
        ccsds,
    }
}

fn telecommands() -> Vec<Telecommand> {
    let packet = |service, subtype, fields| CcsdsTelecommand { apid: 2, service, subtype, ack_flags: None, fields };
    let field = |source, encoding| CcsdsArgument { source, encoding };
    let set = packet(
        8,
        1,
        vec![
            field(ArgumentSource::Constant(Scalar::Int(0x2a)), BYTE),
            field(ArgumentSource::Index, Encoding::Unsigned(4, Endian::Big)),
            field(ArgumentSource::Argument(1), Encoding::Unsigned(4, Endian::Big)),
            field(ArgumentSource::Argument(0), Encoding::Float(32, Endian::Big)),
        ],
    );
    let wide = packet(8, 2, vec![field(ArgumentSource::Argument(0), Encoding::Text(u16::MAX)); 2]);
    vec![
        telecommand(0, "ping", &[], Some(packet(17, 1, Vec::new()))),
        telecommand(1, "set", &[("power", FLOAT), ("mode", Type::Enum(0))], Some(set)),
        telecommand(0, "unencoded", &[], None),
        telecommand(0, "wide", &[("text", Type::Str)], Some(wide)),
    ]
}

/// A PUS-C platform of APID 2.
pub(super) fn platform() -> Arc<Platform> {
    let packet =
        |name: &str, service, subtype, mark| CcsdsPacket { name: name.into(), apid: 2, service, subtype, mark };
    let field = |packet, source, index, calibration| CcsdsField { packet, source, index, calibration };
    let named = Some(IndexSource::Bits(8, 8));
    let line = Some(Calibration::Polynomial(vec![-40.0, 0.5]));
    Arc::new(Platform {
        name: "demo".into(),
        enums: vec![EnumDef { name: "mode".into(), labels: vec![("STANDBY".into(), 0), ("SAFE".into(), 7)] }],
        routes: Vec::new(),
        components: vec![
            Component { name: "pus".into(), index: None },
            Component { name: "tcu".into(), index: Some((1, 4)) },
        ],
        parameters: vec![
            parameter(0, "pong", Type::Bool, field(0, FieldSource::Constant(Scalar::Bool(true)), None, None)),
            parameter(0, "replies", INT, field(0, FieldSource::SequenceCount, None, None)),
            parameter(1, "mode", Type::Enum(0), field(1, bits(16, BYTE), named.clone(), None)),
            parameter(1, "temperature", FLOAT, field(1, bits(24, BYTE), named, line)),
            parameter(1, "current", INT, field(2, bits(8, BYTE), Some(IndexSource::Stride(8)), None)),
            parameter(0, "clock", Type::Time, field(2, bits(40, Encoding::CdsShort), None, None)),
        ],
        telecommands: telecommands(),
        alarms: Vec::new(),
        ccsds: Some(CcsdsPlatform {
            source_id: 0,
            ack_flags: 15,
            time_bytes: 7,
            failure_code_bytes: 2,
            failure_codes: vec![(0x0201, "invalid service".into())],
            checksum: true,
            correlation: Correlation::RequestId,
            packets: vec![
                packet("pong", 17, 2, None),
                packet("unit", 3, 25, Some((0, 8, 1))),
                packet("bus", 3, 25, Some((0, 8, 2))),
            ],
        }),
    })
}
