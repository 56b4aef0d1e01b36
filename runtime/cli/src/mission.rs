//! The mission: its folder, its configuration, its texts, and their compilation.
//!
//! The folder is that of the configuration; without one it is the deepest folder that holds all named files, so that
//! an artifact does not depend on where the command was called. Paths in artifacts and reports are relative to it.

mod files;

use std::{
    env,
    path::{Path, PathBuf},
};

use stellar_compiler::{
    config::{self, Config, Named},
    diagnostics::{Diagnostic, Levels},
    pipeline::{Came, Checked, File, Input, Parsed},
    source::{Origin, Sources},
};

use stellar_vm::catalogue::Catalogue;

use crate::{
    args::{Global, Sources as Wanted},
    exit::Failure,
    output,
};

/// Name of the configuration.
const FILE_NAME: &str = "stellar.yaml";

/// A mission folder with its configuration.
#[derive(Debug, Clone)]
pub(crate) struct Mission {
    root: PathBuf,
    config: Config,
    /// The configuration's text, for reports about it.
    sources: Sources,
    diagnostics: Vec<Diagnostic>,
}

impl Mission {
    /// Finds and reads the configuration: `--config`, `STELLAR_CONFIG`, or `stellar.yaml` upwards from the current
    /// folder. What is wrong in it is kept for the report.
    pub(crate) fn find(global: &Global, named: &[PathBuf]) -> Result<Self, Failure> {
        let here =
            env::current_dir().map_err(|e| Failure::failed(format!("the current folder cannot be used: {e}")))?;
        let path = match &global.config {
            Some(path) => Some(here.join(path)),
            None => here.ancestors().map(|folder| folder.join(FILE_NAME)).find(|path| path.is_file()),
        };
        let Some(path) = path else {
            let root = files::common_folder(&here, named).unwrap_or(here);
            let (config, sources) = (Config::default(), Sources::default());
            return Ok(Self { root, config, sources, diagnostics: Vec::new() });
        };
        Self::read(&path)
    }

    /// Reads the configuration of a mission.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let bytes = std::fs::read(path)
            .map_err(|e| Failure::wrong_call(format!("the configuration `{}` cannot be read: {e}", path.display())))?;
        let mut sources = Sources::default();
        let mut diagnostics = Vec::new();
        let name = path.file_name().map_or_else(|| FILE_NAME.into(), |name| name.to_string_lossy().into_owned());
        let file = sources.add(&name, &bytes, Origin::Project);
        let config = config::read(file, &sources, &mut diagnostics);
        let root = path.parent().map(files::absolute).unwrap_or_default();
        Ok(Self { root, config, sources, diagnostics })
    }

    /// The mission folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The configuration.
    pub(crate) const fn config(&self) -> &Config {
        &self.config
    }

    /// The folder of the embedded store.
    pub(crate) fn store(&self) -> PathBuf {
        self.root.join(&self.config.store)
    }

    /// Fails, with a report, where the configuration has errors.
    pub(crate) fn sound(&self, global: &Global) -> Result<(), Failure> {
        if self.diagnostics.iter().any(Diagnostic::is_error) {
            let all: Vec<_> = self.diagnostics.iter().map(|one| (one.clone(), &self.sources)).collect();
            output::report(&all, global);
            return Err(Failure::silent());
        }
        Ok(())
    }

    /// Compiles the files named (or, where none is, those under `procedures:`), the mission's and the library's, up to
    /// the findings. `entries` are names that are wanted although nothing calls them.
    pub(crate) fn compile(&mut self, wanted: &Wanted, entries: &[&str]) -> Result<Compiled<'_>, Failure> {
        let mut levels = self.config.levels.clone();
        for code in &wanted.allow {
            levels.allow(code).map_err(Failure::wrong_call)?;
        }
        for code in &wanted.deny {
            levels.deny(code).map_err(Failure::wrong_call)?;
        }
        let mut input = Input {
            defaults: self.config.defaults(),
            entries: entries.iter().map(|name| (*name).into()).collect(),
            unread: self.config.unread,
            ..Input::default()
        };
        for path in &wanted.paths {
            let found = files::under(path, &["proc"]).map_err(Failure::wrong_call)?;
            self.add(found, Came::Named, &mut input.files)?;
        }
        let came = if wanted.paths.is_empty() { Came::Named } else { Came::Project };
        let (procedures, catalogue) = (self.config.procedures.clone(), self.config.catalogue.clone());
        input.unread.procedures |= !self.add_configured(&procedures, &["proc"], came, &mut input.files)?;
        input.unread.catalogue |=
            !self.add_configured(&catalogue, &["yaml", "yml"], Came::Project, &mut input.catalogue)?;
        input.files.extend(stellar_stdlib_procs::PROCEDURES.iter().map(standard));
        input.catalogue.extend(stellar_stdlib_procs::CATALOGUES.iter().map(standard));
        let checked = Checked::new(&input);
        let known = checked.catalogue().platforms.iter().map(|platform| &*platform.compiled.name);
        if !checked.catalogue().incomplete {
            self.diagnostics.extend(self.config.unknown_platforms(known));
        }
        Ok(Compiled { mission: self, checked, levels })
    }

    /// The catalogue of the mission and the library, for the runtime; fails, with a report, where it has errors.
    pub(crate) fn catalogue(&self, global: &Global) -> Result<Catalogue, Failure> {
        let mut mission = self.clone();
        let mut input = Input { defaults: mission.config.defaults(), ..Input::default() };
        let named = mission.config.catalogue.clone();
        mission.add_configured(&named, &["yaml", "yml"], Came::Project, &mut input.catalogue)?;
        input.catalogue.extend(stellar_stdlib_procs::CATALOGUES.iter().map(standard));
        let parsed = Parsed::new(&input);
        let mut own = mission.diagnostics.clone();
        let mut found = parsed.diagnostics();
        for findings in [&mut own, &mut found] {
            mission.config.levels.apply(findings);
        }
        let own = own.into_iter().map(|one| (one, &mission.sources));
        let findings: Vec<_> = own.chain(found.into_iter().map(|one| (one, parsed.sources()))).collect();
        output::report(&findings, global);
        if findings.iter().any(|(one, _)| one.is_error()) {
            return Err(Failure::silent());
        }
        Ok(parsed.catalogue().compiled())
    }

    /// Adds what the configuration names; whether all of it is there.
    fn add_configured(
        &mut self,
        named: &[Named],
        kinds: &[&str],
        came: Came,
        to: &mut Vec<File>,
    ) -> Result<bool, Failure> {
        let before = self.diagnostics.len();
        for named in named {
            match files::under(&self.root.join(&named.path), kinds) {
                Ok(found) => self.add(found, came, to)?,
                Err(why) => self.diagnostics.push(Diagnostic::new(&config::NO_SUCH_PATH, named.place, why)),
            }
        }
        Ok(self.diagnostics.len() == before)
    }

    fn add(&self, found: Vec<PathBuf>, came: Came, to: &mut Vec<File>) -> Result<(), Failure> {
        for path in found {
            let bytes = std::fs::read(&path)
                .map_err(|e| Failure::failed(format!("`{}` cannot be read: {e}", path.display())))?;
            to.push(File { path: files::name(&self.root, &path), bytes, came });
        }
        Ok(())
    }
}

/// A file of the standard library.
fn standard(file: &stellar_stdlib_procs::File) -> File {
    File { path: file.path.to_owned(), bytes: file.text.as_bytes().to_vec(), came: Came::Standard }
}

/// A compilation: findings and, without errors, the program.
#[derive(Debug)]
pub(crate) struct Compiled<'a> {
    /// The mission.
    pub(crate) mission: &'a Mission,
    /// What the compiler found.
    pub(crate) checked: Checked,
    levels: Levels,
}

impl Compiled<'_> {
    /// All findings with the texts that they are about: those of the configuration first.
    pub(crate) fn findings(&self) -> Vec<(Diagnostic, &Sources)> {
        let mut own = self.mission.diagnostics.clone();
        self.levels.apply(&mut own);
        let own = own.into_iter().map(|one| (one, &self.mission.sources));
        let checked = self.checked.diagnostics_at(&self.levels).into_iter().map(|one| (one, self.checked.sources()));
        own.chain(checked).collect()
    }

    /// Shows all findings; fails where one is an error.
    pub(crate) fn report(&self, global: &Global) -> Result<(), Failure> {
        let findings = self.findings();
        output::report(&findings, global);
        if findings.iter().any(|(one, _)| one.is_error()) { Err(Failure::silent()) } else { Ok(()) }
    }

    /// The bytes of the program, its findings shown; fails where one is an error.
    pub(crate) fn artifact(&self, global: &Global) -> Result<Vec<u8>, Failure> {
        self.report(global)?;
        let lowered = self.checked.lower();
        let lowered = lowered
            .ok_or_else(|| Failure::failed("the program has no error and yet no bytecode: a fault in stellar"))?;
        let artifact = lowered.encode().map_err(|e| Failure::failed(format!("{}: {e}", e.code())))?;
        Ok(artifact.into_bytes())
    }
}
