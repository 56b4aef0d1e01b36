//! The reactions of alarms: the procedure exists, takes the target that raised the alarm, and gets its inputs.

use std::{collections::BTreeSet, sync::Arc};

use stellar_vm::{
    catalogue::{Alarm, Reaction, ReactionInput},
    program::Kind,
    value::Scalar,
};

use super::{
    MISSING_ARGUMENT, UNKNOWN_ARGUMENT, UNKNOWN_PROCEDURE, WRONG_PLATFORM, World,
    signature::{Asked, Signature},
};
use crate::{
    catalogue::{AlarmEntry, Catalogue, Platform},
    diagnostics::Diagnostic,
    source::Place,
    suggest::did_you_mean,
    types::{MISMATCH, Type, interval::Ints},
};

/// The procedures that alarms react with.
pub(super) fn procedures(catalogue: &Catalogue) -> BTreeSet<Arc<str>> {
    let alarms = catalogue.platforms.iter().flat_map(|platform| &platform.compiled.alarms);
    alarms.filter_map(|alarm| alarm.on_raise.as_ref()).map(|reaction| reaction.procedure.clone()).collect()
}

/// Checks every reaction.
pub(super) fn check(world: &World<'_>, out: &mut Vec<Diagnostic>) {
    for (number, platform) in (0..).zip(&world.catalogue.platforms) {
        for (alarm, entry) in platform.compiled.alarms.iter().zip(&platform.alarms) {
            if let (Some(reaction), Some(place)) = (&alarm.on_raise, entry.procedure) {
                let at = Reacting { world, platform, number, alarm, entry, place };
                at.check(reaction, out);
            }
        }
    }
}

struct Reacting<'a> {
    world: &'a World<'a>,
    platform: &'a Platform,
    /// Number of the platform.
    number: u32,
    alarm: &'a Alarm,
    entry: &'a AlarmEntry,
    /// Where the name of the procedure stands.
    place: Place,
}

impl Reacting<'_> {
    fn check(&self, reaction: &Reaction, out: &mut Vec<Diagnostic>) {
        let definitions = self.world.definitions;
        let found = definitions.get(&reaction.procedure);
        let is_procedure = found.and_then(|id| definitions.header(id)).is_some_and(|it| it.kind() == Kind::Procedure);
        let Some(signature) = found.filter(|_| is_procedure).and_then(|id| self.world.signatures.get(id)) else {
            if !definitions.may_be_unread(&reaction.procedure) {
                let message = format!("no procedure is called `{}`", reaction.procedure);
                let help = did_you_mean(&reaction.procedure, definitions.names(Kind::Procedure));
                out.push(Diagnostic::new(&UNKNOWN_PROCEDURE, self.place, message).maybe_help(help));
            }
            return;
        };
        self.target(reaction, signature, out);
        self.inputs(reaction, signature, out);
    }

    /// The one target of the procedure is the one that raised the alarm.
    fn target(&self, reaction: &Reaction, signature: &Signature, out: &mut Vec<Diagnostic>) {
        let fits = match signature.targets.as_slice() {
            [(_, platform)] => platform.is_none_or(|platform| platform == self.number),
            _ => false,
        };
        if !fits {
            let name = self.platform.name();
            let message =
                format!("`{}` does not use one target of `{name}`, which raises the alarm", reaction.procedure);
            out.push(Diagnostic::new(&WRONG_PLATFORM, self.place, message));
        }
    }

    fn inputs(&self, reaction: &Reaction, signature: &Signature, out: &mut Vec<Diagnostic>) {
        let mut strays = 0_usize;
        for ((name, value), place) in reaction.with.iter().zip(&self.entry.with) {
            let Some(asked) = signature.inputs.iter().find(|input| input.name == *name) else {
                strays = strays.saturating_add(1);
                let message = format!("`{}` has no input `{name}`", reaction.procedure);
                let help = did_you_mean(name, signature.inputs.iter().map(|input| &*input.name));
                out.push(Diagnostic::new(&UNKNOWN_ARGUMENT, *place, message).maybe_help(help));
                continue;
            };
            if let Some(ty) = asked.ty.as_ref().filter(|ty| !self.fits(value, ty)) {
                let message = format!("the input `{name}` is {ty}, and this value does not fit it");
                out.push(Diagnostic::new(&MISMATCH, *place, message));
            }
        }
        let given = |asked: &Asked| reaction.with.iter().any(|(name, _)| *name == asked.name);
        let missing = signature.inputs.iter().filter(|asked| !asked.has_default && !given(asked));
        for asked in missing.skip(strays) {
            let message = format!("the input `{}` of `{}` is not given", asked.name, reaction.procedure);
            out.push(Diagnostic::new(&MISSING_ARGUMENT, self.place, message));
        }
    }

    fn fits(&self, value: &ReactionInput, ty: &Type) -> bool {
        let scalar = match value {
            ReactionInput::Index => {
                let range = self.alarm.for_each.and_then(|component| self.platform.index_of(component));
                return match (ty, range) {
                    (Type::Int(due), Some(range)) => due.covers(range),
                    (Type::Int(_), None) => true,
                    _ => false,
                };
            }
            ReactionInput::Value(scalar) => scalar,
        };
        match (ty, scalar) {
            (Type::Bool, Scalar::Bool(_)) => true,
            (Type::Int(range), Scalar::Int(value)) => range.covers(Ints::one(*value)),
            (Type::Float(_, range), Scalar::Int(value)) => range.covers(Ints::one(*value).widened()),
            (Type::Float(_, range), Scalar::Float(value)) => range.contains(*value),
            (Type::Enum(which), Scalar::Str(label)) => which.label(label).is_some(),
            (Type::Duration, Scalar::Str(text)) => {
                let (duration, errors) = stellar_grammar::parse_duration(text);
                errors.is_empty() && duration.nanos.is_some()
            }
            (Type::Time, Scalar::Str(text)) => text.parse::<stellar_vm::time::Instant>().is_ok(),
            (Type::Str, Scalar::Str(_)) => true,
            _ => false,
        }
    }
}
