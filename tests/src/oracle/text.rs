//! Instants, durations and values in words, as a log has them.

use super::model::*;

/// RFC 3339 with nine decimals; the years from 1970 on.
pub(super) fn instant(ns: Ns) -> String {
    let (mut days, rest) = (ns.div_euclid(86_400 * S), ns.rem_euclid(86_400 * S));
    let leap = |year: i64| (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let mut year = 1970;
    loop {
        let length = if leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let mut month = 1;
    for length in [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (seconds, nanos) = (rest / S, rest % S);
    let (h, m, s) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{:02}T{h:02}:{m:02}:{s:02}.{nanos:09}Z", days + 1)
}

/// A duration, exact: the largest unit that needs no decimals, else milliseconds.
pub(super) fn span(ns: Ns) -> String {
    if ns == 0 {
        return "0 s".to_owned();
    }
    for (unit, size) in [("d", 86_400 * S), ("h", 3_600 * S), ("min", 60 * S), ("s", S), ("ms", MS)] {
        if ns % size == 0 {
            return format!("{} {unit}", ns / size);
        }
    }
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.abs();
    let decimals = format!("{:06}", ns % MS);
    format!("{sign}{}.{} ms", ns / MS, decimals.trim_end_matches('0'))
}

/// A value as JSON has it.
pub(super) fn scalar(catalogue: &Catalogue, value: &Value) -> serde_json::Value {
    match value {
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => (*value).into(),
        Value::Float(value) if value.is_nan() => "NaN".into(),
        Value::Float(value) if value.is_infinite() => if *value > 0.0 { "inf" } else { "-inf" }.into(),
        Value::Float(value) => (*value).into(),
        Value::Str(value) => value.clone().into(),
        Value::Duration(ns) => span(*ns).into(),
        Value::Time(ns) => instant(*ns).into(),
        Value::Label(which, label) => catalogue.enums[*which].1[*label].into(),
    }
}

/// A value in words, with the unit of its type.
pub(super) fn words(scalar: &serde_json::Value, ty: &Ty) -> String {
    let plain = match scalar {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(number) if number.is_f64() => format!("{:?}", number.as_f64().unwrap()),
        other => other.to_string(),
    };
    match ty {
        Ty::Float(Some(unit), _) => format!("{plain} {unit}"),
        _ => plain,
    }
}

/// A type in words, with its range.
pub(super) fn type_words(catalogue: &Catalogue, ty: &Ty) -> String {
    match ty {
        Ty::Bool => "true or false".to_owned(),
        Ty::Int(None) => "a whole number".to_owned(),
        Ty::Int(Some((low, high))) => format!("a whole number from {low} to {high}"),
        Ty::Float(unit, range) => {
            let unit = unit.map_or(String::new(), |unit| format!(" in {unit}"));
            let range = range.map_or(String::new(), |(low, high)| format!(" from {low:?} to {high:?}"));
            format!("a number{unit}{range}")
        }
        Ty::Str => "a text".to_owned(),
        Ty::Duration => "a duration".to_owned(),
        Ty::Time => "a time".to_owned(),
        Ty::Enum(which) => format!("one of {}", catalogue.enums[*which].1.join(", ")),
    }
}
