//! `stellar resume RUN`.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Value, json};
use stellar_runtime::{api::client::Client, instance::ClockMode, journal};
use stellar_vm::event::{Body, Fact};

use super::event_of;
use crate::{
    args::{Global, Resume},
    exit::{Exit, Failure},
    follow::{Following, by},
    look::{self, Look},
    mission::Mission,
    node::{self, Node},
    operator::Beforehand,
    output,
};

/// The run that is meant.
struct Found {
    run: String,
    /// Whether another process has the store.
    beside: bool,
    mode: ClockMode,
    /// The targets that it uses.
    used: BTreeSet<Arc<str>>,
}

/// Takes a run over if nobody owns it, lets it go on if it is suspended, and follows it.
pub(super) fn resume(args: &Resume, global: &Global) -> Result<Exit, Failure> {
    let beforehand = Beforehand::new(&args.operator)?;
    let mission = Mission::find(global, &[])?;
    mission.sound(global)?;
    let store = mission.store();
    let found = look::block_on(async {
        let look = Look::at(&store).await?;
        let run = look.find(&args.run).await?;
        let shown = look.run(&run).await?;
        let state = shown.get("state").and_then(Value::as_str).unwrap_or_default();
        if state == "ended" {
            return Err(
                Failure::failed(format!("run::ended: run {run} has ended")).help(format!("see `stellar show {run}`"))
            );
        }
        let log = look.log(&run).await?;
        Ok(Found { beside: matches!(look, Look::Beside(_)), mode: clock_of(&log)?, used: targets_of(&log)?, run })
    })?;
    let Found { beside, mode, used, run } = found;
    if beside {
        return look::block_on(ask_the_other(&Client::of(&store), &run));
    }
    let settings = node::settings(&mission, global, mode, |name, _| used.contains(name))?;
    node::block_on(mode, async {
        let node = Node::open(settings, mode).await?;
        node.work(async |executor| {
            let log = journal::read_all(&*executor.store().log, &run).await.map_err(look::store)?;
            let from = log.last().map_or(0, |line| line.seq) + 1;
            let handle = executor.resume(&run, &by()).await.map_err(node::not_resumed)?;
            let following = Following::new(executor, handle, &beforehand, args.operator.format, global);
            following.resuming(&log)?.until_it_ends(from).await
        })
        .await
    })
}

/// The clock that a run lives by: a virtual one goes on where its log ends.
fn clock_of(log: &[String]) -> Result<ClockMode, Failure> {
    let (Some(first), Some(last)) = (log.first(), log.last()) else { return Ok(ClockMode::Real) };
    match event_of(first)?.body {
        Body::Fact(Fact::RunStarted { virtual_clock: true, .. }) => Ok(ClockMode::Virtual(Some(event_of(last)?.at))),
        _ => Ok(ClockMode::Real),
    }
}

/// The targets that a run uses.
fn targets_of(log: &[String]) -> Result<BTreeSet<Arc<str>>, Failure> {
    Ok(match log.first().map(|first| event_of(first)).transpose()?.map(|event| event.body) {
        Some(Body::Fact(Fact::RunStarted { targets, .. })) => targets.into_values().collect(),
        _ => BTreeSet::new(),
    })
}

/// The process that has the store owns its runs: it is asked to let the run go on.
async fn ask_the_other(client: &Client, run: &str) -> Result<Exit, Failure> {
    let body = json!({"by": by()});
    let (_, said) = client.post(&format!("/v1/runs/{run}/resume"), None, &body).await.map_err(look::client)?;
    output::print(&format!(
        "the process that has the store goes on with it: {said}\nfollow it with: stellar log {run} --follow\n"
    ))?;
    Ok(Exit::Done)
}
