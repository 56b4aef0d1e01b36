//! Telecommands: arguments, what they require, how they are verified.

use std::sync::Arc;

use stellar_vm::{
    catalogue as vm,
    catalogue::{Argument, Stage, Verification},
};

use super::{
    CONFLICT, TelecommandEntry,
    conditions::{Due, Own, Pending},
    draft::{Draft, Reports},
    typespec::TYPE_KEYS,
};
use crate::{
    diagnostics::Diagnostic,
    types::Type,
    yaml::{Fields, Key, Node},
};

const KEYS: [&str; 7] = ["description", "changes_state", "hazardous", "args", "requires", "verify", "ccsds"];
const VERIFY_KEYS: [&str; 4] = ["within", "stages", "until", "reports"];
const STAGES: [(&str, Stage); 3] =
    [("accepted", Stage::Accepted), ("started", Stage::Started), ("completed", Stage::Completed)];

/// Arguments with their types, in the order of the catalogue.
pub(super) struct Args {
    pub(super) compiled: Vec<Argument>,
    pub(super) types: Vec<Option<Type>>,
    /// Whether one of them could not be read.
    faulty: bool,
}

impl<'a> Draft<'a, '_> {
    /// `telecommands` of a component.
    pub(super) fn telecommands(&mut self, node: &'a Node, component: u32, component_name: &str) {
        for (name, (key, node)) in self.sorted(node, &format!("{component_name}.")) {
            let dotted = format!("{component_name}.{name}");
            if self.telecommand(node, key, component, &name, &dotted).is_none() {
                self.platform.unread.insert(dotted);
            }
        }
    }

    fn telecommand(
        &mut self,
        node: &'a Node,
        key: &'a Key,
        component: u32,
        name: &Arc<str>,
        dotted: &str,
    ) -> Option<()> {
        let fields = self.reader.fields(node, key.place, &KEYS)?;
        let number = u32::try_from(self.platform.compiled.telecommands.len()).unwrap_or(u32::MAX);
        let description = self.description(&fields);
        let changes_state = fields.get("changes_state").and_then(|node| self.reader.bool(node)).unwrap_or(true);
        let hazardous = fields.get("hazardous").and_then(|node| self.hazardous(node));
        let args = self.args(fields.get("args"), dotted);
        if let Some(node) = fields.get("requires") {
            self.pending.push(Pending { node, component: Some(component), due: Due::Requires(number) });
        }
        let verify = self.verify(fields.entry("verify"), component, number);
        let ccsds = fields
            .entry("ccsds")
            .and_then(|(key, node)| self.telecommand_encoding(key, node, component, &args.compiled));
        if args.faulty {
            self.pending.retain(|it| !matches!(it.due, Due::Requires(of) | Due::Until(of) if of == number));
            return None;
        }
        self.platform.compiled.telecommands.push(vm::Telecommand {
            component,
            name: name.clone(),
            description,
            changes_state,
            hazardous,
            args: args.compiled,
            requires: None,
            verify,
            ccsds,
        });
        self.platform.telecommands.push(TelecommandEntry { args: args.types, place: key.place });
        Some(())
    }

    /// `hazardous`: `true`, `false`, or a reason.
    fn hazardous(&mut self, node: &'a Node) -> Option<Arc<str>> {
        match node.as_plain() {
            Some("true") => Some("".into()),
            Some("false") => None,
            _ => self.reader.text(node).map(Into::into),
        }
    }

    fn args(&mut self, node: Option<&'a Node>, dotted: &str) -> Args {
        let mut args = Args { compiled: Vec::new(), types: Vec::new(), faulty: false };
        let Some(node) = node else { return args };
        let Some(entries) = self.reader.entries(node) else {
            args.faulty = true;
            return args;
        };
        for (key, node) in entries {
            match self.arg(key, node, &format!("{dotted}.{}", key.text)) {
                Some((compiled, ty)) => {
                    args.compiled.push(compiled);
                    args.types.push(Some(ty));
                }
                None => args.faulty = true,
            }
        }
        args
    }

    fn arg(&mut self, key: &'a Key, node: &'a Node, dotted: &str) -> Option<(Argument, Type)> {
        let name = self.identifier(key);
        let known: Vec<&str> = TYPE_KEYS.into_iter().chain(["default", "fixed", "description"]).collect();
        let fields = self.reader.fields(node, key.place, &known)?;
        self.description(&fields);
        let ty = self.type_of(&fields, dotted, true)?;
        if let (Some((first, _)), Some((second, _))) = (fields.entry("default"), fields.entry("fixed")) {
            let message = "an argument has a default or a fixed value, not both";
            self.reader.report(Diagnostic::new(&CONFLICT, second.place, message).label(first.place, "the other one"));
            return None;
        }
        let mut value = |of: &str| match fields.get(of) {
            Some(node) => self.constant(node, &ty).map(|constant| Some(constant.to_vm(&mut Own))),
            None => Some(None),
        };
        let (default, fixed) = (value("default"), value("fixed"));
        let compiled = Argument { name: name?, ty: ty.to_vm(&mut Own), default: default?, fixed: fixed? };
        Some((compiled, ty))
    }

    /// `verify`. Without `within` and without stages the window is the configuration's; without stages the report that
    /// the target gives last ends it.
    fn verify(&mut self, entry: Option<(&'a Key, &'a Node)>, component: u32, telecommand: u32) -> Verification {
        let fields = entry.and_then(|(key, node)| self.reader.fields(node, key.place, &VERIFY_KEYS));
        let mut within = None;
        let mut stages = Vec::new();
        let mut reports = self.reports;
        if let Some(fields) = &fields {
            within = fields.get("within").and_then(|node| self.positive(node));
            stages = self.stages(fields);
            if let Some((key, node)) = fields.entry("reports") {
                reports = self.reader.word(node, &Reports::WORDS).unwrap_or(reports);
                if let Some((stages, _)) = fields.entry("stages") {
                    let message = "`stages` says already which reports verify it";
                    let diagnostic = Diagnostic::new(&CONFLICT, key.place, message).label(stages.place, "here");
                    self.reader.report(diagnostic);
                }
            }
            if let Some(node) = fields.get("until") {
                self.pending.push(Pending { node, component: Some(component), due: Due::Until(telecommand) });
            }
        }
        let longest = within.into_iter().chain(stages.iter().map(|(_, limit)| *limit)).max();
        let window = longest.unwrap_or(self.options.default_window);
        if stages.is_empty() {
            match reports {
                Reports::Completed => stages.push((Stage::Completed, window)),
                Reports::Accepted => stages.push((Stage::Accepted, window)),
                Reports::None => {}
            }
        }
        Verification { window, default_window: longest.is_none(), stages, until: None }
    }

    fn stages(&mut self, fields: &Fields<'a>) -> Vec<(Stage, i64)> {
        let Some((key, node)) = fields.entry("stages") else { return Vec::new() };
        let names: Vec<&str> = STAGES.iter().map(|(name, _)| *name).collect();
        let Some(stages) = self.reader.fields(node, key.place, &names) else { return Vec::new() };
        let mut declared = Vec::new();
        for (name, stage) in STAGES {
            if let Some(limit) = stages.get(name).and_then(|node| self.positive(node)) {
                declared.push((stage, limit));
            }
        }
        if names.iter().all(|name| stages.get(name).is_none()) {
            self.reader.bad(node, "no stage is named here: name one, or say `reports: none` instead");
        }
        declared
    }
}
