//! Unix sockets at any path: one that is too long for the system is reached through its folder.

use std::{
    fs::{File, Permissions},
    io,
    os::{fd::AsRawFd, unix::fs::PermissionsExt},
    path::{Path, PathBuf},
};

use tokio::net::{UnixListener, UnixStream};

/// Longest path that a socket's address holds.
const LONGEST: usize = 100;

/// The path to give to the system, with the open folder that it may go through.
fn address(path: &Path) -> io::Result<(PathBuf, Option<File>)> {
    if path.as_os_str().len() <= LONGEST {
        return Ok((path.to_owned(), None));
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok((path.to_owned(), None)) };
    let folder = File::open(folder)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
    Ok((short, Some(folder)))
}

/// Listens at a path, for this user alone; a socket that is left there is removed.
pub(super) fn bind(path: &Path) -> io::Result<UnixListener> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let (short, _folder) = address(path)?;
    let listener = UnixListener::bind(short)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Connects to whoever listens at a path.
pub(super) async fn connect(path: &Path) -> io::Result<UnixStream> {
    let (short, _folder) = address(path)?;
    UnixStream::connect(short).await
}
