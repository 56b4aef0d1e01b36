//! Two runs in one process: a target is held by one that may change its state, and shared by those that only read.

#![cfg(test)]

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use stellar_runtime::{
    clock::virtual_runtime,
    executor::{Ending, RunHandle, StartRequest},
    instance::{ClockMode, Instance},
};
use stellar_tests::{instance, mission::Mission, proof};
use stellar_vm::event::RunOutcome;

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");

const PROCEDURES: &str = r#"
procedure "Reads"
  uses sat: platform-v3
  step "Ping"
    send ping to sat.tcu[2]
  wait 10 s

procedure "Changes"
  uses sat: platform-v3
  wait 10 s
  step "To standby"
    send standby to sat.tcu[2]

procedure "Changes two"
  uses one: platform-v3
  uses two: platform-v3
  step "To standby"
    send standby to one.tcu[1]
    send standby to two.tcu[1]
"#;

fn request(artifact: &[u8], procedure: &str, targets: &[(&str, &str)]) -> StartRequest {
    StartRequest {
        artifact: artifact.to_vec(),
        procedure: procedure.to_owned(),
        targets: targets.iter().map(|(name, target)| (Arc::from(*name), Arc::from(*target))).collect(),
        inputs: BTreeMap::new(),
        by: "os:test".to_owned(),
    }
}

async fn passed(run: &RunHandle) {
    let ending = run.ended().await;
    assert!(matches!(ending, Some(Ending::Finished(RunOutcome::Passed))), "{ending:?}");
}

/// The log of a run that has ended.
async fn log(instance: &Instance, run: &RunHandle) -> Vec<Value> {
    let lines = instance.log(run.id()).await.unwrap();
    lines.iter().map(|line| serde_json::from_str(&line.text).unwrap()).collect()
}

/// What the work gives on an instance with two targets, in virtual time; every log of it is proved then.
fn with_two_targets(work: impl AsyncFnOnce(&Instance, &[u8])) {
    let mission = Mission::simulated(STELLAR, PROCEDURES, "{}\n");
    let artifact = instance::artifact(&mission, &[]);
    virtual_runtime().unwrap().block_on(async {
        let targets = [("sim-1", "platform-v3"), ("sim-2", "platform-v3")];
        let instance = instance::with_targets(&mission, &targets, ClockMode::Virtual(None)).await;
        work(&instance, &artifact).await;
        instance.close().await;
    });
    proof::all(&mission);
}

#[test]
fn a_second_run_that_changes_the_state_is_refused_naming_the_holder() {
    with_two_targets(async |instance, artifact| {
        let first = instance.start(request(artifact, "Changes", &[("sat", "sim-1")])).await.unwrap();
        first.events(2).next().await.unwrap().expect("it has its leases");
        for (procedure, targets) in [
            ("Changes", &[("sat", "sim-1")][..]),
            ("Reads", &[("sat", "sim-1")]),
            ("Changes two", &[("one", "sim-2"), ("two", "sim-1")]),
        ] {
            let second = instance.start(request(artifact, procedure, targets)).await.unwrap();
            let ending = second.ended().await;
            assert!(matches!(ending, Some(Ending::Finished(RunOutcome::Failed))), "{procedure}: {ending:?}");
            let log = log(instance, &second).await;
            let kinds: Vec<&str> = log.iter().map(|event| event["type"].as_str().unwrap()).collect();
            assert_eq!(kinds, ["run_started", "leases", "run_finished"], "nothing was sent");
            let reason = format!("`sim-1` is held by run {}", first.id());
            assert_eq!(log[2]["reason"], reason, "{procedure}");
            assert_eq!(log[1]["refused"]["reason"], reason);
            let record = instance.record(second.id()).await.unwrap().unwrap();
            assert_eq!(record.reason.as_deref(), Some(reason.as_str()));
        }
        // The refused run over two targets kept neither of them.
        let other = instance.start(request(artifact, "Changes", &[("sat", "sim-2")])).await.unwrap();
        passed(&first).await;
        passed(&other).await;
        let again = instance.start(request(artifact, "Changes", &[("sat", "sim-1")])).await.unwrap();
        passed(&again).await;
    });
}

#[test]
fn runs_that_only_read_share_a_target() {
    with_two_targets(async |instance, artifact| {
        let first = instance.start(request(artifact, "Reads", &[("sat", "sim-1")])).await.unwrap();
        first.events(2).next().await.unwrap().expect("it has its leases");
        let second = instance.start(request(artifact, "Reads", &[("sat", "sim-1")])).await.unwrap();
        second.events(2).next().await.unwrap().expect("it has its leases");
        for run in [&first, &second] {
            let log = log(instance, run).await;
            assert_eq!(log[1]["shared"], true, "{log:#?}");
        }
        let third = instance.start(request(artifact, "Changes", &[("sat", "sim-1")])).await.unwrap();
        let ending = third.ended().await;
        assert!(matches!(ending, Some(Ending::Finished(RunOutcome::Failed))), "{ending:?}");
        let reason = log(instance, &third).await[2]["reason"].as_str().unwrap().to_owned();
        assert!(reason.starts_with("`sim-1` is held by run"), "{reason}");
        assert!([&first, &second].iter().all(|run| reason.contains(&**run.id())), "{reason}");
        passed(&first).await;
        passed(&second).await;
    });
}

#[test]
fn one_target_for_two_names_is_refused() {
    with_two_targets(async |instance, artifact| {
        let twice = instance.start(request(artifact, "Changes two", &[("one", "sim-1"), ("two", "sim-1")])).await;
        let error = twice.err().expect("one target stands for one name");
        assert!(error.is_wrong_call() && error.to_string().contains("sim-1"), "{error}");
        // A run, so that there is a log to prove.
        let run =
            instance.start(request(artifact, "Changes two", &[("one", "sim-1"), ("two", "sim-2")])).await.unwrap();
        passed(&run).await;
    });
}
