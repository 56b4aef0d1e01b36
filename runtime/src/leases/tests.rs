use stellar_vm::time::Scale;

use super::*;
use crate::embedded::{Embedded, no_hold};

const NOW: Instant = Instant { ns: 1_790_000_000_000_000_000, scale: Scale::Utc };

fn keeper(store: &Embedded, nonce: &str) -> LeaseKeeper {
    LeaseKeeper::new(store.store().leases, Owner { instance: Arc::from("exec-a"), nonce: Arc::from(nonce) })
}

fn wanted(run: &str, targets: &[&str], shared: bool) -> Wanted {
    let targets = targets.iter().copied().map(Arc::from).collect();
    Wanted { run: Arc::from(run), epoch: 1, targets, shared }
}

#[tokio::test]
async fn a_held_target_refuses_all_and_names_the_holder() {
    let folder = tempfile::tempdir().unwrap();
    let store = Embedded::open(folder.path(), "exec-a", no_hold()).unwrap();
    let keeper = keeper(&store, "n1");
    keeper.take(&wanted("R1", &["flatsat-1"], false), NOW).await.unwrap().unwrap();
    let refused = keeper.take(&wanted("R2", &["eps-1", "flatsat-1", "sim-1"], false), NOW).await.unwrap();
    assert_eq!(refused.unwrap_err().reason, "`flatsat-1` is held by run R1");
    let held: Vec<String> = keeper.held().await.unwrap().keys().map(ToString::to_string).collect();
    assert_eq!(held, ["flatsat-1"], "what was taken before the refusal is released");
    keeper.release("R2", &[Arc::from("flatsat-1")], NOW).await.unwrap();
    assert!(keeper.held().await.unwrap().contains_key("flatsat-1"), "only the holder releases");
    keeper.release("R1", &[Arc::from("flatsat-1")], NOW).await.unwrap();
    keeper.take(&wanted("R2", &["flatsat-1"], true), NOW).await.unwrap().unwrap();
}

#[tokio::test]
async fn runs_that_change_nothing_share() {
    let folder = tempfile::tempdir().unwrap();
    let store = Embedded::open(folder.path(), "exec-a", no_hold()).unwrap();
    let keeper = keeper(&store, "n1");
    let first = keeper.take(&wanted("R1", &["sim-1"], true), NOW).await.unwrap().unwrap();
    let second = keeper.take(&wanted("R2", &["sim-1"], true), NOW).await.unwrap().unwrap();
    assert_eq!(first, second, "who joins goes under the fence that stands");
    let refused = keeper.take(&wanted("R3", &["sim-1"], false), NOW).await.unwrap();
    assert_eq!(refused.unwrap_err().reason, "`sim-1` is held by runs R1, R2");
    keeper.release("R1", &[Arc::from("sim-1")], NOW).await.unwrap();
    let refused = keeper.take(&wanted("R3", &["sim-1"], false), NOW).await.unwrap();
    assert_eq!(refused.unwrap_err().reason, "`sim-1` is held by run R2");
    keeper.release("R2", &[Arc::from("sim-1")], NOW).await.unwrap();
    let third = keeper.take(&wanted("R3", &["sim-1"], false), NOW).await.unwrap().unwrap();
    assert!(third > first, "a new holder raises the fence");
    let refused = keeper.take(&wanted("R4", &["sim-1"], true), NOW).await.unwrap();
    assert!(refused.is_err(), "who shares does not join who does not");
}

#[tokio::test]
async fn what_an_earlier_instance_left_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let store = Embedded::open(folder.path(), "exec-a", no_hold()).unwrap();
    let before = keeper(&store, "n1").take(&wanted("R1", &["sim-1"], false), NOW).await.unwrap().unwrap();
    let after = keeper(&store, "n2");
    assert!(after.held().await.unwrap().is_empty());
    let taken = after.take(&wanted("R2", &["sim-1"], false), NOW).await.unwrap().unwrap();
    assert!(taken > before);
}

#[tokio::test]
async fn the_record_is_as_documented() {
    let folder = tempfile::tempdir().unwrap();
    let store = Embedded::open(folder.path(), "exec-a", no_hold()).unwrap();
    let keeper = keeper(&store, "n1");
    keeper.take(&wanted("R1", &["sim-1"], true), NOW).await.unwrap().unwrap();
    let json = serde_json::to_string(&keeper.held().await.unwrap()).unwrap();
    assert_eq!(
        json,
        r#"{"sim-1":{"runs":["R1"],"shared":true,"renewed_at":"2026-09-21T14:13:20.000000000Z","fence":1,"epoch":1,"instance":"exec-a","nonce":"n1","members":{"R1":{"n":0,"epoch":1,"instance":"exec-a"}}}}"#
    );
}
