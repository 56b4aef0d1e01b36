//! The judgement of a telecommand before it is sent: its index, its arguments, what it requires.
//!
//! One pure function, [`judge`], for the telecommands of a run and for those that an operator sends directly. Order:
//! index and arguments (`ENCODE_FAILED`), then `requires` (`REJECTED`); whatever fails here never left.

use alloc::{collections::BTreeMap, format, string::String, sync::Arc, vec::Vec};

use crate::{
    catalogue::{Argument, Platform, Telecommand},
    condition::{Context, Expr, Parameters, Snapshot, describe},
    program::{Program, TelecommandUse},
    time::Instant,
    value::{EnumDef, Scalar, Type, Value},
};

/// A telecommand, of the slice of a program or of a platform's catalogue.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    /// Component.
    pub component: &'a Arc<str>,
    /// Range of the component's index, if it has one.
    pub index: Option<(i64, i64)>,
    /// Name within the component.
    pub name: &'a Arc<str>,
    /// Arguments.
    pub args: &'a [Argument],
    /// What must hold.
    pub requires: Option<&'a Expr>,
    /// The table that `requires` and the types refer to.
    pub parameters: &'a dyn Parameters,
}

impl<'a> Entry<'a> {
    /// A telecommand of a program's slice.
    #[must_use]
    pub fn of_program(program: &'a Program, telecommand: &'a TelecommandUse) -> Self {
        Self {
            component: &telecommand.component,
            index: telecommand.index,
            name: &telecommand.name,
            args: &telecommand.args,
            requires: telecommand.requires.as_ref(),
            parameters: program,
        }
    }

    /// A telecommand of a platform; `None` where its component is not in it.
    #[must_use]
    pub fn of_platform(platform: &'a Platform, telecommand: &'a Telecommand) -> Option<Self> {
        let component = platform.components.get(usize::try_from(telecommand.component).ok()?)?;
        Some(Self {
            component: &component.name,
            index: component.index,
            name: &telecommand.name,
            args: &telecommand.args,
            requires: telecommand.requires.as_ref(),
            parameters: platform,
        })
    }
}

/// What is given for an argument.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// Nothing: its fixed or default value is taken.
    Nothing,
    /// A value.
    Value(Value),
    /// A value that is not known: missing telemetry, arithmetic without result.
    Unknown,
}

/// Why a telecommand is not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotSent {
    /// `REJECTED`: what it requires is not met.
    Rejected(String),
    /// `ENCODE_FAILED`: its index or an argument is wrong.
    EncodeFailed(String),
}

/// Arguments given by name and as scalars, in the order of the telecommand.
///
/// # Errors
/// [`NotSent::EncodeFailed`] for a name that the telecommand does not have and for a value of another type.
pub fn given(entry: &Entry<'_>, by_name: &BTreeMap<Arc<str>, Scalar>) -> Result<Vec<Given>, NotSent> {
    if let Some(unknown) = by_name.keys().find(|name| entry.args.iter().all(|arg| arg.name != **name)) {
        return Err(NotSent::EncodeFailed(format!("`{}` has no argument `{unknown}`", entry.name)));
    }
    let enums = entry.parameters.enums();
    let one = |arg: &Argument| match by_name.get(&arg.name) {
        None => Ok(Given::Nothing),
        Some(scalar) => Value::from_scalar(scalar, &arg.ty, enums).map(Given::Value).ok_or_else(|| {
            NotSent::EncodeFailed(format!("`{scalar}` is no value for `{}`: {}", arg.name, type_text(&arg.ty, enums)))
        }),
    };
    entry.args.iter().map(one).collect()
}

/// Judges a telecommand: its arguments, all of them, as they are logged; `args` are in the order of the entry, what is
/// missing there counts as [`Given::Nothing`].
///
/// # Errors
/// Why it is not sent.
pub fn judge(
    entry: &Entry<'_>,
    target: &Arc<str>,
    index: Option<i64>,
    args: &[Given],
    snapshot: &dyn Snapshot,
    at: Instant,
) -> Result<BTreeMap<Arc<str>, Scalar>, NotSent> {
    match (entry.index, index) {
        (None, None) => {}
        (Some((min, max)), Some(index)) if (min..=max).contains(&index) => {}
        (Some((min, max)), Some(index)) => {
            let range = format!("`{}` has no index {index}: it goes from {min} to {max}", entry.component);
            return Err(NotSent::EncodeFailed(range));
        }
        (Some(_), None) => {
            return Err(NotSent::EncodeFailed(format!("the index of `{}` is not known", entry.component)));
        }
        (None, Some(_)) => return Err(NotSent::EncodeFailed(format!("`{}` has no index", entry.component))),
    }
    let enums = entry.parameters.enums();
    let mut judged = BTreeMap::new();
    for (place, arg) in entry.args.iter().enumerate() {
        let value = argument(arg, args.get(place).unwrap_or(&Given::Nothing), enums)?;
        judged.insert(Arc::clone(&arg.name), value.to_scalar(enums));
    }
    if let Some(requires) = entry.requires {
        let locals = [index.map(Value::Int)];
        let targets = core::slice::from_ref(target);
        let context = Context { parameters: entry.parameters, locals: &locals, targets, snapshot, at, since: None };
        if requires.judge(&context) != Some(true) {
            let why = describe(requires, &context);
            return Err(NotSent::Rejected(format!("what `{}` requires is not met, {why}", entry.name)));
        }
    }
    Ok(judged)
}

fn argument<'a>(arg: &'a Argument, given: &'a Given, enums: &[EnumDef]) -> Result<&'a Value, NotSent> {
    let wrong = |why: String| Err(NotSent::EncodeFailed(format!("argument `{}` {why}", arg.name)));
    let value = match (given, &arg.fixed, &arg.default) {
        (Given::Nothing, Some(value), _) | (Given::Nothing, None, Some(value)) => value,
        (Given::Nothing, None, None) => return wrong(String::from("has no value")),
        (Given::Unknown, ..) => return wrong(String::from("is not known")),
        (Given::Value(value), Some(fixed), _) if value != fixed => {
            return wrong(format!("is always {}", fixed.text(&arg.ty, enums)));
        }
        (Given::Value(value), ..) => value,
    };
    if value.fits(&arg.ty) {
        return Ok(value);
    }
    wrong(format!("is {}, which does not fit {}", value.text(&arg.ty, enums), type_text(&arg.ty, enums)))
}

/// A type in words, with its range.
#[must_use]
pub fn type_text(ty: &Type, enums: &[EnumDef]) -> String {
    match ty {
        Type::Bool => String::from("true or false"),
        Type::Int { min: i64::MIN, max: i64::MAX } => String::from("a whole number"),
        Type::Int { min, max } => format!("a whole number from {min} to {max}"),
        Type::Float { unit, min, max } => {
            let unit = unit.as_ref().map_or(String::new(), |unit| format!(" in {unit}"));
            let range = match (min, max) {
                (Some(min), Some(max)) => format!(" from {min:?} to {max:?}"),
                (Some(min), None) => format!(" of {min:?} or more"),
                (None, Some(max)) => format!(" up to {max:?}"),
                (None, None) => String::new(),
            };
            format!("a number{unit}{range}")
        }
        Type::Str => String::from("a text"),
        Type::Duration => String::from("a duration"),
        Type::Time => String::from("a time"),
        Type::Enum(def) => {
            let labels = usize::try_from(*def).ok().and_then(|def| enums.get(def)).map(|def| &def.labels);
            let names: Vec<&str> = labels.into_iter().flatten().map(|(name, _)| &**name).collect();
            format!("one of {}", names.join(", "))
        }
    }
}
