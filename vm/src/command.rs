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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        catalogue::{Component, Freshness, Parameter, Verification},
        condition::{ExprOp, Read, SampleView},
        time::Scale,
    };

    struct One(Option<Scalar>);

    impl Snapshot for One {
        fn latest(&self, target: &str, component: &str, index: Option<i64>, name: &str) -> Option<SampleView<'_>> {
            assert_eq!((target, component, index, name), ("sim-1", "tcu", Some(2), "on"));
            let received_at = Instant { ns: 0, scale: Scale::Utc };
            self.0.as_ref().map(|value| SampleView { value, received_at, order: 1, valid: true })
        }
    }

    /// `heat` of `tcu[1..4]`: `power` up to 20 W, a fixed `mode`, `level` with a default; requires `on`.
    fn platform() -> Platform {
        let watts = Type::Float { unit: Some("W".into()), min: Some(0.0), max: Some(20.0) };
        let int = Type::Int { min: 0, max: 9 };
        let arg =
            |name: &str, ty: &Type, default, fixed| Argument { name: name.into(), ty: ty.clone(), default, fixed };
        let requires = Expr {
            code: alloc::vec![ExprOp::Local(0), ExprOp::Read(0)],
            constants: Vec::new(),
            reads: alloc::vec![Read { target: 0, parameter: 0 }],
        };
        let on = Parameter {
            component: 0,
            name: "on".into(),
            ty: Type::Bool,
            period: None,
            freshness: Freshness::Within(5),
            valid_when: None,
            ccsds: None,
        };
        let heat = Telecommand {
            component: 0,
            name: "heat".into(),
            description: None,
            changes_state: true,
            hazardous: None,
            args: alloc::vec![
                arg("power", &watts, None, None),
                arg("mode", &int, None, Some(Value::Int(3))),
                arg("level", &int, Some(Value::Int(1)), None),
            ],
            requires: Some(requires),
            verify: Verification { window: 1, default_window: false, stages: Vec::new(), until: None },
            ccsds: None,
        };
        Platform {
            name: "p".into(),
            enums: Vec::new(),
            routes: Vec::new(),
            components: alloc::vec![Component { name: "tcu".into(), index: Some((1, 4)) }],
            parameters: alloc::vec![on],
            telecommands: alloc::vec![heat],
            alarms: Vec::new(),
            ccsds: None,
        }
    }

    fn sent(on: Option<bool>, index: Option<i64>, args: &[(&str, Scalar)]) -> Result<String, NotSent> {
        let platform = platform();
        let entry = Entry::of_platform(&platform, &platform.telecommands[0]).unwrap();
        let by_name = args.iter().map(|(name, value)| (Arc::from(*name), value.clone())).collect();
        let given = given(&entry, &by_name)?;
        let at = Instant { ns: 5, scale: Scale::Utc };
        let judged = judge(&entry, &"sim-1".into(), index, &given, &One(on.map(Scalar::Bool)), at)?;
        Ok(judged.iter().map(|(name, value)| format!("{name}={value} ")).collect())
    }

    fn encode(message: &str) -> Result<String, NotSent> {
        Err(NotSent::EncodeFailed(message.into()))
    }

    #[test]
    fn every_argument_is_told_with_defaults_and_fixed_values() {
        let power = ("power", Scalar::Int(5));
        assert_eq!(sent(Some(true), Some(2), core::slice::from_ref(&power)), Ok("level=1 mode=3 power=5.0 ".into()));
        let more = [power, ("level", Scalar::Int(2)), ("mode", Scalar::Int(3))];
        assert_eq!(sent(Some(true), Some(2), &more), Ok("level=2 mode=3 power=5.0 ".into()));
    }

    #[test]
    fn wrong_arguments_and_indices_are_not_encoded() {
        let with =
            |name: &'static str, value: Scalar| sent(Some(true), Some(2), &[("power", Scalar::Int(5)), (name, value)]);
        assert_eq!(with("x", Scalar::Int(1)), encode("`heat` has no argument `x`"));
        assert_eq!(
            with("level", Scalar::Bool(true)),
            encode("`true` is no value for `level`: a whole number from 0 to 9")
        );
        let range = "argument `level` is 10, which does not fit a whole number from 0 to 9";
        assert_eq!(with("level", Scalar::Int(10)), encode(range));
        assert_eq!(with("mode", Scalar::Int(4)), encode("argument `mode` is always 3"));
        let nan = "argument `power` is NaN W, which does not fit a number in W from 0.0 to 20.0";
        assert_eq!(with("power", Scalar::Str("NaN".into())), encode(nan));
        assert_eq!(sent(Some(true), Some(2), &[]), encode("argument `power` has no value"));
        let power = [("power", Scalar::Int(5))];
        assert_eq!(sent(Some(true), Some(5), &power), encode("`tcu` has no index 5: it goes from 1 to 4"));
        assert_eq!(sent(Some(true), None, &power), encode("the index of `tcu` is not known"));
    }

    #[test]
    fn what_it_requires_is_told_with_the_last_value() {
        let power = [("power", Scalar::Int(5))];
        let rejected = |why: &str| Err(NotSent::Rejected(format!("what `heat` requires is not met, {why}")));
        assert_eq!(sent(Some(false), Some(2), &power), rejected("false: sim-1 tcu[2].on is false, 0.000005 ms old"));
        assert_eq!(sent(None, Some(2), &power), rejected("unknown: sim-1 tcu[2].on was never received"));
    }
}
