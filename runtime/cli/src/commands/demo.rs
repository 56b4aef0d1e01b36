//! `stellar demo`.

use std::path::{Path, PathBuf};

use super::{init, run};
use crate::{
    args::{Clock, Demo, Format, Global, Operator, Run, Sources},
    exit::{Exit, Failure},
    output,
};

/// Writes a mission folder, runs "AOS acquisition" in it, and prints how to look further.
pub(super) fn demo(args: &Demo, global: &Global) -> Result<Exit, Failure> {
    let dir = match &args.dir {
        Some(dir) => dir.clone(),
        None => fresh()?,
    };
    init::write(&dir)?;
    output::tell(&format!(
        "stellar: a mission folder in {}; its target is simulated, and has no signal for the first 6 s",
        dir.display()
    ));
    let config = dir.join("stellar.yaml");
    let global = Global { config: Some(config.clone()), color: global.color };
    let exit = run::run(
        &Run {
            procedure: "AOS acquisition".to_owned(),
            sources: Sources { paths: Vec::new(), allow: Vec::new(), deny: Vec::new() },
            artifact: None,
            target: vec!["sat=sim-1".to_owned()],
            input: vec!["tcu=2".to_owned()],
            clock: Clock::Real,
            operator: Operator { answer: Vec::new(), decide: Vec::new(), format: Format::Text },
        },
        &global,
    )?;
    output::print(&next(&config))?;
    Ok(exit)
}

/// A folder of its own for each demo; it stays, to be looked at.
fn fresh() -> Result<PathBuf, Failure> {
    let folder = tempfile::Builder::new().prefix("stellar-demo-").tempdir();
    let folder = folder.map_err(|e| Failure::failed(format!("no temporary folder can be made: {e}")))?;
    Ok(folder.keep())
}

/// The commands that look further, as this very program is called.
fn next(config: &Path) -> String {
    let program = std::env::current_exe().map_or_else(|_| "stellar".to_owned(), |path| init::quoted(&path));
    let stellar = format!("{program} --config {}", init::quoted(config));
    let steps = [
        ("the run, and how it ended", "show last"),
        ("its events", "log last"),
        ("the machine again over its log", "replay last"),
        ("how it stood at event 8", "replay last --to 8"),
        ("the bounds of the procedures", "check"),
        (
            "a longer procedure, in virtual time",
            "run \"First pass\" --clock virtual --answer \"heat the unit with 5 W?=yes\"",
        ),
    ];
    let lines = steps.map(|(what, how)| format!("  # {what}\n  {stellar} {how}\n"));
    format!("\nlook further:\n{}", lines.concat())
}
