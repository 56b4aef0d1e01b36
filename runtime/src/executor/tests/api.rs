//! A run looked at and answered over the socket, in real time.

use serde_json::json;
use stellar_vm::time::Scale;

use super::{
    programs::question,
    world::{World, plain, question_of, willing},
};
use crate::{
    api::{client::Client, serve},
    clock::Clock,
};

#[tokio::test]
async fn a_run_is_followed_and_answered_over_the_socket() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::on(folder.path(), Clock::real(Scale::Utc).unwrap(), willing(), plain).await;
    let _served = serve(folder.path(), world.executor.clone()).unwrap();
    let client = Client::of(folder.path());
    let handle = world.start(question()).await;
    let run = handle.id().to_string();
    let asked = question_of(&handle).await;

    let one = client.get(&format!("/v1/runs/{run}")).await.unwrap();
    assert_eq!((&one["state"], &one["under_way"]), (&json!("running"), &json!(true)));
    assert_eq!(one["view"]["strands"][0]["doing"]["question"], json!(asked));
    let held = client.get("/v1/topology").await.unwrap();
    let sim = held["targets"].as_array().unwrap().iter().find(|row| row["target"] == "sim-1").unwrap();
    assert_eq!(sim["lease"]["runs"], json!([run]));

    let mut events = client.events(&run, 3).await.unwrap();
    let first = events.next().await.unwrap().unwrap();
    assert_eq!(first.seq, 3, "`Last-Event-ID` is where to go on from");
    let body = json!({"question": "01K6A3D3Y4Q8K1P9W2N6R5T7XZ", "value": "yes", "by": "os:ada"});
    let path = format!("/v1/runs/{run}/answer");
    let wrong = client.post(&path, None, &body).await.unwrap_err();
    assert_eq!(wrong.code(), "run::not-pending");
    let body = json!({"question": asked, "value": "yes", "by": "os:ada"});
    let (status, told) = client.post(&path, Some("k"), &body).await.unwrap();
    assert_eq!((status, &told["event"]["type"], &told["repeated"]), (200, &json!("answered"), &json!(false)));
    let (_, again) = client.post(&path, Some("k"), &body).await.unwrap();
    assert_eq!((&again["ctl"], &again["repeated"]), (&told["ctl"], &json!(true)));
    let mut last = first;
    while let Some(line) = events.next().await.unwrap() {
        assert_eq!(line.seq, last.seq + 1);
        last = line;
    }
    assert!(last.text.contains("run_finished"), "the stream ends with the run: {}", last.text);
    let body = json!({"by": "os:ada"});
    let late = client.post(&format!("/v1/runs/{run}/abort"), None, &body).await.unwrap_err();
    assert_eq!(late.code(), "run::ended");
}
