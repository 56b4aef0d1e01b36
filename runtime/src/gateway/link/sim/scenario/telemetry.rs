//! `telemetry:` of a scenario: first values, periods, profiles.

use stellar_vm::{
    catalogue::Platform,
    value::{EnumDef, Type, Value},
};

use super::super::{
    value::{Named, duration, flag, float, parameter, value},
    yaml::{self, Complaints, Fields, Node},
};

/// How a parameter behaves; what is `None` is the default.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Telemetry {
    /// Its first value.
    pub(in super::super) initial: Option<Value>,
    /// Nanoseconds between two samples.
    pub(in super::super) period: Option<i64>,
    /// Whether it is sent when it changes, and when the link comes up, instead of at a period.
    pub(in super::super) on_change: Option<bool>,
    /// Its value over time, until a telecommand sets another.
    pub(in super::super) profile: Option<Profile>,
    /// Greatest deviation of a sample from its value.
    pub(in super::super) noise: f64,
}

/// A value over time.
#[derive(Debug, Clone)]
pub(in super::super) enum Profile {
    /// `mean + amplitude · sin(2π · (t + phase) / period)`.
    Sine { mean: f64, amplitude: f64, period: i64, phase: i64 },
    /// From one value to another in a time; then it stays, or begins again.
    Ramp { from: f64, to: f64, over: i64, repeat: bool },
    /// Values one after the other; then the last stays, or it begins again.
    Steps { values: Vec<Value>, every: i64, repeat: bool },
}

const KEYS: [&str; 5] = ["initial", "period", "on_change", "profile", "noise"];
const PROFILES: [&str; 3] = ["sine", "ramp", "steps"];

/// A period is not shorter: one target must not fill the machine.
const SHORTEST_PERIOD: i64 = 1_000_000;

pub(super) fn read(node: &Node, named: Named, platform: &Platform, out: &mut Complaints<'_>) -> Option<Telemetry> {
    let ty = &parameter(platform, named.entry)?.ty;
    let enums = &platform.enums;
    if node.text().is_some() {
        return Some(Telemetry { initial: Some(value(node, ty, enums, out)?), ..Telemetry::default() });
    }
    let fields = node.fields("a parameter", &KEYS, out);
    let telemetry = Telemetry {
        initial: fields.get("initial").and_then(|node| value(node, ty, enums, out)),
        period: fields.get("period").and_then(|node| duration(node, SHORTEST_PERIOD, out)),
        on_change: fields.get("on_change").and_then(|node| flag(node, out)),
        profile: fields.get("profile").and_then(|node| profile(node, ty, enums, out)),
        noise: fields.get("noise").and_then(|node| noise(node, ty, out)).unwrap_or_default(),
    };
    let on_change = telemetry.on_change == Some(true);
    for (key, other) in [("period", on_change), ("profile", on_change), ("noise", on_change)] {
        if let Some(node) = fields.get(key).filter(|_| other) {
            out.say(node, format!("`{key}` says nothing of a parameter that is sent `on_change`"));
        }
    }
    if let Some(node) = fields.get("initial").filter(|_| fields.has("profile")) {
        out.say(node, "a profile says the first value: leave `initial` out");
    }
    Some(telemetry)
}

fn is_number(ty: &Type) -> bool {
    matches!(ty, Type::Int { .. } | Type::Float { .. })
}

fn noise(node: &Node, ty: &Type, out: &mut Complaints<'_>) -> Option<f64> {
    if !is_number(ty) {
        out.say(node, "only a number has `noise`");
        return None;
    }
    let noise = float(node, out)?;
    if noise < 0.0 {
        out.say(node, "`noise` is the greatest deviation: 0 or more");
    }
    Some(noise)
}

fn profile(node: &Node, ty: &Type, enums: &[EnumDef], out: &mut Complaints<'_>) -> Option<Profile> {
    let kinds = node.fields("a profile", &PROFILES, out);
    let [kind] = kinds.present(&PROFILES)[..] else {
        if matches!(node.value, yaml::Value::Map(_)) {
            out.say(node, "a profile is one of `sine`, `ramp` and `steps`");
        }
        return None;
    };
    let of = kinds.get(kind)?;
    if kind != "steps" && !is_number(ty) {
        out.say(of, format!("only a number has the profile `{kind}`: write `steps`"));
        return None;
    }
    match kind {
        "sine" => {
            let fields = of.fields("`sine`", &["mean", "amplitude", "period", "phase"], out);
            let mean = needed(of, &fields, "mean", out, float);
            let amplitude = needed(of, &fields, "amplitude", out, float);
            let period = needed(of, &fields, "period", out, |node, out| duration(node, SHORTEST_PERIOD, out));
            let phase = fields.get("phase").map_or(Some(0), |node| duration(node, 0, out));
            Some(Profile::Sine { mean: mean?, amplitude: amplitude?, period: period?, phase: phase? })
        }
        "ramp" => {
            let fields = of.fields("`ramp`", &["from", "to", "over", "repeat"], out);
            let from = needed(of, &fields, "from", out, float);
            let to = needed(of, &fields, "to", out, float);
            let over = needed(of, &fields, "over", out, |node, out| duration(node, SHORTEST_PERIOD, out));
            let repeat = fields.get("repeat").map_or(Some(false), |node| flag(node, out));
            Some(Profile::Ramp { from: from?, to: to?, over: over?, repeat: repeat? })
        }
        _ => {
            let fields = of.fields("`steps`", &["values", "every", "repeat"], out);
            let every = needed(of, &fields, "every", out, |node, out| duration(node, SHORTEST_PERIOD, out));
            let repeat = fields.get("repeat").map_or(Some(false), |node| flag(node, out));
            let values = needed(of, &fields, "values", out, |node, out| {
                let values: Vec<Value> =
                    node.items("`values`", out).iter().filter_map(|node| value(node, ty, enums, out)).collect();
                if values.is_empty() && out.errors.is_empty() {
                    out.say(node, "`values` has at least one value");
                }
                Some(values).filter(|values| !values.is_empty())
            });
            Some(Profile::Steps { values: values?, every: every?, repeat: repeat? })
        }
    }
}

/// A key that must be there.
fn needed<T>(
    of: &Node,
    fields: &Fields<'_>,
    key: &str,
    out: &mut Complaints<'_>,
    read: impl Fn(&Node, &mut Complaints<'_>) -> Option<T>,
) -> Option<T> {
    let Some(node) = fields.get(key) else {
        out.say(of, format!("`{key}` is missing"));
        return None;
    };
    read(node, out)
}
