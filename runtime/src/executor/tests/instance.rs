//! A whole process: opened on a folder, with a simulated target, ended, opened again.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use stellar_vm::{
    event::{Body, Fact, RunOutcome},
    time::Scale,
};

use super::{
    programs::{Build, ONCE, PING, S, catalogue, hour, standby},
    world::{START, request, wait_for},
};
use crate::{
    clock,
    executor::Ending,
    gateway::link::sim::{SimLink, SimOptions},
    instance::{ClockMode, Instance, InstanceError, LinkContext, OpenLink, RuntimeConfig, TargetConfig},
    ports::RunState,
};

fn sim() -> Option<OpenLink> {
    Some(Box::new(|context: LinkContext| {
        let LinkContext { platform, clock, record, .. } = context;
        let options = SimOptions { platform, clock, behaviours: None, seed: 1, record };
        SimLink::open(options).map(|link| Box::new(link) as _).map_err(|error| error.to_string())
    }))
}

fn config(store: &Path, platform: &str) -> RuntimeConfig {
    let target = TargetConfig { platform: Arc::from(platform), link: sim() };
    RuntimeConfig {
        store: store.to_owned(),
        instance: Arc::from("exec-a"),
        scale: Scale::Utc,
        targets: BTreeMap::from([(Arc::from("sim-1"), target)]),
        max_runs: 2,
    }
}

fn process<T>(store: &Path, after: i64, body: impl AsyncFnOnce(&Instance) -> T) -> T {
    let runtime = clock::virtual_runtime().unwrap();
    runtime.block_on(async {
        let mode = ClockMode::Virtual(Some(START.after(after)));
        let instance = Instance::open(config(store, "platform-v3"), catalogue(), mode).await.unwrap();
        body(&instance).await
    })
}

#[test]
fn a_run_against_the_simulated_target_passes_and_leaves_its_record() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("deep/store");
    process(&store, 0, async |instance| {
        let program = Build::procedure("Ping").step("ping", ONCE, |step| step.send(PING)).artifact();
        let handle = instance.start(request(program)).await.unwrap();
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
        let log = instance.log(handle.id()).await.unwrap();
        assert!(log[0].text.contains(r#""virtual_clock":true,"links":{"sim-1":"sim"}"#), "{}", log[0].text);
        let record = std::fs::read_to_string(store.join("links/sim-1.jsonl")).unwrap();
        assert!(!record.is_empty());
        let again = Instance::open(config(&store, "platform-v3"), catalogue(), ClockMode::Virtual(None)).await;
        assert!(matches!(again.err(), Some(InstanceError::Open(_))), "one process at a time");
    });
}

#[test]
fn a_platform_that_is_not_in_the_catalogue_is_named() {
    let folder = tempfile::tempdir().unwrap();
    clock::virtual_runtime().unwrap().block_on(async {
        let opened = Instance::open(config(folder.path(), "rover"), catalogue(), ClockMode::Virtual(None)).await;
        let error = opened.err().unwrap();
        assert_eq!(error.to_string(), "target `sim-1` is a `rover`, and the catalogue has no such platform");
    });
}

#[test]
fn what_a_process_left_is_taken_up() {
    let folder = tempfile::tempdir().unwrap();
    let run = process(folder.path(), 0, async |instance| {
        let handle = instance.start(request(hour())).await.unwrap();
        wait_for(&handle, |body| matches!(body, Body::Fact(Fact::Leases { .. }))).await;
        handle.id().clone()
    });
    process(folder.path(), 60 * S, async |instance| {
        assert!(instance.executor().leases().held().await.unwrap().is_empty(), "earlier leases are free at once");
        let taken = instance.take_up_all().await.unwrap();
        assert_eq!(taken.len(), 1);
        let handle = taken[0].1.as_ref().unwrap();
        assert_eq!(handle.id(), &run);
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
        assert_eq!(instance.record(&run).await.unwrap().unwrap().state, RunState::Ended);
        assert!(instance.take_up_all().await.unwrap().is_empty());
    });
}

/// The log has the run's end, its record does not: as where a process ends between the two.
#[test]
fn a_record_behind_its_log_is_mended_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let run = process(folder.path(), 0, async |instance| {
        let handle = instance.start(request(standby())).await.unwrap();
        assert_eq!(handle.ended().await, Some(Ending::Finished(RunOutcome::Passed)));
        let records = instance.executor().store().records.clone();
        let (mut record, revision) = records.get(handle.id()).await.unwrap().unwrap();
        (record.state, record.outcome) = (RunState::Running, None);
        records.update(handle.id(), record, revision).await.unwrap();
        handle.id().clone()
    });
    process(folder.path(), S, async |instance| {
        let record = instance.record(&run).await.unwrap().unwrap();
        assert_eq!((record.state, record.outcome), (RunState::Ended, Some(RunOutcome::Passed)));
    });
}

#[test]
fn no_more_runs_than_allowed_are_started() {
    let folder = tempfile::tempdir().unwrap();
    process(folder.path(), 0, async |instance| {
        let shared = || request(hour());
        let first = instance.start(shared()).await.unwrap();
        let _second = instance.start(shared()).await.unwrap();
        let error = instance.start(shared()).await.err().unwrap();
        assert_eq!(error.to_string(), "2 runs are under way, and `executor.max_runs` allows no more");
        assert!(!error.is_wrong_call());
        first.abort("os:ada", None).await.unwrap();
        first.ended().await;
        instance.start(shared()).await.unwrap();
    });
}
