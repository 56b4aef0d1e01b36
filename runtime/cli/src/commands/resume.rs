//! `stellar resume RUN`.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::Value;
use stellar_runtime::{instance::ClockMode, journal};
use stellar_vm::event::{Body, Fact};

use super::event_of;
use crate::{
    args::{Global, Resume},
    beside::Beside,
    exit::{Exit, Failure},
    follow::{Following, by},
    look::{self, Look},
    mission::Mission,
    node::{self, Node},
    operator::Beforehand,
};

/// The run that is meant.
enum Found {
    /// Another process has the store; how the run went on there.
    Beside(Exit),
    /// No process has it.
    Left {
        run: String,
        mode: ClockMode,
        /// The targets that it uses.
        used: BTreeSet<Arc<str>>,
    },
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
        if let Look::Beside(client) = look {
            // The process that has the store owns its runs: it lets the run go on.
            let under_way = shown.get("under_way").and_then(Value::as_bool).unwrap_or_default();
            let beside = Beside::new(client, run, &beforehand, args.operator.format, global);
            return beside.resume(&log, under_way).await.map(Found::Beside);
        }
        Ok(Found::Left { mode: clock_of(&log)?, used: targets_of(&log)?, run })
    })?;
    let (mode, used, run) = match found {
        Found::Beside(exit) => return Ok(exit),
        Found::Left { mode, used, run } => (mode, used, run),
    };
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

/// The clock that a run lives by: a virtual one goes on where its log ends. A line of the log that cannot be read is no
/// matter here: the executor halts the run for it.
fn clock_of(log: &[String]) -> Result<ClockMode, Failure> {
    let Some(first) = log.first() else { return Ok(ClockMode::Real) };
    match event_of(first)?.body {
        Body::Fact(Fact::RunStarted { virtual_clock: true, .. }) => {
            let last = log.iter().rev().find_map(|line| event_of(line).ok());
            Ok(ClockMode::Virtual(last.map(|event| event.at)))
        }
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
