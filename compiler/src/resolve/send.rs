//! `send`: telecommand, arguments, route.

use std::collections::BTreeMap;

use stellar_grammar::{Span, ast};

use super::{
    ARGUMENT_TWICE, FIXED_ARGUMENT, MISSING_ARGUMENT, NO_DEFAULT_ROUTE, UNKNOWN_ARGUMENT, UNKNOWN_ROUTE,
    UNKNOWN_TELECOMMAND, body::Body, names::Named,
};
use crate::{
    catalogue::{Platform, TelecommandEntry},
    diagnostics::Diagnostic,
    expr::{Component, Typed},
    tree::Send,
};

impl Body<'_> {
    pub(super) fn send(&mut self, it: &ast::Send) -> Send {
        let component = self.component(&it.component);
        let telecommand = component.as_ref().and_then(|component| self.telecommand(it, component));
        let platform = component.as_ref().map(|it| it.platform).or_else(|| self.platform_of(&it.component));
        let route = platform.and_then(|number| self.route(it, number));
        self.named_twice(&it.args);
        let args = match telecommand {
            Some((platform, telecommand)) => self.arguments(it, platform, telecommand),
            None => {
                for arg in &it.args {
                    self.loose(&arg.value);
                }
                Vec::new()
            }
        };
        Send {
            target: component.as_ref().and_then(|it| usize::try_from(it.target).ok()),
            telecommand,
            index: component.and_then(|it| it.index),
            args,
            route,
        }
    }

    /// The platform of a target whose component is not known.
    fn platform_of(&self, path: &ast::Path) -> Option<u32> {
        match self.names.get(&path.root.name.text) {
            Some(Named::Target(id)) => self.names.targets.get(id)?.platform,
            _ => None,
        }
    }

    fn telecommand(&mut self, it: &ast::Send, at: &Component) -> Option<(u32, u32)> {
        let platform = self.world.catalogue.get(at.platform)?;
        let name = &it.telecommand;
        if let Some(found) = platform.telecommand(at.component, &name.text) {
            return Some((at.platform, found));
        }
        let component = platform.component_at(at.component).map(|it| it.name.clone()).unwrap_or_default();
        if !platform.is_unread(&format!("{component}.{}", name.text)) {
            let message = format!("`{component}` has no telecommand `{}`", name.text);
            let help = self.offer(&name.text, platform.telecommands_of(at.component));
            let place = self.place(name.span);
            self.report(Diagnostic::new(&UNKNOWN_TELECOMMAND, place, message).maybe_help(help));
        }
        None
    }

    fn route(&mut self, it: &ast::Send, number: u32) -> Option<u32> {
        let platform = self.world.catalogue.get(number)?;
        let diagnostic = if let Some(name) = &it.route {
            if let Some(found) = platform.route(&name.text) {
                return Some(found);
            }
            if platform.is_unread(&name.text) {
                return None;
            }
            let message = format!("`{}` has no route `{}`", platform.name(), name.text);
            let help = self.offer(&name.text, routes(platform));
            Diagnostic::new(&UNKNOWN_ROUTE, self.place(name.span), message).maybe_help(help)
        } else {
            if let Some(found) = platform.default_route() {
                return Some(found);
            }
            let message = format!("no route is named, and `{}` has none that is the default", platform.name());
            let names: Vec<String> = routes(platform).map(|name| format!("`via {name}`")).collect();
            let help = (!names.is_empty()).then(|| format!("write {}", names.join(" or ")));
            Diagnostic::new(&NO_DEFAULT_ROUTE, self.place(it.component.span), message).maybe_help(help)
        };
        self.report(diagnostic);
        None
    }

    /// Arguments of one name: whatever is called, the second is one too many.
    fn named_twice(&mut self, args: &[ast::Arg]) {
        let mut first: BTreeMap<&str, Span> = BTreeMap::new();
        for name in args.iter().filter_map(|arg| arg.name.as_ref()) {
            if let Some(before) = first.get(name.text.as_str()) {
                let message = format!("the argument `{}` is given twice", name.text);
                let diagnostic = Diagnostic::new(&ARGUMENT_TWICE, self.place(name.span), message);
                self.report(diagnostic.label(self.place(*before), "first here"));
            } else {
                first.insert(&name.text, name.span);
            }
        }
    }

    fn arguments(&mut self, it: &ast::Send, platform: u32, telecommand: u32) -> Vec<Option<Typed>> {
        let Some(platform) = self.world.catalogue.get(platform) else { return Vec::new() };
        let Some(found) = platform.telecommand_at(telecommand) else { return Vec::new() };
        let types = crate::catalogue::at(&platform.telecommands, telecommand);
        let places: BTreeMap<&str, usize> = (0..).zip(&found.args).map(|(at, it)| (&*it.name, at)).collect();
        let mut values: Vec<Option<Typed>> = found.args.iter().map(|_| None).collect();
        let mut given: Vec<bool> = found.args.iter().map(|_| false).collect();
        // Arguments that nothing is known of: each may be one that seems to be missing.
        let mut strays = 0_usize;
        for arg in &it.args {
            let Some(name) = &arg.name else {
                strays = strays.saturating_add(1);
                self.loose(&arg.value);
                continue;
            };
            let Some(at) = places.get(name.text.as_str()).copied() else {
                let near = self.near(&name.text, found.args.iter().map(|it| &*it.name));
                match near.and_then(|near| places.get(near).copied()) {
                    Some(at) => given.iter_mut().skip(at).take(1).for_each(|given| *given = true),
                    None => strays = strays.saturating_add(1),
                }
                let message = format!("`{}` has no argument `{}`", it.telecommand.text, name.text);
                let help = near.map(|near| format!("is it `{near}`?"));
                self.report(Diagnostic::new(&UNKNOWN_ARGUMENT, self.place(name.span), message).maybe_help(help));
                self.loose(&arg.value);
                continue;
            };
            if found.args.get(at).is_some_and(|it| it.fixed.is_some()) {
                let message = format!("the argument `{}` always has the value that the catalogue gives it", name.text);
                self.report(Diagnostic::new(&FIXED_ARGUMENT, self.place(arg.span), message).help("leave it out"));
            }
            let value = self.argument(arg, types, at);
            values.iter_mut().skip(at).take(1).for_each(|slot| *slot = value.clone());
            given.iter_mut().skip(at).take(1).for_each(|given| *given = true);
        }
        let needed =
            found.args.iter().zip(&given).filter(|(it, given)| !**given && it.default.is_none() && it.fixed.is_none());
        let missing: Vec<String> = needed.skip(strays).map(|(it, _)| it.name.to_string()).collect();
        for name in missing {
            let message = format!("the argument `{name}` of `{}` is not given", it.telecommand.text);
            let diagnostic = Diagnostic::new(&MISSING_ARGUMENT, self.place(it.telecommand.span), message);
            self.report(diagnostic.help(format!("write `with {name} = …`")));
        }
        values
    }

    fn argument(&mut self, arg: &ast::Arg, types: Option<&TelecommandEntry>, at: usize) -> Option<Typed> {
        match types.and_then(|types| types.args.get(at)) {
            Some(Some(ty)) => self.value_of(&arg.value, ty),
            _ => {
                self.loose(&arg.value);
                None
            }
        }
    }
}

fn routes(platform: &Platform) -> impl Iterator<Item = &str> {
    platform.compiled.routes.iter().map(|route| &*route.name)
}
