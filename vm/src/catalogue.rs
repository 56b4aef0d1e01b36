//! The catalogue of telecommands and telemetry, compiled: what the runtime judges, encodes and decodes by.
//!
//! The compiler makes it from YAML and checks it; nothing here reads text. One [`Platform`] is one kind of target. The
//! tables are flat, so that an entry is named by one index; entries are in the order of the catalogue's names, sorted.

use alloc::{string::String, sync::Arc, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    condition::Expr,
    value::{EnumDef, Scalar, Type, Value},
};

/// All platforms of a mission, sorted by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalogue {
    /// The platforms.
    pub platforms: Vec<Platform>,
}

/// One kind of target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Platform {
    /// Name, as in `uses sat: platform-v3`.
    pub name: Arc<str>,
    /// Enumerations, referred to by [`Type::Enum`].
    pub enums: Vec<EnumDef>,
    /// Routes a telecommand can take.
    pub routes: Vec<Route>,
    /// Components, with or without an index.
    pub components: Vec<Component>,
    /// Every parameter of every component.
    pub parameters: Vec<Parameter>,
    /// Every telecommand of every component.
    pub telecommands: Vec<Telecommand>,
    /// Alarms.
    pub alarms: Vec<Alarm>,
    /// What the `ccsds` link needs to know of the platform as a whole.
    pub ccsds: Option<CcsdsPlatform>,
}

/// A way by which a telecommand reaches the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// Name, as in `via direct`.
    pub name: Arc<str>,
    /// Whether a `send` without `via` takes it; at most one has it.
    pub default: bool,
}

/// A component of a platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Component {
    /// Name, as in `sat.tcu`.
    pub name: Arc<str>,
    /// Inclusive range of the index, for a component that is an array.
    pub index: Option<(i64, i64)>,
}

/// A telemetry parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Index of its component in [`Platform::components`].
    pub component: u32,
    /// Name within the component.
    pub name: Arc<str>,
    /// Type, unit and range.
    pub ty: Type,
    /// Nanoseconds between two samples, where the catalogue says so.
    pub period: Option<i64>,
    /// Greatest age in nanoseconds at which a sample may be judged.
    pub freshness: Freshness,
    /// Samples are valid only where this holds (over parameters of the same target, of the same packet or the latest).
    pub valid_when: Option<Expr>,
    /// Where the `ccsds` link finds it.
    pub ccsds: Option<CcsdsField>,
}

/// For how long a sample says something of the present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Freshness {
    /// At most this age in nanoseconds.
    Within(i64),
    /// Its age is not staleness: sent when it changes.
    OnChange,
}

/// A telecommand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Telecommand {
    /// Index of its component in [`Platform::components`].
    pub component: u32,
    /// Name within the component.
    pub name: Arc<str>,
    /// What it is for, in words.
    pub description: Option<Arc<str>>,
    /// Whether it changes the on-board state; true unless the catalogue declares otherwise.
    pub changes_state: bool,
    /// Why it is hazardous, if it is; an empty text where the catalogue gives no reason.
    pub hazardous: Option<Arc<str>>,
    /// Arguments, in the order of the catalogue.
    pub args: Vec<Argument>,
    /// What must hold just before it is sent.
    pub requires: Option<Expr>,
    /// How it is verified.
    pub verify: Verification,
    /// Its encoding on the `ccsds` link.
    pub ccsds: Option<CcsdsTelecommand>,
}

/// An argument of a telecommand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    /// Name, as in `with power = 5 W`.
    pub name: Arc<str>,
    /// Type, unit and range.
    pub ty: Type,
    /// Value taken where a `send` gives none.
    pub default: Option<Value>,
    /// Value it always has; a `send` may not give it.
    pub fixed: Option<Value>,
}

/// The verification of a telecommand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verification {
    /// The whole window, in nanoseconds from `telecommand_sent`.
    pub window: i64,
    /// Whether the window is the configuration's default, no `within` and no stage being declared.
    pub default_window: bool,
    /// Declared stages, in the order accepted, started, completed, each with its limit from the release, in nanoseconds.
    pub stages: Vec<(Stage, i64)>,
    /// Judged like an `expect`, within the window.
    pub until: Option<Expr>,
}

/// A stage of verification, in the order in which they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The target has accepted it for execution.
    Accepted,
    /// Its execution has begun.
    Started,
    /// Its execution has ended.
    Completed,
}

/// An alarm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alarm {
    /// Name.
    pub name: Arc<str>,
    /// Index of the component it is raised for each instance of; without one it is of the target as a whole.
    pub for_each: Option<u32>,
    /// What raises it.
    pub when: Expr,
    /// For how long it must hold, in nanoseconds.
    pub persists: i64,
    /// Procedure to run, with its inputs; `index` is the alarm's own.
    pub on_raise: Option<Reaction>,
}

/// The reaction of an alarm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reaction {
    /// Name of the procedure.
    pub procedure: Arc<str>,
    /// Inputs by name.
    pub with: Vec<(Arc<str>, ReactionInput)>,
}

/// An input of a reaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ReactionInput {
    /// The index of the component that raised the alarm.
    Index,
    /// A value.
    Value(Scalar),
}

/// What the `ccsds` link must know of a platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CcsdsPlatform {
    /// Source identifier written into every telecommand.
    pub source_id: u16,
    /// Acknowledgement flags of a telecommand, bit 3 acceptance, 2 start, 1 progress, 0 completion.
    pub ack_flags: u8,
    /// Bytes of the time field in the secondary header of a telemetry packet (7 for CDS short).
    pub time_bytes: u8,
    /// Bytes of the failure code in a failure report of service 1.
    pub failure_code_bytes: u8,
    /// Failure codes with their labels.
    pub failure_codes: Vec<(u64, Arc<str>)>,
    /// Whether telemetry packets end in a checksum.
    pub checksum: bool,
    /// How a report names its telecommand.
    pub correlation: Correlation,
    /// Telemetry packets.
    pub packets: Vec<CcsdsPacket>,
}

/// How a report names its telecommand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Correlation {
    /// By packet identifier and sequence control of the telecommand, as PUS-C does.
    RequestId,
}

/// A telemetry packet, told by application process, service and subtype.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CcsdsPacket {
    /// Name, referred to by parameters.
    pub name: Arc<str>,
    /// Application process identifier.
    pub apid: u16,
    /// Service type.
    pub service: u8,
    /// Message subtype.
    pub subtype: u8,
    /// A further mark in the data field: bit offset, width in bits, value (a housekeeping structure id, say).
    pub mark: Option<(u32, u8, u64)>,
}

/// The encoding of a telecommand as a PUS-C packet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CcsdsTelecommand {
    /// Application process identifier.
    pub apid: u16,
    /// Service type.
    pub service: u8,
    /// Message subtype.
    pub subtype: u8,
    /// Acknowledgement flags, where they differ from the platform's.
    pub ack_flags: Option<u8>,
    /// Bytes of the application data, in order.
    pub fields: Vec<CcsdsArgument>,
}

/// One field of a telecommand's application data; fields follow each other without gap, bit by bit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CcsdsArgument {
    /// What is written.
    pub source: ArgumentSource,
    /// How.
    pub encoding: Encoding,
}

/// What a field of a telecommand holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ArgumentSource {
    /// The argument of this index in [`Telecommand::args`].
    Argument(u32),
    /// The index of the component.
    Index,
    /// A constant.
    Constant(Scalar),
}

/// Where a parameter is found in a telemetry packet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CcsdsField {
    /// Index of the packet in [`CcsdsPlatform::packets`].
    pub packet: u32,
    /// What of the packet.
    pub source: FieldSource,
    /// Which instance of the component a packet speaks of, where the component has an index.
    pub index: Option<IndexSource>,
    /// Conversion from raw to engineering value.
    pub calibration: Option<Calibration>,
}

/// What of a telemetry packet a parameter is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FieldSource {
    /// Bits of the data field behind the secondary header, from a bit offset.
    Bits {
        /// Offset in bits.
        offset: u32,
        /// How they are read.
        encoding: Encoding,
    },
    /// The sequence count of the packet.
    SequenceCount,
    /// A constant: the arrival itself is the information.
    Constant(Scalar),
}

/// How a packet tells of which instance of a component it speaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexSource {
    /// An unsigned field: offset and width in bits.
    Bits(u32, u8),
    /// Consecutive fields: instance `i` stands `stride` bits further for each step of the index from its first value.
    Stride(u32),
}

/// How a field is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Encoding {
    /// Unsigned, width in bits (1 to 63, or 64 where the value fits `i64`).
    Unsigned(u8, Endian),
    /// Two's complement, width in bits (1 to 64).
    Signed(u8, Endian),
    /// IEEE 754, 32 or 64 bits.
    Float(u8, Endian),
    /// UTF-8 text of a fixed number of bytes, padded with zeros.
    Text(u16),
    /// CDS short time code, 7 bytes with its P-field.
    CdsShort,
}

/// Order of bytes in a field of whole bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Endian {
    /// Most significant byte first.
    Big,
    /// Least significant byte first.
    Little,
}

/// Conversion from raw to engineering value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Calibration {
    /// `c0 + c1·x + c2·x² …`
    Polynomial(Vec<f64>),
    /// Straight lines between points (raw, engineering), sorted by raw; outside of them the sample is invalid.
    Points(Vec<(f64, f64)>),
}

/// A telecommand or parameter told in words: `tcu[2].ping`.
#[must_use]
pub fn path(component: &str, index: Option<i64>, name: &str) -> String {
    match index {
        Some(index) => alloc::format!("{component}[{index}].{name}"),
        None => alloc::format!("{component}.{name}"),
    }
}
