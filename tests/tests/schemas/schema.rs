//! The schemas as documents: read, compiled once, asked what they accept, and walked beside a document.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use jsonschema::Validator;
use serde_json::{Map, Value};

/// The outputs of `stellar` that have a schema here.
pub(crate) const OUTPUTS: [&str; 5] = ["check", "event", "replay", "runs", "show"];

/// The root of the sources.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A schema.
pub(crate) struct Schema {
    name: String,
    document: Value,
    whole: Validator,
    definitions: BTreeMap<String, Validator>,
}

impl Schema {
    /// Reads and compiles `docs/schemas/NAME.json`.
    pub(crate) fn read(name: &str) -> Self {
        let path = root().join(format!("docs/schemas/{name}.json"));
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let document: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let whole = compiled(name, &document);
        let part = |of: &String| {
            let mut part = serde_json::json!({"$ref": format!("#/$defs/{of}")});
            part["$schema"] = document["$schema"].clone();
            part["$defs"] = document["$defs"].clone();
            (of.clone(), compiled(of, &part))
        };
        let definitions = document["$defs"].as_object().unwrap().keys().map(part).collect();
        Self { name: name.to_owned(), document, whole, definitions }
    }

    /// The document.
    pub(crate) fn document(&self) -> &Value {
        &self.document
    }

    /// A definition of it.
    pub(crate) fn definition(&self, name: &str) -> &Value {
        let found = &self.document["$defs"][name];
        assert!(found.is_object(), "{} defines no {name}", self.name);
        found
    }

    /// The names that the alternatives of a part refer to.
    pub(crate) fn alternatives(part: &Value) -> Vec<&str> {
        let all = part["oneOf"].as_array().expect("alternatives").iter();
        all.map(|one| one["$ref"].as_str().unwrap().strip_prefix("#/$defs/").unwrap()).collect()
    }

    /// Whether a document is as the schema says.
    pub(crate) fn is_valid(&self, value: &Value) -> bool {
        self.whole.is_valid(value)
    }

    /// Asserts that a document is as the schema says.
    pub(crate) fn accepts(&self, what: &str, value: &Value) {
        if self.whole.is_valid(value) {
            return;
        }
        // What is wrong is said best by the alternative that is meant.
        let meant = value["type"].as_str().and_then(|kind| self.definitions.get(kind)).unwrap_or(&self.whole);
        panic!("{what}: no document of {}.json: {}\n{value:#}", self.name, errors(meant, value));
    }

    /// Asserts that a document is as a definition says.
    pub(crate) fn accepts_as(&self, definition: &str, value: &Value) {
        let meant = &self.definitions[definition];
        assert!(meant.is_valid(value), "no {definition} of {}.json: {}\n{value:#}", self.name, errors(meant, value));
    }

    /// What the schema says of each place of a document that it accepts.
    pub(crate) fn places<'a>(&'a self, value: &'a Value) -> Vec<Place<'a>> {
        let mut found = Vec::new();
        self.walk(&[&self.document], value, String::new(), &mut found);
        found
    }

    fn walk<'a>(&'a self, nodes: &[&'a Value], value: &'a Value, pointer: String, found: &mut Vec<Place<'a>>) {
        let mut said = Said::default();
        for node in nodes {
            self.gather(node, value, &mut said);
        }
        match value {
            Value::Object(fields) => {
                for (key, field) in fields {
                    let inner = said.inner(key);
                    assert!(!inner.is_empty(), "{}{pointer}: the schema says nothing of {key}", self.name);
                    self.walk(&inner, field, format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), found);
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.walk(&said.items, item, format!("{pointer}/{at}"), found);
                }
            }
            _ => {}
        }
        found.push(Place {
            pointer,
            value,
            closed: said.others.is_empty(),
            required: said.required,
            types: said.types,
        });
    }

    /// Everything that applies to a value: the part itself, what it refers to, the alternative that fits.
    fn gather<'a>(&'a self, node: &'a Value, value: &Value, said: &mut Said<'a>) {
        let Some(fields) = node.as_object() else { return };
        if let Some(name) = fields.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix("#/$defs/")) {
            self.gather(self.definition(name), value, said);
        }
        for key in ["oneOf", "anyOf"] {
            for one in fields.get(key).and_then(Value::as_array).into_iter().flatten() {
                let fits = match one["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/")) {
                    Some(name) => self.definitions[name].is_valid(value),
                    None => one["type"] == "null" && value.is_null(),
                };
                if fits {
                    self.gather(one, value, said);
                }
                said.types.extend(one["type"].as_str().filter(|name| *name == "null"));
            }
        }
        said.add(fields);
    }
}

fn compiled(name: &str, document: &Value) -> Validator {
    jsonschema::draft202012::new(document).unwrap_or_else(|e| panic!("{name} is no schema: {e}"))
}

fn errors(of: &Validator, value: &Value) -> String {
    of.iter_errors(value).map(|error| format!("\n  {} at `{}`", error, error.instance_path())).collect()
}

/// A place in a document, and what the schema says of it.
pub(crate) struct Place<'a> {
    /// JSON pointer.
    pub(crate) pointer: String,
    /// What stands there.
    pub(crate) value: &'a Value,
    /// Whether an object has no other fields than those of the schema.
    pub(crate) closed: bool,
    /// The fields that an object must have, come what may.
    pub(crate) required: BTreeSet<&'a str>,
    /// The JSON types that are named for it; empty where a `const` or an `enum` says what it is.
    pub(crate) types: BTreeSet<&'a str>,
}

/// What the parts that apply to a value say together.
#[derive(Default)]
struct Said<'a> {
    properties: Vec<(&'a str, &'a Value)>,
    others: Vec<&'a Value>,
    items: Vec<&'a Value>,
    required: BTreeSet<&'a str>,
    types: BTreeSet<&'a str>,
}

impl<'a> Said<'a> {
    fn add(&mut self, fields: &'a Map<String, Value>) {
        let list = |key: &str| fields.get(key).and_then(Value::as_array).into_iter().flatten();
        self.properties.extend(fields.get("properties").and_then(Value::as_object).into_iter().flatten().map(name_of));
        self.others.extend(fields.get("additionalProperties").filter(|it| it.is_object()));
        self.items.extend(fields.get("items"));
        self.required.extend(list("required").filter_map(Value::as_str));
        self.types.extend(list("type").chain(fields.get("type")).filter_map(Value::as_str));
    }

    fn inner(&self, key: &str) -> Vec<&'a Value> {
        let own: Vec<&Value> = self.properties.iter().filter(|(name, _)| *name == key).map(|(_, node)| *node).collect();
        if own.is_empty() { self.others.clone() } else { own }
    }
}

fn name_of<'a>((name, node): (&'a String, &'a Value)) -> (&'a str, &'a Value) {
    (name, node)
}
