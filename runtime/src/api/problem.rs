//! Errors as `application/problem+json` (RFC 9457), each with a `code`.

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};

use crate::{
    executor::{ControlError, ResumeError},
    ports::StoreError,
};

/// An error of the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// HTTP status.
    pub status: u16,
    /// The code: `run::unknown`.
    pub code: String,
    /// What is wrong, in one line.
    pub title: String,
    /// Number of the operator's message, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ctl: Option<u64>,
}

impl Problem {
    /// A problem with this status, code and text.
    #[must_use]
    pub fn new(status: u16, code: &str, title: impl Into<String>) -> Self {
        Self { status, code: code.to_owned(), title: title.into(), ctl: None }
    }

    pub(super) fn unknown_run(run: &str) -> Self {
        Self::new(404, "run::unknown", format!("there is no run {run}"))
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        match serde_json::to_vec(&self) {
            Ok(body) => (status, [(header::CONTENT_TYPE, "application/problem+json")], body).into_response(),
            Err(_) => status.into_response(),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let status = if matches!(error, StoreError::Unavailable(_)) { 503 } else { 500 };
        Self::new(status, error.code(), error.to_string())
    }
}

impl From<ControlError> for Problem {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::Store(error) => error.into(),
            ControlError::Unknown(_) => Self::new(404, error.code(), error.to_string()),
            ControlError::Ended(_) | ControlError::Halted { .. } => Self::new(409, error.code(), error.to_string()),
        }
    }
}

impl From<ResumeError> for Problem {
    fn from(error: ResumeError) -> Self {
        match error {
            ResumeError::Store(error) => error.into(),
            ResumeError::Unknown(_) => Self::new(404, error.code(), error.to_string()),
            _ => Self::new(409, error.code(), error.to_string()),
        }
    }
}
