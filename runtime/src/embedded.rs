//! The embedded store: one folder, one process, no server.
//!
//! `store.redb` holds logs, records, leases, artifacts, telecommands and what operators sent; one writer thread commits
//! what many callers ask in one transaction, and answers each when it is on disk. `telemetry.redb` holds the archive,
//! committed every 100 ms. Who holds the folder's lock is the only instance. Any error of a write or fsync stops the
//! store for good: nothing more is acknowledged, and [`Embedded::stopped`] tells the process to exit. Every record
//! carries a checksum, and the whole file is checked when it is opened.

mod archive;
mod artifacts;
mod control;
#[cfg(feature = "crash-points")]
mod fault;
mod leases;
mod lock;
mod log;
mod records;
mod seal;
mod telecommands;
mod versioned;
mod writer;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use redb::{Builder, Database, ReadableTable, TableDefinition};
use tokio::sync::watch;

pub use self::lock::Holder;
use self::{archive::EmbeddedArchive, lock::FolderLock, writer::Writer};
use crate::ports::Store;

/// Keeps virtual time from advancing while the guard that it returns lives; in real time it does nothing.
pub type Hold = Arc<dyn Fn() -> Box<dyn Send> + Send + Sync>;

/// A [`Hold`] that holds nothing: time is real.
#[must_use]
pub fn no_hold() -> Hold {
    Arc::new(|| Box::new(()))
}

/// Version of the layout of the tables.
const LAYOUT: u64 = 1;
const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");

/// Why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it.
    #[error("the store `{}` is in use by {holder}: one process at a time can open it", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
        /// Who has it.
        holder: Holder,
    },
    /// The folder or a file in it cannot be made, read or written.
    #[error("the store `{}` cannot be opened: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is damaged or not one of ours.
    #[error("the store file `{}` is damaged: {why}; nothing was changed, restore it from a copy or move it away", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A later version has written it.
    #[error("the store file `{}` has layout {found}, this build reads layout {LAYOUT}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its layout.
        found: u64,
    },
}

impl OpenError {
    /// The error's code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::InUse { .. } => "store::in-use",
            Self::Io { .. } => "store::io",
            Self::Damaged { .. } => "store::damaged",
            Self::Newer { .. } => "store::newer",
        }
    }
}

/// An open embedded store. Dropping it and all ports made of it writes what is left and frees the folder.
pub struct Embedded {
    path: PathBuf,
    writer: Arc<Writer>,
    archive: Arc<EmbeddedArchive>,
    stopped: watch::Receiver<Option<String>>,
}

impl Embedded {
    /// Opens the store in a folder, making it where it is missing. `instance` is told to whoever comes second.
    ///
    /// # Errors
    /// [`OpenError`]: in use, damaged, of a later version, or the system refuses.
    pub fn open(path: &Path, instance: &str, hold: Hold) -> Result<Self, OpenError> {
        Self::open_with(path, instance, hold, &open_file)
    }

    fn open_with(
        path: &Path,
        instance: &str,
        hold: Hold,
        opener: &dyn Fn(&Path) -> Result<Database, OpenError>,
    ) -> Result<Self, OpenError> {
        make_folder(path)?;
        let lock = Arc::new(FolderLock::take(path, instance)?);
        let (stop, stopped) = watch::channel(None);
        let stop = Arc::new(stop);
        whole(path)?;
        let database = opener(&path.join("store.redb"))?;
        check_layout(&database, &path.join("store.redb"))?;
        let archive = opener(&path.join("telemetry.redb"))?;
        check_layout(&archive, &path.join("telemetry.redb"))?;
        let archive_path = path.join("telemetry.redb");
        let archive = EmbeddedArchive::start(archive, lock.clone(), hold.clone(), stop.clone())
            .map_err(|error| not_opened(&archive_path, error))?;
        let writer = Writer::start(database, lock, hold, stop)
            .map_err(|source| OpenError::Io { path: path.to_owned(), source })?;
        sync_folder(path)?;
        Ok(Self { path: path.to_owned(), writer: Arc::new(writer), archive: Arc::new(archive), stopped })
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The ports.
    #[must_use]
    pub fn store(&self) -> Store {
        Store {
            log: self.writer.clone(),
            control: self.writer.clone(),
            records: self.writer.clone(),
            leases: self.writer.clone(),
            artifacts: self.writer.clone(),
            telecommands: self.writer.clone(),
            archive: self.archive.clone(),
        }
    }

    /// Becomes `Some` with the reason when the store has stopped because it could not write: the process must exit.
    #[must_use]
    pub fn stopped(&self) -> watch::Receiver<Option<String>> {
        self.stopped.clone()
    }
}

fn make_folder(path: &Path) -> Result<(), OpenError> {
    let fail = |source| OpenError::Io { path: path.to_owned(), source };
    if !path.is_dir() {
        std::fs::create_dir_all(path).map_err(fail)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        sync_folder(parent)?;
    }
    Ok(())
}

/// Refuses a folder whose runs are gone while what came of them is there. The runs' file is made first and is never empty
/// again: a crash while a store is made leaves none of the others.
fn whole(path: &Path) -> Result<(), OpenError> {
    let size = |name: &str| std::fs::metadata(path.join(name)).map_or(0, |found| found.len());
    let links = std::fs::read_dir(path.join("links")).is_ok_and(|mut entries| entries.next().is_some());
    if size("store.redb") == 0 && (size("telemetry.redb") > 0 || links) {
        let why = "it is empty or missing, and the telemetry and the links' records of its runs are there".to_owned();
        return Err(OpenError::Damaged { path: path.join("store.redb"), why });
    }
    Ok(())
}

/// Makes the names in a folder durable.
fn sync_folder(path: &Path) -> Result<(), OpenError> {
    std::fs::File::open(path)
        .and_then(|folder| folder.sync_all())
        .map_err(|source| OpenError::Io { path: path.to_owned(), source })
}

fn open_file(path: &Path) -> Result<Database, OpenError> {
    #[cfg(feature = "crash-points")]
    if let Some(fault) = fault::of(path) {
        return guarded(path, || fault.open(path));
    }
    guarded(path, || Builder::new().set_check_integrity_on_open(true).create(path))
}

/// Opens a database; what redb says, and a panic of its over a damaged page, becomes one clear error.
fn guarded(path: &Path, open: impl FnOnce() -> Result<Database, redb::DatabaseError>) -> Result<Database, OpenError> {
    let path = path.to_owned();
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(open)) {
        Ok(Ok(database)) => Ok(database),
        Ok(Err(redb::DatabaseError::Storage(redb::StorageError::Io(source))))
            if source.kind() != io::ErrorKind::InvalidData =>
        {
            Err(OpenError::Io { path, source })
        }
        Ok(Err(error)) => Err(OpenError::Damaged { path, why: error.to_string() }),
        Err(_) => Err(OpenError::Damaged { path, why: String::from("a page of it cannot be read") }),
    }
}

/// What redb says of a file that is being opened: a disk that does not write or read is no damage.
fn not_opened(path: &Path, error: redb::Error) -> OpenError {
    let path = path.to_owned();
    match error {
        redb::Error::Io(source) if source.kind() != io::ErrorKind::InvalidData => OpenError::Io { path, source },
        redb::Error::PreviousIo => OpenError::Io { path, source: io::Error::other(error.to_string()) },
        other => OpenError::Damaged { path, why: other.to_string() },
    }
}

fn check_layout(database: &Database, path: &Path) -> Result<(), OpenError> {
    let layout = || -> Result<u64, redb::Error> {
        let txn = database.begin_write()?;
        let found = {
            let mut meta = txn.open_table(META)?;
            let found = meta.get("layout")?.map(|found| found.value());
            if found.is_none() {
                meta.insert("layout", LAYOUT)?;
            }
            found.unwrap_or(LAYOUT)
        };
        txn.commit()?;
        Ok(found)
    };
    match layout().map_err(|error| not_opened(path, error))? {
        LAYOUT => Ok(()),
        found => Err(OpenError::Newer { path: path.to_owned(), found }),
    }
}

#[cfg(test)]
mod tests;
