//! The start of a run: everything that can be wrong with it is found before the run exists.

use std::{collections::BTreeMap, sync::Arc};

use stellar_vm::{
    artifact::{self, ArtifactError},
    compare::{self, Mismatch},
    event::{Fact, Schema},
    machine::{self, Machine},
    program::{Kind, Program},
    value::Scalar,
    verify::{self, Verified, VerifyError},
};

use super::{Beginning, Executor, RunHandle, Shared, run::RunTask, shares};
use crate::{
    crash, ident,
    ports::{RunRecord, RunState, StoreError},
};

/// What a run is started with.
#[derive(Debug, Clone)]
pub struct StartRequest {
    /// The artifact.
    pub artifact: Vec<u8>,
    /// Name of the procedure.
    pub procedure: String,
    /// Target of each `uses` name; one that is left out is taken where exactly one target has its platform.
    pub targets: BTreeMap<Arc<str>, Arc<str>>,
    /// Inputs by name.
    pub inputs: BTreeMap<Arc<str>, Scalar>,
    /// Who starts it: `os:ada`.
    pub by: String,
}

/// Why a run is not started. All but the store's are wrong calls.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The artifact cannot be decoded.
    #[error("{0}")]
    Artifact(#[from] ArtifactError),
    /// The verifier refuses the artifact.
    #[error("{0}")]
    Verify(#[from] VerifyError),
    /// An entry of its catalogue differs from the target's.
    #[error("{0}")]
    Catalogue(#[from] Mismatch),
    /// A target is unknown, of another platform, without link, or cannot be guessed.
    #[error("{0}")]
    Target(String),
    /// The procedure, a `uses` name or an input does not fit.
    #[error("{0}")]
    Input(String),
    /// As many runs as may be are under way.
    #[error("{limit} runs are under way, and `executor.max_runs` allows no more")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl StartError {
    /// The error's code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Artifact(error) => error.code(),
            Self::Verify(error) => error.code(),
            Self::Catalogue(error) => error.code(),
            Self::Target(_) => "run::target",
            Self::Input(_) => "run::input",
            Self::TooMany { .. } => "run::too-many",
            Self::Store(error) => error.code(),
        }
    }

    /// Whether the caller asked for something that cannot be, as opposed to a store that fails or a limit.
    #[must_use]
    pub fn is_wrong_call(&self) -> bool {
        !matches!(self, Self::Store(_) | Self::TooMany { .. })
    }
}

impl Executor {
    /// Starts a run. Its first event is durable when this answers; the leases are taken after, and who is refused them
    /// is told by the run's end.
    ///
    /// # Errors
    /// [`StartError`]; then no run exists.
    pub async fn start(&self, request: StartRequest) -> Result<RunHandle, StartError> {
        let shared = &self.shared;
        let hash = artifact::hash(&request.artifact);
        let program = Arc::new(verify::verify(artifact::decode(&request.artifact)?)?);
        let targets = shared.choose_targets(&program, &request.procedure, request.targets)?;
        let start = machine::start::check(&program, &request.procedure, &targets, &request.inputs)
            .map_err(|error| StartError::Input(error.to_string()))?;
        shared.check_catalogue(&program, targets.values())?;
        let _gate = shared.beginning.lock().await;
        let under_way = shared.active().values().filter(|active| active.ending.borrow().is_none()).count();
        if under_way >= shared.max_runs {
            return Err(StartError::TooMany { limit: shared.max_runs });
        }
        let now = shared.clock.now();
        let run: Arc<str> = ident::ulid(now).into();
        let record = RunRecord {
            state: RunState::Requested,
            procedure: request.procedure.into(),
            artifact: hash.as_str().into(),
            targets,
            inputs: start.inputs_by_name(&program),
            by: request.by.into(),
            instance: shared.owner.instance.clone(),
            nonce: shared.owner.nonce.clone(),
            epoch: 1,
            requested_at: now,
            renewed_at: now,
            outcome: None,
            reason: None,
        };
        shared.store.artifacts.put(&hash, request.artifact).await?;
        crash::point("create.before");
        let revision = shared.store.records.create(&run, record.clone()).await?;
        crash::point("create.after");
        let shared_leases = shares(&program, start.unit);
        let machine = Machine::new(program.clone());
        let beginning = Beginning { run, program, machine, record, revision, epoch: 1, shared_leases, offset: 0 };
        shared.begin_new(beginning).await
    }
}

impl Shared {
    /// Begins a run that has a record and no log yet.
    pub(super) async fn begin_new(self: &Arc<Self>, beginning: Beginning) -> Result<RunHandle, StartError> {
        let fact = self.run_started(&beginning);
        let (mut task, active, ending) = self.task(beginning, None);
        let run = task.run.clone();
        let at = task.now();
        task.accept(fact, at).map_err(|refused| StartError::Input(refused.to_string()))?;
        append_first(&mut task).await?;
        self.spawn(task, active, ending);
        Ok(RunHandle::new(run, self.clone()))
    }

    fn run_started(&self, beginning: &Beginning) -> Fact {
        let record = &beginning.record;
        let links = record.targets.values().filter_map(|target| {
            let kind = self.gateway(target)?.kind();
            Some((target.clone(), Arc::from(kind)))
        });
        Fact::RunStarted {
            schema: Schema,
            run: beginning.run.clone(),
            procedure: record.procedure.clone(),
            targets: record.targets.clone(),
            inputs: record.inputs.clone(),
            artifact: record.artifact.clone(),
            scale: self.clock.scale(),
            virtual_clock: self.clock.is_virtual(),
            links: links.collect(),
            by: record.by.clone(),
        }
    }

    /// Fills in the targets that can be guessed, and checks each: it exists, is of the platform asked for, has a link.
    fn choose_targets(
        &self,
        program: &Program,
        procedure: &str,
        mut given: BTreeMap<Arc<str>, Arc<str>>,
    ) -> Result<BTreeMap<Arc<str>, Arc<str>>, StartError> {
        let unit = program.units.iter().find(|unit| unit.kind == Kind::Procedure && *unit.name == *procedure);
        let uses = unit.map(|unit| unit.targets.as_slice()).unwrap_or_default();
        if unit.is_some()
            && let Some(other) = given.keys().find(|name| !uses.iter().any(|wanted| wanted.name == **name))
        {
            let names: Vec<&str> = uses.iter().map(|wanted| wanted.name.as_ref()).collect();
            let message = format!("`{procedure}` uses no target named `{other}`, but {}", names.join(", "));
            return Err(StartError::Input(message));
        }
        for wanted in uses {
            let platform = usize::try_from(wanted.platform).ok().and_then(|index| program.platforms.get(index));
            let Some(platform) = platform else { continue };
            if !given.contains_key(&wanted.name) {
                let target = self.only_target(platform, &wanted.name)?;
                given.insert(wanted.name.clone(), target);
            }
            let Some(name) = given.get(&wanted.name) else { continue };
            let Some(target) = self.targets.get(name) else {
                return Err(StartError::Target(format!("there is no target `{name}` in the configuration")));
            };
            if target.platform != *platform {
                return Err(StartError::Target(format!(
                    "`{}` is to be a `{platform}`, and target `{name}` is a `{}`",
                    wanted.name, target.platform
                )));
            }
            if target.gateway.is_none() {
                return Err(StartError::Target(format!("target `{name}` has no link in the configuration")));
            }
        }
        Ok(given)
    }

    fn only_target(&self, platform: &str, name: &str) -> Result<Arc<str>, StartError> {
        let of_it = self.targets.iter().filter(|(_, target)| *target.platform == *platform);
        let names: Vec<&Arc<str>> = of_it.map(|(name, _)| name).collect();
        match names.as_slice() {
            [only] => Ok(Arc::clone(only)),
            [] => Err(StartError::Target(format!("no target of the configuration is a `{platform}`, for `{name}`"))),
            several => {
                let several: Vec<&str> = several.iter().map(|name| name.as_ref()).collect();
                Err(StartError::Target(format!(
                    "no target is given for `{name}`: one of {}, as in `-t {name}={}`",
                    several.join(", "),
                    several.first().copied().unwrap_or_default()
                )))
            }
        }
    }

    /// Compares what the program uses with the catalogue of each target.
    pub(super) fn check_catalogue<'a>(
        &self,
        program: &Verified,
        targets: impl Iterator<Item = &'a Arc<str>>,
    ) -> Result<(), Mismatch> {
        let named = targets.filter_map(|name| Some((name.as_ref(), self.targets.get(name)?.platform.as_ref())));
        compare::check(program, named, &self.catalogue)
    }
}

async fn append_first(task: &mut RunTask) -> Result<(), StartError> {
    let events = std::mem::take(&mut task.batch);
    task.journal.append(&events).await?;
    task.journal.tell(task.machine.seq());
    Ok(())
}
