//! `stellar run NAME`.

use std::{collections::BTreeMap, sync::Arc};

use stellar_compiler::config::LinkSettings;
use stellar_runtime::{executor::StartRequest, instance::ClockMode};
use stellar_vm::program::Kind;

use crate::{
    args::{Clock, Global, Run},
    exit::{Exit, Failure},
    follow::{Following, by},
    input,
    mission::Mission,
    node::{self, Node},
    operator::Beforehand,
    program::{self, Loaded},
};

/// Starts a run and follows it.
pub(super) fn run(args: &Run, global: &Global) -> Result<Exit, Failure> {
    let beforehand = Beforehand::new(&args.operator)?;
    let targets = pairs(&args.target, "target")?;
    let inputs = pairs(&args.input, "input")?;
    let named = args.sources.paths.clone();
    let mut mission = Mission::find(global, &named)?;
    mission.sound(global)?;
    let loaded = load(&mut mission, args, global)?;
    let inputs = input::read(&loaded.verified, &args.procedure, &inputs)?;
    let request = StartRequest {
        artifact: loaded.bytes,
        procedure: args.procedure.clone(),
        targets: targets.into_iter().map(|(name, target)| (name.into(), target.into())).collect(),
        inputs,
        by: by(),
    };
    let mode = match args.clock {
        Clock::Real => ClockMode::Real,
        Clock::Virtual => ClockMode::Virtual(None),
    };
    // Those given, and those that may stand for a name for which none is given.
    let names =
        loaded.verified.units.iter().filter(|unit| *unit.name == *args.procedure).flat_map(|unit| &unit.targets);
    let open: Vec<Arc<str>> = names
        .filter(|name| !request.targets.contains_key(&name.name))
        .filter_map(|name| loaded.verified.platforms.get(usize::try_from(name.platform).ok()?))
        .cloned()
        .collect();
    let used = |name: &str, platform: &str| {
        request.targets.values().any(|target| **target == *name) || open.iter().any(|one| **one == *platform)
    };
    let settings = node::settings(&mission, global, mode, used)?;
    if args.clock == Clock::Virtual {
        only_simulated(&mission, &request)?;
    }
    node::block_on(mode, async {
        let node = Node::open(settings, mode).await?;
        node.work(async |executor| {
            let handle = executor.start(request).await.map_err(node::not_started)?;
            Following::new(executor, handle, &beforehand, args.operator.format, global).until_it_ends(1).await
        })
        .await
    })
}

/// Virtual time is for simulated targets alone.
fn only_simulated(mission: &Mission, request: &StartRequest) -> Result<(), Failure> {
    for target in request.targets.values() {
        if let Some(Some(LinkSettings::Ccsds(_))) = mission.config().targets.get(&**target).map(|target| &target.link) {
            return Err(Failure::wrong_call(format!(
                "`{target}` is no simulated target, and only those live in virtual time"
            ))
            .help("leave out `--clock virtual`"));
        }
    }
    Ok(())
}

/// The program: of the artifact named, or of the sources.
fn load(mission: &mut Mission, args: &Run, global: &Global) -> Result<Loaded, Failure> {
    let loaded = match &args.artifact {
        Some(path) => program::load(path)?,
        None => {
            let compiled = mission.compile(&args.sources, &[&args.procedure])?;
            program::prove(compiled.artifact(global)?, "what was compiled")?
        }
    };
    let unit = loaded.verified.units.iter().find(|unit| *unit.name == *args.procedure);
    match unit {
        Some(unit) if unit.kind == Kind::Procedure => Ok(loaded),
        Some(_) => Err(Failure::wrong_call(format!("\"{}\" is a step, and a run is of a procedure", args.procedure))
            .help("write a procedure that calls it with `do`")),
        None => {
            let procedures = loaded.verified.units.iter().filter(|unit| unit.kind == Kind::Procedure);
            let names: Vec<&str> = procedures.map(|unit| &*unit.name).collect();
            // One of the library is compiled only where it is wanted.
            let library = args.artifact.is_none().then(standard_procedures).into_iter().flatten();
            let known = names.iter().copied().chain(library);
            let near = stellar_compiler::suggest::did_you_mean(&args.procedure, known);
            let help = near.unwrap_or_else(|| format!("there is: {}", names.join(", ")));
            Err(Failure::wrong_call(format!("there is no procedure \"{}\"", args.procedure)).help(help))
        }
    }
}

/// `name=value` pairs, each name once.
fn pairs(texts: &[String], flag: &str) -> Result<BTreeMap<String, String>, Failure> {
    let mut pairs = BTreeMap::new();
    for text in texts {
        let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(Failure::wrong_call(format!("`--{flag} {text}` is not of the form NAME=VALUE")));
        };
        if pairs.insert(name.to_owned(), value.to_owned()).is_some() {
            return Err(Failure::wrong_call(format!("`--{flag} {name}=…` is given twice")));
        }
    }
    Ok(pairs)
}

/// The names of the standard library's procedures.
fn standard_procedures<'a>() -> impl Iterator<Item = &'a str> {
    let lines = stellar_stdlib_procs::PROCEDURES.iter().flat_map(|file| file.text.lines());
    lines.filter_map(|line| line.strip_prefix("procedure \"")?.split('"').next())
}
