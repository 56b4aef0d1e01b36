//! Requests to the local API.
//!
//! The input is a row of requests, told apart by the control character RS, which reach the router over a run that waits
//! for an answer, in virtual time. Every answer has a status and, where it is a refusal, a problem with a code; and
//! whatever was asked, the log of the run replays.

use std::sync::{Arc, LazyLock};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderName, HeaderValue, Method, Request, StatusCode, Uri},
};
use serde_json::Value;
use stellar_compiler::pipeline::{Came, Checked, File, Input};
use stellar_runtime::{
    api::router,
    clock::{Clock, Phase, virtual_runtime},
    executor::{RunHandle, StartRequest},
    gateway::link::{
        Link,
        sim::{SimLink, SimOptions},
    },
    instance::{ClockMode, Instance, LinkContext, OpenLink, RuntimeConfig, TargetConfig},
};
use stellar_vm::{
    artifact,
    catalogue::Catalogue,
    machine::Replay,
    time::Scale,
    verify::{Verified, verify},
};
use tower::ServiceExt;

/// Words of requests.
pub const WORDS: &[&str] = &[
    "GET ",
    "POST ",
    "DELETE ",
    "/v1/runs",
    "/v1/runs/$RUN",
    "/events",
    "/answer",
    "/decide",
    "/suspend",
    "/resume",
    "/abort",
    "/v1/artifacts/",
    "/v1/topology",
    "/v1/telemetry",
    "?target=",
    "/healthz",
    "content-type: application/json\n",
    "idempotency-key: ",
    "last-event-id: ",
    "\n\n",
    "\u{1e}",
    "{\"by\": \"os:ada\"}",
    "\"question\": \"$0\"",
    "\"decision\": \"$0\"",
    "\"value\": \"yes\"",
    "\"value\": \"no\"",
    "\"option\": \"",
    "replay",
    "skip",
    "abort",
    "fail",
    "recheck",
    "\"by\": ",
    "%00",
    "%ff",
    "..",
    "\\ud800",
    "18446744073709551615",
    "null",
    "[",
    "]",
    "{",
    "}",
];

/// More requests than these of one input are not made.
const REQUESTS: usize = 20;
const ANSWER: usize = 16 << 20;

const PROCEDURE: &str = r#"
procedure "Ask"
  uses sat: platform-v3
  step "Heat"
    ask "heat?" within 5 s
    send standby to sat.tcu[1]
    expect sat.tcu[1].mode is SAFE within 5 s
  wait 1 s
  on failure
    ask "noted?" of "A", "B" within 5 s
"#;

static PROGRAM: LazyLock<(Vec<u8>, Catalogue, Arc<Verified>)> = LazyLock::new(|| {
    let standard = |file: &stellar_stdlib_procs::File| File {
        path: file.path.to_owned(),
        bytes: file.text.as_bytes().to_vec(),
        came: Came::Standard,
    };
    let mut files = super::sources::standard();
    files.push(File { path: "ask.proc".to_owned(), bytes: PROCEDURE.as_bytes().to_vec(), came: Came::Named });
    let catalogue = stellar_stdlib_procs::CATALOGUES.iter().map(standard).collect();
    let checked = Checked::new(&Input { files, catalogue, ..Input::default() });
    let lowered = checked.lower().unwrap_or_else(|| panic!("{:?}", checked.diagnostics()));
    let bytes = lowered.encode().expect("it is small").into_bytes();
    let program = artifact::decode(&bytes).expect("what was written is read");
    (bytes, checked.catalogue().compiled(), Arc::new(verify(program).expect("it is verified")))
});

/// Tries one input.
///
/// # Panics
/// Where something does not hold.
pub fn holds(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    virtual_runtime().expect("a runtime").block_on(async {
        let instance = open(folder.path()).await;
        let request = StartRequest {
            artifact: PROGRAM.0.clone(),
            procedure: "Ask".to_owned(),
            targets: [("sat".into(), "sim-1".into())].into(),
            inputs: [].into(),
            by: "os:test".to_owned(),
        };
        let handle = instance.start(request).await.expect("it starts");
        let app = App { router: router(instance.executor().clone()), clock: instance.clock().clone() };
        for part in data.split(|byte| *byte == 0x1e).take(REQUESTS) {
            let text = String::from_utf8_lossy(part).replace("$RUN", handle.id());
            let text =
                if text.contains("$0") { text.replace("$0", &waited_for(&app, handle.id()).await) } else { text };
            if let Some(request) = request_of(&text) {
                answered(&app, request, &text).await;
            }
        }
        replays(&app, &handle).await;
        instance.close().await;
    });
}

async fn open(folder: &std::path::Path) -> Instance {
    let link: OpenLink = Box::new(|LinkContext { platform, clock, record, .. }| {
        let options = SimOptions { platform, clock, behaviours: None, seed: 1, record };
        SimLink::open(options).map(|link| Box::new(link) as Box<dyn Link>).map_err(|error| error.to_string())
    });
    let target = TargetConfig { platform: "platform-v3".into(), link: Some(link) };
    let settings = RuntimeConfig {
        store: folder.join(".stellar"),
        instance: "test".into(),
        scale: Scale::Utc,
        targets: [("sim-1".into(), target)].into(),
        max_runs: 10,
    };
    let mode = ClockMode::Virtual(Some("2026-10-02T10:00:00Z".parse().expect("an instant")));
    Instance::open(settings, PROGRAM.1.clone(), mode).await.expect("it opens")
}

/// The router, with the clock of its process.
struct App {
    router: Router,
    clock: Clock,
}

impl App {
    /// Does something, unless nothing more comes of it for so many nanoseconds.
    async fn within<T>(&self, ns: i64, work: impl Future<Output = T>) -> Option<T> {
        let limit = self.clock.sleep_until(self.clock.now().after(ns), Phase::Run);
        tokio::select! {
            biased;
            done = work => Some(done),
            () = limit => None,
        }
    }
}

/// `METHOD PATH`, headers, an empty line, the body; `None` where HTTP itself would not take it.
fn request_of(text: &str) -> Option<Request<Body>> {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut lines = head.lines();
    let (method, path) = lines.next()?.split_once(' ')?;
    let mut request = Request::new(Body::from(body.to_owned()));
    *request.method_mut() = method.parse::<Method>().ok()?;
    *request.uri_mut() = path.parse::<Uri>().ok().filter(|uri| uri.path().starts_with('/'))?;
    for line in lines {
        let Some((name, value)) = line.split_once(':') else { continue };
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.trim().parse::<HeaderValue>()) {
            request.headers_mut().append(name, value);
        }
    }
    Some(request)
}

async fn asked(app: &App, request: Request<Body>) -> (StatusCode, String, Vec<u8>) {
    let response = app.router.clone().oneshot(request).await.expect("a router always answers");
    let kind =
        response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_owned();
    let status = response.status();
    // The events of a run that waits come as long as it does.
    let body = app.within(1_000_000_000, to_bytes(response.into_body(), ANSWER)).await;
    let body = body.map(|body| body.expect("an answer comes to its end")).unwrap_or_default();
    (status, kind, body.to_vec())
}

async fn answered(app: &App, request: Request<Body>, text: &str) {
    let head = *request.method() == Method::HEAD;
    let (status, kind, body) = asked(app, request).await;
    assert!(!status.is_server_error(), "{status} to {text:?}: {}", String::from_utf8_lossy(&body));
    if status.is_success() || head {
        return;
    }
    assert_eq!(kind, "application/problem+json", "{status} to {text:?}");
    let problem: Value =
        serde_json::from_slice(&body).unwrap_or_else(|error| panic!("{error} in the answer to {text:?}"));
    let code = problem["code"].as_str().unwrap_or_default();
    assert!(code.contains("::") && problem["title"].as_str().is_some_and(|title| !title.is_empty()), "{problem}");
    assert_eq!(problem["status"].as_u64(), Some(u64::from(status.as_u16())), "{problem}");
}

/// The name of what the run waits for: of a question or of a decision.
async fn waited_for(app: &App, run: &str) -> String {
    let request = Request::get(format!("/v1/runs/{run}")).body(Body::empty()).expect("a request");
    let (_, _, body) = asked(app, request).await;
    let told: Value = serde_json::from_slice(&body).unwrap_or_default();
    let doing = &told["view"]["strands"][0]["doing"];
    let name = doing["question"].as_str().or(doing["decision"].as_str());
    name.unwrap_or("01K6A3D3Y4Q8K1P9W2N6R5T7XZ").to_owned()
}

/// The log as it stands replays; nothing waits for its end.
async fn replays(app: &App, handle: &RunHandle) {
    let request = Request::get(format!("/v1/runs/{}", handle.id())).body(Body::empty()).expect("a request");
    let (status, _, body) = asked(app, request).await;
    assert_eq!(status, StatusCode::OK, "the run is there");
    let told: Value = serde_json::from_slice(&body).expect("JSON");
    assert!(told["state"].is_string(), "{told}");
    let mut replay = Replay::new(Arc::clone(&PROGRAM.2));
    let mut lines = handle.events(1);
    while let Some(line) = app.within(1, lines.next()).await {
        let Some(line) = line.expect("the log reads") else { break };
        replay.line(&line.text).unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(replay.machine().seq() >= 2, "the log is there");
}
