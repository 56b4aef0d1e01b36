//! Fields of packets: where a parameter stands, how it is written, how it is calibrated.

use stellar_vm::{
    catalogue::{Calibration, CcsdsField, Encoding, Endian, FieldSource, IndexSource},
    value::{Scalar, Type as VmType},
};

use super::narrow;
use crate::{
    catalogue::{BAD_ENCODING, CONFLICT, MISSING_KEY, UNKNOWN_PACKET, conditions::Own, draft::Draft},
    diagnostics::Diagnostic,
    suggest::did_you_mean,
    types::Type,
    yaml::{Fields, Key, Node},
};

/// The greatest offset in bits: that of the last bit of the largest packet.
pub(super) const OFFSET_MAX: i64 = 65_542 * 8 - 1;
/// The keys that say how a field is written.
pub(super) const ENCODING_KEYS: [&str; 4] = ["bits", "bytes", "encoding", "endian"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Unsigned,
    Signed,
    Float,
    Text,
    CdsShort,
}

const FORMS: [(&str, Form); 5] = [
    ("unsigned", Form::Unsigned),
    ("signed", Form::Signed),
    ("float", Form::Float),
    ("text", Form::Text),
    ("cds-short", Form::CdsShort),
];

impl<'a> Draft<'a, '_> {
    /// `ccsds` of a parameter.
    pub(in crate::catalogue) fn parameter_encoding(
        &mut self,
        key: &'a Key,
        node: &'a Node,
        component: u32,
        ty: &Type,
    ) -> Option<CcsdsField> {
        let known: Vec<&str> = ["packet", "offset", "constant", "sequence_count", "calibration", "index", "stride"]
            .into_iter()
            .chain(ENCODING_KEYS)
            .collect();
        let fields = self.reader.fields(node, key.place, &known)?;
        let packet = self.packet(&fields);
        let calibration = fields.entry("calibration").and_then(|(key, node)| self.calibration(key, node));
        let source = self.source(&fields, key, ty, calibration.is_some());
        let index = self.index_source(&fields, key, component);
        Some(CcsdsField { packet: packet?, source: source?, index: index?, calibration })
    }

    fn packet(&mut self, fields: &Fields<'a>) -> Option<u32> {
        let node = self.reader.required(fields, "packet")?;
        let name = self.reader.text(node)?;
        let packets = self.platform.compiled.ccsds.as_ref().map(|ccsds| ccsds.packets.as_slice()).unwrap_or_default();
        let found = packets.iter().position(|packet| *packet.name == *name);
        if found.is_none() && !self.platform.is_unread(&format!("packet {name}")) {
            let help = did_you_mean(name, packets.iter().map(|packet| &*packet.name))
                .unwrap_or_else(|| "list it under `packets` in the `ccsds` of the platform".to_owned());
            let message = format!("the packet `{}` is not known", crate::yaml::shortened(name));
            self.reader.report(Diagnostic::new(&UNKNOWN_PACKET, node.place, message).help(help));
        }
        u32::try_from(found?).ok()
    }

    /// What of the packet: bits, the sequence count, or a constant.
    fn source(&mut self, fields: &Fields<'a>, key: &Key, ty: &Type, calibrated: bool) -> Option<FieldSource> {
        let forms: Vec<(&Key, &Node)> =
            ["offset", "constant", "sequence_count"].into_iter().filter_map(|form| fields.entry(form)).collect();
        let [(form, node)] = forms.as_slice() else {
            let message = "one of `offset`, `constant` and `sequence_count` says what of the packet it is";
            let code = if forms.is_empty() { &MISSING_KEY } else { &CONFLICT };
            self.say(code, key.place, message);
            return None;
        };
        if form.text != "offset" {
            for (extra, _) in ENCODING_KEYS.iter().chain(&["calibration"]).filter_map(|key| fields.entry(key)) {
                let message = format!("`{}` has no meaning beside `{}`", extra.text, form.text);
                self.say(&CONFLICT, extra.place, message);
            }
        }
        match form.text.as_str() {
            "offset" => {
                let offset = self.reader.int_in(node, 0, OFFSET_MAX)?;
                let encoding = self.encoding(fields)?;
                let calibratable = matches!(ty, Type::Float(..) | Type::Duration)
                    && !matches!(encoding, Encoding::Text(_) | Encoding::CdsShort);
                if calibrated && !calibratable {
                    self.say(&BAD_ENCODING, key.place, format!("a calibration gives a `float`, and this is {ty}"));
                    return None;
                }
                self.fits(&ty.to_vm(&mut Own), encoding, node)?;
                Some(FieldSource::Bits { offset: narrow(offset), encoding })
            }
            "constant" => self.constant_source(node, ty),
            _ => {
                let right = self.reader.bool(node)? && matches!(ty, Type::Int(_) | Type::Float(..));
                if !right {
                    self.say(&BAD_ENCODING, node.place, "`sequence_count: true` is for an `int`");
                    return None;
                }
                Some(FieldSource::SequenceCount)
            }
        }
    }

    /// A constant: the arrival of the packet says it.
    fn constant_source(&mut self, node: &'a Node, ty: &Type) -> Option<FieldSource> {
        self.constant(node, ty)?;
        let scalar = match ty {
            Type::Bool | Type::Int(_) | Type::Float(..) => self.scalar(node)?,
            _ => Scalar::Str(node.as_text().unwrap_or_default().to_owned()),
        };
        Some(FieldSource::Constant(scalar))
    }

    /// Which instance a packet speaks of: asked for where the component is an array, and nowhere else.
    #[expect(clippy::option_option, reason = "an error and the absence of an index are two things")]
    fn index_source(&mut self, fields: &Fields<'a>, key: &Key, component: u32) -> Option<Option<IndexSource>> {
        let is_array = self.platform.index_of(component).is_some();
        match (fields.entry("index"), fields.entry("stride")) {
            (Some((first, _)), Some((second, _))) => {
                let message = "`index` and `stride` exclude each other";
                let diagnostic = Diagnostic::new(&CONFLICT, second.place, message).label(first.place, "the other one");
                self.reader.report(diagnostic);
                None
            }
            (None, None) if is_array => {
                let message = "the component is an array, and nothing says of which instance the packet speaks";
                let help = "give `index: {offset, bits}` for a field that says it, or `stride` for consecutive fields";
                self.reader.report(Diagnostic::new(&MISSING_KEY, key.place, message).help(help));
                None
            }
            (None, None) => Some(None),
            (Some((key, _)), _) | (_, Some((key, _))) if !is_array => {
                self.say(&BAD_ENCODING, key.place, format!("`{}` is for a component that is an array", key.text));
                None
            }
            (Some((key, node)), None) => {
                let inner = self.reader.fields(node, key.place, &["offset", "bits"])?;
                let offset = self.needed(&inner, "offset", 0, OFFSET_MAX);
                let bits = self.needed(&inner, "bits", 1, 63);
                Some(Some(IndexSource::Bits(narrow(offset?), narrow(bits?))))
            }
            (None, Some((_, node))) => {
                let stride = self.reader.int_in(node, 1, OFFSET_MAX)?;
                Some(Some(IndexSource::Stride(narrow(stride))))
            }
        }
    }

    /// `bits` or `bytes`, `encoding`, `endian`.
    pub(super) fn encoding(&mut self, fields: &Fields<'a>) -> Option<Encoding> {
        let form = match fields.get("encoding") {
            Some(node) => self.reader.word(node, &FORMS)?,
            None => Form::Unsigned,
        };
        let endian = match fields.get("endian") {
            Some(node) => self.reader.word(node, &[("big", Endian::Big), ("little", Endian::Little)])?,
            None => Endian::Big,
        };
        let superfluous: &[&str] = match form {
            Form::Unsigned | Form::Signed | Form::Float => &["bytes"],
            Form::Text => &["bits", "endian"],
            Form::CdsShort => &["bits", "bytes", "endian"],
        };
        for (key, _) in superfluous.iter().filter_map(|key| fields.entry(key)) {
            self.say(&BAD_ENCODING, key.place, format!("`{}` has no meaning for this encoding", key.text));
        }
        match form {
            Form::Unsigned | Form::Signed => {
                let bits = self.needed(fields, "bits", 1, 64)?;
                if endian == Endian::Little && bits.checked_rem(8) != Some(0) {
                    let place = fields.entry("endian").map_or(fields.place, |(key, _)| key.place);
                    self.say(&BAD_ENCODING, place, "only whole bytes have an order: `bits` is no multiple of 8");
                    return None;
                }
                let bits = narrow(bits);
                Some(if form == Form::Signed {
                    Encoding::Signed(bits, endian)
                } else {
                    Encoding::Unsigned(bits, endian)
                })
            }
            Form::Float => {
                let node = self.reader.required(fields, "bits")?;
                let bits = self.reader.word(node, &[("32", 32), ("64", 64)])?;
                Some(Encoding::Float(bits, endian))
            }
            Form::Text => Some(Encoding::Text(narrow(self.needed(fields, "bytes", 1, i64::from(u16::MAX))?))),
            Form::CdsShort => Some(Encoding::CdsShort),
        }
    }

    /// Whether values of a type can be written so.
    pub(super) fn fits(&mut self, ty: &VmType, encoding: Encoding, node: &Node) -> Option<()> {
        let number = matches!(encoding, Encoding::Unsigned(..) | Encoding::Signed(..));
        let (fits, due) = match ty {
            VmType::Bool | VmType::Int { .. } | VmType::Enum(_) => (number, "`unsigned` or `signed`"),
            VmType::Float { .. } | VmType::Duration => {
                (number || matches!(encoding, Encoding::Float(..)), "`unsigned`, `signed` or `float`")
            }
            VmType::Str => (matches!(encoding, Encoding::Text(_)), "`text`"),
            VmType::Time => (encoding == Encoding::CdsShort, "`cds-short`"),
        };
        if !fits {
            self.say(&BAD_ENCODING, node.place, format!("this encoding does not fit the type: {due} is due"));
            return None;
        }
        let VmType::Enum(which) = ty else { return Some(()) };
        let labels = super::super::at(&self.platform.enums, *which).map(|which| which.def.labels.clone())?;
        let beyond = labels.iter().find(|(_, number)| !holds(encoding, *number));
        if let Some((label, number)) = beyond {
            let message = format!("the label `{label}` stands for {number}, which does not fit this encoding");
            self.say(&BAD_ENCODING, node.place, message);
            return None;
        }
        Some(())
    }

    /// `calibration`: a polynomial by its coefficients, or points with straight lines between them.
    fn calibration(&mut self, key: &'a Key, node: &'a Node) -> Option<Calibration> {
        let fields = self.reader.fields(node, key.place, &["polynomial", "points"])?;
        match (fields.get("polynomial"), fields.entry("points")) {
            (Some(node), None) => {
                let coefficients = self.numbers(node)?;
                if coefficients.is_empty() {
                    self.reader.bad(node, "a polynomial has at least one coefficient");
                    return None;
                }
                Some(Calibration::Polynomial(coefficients))
            }
            (None, Some((_, node))) => self.points(node),
            _ => {
                self.say(&CONFLICT, key.place, "a calibration is either a `polynomial` or `points`");
                None
            }
        }
    }

    fn numbers(&mut self, node: &'a Node) -> Option<Vec<f64>> {
        let items = self.reader.list(node)?;
        let numbers: Vec<Option<f64>> = items.iter().map(|item| self.reader.float(item)).collect();
        numbers.into_iter().collect()
    }

    fn points(&mut self, node: &'a Node) -> Option<Calibration> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for item in self.reader.list(node)? {
            let numbers = self.numbers(item)?;
            let [raw, value] = numbers.as_slice() else {
                self.reader.bad(item, "a point is `[RAW, VALUE]`");
                return None;
            };
            if points.last().is_some_and(|(last, _)| last >= raw) {
                self.reader.bad(item, "points are sorted by their raw values, none of them twice");
                return None;
            }
            points.push((*raw, *value));
        }
        if points.len() < 2 {
            self.reader.bad(node, "a line needs two points at least");
            return None;
        }
        Some(Calibration::Points(points))
    }
}

/// Whether an encoding of integers holds a number.
fn holds(encoding: Encoding, number: i64) -> bool {
    let number = i128::from(number);
    let power = |bits: u8| 1_i128.checked_shl(u32::from(bits)).unwrap_or(i128::MAX);
    match encoding {
        Encoding::Unsigned(bits, _) => 0 <= number && number < power(bits),
        Encoding::Signed(bits, _) => {
            let half = power(bits.saturating_sub(1));
            half.checked_neg().is_some_and(|least| least <= number) && number < half
        }
        Encoding::Float(..) | Encoding::Text(_) | Encoding::CdsShort => false,
    }
}
