//! The property: one seed's program, compiled, in one seed's world.

use std::{collections::BTreeMap, fmt::Write, rc::Rc, sync::Arc};

use serde_json::Value as Json;
use stellar_compiler::pipeline::{Came, Checked, File, Input};
use stellar_vm::{
    artifact,
    machine::replay,
    program::{Defaults, Policy as VmPolicy},
    verify::{Verified, verify},
};

use super::{
    catalogue::{DEFAULT_FRESHNESS, DEFAULT_WINDOW, yaml},
    driver::{Side, drive},
    figures::{self, Figures},
    generate,
    machine_side::MachineSide,
    model::{FILE, Program},
    print::print,
    reference::Reference,
    rng::Rng,
    world::{START, World},
};

/// Events after which a run is not followed any further.
const LIMIT: u64 = 1_500;

/// What came of a seed.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// What went wrong, in words; empty where machine and reference agree.
    pub faults: Vec<String>,
    /// What was reached, for the histogram.
    pub tally: BTreeMap<String, u64>,
    /// Events of the run.
    pub events: u64,
    /// Program, catalogue and both logs, for whoever looks.
    pub story: String,
}

fn compile(program: &Program, text: &str) -> Result<Arc<Verified>, String> {
    let file = |path: &str, text: &str| File { path: path.to_owned(), bytes: text.into(), came: Came::Named };
    let retry = program.default_retry.map(|it| VmPolicy { times: it.times, every: it.every, total: it.total });
    let input = Input {
        files: vec![file(FILE, text)],
        catalogue: vec![file("catalogue/craft.yaml", &yaml(&program.catalogue))],
        defaults: Defaults { retry, window: DEFAULT_WINDOW, freshness: DEFAULT_FRESHNESS },
        ..Input::default()
    };
    let checked = Checked::new(&input);
    let Some(lowered) = checked.lower() else {
        let errors = checked.diagnostics().iter().filter(|it| it.is_error());
        return Err(errors.map(|it| format!("{it:?}")).collect::<Vec<_>>().join("\n"));
    };
    let bytes = lowered.encode().map_err(|error| error.to_string())?.into_bytes();
    let decoded = artifact::decode(&bytes).map_err(|error| error.to_string())?;
    verify(decoded).map(Arc::new).map_err(|error| error.to_string())
}

/// The program of a seed: the first one within the limits of the language.
fn program(seed: u64) -> (Program, Figures) {
    for attempt in 0.. {
        let program = generate::program(&mut Rng::new(&[seed, 0, attempt]));
        if let Some(figures) = Figures::of(&program) {
            return (program, figures);
        }
    }
    unreachable!("some program is within the limits")
}

/// Runs one seed; `show` keeps the whole story.
#[must_use]
pub fn check(seed: u64, show: bool) -> Report {
    let (mut program, figures) = program(seed);
    let text = print(&mut program);
    let mut report = Report::default();
    let verified = match compile(&program, &text) {
        Ok(verified) => verified,
        Err(why) => {
            report.faults.push(format!("the compiler refuses the program: {why}"));
            report.story = format!("{text}\n{}", yaml(&program.catalogue));
            return report;
        }
    };
    report.faults.extend(figures::differences(&program, &figures, &verified));
    let (program, figures) = (Rc::new(program), Rc::new(figures));
    let world = World::new(seed, &program.catalogue);
    let told = world.told();
    let mut machine = MachineSide::new(&program, &verified);
    drive(&mut machine, world.clone(), LIMIT);
    let mut reference = Reference::new(&program, &figures);
    drive(&mut reference, world, LIMIT);
    report.tally = reference.tally();
    report.faults.extend(machine.complaints.iter().cloned());
    let logged: Vec<Json> = machine.lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    report.events = logged.len() as u64;
    let expected = reference.log();
    let first = (0..logged.len().max(expected.len())).find(|at| logged.get(*at) != expected.get(*at));
    if let Some(at) = first {
        report.faults.push(format!("the logs differ from event {} on", at + 1));
    } else {
        bound(&machine, &reference, &program, &figures, &mut report.faults);
        if let Err(error) = replay(Arc::clone(&verified), machine.lines.iter().map(String::as_str)) {
            report.faults.push(format!("the log does not replay: {error}"));
        }
    }
    if show || !report.faults.is_empty() {
        report.story = format!("seed {seed}\n{}", story(&text, &program, &told, first, &logged, &expected));
    }
    report
}

/// A run lasts no longer than its bound and what was added to it.
fn bound(
    machine: &MachineSide<'_>,
    reference: &Reference,
    program: &Program,
    figures: &Figures,
    faults: &mut Vec<String>,
) {
    let view = machine.machine.view();
    let max = figures.defs[program.entry].0.max;
    let added = reference.added();
    if (view.bound_ns, view.added_ns) != (max, added) {
        faults.push(format!(
            "bound and what is added: computed {max} and {added}, the machine says {} and {}",
            view.bound_ns, view.added_ns
        ));
    }
    if machine.ended() {
        let lasted = machine.machine.now().ns - START;
        if lasted > max + added {
            faults.push(format!("the run lasted {lasted}, its bound is {max} and {added} more"));
        }
    }
}

fn story(
    text: &str,
    program: &Program,
    world: &str,
    first: Option<usize>,
    logged: &[Json],
    expected: &[Json],
) -> String {
    let mut story = String::new();
    for (at, line) in text.lines().enumerate() {
        writeln!(story, "{:4} {line}", at + 1).unwrap();
    }
    writeln!(
        story,
        "\n{}\ninputs {:?}\ndefault {:?}\n{world}",
        yaml(&program.catalogue),
        program.inputs,
        program.default_retry
    )
    .unwrap();
    let (from, to) = match first {
        Some(at) => (at.saturating_sub(25), at + 4),
        None => (0, usize::MAX),
    };
    for (at, line) in logged.iter().enumerate().take(to).skip(from) {
        let same = expected.get(at) == Some(line);
        writeln!(story, "{} {line}", if same { "  both   " } else { "  machine" }).unwrap();
        if !same && let Some(line) = expected.get(at) {
            writeln!(story, "  REFERENCE {line}").unwrap();
        }
    }
    if let Some(at) = first.filter(|at| *at >= logged.len()) {
        writeln!(story, "  the machine's log ends; REFERENCE {}", expected[at]).unwrap();
    }
    story
}
