//! `faults:` of a scenario: what goes wrong, and when.

use stellar_vm::{
    catalogue::{Platform, Stage},
    value::{Type, Value},
};

use super::{
    super::{
        value::{Named, Table, count, duration, flag, float, named, parameter, value},
        yaml::{Complaints, Fields, Node},
    },
    telecommands::STAGES,
};

/// Something that goes wrong for a time.
#[derive(Debug, Clone)]
pub(in super::super) struct Fault {
    /// Since when, in nanoseconds from the start of the target (or from the request).
    pub(in super::super) from: i64,
    /// Till when; the instant itself is not in it.
    pub(in super::super) until: Option<i64>,
    /// What.
    pub(in super::super) kind: FaultKind,
}

/// What goes wrong.
#[derive(Debug, Clone)]
pub(in super::super) enum FaultKind {
    /// Telecommands.
    Telecommand { of: Named, which: Which, effect: Effect },
    /// The link is down: nothing is taken and nothing received.
    Link,
    /// Samples of a parameter.
    Telemetry { of: Named, effect: TelemetryEffect },
    /// The last packets, at most so many, are played back whenever the link comes up.
    Replay { packets: usize },
}

/// Which of the telecommands of a name.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum Which {
    /// Each.
    Each,
    /// One, counted from 1.
    Nth(u64),
    /// The first so many.
    First(u64),
    /// Each with a probability.
    Probability(f64),
}

/// What becomes of a telecommand.
#[derive(Debug, Clone)]
pub(in super::super) enum Effect {
    /// It leaves and never arrives.
    Lose,
    /// It is executed and nothing is reported.
    Unreported,
    /// A stage fails, with a code.
    Fail { stage: Stage, code: String },
    /// It arrives later.
    Delay(i64),
    /// The link does not take it: it never leaves.
    Refuse(String),
}

/// What becomes of samples.
#[derive(Debug, Clone)]
pub(in super::super) enum TelemetryEffect {
    /// There are none.
    Silent,
    /// They keep the last value sent.
    Freeze,
    /// They are not a number.
    Nan,
    /// They have this value.
    Value(Value),
}

const KINDS: [&str; 4] = ["telecommand", "link", "telemetry", "replay"];
const WHICH: [&str; 3] = ["nth", "first", "probability"];
const EFFECTS: [&str; 5] = ["lose", "unreported", "fail", "delay", "refuse"];
const TELEMETRY: [&str; 4] = ["silent", "freeze", "nan", "value"];

pub(super) fn read_all(node: &Node, platform: &Platform, out: &mut Complaints<'_>) -> Vec<Fault> {
    node.items("`faults`", out).iter().filter_map(|node| fault(node, platform, out)).collect()
}

fn fault(node: &Node, platform: &Platform, out: &mut Complaints<'_>) -> Option<Fault> {
    // The kind says which keys it takes; until it is known any of them may stand there.
    let any: Vec<&str> =
        KINDS.into_iter().chain(["from", "until"]).chain(WHICH).chain(EFFECTS).chain(TELEMETRY).collect();
    let fields = node.fields("a fault", &any, out);
    let [kind] = fields.present(&KINDS)[..] else {
        out.say(node, "a fault has one of the keys `telecommand`, `link`, `telemetry` and `replay`");
        return None;
    };
    let takes: &[&[&str]] = match kind {
        "telecommand" => &[&["telecommand", "from", "until"], &WHICH, &EFFECTS],
        "telemetry" => &[&["telemetry", "from", "until"], &TELEMETRY],
        "link" => &[&["link", "from", "until"]],
        _ => &[&["replay", "from", "until"]],
    };
    for key in fields.present(&any) {
        if let Some(node) = fields.get(key).filter(|_| !takes.iter().any(|keys| keys.contains(&key))) {
            out.say(node, format!("a fault of `{kind}` has no key `{key}`"));
        }
    }
    let of = fields.get(kind)?;
    let kind = match kind {
        "telecommand" => telecommand(node, of, &fields, platform, out),
        "telemetry" => telemetry(node, of, &fields, platform, out),
        "link" => {
            if of.text() != Some("down") {
                out.say(of, "`link: down` is the only fault of the link");
            }
            Some(FaultKind::Link)
        }
        _ => {
            let packets = count(of, 1, out).and_then(|packets| usize::try_from(packets).ok());
            packets.map(|packets| FaultKind::Replay { packets })
        }
    };
    let from = fields.get("from").map_or(Some(0), |node| duration(node, 0, out));
    let until = fields.get("until").and_then(|node| duration(node, 0, out));
    if let (Some(from), Some(until), Some(node)) = (from, until, fields.get("until"))
        && until <= from
    {
        out.say(node, "`until` is not after `from`");
    }
    Some(Fault { from: from?, until, kind: kind? })
}

/// The one of several keys that is there.
fn one<'k>(node: &Node, fields: &Fields<'_>, keys: &[&'k str], out: &mut Complaints<'_>) -> Option<&'k str> {
    let [key] = fields.present(keys)[..] else {
        out.say(node, format!("this fault has one of the keys `{}`", keys.join("`, `")));
        return None;
    };
    Some(key)
}

/// A key whose only value is `true`.
fn only_true(node: &Node, out: &mut Complaints<'_>) {
    if flag(node, out) == Some(false) {
        out.say(node, "`true` is all that can stand here: leave the fault out instead");
    }
}

fn telecommand(
    node: &Node,
    of: &Node,
    fields: &Fields<'_>,
    platform: &Platform,
    out: &mut Complaints<'_>,
) -> Option<FaultKind> {
    let of = named(of, Table::Telecommands, platform, out);
    let which = match fields.present(&WHICH)[..] {
        [] => Some(Which::Each),
        ["nth"] => fields.get("nth").and_then(|node| count(node, 1, out)).map(Which::Nth),
        ["first"] => fields.get("first").and_then(|node| count(node, 1, out)).map(Which::First),
        ["probability"] => fields.get("probability").and_then(|node| {
            let probability = float(node, out)?;
            if !(0.0..=1.0).contains(&probability) {
                out.say(node, "a probability is from 0 to 1");
            }
            Some(Which::Probability(probability))
        }),
        _ => {
            out.say(node, "a fault has one of the keys `nth`, `first` and `probability`, or none");
            None
        }
    };
    let key = one(node, fields, &EFFECTS, out)?;
    let at = fields.get(key)?;
    let effect = match key {
        "lose" | "unreported" => {
            only_true(at, out);
            if key == "lose" { Effect::Lose } else { Effect::Unreported }
        }
        "delay" => Effect::Delay(duration(at, 0, out)?),
        "refuse" => {
            let Some(why) = at.text().filter(|why| !why.is_empty()) else {
                out.say(at, "`refuse` has the reason, as a text");
                return None;
            };
            Effect::Refuse(why.to_owned())
        }
        _ => fail(at, out)?,
    };
    Some(FaultKind::Telecommand { of: of?, which: which?, effect })
}

fn fail(node: &Node, out: &mut Complaints<'_>) -> Option<Effect> {
    let fields = node.fields("`fail`", &["stage", "code"], out);
    let stage = match fields.get("stage").map(|node| (node, node.text().unwrap_or_default())) {
        None | Some((_, "completed")) => Stage::Completed,
        Some((_, "started")) => Stage::Started,
        Some((_, "accepted")) => Stage::Accepted,
        Some((node, other)) => {
            out.unknown(node, format!("`{other}` is no stage: one of accepted, started, completed"), other, STAGES);
            return None;
        }
    };
    let Some(code) = fields.get("code").and_then(Node::text).filter(|code| !code.is_empty()) else {
        out.say(node, "`fail` has a `code`, such as `3` or `3 (invalid length)`");
        return None;
    };
    Some(Effect::Fail { stage, code: code.to_owned() })
}

fn telemetry(
    node: &Node,
    of: &Node,
    fields: &Fields<'_>,
    platform: &Platform,
    out: &mut Complaints<'_>,
) -> Option<FaultKind> {
    let of = named(of, Table::Parameters, platform, out);
    let key = one(node, fields, &TELEMETRY, out)?;
    let (of, at) = (of?, fields.get(key)?);
    let ty = &parameter(platform, of.entry)?.ty;
    if key != "value" {
        only_true(at, out);
    }
    let effect = match key {
        "silent" => TelemetryEffect::Silent,
        "freeze" => TelemetryEffect::Freeze,
        "nan" => {
            if !matches!(ty, Type::Float { .. }) {
                out.say(at, "only a number with decimals can be `nan`");
                return None;
            }
            TelemetryEffect::Nan
        }
        _ => TelemetryEffect::Value(value(at, ty, &platform.enums, out)?),
    };
    Some(FaultKind::Telemetry { of, effect })
}
