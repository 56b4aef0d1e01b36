//! Inputs of a run as they stand on the command line: text to scalars of the type that the procedure declares.

use std::{collections::BTreeMap, sync::Arc};

use stellar_compiler::suggest::did_you_mean;
use stellar_vm::{
    program::{Kind, Program},
    value::{Scalar, Type},
};

use crate::exit::Failure;

/// Reads the inputs of `procedure`. Ranges, labels and what is missing are judged by the machine.
pub(crate) fn read(
    program: &Program,
    procedure: &str,
    given: &BTreeMap<String, String>,
) -> Result<BTreeMap<Arc<str>, Scalar>, Failure> {
    let unit = program.units.iter().find(|unit| unit.kind == Kind::Procedure && *unit.name == *procedure);
    let inputs = unit.map(|unit| unit.inputs.as_slice()).unwrap_or_default();
    let mut read = BTreeMap::new();
    for (name, text) in given {
        let Some(input) = inputs.iter().find(|input| *input.name == **name) else {
            let near = did_you_mean(name, inputs.iter().map(|input| &*input.name));
            let names: Vec<&str> = inputs.iter().map(|input| &*input.name).collect();
            let help = near.unwrap_or_else(|| format!("its inputs: {}", names.join(", ")));
            return Err(Failure::wrong_call(format!("\"{procedure}\" has no input `{name}`")).help(help));
        };
        let scalar = scalar(text.trim(), &input.ty).ok_or_else(|| {
            Failure::wrong_call(format!("`{text}` is no value of the input `{name}`")).help(due(&input.ty))
        })?;
        read.insert(input.name.clone(), scalar);
    }
    Ok(read)
}

fn scalar(text: &str, ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Bool => text.parse().ok().map(Scalar::Bool),
        Type::Int { .. } => text.parse().ok().map(Scalar::Int),
        Type::Float { unit, .. } => {
            // The unit may be written behind the number; it is the catalogue's or none.
            let number = unit.as_deref().and_then(|unit| text.strip_suffix(unit)).unwrap_or(text).trim_end();
            let number: f64 = number.parse().ok()?;
            number.is_finite().then_some(Scalar::Float(number))
        }
        Type::Str | Type::Duration | Type::Time | Type::Enum(_) => Some(Scalar::Str(text.to_owned())),
    }
}

fn due(ty: &Type) -> String {
    match ty {
        Type::Bool => "write `true` or `false`".to_owned(),
        Type::Int { min: i64::MIN, max: i64::MAX } => "write a whole number".to_owned(),
        Type::Int { min, max } => format!("write a whole number from {min} to {max}"),
        Type::Float { unit: Some(unit), .. } => format!("write a number of {unit}"),
        Type::Float { unit: None, .. } => "write a number".to_owned(),
        Type::Str | Type::Duration | Type::Time | Type::Enum(_) => "write it as the language does".to_owned(),
    }
}
