//! The value of a parameter over time.

use stellar_vm::{
    catalogue::Parameter,
    value::{Type, Value},
};

use super::scenario::Profile;

/// The value after `elapsed` nanoseconds.
pub(super) fn at(profile: &Profile, elapsed: i64, ty: &Type) -> Option<Value> {
    let elapsed = elapsed.max(0);
    match profile {
        Profile::Sine { mean, amplitude, period, phase } => {
            let place = elapsed.saturating_add(*phase).rem_euclid(*period) as f64 / *period as f64;
            Some(number(mean + amplitude * (place * std::f64::consts::TAU).sin(), ty))
        }
        Profile::Ramp { from, to, over, repeat } => {
            let place = if *repeat { elapsed.rem_euclid(*over) } else { elapsed.min(*over) };
            Some(number(from + (to - from) * (place as f64 / *over as f64), ty))
        }
        Profile::Steps { values, every, repeat } => {
            let last = values.len().checked_sub(1)?;
            let step = usize::try_from(elapsed / every).unwrap_or(usize::MAX);
            let step = if *repeat { step % values.len() } else { step.min(last) };
            values.get(step).cloned()
        }
    }
}

/// A number as a value of a type; whole where the type is.
fn number(number: f64, ty: &Type) -> Value {
    match ty {
        // A float beyond the range of integers is cut to it.
        Type::Int { .. } => Value::Int(number.round() as i64),
        _ => Value::Float(number),
    }
}

/// What an instance has before anything happens and where no scenario says otherwise: false, zero or the least, the
/// middle of a range, the first label. `utc` is when the target began.
pub(super) fn first(parameter: &Parameter, utc: i64) -> Value {
    match &parameter.ty {
        Type::Bool => Value::Bool(false),
        Type::Int { min: i64::MIN, max } => Value::Int(0.min(*max)),
        Type::Int { min, .. } => Value::Int(*min),
        Type::Float { min, max, .. } => Value::Float(match (min, max) {
            (Some(min), Some(max)) => min + (max - min) / 2.0,
            (Some(only), None) | (None, Some(only)) => *only,
            (None, None) => 0.0,
        }),
        Type::Str => Value::Str("".into()),
        Type::Duration => Value::Duration(0),
        Type::Time => Value::Time(utc),
        Type::Enum(def) => Value::Enum { def: *def, label: 0 },
    }
}

/// A number with a deviation, `place` of the greatest one (-1 to 1); one within the range of its type stays within it.
pub(super) fn deviate(value: Value, greatest: f64, place: f64, ty: &Type) -> Value {
    let deviation = greatest * place;
    match (value, ty) {
        (Value::Float(was), Type::Float { min, max, .. }) => {
            let inside = Value::Float(was).fits(ty);
            let mut now = was + deviation;
            if inside {
                now = min.map_or(now, |min| now.max(min));
                now = max.map_or(now, |max| now.min(max));
            }
            Value::Float(now)
        }
        (Value::Int(was), Type::Int { min, max }) => {
            let now = was.saturating_add(deviation.round() as i64);
            Value::Int(if (min..=max).contains(&&was) { now.clamp(*min, *max) } else { now })
        }
        (value, _) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;
    const FLOAT: Type = Type::Float { unit: None, min: Some(0.0), max: Some(30.0) };
    const INT: Type = Type::Int { min: 0, max: 100 };

    fn float(value: Option<Value>) -> f64 {
        match value {
            Some(Value::Float(value)) => value,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn profiles_have_their_values_at_their_corners() {
        let sine = Profile::Sine { mean: 20.0, amplitude: 5.0, period: 8 * S, phase: 0 };
        for (at_s, wanted) in [(0, 20.0), (2, 25.0), (4, 20.0), (6, 15.0), (8, 20.0), (10, 25.0)] {
            assert!((float(at(&sine, at_s * S, &FLOAT)) - wanted).abs() < 1e-9);
        }
        let ramp = |repeat| Profile::Ramp { from: 10.0, to: 20.0, over: 10 * S, repeat };
        for (at_s, once, again) in [(0, 10.0, 10.0), (5, 15.0, 15.0), (10, 20.0, 10.0), (15, 20.0, 15.0)] {
            assert!((float(at(&ramp(false), at_s * S, &FLOAT)) - once).abs() < 1e-9);
            assert!((float(at(&ramp(true), at_s * S, &FLOAT)) - again).abs() < 1e-9);
        }
        assert_eq!(at(&ramp(false), 5 * S + S / 4, &INT), Some(Value::Int(15)));
        let steps = |repeat| Profile::Steps { values: vec![Value::Bool(true), Value::Bool(false)], every: S, repeat };
        for (at_ns, once, again) in [(0, true, true), (S - 1, true, true), (S, false, false), (2 * S, false, true)] {
            assert_eq!(at(&steps(false), at_ns, &Type::Bool), Some(Value::Bool(once)));
            assert_eq!(at(&steps(true), at_ns, &Type::Bool), Some(Value::Bool(again)));
        }
    }

    #[test]
    fn noise_leads_nothing_out_of_its_range_that_was_in_it() {
        assert_eq!(deviate(Value::Float(29.5), 2.0, 1.0, &FLOAT), Value::Float(30.0));
        assert_eq!(deviate(Value::Float(35.0), 2.0, 1.0, &FLOAT), Value::Float(37.0));
        assert_eq!(deviate(Value::Int(1), 3.0, -1.0, &INT), Value::Int(0));
        assert_eq!(deviate(Value::Bool(true), 3.0, -1.0, &Type::Bool), Value::Bool(true));
    }
}
