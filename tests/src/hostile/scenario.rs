//! Scenarios of simulated targets, and what an operator asks of one.
//!
//! What is wrong with one is told with its place. What is right is lived: a simulated target does as it says for ten
//! minutes of virtual time, takes every telecommand of its platform twice, and is asked the same text as a request.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use stellar_runtime::{
    clock::{Clock, Phase, virtual_runtime},
    gateway::{
        TelecommandOrder,
        link::{
            Delivery, HandOver, Inbox, Link, Received, Start,
            sim::{Scenario, SimLink, SimOptions},
        },
    },
};
use stellar_vm::{
    catalogue::{Argument, Platform},
    time::{Instant, Scale},
    value::{Scalar, Type},
};

/// Words of scenarios.
pub const WORDS: &[&str] = &[
    "telemetry:",
    "telecommands:",
    "faults:",
    "initial: ",
    "period: ",
    "on_change: true",
    "profile: ",
    "noise: ",
    "{sine: {mean: 1, amplitude: 2, period: 3s}}",
    "{ramp: {from: 1, to: 2, over: 1s}}",
    "{steps: {values: [1, 2], every: 1s}}",
    "repeat: true",
    "phase: ",
    "delay: ",
    "reports: ",
    "accepted: ",
    "started: ",
    "completed: ",
    "none",
    "sets: ",
    "tells: ",
    "after: ",
    "$mode",
    "$index",
    "telecommand: ",
    "telemetry: ",
    "link: down",
    "replay: ",
    "from: ",
    "until: ",
    "nth: ",
    "first: ",
    "probability: ",
    "lose: true",
    "unreported: true",
    "fail: ",
    "stage: ",
    "code: ",
    "refuse: ",
    "freeze: true",
    "silent: true",
    "stale: true",
    "nan: true",
    "value: ",
    "set: ",
    "clear: faults",
    "tcu.mode",
    "tcu[2].mode",
    "eps.volts",
    ".nan",
    ".inf",
    "1e308",
    "365 d",
    "1 ms",
    "{",
    "}",
    "[",
    "]",
    "- ",
    ": ",
    "\n  ",
    "&a ",
    "*a",
];

const BEGINS: Instant = Instant { ns: 1_790_935_200_000_000_000, scale: Scale::Utc };
const MINUTE: i64 = 60_000_000_000;
/// What comes of a target in ten minutes, at most, before it is looked away.
const ENOUGH: usize = 2_000;

/// The platforms of the repository's missions.
static PLATFORMS: LazyLock<Vec<Arc<Platform>>> = LazyLock::new(super::seeds::platforms);

/// Tries one input.
///
/// # Panics
/// Where something does not hold.
pub fn holds(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for platform in PLATFORMS.iter() {
        match Scenario::read("sim.yaml", text, platform) {
            Ok(_) => lived(text, platform),
            Err(errors) => {
                assert!(!errors.is_empty(), "refused without a reason");
                // To YAML a CR alone ends a line too.
                let lines = u64::try_from(text.split(['\n', '\r']).count()).expect("few lines");
                for error in &errors {
                    assert!(error.line >= 1 && error.column >= 1 && error.line <= lines, "{error}");
                    assert!(!error.message.is_empty() && !error.message.contains(['\n', '\r']), "{error}");
                }
                assert!(errors.is_sorted_by_key(|error| (error.line, error.column)), "{errors:?}");
            }
        }
    }
}

/// Ten minutes in the life of a target.
fn lived(text: &str, platform: &Arc<Platform>) {
    let folder = tempfile::tempdir().expect("a folder");
    let behaviours = folder.path().join("sim.yaml");
    std::fs::write(&behaviours, text).expect("a file");
    virtual_runtime().expect("a runtime").block_on(async {
        let clock = Clock::virtual_from(BEGINS);
        let record = folder.path().join("record.jsonl");
        let options = SimOptions {
            platform: Arc::clone(platform),
            clock: clock.clone(),
            behaviours: Some(behaviours),
            seed: 7,
            record: record.clone(),
        };
        let mut link = SimLink::open(options.clone()).unwrap_or_else(|error| panic!("read, but not opened: {error}"));
        let (inbox, mut deliveries) = Inbox::channel(ENOUGH);
        link.start(Start { inbox, claimed: Vec::new() }).expect("it starts");
        for turn in 1..=2 {
            for (at, order) in orders(platform, turn, clock.now()).into_iter().enumerate() {
                hand_over(&mut link, platform, &order, u32::try_from(at).expect("few"), clock.now()).await;
            }
            clock.sleep_until(BEGINS.after(turn * 5 * MINUTE), Phase::Run).await;
            drop(link.control(text));
        }
        while let Ok(Delivery::Received(received, at)) = deliveries.try_recv() {
            assert!(at >= BEGINS && at <= clock.now(), "{received:?} at {at}");
            judge(&received, platform);
        }
        drop(link);
        // It comes back with what its record tells.
        let mut again = SimLink::open(options).expect("it opened before");
        let (inbox, _deliveries) = Inbox::channel(ENOUGH);
        again.start(Start { inbox, claimed: Vec::new() }).expect("it starts again");
    });
}

fn judge(received: &Received, platform: &Platform) {
    let Received::Samples { samples, .. } = received else { return };
    for sample in samples {
        let parameter = platform.parameters.get(sample.parameter as usize).expect("a parameter of the platform");
        assert_eq!(platform.components[parameter.component as usize].index.is_some(), sample.index.is_some());
    }
}

async fn hand_over(link: &mut SimLink, platform: &Platform, order: &TelecommandOrder, at: u32, now: Instant) {
    use stellar_runtime::gateway::link::Command;
    let index = order.component.split_once('[').map(|_| platform.components[component(platform, at)].index);
    let command = Command {
        id: order.id.clone(),
        telecommand: at,
        index: index.flatten().map(|(least, _)| least),
        args: Vec::new(),
        route: order.route.clone(),
        deadline: order.deadline,
    };
    let frame = link.encode(&command).expect("it goes by names");
    // It may be refused: a scenario can say so.
    drop(link.hand_over(HandOver { frame: &frame, order, at: now }).await);
}

fn component(platform: &Platform, telecommand: u32) -> usize {
    platform.telecommands[telecommand as usize].component as usize
}

/// Every telecommand of a platform once, to the first instance of its component.
fn orders(platform: &Platform, turn: i64, now: Instant) -> Vec<TelecommandOrder> {
    let route = platform.routes.first().map_or_else(|| "direct".into(), |route| route.name.clone());
    let order = |(at, telecommand): (usize, &stellar_vm::catalogue::Telecommand)| {
        let component = &platform.components[telecommand.component as usize];
        let index = component.index.map_or(String::new(), |(least, _)| format!("[{least}]"));
        let args: BTreeMap<_, _> =
            telecommand.args.iter().map(|it| (it.name.clone(), argument(it, platform))).collect();
        TelecommandOrder {
            id: format!("{turn}-{at}").into(),
            run: None,
            telecommand: telecommand.name.clone(),
            component: format!("{}{index}", component.name).into(),
            args,
            route: route.clone(),
            deadline: now.after(MINUTE),
        }
    };
    platform.telecommands.iter().enumerate().map(order).collect()
}

fn argument(argument: &Argument, platform: &Platform) -> Scalar {
    if let Some(value) = argument.fixed.as_ref().or(argument.default.as_ref()) {
        return value.to_scalar(&platform.enums);
    }
    match &argument.ty {
        Type::Bool => Scalar::Bool(true),
        Type::Int { min, .. } => Scalar::Int(*min),
        Type::Float { max, .. } => Scalar::Float(max.unwrap_or(f64::MAX)),
        Type::Str => Scalar::Str("x".to_owned()),
        Type::Duration => Scalar::Str("1 s".to_owned()),
        Type::Time => Scalar::Str("2026-10-02T10:15:00Z".to_owned()),
        Type::Enum(def) => Scalar::Str(platform.enums[*def as usize].labels[0].0.to_string()),
    }
}
