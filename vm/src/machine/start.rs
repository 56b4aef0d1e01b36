//! What a run is started with: procedure, targets, inputs.

use alloc::{collections::BTreeMap, format, string::String, sync::Arc, vec::Vec};
use core::fmt;

use crate::{
    bounds::MAX_DURATION,
    command::type_text,
    program::{Kind, Program, Unit},
    value::{Scalar, Value},
};

/// Why a run cannot be started so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartError(pub String);

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for StartError {}

/// A start that fits its procedure.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// Index of the procedure in [`Program::units`].
    pub unit: u32,
    /// The targets, in the order of `uses`.
    pub targets: Arc<[Arc<str>]>,
    /// The inputs, in the order of `input`.
    pub inputs: Vec<Value>,
}

impl Start {
    /// Every input by name, defaults included, as `run_started` carries them.
    #[must_use]
    pub fn inputs_by_name(&self, program: &Program) -> BTreeMap<Arc<str>, Scalar> {
        let unit = usize::try_from(self.unit).ok().and_then(|unit| program.units.get(unit));
        let inputs = unit.map_or(&[][..], |unit| &unit.inputs[..]);
        inputs
            .iter()
            .zip(&self.inputs)
            .map(|(input, value)| (Arc::clone(&input.name), value.to_scalar(&program.enums)))
            .collect()
    }
}

/// Checks what a run is to be started with: the procedure exists, each `uses` name has a target and no two the same,
/// each input is a value of its type and in its range or has a default, and nothing is given that is not asked for.
///
/// # Errors
/// The first thing that does not fit, in words.
pub fn check(
    program: &Program,
    procedure: &str,
    targets: &BTreeMap<Arc<str>, Arc<str>>,
    inputs: &BTreeMap<Arc<str>, Scalar>,
) -> Result<Start, StartError> {
    let found = program.units.iter().position(|unit| unit.kind == Kind::Procedure && *unit.name == *procedure);
    let Some((place, unit)) = found.and_then(|place| Some((place, program.units.get(place)?))) else {
        return Err(StartError(format!("there is no procedure `{procedure}`")));
    };
    let targets = check_targets(unit, targets)?;
    if let Some(name) = inputs.keys().find(|name| unit.inputs.iter().all(|input| input.name != **name)) {
        return Err(StartError(format!("`{procedure}` has no input `{name}`")));
    }
    let mut values = Vec::with_capacity(unit.inputs.len());
    for input in &unit.inputs {
        let value = match (inputs.get(&input.name), &input.default) {
            (None, None) => return Err(StartError(format!("input `{}` has no value", input.name))),
            (None, Some(default)) => Some(default.clone()),
            (Some(scalar), _) => Value::from_scalar(scalar, &input.ty, &program.enums)
                .filter(|value| value.fits(&input.ty) && is_written(value)),
        };
        values.push(value.ok_or_else(|| {
            let given = inputs.get(&input.name).map(|scalar| format!("{scalar}")).unwrap_or_default();
            let asked = type_text(&input.ty, &program.enums);
            StartError(format!("`{given}` is no value for input `{}`: {asked}", input.name))
        })?);
    }
    let unit = u32::try_from(place).map_err(|_| StartError(String::from("too many units")))?;
    Ok(Start { unit, targets, inputs: values })
}

/// Whether the language could write the value: a duration is of 365 d at most.
fn is_written(value: &Value) -> bool {
    !matches!(value, Value::Duration(span) if span.unsigned_abs() > MAX_DURATION.unsigned_abs())
}

fn check_targets(unit: &Unit, given: &BTreeMap<Arc<str>, Arc<str>>) -> Result<Arc<[Arc<str>]>, StartError> {
    if let Some(name) = given.keys().find(|name| unit.targets.iter().all(|target| target.name != **name)) {
        return Err(StartError(format!("`{}` uses no target named `{name}`", unit.name)));
    }
    let mut targets: Vec<Arc<str>> = Vec::with_capacity(unit.targets.len());
    for wanted in &unit.targets {
        let Some(target) = given.get(&wanted.name) else {
            return Err(StartError(format!("no target is given for `{}`", wanted.name)));
        };
        if targets.contains(target) {
            return Err(StartError(format!("`{target}` is given for two of the names that `{}` uses", unit.name)));
        }
        targets.push(Arc::clone(target));
    }
    Ok(targets.into())
}
