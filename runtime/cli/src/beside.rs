//! Following a run that another process has under way: its events as they come, what was answered beforehand, its end.
//!
//! Whatever is to be done, that process does: it is asked over the store's socket. Nobody is asked at this terminal, for
//! that process may sit at one of its own.

use std::{collections::BTreeSet, io, sync::Arc};

use serde_json::json;
use stellar_runtime::{
    api::client::{Client, ClientError},
    ports::Line,
};
use stellar_vm::event::{Body, Event, Fact, RunOutcome, Transition};

use crate::{
    args::{Format, Global},
    commands::event_of,
    exit::{Exit, Failure},
    follow::{by, hint},
    look,
    operator::{Asked, Beforehand, Open, Reply},
    output,
    render::Render,
};

/// Who follows, and how.
pub(crate) struct Beside<'a> {
    client: Client,
    run: String,
    beforehand: &'a Beforehand,
    format: Format,
    render: Render,
    open: Open,
    /// A suspended run is about to be resumed.
    resuming: bool,
    /// What was answered.
    served: BTreeSet<Arc<str>>,
}

impl<'a> Beside<'a> {
    /// Follows `run` in the process that `client` reaches.
    pub(crate) fn new(
        client: Client,
        run: String,
        beforehand: &'a Beforehand,
        format: Format,
        global: &Global,
    ) -> Self {
        let render = Render::new(output::colored(global.color, &io::stdout()));
        let (open, served) = (Open::default(), BTreeSet::new());
        Self { client, run, beforehand, format, render, open, resuming: false, served }
    }

    /// Lets the run go on, where it is suspended or nobody has it `under_way`, and follows it behind its log as it is
    /// now: to its end, or to where an operator is needed.
    pub(crate) async fn resume(mut self, log: &[String], under_way: bool) -> Result<Exit, Failure> {
        for line in log {
            self.open.take(&event_of(line)?);
        }
        self.resuming = self.open.suspended();
        if self.resuming || !under_way {
            let path = format!("/v1/runs/{}/resume", self.run);
            self.client.post(&path, None, &json!({"by": by()})).await.map_err(look::client)?;
        }
        let exit = self.follow(log.len() as u64 + 1).await?;
        self.beforehand.tell_unused(exit);
        Ok(exit)
    }

    async fn follow(&mut self, from: u64) -> Result<Exit, Failure> {
        let mut events = self.client.events(&self.run, from).await.map_err(look::client)?;
        let mut exit = self.serve().await?;
        while exit.is_none() {
            exit = match events.next().await {
                Ok(Some(line)) => self.line(&line).await?,
                Ok(None) | Err(ClientError::Connection(_)) => {
                    self.say(&format!("its process leaves it; go on with: stellar resume {}", self.run));
                    Some(Exit::Waiting)
                }
                Err(error) => return Err(look::client(error)),
            };
        }
        Ok(exit.unwrap_or(Exit::Waiting))
    }

    /// Shows an event and does what it asks for; gives the exit code where the following ends.
    async fn line(&mut self, line: &Line) -> Result<Option<Exit>, Failure> {
        let event = event_of(&line.text)?;
        self.show(line, &event)?;
        match &event.body {
            Body::Transition(Transition::RunFinished { outcome: RunOutcome::Passed, .. }) => {
                return Ok(Some(Exit::Done));
            }
            Body::Transition(Transition::RunFinished { .. }) => return Ok(Some(Exit::Failed)),
            Body::Fact(Fact::Resumed { .. } | Fact::Leases { refused: Some(_), .. }) => self.resuming = false,
            _ => {}
        }
        self.open.take(&event);
        self.serve().await
    }

    fn show(&mut self, line: &Line, event: &Event) -> Result<(), Failure> {
        match self.format {
            Format::Json => output::print(&format!("{}\n", line.text)),
            Format::Text => output::print(&format!("{}\n", self.render.event(event))),
        }
    }

    fn say(&self, text: &str) {
        output::tell(&format!("stellar: {text}"));
    }

    /// Sees to what is open; gives the exit code where an operator is needed.
    async fn serve(&mut self) -> Result<Option<Exit>, Failure> {
        if self.open.suspended() {
            if self.resuming {
                return Ok(None);
            }
            self.say(&format!("the run is suspended; go on with: stellar resume {}", self.run));
            return Ok(Some(Exit::Waiting));
        }
        for asked in self.open.asked().to_vec() {
            if !self.served.insert(asked.id().clone()) {
                continue;
            }
            if let Some(reply) = self.beforehand.reply(&asked)
                && self.send(&asked, reply).await?
            {
                continue;
            }
            let hint = hint(&asked);
            self.say(&format!("the run waits for an operator; go on with: stellar resume {} {hint}", self.run));
            return Ok(Some(Exit::Waiting));
        }
        Ok(None)
    }

    /// Sends a reply; `false` where it was none of what is offered, so that the matter is open as before.
    async fn send(&self, asked: &Asked, reply: Reply) -> Result<bool, Failure> {
        let (what, body) = match reply {
            Reply::Answer(value) => ("answer", json!({"question": asked.id(), "value": value, "by": by()})),
            Reply::Decide(option) => ("decide", json!({"decision": asked.id(), "option": option, "by": by()})),
        };
        match self.client.post(&format!("/v1/runs/{}/{what}", self.run), None, &body).await {
            Ok(_) => Ok(true),
            // Somebody else was first, or it is not offered: the log says which, and what became of it.
            Err(ClientError::Problem(problem)) => {
                self.say(&format!("declined: {}", problem.title));
                Ok(problem.code != "run::not-offered")
            }
            Err(error) => Err(look::client(error)),
        }
    }
}
