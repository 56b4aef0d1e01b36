//! Components with their telemetry.

use std::{collections::BTreeMap, sync::Arc};

use stellar_vm::catalogue as vm;

use super::{
    Entry,
    conditions::{Due, Pending},
    draft::Draft,
    typespec::{INSTANCES_MAX, TYPE_KEYS},
};
use crate::{
    diagnostics::Diagnostic,
    suggest::did_you_mean,
    types::{Type, UNKNOWN_TYPE, interval::Ints},
    yaml::{Key, Node},
};

const COMPONENT_KEYS: [&str; 4] = ["index", "description", "telemetry", "telecommands"];
const PARAMETER_KEYS: [&str; 5] = ["period", "freshness", "valid_when", "description", "ccsds"];

/// Entries by name, the first of each: doubled ones have been reported.
pub(super) type Sorted<'a> = BTreeMap<Arc<str>, (&'a Key, &'a Node)>;

impl<'a> Draft<'a, '_> {
    /// `components`.
    pub(super) fn components(&mut self, node: &'a Node) {
        let sorted = self.sorted(node, "");
        let mut number = 0_u32;
        for (name, (key, node)) in sorted {
            let Some(fields) = self.reader.fields(node, key.place, &COMPONENT_KEYS) else {
                self.platform.unread.insert(name.to_string());
                continue;
            };
            self.description(&fields);
            let index = match fields.get("index") {
                Some(node) => match self.index(node) {
                    Some(index) => Some((index.min, index.max)),
                    None => {
                        self.platform.unread.insert(name.to_string());
                        None
                    }
                },
                None => None,
            };
            let broken = self.platform.unread.contains(&*name);
            if !broken {
                self.platform.compiled.components.push(vm::Component { name: name.clone(), index });
            }
            // What stands in a component that could not be read is looked through for its own faults.
            if let Some(node) = fields.get("telemetry") {
                self.telemetry(node, number, &name);
            }
            if let Some(node) = fields.get("telecommands") {
                self.telecommands(node, number, &name);
            }
            if broken {
                self.forget(number);
            } else {
                number = number.saturating_add(1);
            }
        }
    }

    /// Takes out what belongs to a component that could not be read.
    fn forget(&mut self, component: u32) {
        let parameters = self.platform.compiled.parameters.iter().filter(|it| it.component < component).count();
        self.platform.compiled.parameters.truncate(parameters);
        self.platform.parameters.truncate(parameters);
        let telecommands = self.platform.compiled.telecommands.iter().filter(|it| it.component < component).count();
        self.platform.compiled.telecommands.truncate(telecommands);
        self.platform.telecommands.truncate(telecommands);
        self.pending.retain(|pending| pending.component != Some(component));
    }

    /// The entries of a mapping of names, sorted; those that are no names are reported. `of` is the dotted name before
    /// them, so that their uses are no findings of their own.
    pub(super) fn sorted(&mut self, node: &'a Node, of: &str) -> Sorted<'a> {
        let mut sorted = Sorted::new();
        for (key, node) in self.reader.entries(node).unwrap_or_default() {
            match self.identifier(key) {
                Some(name) => {
                    sorted.entry(name).or_insert((key, node));
                }
                None => {
                    self.platform.unread.insert(format!("{of}{}", key.text));
                }
            }
        }
        sorted
    }

    /// `index`: a named type or a range.
    fn index(&mut self, node: &'a Node) -> Option<Ints> {
        let text = self.reader.text(node)?;
        let range = if text.contains("..") {
            self.int_range(node)?
        } else {
            match self.platform.types.get(text) {
                Some(Some(Type::Int(range))) => *range,
                Some(Some(ty)) => {
                    let message = format!("an array is counted by an `int` in a range, and this is {ty}");
                    self.reader.bad(node, message);
                    return None;
                }
                Some(None) => return None,
                None => {
                    let help = did_you_mean(text, self.platform.types.keys().map(|name| &**name))
                        .unwrap_or_else(|| "write a type of the catalogue, or a range such as `1..4`".to_owned());
                    let message = format!("the type `{}` is not known", crate::yaml::shortened(text));
                    self.reader.report(Diagnostic::new(&UNKNOWN_TYPE, node.place, message).help(help));
                    return None;
                }
            }
        };
        let fits = range.max.checked_sub(range.min).is_some_and(|count| count < INSTANCES_MAX);
        if !fits {
            self.reader.bad(node, format!("an array has at most {INSTANCES_MAX} instances"));
        }
        fits.then_some(range)
    }

    fn telemetry(&mut self, node: &'a Node, component: u32, component_name: &str) {
        for (name, (key, node)) in self.sorted(node, &format!("{component_name}.")) {
            let dotted = format!("{component_name}.{name}");
            if self.parameter(node, key, component, &name, &dotted).is_none() {
                self.platform.unread.insert(dotted);
            }
        }
    }

    fn parameter(&mut self, node: &'a Node, key: &'a Key, component: u32, name: &Arc<str>, dotted: &str) -> Option<()> {
        let known: Vec<&str> = TYPE_KEYS.into_iter().chain(PARAMETER_KEYS).collect();
        let fields = self.reader.fields(node, key.place, &known)?;
        self.description(&fields);
        let ty = self.type_of(&fields, dotted, true);
        let period = fields.get("period").and_then(|node| self.positive(node));
        let freshness = match fields.get("freshness") {
            Some(node) if node.as_text() == Some("on-change") => vm::Freshness::OnChange,
            Some(node) => vm::Freshness::Within(self.positive(node).unwrap_or(self.options.freshness)),
            None => vm::Freshness::Within(self.options.freshness),
        };
        let number = u32::try_from(self.platform.compiled.parameters.len()).unwrap_or(u32::MAX);
        if let Some(node) = fields.get("valid_when") {
            self.pending.push(Pending { node, component: Some(component), due: Due::ValidWhen(number) });
        }
        let ccsds = match (fields.entry("ccsds"), &ty) {
            (Some((key, node)), Some(ty)) => {
                let ty = ty.clone();
                self.parameter_encoding(key, node, component, &ty)
            }
            _ => None,
        };
        let ty = ty?;
        let compiled = vm::Parameter {
            component,
            name: name.clone(),
            ty: ty.to_vm(&mut super::conditions::Own),
            period,
            freshness,
            valid_when: None,
            ccsds,
        };
        self.platform.compiled.parameters.push(compiled);
        self.platform.parameters.push(Entry { ty: Some(ty), place: key.place });
        Some(())
    }

    /// A duration longer than 0.
    pub(super) fn positive(&mut self, node: &Node) -> Option<i64> {
        let duration = self.reader.duration(node)?;
        if duration <= 0 {
            self.reader.bad(node, "a duration longer than 0 is due here");
            return None;
        }
        Some(duration)
    }
}
