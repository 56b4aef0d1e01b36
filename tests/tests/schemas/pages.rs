//! The schemas for those who read them: well formed, described in every field, closed, of one piece; and the page with
//! the examples.

use std::{collections::BTreeMap, fs};

use serde_json::Value;

use crate::schema::{OUTPUTS, Schema, root};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Every part of a schema, with its JSON pointer.
fn parts<'a>(value: &'a Value, pointer: &str, found: &mut Vec<(String, &'a Value)>) {
    found.push((pointer.to_owned(), value));
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, part)| parts(part, &format!("{pointer}/{key}"), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, part)| parts(part, &format!("{pointer}/{at}"), found));
        }
        _ => {}
    }
}

#[test]
fn each_schema_is_one_of_the_draft_and_stands_alone() {
    for name in OUTPUTS {
        let schema = Schema::read(name);
        let document = schema.document();
        assert_eq!(document["$schema"], DRAFT, "{name}");
        assert!(jsonschema::draft202012::meta::is_valid(document), "{name}");
        let mut all = Vec::new();
        parts(document, "", &mut all);
        for (pointer, part) in all {
            assert!(!pointer.ends_with("/$id"), "{name}{pointer}: it is known by its file");
            if let Some(text) = part.as_str() {
                assert!(pointer == "/$schema" || !text.contains("://"), "{name}{pointer}: {text}");
                if pointer.ends_with("/$ref") {
                    let of = text.strip_prefix("#/$defs/").expect("refers to a definition of its own");
                    schema.definition(of);
                }
            }
        }
    }
}

#[test]
fn every_field_is_described_and_every_object_is_closed() {
    for name in OUTPUTS {
        let schema = Schema::read(name);
        let document = schema.document();
        let said = |part: &Value, key: &str| part[key].as_str().is_some_and(|text| !text.trim().is_empty());
        let definitions = document["$defs"].as_object().unwrap();
        for (of, part) in definitions.iter().map(|(of, part)| (of.as_str(), part)).chain([("", document)]) {
            assert!(said(part, "title") && said(part, "description"), "{name}: {of} has a title and says what it is");
        }
        let mut all = Vec::new();
        parts(document, "", &mut all);
        let mut fields = 0;
        for (pointer, part) in all {
            // The conditions say which of the fields are there, not what they are.
            if pointer.contains("/if/") || pointer.contains("/then/") || pointer.contains("/else/") {
                continue;
            }
            if let Some(properties) = part.get("properties").and_then(Value::as_object)
                && !pointer.ends_with("/properties")
                && !pointer.ends_with("/if")
                && !pointer.ends_with("/then")
                && !pointer.ends_with("/else")
            {
                for (field, part) in properties {
                    assert!(said(part, "description"), "{name}{pointer}: {field} has a description");
                    fields += 1;
                }
                let closed = part["additionalProperties"] == false || part["unevaluatedProperties"] == false;
                assert!(closed || pointer.ends_with("/$defs/envelope"), "{name}{pointer} is closed");
            }
        }
        assert!(fields > 10, "{name}: {fields} fields");
    }
}

#[test]
fn a_definition_is_the_same_in_every_schema_that_has_it() {
    let mut known: BTreeMap<String, (&str, Value)> = BTreeMap::new();
    let mut shared = 0;
    for name in OUTPUTS {
        let schema = Schema::read(name);
        for (of, part) in schema.document()["$defs"].as_object().unwrap() {
            match known.get(of) {
                Some((first, same)) => {
                    assert_eq!(part, same, "{of} in {name} and {first}");
                    shared += 1;
                }
                None => drop(known.insert(of.clone(), (name, part.clone()))),
            }
        }
    }
    assert!(shared > 20, "{shared} definitions stand in several");
}

/// The fenced blocks of a page whose first line is "```json NAME".
fn examples(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(info) if !inside => {
                inside = true;
                let of = info.strip_prefix("json ").unwrap_or_else(|| panic!("{line}: say of which schema it is"));
                found.push((of.to_owned(), String::new()));
            }
            Some(_) => inside = false,
            None if inside => {
                let (_, block) = found.last_mut().unwrap();
                block.push_str(line);
                block.push('\n');
            }
            None => {}
        }
    }
    found
}

#[test]
fn the_examples_of_the_page_are_as_their_schemas_say() {
    let text = fs::read_to_string(root().join("docs/reference/json.md")).unwrap();
    let examples = examples(&text);
    for name in OUTPUTS {
        let schema = Schema::read(name);
        assert!(text.contains(&format!("(../schemas/{name}.json)")), "the page links {name}.json");
        let own: Vec<&String> = examples.iter().filter(|(of, _)| of == name).map(|(_, block)| block).collect();
        assert!(!own.is_empty(), "an example of {name}");
        for block in own {
            let values = serde_json::Deserializer::from_str(block).into_iter::<Value>();
            let values: Vec<Value> = values.collect::<Result<_, _>>().unwrap_or_else(|e| panic!("{e} in\n{block}"));
            assert!(!values.is_empty(), "an example of {name}");
            values.iter().for_each(|value| schema.accepts("docs/reference/json.md", value));
        }
    }
    let known = |of: &String| OUTPUTS.contains(&of.as_str());
    assert!(examples.iter().all(|(of, _)| known(of)), "an example of something else");
}

#[test]
fn the_page_is_linked_from_the_readme() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains("(docs/reference/json.md)"));
}
