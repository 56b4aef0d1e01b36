//! The HTTP interface: `/v1` as documented, served on the store's Unix socket for the command line of the same user.
//!
//! JSON bodies carry `"schema": 1`; errors are `application/problem+json` with a `code`. Whoever can open the socket (its
//! mode is 0600) may do what an operator may; `by` says who did it.

mod asked;
pub mod client;
mod control;
mod problem;
mod read;
mod socket;

use std::{io, path::Path, path::PathBuf};

use axum::{
    Router,
    routing::{get, post},
};
use tokio::task::AbortHandle;

pub use self::problem::Problem;
use crate::executor::Executor;

/// Version of the JSON of bodies.
pub const SCHEMA: u32 = 1;
/// Name of the socket in the store's folder.
pub const SOCKET: &str = "stellar.sock";
/// Greatest body of a request, in bytes.
const MAX_BODY: usize = 64 * 1024;

/// The routes, over an executor.
pub fn router(executor: Executor) -> Router {
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/v1/runs", get(read::runs))
        .route("/v1/runs/{run}", get(read::run))
        .route("/v1/runs/{run}/events", get(read::events))
        .route("/v1/runs/{run}/answer", post(control::answer))
        .route("/v1/runs/{run}/decide", post(control::decide))
        .route("/v1/runs/{run}/suspend", post(control::suspend))
        .route("/v1/runs/{run}/resume", post(control::resume))
        .route("/v1/runs/{run}/abort", post(control::abort))
        .route("/v1/artifacts/{hash}", get(read::artifact))
        .route("/v1/topology", get(read::topology))
        .route("/v1/telemetry", get(read::telemetry))
        .fallback(async || Problem::new(404, "api::unknown-path", "there is nothing at this path"))
        .method_not_allowed_fallback(async || Problem::new(405, "api::method", "this path does not take this method"))
        .layer(axum::extract::DefaultBodyLimit::max(MAX_BODY))
        .with_state(executor)
}

/// The served socket; dropping it stops the service and removes the socket.
pub struct Served {
    path: PathBuf,
    service: AbortHandle,
}

impl Served {
    /// Where it listens.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.service.abort();
        // It may have been removed with its folder.
        drop(std::fs::remove_file(&self.path));
    }
}

/// Serves on the socket in a store's folder. The caller holds the store, so that a socket found there is nobody's.
///
/// # Errors
/// Where the socket cannot be made.
pub fn serve(folder: &Path, executor: Executor) -> io::Result<Served> {
    let path = folder.join(SOCKET);
    let listener = socket::bind(&path)?;
    let app = router(executor);
    let service = tokio::spawn(async move {
        // Ends only with the process: an error of a single connection ends that connection.
        drop(axum::serve(listener, app).await);
    });
    Ok(Served { path, service: service.abort_handle() })
}

#[cfg(test)]
mod tests;
