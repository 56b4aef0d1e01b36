//! `stellar replay RUN or LOG`.

use std::{fs, path::Path};

use serde_json::{Value, json};
use stellar_vm::{
    event::{Body, Event, Fact},
    machine::{Machine, Replay as Replaying, ReplayError},
};

use crate::{
    args::{Format, Global, Replay},
    exit::{Exit, Failure},
    look::{Look, block_on},
    mission::Mission,
    output,
    program::{self, Loaded},
    state,
};

/// A log, and the program that it is of.
struct Recorded {
    lines: Vec<String>,
    loaded: Loaded,
}

/// Runs the machine again over a log; says whether it holds, and with `--to` how the run stood there.
pub(super) fn replay(args: &Replay, global: &Global) -> Result<Exit, Failure> {
    let recorded = recorded(args, global)?;
    let mut replaying = Replaying::new(recorded.loaded.verified.clone());
    for line in &recorded.lines {
        if args.to.is_some_and(|to| replaying.machine().seq() >= to) {
            break;
        }
        if let Err(error) = replaying.line(line) {
            return diverged(&error, args.format);
        }
    }
    let machine = replaying.machine();
    if let Some(to) = args.to
        && machine.seq() < to
    {
        let message = format!("the log has {} events, and no event {to}", machine.seq());
        return Err(Failure::wrong_call(message));
    }
    holds(machine, args)
}

fn holds(machine: &Machine, args: &Replay) -> Result<Exit, Failure> {
    let view =
        serde_json::to_value(machine.view()).map_err(|e| Failure::failed(format!("no JSON can be made: {e}")))?;
    match args.format {
        Format::Json => {
            output::print_json(&json!({"schema": 1, "holds": true, "events": machine.seq(), "view": view}))?
        }
        Format::Text => {
            let mut text = format!("the replay holds: {} events\n", machine.seq());
            if args.to.is_some() {
                text.push_str(&state::text(&view));
            }
            output::print(&text)?;
        }
    }
    Ok(Exit::Done)
}

fn diverged(error: &ReplayError, format: Format) -> Result<Exit, Failure> {
    if format == Format::Text {
        return Err(Failure::failed(format!("{}: {error}", error.code())));
    }
    let mut said = json!({"schema": 1, "holds": false, "code": error.code(), "message": error.to_string()});
    if let (ReplayError::Diverged { seq, logged, emitted, .. }, Some(fields)) = (error, said.as_object_mut()) {
        fields.insert("seq".to_owned(), json!(seq));
        fields.insert("logged".to_owned(), json!(logged));
        fields.insert("emitted".to_owned(), json!(emitted));
    }
    output::print_json(&said)?;
    Ok(Exit::Failed)
}

/// The log and its program: of a file where there is one of that name, else of a run in the store.
fn recorded(args: &Replay, global: &Global) -> Result<Recorded, Failure> {
    let path = Path::new(&args.run);
    if path.is_file() {
        let text = fs::read_to_string(path)
            .map_err(|e| Failure::wrong_call(format!("`{}` cannot be read: {e}", path.display())))?;
        let lines: Vec<String> = text.lines().filter(|line| !line.trim().is_empty()).map(ToOwned::to_owned).collect();
        if lines.is_empty() {
            return Err(Failure::failed(format!("`{}` has no events", path.display())));
        }
        let loaded = match &args.artifact {
            Some(artifact) => program::load(artifact)?,
            None => from_store(&lines, global)?,
        };
        check_artifact(&lines, &loaded)?;
        return Ok(Recorded { lines, loaded });
    }
    let mission = Mission::find(global, &[])?;
    mission.sound(global)?;
    block_on(async {
        let look = Look::at(&mission.store()).await?;
        let id = look.find(&args.run).await?;
        let lines = look.log(&id).await?;
        let loaded = match &args.artifact {
            Some(artifact) => program::load(artifact)?,
            None => {
                let run = look.run(&id).await?;
                let hash = run.get("artifact").and_then(Value::as_str).unwrap_or_default();
                program::prove(look.artifact(hash).await?, "the artifact of the run")?
            }
        };
        check_artifact(&lines, &loaded)?;
        Ok(Recorded { lines, loaded })
    })
}

/// The artifact that the first event of a log names, out of the mission's store.
fn from_store(lines: &[String], global: &Global) -> Result<Loaded, Failure> {
    let Some(hash) = artifact_of(lines) else {
        return Err(Failure::failed("run::log-garbage: the first line of the log is no `run_started`"));
    };
    let mission = Mission::find(global, &[])?;
    mission.sound(global)?;
    let bytes = block_on(async { Look::at(&mission.store()).await?.artifact(&hash).await })
        .map_err(|e| e.help("name the run's artifact with `--artifact FILE.stc`"))?;
    program::prove(bytes, "the artifact of the run")
}

fn artifact_of(lines: &[String]) -> Option<String> {
    match Event::from_json(lines.first()?).ok()?.body {
        Body::Fact(Fact::RunStarted { artifact, .. }) => Some(artifact.to_string()),
        _ => None,
    }
}

/// A run is bound to the hash of its artifact.
fn check_artifact(lines: &[String], loaded: &Loaded) -> Result<(), Failure> {
    let given = stellar_vm::artifact::hash(&loaded.bytes);
    match artifact_of(lines) {
        Some(bound) if bound != given => Err(Failure::failed(format!(
            "run::other-artifact: the run is bound to {bound}, and this artifact is {given}"
        ))),
        _ => Ok(()),
    }
}
