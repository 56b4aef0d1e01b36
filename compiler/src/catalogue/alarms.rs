//! Alarms: what raises them, and what is run then.

use std::sync::Arc;

use stellar_vm::{
    catalogue as vm,
    catalogue::{Reaction, ReactionInput},
    value::Scalar,
};

use super::{
    AlarmEntry, BAD_VALUE,
    conditions::{Due, INDEX, Pending, never},
    draft::Draft,
};
use crate::{
    diagnostics::Diagnostic,
    expr::UNKNOWN_COMPONENT,
    source::Place,
    suggest::did_you_mean,
    yaml::{Fields, Key, Node, parse_float, parse_int},
};

const KEYS: [&str; 5] = ["description", "for_each", "when", "persists", "on_raise"];

impl<'a> Draft<'a, '_> {
    /// `alarms`.
    pub(super) fn alarms(&mut self, node: &'a Node) {
        for (name, (key, node)) in self.sorted(node, "alarm ") {
            let Some(fields) = self.reader.fields(node, key.place, &KEYS) else { continue };
            self.alarm(&fields, key, name);
        }
    }

    fn alarm(&mut self, fields: &Fields<'a>, key: &'a Key, name: Arc<str>) {
        self.description(fields);
        let for_each = fields.get("for_each").map(|node| self.component(node));
        let persists = fields.get("persists").and_then(|node| self.reader.duration(node)).unwrap_or(0);
        let number = u32::try_from(self.platform.compiled.alarms.len()).unwrap_or(u32::MAX);
        let component = for_each.flatten();
        // Where the component is not known, neither are the names of the condition.
        if let Some(node) = self.reader.required(fields, "when")
            && for_each != Some(None)
        {
            self.pending.push(Pending { node, component, due: Due::When(number) });
        }
        let indexed = component.is_some_and(|component| self.platform.index_of(component).is_some());
        let (on_raise, procedure, with) = match fields.entry("on_raise") {
            Some((key, node)) => self.reaction(key, node, indexed),
            None => (None, None, Vec::new()),
        };
        self.platform.compiled.alarms.push(vm::Alarm { name, for_each: component, when: never(), persists, on_raise });
        self.platform.alarms.push(AlarmEntry { place: key.place, procedure, with });
    }

    fn component(&mut self, node: &'a Node) -> Option<u32> {
        let name = self.reader.text(node)?;
        let component = self.platform.component(name);
        if component.is_none() && !self.platform.is_unread(name) {
            let message = format!("the platform has no component `{}`", crate::yaml::shortened(name));
            let help = did_you_mean(name, self.platform.compiled.components.iter().map(|it| &*it.name));
            self.reader.report(Diagnostic::new(&UNKNOWN_COMPONENT, node.place, message).maybe_help(help));
        }
        component
    }

    /// `on_raise`: the procedure and its inputs, with their places.
    fn reaction(
        &mut self,
        key: &'a Key,
        node: &'a Node,
        indexed: bool,
    ) -> (Option<Reaction>, Option<Place>, Vec<Place>) {
        let nothing = (None, None, Vec::new());
        let Some(fields) = self.reader.fields(node, key.place, &["run", "with"]) else { return nothing };
        let procedure =
            self.reader.required(&fields, "run").and_then(|node| Some((self.reader.text(node)?, node.place)));
        let mut with = Vec::new();
        let mut places = Vec::new();
        if let Some(node) = fields.get("with") {
            for (key, node) in self.reader.entries(node).unwrap_or_default() {
                let name = self.identifier(key);
                let input = self.input(node, indexed);
                if let (Some(name), Some(input)) = (name, input) {
                    with.push((name, input));
                    places.push(key.place);
                }
            }
        }
        match procedure {
            Some((name, place)) => (Some(Reaction { procedure: name.into(), with }), Some(place), places),
            None => nothing,
        }
    }

    fn input(&mut self, node: &'a Node, indexed: bool) -> Option<ReactionInput> {
        if node.as_plain() == Some(INDEX) {
            if indexed {
                return Some(ReactionInput::Index);
            }
            let message = "`index` is that of a component that is an array, and this alarm is `for_each` of none";
            self.say(&BAD_VALUE, node.place, message);
            return None;
        }
        let text = self.reader.text(node)?;
        let scalar = match node.as_plain() {
            Some("true") => Scalar::Bool(true),
            Some("false") => Scalar::Bool(false),
            Some(plain) => match (parse_int(plain), parse_float(plain)) {
                (Some(int), _) => Scalar::Int(int),
                (None, Some(float)) => Scalar::Float(float),
                (None, None) => Scalar::Str(text.to_owned()),
            },
            None => Scalar::Str(text.to_owned()),
        };
        Some(ReactionInput::Value(scalar))
    }
}
