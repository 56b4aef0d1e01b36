//! Values and names of a scenario, read against the catalogue.

use stellar_vm::{
    catalogue::{Parameter, Platform},
    time::{duration_text, parse_duration},
    value::{EnumDef, Scalar, Type, Value},
};

use super::yaml::{Complaints, Node};

/// A duration of a scenario is at most this long.
const LONGEST: i64 = 365 * 86_400_000_000_000;

/// Reads a value of a type; its range is asked for too, for a simulated target must not be wrong by a slip of the pen.
pub(super) fn value(node: &Node, ty: &Type, enums: &[EnumDef], out: &mut Complaints<'_>) -> Option<Value> {
    let Some(text) = node.text() else {
        out.say(node, format!("{} is due here, not {}", words(ty, enums), node.kind()));
        return None;
    };
    let read = scalar(text, ty).and_then(|scalar| Value::from_scalar(&scalar, ty, enums));
    let nan = matches!(&read, Some(Value::Float(number)) if !number.is_finite());
    match read {
        Some(value) if nan || value.fits(ty) => Some(value),
        Some(_) => {
            out.say(node, format!("`{text}` is out of range: {} is due here", words(ty, enums)));
            None
        }
        None => {
            let message = format!("`{text}` is no value: {} is due here", words(ty, enums));
            out.unknown(node, message, text, labels(ty, enums));
            None
        }
    }
}

fn scalar(text: &str, ty: &Type) -> Option<Scalar> {
    Some(match ty {
        Type::Bool => Scalar::Bool(text.parse().ok()?),
        Type::Int { .. } => Scalar::Int(integer(text)?),
        Type::Float { .. } => match text {
            ".nan" | ".NaN" | "NaN" => Scalar::Str("NaN".to_owned()),
            ".inf" | "inf" => Scalar::Str("inf".to_owned()),
            "-.inf" | "-inf" => Scalar::Str("-inf".to_owned()),
            _ => Scalar::Float(number(text)?),
        },
        Type::Duration => Scalar::Str(duration_text(parse_duration(text)?)),
        Type::Str | Type::Time | Type::Enum(_) => Scalar::Str(text.to_owned()),
    })
}

fn integer(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// A finite number, without the words that Rust reads as one.
fn number(text: &str) -> Option<f64> {
    let numeric = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    text.parse().ok().filter(|number: &f64| numeric && number.is_finite())
}

fn labels<'a>(ty: &Type, enums: &'a [EnumDef]) -> Vec<&'a str> {
    let Type::Enum(def) = ty else { return Vec::new() };
    let def = usize::try_from(*def).ok().and_then(|def| enums.get(def));
    def.map(|def| def.labels.iter().map(|(label, _)| &**label).collect()).unwrap_or_default()
}

/// A type in words.
pub(super) fn words(ty: &Type, enums: &[EnumDef]) -> String {
    match ty {
        Type::Bool => "`true` or `false`".to_owned(),
        Type::Int { min: i64::MIN, max: i64::MAX } => "a whole number".to_owned(),
        Type::Int { min, max } => format!("a whole number from {min} to {max}"),
        Type::Float { min, max, .. } => match (min, max) {
            (Some(min), Some(max)) => format!("a number from {min} to {max}"),
            (Some(min), None) => format!("a number of {min} or more"),
            (None, Some(max)) => format!("a number up to {max}"),
            (None, None) => "a number".to_owned(),
        },
        Type::Str => "a text".to_owned(),
        Type::Duration => "a duration such as `2s`".to_owned(),
        Type::Time => "a time such as `2026-10-02T10:15:00Z`".to_owned(),
        Type::Enum(_) => format!("one of {}", labels(ty, enums).join(", ")),
    }
}

/// A duration, of at least `least` nanoseconds.
pub(super) fn duration(node: &Node, least: i64, out: &mut Complaints<'_>) -> Option<i64> {
    let read = node.text().and_then(parse_duration);
    match read {
        Some(ns) if (least..=LONGEST).contains(&ns) => Some(ns),
        Some(_) => {
            let least = duration_text(least);
            out.say(node, format!("a duration from {least} to 365 d is due here, not `{}`", node.text()?));
            None
        }
        None => {
            let found = node.text().map_or_else(|| node.kind().to_owned(), |text| format!("`{text}`"));
            out.say(node, format!("a duration such as `2s` is due here, not {found}"));
            None
        }
    }
}

/// A finite number.
pub(super) fn float(node: &Node, out: &mut Complaints<'_>) -> Option<f64> {
    let read = node.text().and_then(number);
    if read.is_none() {
        let found = node.text().map_or_else(|| node.kind().to_owned(), |text| format!("`{text}`"));
        out.say(node, format!("a number is due here, not {found}"));
    }
    read
}

/// A count, from `least` to 1,000,000.
pub(super) fn count(node: &Node, least: u64, out: &mut Complaints<'_>) -> Option<u64> {
    let read = node.text().and_then(|text| text.parse().ok()).filter(|count| (least..=1_000_000).contains(count));
    if read.is_none() {
        let found = node.text().map_or_else(|| node.kind().to_owned(), |text| format!("`{text}`"));
        out.say(node, format!("a whole number from {least} to 1,000,000 is due here, not {found}"));
    }
    read
}

/// `true` or `false`.
pub(super) fn flag(node: &Node, out: &mut Complaints<'_>) -> Option<bool> {
    match value(node, &Type::Bool, &[], out)? {
        Value::Bool(flag) => Some(flag),
        _ => None,
    }
}

/// A parameter or telecommand of the catalogue, of one instance of its component or of every one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Named {
    /// Its place in the table of the platform.
    pub(super) entry: u32,
    /// The instance, where one is named.
    pub(super) index: Option<i64>,
}

impl Named {
    /// Whether it names this instance.
    pub(super) fn is(&self, entry: u32, index: Option<i64>) -> bool {
        self.entry == entry && (self.index.is_none() || self.index == index)
    }
}

/// What a dotted name stands for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Table {
    Parameters,
    Telecommands,
}

/// Reads `tcu.responding` or `tcu[2].responding`.
pub(super) fn named(node: &Node, table: Table, platform: &Platform, out: &mut Complaints<'_>) -> Option<Named> {
    let what = match table {
        Table::Parameters => "parameter",
        Table::Telecommands => "telecommand",
    };
    let text = node.text().unwrap_or_default();
    let Some((component, name)) = text.split_once('.') else {
        out.say(node, format!("a {what} such as `tcu.name` or `tcu[2].name` is due here"));
        return None;
    };
    let (component, index) = match crate::gateway::resolve::component(component) {
        Ok(read) => read,
        Err(why) => {
            out.say(node, why);
            return None;
        }
    };
    let Some(place) = platform.components.iter().position(|of| &*of.name == component) else {
        let known = platform.components.iter().map(|of| &*of.name);
        out.unknown(node, format!("`{}` has no component `{component}`", platform.name), component, known);
        return None;
    };
    let range = platform.components.get(place).and_then(|of| of.index);
    match (range, index) {
        (_, None) => {}
        (Some((min, max)), Some(index)) if (min..=max).contains(&index) => {}
        (Some((min, max)), Some(_)) => {
            out.say(node, format!("the index of `{component}` goes from {min} to {max}"));
            return None;
        }
        (None, Some(_)) => {
            out.say(node, format!("`{component}` has no index"));
            return None;
        }
    }
    let names: Vec<(u32, &str)> = match table {
        Table::Parameters => platform.parameters.iter().map(|of| (of.component, &*of.name)).collect(),
        Table::Telecommands => platform.telecommands.iter().map(|of| (of.component, &*of.name)).collect(),
    };
    let of = |entry: u32| usize::try_from(entry).is_ok_and(|of| of == place);
    let Some(entry) = names.iter().position(|(entry, known)| of(*entry) && *known == name) else {
        let known = names.iter().filter(|(entry, _)| of(*entry)).map(|(_, known)| *known);
        out.unknown(node, format!("`{component}` has no {what} `{name}`"), name, known);
        return None;
    };
    Some(Named { entry: u32::try_from(entry).ok()?, index })
}

/// A parameter by its place.
pub(super) fn parameter(platform: &Platform, entry: u32) -> Option<&Parameter> {
    usize::try_from(entry).ok().and_then(|entry| platform.parameters.get(entry))
}

/// The instances of a component.
pub(super) fn instances(platform: &Platform, component: u32) -> Box<dyn Iterator<Item = Option<i64>>> {
    let range = usize::try_from(component).ok().and_then(|place| platform.components.get(place)).map(|of| of.index);
    match range {
        Some(Some((min, max))) => Box::new((min..=max).map(Some)),
        Some(None) => Box::new(std::iter::once(None)),
        None => Box::new(std::iter::empty()),
    }
}
