//! `do` and `run`: what is called, and what is given to it.
//!
//! Positional arguments stand first: targets in the order of the `uses` lines, then inputs; or `NAME = VALUE`.

use std::collections::BTreeMap;

use stellar_grammar::{Span, ast};
use stellar_vm::program::Kind;

use super::{
    ARGUMENT_TWICE, MISSING_ARGUMENT, MISSING_TARGET, NOT_A_TARGET, POSITIONAL_AFTER_NAMED, TARGET_TWICE,
    TOO_MANY_ARGUMENTS, UNKNOWN_ARGUMENT, UNKNOWN_PROCEDURE, UNKNOWN_STEP, WRONG_PLATFORM, body::Body,
    definitions::kind_of, names::Named, signature::Signature,
};
use crate::{
    diagnostics::Diagnostic,
    expr::{Typed, UNKNOWN_TARGET},
    tree::{Call, DefinitionId, TargetId},
};

/// What the arguments of a call come to.
struct Given {
    /// For each target and then each input: where it is given.
    slots: Vec<Option<Span>>,
    targets: Vec<Option<TargetId>>,
    inputs: Vec<Option<Typed>>,
    /// Arguments that nothing is known of: each may be one that seems to be missing.
    strays: usize,
    /// Whether positions cannot be relied on: something stands where a target is due.
    shifted: bool,
}

impl Body<'_> {
    pub(super) fn call(&mut self, it: &ast::Call) -> Call {
        let kind = kind_of(it.kind);
        let callee = self.callee(it, kind);
        let world = self.world;
        let signature = callee.and_then(|id| world.signatures.get(id));
        let (targets, inputs) = match signature {
            Some(signature) => self.given(it, signature),
            None => {
                for arg in &it.args {
                    self.loose(&arg.value);
                }
                (Vec::new(), Vec::new())
            }
        };
        Call {
            kind,
            callee,
            name: it.name.value.as_str().into(),
            name_span: it.name.span,
            targets,
            inputs,
            retry: it.retry.clone(),
        }
    }

    fn callee(&mut self, it: &ast::Call, kind: Kind) -> Option<DefinitionId> {
        let name = it.name.value.as_str();
        let definitions = self.world.definitions;
        let found = definitions.get(name);
        let other = found.and_then(|id| definitions.header(id)).map(super::definitions::Header::kind);
        if other == Some(kind) {
            return found;
        }
        if other.is_none() && definitions.may_be_unread(name) {
            return None;
        }
        let (code, what, verb) = match kind {
            Kind::Step => (&UNKNOWN_STEP, "step", "run"),
            Kind::Procedure => (&UNKNOWN_PROCEDURE, "procedure", "do"),
        };
        let help = match other {
            Some(Kind::Procedure) => Some(format!("`{name}` is a procedure: call it with `{verb}`")),
            Some(Kind::Step) => Some(format!("`{name}` is a step: call it with `{verb}`")),
            None => self.offer(name, definitions.names(kind)),
        };
        let diagnostic = Diagnostic::new(code, self.place(it.name.span), format!("no {what} is called `{name}`"));
        self.report(diagnostic.maybe_help(help));
        None
    }

    fn given(&mut self, it: &ast::Call, signature: &Signature) -> (Vec<Option<TargetId>>, Vec<Option<Typed>>) {
        let (targets, inputs) = (signature.targets.len(), signature.inputs.len());
        let mut given = Given {
            slots: vec![None; targets.saturating_add(inputs)],
            targets: vec![None; targets],
            inputs: (0..inputs).map(|_| None).collect(),
            strays: 0,
            shifted: false,
        };
        let mut position = 0;
        let mut named = false;
        let mut superfluous = false;
        for arg in &it.args {
            let slot = if let Some(name) = &arg.name {
                named = true;
                self.slot_of(it, name, signature, &mut given)
            } else if named {
                let message = "an argument without a name stands behind one with a name";
                let diagnostic = Diagnostic::new(&POSITIONAL_AFTER_NAMED, self.place(arg.span), message);
                self.report(diagnostic.help("put it first, or give it a name: `NAME = VALUE`"));
                given.strays = given.strays.saturating_add(1);
                None
            } else if position < given.slots.len() {
                position = position.saturating_add(1);
                Some(position.saturating_sub(1))
            } else {
                if !superfluous {
                    superfluous = true;
                    self.report(self.too_many(it, arg, given.slots.len()));
                }
                None
            };
            match slot {
                Some(slot) => self.fill(slot, arg, signature, &mut given),
                None => self.loose(&arg.value),
            }
        }
        self.missing(it, signature, &given);
        self.one_for_two(it, &given);
        (given.targets, given.inputs)
    }

    fn too_many(&self, it: &ast::Call, arg: &ast::Arg, most: usize) -> Diagnostic {
        let message = match most {
            0 => format!("`{}` takes no arguments", it.name.value),
            1 => format!("`{}` takes one argument", it.name.value),
            most => format!("`{}` takes {most} arguments", it.name.value),
        };
        Diagnostic::new(&TOO_MANY_ARGUMENTS, self.place(arg.span), message)
    }

    fn slot_of(&mut self, it: &ast::Call, name: &ast::Name, asked: &Signature, given: &mut Given) -> Option<usize> {
        if let Some(slot) = asked.slots.get(name.text.as_str()) {
            return Some(*slot);
        }
        let near = self.near(&name.text, asked.names());
        match near.and_then(|near| asked.slots.get(near).copied()) {
            Some(slot) => mark(&mut given.slots, slot, name.span),
            None => given.strays = given.strays.saturating_add(1),
        }
        let message = format!("`{}` has no target or input `{}`", it.name.value, name.text);
        let help = near.map(|near| format!("is it `{near}`?"));
        self.report(Diagnostic::new(&UNKNOWN_ARGUMENT, self.place(name.span), message).maybe_help(help));
        None
    }

    fn fill(&mut self, slot: usize, arg: &ast::Arg, signature: &Signature, given: &mut Given) {
        if let Some(before) = given.slots.get(slot).copied().flatten() {
            let name = signature.name(slot);
            let message = format!("`{name}` is given twice");
            let diagnostic = Diagnostic::new(&ARGUMENT_TWICE, self.place(arg.span), message);
            self.report(diagnostic.label(self.place(before), "first here"));
            self.loose(&arg.value);
            return;
        }
        mark(&mut given.slots, slot, arg.span);
        if let Some((name, platform)) = signature.targets.get(slot) {
            let target = self.target(arg, name, *platform, given);
            given.targets.iter_mut().skip(slot).take(1).for_each(|slot| *slot = target);
            return;
        }
        let at = slot.saturating_sub(signature.targets.len());
        let shifted = given.shifted && arg.name.is_none();
        match signature.inputs.get(at).and_then(|input| input.ty.as_ref()).filter(|_| !shifted) {
            Some(ty) => {
                let value = self.value_of(&arg.value, ty);
                given.inputs.iter_mut().skip(at).take(1).for_each(|slot| slot.clone_from(&value));
            }
            None => self.loose(&arg.value),
        }
    }

    /// The caller's target that an argument names.
    fn target(&mut self, arg: &ast::Arg, asked: &str, platform: Option<u32>, given: &mut Given) -> Option<TargetId> {
        let name = match &arg.value.kind {
            ast::ExprKind::Path(path) => path.as_name(),
            ast::ExprKind::Error => return None,
            _ => None,
        };
        let place = self.place(arg.value.span);
        let named = name.and_then(|name| self.names.get(&name.text));
        match (name, named) {
            (_, Some(Named::Target(id))) => {
                let own = self.names.targets.get(id).and_then(|target| target.platform);
                if let Some((own, due)) = own.zip(platform)
                    && own != due
                {
                    let text = |number| self.world.catalogue.get(number).map_or("", crate::catalogue::Platform::name);
                    let message =
                        format!("`{asked}` is a target of `{}`, and this is one of `{}`", text(due), text(own));
                    self.report(Diagnostic::new(&WRONG_PLATFORM, place, message));
                    return None;
                }
                return Some(id);
            }
            (Some(name), None) if self.names.unread.contains(name.text.as_str()) => {}
            (Some(name), None) => {
                let message = format!("the target `{}` is not known", name.text);
                let targets = self.names.visible().filter(|(_, named)| matches!(named, Named::Target(_)));
                let help = self.offer(&name.text, targets.map(|(name, _)| name));
                let help = help.or_else(|| Some(format!("`{asked}` is a target: name one of the `uses` lines")));
                self.report(Diagnostic::new(&UNKNOWN_TARGET, place, message).maybe_help(help));
            }
            _ => {
                given.shifted |= arg.name.is_none();
                let message = format!("`{asked}` is a target, and this is a value");
                let help = "targets come first, in the order of the `uses` lines, then inputs";
                self.report(Diagnostic::new(&NOT_A_TARGET, place, message).help(help));
                self.loose(&arg.value);
            }
        }
        None
    }

    fn missing(&mut self, it: &ast::Call, signature: &Signature, given: &Given) {
        if given.shifted {
            return;
        }
        let mut strays = given.strays;
        for (slot, filled) in given.slots.iter().enumerate() {
            let is_target = slot < signature.targets.len();
            let input = signature.inputs.get(slot.saturating_sub(signature.targets.len()));
            if filled.is_some() || (!is_target && input.is_none_or(|input| input.has_default)) {
                continue;
            }
            if strays > 0 {
                strays = strays.saturating_sub(1);
                continue;
            }
            let name = signature.name(slot);
            let (code, what) = if is_target { (&MISSING_TARGET, "target") } else { (&MISSING_ARGUMENT, "input") };
            let message = format!("the {what} `{name}` of `{}` is not given", it.name.value);
            self.report(Diagnostic::new(code, self.place(it.name.span), message));
        }
    }

    /// One target stands for one `uses` name.
    fn one_for_two(&mut self, it: &ast::Call, given: &Given) {
        let mut first: BTreeMap<TargetId, Option<Span>> = BTreeMap::new();
        for (target, span) in given.targets.iter().zip(&given.slots) {
            let Some(id) = target else { continue };
            let Some(before) = first.get(id).copied() else {
                first.insert(*id, *span);
                continue;
            };
            let name = self.names.targets.get(*id).map(|target| target.name.clone()).unwrap_or_default();
            let message = format!("`{name}` is given for two targets of `{}`", it.name.value);
            let diagnostic = Diagnostic::new(&TARGET_TWICE, self.place(span.unwrap_or(it.name.span)), message);
            let before = self.place(before.unwrap_or(it.name.span));
            self.report(diagnostic.label(before, "first here").help("one target stands for one name"));
        }
    }
}

fn mark(slots: &mut [Option<Span>], slot: usize, span: Span) {
    if let Some(slot) = slots.get_mut(slot) {
        slot.get_or_insert(span);
    }
}
