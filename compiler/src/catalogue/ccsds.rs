//! Encoding on the `ccsds` link: of the platform as a whole, and of telecommands; that of parameters is in `field`.

use std::{collections::BTreeMap, sync::Arc};

use stellar_vm::{
    catalogue::{Argument, ArgumentSource, CcsdsArgument, CcsdsPacket, CcsdsPlatform, CcsdsTelecommand, Correlation},
    value::{Scalar, Type},
};

use super::{BAD_ENCODING, CONFLICT, draft::Draft};
use crate::{
    diagnostics::Diagnostic,
    suggest::did_you_mean,
    yaml::{Fields, Key, Node},
};

mod field;

const PLATFORM_KEYS: [&str; 8] =
    ["source_id", "ack", "time", "failure_code", "failure_codes", "checksum", "correlation", "packets"];
const ACKS: [(&str, u8); 4] = [("acceptance", 0b1000), ("start", 0b0100), ("progress", 0b0010), ("completion", 0b0001)];
/// The greatest application process identifier: 11 bits, all ones being idle packets.
const APID_MAX: i64 = 0x7FE;

/// What holds of a platform that encodes telecommands and has no `ccsds` of its own: that of one with an empty one.
const PLAIN: CcsdsPlatform = CcsdsPlatform {
    source_id: 0,
    ack_flags: 0b1111,
    time_bytes: 7,
    failure_code_bytes: 1,
    failure_codes: Vec::new(),
    checksum: true,
    correlation: Correlation::RequestId,
    packets: Vec::new(),
};

impl<'a> Draft<'a, '_> {
    /// A platform whose telecommands are encoded is itself, though it says nothing of it.
    pub(super) fn encoded(&mut self) {
        let compiled = &mut self.platform.compiled;
        if compiled.ccsds.is_none() && compiled.telecommands.iter().any(|telecommand| telecommand.ccsds.is_some()) {
            compiled.ccsds = Some(PLAIN);
        }
    }

    /// `ccsds` of the platform.
    pub(super) fn platform_encoding(&mut self, key: &'a Key, node: &'a Node) {
        let Some(fields) = self.reader.fields(node, key.place, &PLATFORM_KEYS) else { return };
        let source_id = self.number(&fields, "source_id", 0, i64::from(u16::MAX)).unwrap_or(0);
        let ack_flags = fields.get("ack").and_then(|node| self.acks(node)).unwrap_or(PLAIN.ack_flags);
        let time_bytes = self.number(&fields, "time", 0, 16).unwrap_or(PLAIN.time_bytes.into());
        let failure_code_bytes = self.number(&fields, "failure_code", 0, 8).unwrap_or(PLAIN.failure_code_bytes.into());
        let failure_codes = fields.get("failure_codes").map(|node| self.failure_codes(node)).unwrap_or_default();
        let checksum = fields.get("checksum").and_then(|node| self.reader.bool(node)).unwrap_or(PLAIN.checksum);
        if let Some(node) = fields.get("correlation") {
            self.reader.word(node, &[("request-id", Correlation::RequestId)]);
        }
        let packets = fields.get("packets").map(|node| self.packets(node)).unwrap_or_default();
        self.platform.compiled.ccsds = Some(CcsdsPlatform {
            source_id: narrow(source_id),
            ack_flags,
            time_bytes: narrow(time_bytes),
            failure_code_bytes: narrow(failure_code_bytes),
            failure_codes,
            checksum,
            correlation: Correlation::RequestId,
            packets,
        });
    }

    /// A whole number in a range, where its key is there.
    fn number(&mut self, fields: &Fields<'a>, key: &str, min: i64, max: i64) -> Option<i64> {
        let node = fields.get(key)?;
        self.reader.int_in(node, min, max)
    }

    /// A whole number in a range whose key has to be there.
    fn needed(&mut self, fields: &Fields<'a>, key: &str, min: i64, max: i64) -> Option<i64> {
        let node = self.reader.required(fields, key)?;
        self.reader.int_in(node, min, max)
    }

    fn acks(&mut self, node: &'a Node) -> Option<u8> {
        let mut flags = 0;
        for item in self.reader.list(node)? {
            flags |= self.reader.word(item, &ACKS)?;
        }
        Some(flags)
    }

    fn failure_codes(&mut self, node: &'a Node) -> Vec<(u64, Arc<str>)> {
        let mut codes = BTreeMap::new();
        for (key, node) in self.reader.entries(node).unwrap_or_default() {
            let code = crate::yaml::parse_int(&key.text).and_then(|code| u64::try_from(code).ok());
            let label = self.reader.text(node);
            match (code, label) {
                (Some(code), Some(label)) => {
                    codes.insert(code, label.into());
                }
                (None, _) => {
                    let message = format!("`{}` stands where a failure code is due", crate::yaml::shortened(&key.text));
                    self.say(&super::BAD_VALUE, key.place, message);
                }
                (Some(_), None) => {}
            }
        }
        codes.into_iter().collect()
    }

    fn packets(&mut self, node: &'a Node) -> Vec<CcsdsPacket> {
        let mut packets = Vec::new();
        for (name, (key, node)) in self.sorted(node, "packet ") {
            let Some(fields) =
                self.reader.fields(node, key.place, &["apid", "service", "subtype", "mark", "description"])
            else {
                self.platform.unread.insert(format!("packet {name}"));
                continue;
            };
            self.description(&fields);
            let head = self.head(&fields);
            let mark = fields.entry("mark").map(|(key, node)| self.mark(key, node));
            match (head, mark) {
                (Some((apid, service, subtype)), None) => {
                    packets.push(CcsdsPacket { name, apid, service, subtype, mark: None });
                }
                (Some((apid, service, subtype)), Some(Some(mark))) => {
                    packets.push(CcsdsPacket { name, apid, service, subtype, mark: Some(mark) });
                }
                _ => {
                    self.platform.unread.insert(format!("packet {name}"));
                }
            }
        }
        packets
    }

    /// `apid`, `service` and `subtype`.
    fn head(&mut self, fields: &Fields<'a>) -> Option<(u16, u8, u8)> {
        let apid = self.needed(fields, "apid", 0, APID_MAX);
        let service = self.needed(fields, "service", 0, 255);
        let subtype = self.needed(fields, "subtype", 0, 255);
        Some((narrow(apid?), narrow(service?), narrow(subtype?)))
    }

    fn mark(&mut self, key: &'a Key, node: &'a Node) -> Option<(u32, u8, u64)> {
        let fields = self.reader.fields(node, key.place, &["offset", "bits", "value"])?;
        let offset = self.needed(&fields, "offset", 0, field::OFFSET_MAX);
        let bits = self.needed(&fields, "bits", 1, 63);
        let value = self.needed(&fields, "value", 0, i64::MAX);
        let (bits, value) = (bits?, value?);
        let fits = u32::try_from(bits).ok().and_then(|bits| value.checked_shr(bits)) == Some(0);
        if !fits {
            self.say(&BAD_ENCODING, key.place, format!("the value {value} does not fit {bits} bits"));
            return None;
        }
        Some((narrow(offset?), narrow(bits), u64::try_from(value).ok()?))
    }

    /// `ccsds` of a telecommand.
    pub(super) fn telecommand_encoding(
        &mut self,
        key: &'a Key,
        node: &'a Node,
        component: u32,
        args: &[Argument],
    ) -> Option<CcsdsTelecommand> {
        let fields = self.reader.fields(node, key.place, &["apid", "service", "subtype", "ack", "fields"])?;
        let head = self.head(&fields);
        let ack_flags = fields.get("ack").and_then(|node| self.acks(node));
        let mut encoded = Vec::new();
        // A field with an error may be the one that holds the argument.
        let mut faulty = false;
        if let Some(node) = fields.get("fields") {
            for item in self.reader.list(node).unwrap_or_default() {
                let field = self.argument_field(item, component, args);
                faulty |= field.is_none();
                encoded.extend(field);
            }
        }
        for (number, arg) in (0_u32..).zip(args) {
            if !faulty && !encoded.iter().any(|field| field.source == ArgumentSource::Argument(number)) {
                let message = format!("no field of the packet holds the argument `{}`", arg.name);
                self.say(&BAD_ENCODING, key.place, message);
            }
        }
        let (apid, service, subtype) = head?;
        Some(CcsdsTelecommand { apid, service, subtype, ack_flags, fields: encoded })
    }

    /// One field of a telecommand: `{arg: NAME, …}`, `{constant: V, …}` or `{index: true, …}`.
    fn argument_field(&mut self, node: &'a Node, component: u32, args: &[Argument]) -> Option<CcsdsArgument> {
        let known: Vec<&str> = ["arg", "constant", "index"].into_iter().chain(field::ENCODING_KEYS).collect();
        let fields = self.reader.fields(node, node.place, &known)?;
        let forms: Vec<(&Key, &Node)> =
            ["arg", "constant", "index"].into_iter().filter_map(|form| fields.entry(form)).collect();
        let [(key, value)] = forms.as_slice() else {
            self.say(&CONFLICT, node.place, "a field holds one of `arg`, `constant` and `index`");
            return None;
        };
        let (source, ty) = match key.text.as_str() {
            "arg" => {
                let name = self.reader.text(value)?;
                let Some(number) = args.iter().position(|arg| *arg.name == *name) else {
                    let message = format!("there is no argument `{}`", crate::yaml::shortened(name));
                    let help = did_you_mean(name, args.iter().map(|arg| &*arg.name));
                    self.reader.report(Diagnostic::new(&BAD_ENCODING, value.place, message).maybe_help(help));
                    return None;
                };
                let ty = args.get(number).map(|arg| arg.ty.clone())?;
                (ArgumentSource::Argument(u32::try_from(number).ok()?), ty)
            }
            "constant" => {
                let scalar = self.scalar(value)?;
                let ty = type_of(&scalar);
                (ArgumentSource::Constant(scalar), ty)
            }
            _ => {
                if self.reader.bool(value)? && self.platform.index_of(component).is_some() {
                    (ArgumentSource::Index, Type::Int { min: 0, max: i64::MAX })
                } else {
                    self.say(&BAD_ENCODING, value.place, "`index: true` is for a component that is an array");
                    return None;
                }
            }
        };
        let encoding = self.encoding(&fields)?;
        self.fits(&ty, encoding, node)?;
        Some(CcsdsArgument { source, encoding })
    }

    /// A constant as it stands in YAML.
    pub(super) fn scalar(&mut self, node: &Node) -> Option<Scalar> {
        let text = self.reader.text(node)?;
        Some(match node.as_plain() {
            Some("true") => Scalar::Bool(true),
            Some("false") => Scalar::Bool(false),
            Some(plain) => match (crate::yaml::parse_int(plain), crate::yaml::parse_float(plain)) {
                (Some(int), _) => Scalar::Int(int),
                (None, Some(float)) => Scalar::Float(float),
                (None, None) => Scalar::Str(text.to_owned()),
            },
            None => Scalar::Str(text.to_owned()),
        })
    }
}

/// The type that a constant has by itself.
fn type_of(scalar: &Scalar) -> Type {
    match scalar {
        Scalar::Bool(_) => Type::Bool,
        Scalar::Int(value) => Type::Int { min: *value, max: *value },
        Scalar::Float(_) => Type::Float { unit: None, min: None, max: None },
        Scalar::Str(_) => Type::Str,
    }
}

/// A number that was checked to fit.
fn narrow<T: TryFrom<i64> + Default>(value: i64) -> T {
    T::try_from(value).unwrap_or_default()
}
