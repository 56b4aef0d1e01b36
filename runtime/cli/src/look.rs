//! Looking at runs: beside a process that has the store open, or in the store itself.
//!
//! A process that runs something answers on the store's socket; where nobody does, the store is opened. Looking locks
//! nothing for longer than the look takes.

use std::{path::Path, time::Duration};

use serde_json::{Value, json};
use stellar_runtime::{
    api::client::{Client, ClientError},
    embedded::{Embedded, OpenError, no_hold},
    journal,
    ports::{RunRecord, Store},
};

use crate::exit::Failure;

/// How long a process that is just starting, or just ending, is waited for.
const SETTLE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(20);

/// Where runs are looked at.
pub(crate) enum Look {
    /// A process has the store, and answers.
    Beside(Client),
    /// Nobody has it: it is open here.
    Alone(#[expect(dead_code, reason = "the store is open as long as it is here")] Embedded, Store),
    /// There is no store yet, so there are no runs.
    Nothing,
}

/// Fails as the other side says.
pub(crate) fn client(error: ClientError) -> Failure {
    Failure::failed(format!("{}: {error}", error.code()))
}

/// Fails as a store says.
pub(crate) fn store(error: stellar_runtime::ports::StoreError) -> Failure {
    Failure::failed(format!("{}: {error}", error.code()))
}

impl Look {
    /// Finds out who has the store.
    pub(crate) async fn at(folder: &Path) -> Result<Self, Failure> {
        if !folder.exists() {
            return Ok(Self::Nothing);
        }
        let begin = tokio::time::Instant::now();
        loop {
            let client = Client::of(folder);
            match client.get("/v1/runs").await {
                Ok(_) => return Ok(Self::Beside(client)),
                Err(error @ (ClientError::Problem(_) | ClientError::Silent(_))) => return Err(self::client(error)),
                Err(ClientError::NobodyThere(_) | ClientError::Connection(_)) => {}
            }
            match Embedded::open(folder, "stellar", no_hold()) {
                Ok(embedded) => {
                    let store = embedded.store();
                    return Ok(Self::Alone(embedded, store));
                }
                // Between the two looks it may have come or gone.
                Err(OpenError::InUse { .. }) if begin.elapsed() < SETTLE => tokio::time::sleep(POLL).await,
                Err(error) => return Err(Failure::failed(format!("{}: {error}", error.code()))),
            }
        }
    }

    /// All runs, the oldest first, as the API lists them.
    pub(crate) async fn runs(&self) -> Result<Vec<Value>, Failure> {
        match self {
            Self::Beside(client) => {
                let all = client.get("/v1/runs").await.map_err(self::client)?;
                Ok(all.get("runs").and_then(Value::as_array).cloned().unwrap_or_default())
            }
            Self::Alone(_, store) => {
                let all = store.records.list().await.map_err(self::store)?;
                all.into_iter().map(|(run, record, _)| row(&run, &record)).collect()
            }
            Self::Nothing => Ok(Vec::new()),
        }
    }

    /// The identifier of the run that begins so; `last` is the latest one.
    pub(crate) async fn find(&self, wanted: &str) -> Result<String, Failure> {
        let runs = self.runs().await?;
        let ids: Vec<&str> = runs.iter().filter_map(|run| run.get("run")?.as_str()).collect();
        let upper = wanted.to_ascii_uppercase();
        let found: Vec<&&str> = if wanted == "last" {
            ids.iter().max().into_iter().collect()
        } else {
            ids.iter().filter(|id| id.starts_with(&upper) && !upper.is_empty()).collect()
        };
        match found.as_slice() {
            [one] => Ok((**one).to_owned()),
            [] => Err(Failure::wrong_call(format!("there is no run `{wanted}`")).help("`stellar runs` lists them")),
            more => Err(Failure::wrong_call(format!("`{wanted}` is the beginning of {} runs", more.len()))
                .help("give more of the identifier")),
        }
    }

    /// One run, as the API shows it.
    pub(crate) async fn run(&self, run: &str) -> Result<Value, Failure> {
        match self {
            Self::Beside(client) => client.get(&format!("/v1/runs/{run}")).await.map_err(self::client),
            Self::Alone(_, store) => {
                let record = store.records.get(run).await.map_err(self::store)?;
                let (record, _) = record.ok_or_else(|| Failure::wrong_call(format!("there is no run {run}")))?;
                row(run, &record)
            }
            Self::Nothing => Err(Failure::wrong_call(format!("there is no run {run}"))),
        }
    }

    /// The lines of a run's log as they are now.
    pub(crate) async fn log(&self, run: &str) -> Result<Vec<String>, Failure> {
        match self {
            Self::Beside(client) => {
                // As many as there are now; what comes later is for who follows.
                let shown = self.run(run).await?;
                let last = shown.pointer("/view/seq").and_then(Value::as_u64);
                let mut events = client.events(run, 1).await.map_err(self::client)?;
                let mut lines = Vec::new();
                while last.is_none_or(|last| (lines.len() as u64) < last)
                    && let Some(line) = events.next().await.map_err(self::client)?
                {
                    lines.push(line.text.to_string());
                }
                Ok(lines)
            }
            Self::Alone(_, store) => {
                let lines = journal::read_all(&*store.log, run).await.map_err(self::store)?;
                Ok(lines.into_iter().map(|line| line.text.to_string()).collect())
            }
            Self::Nothing => Ok(Vec::new()),
        }
    }

    /// The bytes of an artifact.
    pub(crate) async fn artifact(&self, hash: &str) -> Result<Vec<u8>, Failure> {
        let missing = || Failure::failed(format!("the artifact {hash} is not in the store"));
        match self {
            Self::Beside(client) => client.bytes(&format!("/v1/artifacts/{hash}")).await.map_err(self::client),
            Self::Alone(_, store) => store.artifacts.get(hash).await.map_err(self::store)?.ok_or_else(missing),
            Self::Nothing => Err(missing()),
        }
    }
}

/// A run as the API lists it.
fn row(run: &str, record: &RunRecord) -> Result<Value, Failure> {
    let wrong = |e: serde_json::Error| Failure::failed(format!("the record of {run}: {e}"));
    let mut row = serde_json::to_value(record).map_err(wrong)?;
    if let Some(fields) = row.as_object_mut() {
        fields.insert("run".to_owned(), json!(run));
        fields.insert("under_way".to_owned(), json!(false));
    }
    Ok(row)
}

/// A runtime of tokio for one command.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|e| Failure::failed(format!("no runtime can be made: {e}")))?.block_on(future)
}
