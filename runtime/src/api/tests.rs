use std::{collections::BTreeMap, path::Path, sync::Arc};

use serde_json::{Value, json};

use super::{client::Client, *};
use crate::{
    clock::Clock,
    embedded::{Embedded, no_hold},
    executor::Setup,
    leases::Owner,
};

fn empty(folder: &Path) -> (Embedded, Executor) {
    let store = Embedded::open(folder, "exec-a", no_hold()).unwrap();
    let executor = Executor::new(Setup {
        store: store.store(),
        clock: Clock::real(stellar_vm::time::Scale::Utc).unwrap(),
        catalogue: Arc::default(),
        targets: BTreeMap::new(),
        owner: Owner { instance: Arc::from("exec-a"), nonce: Arc::from("n") },
        max_runs: 1,
    });
    (store, executor)
}

#[tokio::test]
async fn it_serves_this_user_alone_and_errors_have_codes() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let client = Client::of(folder.path());
    assert_eq!(client.get("/v1/runs").await.unwrap_err().code(), "api::nobody-there");
    let (_store, executor) = empty(folder.path());
    let served = serve(folder.path(), executor).unwrap();
    assert_eq!(std::fs::metadata(served.path()).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(client.get("/v1/runs").await.unwrap(), json!({"schema": 1, "runs": []}));
    assert_eq!(client.get("/v1/topology").await.unwrap(), json!({"schema": 1, "targets": []}));
    assert_eq!(client.get("/v1/telemetry").await.unwrap(), json!({"schema": 1, "samples": []}));
    let codes: Vec<(&str, Option<Value>, &str)> = vec![
        ("/v1/runs/X", None, "run::unknown"),
        ("/v1/nowhere", None, "api::unknown-path"),
        ("/v1/telemetry?target=x", None, "target::unknown"),
        ("/v1/telemetry?tarjet=x", None, "api::bad-query"),
        ("/v1/runs/%ff/events", None, "api::unknown-path"),
        ("/v1/runs/%ff/abort", Some(json!({"by": "os:ada"})), "api::unknown-path"),
        ("/v1/runs", Some(json!({})), "api::method"),
        ("/v1/runs/X/abort", Some(json!({"by": "os:ada"})), "run::unknown"),
        ("/v1/runs/X/resume", Some(json!({"by": "os:ada"})), "run::unknown"),
        ("/v1/runs/X/answer", Some(json!({"by": "os:ada"})), "api::bad-body"),
        ("/v1/runs/X/abort", Some(json!({"by": "os:ada", "force": true})), "api::bad-body"),
    ];
    for (path, sent, code) in codes {
        let error = match sent {
            None => client.get(path).await.unwrap_err(),
            Some(sent) => client.post(path, Some("k"), &sent).await.unwrap_err(),
        };
        assert_eq!(error.code(), code, "{path}: {error}");
    }
    assert_eq!(client.events("X", 1).await.err().unwrap().code(), "run::unknown");
    let path = served.path().to_owned();
    drop(served);
    assert!(!path.exists());
    assert_eq!(client.get("/v1/runs").await.unwrap_err().code(), "api::nobody-there");
}

#[tokio::test]
async fn a_long_path_is_no_hindrance() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("d".repeat(120));
    std::fs::create_dir(&deep).unwrap();
    let (_store, executor) = empty(&deep);
    let _served = serve(&deep, executor).unwrap();
    assert_eq!(Client::of(&deep).get("/v1/runs").await.unwrap(), json!({"schema": 1, "runs": []}));
}
