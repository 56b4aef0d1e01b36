//! A random catalogue: fixed names, random windows, stages and freshness. And its YAML.

use std::fmt::Write;

use super::{
    model::*,
    print::{duration, expr_text},
    rng::Rng,
};

pub(super) const TCU: usize = 0;
pub(super) const EPS: usize = 1;
/// Places of the parameters.
pub(super) const ON: usize = 0;
pub(super) const MODE: usize = 1;
pub(super) const COUNT: usize = 3;
pub(super) const BUS: usize = 5;
pub(super) const FLAG: usize = 6;
pub(super) const SEL: usize = 7;
/// Window of telecommands that declare none.
pub(super) const DEFAULT_WINDOW: Ns = 4 * S;
/// Freshness of parameters that declare none.
pub(super) const DEFAULT_FRESHNESS: Ns = 3 * S;

pub(super) fn windows(rng: &mut Rng) -> Ns {
    rng.pick(&[500 * MS, S, 2 * S, 2 * S, 3 * S, 5 * S])
}

pub(super) fn random(rng: &mut Rng) -> Catalogue {
    let components = vec![Component { name: "tcu", index: Some((1, 3)) }, Component { name: "eps", index: None }];
    let enums = vec![("tcu_mode", vec!["STANDBY", "OPERATIONAL", "SAFE"]), ("level", vec!["LOW", "HIGH", "OFF-LINE"])];
    let mut catalogue = Catalogue { enums, components, params: params(rng), telecommands: Vec::new() };
    catalogue.telecommands = telecommands(rng);
    catalogue
}

fn params(rng: &mut Rng) -> Vec<Param> {
    let mut param = |component, name, ty, on_change: bool, valid_when| {
        let fresh =
            rng.pick(&[500 * MS, S, 2 * S, DEFAULT_FRESHNESS, DEFAULT_FRESHNESS, 5 * S, 10 * S, 10 * S, 30 * S]);
        Param { component, name, ty, freshness: (!on_change).then_some(fresh), valid_when }
    };
    vec![
        param(TCU, "on", Ty::Bool, false, None),
        param(TCU, "mode", Ty::Enum(0), false, None),
        param(TCU, "temp", Ty::Float(Some("degC"), Some((-40.0, 125.0))), false, None),
        param(TCU, "count", Ty::Int(Some((0, 9))), false, None),
        param(TCU, "volts", Ty::Float(Some("V"), None), false, Some("on is true")),
        param(EPS, "bus", Ty::Float(Some("V"), None), true, None),
        param(EPS, "flag", Ty::Bool, false, None),
        param(EPS, "sel", Ty::Int(Some((1, 3))), false, None),
        param(EPS, "label", Ty::Str, true, None),
        param(EPS, "uptime", Ty::Float(Some("s"), None), false, None),
        param(EPS, "age", Ty::Duration, false, None),
        param(EPS, "clock", Ty::Time, true, None),
    ]
}

/// A condition of the catalogue over the own component.
fn own(param: usize, cmp: Cmp, value: Value, text: &str) -> Expr {
    let read = Read { target: 0, param, index: None };
    Expr::Compare(cmp, Box::new(Expr::Read(read)), Box::new(Expr::Literal(value, text.to_owned())))
}

fn telecommands(rng: &mut Rng) -> Vec<Telecommand> {
    let mut all = Vec::new();
    for (component, name, changes) in [
        (TCU, "ping", false),
        (EPS, "poll", false),
        (TCU, "query", false),
        (EPS, "fire", false),
        (TCU, "set", true),
        (EPS, "arm", true),
        (TCU, "go", true),
        (TCU, "heat", true),
    ] {
        let (window, stages, verify) = verification(rng);
        let mut one = Telecommand {
            component,
            name,
            changes,
            hazardous: name == "arm",
            args: Vec::new(),
            requires: None,
            window,
            stages,
            until: None,
            verify,
        };
        let is_on = || own(ON, Cmp::Is, Value::Bool(true), "true");
        match name {
            "query" => {
                one.args.push(arg("level", Ty::Int(Some((0, 9))), Some(Value::Int(1)), None));
                one.args.push(arg("offset", Ty::Float(Some("degC"), None), None, None));
                one.requires = rng.chance(60).then(|| own(MODE, Cmp::IsNot, Value::Label(0, 2), "SAFE"));
            }
            "ping" => one.until = rng.chance(50).then(is_on),
            "set" => {
                one.args.push(arg("power", Ty::Float(Some("W"), Some((0.0, 20.0))), None, None));
                one.requires = rng
                    .chance(60)
                    .then(|| Expr::Or(vec![is_on(), own(MODE, Cmp::Is, Value::Label(0, 1), "OPERATIONAL")]));
            }
            "go" => one.until = Some(own(MODE, Cmp::Is, Value::Label(0, 1), "OPERATIONAL")),
            "heat" => {
                one.args.push(arg("level", Ty::Enum(1), Some(Value::Label(1, 0)), None));
                one.args.push(arg("code", Ty::Int(Some((0, 9))), None, Some(Value::Int(7))));
            }
            _ => {}
        }
        all.push(one);
    }
    all
}

fn arg(name: &'static str, ty: Ty, default: Option<Value>, fixed: Option<Value>) -> Arg {
    Arg { name, ty, default, fixed }
}

/// Window, stages and what stands under `verify` for them.
fn verification(rng: &mut Rng) -> (Ns, Vec<(Stage, Ns)>, String) {
    let within = windows(rng);
    match rng.below(5) {
        0 => (DEFAULT_WINDOW, vec![(Stage::Completed, DEFAULT_WINDOW)], String::new()),
        1 => (within, vec![], format!("within: {}, reports: none", duration(within))),
        2 => (within, vec![(Stage::Accepted, within)], format!("within: {}, reports: accepted", duration(within))),
        3 => (within, vec![(Stage::Completed, within)], format!("within: {}", duration(within))),
        _ => {
            let names = [(Stage::Accepted, "accepted"), (Stage::Started, "started"), (Stage::Completed, "completed")];
            let mut stages = Vec::new();
            let mut text = Vec::new();
            for (stage, name) in names {
                if rng.chance(70) || (stage == Stage::Completed && stages.is_empty()) {
                    let limit = windows(rng);
                    stages.push((stage, limit));
                    text.push(format!("{name}: {}", duration(limit)));
                }
            }
            let longest = stages.iter().map(|(_, limit)| *limit).max().unwrap();
            let told = format!("stages: {{{}}}", text.join(", "));
            if rng.chance(50) {
                (longest.max(within), stages, format!("within: {}, {told}", duration(within)))
            } else {
                (longest, stages, told)
            }
        }
    }
}

fn type_yaml(catalogue: &Catalogue, ty: &Ty) -> String {
    match ty {
        Ty::Bool => "type: bool".to_owned(),
        Ty::Int(Some((1, 3))) => "type: tcu_id".to_owned(),
        Ty::Int(Some((low, high))) => format!("int: {low}..{high}"),
        Ty::Int(None) => "type: int".to_owned(),
        Ty::Float(unit, range) => {
            let mut text = "type: float".to_owned();
            if let Some(unit) = unit {
                write!(text, ", unit: {unit}").unwrap();
            }
            if let Some((low, high)) = range {
                write!(text, ", range: {low}..{high}").unwrap();
            }
            text
        }
        Ty::Str => "type: string".to_owned(),
        Ty::Duration => "type: duration".to_owned(),
        Ty::Time => "type: time".to_owned(),
        Ty::Enum(which) => format!("type: {}", catalogue.enums[*which].0),
    }
}

/// The catalogue as it is given to the compiler.
pub(super) fn yaml(catalogue: &Catalogue) -> String {
    let mut text = format!("platform: {PLATFORM}\nroutes: {{direct: {{default: true}}, relay: {{}}}}\ntypes:\n");
    text.push_str("  tcu_id: {int: 1..3}\n");
    for (name, labels) in &catalogue.enums {
        let labels: Vec<_> = labels.iter().enumerate().map(|(at, label)| format!("{label}: {at}")).collect();
        writeln!(text, "  {name}: {{enum: {{{}}}}}", labels.join(", ")).unwrap();
    }
    text.push_str("components:\n");
    for (at, component) in catalogue.components.iter().enumerate() {
        writeln!(text, "  {}:", component.name).unwrap();
        if component.index.is_some() {
            text.push_str("    index: tcu_id\n");
        }
        text.push_str("    telemetry:\n");
        for param in catalogue.params.iter().filter(|param| param.component == at) {
            let fresh = param.freshness.map_or("on-change".to_owned(), duration);
            write!(text, "      {}: {{{}", param.name, type_yaml(catalogue, &param.ty)).unwrap();
            if param.freshness != Some(DEFAULT_FRESHNESS) {
                write!(text, ", freshness: {fresh}").unwrap();
            }
            if let Some(valid) = param.valid_when {
                write!(text, ", valid_when: \"{valid}\"").unwrap();
            }
            text.push_str("}\n");
        }
        text.push_str("    telecommands:\n");
        for telecommand in catalogue.telecommands.iter().filter(|one| one.component == at) {
            telecommand_yaml(catalogue, telecommand, &mut text);
        }
    }
    text
}

fn telecommand_yaml(catalogue: &Catalogue, telecommand: &Telecommand, text: &mut String) {
    writeln!(text, "      {}:", telecommand.name).unwrap();
    // What is not said changes the state.
    if !telecommand.changes {
        text.push_str("        changes_state: false\n");
    } else if telecommand.hazardous {
        text.push_str("        hazardous: true\n");
    } else {
        text.push_str("        description: \"changes something\"\n");
    }
    if !telecommand.args.is_empty() {
        text.push_str("        args:\n");
        for arg in &telecommand.args {
            write!(text, "          {}: {{{}", arg.name, type_yaml(catalogue, &arg.ty)).unwrap();
            for (key, value) in [("default", &arg.default), ("fixed", &arg.fixed)] {
                match value {
                    Some(Value::Int(value)) => write!(text, ", {key}: {value}").unwrap(),
                    Some(Value::Label(which, at)) => {
                        write!(text, ", {key}: {}", catalogue.enums[*which].1[*at]).unwrap();
                    }
                    _ => {}
                }
            }
            text.push_str("}\n");
        }
    }
    if let Some(requires) = &telecommand.requires {
        writeln!(text, "        requires: \"{}\"", expr_text(catalogue, None, requires)).unwrap();
    }
    let until = telecommand.until.as_ref().map(|until| format!("until: \"{}\"", expr_text(catalogue, None, until)));
    let verify: Vec<_> =
        [Some(telecommand.verify.clone()).filter(|it| !it.is_empty()), until].into_iter().flatten().collect();
    if !verify.is_empty() {
        writeln!(text, "        verify: {{{}}}", verify.join(", ")).unwrap();
    }
}
