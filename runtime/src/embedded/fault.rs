//! A disk that fails when a test says so: only with the feature `crash-points`.
//!
//! `STELLAR_STORE_FAULT=file:what:n` names a file of the store (`store`, `telemetry`) and what its n-th operation of that
//! kind does: `sync` fails once, as an fsync does whose error the system then forgets; `write` fails, and so does every
//! write and growth after it, as on a full disk; `tear` writes the first half and fails, and so does all that follows.

use std::{
    fs::OpenOptions,
    io,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use redb::{Builder, Database, DatabaseError, StorageBackend, backends::FileBackend};

/// Which operation fails, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Sync,
    Write,
    Tear,
}

/// A fault that the environment asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fault {
    what: What,
    nth: u64,
}

/// The fault of this file, if the environment names one.
pub(super) fn of(path: &Path) -> Option<Fault> {
    let text = std::env::var("STELLAR_STORE_FAULT").ok()?;
    let mut parts = text.split(':');
    let (file, what, nth) = (parts.next()?, parts.next()?, parts.next()?.parse().ok()?);
    let what = match what {
        "sync" => What::Sync,
        "write" => What::Write,
        "tear" => What::Tear,
        _ => return None,
    };
    (path.file_stem()? == file).then_some(Fault { what, nth })
}

impl Fault {
    /// Opens the file so that it fails.
    pub(super) fn open(self, path: &Path) -> Result<Database, DatabaseError> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = FileBackend::new(file.map_err(|error| DatabaseError::Storage(error.into()))?)?;
        let disk = Disk { file, fault: self, done: AtomicU64::new(0) };
        Builder::new().set_check_integrity_on_open(true).create_with_backend(disk)
    }
}

#[derive(Debug)]
struct Disk {
    file: FileBackend,
    fault: Fault,
    /// Operations of the kind that fails.
    done: AtomicU64,
}

impl Disk {
    /// Counts an operation that changes the file; whether this is the one, and whether it is behind it.
    fn stands(&self) -> std::cmp::Ordering {
        (self.done.fetch_add(1, Ordering::SeqCst) + 1).cmp(&self.fault.nth)
    }
}

fn full() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, "no space left on the device (injected)")
}

impl StorageBackend for Disk {
    fn len(&self) -> Result<u64, io::Error> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        if self.fault.what != What::Sync && self.stands().is_ge() {
            return Err(full());
        }
        self.file.set_len(len)
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        if self.fault.what == What::Sync && self.stands().is_eq() {
            return Err(io::Error::other("input/output error (injected)"));
        }
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        if self.fault.what == What::Sync {
            return self.file.write(offset, data);
        }
        let stands = self.stands();
        if stands.is_eq() && self.fault.what == What::Tear {
            let (half, _) = data.split_at(data.len() / 2);
            self.file.write(offset, half)?;
        }
        if stands.is_ge() { Err(full()) } else { self.file.write(offset, data) }
    }

    fn close(&self) -> Result<(), io::Error> {
        self.file.close()
    }
}
