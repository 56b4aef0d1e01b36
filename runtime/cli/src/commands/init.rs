//! `stellar init DIR`.

use std::{fs, io, path::Path};

use crate::{
    args::Init,
    exit::{Exit, Failure},
    output,
};

/// The files of a new mission folder, with their paths in it.
const TEMPLATE: &[(&str, &str)] = &[
    ("stellar.yaml", include_str!("../../templates/stellar.yaml")),
    ("catalogue/platform-v3.yaml", include_str!("../../templates/catalogue/platform-v3.yaml")),
    ("procedures/first-pass.proc", include_str!("../../templates/procedures/first-pass.proc")),
    ("sim/sim-1.yaml", include_str!("../../templates/sim/sim-1.yaml")),
    (".gitignore", include_str!("../../templates/gitignore")),
];

/// Writes a new mission folder and says how to go on.
pub(super) fn init(args: &Init) -> Result<Exit, Failure> {
    write(&args.dir)?;
    let dir = quoted(&args.dir);
    output::print(&format!(
        "{dir} is a mission folder now: stellar.yaml, catalogue/, procedures/, sim/\n\
         Next:\n  \
         cd {dir}\n  \
         stellar check\n  \
         stellar run \"AOS acquisition\" -i tcu=2\n  \
         stellar run \"First pass\" --answer \"heat the unit with 5 W?=yes\"\n"
    ))?;
    Ok(Exit::Done)
}

/// Writes the files into a folder that is not there yet, or empty.
pub(super) fn write(dir: &Path) -> Result<(), Failure> {
    let wrong = |e: io::Error| Failure::failed(format!("`{}` cannot be written: {e}", dir.display()));
    match fs::read_dir(dir) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                return Err(Failure::wrong_call(format!("`{}` is not empty", dir.display())).help("name a new folder"));
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Failure::wrong_call(format!("`{}` cannot be used: {error}", dir.display()))),
    }
    for (path, text) in TEMPLATE {
        let path = dir.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all).map_err(wrong)?;
        fs::write(path, text).map_err(wrong)?;
    }
    Ok(())
}

/// A path as a shell reads it.
pub(super) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = text.chars().all(|c| c.is_alphanumeric() || "/._-+,:@%".contains(c)) && !text.is_empty();
    if plain { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
