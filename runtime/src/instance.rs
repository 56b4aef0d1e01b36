//! One process of the runtime, put together: clock, store, gateways, executor, and the store's socket.
//!
//! [`Instance::open`] takes the store's folder, so that this process is the only one on it, and opens a gateway for each
//! target that has a link. It takes up no run by itself.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use stellar_vm::{
    catalogue::{Catalogue, Platform},
    time::{Instant as Time, Scale},
};
use tokio::sync::watch;

use crate::{
    api::{self, Served},
    clock::{Clock, from_utc},
    commanding::TargetGateway,
    embedded::{Embedded, Hold, OpenError},
    executor::{Executor, ResumeError, RunHandle, Setup, StartError, StartRequest, Target},
    gateway::{Gateway, GatewayError, GatewayOptions, link::Link},
    ident,
    journal::read_all,
    leases::Owner,
    ports::{Line, RunRecord, StoreError},
};

/// What a link is made with.
#[derive(Clone)]
pub struct LinkContext {
    /// The target.
    pub target: Arc<str>,
    /// Its platform.
    pub platform: Arc<Platform>,
    /// The clock of the process.
    pub clock: Clock,
    /// The file of the link's own record.
    pub record: PathBuf,
}

/// Makes the link of a target; an error is told in words.
pub type OpenLink = Box<dyn FnOnce(LinkContext) -> Result<Box<dyn Link>, String> + Send>;

/// A target of the configuration.
pub struct TargetConfig {
    /// Its platform.
    pub platform: Arc<str>,
    /// How it is reached; none where the configuration gives it no link.
    pub link: Option<OpenLink>,
}

/// What the configuration says of the runtime.
pub struct RuntimeConfig {
    /// Folder of the embedded store.
    pub store: PathBuf,
    /// Name of the instance.
    pub instance: Arc<str>,
    /// The scale of all times.
    pub scale: Scale,
    /// The targets.
    pub targets: BTreeMap<Arc<str>, TargetConfig>,
    /// Most runs under way at once.
    pub max_runs: usize,
}

/// Which clock a process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockMode {
    /// Real time.
    Real,
    /// Virtual time, from this instant on or from now; only within [`crate::clock::virtual_runtime`].
    Virtual(Option<Time>),
}

/// Why an instance cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// The store.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store, once open.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The clock.
    #[error("the system gives no clock that counts on while it sleeps: {0}")]
    Clock(io::Error),
    /// A target's platform is not in the catalogue.
    #[error("target `{target}` is a `{platform}`, and the catalogue has no such platform")]
    Platform {
        /// The target.
        target: Arc<str>,
        /// Its platform.
        platform: Arc<str>,
    },
    /// A link cannot be made.
    #[error("the link of target `{target}` cannot be opened: {why}")]
    Link {
        /// The target.
        target: Arc<str>,
        /// Why.
        why: String,
    },
    /// A gateway cannot be opened.
    #[error(transparent)]
    Gateway(#[from] GatewayError),
    /// A folder cannot be made.
    #[error("`{}` cannot be made: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl InstanceError {
    /// The error's code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Open(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::Clock(_) => "run::clock",
            Self::Platform { .. } => "config::unknown-platform",
            Self::Link { .. } | Self::Gateway(_) => "run::link",
            Self::Folder { .. } => "store::io",
        }
    }
}

/// A process of the runtime.
pub struct Instance {
    executor: Executor,
    gateways: BTreeMap<Arc<str>, Gateway>,
    embedded: Embedded,
}

impl Instance {
    /// Opens store and gateways.
    ///
    /// # Errors
    /// [`InstanceError`]: another process has the store, it is damaged, a link can never work.
    pub async fn open(config: RuntimeConfig, catalogue: Catalogue, mode: ClockMode) -> Result<Self, InstanceError> {
        let RuntimeConfig { store, instance, scale, targets, max_runs } = config;
        let clock = clock(scale, mode).map_err(InstanceError::Clock)?;
        let holder = clock.clone();
        let hold: Hold = Arc::new(move || Box::new(holder.busy()));
        let embedded = Embedded::open(&store, &instance, hold)?;
        let owner = Owner { instance, nonce: ident::ulid(clock.now()).into() };
        let links = store.join("links");
        std::fs::create_dir_all(&links).map_err(|source| InstanceError::Folder { path: links.clone(), source })?;
        let ports = embedded.store();
        let (mut gateways, mut known) = (BTreeMap::new(), BTreeMap::new());
        for (name, TargetConfig { platform, link }) in targets {
            let mut gateway = None;
            if let Some(open) = link {
                let of = catalogue.platforms.iter().find(|one| one.name == platform);
                let Some(of) = of else { return Err(InstanceError::Platform { target: name, platform }) };
                let options = GatewayOptions {
                    target: name.clone(),
                    platform: Arc::new(of.clone()),
                    clock: clock.clone(),
                    telecommands: ports.telecommands.clone(),
                    archive: ports.archive.clone(),
                    nonce: owner.nonce.clone(),
                };
                let opened = open_gateway(options, open, &links).await?;
                gateway = Some(Arc::new(opened.clone()) as Arc<dyn TargetGateway>);
                gateways.insert(name.clone(), opened);
            }
            known.insert(name, Target { platform, gateway });
        }
        let catalogue = Arc::new(catalogue);
        let executor = Executor::new(Setup { store: ports, clock, catalogue, targets: known, owner, max_runs });
        executor.settle_ended().await?;
        Ok(Self { executor, gateways, embedded })
    }

    /// The executor.
    #[must_use]
    pub fn executor(&self) -> &Executor {
        &self.executor
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        self.executor.clock()
    }

    /// The gateway of a target that has a link.
    #[must_use]
    pub fn gateway(&self, target: &str) -> Option<&Gateway> {
        self.gateways.get(target)
    }

    /// The folder of the store.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.embedded.path()
    }

    /// Starts a run.
    ///
    /// # Errors
    /// [`StartError`]; then no run exists.
    pub async fn start(&self, request: StartRequest) -> Result<RunHandle, StartError> {
        self.executor.start(request).await
    }

    /// Takes a run over if nobody owns it, and lets it go on if it is suspended.
    ///
    /// # Errors
    /// [`ResumeError`].
    pub async fn resume(&self, run: &str, by: &str) -> Result<RunHandle, ResumeError> {
        self.executor.resume(run, by).await
    }

    /// Takes up every run that an earlier process left, suspended ones suspended; each with what came of it.
    ///
    /// # Errors
    /// The store's, where the runs cannot be listed.
    pub async fn take_up_all(&self) -> Result<Vec<(Arc<str>, Result<RunHandle, ResumeError>)>, StoreError> {
        let mut all = Vec::new();
        for run in self.executor.left_behind().await? {
            let taken = self.executor.take_over(&run).await;
            all.push((run, taken));
        }
        Ok(all)
    }

    /// All records of runs, sorted by run.
    ///
    /// # Errors
    /// The store's.
    pub async fn runs(&self) -> Result<Vec<(Arc<str>, RunRecord)>, StoreError> {
        self.executor.runs().await
    }

    /// The record of a run.
    ///
    /// # Errors
    /// The store's.
    pub async fn record(&self, run: &str) -> Result<Option<RunRecord>, StoreError> {
        Ok(self.executor.store().records.get(run).await?.map(|(record, _)| record))
    }

    /// The whole log of a run as it is now; empty where there is none.
    ///
    /// # Errors
    /// The store's.
    pub async fn log(&self, run: &str) -> Result<Vec<Line>, StoreError> {
        read_all(self.executor.store().log.as_ref(), run).await
    }

    /// The artifact that a run is bound to.
    ///
    /// # Errors
    /// The store's.
    pub async fn artifact(&self, hash: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.executor.store().artifacts.get(hash).await
    }

    /// Serves the API on the store's socket until what this gives is dropped.
    ///
    /// # Errors
    /// Where the socket cannot be made.
    pub fn serve(&self) -> io::Result<Served> {
        api::serve(self.embedded.path(), self.executor.clone())
    }

    /// Resolves when the store has stopped because it could not write: the process must exit, and this says why.
    pub async fn failed(&self) -> String {
        let mut stopped: watch::Receiver<Option<String>> = self.embedded.stopped();
        match stopped.wait_for(Option::is_some).await {
            Ok(why) => why.clone().unwrap_or_default(),
            // It cannot stop any more.
            Err(_) => std::future::pending().await,
        }
    }

    /// Why the store has stopped, where it has.
    #[must_use]
    pub fn stopped(&self) -> Option<String> {
        self.embedded.stopped().borrow().clone()
    }

    /// Closes the gateways and leaves the runs as they stand: what is not claimed never leaves.
    pub async fn close(self) {
        for (_, gateway) in self.gateways {
            gateway.close().await;
        }
        // What the archive has not written yet is written when the store is dropped; an error was told by `failed`.
        drop(self.executor.store().archive.flush().await);
    }
}

fn clock(scale: Scale, mode: ClockMode) -> io::Result<Clock> {
    match mode {
        ClockMode::Real => Clock::real(scale),
        ClockMode::Virtual(Some(start)) => Ok(Clock::virtual_from(start)),
        ClockMode::Virtual(None) => {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            let ns = i64::try_from(now.as_nanos()).unwrap_or(i64::MAX);
            Ok(Clock::virtual_from(from_utc(ns, scale)))
        }
    }
}

async fn open_gateway(options: GatewayOptions, open: OpenLink, links: &Path) -> Result<Gateway, InstanceError> {
    let context = LinkContext {
        target: options.target.clone(),
        platform: options.platform.clone(),
        clock: options.clock.clone(),
        record: links.join(format!("{}.jsonl", options.target)),
    };
    let target = options.target.clone();
    let link = open(context).map_err(|why| InstanceError::Link { target, why })?;
    Ok(Gateway::open(options, link).await?)
}
