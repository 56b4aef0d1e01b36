//! Where mutating and fuzzing begin: every text of the repository that is an input of its kind, and what is made of them.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use stellar_compiler::{
    catalogue::{Options, compile},
    pipeline::{Came, File},
    source::{Origin, Sources},
};
use stellar_vm::{
    artifact,
    catalogue::Platform,
    verify::{Verified, verify},
};

use super::{link, sources};
use crate::{
    field::{Fixture, names, run},
    hex,
    mission::Mission,
    spec,
};

/// A text or other bytes, with where they come from.
pub type Seed = (String, Vec<u8>);

/// Folders with texts, from the top of the repository.
const FOLDERS: [&str; 6] = [
    "grammar/tests/fixtures",
    "compiler/tests/fixtures",
    "tests/fixtures/field",
    "tests/fixtures/diagnostics",
    "stdlib-procs",
    "runtime/cli/templates",
];

/// Replies of an on-board PUS service, as measured.
const REPLIES: [&str; 4] = [
    "0802c000001320010100000000406252041b85761802c001344c",
    "0802c001001320010300010000406252041b863b1802c0012440",
    "0802c002000f20110200000000406252041b863b5a1a",
    "0802c003001320010700020000406252041b863b1802c00192fc",
];

/// Requests to the API: method and path, headers, an empty line, the body. `$RUN` is the run, `$0` what it waits for.
const REQUESTS: [&str; 9] = [
    "GET /v1/runs\n",
    "GET /v1/runs/$RUN\n\u{1e}GET /v1/topology\n\u{1e}GET /v1/telemetry?target=sim-1\n",
    "POST /v1/runs/$RUN/answer\ncontent-type: application/json\nidempotency-key: k\n\n{\"question\": \"$0\", \"value\": \"yes\", \"by\": \"os:ada\"}\n\u{1e}POST /v1/runs/$RUN/decide\ncontent-type: application/json\n\n{\"decision\": \"$0\", \"option\": \"replay\", \"by\": \"os:ada\"}\n",
    "POST /v1/runs/$RUN/suspend\ncontent-type: application/json\n\n{\"by\": \"os:ada\"}\n\u{1e}POST /v1/runs/$RUN/resume\ncontent-type: application/json\n\n{\"by\": \"os:ada\"}\n",
    "POST /v1/runs/$RUN/abort\ncontent-type: application/json\n\n{\"by\": \"os:ada\"}\n",
    "GET /v1/runs/$RUN/events\nlast-event-id: 2\n",
    "GET /v1/artifacts/0000\n\u{1e}GET /healthz\n\u{1e}DELETE /v1/runs\n\u{1e}GET /v2\n",
    "POST /v1/runs/$RUN/answer\ncontent-type: application/json\n\n{\"question\": \"$0\", \"value\": \"no\", \"by\": \"os:ada\"}\n",
    "POST /v1/runs/$RUN/answer\ncontent-type: text/plain\nidempotency-key: $RUN-5\n\n{\"question\": 1, \"by\": null}\n",
];

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files below a folder that end so, sorted; each with its path from the top of the repository.
fn files(folder: &str, extension: &str) -> Vec<Seed> {
    let mut found = Vec::new();
    let mut folders = vec![top().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                let name = path.strip_prefix(top()).expect("below the top").to_string_lossy().replace('\\', "/");
                found.push((name, fs::read(&path).expect("a file of the repository")));
            }
        }
    }
    found.sort();
    found
}

fn all(extension: &str) -> Vec<Seed> {
    FOLDERS.iter().flat_map(|folder| files(folder, extension)).collect()
}

/// The blocks of the documentation that are fenced as this language.
fn blocks(language: &str) -> Vec<Seed> {
    let mut blocks = Vec::new();
    for (name, bytes) in files("docs", "md") {
        let page = String::from_utf8(bytes).expect("a page is text");
        for (at, rest) in page.split(&format!("```{language}")).skip(1).enumerate() {
            let Some((_, rest)) = rest.split_once('\n') else { continue };
            let block = rest.split("```").next().unwrap_or_default();
            blocks.push((format!("{name}.{at}"), block.as_bytes().to_vec()));
        }
    }
    blocks
}

/// Every procedure of the repository.
#[must_use]
pub fn procedures() -> Vec<Seed> {
    [all("proc"), blocks("proc")].concat()
}

fn within(bytes: &[u8], words: &str) -> bool {
    bytes.windows(words.len()).any(|part| part == words.as_bytes())
}

/// Every catalogue of the repository, the faulty ones too.
#[must_use]
pub fn catalogues() -> Vec<Seed> {
    let mut yaml = [all("yaml"), files("docs", "yaml"), blocks("yaml")].concat();
    yaml.retain(|(name, bytes)| {
        name.contains("/catalogue/") || within(bytes, "platform: ") && within(bytes, "components:")
    });
    yaml
}

/// The catalogues of the missions among the fixtures, and that of the pages.
#[must_use]
pub fn catalogues_of_missions() -> Vec<Seed> {
    let mut of_missions = files("tests/fixtures/field", "yaml");
    of_missions.retain(|(name, _)| name.contains("/catalogue/"));
    of_missions.extend(files("docs/diagnostics", "yaml"));
    of_missions
}

/// Every configuration of the repository.
#[must_use]
pub fn configurations() -> Vec<Seed> {
    let mut yaml = [all("yaml"), blocks("yaml")].concat();
    yaml.retain(|(name, bytes)| {
        name.ends_with("/stellar.yaml") || within(bytes, "targets:") || within(bytes, "executor:")
    });
    yaml
}

/// Every scenario of the repository.
#[must_use]
pub fn scenarios() -> Vec<Seed> {
    let mut yaml = [all("yaml"), blocks("yaml scenario"), blocks("yaml request")].concat();
    yaml.retain(|(name, _)| name.contains("/sim/") || name.starts_with("docs/"));
    yaml
}

/// The platforms of [`catalogues_of_missions`] and of the standard library.
#[must_use]
pub fn platforms() -> Vec<Arc<Platform>> {
    let mut sources = Sources::default();
    let mut ids = Vec::new();
    for (name, bytes) in catalogues_of_missions() {
        ids.push(sources.add(&name, &bytes, Origin::Project));
    }
    for file in stellar_stdlib_procs::CATALOGUES {
        ids.push(sources.add(file.path, file.text.as_bytes(), Origin::Standard));
    }
    let (catalogue, found) = compile(&ids, &sources, &Options::default());
    assert!(!found.iter().any(|it| it.is_error()), "the repository's catalogues are good: {found:?}");
    catalogue.compiled().platforms.into_iter().map(Arc::new).collect()
}

/// The programs of the repository that compile: of each field procedure's folder, of the fixtures for lowering, of the
/// standard library and of the specification.
#[must_use]
pub fn programs() -> Vec<Arc<Verified>> {
    let mut texts: Vec<Vec<File>> = Vec::new();
    let file = |(path, bytes): Seed| File { path, bytes, came: Came::Named };
    for folder in names() {
        texts.push(files(&format!("tests/fixtures/field/{folder}"), "proc").into_iter().map(file).collect());
    }
    texts.extend(files("compiler/tests/fixtures/lower", "proc").into_iter().map(|seed| vec![file(seed)]));
    texts.push(vec![file(("spec.proc".to_owned(), spec::PROCEDURES.as_bytes().to_vec()))]);
    let compiled = |files: Vec<File>| {
        let name = files.first().map(|file| file.path.clone()).unwrap_or_default();
        let checked = sources::checked(files);
        let errors: Vec<_> = checked.diagnostics().iter().filter(|it| it.is_error()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        let lowered = checked.lower().unwrap_or_else(|| panic!("{name} does not compile"));
        Arc::new(verify(lowered.program().clone()).unwrap_or_else(|error| panic!("{name}: {error}")))
    };
    texts.into_iter().map(compiled).collect()
}

/// Logs of runs: of each field procedure's folder so many cases.
#[must_use]
pub fn logs(cases: usize) -> Vec<Seed> {
    let mut logs = Vec::new();
    for folder in names() {
        let fixture = Fixture::read(&folder);
        let files = files(&format!("tests/fixtures/field/{folder}"), "proc");
        let files = files.into_iter().map(|(path, bytes)| File { path, bytes, came: Came::Named });
        let lowered = sources::checked(files.collect()).lower().expect("a field procedure compiles");
        let artifact = lowered.encode().expect("it is small").into_bytes();
        for (at, case) in fixture.suite.cases.iter().take(cases).enumerate() {
            let mission: Mission = fixture.mission("");
            let ran = run::run(&mission, &fixture.suite, case, &artifact);
            let lines: Vec<String> = ran.events.iter().map(ToString::to_string).collect();
            logs.push((format!("{folder}.{at}"), lines.join("\n").into_bytes()));
        }
    }
    logs
}

/// The seeds of a target of [`super::TARGETS`], by its name.
#[must_use]
pub fn seeds(target: &str) -> Vec<Seed> {
    let numbered = |(at, bytes): (usize, Vec<u8>)| (at.to_string(), bytes);
    match target {
        "sources" => procedures(),
        "catalogue" => catalogues(),
        "configuration" => configurations(),
        "scenario" => scenarios(),
        "log" => logs(3),
        "artifact" => {
            let body = |program: Arc<Verified>| {
                artifact::encode(&program).expect("it is small").split_off(super::artifact::HEADER)
            };
            programs().into_iter().map(body).enumerate().map(numbered).collect()
        }
        "link" => {
            let mut datagrams: Vec<Vec<u8>> = platforms().iter().flat_map(|platform| link::some(platform)).collect();
            datagrams.extend(REPLIES.iter().map(|reply| hex::decode(reply).expect("hexadecimal digits")));
            datagrams.into_iter().enumerate().map(numbered).collect()
        }
        "api" => REQUESTS.iter().map(|request| request.as_bytes().to_vec()).enumerate().map(numbered).collect(),
        other => panic!("there is no target `{other}`"),
    }
}
