//! `telecommands:` of a scenario: when reports come, what is set.

use stellar_vm::{
    catalogue::{Argument, Parameter, Platform, Telecommand},
    value::{Type, Value},
};

use super::super::{
    value::{Named, Table, duration, named, parameter, value, words},
    yaml::{Complaints, Node},
};

/// How the target answers a telecommand. Durations are nanoseconds from its arrival.
#[derive(Debug, Clone)]
pub(in super::super) struct Behaviour {
    /// From the hand-over to its arrival.
    pub(in super::super) delay: i64,
    /// When each stage is reported; `None` where it never is.
    pub(in super::super) reports: [Option<i64>; 3],
    /// When the effects come; `None` with the last report.
    pub(in super::super) after: Option<i64>,
    /// The effects.
    pub(in super::super) sets: Vec<Set>,
    /// What is sent when the effects come, whether it has changed or not.
    pub(in super::super) tells: Vec<Tell>,
}

/// A parameter that a telecommand asks for.
#[derive(Debug, Clone)]
pub(in super::super) struct Tell {
    /// The parameter, of every instance where none is named.
    pub(in super::super) parameter: Named,
    /// Of the instance that the telecommand is sent to.
    pub(in super::super) same: bool,
}

/// That a parameter takes a value.
#[derive(Debug, Clone)]
pub(in super::super) struct Set {
    /// The parameter, of every instance where none is named.
    pub(in super::super) parameter: Named,
    /// Of the instance that the telecommand is sent to.
    pub(in super::super) same: bool,
    /// The value.
    pub(in super::super) to: SetTo,
}

/// What a parameter is set to.
#[derive(Debug, Clone)]
pub(in super::super) enum SetTo {
    /// A value.
    Value(Value),
    /// The argument of this place.
    Argument(usize),
    /// The index of the component that the telecommand is sent to.
    Index,
}

/// Stages in their order, as keys.
pub(super) const STAGES: [&str; 3] = ["accepted", "started", "completed"];

impl Default for Behaviour {
    /// Accepted, started and completed after small delays.
    fn default() -> Self {
        const MS: i64 = 1_000_000;
        let reports = [Some(100 * MS), Some(200 * MS), Some(500 * MS)];
        Self { delay: 0, reports, after: None, sets: Vec::new(), tells: Vec::new() }
    }
}

impl Behaviour {
    /// When its effects come.
    pub(in super::super) fn takes_effect(&self) -> i64 {
        self.after.or_else(|| self.reports.iter().rev().find_map(|report| *report)).unwrap_or_default()
    }
}

pub(super) fn read(node: &Node, of: Named, platform: &Platform, out: &mut Complaints<'_>) -> Option<Behaviour> {
    let telecommand = usize::try_from(of.entry).ok().and_then(|entry| platform.telecommands.get(entry))?;
    let mut behaviour = Behaviour::default();
    let fields = node.fields("a telecommand", &["delay", "reports", "after", "sets", "tells"], out);
    if let Some(delay) = fields.get("delay").and_then(|node| duration(node, 0, out)) {
        behaviour.delay = delay;
    }
    behaviour.after = fields.get("after").and_then(|node| duration(node, 0, out));
    if let Some(node) = fields.get("reports") {
        behaviour.reports = reports(node, behaviour.reports, out);
    }
    if let Some(node) = fields.get("sets") {
        behaviour.sets = read_sets(node, Some(telecommand), platform, out);
    }
    if let Some(node) = fields.get("tells") {
        behaviour.tells = read_tells(node, telecommand, platform, out);
    }
    if let ([], Some(node)) = (&fields.present(&["sets", "tells"])[..], fields.get("after")) {
        out.say(node, "`after` says when `sets` and `tells` come, and there is neither");
    }
    Some(behaviour)
}

fn read_tells(node: &Node, telecommand: &Telecommand, platform: &Platform, out: &mut Complaints<'_>) -> Vec<Tell> {
    let mut tells = Vec::new();
    for node in node.items("`tells`", out) {
        let name = node.text().unwrap_or_default();
        let same = !name.contains('.');
        let read = if same {
            own_parameter(node, name, telecommand, platform, out)
        } else {
            named(node, Table::Parameters, platform, out)
        };
        tells.extend(read.map(|parameter| Tell { parameter, same }));
    }
    tells
}

fn reports(node: &Node, default: [Option<i64>; 3], out: &mut Complaints<'_>) -> [Option<i64>; 3] {
    if node.text() == Some("none") {
        return [None; 3];
    }
    let fields = node.fields("`reports`", &STAGES, out);
    let mut reports = default;
    for (stage, report) in STAGES.into_iter().zip(&mut reports) {
        match fields.get(stage) {
            Some(node) if node.text() == Some("none") => *report = None,
            Some(node) => *report = duration(node, 0, out).or(*report),
            None => {}
        }
    }
    // A stage that keeps its default never comes before one that is written.
    let mut least = 0;
    for (stage, report) in STAGES.into_iter().zip(&mut reports) {
        let Some(at) = report else { continue };
        match fields.get(stage) {
            Some(node) if *at < least => out.say(node, format!("`{stage}` comes before the stage before it")),
            Some(_) => {}
            None => *at = (*at).max(least),
        }
        least = *at;
    }
    reports
}

/// `sets:`; names without a dot are of the telecommand's own component and instance.
pub(super) fn read_sets(
    node: &Node,
    telecommand: Option<&Telecommand>,
    platform: &Platform,
    out: &mut Complaints<'_>,
) -> Vec<Set> {
    let mut sets = Vec::new();
    for (key, to) in node.entries("`sets`", out) {
        let name = key.text().unwrap_or_default();
        let own = telecommand.filter(|_| !name.contains('.'));
        let read = match own {
            Some(telecommand) => own_parameter(key, name, telecommand, platform, out),
            None => named(key, Table::Parameters, platform, out),
        };
        let Some(of) = read else { continue };
        let Some(entry) = parameter(platform, of.entry) else { continue };
        if let Some(to) = set_to(to, entry, telecommand, platform, out) {
            sets.push(Set { parameter: of, same: own.is_some(), to });
        }
    }
    sets
}

fn own_parameter(
    key: &Node,
    name: &str,
    telecommand: &Telecommand,
    platform: &Platform,
    out: &mut Complaints<'_>,
) -> Option<Named> {
    let own = |of: &Parameter| of.component == telecommand.component;
    let Some(entry) = platform.parameters.iter().position(|of| own(of) && &*of.name == name) else {
        let known = platform.parameters.iter().filter(|of| own(of)).map(|of| &*of.name);
        out.unknown(key, format!("the component of `{}` has no parameter `{name}`", telecommand.name), name, known);
        return None;
    };
    Some(Named { entry: u32::try_from(entry).ok()?, index: None })
}

fn set_to(
    node: &Node,
    entry: &Parameter,
    telecommand: Option<&Telecommand>,
    platform: &Platform,
    out: &mut Complaints<'_>,
) -> Option<SetTo> {
    let argument = node.text().and_then(|text| text.strip_prefix('$'));
    let (Some(name), Some(telecommand)) = (argument, telecommand) else {
        return value(node, &entry.ty, &platform.enums, out).map(SetTo::Value);
    };
    let fits = |ty: &Type| match (ty, &entry.ty) {
        (Type::Int { .. }, Type::Float { .. }) => true,
        (Type::Enum(one), Type::Enum(other)) => one == other,
        (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
    };
    let due = words(&entry.ty, &platform.enums);
    if name == "index" {
        let component = usize::try_from(telecommand.component).ok().and_then(|of| platform.components.get(of));
        let index = component.is_some_and(|of| of.index.is_some()) && fits(&Type::Int { min: 0, max: 0 });
        if !index {
            out.say(node, format!("`$index` is no value here: {due} is due"));
        }
        return index.then_some(SetTo::Index);
    }
    match telecommand.args.iter().position(|arg: &Argument| &*arg.name == name) {
        Some(place) if telecommand.args.get(place).is_some_and(|arg| fits(&arg.ty)) => Some(SetTo::Argument(place)),
        Some(_) => {
            out.say(node, format!("the argument `{name}` is of another type: {due} is due here"));
            None
        }
        None => {
            let known = telecommand.args.iter().map(|arg| &*arg.name);
            out.unknown(node, format!("`{}` has no argument `{name}`", telecommand.name), name, known);
            None
        }
    }
}
