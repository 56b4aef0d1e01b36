//! Entries of a catalogue with everything by value in place of indices, as they are hashed.
//!
//! A `face` is what a program's slice has of an entry: what the machine goes by. The whole entry adds the encoding.

use alloc::{string::String, vec::Vec};

use serde::Serialize;

use crate::{
    catalogue::{
        Argument, ArgumentSource, Calibration, CcsdsField, CcsdsPacket, CcsdsTelecommand, Correlation, Encoding,
        FieldSource, Freshness, IndexSource, Platform, Stage, Verification,
    },
    condition::{Expr, ExprOp},
    program::Program,
    value::{EnumDef, Scalar, Type, Value},
    verify::entry,
};

#[derive(Serialize)]
enum WholeType<'a> {
    Plain(&'a Type),
    Enum(&'a EnumDef),
}

#[derive(Serialize)]
enum WholeValue<'a> {
    Plain(&'a Value),
    Label(&'a str, i64),
}

/// A scalar with its kind; as it stands in JSON it has none.
#[derive(Serialize)]
enum WholeScalar<'a> {
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(&'a String),
}

/// Component, range of its index, name.
type Path<'a> = (&'a str, Option<(i64, i64)>, &'a str);

#[derive(Serialize)]
struct WholeExpr<'a> {
    code: &'a [ExprOp],
    constants: Vec<WholeValue<'a>>,
    reads: Vec<Path<'a>>,
}

#[derive(Serialize)]
struct WholeArgument<'a> {
    name: &'a str,
    ty: WholeType<'a>,
    default: Option<WholeValue<'a>>,
    fixed: Option<WholeValue<'a>>,
}

/// A default window is the configuration's and not the entry's.
#[derive(Serialize)]
struct WholeVerification<'a> {
    window: Option<i64>,
    stages: Vec<(Stage, Option<i64>)>,
    until: Option<WholeExpr<'a>>,
}

#[derive(Serialize)]
pub(super) struct ParameterFace<'a> {
    path: Path<'a>,
    ty: WholeType<'a>,
    period: Option<i64>,
    freshness: Freshness,
}

#[derive(Serialize)]
pub(super) struct TelecommandFace<'a> {
    path: Path<'a>,
    changes_state: bool,
    hazardous: Option<&'a str>,
    args: Vec<WholeArgument<'a>>,
    requires: Option<WholeExpr<'a>>,
    verify: WholeVerification<'a>,
}

#[derive(Serialize)]
pub(super) struct WholeParameter<'a> {
    face: ParameterFace<'a>,
    valid_when: Option<WholeExpr<'a>>,
    ccsds: Option<WholeField<'a>>,
}

#[derive(Serialize)]
struct WholeField<'a> {
    packet: &'a CcsdsPacket,
    time_bytes: u8,
    checksum: bool,
    source: WholeSource<'a>,
    index: &'a Option<IndexSource>,
    calibration: &'a Option<Calibration>,
}

#[derive(Serialize)]
enum WholeSource<'a> {
    Bits(u32, Encoding),
    SequenceCount,
    Constant(WholeScalar<'a>),
}

#[derive(Serialize)]
pub(super) struct WholeTelecommand<'a> {
    face: TelecommandFace<'a>,
    ccsds: Option<WholePacket<'a>>,
}

#[derive(Serialize)]
struct WholePacket<'a> {
    source_id: u16,
    ack_flags: u8,
    correlation: Correlation,
    failure_code_bytes: u8,
    address: (u16, u8, u8),
    fields: Vec<(WholeArgumentSource<'a>, Encoding)>,
}

#[derive(Serialize)]
enum WholeArgumentSource<'a> {
    Argument(u32),
    Index,
    Constant(WholeScalar<'a>),
}

/// Where the indices of an entry lead: into a platform or into a program.
#[derive(Clone, Copy)]
enum Tables<'a> {
    Platform(&'a Platform),
    Program(&'a Program),
}

impl<'a> Tables<'a> {
    fn enums(self) -> &'a [EnumDef] {
        match self {
            Self::Platform(platform) => &platform.enums,
            Self::Program(program) => &program.enums,
        }
    }

    fn parameter(self, index: u32) -> Option<Path<'a>> {
        match self {
            Self::Platform(platform) => path_of_parameter(platform, index),
            Self::Program(program) => path_of_used(program, index),
        }
    }

    fn ty(self, ty: &'a Type) -> Option<WholeType<'a>> {
        match ty {
            Type::Enum(def) => entry(self.enums(), *def).map(WholeType::Enum),
            plain => Some(WholeType::Plain(plain)),
        }
    }

    fn value(self, value: &'a Value) -> Option<WholeValue<'a>> {
        match value {
            Value::Enum { def, label } => {
                let (label, number) = entry(&entry(self.enums(), *def)?.labels, *label)?;
                Some(WholeValue::Label(label, *number))
            }
            plain => Some(WholeValue::Plain(plain)),
        }
    }

    /// The outer `None` where something is missing, the inner one where there is nothing.
    fn maybe<T, W>(part: Option<T>, whole: impl FnOnce(T) -> Option<W>) -> Option<Option<W>> {
        match part {
            Some(part) => whole(part).map(Some),
            None => Some(None),
        }
    }

    fn expr(self, expr: &'a Expr) -> Option<WholeExpr<'a>> {
        Some(WholeExpr {
            code: &expr.code,
            constants: expr.constants.iter().map(|value| self.value(value)).collect::<Option<_>>()?,
            reads: expr.reads.iter().map(|read| self.parameter(read.parameter)).collect::<Option<_>>()?,
        })
    }

    fn argument(self, argument: &'a Argument) -> Option<WholeArgument<'a>> {
        Some(WholeArgument {
            name: &argument.name,
            ty: self.ty(&argument.ty)?,
            default: Self::maybe(argument.default.as_ref(), |value| self.value(value))?,
            fixed: Self::maybe(argument.fixed.as_ref(), |value| self.value(value))?,
        })
    }

    fn verification(self, verify: &'a Verification) -> Option<WholeVerification<'a>> {
        let own = |ns: i64| (!verify.default_window).then_some(ns);
        Some(WholeVerification {
            window: own(verify.window),
            stages: verify.stages.iter().map(|(stage, limit)| (*stage, own(*limit))).collect(),
            until: Self::maybe(verify.until.as_ref(), |expr| self.expr(expr))?,
        })
    }
}

fn path<'a>(platform: &'a Platform, component: u32, name: &'a str) -> Option<Path<'a>> {
    let component = entry(&platform.components, component)?;
    Some((&component.name, component.index, name))
}

fn path_of_parameter(platform: &Platform, index: u32) -> Option<Path<'_>> {
    let parameter = entry(&platform.parameters, index)?;
    path(platform, parameter.component, &parameter.name)
}

fn path_of_used(program: &Program, index: u32) -> Option<Path<'_>> {
    let used = entry(&program.parameters, index)?;
    Some((&used.component, used.index, &used.name))
}

fn scalar(scalar: &Scalar) -> WholeScalar<'_> {
    match scalar {
        Scalar::Bool(value) => WholeScalar::Bool(*value),
        Scalar::Int(value) => WholeScalar::Int(*value),
        Scalar::Float(value) => WholeScalar::Float(*value),
        Scalar::Str(value) => WholeScalar::Str(value),
    }
}

/// What a program has of a parameter, from the catalogue.
pub(super) fn parameter_face(platform: &Platform, index: u32) -> Option<ParameterFace<'_>> {
    let one = entry(&platform.parameters, index)?;
    let tables = Tables::Platform(platform);
    Some(ParameterFace {
        path: path(platform, one.component, &one.name)?,
        ty: tables.ty(&one.ty)?,
        period: one.period,
        freshness: one.freshness,
    })
}

/// The same, from the program.
pub(super) fn used_parameter(program: &Program, index: u32) -> Option<ParameterFace<'_>> {
    let one = entry(&program.parameters, index)?;
    let tables = Tables::Program(program);
    Some(ParameterFace {
        path: (&one.component, one.index, &one.name),
        ty: tables.ty(&one.ty)?,
        period: one.period,
        freshness: one.freshness,
    })
}

/// What a program has of a telecommand, from the catalogue.
pub(super) fn telecommand_face(platform: &Platform, index: u32) -> Option<TelecommandFace<'_>> {
    let one = entry(&platform.telecommands, index)?;
    let tables = Tables::Platform(platform);
    Some(TelecommandFace {
        path: path(platform, one.component, &one.name)?,
        changes_state: one.changes_state,
        hazardous: one.hazardous.as_deref(),
        args: one.args.iter().map(|argument| tables.argument(argument)).collect::<Option<_>>()?,
        requires: Tables::maybe(one.requires.as_ref(), |expr| tables.expr(expr))?,
        verify: tables.verification(&one.verify)?,
    })
}

/// The same, from the program.
pub(super) fn used_telecommand(program: &Program, index: u32) -> Option<TelecommandFace<'_>> {
    let one = entry(&program.telecommands, index)?;
    let tables = Tables::Program(program);
    Some(TelecommandFace {
        path: (&one.component, one.index, &one.name),
        changes_state: one.changes_state,
        hazardous: one.hazardous.as_deref(),
        args: one.args.iter().map(|argument| tables.argument(argument)).collect::<Option<_>>()?,
        requires: Tables::maybe(one.requires.as_ref(), |expr| tables.expr(expr))?,
        verify: tables.verification(&one.verify)?,
    })
}

/// A parameter, encoding included.
pub(super) fn parameter(platform: &Platform, index: u32) -> Option<WholeParameter<'_>> {
    let one = entry(&platform.parameters, index)?;
    let tables = Tables::Platform(platform);
    Some(WholeParameter {
        face: parameter_face(platform, index)?,
        valid_when: Tables::maybe(one.valid_when.as_ref(), |expr| tables.expr(expr))?,
        ccsds: Tables::maybe(one.ccsds.as_ref(), |field| field_of(platform, field))?,
    })
}

fn field_of<'a>(platform: &'a Platform, field: &'a CcsdsField) -> Option<WholeField<'a>> {
    let ccsds = platform.ccsds.as_ref()?;
    Some(WholeField {
        packet: entry(&ccsds.packets, field.packet)?,
        time_bytes: ccsds.time_bytes,
        checksum: ccsds.checksum,
        source: match &field.source {
            FieldSource::Bits { offset, encoding } => WholeSource::Bits(*offset, *encoding),
            FieldSource::SequenceCount => WholeSource::SequenceCount,
            FieldSource::Constant(constant) => WholeSource::Constant(scalar(constant)),
        },
        index: &field.index,
        calibration: &field.calibration,
    })
}

/// A telecommand, encoding included.
pub(super) fn telecommand(platform: &Platform, index: u32) -> Option<WholeTelecommand<'_>> {
    let one = entry(&platform.telecommands, index)?;
    Some(WholeTelecommand {
        face: telecommand_face(platform, index)?,
        ccsds: Tables::maybe(one.ccsds.as_ref(), |packet| packet_of(platform, packet))?,
    })
}

fn packet_of<'a>(platform: &'a Platform, packet: &'a CcsdsTelecommand) -> Option<WholePacket<'a>> {
    let ccsds = platform.ccsds.as_ref()?;
    let field = |field: &'a crate::catalogue::CcsdsArgument| {
        let source = match &field.source {
            ArgumentSource::Argument(argument) => WholeArgumentSource::Argument(*argument),
            ArgumentSource::Index => WholeArgumentSource::Index,
            ArgumentSource::Constant(constant) => WholeArgumentSource::Constant(scalar(constant)),
        };
        (source, field.encoding)
    };
    Some(WholePacket {
        source_id: ccsds.source_id,
        ack_flags: packet.ack_flags.unwrap_or(ccsds.ack_flags),
        correlation: ccsds.correlation,
        failure_code_bytes: ccsds.failure_code_bytes,
        address: (packet.apid, packet.service, packet.subtype),
        fields: packet.fields.iter().map(field).collect(),
    })
}
