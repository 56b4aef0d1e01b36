//! Catalogues: YAML that is compiled.
//!
//! What is compiled of a platform has its tables in order, can be looked at by both links, and procedures that use
//! every entry of it compile to what the verifier accepts.

use std::{fmt::Write, sync::Arc};

use stellar_compiler::{
    catalogue::{Options, compile},
    pipeline::{Came, Checked, File, Input},
    source::{Origin, Sources},
};
use stellar_runtime::gateway::link::ccsds::Datagrams;
use stellar_vm::{catalogue::Platform, compare, time::Instant};

use super::{sources, told};

/// Words of catalogues.
pub const WORDS: &[&str] = &[
    "platform: ",
    "routes:",
    "types:",
    "components:",
    "alarms:",
    "index: ",
    "telemetry:",
    "telecommands:",
    "type: ",
    "unit: ",
    "range: ",
    "period: ",
    "freshness: ",
    "on-change",
    "valid_when: ",
    "changes_state: ",
    "verify: ",
    "within: ",
    "until: ",
    "stages: ",
    "accepted: ",
    "started: ",
    "completed: ",
    "args: ",
    "requires: ",
    "hazardous: ",
    "default: ",
    "fixed: ",
    "description: ",
    "reports: ",
    "for_each: ",
    "when: ",
    "persists: ",
    "on_raise: ",
    "{int: 1..4}",
    "{enum: {A: 0}}",
    "bool",
    "float",
    "string",
    "duration",
    "time",
    "ccsds: ",
    "apid: ",
    "service: ",
    "subtype: ",
    "packets: ",
    "offset: ",
    "bits: ",
    "encoding: ",
    "endian: little",
    "calibration: ",
    "points: ",
    "polynomial: ",
    "stride: ",
    "mark: ",
    "{",
    "}",
    "[",
    "]",
    ": ",
    "- ",
    "&a ",
    "*a",
    "|\n",
    "\"mode is not SAFE\"",
    "null",
    ".nan",
    "9223372036854775807",
    "0x1F",
    "365 d",
    "degC",
    "\n  ",
    "\n    ",
    "---\n",
];

/// Tries one input.
///
/// # Panics
/// Where something does not hold.
pub fn holds(data: &[u8]) {
    let mut sources = Sources::default();
    let file = sources.add("a.yaml", data, Origin::Project);
    let (catalogue, found) = compile(&[file], &sources, &Options::default());
    told::holds(&found, &sources);
    let faulty = found.iter().any(|it| it.is_error());
    for platform in catalogue.compiled().platforms {
        tables(&platform, faulty);
        if let Ok(datagrams) = Datagrams::new(Arc::new(platform.clone())) {
            let utc: Instant = "2026-10-02T10:15:00Z".parse().expect("an instant");
            for datagram in super::link::some(&platform) {
                drop(datagrams.read(&datagram, None, utc));
            }
        }
    }
    if faulty {
        return;
    }
    let text: String = catalogue.compiled().platforms.iter().map(uses_all).collect();
    let file = |path: &str, bytes: &[u8]| File { path: path.to_owned(), bytes: bytes.to_vec(), came: Came::Named };
    let input = Input {
        files: vec![file("a.proc", text.as_bytes())],
        catalogue: vec![file("a.yaml", data)],
        ..Input::default()
    };
    sources::compiled(&Checked::new(&input));
}

fn tables(platform: &Platform, faulty: bool) {
    let Platform { components, parameters, telecommands, .. } = platform;
    assert!(parameters.is_sorted_by_key(|it| (it.component, it.name.clone())));
    assert!(telecommands.is_sorted_by_key(|it| (it.component, it.name.clone())));
    let within = |component: u32| usize::try_from(component).is_ok_and(|component| component < components.len());
    assert!(parameters.iter().all(|it| within(it.component)) && telecommands.iter().all(|it| within(it.component)));
    if faulty {
        return;
    }
    let index = |at: usize| u32::try_from(at).expect("a small table");
    for at in 0..parameters.len() {
        assert!(compare::parameter_hash(platform, index(at)).is_some(), "parameter {at} has no hash");
    }
    for at in 0..telecommands.len() {
        assert!(compare::telecommand_hash(platform, index(at)).is_some(), "telecommand {at} has no hash");
    }
}

/// A step that reads every parameter of a platform and one that sends every telecommand that needs no argument, as far
/// as their names can be written.
fn uses_all(platform: &Platform) -> String {
    let Platform { name, components, parameters, telecommands, .. } = platform;
    let path = |component: u32| {
        let of = &components[component as usize];
        let index = of.index.map_or(String::new(), |(least, _)| format!("[{least}]"));
        format!("sat.{}{index}", of.name)
    };
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("a text takes any line");
    line(format!("step \"read {name}\"\n  uses sat: {name}\n  wait 0 s"));
    for parameter in parameters {
        line(format!("  check {}.{} is known", path(parameter.component), parameter.name));
    }
    line(format!("step \"send {name}\"\n  uses sat: {name}\n  wait 0 s"));
    let plain = |it: &&stellar_vm::catalogue::Telecommand| {
        it.args.iter().all(|argument| argument.default.is_some() || argument.fixed.is_some())
    };
    for telecommand in telecommands.iter().filter(plain) {
        if telecommand.hazardous.is_some() {
            line("  ask \"?\" within 1 s".to_owned());
        }
        line(format!("  send {} to {}", telecommand.name, path(telecommand.component)));
    }
    line(format!(
        "procedure \"all {name}\"\n  uses sat: {name}\n  do \"read {name}\" with sat\n  do \"send {name}\" with sat"
    ));
    text
}
