//! The documentation as a whole: a page for each code that the program can say, the table of contents, the configuration's
//! page and schema.

#![cfg(test)]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use stellar_compiler::{
    config,
    source::{Origin, Sources},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Files under a folder with one of these endings, relative to it.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Codes that begin a text literal in what ships: `"run::ended"`, `"run::log-garbage: …"`.
fn said() -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for folder in ["grammar/src", "compiler/src", "vm/src", "runtime/src", "runtime/cli/src"] {
        for file in files(&root().join(folder), "rs") {
            let text = fs::read_to_string(file).unwrap();
            for (at, _) in text.match_indices('"') {
                let rest = &text[at + 1..];
                let part = |text: &str| {
                    text.len() - text.trim_start_matches(|c: char| c.is_ascii_lowercase() || c == '-').len()
                };
                let space = part(rest);
                let Some(name) = rest[space..].strip_prefix("::") else { continue };
                let end = part(name);
                if space > 0
                    && end > 0
                    && matches!(name[end..].chars().next(), Some('"' | ':'))
                    && !name[end..].starts_with("::")
                {
                    codes.insert(format!("{}::{}", &rest[..space], &name[..end]));
                }
            }
        }
    }
    codes
}

#[test]
fn each_code_that_can_be_said_has_a_page_and_each_page_a_code() {
    let pages: BTreeSet<String> = stellar_compiler::explain::explained().map(str::to_owned).collect();
    // Names in tests of the compiler that are no codes by intent.
    let invented = |code: &String| ["syntax::unlisted", "syntax::use-si"].contains(&code.as_str());
    let mut said: BTreeSet<String> = said().into_iter().filter(|code| !invented(code)).collect();
    said.extend(stellar_compiler::diagnostics::codes().into_iter().map(|code| code.name.to_owned()));
    assert!(said.len() > 150, "{}", said.len());
    let missing: Vec<_> = said.difference(&pages).collect();
    assert!(missing.is_empty(), "without a page: {missing:?}");
    let stale: Vec<_> = pages.difference(&said).collect();
    assert!(stale.is_empty(), "pages of codes that nobody says: {stale:?}");
}

#[test]
fn each_page_says_what_and_what_to_do() {
    for code in stellar_compiler::explain::explained() {
        let page = stellar_compiler::explain::explain(code).unwrap();
        assert!(
            page.starts_with(&format!("# `{code}`\n\n*Error.* "))
                || page.starts_with(&format!("# `{code}`\n\n*Warning.* ")),
            "{code}"
        );
        assert!(page.contains("\n## What to do\n") || page.contains("\n## Mended\n"), "{code} does not say what to do");
        assert!(page.is_ascii() || !page.contains('\u{fffd}'), "{code}");
    }
}

#[test]
fn the_table_of_contents_has_every_page_and_each_is_there() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let links: Vec<&str> = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let listed: BTreeSet<String> = links.iter().map(|link| (*link).to_owned()).collect();
    assert_eq!(links.len(), listed.len(), "a page stands there twice");
    let pages: BTreeSet<String> = files(&docs, "md")
        .iter()
        .map(|page| page.strip_prefix(&docs).unwrap().display().to_string())
        .filter(|page| page != "SUMMARY.md")
        .collect();
    assert_eq!(listed, pages);
}

/// Links between pages lead to files.
#[test]
fn no_link_of_the_documentation_leads_nowhere() {
    let mut pages = files(&root().join("docs"), "md");
    pages.extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|page| root().join(page)));
    let mut links = 0;
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") || file.contains(' ') {
                continue;
            }
            assert!(page.parent().unwrap().join(file).exists(), "{}: {link}", page.display());
            links += 1;
        }
    }
    assert!(links > 100, "{links}");
}

fn schema() -> Value {
    serde_json::from_str(&fs::read_to_string(root().join("docs/schemas/stellar.json")).unwrap()).unwrap()
}

/// What the compiler finds in a configuration: `code message`.
fn found(text: &str) -> Vec<String> {
    let mut sources = Sources::default();
    let file = sources.add("stellar.yaml", text.as_bytes(), Origin::Project);
    let mut out = Vec::new();
    let _ = config::read(file, &sources, &mut out);
    out.iter().map(|one| format!("{} {}", one.code.name, one.message)).collect()
}

#[test]
fn the_example_of_the_configuration_is_one() {
    let page = fs::read_to_string(root().join("docs/reference/configuration.md")).unwrap();
    let example = page.split("```yaml stellar.yaml\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(found(example), Vec::<String>::new());
    // Each key that the schema has stands in the page.
    let mut keys = BTreeSet::new();
    properties(&schema(), &mut |_, key| {
        keys.insert(key.to_owned());
    });
    assert!(keys.len() > 20, "{keys:?}");
    for key in keys {
        assert!(
            page.contains(&format!("{key}:"))
                || page.contains(&format!("`{key}`"))
                || page.contains(&format!(".{key}`")),
            "{key}"
        );
    }
}

/// Every object of the schema that lists its keys, with each of them.
fn properties(schema: &Value, each: &mut dyn FnMut(&Value, &str)) {
    if let Some(known) = schema.get("properties").and_then(Value::as_object) {
        known.keys().for_each(|key| each(schema, key));
    }
    match schema {
        Value::Object(fields) => fields.values().for_each(|field| properties(field, each)),
        Value::Array(items) => items.iter().for_each(|item| properties(item, each)),
        _ => {}
    }
}

/// The compiler and the schema know the same keys: where one is wrong, the compiler tells which there are.
#[test]
fn the_schema_of_the_configuration_knows_the_keys_of_the_compiler() {
    let places = [
        ("", "nonsense: 1\n"),
        ("/properties/time", "time: {nonsense: 1}\n"),
        ("/properties/store", "store: {nonsense: 1}\n"),
        ("/properties/store/properties/embedded", "store: {embedded: {nonsense: 1, path: a}}\n"),
        ("/properties/executor", "executor: {nonsense: 1}\n"),
        ("/properties/executor/properties/default_retry", "executor: {default_retry: {nonsense: 1, times: 1}}\n"),
        ("/properties/warnings", "warnings: {nonsense: 1}\n"),
        ("/$defs/target", "targets: {a: {nonsense: 1, platform: p}}\n"),
        ("/$defs/target/properties/link", "targets: {a: {platform: p, link: {nonsense: 1, sim: {}}}}\n"),
        ("/$defs/target/properties/link/properties/sim", "targets: {a: {platform: p, link: {sim: {nonsense: 1}}}}\n"),
        (
            "/$defs/target/properties/link/properties/ccsds",
            "targets: {a: {platform: p, link: {ccsds: {nonsense: 1, udp: {target: \"127.0.0.1:1\"}}}}}\n",
        ),
        (
            "/$defs/target/properties/link/properties/ccsds/properties/udp",
            "targets: {a: {platform: p, link: {ccsds: {udp: {nonsense: 1, target: \"127.0.0.1:1\"}}}}}\n",
        ),
    ];
    let schema = schema();
    for (pointer, text) in places {
        let said = found(text);
        assert!(said.len() == 1 && said[0].starts_with("config::unknown-key"), "{text}: {said:?}");
        let object = schema.pointer(pointer).unwrap();
        assert_eq!(object["additionalProperties"], Value::Bool(false).clone(), "{pointer}");
        for key in object["properties"].as_object().unwrap().keys() {
            let said = found(&text.replace("nonsense: 1", &format!("{key}: []")));
            let unknown = said.iter().any(|one| one.starts_with("config::unknown-key"));
            assert!(!unknown, "the schema has {pointer}/{key}, the compiler has not: {said:?}");
        }
    }
}
