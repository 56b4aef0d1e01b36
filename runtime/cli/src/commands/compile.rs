//! `stellar compile [PATH…] -o FILE.stc`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use stellar_vm::{artifact, verify};

use crate::{
    args::{Compile, Global},
    exit::{Exit, Failure},
    mission::Mission,
    output,
};

/// Compiles, proves the artifact, and writes it: whole, or not at all.
pub(super) fn compile(args: &Compile, global: &Global) -> Result<Exit, Failure> {
    let mut mission = Mission::find(global, &args.sources.paths)?;
    mission.sound(global)?;
    let bytes = mission.compile(&args.sources, &[])?.artifact(global)?;
    let program = artifact::decode(&bytes).map_err(|e| Failure::failed(format!("a fault in stellar: {e}")))?;
    let units = program.units.len();
    verify::verify(program).map_err(|e| Failure::failed(format!("a fault in stellar: {e}")))?;
    write(&args.output, &bytes)
        .map_err(|e| Failure::failed(format!("`{}` cannot be written: {e}", args.output.display())))?;
    output::tell(&format!(
        "{}: {units} definitions, {} bytes, BLAKE3 {}",
        args.output.display(),
        bytes.len(),
        artifact::hash(&bytes)
    ));
    Ok(Exit::Done)
}

/// Writes beside the file and moves it into place, so that nobody ever reads half of it.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .map_or_else(|| PathBuf::from("."), Path::to_owned);
    // What is no file (a pipe, a device) is written to as it is.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return fs::write(path, bytes);
    }
    let mut file = tempfile::Builder::new().prefix(".stellar-").tempfile_in(folder)?;
    io::Write::write_all(&mut file, bytes)?;
    file.as_file().sync_all()?;
    // A temporary file is for its owner alone; an artifact has the mode that any new file has.
    let mode = fs::metadata(path).map(|it| it.permissions()).or_else(|_| default_mode())?;
    file.as_file().set_permissions(mode)?;
    file.persist(path)?;
    Ok(())
}

/// The mode of a new file: what the umask leaves of 0666.
fn default_mode() -> io::Result<fs::Permissions> {
    let folder = tempfile::tempdir()?;
    let probe = folder.path().join("mode");
    fs::write(&probe, b"")?;
    Ok(fs::metadata(probe)?.permissions())
}
