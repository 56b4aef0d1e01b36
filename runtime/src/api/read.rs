//! What can be looked at: runs, their events, targets, telemetry. Looking locks nothing.

use std::{convert::Infallible, sync::Arc};

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderName, header},
    response::sse::{Event, Sse},
};
use futures_util::{Stream, stream};
use serde::{Deserialize, Serialize};
use stellar_vm::machine::View;

use super::{
    Problem, SCHEMA,
    asked::{Asked, Name},
};
use crate::{
    executor::Executor,
    journal::Follower,
    ports::{LeaseRecord, RunRecord, Sample},
};

/// A run in a list.
#[derive(Serialize)]
pub(super) struct RunRow {
    run: Arc<str>,
    /// Whether its task is under way in this process.
    under_way: bool,
    #[serde(flatten)]
    record: RunRecord,
}

#[derive(Serialize)]
pub(super) struct Runs {
    schema: u32,
    runs: Vec<RunRow>,
}

pub(super) async fn runs(State(executor): State<Executor>) -> Result<Json<Runs>, Problem> {
    let all = executor.runs().await?.into_iter();
    let rows = all.map(|(run, record)| RunRow { under_way: executor.is_under_way(&run), run, record });
    Ok(Json(Runs { schema: SCHEMA, runs: rows.collect() }))
}

#[derive(Serialize)]
pub(super) struct OneRun {
    schema: u32,
    #[serde(flatten)]
    row: RunRow,
    /// How its machine stands, where it is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<View>,
}

pub(super) async fn run(State(executor): State<Executor>, Name(run): Name) -> Result<Json<OneRun>, Problem> {
    let Some(handle) = executor.handle(&run).await? else { return Err(Problem::unknown_run(&run)) };
    let Some(record) = handle.record().await? else { return Err(Problem::unknown_run(&run)) };
    let view = handle.view().await;
    let row = RunRow { run: handle.id().clone(), under_way: executor.is_under_way(&run), record };
    Ok(Json(OneRun { schema: SCHEMA, row, view }))
}

/// Events of a run as server-sent events, the number of each as its id; from the one behind `Last-Event-ID` on.
pub(super) async fn events(
    State(executor): State<Executor>,
    Name(run): Name,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let last = match headers.get("last-event-id") {
        None => 0,
        Some(last) => last
            .to_str()
            .ok()
            .and_then(|last| last.parse::<u64>().ok())
            .ok_or_else(|| Problem::new(400, "api::last-event-id", "`Last-Event-ID` is no number of an event"))?,
    };
    let Some(handle) = executor.handle(&run).await? else { return Err(Problem::unknown_run(&run)) };
    Ok(Sse::new(stream::unfold(Some(handle.events(last.saturating_add(1))), one_event)))
}

async fn one_event(follower: Option<Follower>) -> Option<(Result<Event, Infallible>, Option<Follower>)> {
    let mut follower = follower?;
    match follower.next().await {
        Ok(Some(line)) => {
            let event = Event::default().id(line.seq.to_string()).data(line.text.as_ref());
            Some((Ok(event), Some(follower)))
        }
        Ok(None) => None,
        Err(error) => {
            let problem = Problem::from(error);
            let text = serde_json::to_string(&problem).unwrap_or_default();
            Some((Ok(Event::default().event("problem").data(text)), None))
        }
    }
}

/// The bytes of an artifact, by its hash.
pub(super) async fn artifact(
    State(executor): State<Executor>,
    Name(hash): Name,
) -> Result<([(HeaderName, &'static str); 1], Vec<u8>), Problem> {
    match executor.store().artifacts.get(&hash).await? {
        Some(bytes) => Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes)),
        None => Err(Problem::new(404, "store::unknown-artifact", format!("there is no artifact {hash}"))),
    }
}

/// A target, with who holds it.
#[derive(Serialize)]
pub(super) struct TargetRow {
    target: Arc<str>,
    platform: Arc<str>,
    /// How it is linked; none where the configuration gives it no link.
    link: Option<&'static str>,
    /// Its lease, where a run holds it.
    lease: Option<LeaseRecord>,
}

#[derive(Serialize)]
pub(super) struct Topology {
    schema: u32,
    targets: Vec<TargetRow>,
}

pub(super) async fn topology(State(executor): State<Executor>) -> Result<Json<Topology>, Problem> {
    let mut held = executor.leases().held().await?;
    let rows = executor.targets().iter().map(|(name, target)| TargetRow {
        target: name.clone(),
        platform: target.platform.clone(),
        link: target.gateway.as_ref().map(|gateway| gateway.kind()),
        lease: held.remove(name),
    });
    let targets = rows.collect();
    Ok(Json(Topology { schema: SCHEMA, targets }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    target: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Telemetry {
    schema: u32,
    samples: Vec<Sample>,
}

/// The last sample of each parameter, of one target or of all.
pub(super) async fn telemetry(
    State(executor): State<Executor>,
    Asked(which): Asked<Which>,
) -> Result<Json<Telemetry>, Problem> {
    let mut samples = Vec::new();
    let names = executor.targets().keys().filter(|name| which.target.as_deref().is_none_or(|only| *only == ***name));
    let mut found = false;
    for name in names {
        found = true;
        samples.extend(executor.store().archive.latest(name).await?);
    }
    match which.target {
        Some(target) if !found => {
            Err(Problem::new(404, "target::unknown", format!("there is no target `{target}` in the configuration")))
        }
        _ => Ok(Json(Telemetry { schema: SCHEMA, samples })),
    }
}
