//! An instance of the runtime in this process, over a mission's folder.
#![expect(clippy::expect_used, reason = "a harness fails its test at once")]

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use stellar_compiler::pipeline::{Came, Checked, File, Input};
use stellar_runtime::{
    gateway::link::{
        Link,
        sim::{SimLink, SimOptions},
    },
    instance::{ClockMode, Instance, LinkContext, OpenLink, RuntimeConfig, TargetConfig},
};
use stellar_vm::time::Scale;

use crate::mission::Mission;

/// Opens an instance in real time on the store of a mission, with the mission's catalogue, and its target of the crash
/// tests: `probe-1`, simulated.
pub async fn open(mission: &Mission) -> Instance {
    with_targets(mission, &[("probe-1", "probe")], ClockMode::Real).await
}

/// Opens an instance with these targets and platforms, each simulated after `sim.yaml`.
pub async fn with_targets(mission: &Mission, targets: &[(&str, &str)], mode: ClockMode) -> Instance {
    with_limit(mission, targets, mode, 100).await
}

/// Likewise, for so many runs at once.
pub async fn with_limit(mission: &Mission, targets: &[(&str, &str)], mode: ClockMode, max_runs: usize) -> Instance {
    let scenario = mission.path().join("sim.yaml");
    let target = |(name, platform): &(&str, &str)| {
        let scenario = scenario.clone();
        let link: OpenLink = Box::new(move |context: LinkContext| {
            let LinkContext { platform, clock, record, .. } = context;
            let options = SimOptions { platform, clock, behaviours: Some(scenario), seed: 1, record };
            SimLink::open(options).map(|link| Box::new(link) as Box<dyn Link>).map_err(|error| error.to_string())
        });
        (Arc::from(*name), TargetConfig { platform: Arc::from(*platform), link: Some(link) })
    };
    let config = RuntimeConfig {
        store: mission.path().join(".stellar"),
        instance: "test".into(),
        scale: Scale::Utc,
        targets: targets.iter().map(target).collect::<BTreeMap<_, _>>(),
        max_runs,
    };
    let catalogue = checked(mission, &[]).catalogue().compiled();
    Instance::open(config, catalogue, mode).await.expect("the instance opens")
}

/// The artifact of a mission's procedures.
#[must_use]
pub fn artifact(mission: &Mission, entries: &[&str]) -> Vec<u8> {
    let lowered = checked(mission, entries).lower().expect("the procedures compile");
    lowered.encode().expect("the program is not too large").into_bytes()
}

/// The mission's texts and the library's, compiled up to the findings.
#[must_use]
pub fn checked(mission: &Mission, entries: &[&str]) -> Checked {
    let standard = |file: &stellar_stdlib_procs::File| File {
        path: file.path.to_owned(),
        bytes: file.text.as_bytes().to_vec(),
        came: Came::Standard,
    };
    let mut input = Input {
        files: texts(&mission.path().join("procedures")),
        catalogue: texts(&mission.path().join("catalogue")),
        entries: entries.iter().map(|name| Arc::from(*name)).collect(),
        ..Input::default()
    };
    input.files.extend(stellar_stdlib_procs::PROCEDURES.iter().map(standard));
    input.catalogue.extend(stellar_stdlib_procs::CATALOGUES.iter().map(standard));
    Checked::new(&input)
}

fn texts(folder: &Path) -> Vec<File> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let file = |path: std::path::PathBuf| File {
        path: path.file_name().expect("a file has a name").to_string_lossy().into_owned(),
        bytes: fs::read(&path).expect("the file can be read"),
        came: Came::Named,
    };
    paths.map(file).collect()
}
