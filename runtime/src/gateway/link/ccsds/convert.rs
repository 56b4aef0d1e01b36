//! From raw fields to values of the catalogue's types, and back for arguments.
//!
//! A number outside of its parameter's range is delivered as it was measured: conditions and alarms judge it. A duration
//! is a number of seconds on the link.

use stellar_vm::catalogue::Calibration;
use stellar_vm::value::{EnumDef, Scalar, Type, Value};

use super::field::Raw;

const SECOND: i64 = 1_000_000_000;

/// The value of a parameter; `None` where the raw one is none of its type, so that the sample is invalid.
pub(super) fn to_value(raw: Raw, calibration: Option<&Calibration>, ty: &Type, enums: &[EnumDef]) -> Option<Value> {
    let raw = match calibration {
        Some(calibration) => Raw::Float(calibrate(calibration, raw.number()?)?),
        None => raw,
    };
    match (ty, raw) {
        (Type::Str, Raw::Text(text)) => Some(Value::Str(text)),
        (Type::Time, Raw::Time(ns)) => Some(Value::Time(ns)),
        (Type::Float { .. }, raw) => raw.number().map(Value::Float),
        (Type::Duration, Raw::Int(seconds)) => i64::try_from(seconds).ok()?.checked_mul(SECOND).map(Value::Duration),
        (Type::Duration, Raw::Float(seconds)) => whole((seconds * SECOND as f64).round()).map(Value::Duration),
        (Type::Int { .. }, raw) => count(&raw).map(Value::Int),
        (Type::Bool, raw) => match count(&raw)? {
            0 => Some(Value::Bool(false)),
            1 => Some(Value::Bool(true)),
            _ => None,
        },
        (Type::Enum(def), raw) => {
            let number = count(&raw)?;
            let labels = &enums.get(usize::try_from(*def).ok()?)?.labels;
            let label = labels.iter().position(|(_, of)| *of == number)?;
            Some(Value::Enum { def: *def, label: u32::try_from(label).ok()? })
        }
        (Type::Str | Type::Time | Type::Duration, _) => None,
    }
}

/// A whole number, exactly.
fn count(raw: &Raw) -> Option<i64> {
    match raw {
        Raw::Int(number) => i64::try_from(*number).ok(),
        Raw::Float(number) => whole(*number),
        Raw::Text(_) | Raw::Time(_) => None,
    }
}

fn whole(number: f64) -> Option<i64> {
    // Both ends are exact in `f64`; the upper one is the first that no longer fits.
    let fits = (i64::MIN as f64..-(i64::MIN as f64)).contains(&number);
    (fits && number.fract() == 0.0).then_some(number as i64)
}

/// The engineering value of a raw number; `None` outside of the points.
fn calibrate(calibration: &Calibration, x: f64) -> Option<f64> {
    match calibration {
        Calibration::Polynomial(coefficients) => Some(coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)),
        Calibration::Points(points) => points.windows(2).find_map(|pair| match pair {
            [(x0, y0), (x1, y1)] if (*x0..=*x1).contains(&x) && x0 < x1 => {
                Some(y0 + (y1 - y0) * ((x - x0) / (x1 - x0)))
            }
            _ => None,
        }),
    }
}

/// What an argument is on the link; `None` for a label that its enumeration does not have.
pub(super) fn from_value(value: &Value, enums: &[EnumDef]) -> Option<Raw> {
    Some(match value {
        Value::Bool(bool) => Raw::Int(i128::from(*bool)),
        Value::Int(number) => Raw::Int(i128::from(*number)),
        Value::Float(number) => Raw::Float(*number),
        Value::Str(text) => Raw::Text(text.clone()),
        Value::Time(ns) => Raw::Time(*ns),
        Value::Duration(ns) if ns % SECOND == 0 => Raw::Int(i128::from(ns / SECOND)),
        Value::Duration(ns) => Raw::Float(*ns as f64 / SECOND as f64),
        Value::Enum { def, label } => {
            let labels = &enums.get(usize::try_from(*def).ok()?)?.labels;
            Raw::Int(i128::from(labels.get(usize::try_from(*label).ok()?)?.1))
        }
    })
}

/// What a constant of the catalogue is on the link.
pub(super) fn from_constant(constant: &Scalar) -> Raw {
    match constant {
        Scalar::Bool(bool) => Raw::Int(i128::from(*bool)),
        Scalar::Int(number) => Raw::Int(i128::from(*number)),
        Scalar::Float(number) => Raw::Float(*number),
        Scalar::Str(text) => Raw::Text(text.as_str().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOAT: Type = Type::Float { unit: None, min: None, max: None };
    const INT: Type = Type::Int { min: 0, max: 10 };

    fn modes() -> Vec<EnumDef> {
        vec![EnumDef { name: "mode".into(), labels: vec![("STANDBY".into(), 0), ("SAFE".into(), 7)] }]
    }

    #[test]
    fn each_type_takes_what_is_of_it_and_nothing_else() {
        let safe = Value::Enum { def: 0, label: 1 };
        for (raw, ty, value) in [
            (Raw::Int(1), Type::Bool, Some(Value::Bool(true))),
            (Raw::Int(2), Type::Bool, None),
            (Raw::Int(7), Type::Enum(0), Some(safe)),
            (Raw::Int(1), Type::Enum(0), None),
            (Raw::Int(7), Type::Enum(1), None),
            (Raw::Int(99), INT, Some(Value::Int(99))),
            (Raw::Int(i128::from(u64::MAX)), INT, None),
            (Raw::Float(3.0), INT, Some(Value::Int(3))),
            (Raw::Float(3.5), INT, None),
            (Raw::Float(9.3e18), INT, None),
            (Raw::Float(f64::NAN), INT, None),
            (Raw::Int(3), FLOAT, Some(Value::Float(3.0))),
            (Raw::Text("on".into()), Type::Str, Some(Value::Str("on".into()))),
            (Raw::Text("on".into()), FLOAT, None),
            (Raw::Int(2), Type::Duration, Some(Value::Duration(2_000_000_000))),
            (Raw::Float(0.25), Type::Duration, Some(Value::Duration(250_000_000))),
            (Raw::Int(i128::from(i64::MAX)), Type::Duration, None),
            (Raw::Float(f64::INFINITY), Type::Duration, None),
            (Raw::Time(5), Type::Time, Some(Value::Time(5))),
            (Raw::Int(5), Type::Time, None),
        ] {
            assert_eq!(to_value(raw.clone(), None, &ty, &modes()), value, "{raw:?} as {ty:?}");
        }
    }

    #[test]
    fn a_polynomial_and_points_calibrate() {
        let polynomial = Calibration::Polynomial(vec![-40.0, 0.5, 0.01]);
        assert_eq!(to_value(Raw::Int(10), Some(&polynomial), &FLOAT, &[]), Some(Value::Float(-34.0)));
        let points = Calibration::Points(vec![(0.0, 0.0), (10.0, 100.0), (20.0, 0.0)]);
        for (raw, value) in
            [(0, Some(0.0)), (5, Some(50.0)), (10, Some(100.0)), (15, Some(50.0)), (20, Some(0.0)), (21, None)]
        {
            assert_eq!(to_value(Raw::Int(raw), Some(&points), &FLOAT, &[]), value.map(Value::Float), "{raw}");
        }
        assert_eq!(to_value(Raw::Int(-1), Some(&points), &FLOAT, &[]), None);
        assert_eq!(to_value(Raw::Text("1".into()), Some(&points), &FLOAT, &[]), None);
    }

    #[test]
    fn arguments_become_what_the_link_writes() {
        for (value, raw) in [
            (Value::Bool(true), Some(Raw::Int(1))),
            (Value::Enum { def: 0, label: 1 }, Some(Raw::Int(7))),
            (Value::Enum { def: 0, label: 2 }, None),
            (Value::Enum { def: 3, label: 0 }, None),
            (Value::Duration(3_000_000_000), Some(Raw::Int(3))),
            (Value::Duration(1_500_000_000), Some(Raw::Float(1.5))),
        ] {
            assert_eq!(from_value(&value, &modes()), raw, "{value:?}");
        }
    }
}
