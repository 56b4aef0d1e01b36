//! The runtime of one process, composed of the configuration: catalogue, targets with their links, store, clock.

use std::{collections::BTreeMap, path::PathBuf};

use stellar_compiler::config::{LinkSettings, Target};
use stellar_runtime::{
    api::Served,
    clock::virtual_runtime,
    executor::{Executor, ResumeError, StartError},
    gateway::link::{
        ccsds::{CcsdsLink, CcsdsOptions},
        sim::{SimLink, SimOptions},
    },
    instance::{ClockMode, Instance, LinkContext, OpenLink, RuntimeConfig, TargetConfig},
};
use stellar_vm::catalogue::Catalogue;

use crate::{
    args::Global,
    exit::{Exit, Failure},
    mission::Mission,
};

/// What a process of the runtime is made of.
pub(crate) struct Settings {
    config: RuntimeConfig,
    catalogue: Catalogue,
}

/// Compiles the catalogue and makes the links of the targets. In virtual time only those of `used` have one: the others
/// would live through each of its seconds for nothing.
pub(crate) fn settings(
    mission: &Mission,
    global: &Global,
    mode: ClockMode,
    used: impl Fn(&str, &str) -> bool,
) -> Result<Settings, Failure> {
    let catalogue = mission.catalogue(global)?;
    let configured = mission.config();
    let mut targets = BTreeMap::new();
    for (name, target) in &configured.targets {
        let virtual_time = matches!(mode, ClockMode::Virtual(_));
        let mut made = of(target, mission, virtual_time);
        if virtual_time && !used(name, &target.platform) {
            made.link = None;
        }
        targets.insert(name.as_str().into(), made);
    }
    let config = RuntimeConfig {
        store: mission.store(),
        instance: configured.executor.instance.as_str().into(),
        scale: configured.scale,
        targets,
        max_runs: configured.executor.max_runs,
    };
    Ok(Settings { config, catalogue })
}

fn of(target: &Target, mission: &Mission, virtual_time: bool) -> TargetConfig {
    let link: Option<OpenLink> = match &target.link {
        Some(LinkSettings::Sim(sim)) => {
            let behaviours = sim.behaviours.as_ref().map(|named| mission.root().join(&named.path));
            let shown = sim.behaviours.as_ref().map(|named| named.path.clone());
            let seed = sim.seed;
            Some(Box::new(move |context| simulated(context, behaviours, shown, seed)))
        }
        // In virtual time a real target cannot be waited for: it is there, and has no link.
        Some(LinkSettings::Ccsds(_)) if virtual_time => None,
        Some(LinkSettings::Ccsds(ccsds)) => {
            let (target, local, replayed_after) = (ccsds.target, ccsds.local, ccsds.replayed_after);
            Some(Box::new(move |context: LinkContext| {
                let options = CcsdsOptions { target, local, record: context.record, replayed_after };
                match CcsdsLink::new(context.platform, options, context.clock) {
                    Ok(link) => Ok(Box::new(link) as _),
                    Err(error) => Err(error.to_string()),
                }
            }))
        }
        None => None,
    };
    TargetConfig { platform: target.platform.as_str().into(), link }
}

fn simulated(
    context: LinkContext,
    behaviours: Option<PathBuf>,
    shown: Option<String>,
    seed: u64,
) -> Result<Box<dyn stellar_runtime::gateway::link::Link>, String> {
    let LinkContext { platform, clock, record, .. } = context;
    let full = behaviours.as_ref().map(|path| path.display().to_string());
    let link = SimLink::open(SimOptions { platform, clock, behaviours, seed, record }).map_err(|error| {
        let text = error.to_string();
        // The file is told as it is named in the configuration.
        match (full, shown) {
            (Some(full), Some(shown)) => text.replace(&full, &shown),
            _ => text,
        }
    })?;
    Ok(Box::new(link))
}

/// A process of the runtime, with its socket.
pub(crate) struct Node {
    instance: Instance,
    served: Served,
}

impl Node {
    /// Opens store, gateways and socket.
    pub(crate) async fn open(settings: Settings, mode: ClockMode) -> Result<Self, Failure> {
        let Settings { config, catalogue } = settings;
        let instance =
            Instance::open(config, catalogue, mode).await.map_err(|e| Failure::failed(format!("{}: {e}", e.code())))?;
        let served =
            instance.serve().map_err(|e| Failure::failed(format!("the store's socket cannot be made: {e}")))?;
        Ok(Self { instance, served })
    }

    /// Does the work while the store takes writes; then closes in order.
    pub(crate) async fn work<W>(self, work: W) -> Result<Exit, Failure>
    where
        W: AsyncFnOnce(&Executor) -> Result<Exit, Failure>,
    {
        let done = tokio::select! {
            done = work(self.instance.executor()) => Some(done),
            _ = self.instance.failed() => None,
        };
        // That the store has stopped is why a run is left, and not the other way round, whichever is seen first.
        let stopped = self.instance.stopped();
        let (Some(done), None) = (done, &stopped) else {
            // Nothing may act after a write failed: not even closing in order.
            let message = format!("store::unavailable: {}", stopped.unwrap_or_default());
            return Err(Failure::failed(message).help("the run can be resumed when it is mended"));
        };
        let Self { instance, served } = self;
        drop(served);
        instance.close().await;
        done
    }
}

/// A runtime of tokio with the clock of this mode.
pub(crate) fn block_on(mode: ClockMode, work: impl Future<Output = Result<Exit, Failure>>) -> Result<Exit, Failure> {
    let runtime = match mode {
        ClockMode::Real => tokio::runtime::Builder::new_current_thread().enable_all().build(),
        ClockMode::Virtual(_) => virtual_runtime(),
    };
    runtime.map_err(|e| Failure::failed(format!("no runtime can be made: {e}")))?.block_on(work)
}

/// A start that was refused.
pub(crate) fn not_started(error: StartError) -> Failure {
    let message = format!("{}: {error}", error.code());
    if error.is_wrong_call() { Failure::wrong_call(message) } else { Failure::failed(message) }
}

/// A run that cannot be resumed.
pub(crate) fn not_resumed(error: ResumeError) -> Failure {
    Failure::failed(format!("{}: {error}", error.code()))
}
