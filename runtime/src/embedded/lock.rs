//! The lock of a store's folder: one process at a time, freed by the system however that process ends.

use std::{
    fmt,
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    path::Path,
};

use super::OpenError;

/// Who holds a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its process, where it can be read.
    pub process: Option<u32>,
    /// Its configured name, where it can be read.
    pub instance: Option<String>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.process, &self.instance) {
            (Some(process), Some(instance)) => write!(f, "process {process} (`{instance}`)"),
            (Some(process), None) => write!(f, "process {process}"),
            _ => f.write_str("another process"),
        }
    }
}

/// The held lock.
pub(super) struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Takes the lock at once or says who has it.
    pub(super) fn take(folder: &Path, instance: &str) -> Result<Self, OpenError> {
        let path = folder.join("lock");
        let fail = |source| OpenError::Io { path: path.clone(), source };
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(OpenError::InUse { path: folder.to_owned(), holder: holder(&mut file) });
            }
            Err(TryLockError::Error(source)) => return Err(fail(source)),
        }
        file.set_len(0).map_err(fail)?;
        file.rewind().map_err(fail)?;
        write!(file, "{} {instance}", std::process::id()).map_err(fail)?;
        Ok(Self { _file: file })
    }
}

fn holder(file: &mut File) -> Holder {
    let mut text = String::new();
    if file.rewind().and_then(|()| file.read_to_string(&mut text)).is_err() {
        text.clear();
    }
    let (process, instance) = text.split_once(' ').unwrap_or((text.as_str(), ""));
    Holder { process: process.parse().ok(), instance: (!instance.is_empty()).then(|| instance.to_owned()) }
}
