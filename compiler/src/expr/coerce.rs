//! What a value becomes where a type is due. Nothing is narrowed; an int widens to a float; units convert.

use super::{
    Constant, Context, Typed,
    typed::{Conversion, Node},
};
use crate::{
    catalogue::is_identifier,
    diagnostics::Code,
    types::{
        Enumeration, MISMATCH, Measure, NARROWING, OUT_OF_RANGE, Type, UNIT_MISMATCH,
        interval::{Floats, Ints},
    },
};

impl Typed {
    /// The value after a conversion to a type; a constant is converted at once.
    pub(super) fn convert(self, conversion: Conversion, ty: Type) -> Self {
        let span = self.span;
        if let Some(constant) = self.constant().and_then(|constant| constant.converted(&conversion)) {
            let ty = match (&constant, ty) {
                (Constant::Float(value), Type::Float(measure, _)) => Type::Float(measure, Floats::one(*value)),
                (_, ty) => ty,
            };
            return Self::new(Node::Constant(constant), ty, span);
        }
        Self::new(Node::Convert(Box::new(self), conversion), ty, span)
    }

    /// An int as a float without unit; anything else as it is.
    pub(super) fn widen(self) -> Self {
        match self.ty {
            Type::Int(range) => self.convert(Conversion::Widen, Type::Float(Measure::PLAIN, range.widened())),
            _ => self,
        }
    }

    /// A float in another unit of the same dimension. The caller has seen that they are like.
    pub(super) fn scale(self, to: &Measure) -> Self {
        let Type::Float(from, range) = &self.ty else { return self };
        if from.text == to.text && from.difference == to.difference {
            return self;
        }
        let Some((factor, offset)) = from.scale_to(to) else { return self };
        let trivial = factor.to_bits() == 1.0_f64.to_bits() && offset.to_bits() == 0.0_f64.to_bits();
        let ty = Type::Float(to.clone(), range.scaled(factor, offset));
        if trivial {
            return Self { ty, ..self };
        }
        let conversion = Conversion::Scale { from: from.clone(), to: to.clone() };
        self.convert(conversion, ty)
    }

    /// A duration as a quantity of time in a unit of time.
    pub(super) fn measured(self, to: &Measure) -> Self {
        if let (Some(Constant::Duration(ns)), Some(nanoseconds)) = (self.constant(), Measure::parse("ns")) {
            // From nanoseconds at once, so that it rounds once.
            #[expect(clippy::cast_precision_loss, reason = "the nearest float is what is asked for")]
            let value = nanoseconds.convert(*ns as f64, to);
            if let Some(value) = value {
                let ty = Type::Float(to.clone(), Floats::one(value));
                return Self::new(Node::Constant(Constant::Float(value)), ty, self.span);
            }
        }
        let seconds = Measure::seconds();
        self.convert(Conversion::Seconds, Type::Float(seconds, Floats::ALL)).scale(to)
    }

    /// Whether it is a number that stands there without a unit.
    pub(super) fn is_bare(&self) -> bool {
        let number = matches!(&self.ty, Type::Int(_)) || matches!(&self.ty, Type::Float(m, _) if m.is_plain());
        number && self.constant().is_some()
    }
}

impl Context<'_> {
    /// A value as one of the type that is due.
    pub(super) fn coerce(&mut self, typed: Typed, want: &Type) -> Option<Typed> {
        match (&typed.ty, want) {
            (Type::Bool, Type::Bool)
            | (Type::Str, Type::Str)
            | (Type::Duration, Type::Duration)
            | (Type::Time, Type::Time) => Some(typed),
            (Type::Enum(have), Type::Enum(due)) if have == due => Some(typed),
            (Type::Str, Type::Enum(which)) => self.quoted_label(typed, which),
            (Type::Int(have), Type::Int(due)) => {
                let (have, due) = (*have, *due);
                self.int_range(typed, have, due)
            }
            (Type::Int(_), Type::Float(measure, _)) if measure.is_plain() => {
                let widened = typed.widen();
                self.float_range(widened, want)
            }
            (Type::Int(_) | Type::Float(..), Type::Float(measure, _)) => {
                let scaled = self.in_measure(typed.widen(), measure)?;
                self.float_range(scaled, want)
            }
            (Type::Duration, Type::Float(measure, _)) if measure.is_time() => {
                let measured = typed.measured(measure);
                self.float_range(measured, want)
            }
            _ => {
                self.mismatch(&typed, want);
                None
            }
        }
    }

    /// A label between quotes: right where the language cannot write it without.
    fn quoted_label(&mut self, typed: Typed, which: &Enumeration) -> Option<Typed> {
        let label = match typed.constant() {
            Some(Constant::Str(text)) if !is_identifier(text) => which.label(text),
            _ => None,
        };
        if label.is_none() {
            self.mismatch(&typed, &Type::Enum(which.clone()));
        }
        Some(Typed::constant_of(Constant::Label(which.clone(), label?), typed.span))
    }

    fn int_range(&mut self, typed: Typed, have: Ints, due: Ints) -> Option<Typed> {
        if due.covers(have) {
            return Some(typed);
        }
        if let Some(constant) = typed.constant() {
            let message = format!("`{constant}` is out of range: {} is due", Type::Int(due));
            self.say(&OUT_OF_RANGE, typed.span, message);
        } else {
            self.narrowing(&typed, &Type::Int(have), &Type::Int(due));
        }
        None
    }

    fn float_range(&mut self, typed: Typed, want: &Type) -> Option<Typed> {
        let (Type::Float(_, have), Type::Float(_, due)) = (&typed.ty, want) else { return Some(typed) };
        if due.covers(*have) {
            return Some(typed);
        }
        if let Some(constant) = typed.constant() {
            let unit = match want {
                Type::Float(Measure { text: Some(unit), .. }, _) => format!(" {unit}"),
                _ => String::new(),
            };
            let message = format!("`{constant}{unit}` is out of range: {want} is due");
            self.say(&OUT_OF_RANGE, typed.span, message);
        } else {
            let have = typed.ty.clone();
            self.narrowing(&typed, &have, want);
        }
        None
    }

    fn narrowing(&mut self, typed: &Typed, have: &Type, want: &Type) {
        let message = format!("this is {have}, and may be outside of {want}");
        let help = "give it a type with that range where it comes from, as in `input NAME: TYPE`";
        let diagnostic = self.at(&NARROWING, typed.span, message).help(help);
        self.report(diagnostic);
    }

    /// A float in the unit `to`; a bare number is in none.
    pub(super) fn in_measure(&mut self, typed: Typed, to: &Measure) -> Option<Typed> {
        let Type::Float(from, _) = &typed.ty else { return Some(typed) };
        if typed.is_bare() && !to.is_plain() {
            let unit = to.text.clone().unwrap_or_default();
            let number = typed.constant().map(ToString::to_string).unwrap_or_default();
            let message = format!("a bare number stands where a quantity in `{unit}` is due");
            let diagnostic = self.at(&UNIT_MISMATCH, typed.span, message).help(format!("write `{number} {unit}`"));
            self.report(diagnostic);
            return None;
        }
        if from.is_like(to) {
            return Some(typed.scale(to));
        }
        let message = match (&from.text, &to.text) {
            (Some(from), Some(to)) => format!("`{from}` and `{to}` measure different things"),
            (Some(from), None) => format!("a quantity in `{from}` stands where a plain number is due"),
            (None, Some(to)) => format!("a plain number stands where a quantity in `{to}` is due"),
            (None, None) => "these numbers measure different things".to_owned(),
        };
        self.say(&UNIT_MISMATCH, typed.span, message);
        None
    }

    /// Reports a value whose type does not become the one that is due.
    pub(super) fn mismatch(&mut self, typed: &Typed, want: &Type) {
        let is_number = matches!(&typed.ty, Type::Int(_)) || matches!(&typed.ty, Type::Float(m, _) if m.is_plain());
        let is_quantity = typed.ty == Type::Duration || matches!(&typed.ty, Type::Float(m, _) if !m.is_plain());
        let (code, message): (&'static Code, String) = match (want, typed.constant()) {
            (Type::Duration, _) if is_number => {
                (&UNIT_MISMATCH, "a bare number stands where a duration is due".to_owned())
            }
            (Type::Float(..) | Type::Int(_), _) if is_quantity => {
                (&UNIT_MISMATCH, format!("{} stands where {want} is due", typed.ty))
            }
            (_, Some(constant)) => (&MISMATCH, format!("`{constant}` stands where {want} is due")),
            _ => (&MISMATCH, format!("{} stands where {want} is due", typed.ty)),
        };
        let help = match (want, typed.constant()) {
            (Type::Duration, Some(constant)) if is_number => Some(format!("write `{constant} s` or `{constant} ms`")),
            (Type::Enum(which), Some(Constant::Str(text))) if which.label(text).is_some() => {
                Some(format!("write `{text}` without quotes"))
            }
            (Type::Int(_), Some(Constant::Float(_))) => Some("write a whole number".to_owned()),
            _ => None,
        };
        let diagnostic = self.at(code, typed.span, message).maybe_help(help);
        self.report(diagnostic);
    }
}
