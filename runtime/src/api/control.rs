//! What an operator sends to a run.

use axum::{
    Json,
    extract::{State, rejection::JsonRejection},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use stellar_vm::event::DecisionOption;

use super::{Problem, SCHEMA, asked::Name};
use crate::{
    executor::{ControlReply, Executor},
    ports::ControlAction,
};

type Body<T> = Result<Json<T>, JsonRejection>;

/// Body of `answer`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    question: String,
    value: String,
    by: String,
}

/// Body of `decide`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Decide {
    decision: String,
    option: DecisionOption,
    by: String,
}

/// Body of `suspend`, `resume` and `abort`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct By {
    by: String,
}

/// What became of a message.
#[derive(Serialize)]
struct Told {
    schema: u32,
    run: String,
    ctl: u64,
    /// The event that it became; missing where nobody has applied it yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<Box<RawValue>>,
    /// Whether it had been sent before.
    repeated: bool,
    /// Where to look for what becomes of it.
    events: String,
}

fn body<T>(body: Body<T>) -> Result<T, Problem> {
    match body {
        Ok(Json(body)) => Ok(body),
        Err(rejection) => Err(Problem::new(rejection.status().as_u16(), "api::bad-body", rejection.body_text())),
    }
}

pub(super) async fn answer(
    State(executor): State<Executor>,
    Name(run): Name,
    headers: HeaderMap,
    sent: Body<Answer>,
) -> Result<Response, Problem> {
    let Answer { question, value, by } = body(sent)?;
    send(&executor, &run, &headers, &by, ControlAction::Answer { question, value }).await
}

pub(super) async fn decide(
    State(executor): State<Executor>,
    Name(run): Name,
    headers: HeaderMap,
    sent: Body<Decide>,
) -> Result<Response, Problem> {
    let Decide { decision, option, by } = body(sent)?;
    send(&executor, &run, &headers, &by, ControlAction::Decide { decision, option }).await
}

pub(super) async fn suspend(
    State(executor): State<Executor>,
    Name(run): Name,
    headers: HeaderMap,
    sent: Body<By>,
) -> Result<Response, Problem> {
    send(&executor, &run, &headers, &body(sent)?.by, ControlAction::Suspend).await
}

/// Takes the run over first, where nobody owns it.
pub(super) async fn resume(
    State(executor): State<Executor>,
    Name(run): Name,
    headers: HeaderMap,
    sent: Body<By>,
) -> Result<Response, Problem> {
    let By { by } = body(sent)?;
    if !executor.is_under_way(&run) {
        let handle = executor.take_over(&run).await?;
        if handle.record().await?.is_none_or(|record| record.state != crate::ports::RunState::Suspended) {
            let told = Told {
                schema: SCHEMA,
                events: format!("/v1/runs/{run}/events"),
                run,
                ctl: 0,
                event: None,
                repeated: false,
            };
            return Ok(Json(told).into_response());
        }
    }
    send(&executor, &run, &headers, &by, ControlAction::Resume).await
}

pub(super) async fn abort(
    State(executor): State<Executor>,
    Name(run): Name,
    headers: HeaderMap,
    sent: Body<By>,
) -> Result<Response, Problem> {
    send(&executor, &run, &headers, &body(sent)?.by, ControlAction::Abort).await
}

async fn send(
    executor: &Executor,
    run: &str,
    headers: &HeaderMap,
    by: &str,
    action: ControlAction,
) -> Result<Response, Problem> {
    let key = match headers.get("idempotency-key") {
        None => None,
        Some(key) => Some(
            key.to_str()
                .ok()
                .filter(|key| !key.is_empty())
                .ok_or_else(|| Problem::new(400, "api::idempotency-key", "`Idempotency-Key` is no text"))?,
        ),
    };
    let Some(handle) = executor.handle(run).await? else { return Err(Problem::unknown_run(run)) };
    let events = format!("/v1/runs/{run}/events");
    let run = run.to_owned();
    Ok(match handle.send(by, key, action).await? {
        ControlReply::Applied { ctl, event, repeated } => {
            let event = RawValue::from_string(event.text.to_string())
                .map_err(|error| Problem::new(500, "store::damaged", error.to_string()))?;
            Json(Told { schema: SCHEMA, run, ctl, event: Some(event), repeated, events }).into_response()
        }
        ControlReply::Declined { ctl, code, why } => {
            Problem { ctl: Some(ctl), ..Problem::new(409, code, why) }.into_response()
        }
        ControlReply::Stored { ctl } => {
            let told = Told { schema: SCHEMA, run, ctl, event: None, repeated: false, events };
            (StatusCode::ACCEPTED, Json(told)).into_response()
        }
    })
}
