//! Paths: what `sat.tcu[tcu].mode` stands for.

use std::sync::Arc;

use stellar_grammar::{
    Span,
    ast::{Name, Path, Segment},
};

use super::{
    Constant, Context, MISSING_INDEX, NOT_A_VALUE, Read, Root, Scope, Typed, UNEXPECTED_INDEX, UNKNOWN_COMPONENT,
    UNKNOWN_LABEL, UNKNOWN_PARAMETER, check::coerced, typed::Node,
};
use crate::{
    diagnostics::Diagnostic,
    suggest::{MOST_HELPED, did_you_mean},
    types::{Enumeration, Type},
};

/// A component of a target, as `send` and `transfer` name it.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// The target, by its number.
    pub target: u32,
    /// The platform, by its number.
    pub platform: u32,
    /// The component, by its number in the platform.
    pub component: u32,
    /// Its index; `None` for one that is no array, and where [`Component::faulty`].
    pub index: Option<Typed>,
    /// Whether the index had an error, which has been reported.
    pub faulty: bool,
}

/// The component that a path names: `sat.tcu[2]`. `None` where it names none, which is in `out`. One whose index has an
/// error is given all the same, so that the telecommand can still be looked up.
pub fn component(path: &Path, scope: &dyn Scope, out: &mut Vec<Diagnostic>) -> Option<Component> {
    let mut context = Context { scope, out };
    let root = &path.root;
    let (target, platform) = match context.scope.root(&root.name.text, path.rest.is_empty()) {
        Root::Target { target, platform } => (target, platform?),
        Root::Reported => return None,
        Root::Unknown => {
            context.unknown(&root.name, false);
            return None;
        }
        Root::Local { .. } | Root::Component { .. } | Root::Parameter { .. } => {
            let message = format!("`{}` is a value, and a component of a target is due", root.name.text);
            context.say(&NOT_A_VALUE, root.span, message);
            return None;
        }
    };
    context.no_index(root, "a target")?;
    let [segment, rest @ ..] = path.rest.as_slice() else {
        let platform = context.scope.platform(platform)?;
        let message = format!("`{}` is a target, and a component of it is due", root.name.text);
        let first = platform.compiled.components.first().map(|first| first.name.clone());
        let help = first.map(|first| format!("write `{}.{first}`, say", root.name.text));
        let diagnostic = context.at(&NOT_A_VALUE, path.span, message).maybe_help(help);
        context.report(diagnostic);
        return None;
    };
    let number = context.find_component(platform, &segment.name)?;
    if let Some(more) = rest.first() {
        let message = format!("`{}` is one name too many: a component is due here", more.name.text);
        context.say(&NOT_A_VALUE, more.span, message);
        return None;
    }
    match context.index(platform, number, segment) {
        Some(index) => Some(Component { target, platform, component: number, index, faulty: false }),
        None => Some(Component { target, platform, component: number, index: None, faulty: true }),
    }
}

impl Context<'_> {
    /// A path as a value. `want` is the type that is due, where one is: a name alone may be a label of it.
    pub(super) fn path(&mut self, path: &Path, want: Option<&Type>) -> Option<Typed> {
        let alone = path.rest.is_empty();
        let root = &path.root;
        let label = || match (want, path.as_name()) {
            (Some(Type::Enum(which)), Some(name)) => which.label(&name.text).map(|label| (which.clone(), label)),
            _ => None,
        };
        match self.scope.root(&root.name.text, alone) {
            Root::Reported => None,
            Root::Local { local, ty } => {
                if let Some((which, label)) = label().filter(|(which, _)| ty != Some(Type::Enum(which.clone()))) {
                    return Some(Typed::constant_of(Constant::Label(which, label), path.span));
                }
                self.no_index(root, "a value")?;
                if let Some(part) = path.rest.first() {
                    let message = format!("`{}` is a value: it has no part `{}`", root.name.text, part.name.text);
                    self.say(&NOT_A_VALUE, part.span, message);
                    return None;
                }
                Some(Typed::new(Node::Local(local), ty?, path.span))
            }
            Root::Target { target, platform } => {
                self.no_index(root, "a target")?;
                self.telemetry(target, platform?, &root.name, &path.rest, path.span)
            }
            Root::Component { platform, component } => {
                let index = self.index(platform, component, root);
                let parameter = self.parameter(platform, component, &root.name.text, &path.rest, path.span)?;
                self.read(0, platform, parameter, index?, path.span)
            }
            Root::Parameter { platform, parameter } => {
                self.no_index(root, "a parameter")?;
                let index = self.own_index(platform, parameter, path.span);
                self.read(0, platform, parameter, index, path.span)
            }
            Root::Unknown => {
                if let Some((which, label)) = label() {
                    return Some(Typed::constant_of(Constant::Label(which, label), path.span));
                }
                match want {
                    Some(Type::Enum(which)) if path.as_name().is_some() => self.unknown_label(&root.name, which),
                    _ => self.unknown(&root.name, alone),
                }
                None
            }
        }
    }

    /// `COMPONENT[index].PARAMETER` behind the name of a target.
    fn telemetry(&mut self, target: u32, platform: u32, name: &Name, rest: &[Segment], span: Span) -> Option<Typed> {
        let [segment, rest @ ..] = rest else {
            let message = format!("`{}` is a target, not a value", name.text);
            let help = format!("write a parameter of it: `{}.COMPONENT.PARAMETER`", name.text);
            let diagnostic = self.at(&NOT_A_VALUE, span, message).help(help);
            self.report(diagnostic);
            return None;
        };
        let component = self.find_component(platform, &segment.name)?;
        let index = self.index(platform, component, segment);
        let parameter = self.parameter(platform, component, &segment.name.text, rest, span)?;
        self.read(target, platform, parameter, index?, span)
    }

    fn read(&mut self, target: u32, platform: u32, parameter: u32, index: Option<Typed>, span: Span) -> Option<Typed> {
        let ty = self.scope.platform(platform)?.parameter_type(parameter)?.clone();
        let read = Read { target, platform, parameter, index: index.map(Box::new), span };
        Some(Typed::new(Node::Read(read), ty, span))
    }

    /// In a condition of the catalogue a parameter of the own component is that of the own instance.
    fn own_index(&self, platform: u32, parameter: u32, span: Span) -> Option<Typed> {
        let platform = self.scope.platform(platform)?;
        let component = platform.parameter_at(parameter)?.component;
        let range = platform.index_of(component)?;
        Some(Typed::new(Node::Local(0), Type::Int(range), span))
    }

    /// The help that offers the nearest of some names, as long as it is read.
    fn offer<'n>(&self, name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<String> {
        (self.out.len() < MOST_HELPED).then(|| did_you_mean(name, candidates)).flatten()
    }

    /// The names of the scope, as long as they are needed.
    fn names(&self) -> Vec<Arc<str>> {
        if self.out.len() < MOST_HELPED { self.scope.names() } else { Vec::new() }
    }

    fn find_component(&mut self, platform: u32, name: &Name) -> Option<u32> {
        let table = self.scope.platform(platform)?;
        if let Some(component) = table.component(&name.text) {
            return Some(component);
        }
        if !table.is_unread(&name.text) {
            let message = format!("`{}` has no component `{}`", table.name(), name.text);
            let help = self.offer(&name.text, table.compiled.components.iter().map(|it| &*it.name));
            let diagnostic = self.at(&UNKNOWN_COMPONENT, name.span, message).maybe_help(help);
            self.report(diagnostic);
        }
        None
    }

    /// The parameter that the names behind a component give.
    fn parameter(
        &mut self,
        platform: u32,
        component: u32,
        component_name: &str,
        rest: &[Segment],
        span: Span,
    ) -> Option<u32> {
        let [segment, rest @ ..] = rest else {
            let message = format!("`{component_name}` is a component, not a value");
            let first = self.scope.platform(platform)?.parameters_of(component).next();
            let help = first.map(|first| format!("write a parameter of it behind a point: `.{first}`, say"));
            let diagnostic = self.at(&NOT_A_VALUE, span, message).maybe_help(help);
            self.report(diagnostic);
            return None;
        };
        let parameter = self.find_parameter(platform, component, component_name, &segment.name)?;
        self.no_index(segment, "a parameter")?;
        if let Some(part) = rest.first() {
            let message = format!("`{}` is a parameter: it has no part `{}`", segment.name.text, part.name.text);
            self.say(&NOT_A_VALUE, part.span, message);
            return None;
        }
        Some(parameter)
    }

    fn find_parameter(&mut self, platform: u32, component: u32, component_name: &str, name: &Name) -> Option<u32> {
        let table = self.scope.platform(platform)?;
        if let Some(parameter) = table.parameter(component, &name.text) {
            return Some(parameter);
        }
        if !table.is_unread(&format!("{component_name}.{}", name.text)) {
            let message = format!("`{component_name}` has no parameter `{}`", name.text);
            let help = self.offer(&name.text, table.parameters_of(component));
            let diagnostic = self.at(&UNKNOWN_PARAMETER, name.span, message).maybe_help(help);
            self.report(diagnostic);
        }
        None
    }

    /// The index behind a component: `None` after an error, `Some(None)` where the component is no array.
    #[expect(clippy::option_option, reason = "an error and the absence of an index are two things")]
    fn index(&mut self, platform: u32, component: u32, segment: &Segment) -> Option<Option<Typed>> {
        let Some(range) = self.scope.platform(platform)?.index_of(component) else {
            self.no_index(segment, "a component that is no array")?;
            return Some(None);
        };
        let Some(index) = &segment.index else {
            let name = &segment.name.text;
            let message = format!("`{name}` is an array: which one is meant is not said");
            let help = format!("write `{name}[…]` with an index from {} to {}", range.min, range.max);
            let diagnostic = self.at(&MISSING_INDEX, segment.span, message).help(help);
            self.report(diagnostic);
            return None;
        };
        coerced(self, index, &Type::Int(range)).map(Some)
    }

    fn no_index(&mut self, segment: &Segment, what: &str) -> Option<()> {
        let Some(index) = &segment.index else { return Some(()) };
        let message = format!("`{}` is {what}, and takes no index", segment.name.text);
        self.say(&UNEXPECTED_INDEX, index.span, message);
        None
    }

    fn unknown_label(&mut self, name: &Name, which: &Enumeration) {
        let message = format!("`{}` has no label `{}`", which.def.name, name.text);
        let names = self.names();
        let candidates = which.labels().chain(names.iter().map(|name| &**name));
        let help = self.offer(&name.text, candidates).or_else(|| {
            const SHOWN: usize = 8;
            let labels: Vec<String> = which.labels().take(SHOWN).map(|label| format!("`{label}`")).collect();
            let more = if which.def.labels.len() > SHOWN { ", …" } else { "" };
            Some(format!("its labels are {}{more}", labels.join(", ")))
        });
        let diagnostic = self.at(&UNKNOWN_LABEL, name.span, message).maybe_help(help);
        self.report(diagnostic);
    }

    /// Reports a name that is nothing.
    fn unknown(&mut self, name: &Name, alone: bool) {
        let names = self.names();
        let (code, what) = self.scope.unknown(alone);
        let message = format!("the {what} `{}` is not known", name.text);
        let difference = name.text.match_indices('-').find_map(|(at, _)| {
            let (head, tail) = name.text.split_at_checked(at)?;
            let tail = tail.strip_prefix('-')?;
            names.iter().any(|known| **known == *head).then(|| format!("write `{head} - {tail}` for a difference"))
        });
        let help = difference.or_else(|| self.offer(&name.text, names.iter().map(|name| &**name)));
        let diagnostic = self.at(code, name.span, message).maybe_help(help);
        self.report(diagnostic);
    }
}
