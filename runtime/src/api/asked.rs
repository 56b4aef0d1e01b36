//! What a path and its query say, with a problem where they do not say it.

use axum::{
    extract::{FromRequestParts, Path, Query},
    http::request::Parts,
};
use serde::de::DeserializeOwned;

use super::Problem;

/// The name in a path: of a run, of an artifact.
pub(super) struct Name(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(name) = Path::from_request_parts(parts, state).await.map_err(|rejection| {
            Problem::new(404, "api::unknown-path", format!("there is nothing at this path: {}", rejection.body_text()))
        })?;
        Ok(Self(name))
    }
}

/// What is asked for behind `?`.
pub(super) struct Asked<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(asked) = Query::from_request_parts(parts, state)
            .await
            .map_err(|rejection| Problem::new(rejection.status().as_u16(), "api::bad-query", rejection.body_text()))?;
        Ok(Self(asked))
    }
}
