//! A small client of the API for the command line: one connection a request, over the store's socket.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use http_body_util::{BodyExt, Full};
use hyper::{
    Method, Request, Response,
    body::{Bytes, Incoming},
    client::conn::http1,
    header,
};
use hyper_util::rt::TokioIo;
use serde_json::Value;

use super::{Problem, SOCKET, socket};
use crate::ports::Line;

/// Greatest answer that is read at once, in bytes.
const MAX_ANSWER: usize = 256 * 1024 * 1024;

/// How long the other process may take to begin an answer. It waits up to 2 s itself for the log of a run.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody serves this store: no process has it open.
    #[error("no process has the store `{}` open", .0.display())]
    NobodyThere(PathBuf),
    /// The other side says what is wrong.
    #[error("{}", .0.title)]
    Problem(Problem),
    /// The other side is there and says nothing: it was stopped, or its host is overwhelmed.
    #[error("the process that has the store `{}` open has not answered for {PATIENCE:?}: is it stopped?", .0.display())]
    Silent(PathBuf),
    /// The connection.
    #[error("the process that has the store open does not answer: {0}")]
    Connection(String),
}

impl ClientError {
    /// The error's code.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::NobodyThere(_) => "api::nobody-there",
            Self::Problem(problem) => &problem.code,
            Self::Silent(_) => "api::silent",
            Self::Connection(_) => "api::connection",
        }
    }
}

fn broken(error: impl std::fmt::Display) -> ClientError {
    ClientError::Connection(error.to_string())
}

/// A client of the process that has a store open.
#[derive(Debug, Clone)]
pub struct Client {
    folder: PathBuf,
}

impl Client {
    /// A client for the store in a folder. Nothing is connected before a request.
    #[must_use]
    pub fn of(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Asks for something: `/v1/runs`.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn get(&self, path: &str) -> Result<Value, ClientError> {
        let request = Request::get(path).header(header::HOST, "stellar").body(Full::default());
        json(self.request(request.map_err(broken)?).await?).await.map(|(_, value)| value)
    }

    /// Asks for bytes: `/v1/artifacts/HASH`.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn bytes(&self, path: &str) -> Result<Vec<u8>, ClientError> {
        let request = Request::get(path).header(header::HOST, "stellar").body(Full::default());
        let response = self.request(request.map_err(broken)?).await?;
        if !response.status().is_success() {
            return Err(json(response).await.err().unwrap_or_else(|| broken("an answer without a problem")));
        }
        let body = http_body_util::Limited::new(response.into_body(), MAX_ANSWER).collect().await.map_err(broken)?;
        Ok(body.to_bytes().to_vec())
    }

    /// Sends something: `/v1/runs/ID/answer`. Gives the status (200 done, 202 stored) with the answer.
    ///
    /// # Errors
    /// [`ClientError`]; what the run declined is a [`Problem`] with status 409.
    pub async fn post(&self, path: &str, key: Option<&str>, body: &Value) -> Result<(u16, Value), ClientError> {
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header(header::HOST, "stellar")
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let request = request.body(Full::from(body.to_string())).map_err(broken)?;
        json(self.request(request).await?).await
    }

    /// Follows the events of a run from number `from` on.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn events(&self, run: &str, from: u64) -> Result<Events, ClientError> {
        let request = Request::get(format!("/v1/runs/{run}/events"))
            .header(header::HOST, "stellar")
            .header(header::ACCEPT, "text/event-stream")
            .header("last-event-id", from.saturating_sub(1).to_string())
            .body(Full::default())
            .map_err(broken)?;
        let response = self.request(request).await?;
        if !response.status().is_success() {
            return Err(json(response).await.err().unwrap_or_else(|| broken("an answer without a problem")));
        }
        Ok(Events { body: response.into_body(), buffer: Vec::new() })
    }

    async fn request(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, ClientError> {
        let stream = match socket::connect(&self.folder.join(SOCKET)).await {
            Ok(stream) => stream,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
                return Err(ClientError::NobodyThere(self.folder.clone()));
            }
            Err(error) => return Err(broken(error)),
        };
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
        // It ends with the connection; what went wrong is told to the request.
        tokio::spawn(async move { drop(connection.await) });
        match tokio::time::timeout(PATIENCE, sender.send_request(request)).await {
            Ok(answer) => answer.map_err(broken),
            Err(_) => Err(ClientError::Silent(self.folder.clone())),
        }
    }
}

async fn json(response: Response<Incoming>) -> Result<(u16, Value), ClientError> {
    let status = response.status();
    let body = http_body_util::Limited::new(response.into_body(), MAX_ANSWER).collect().await.map_err(broken)?;
    let bytes = body.to_bytes();
    if status.is_success() {
        return Ok((status.as_u16(), serde_json::from_slice(&bytes).map_err(broken)?));
    }
    match serde_json::from_slice::<Problem>(&bytes) {
        Ok(problem) => Err(ClientError::Problem(problem)),
        Err(_) => Err(broken(format!("it answers {status}: {}", String::from_utf8_lossy(&bytes).trim()))),
    }
}

/// Events of a run, as they come.
pub struct Events {
    body: Incoming,
    buffer: Vec<u8>,
}

impl Events {
    /// The next event; `None` when the other side has no more. Cancel-safe.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn next(&mut self) -> Result<Option<Line>, ClientError> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\n\n") {
                let rest = self.buffer.split_off(end + 2);
                let block = std::mem::replace(&mut self.buffer, rest);
                match parse(&block)? {
                    Some(line) => return Ok(Some(line)),
                    None => continue,
                }
            }
            match self.body.frame().await {
                None => return Ok(None),
                Some(Err(error)) => return Err(broken(error)),
                Some(Ok(frame)) => {
                    if let Some(data) = frame.data_ref() {
                        self.buffer.extend_from_slice(data);
                    }
                }
            }
        }
    }
}

/// Reads one block of server-sent events; `None` for a comment.
fn parse(block: &[u8]) -> Result<Option<Line>, ClientError> {
    let text = std::str::from_utf8(block).map_err(broken)?;
    let (mut id, mut kind, mut data) = (None, "", None);
    for line in text.lines() {
        match line.split_once(": ") {
            Some(("id", value)) => id = value.parse::<u64>().ok(),
            Some(("event", value)) => kind = value,
            Some(("data", value)) => data = Some(value),
            _ => {}
        }
    }
    let Some(data) = data else { return Ok(None) };
    if kind == "problem" {
        return Err(ClientError::Problem(serde_json::from_str(data).map_err(broken)?));
    }
    let seq = id.ok_or_else(|| broken("an event without a number"))?;
    let epoch = serde_json::from_str::<Value>(data).map_err(broken)?.get("epoch").and_then(Value::as_u64).unwrap_or(0);
    Ok(Some(Line { seq, epoch, text: Arc::from(data) }))
}
