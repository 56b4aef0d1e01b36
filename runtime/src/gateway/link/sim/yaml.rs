//! YAML with places: a tree that keeps line and column of every node, and a reader that says everything wrong at once.

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_saphyr::{DuplicateKeyPolicy, MergeKeyPolicy, Spanned};

use super::ScenarioError;

/// A node with its place, from 1.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) line: u64,
    pub(super) column: u64,
    pub(super) value: Value,
}

#[derive(Debug, Clone)]
pub(super) enum Value {
    Null,
    /// A scalar, as it is written where it is plain.
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

/// Reads one document; an empty one is null.
pub(super) fn read(text: &str, out: &mut Complaints<'_>) -> Option<Node> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        merge_keys: MergeKeyPolicy::Error,
        non_finite_float_policy: serde_saphyr::options::NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    };
    match serde_saphyr::from_str_with_options::<Spanned<Raw>>(text, options) {
        Ok(raw) => Some(node(raw, text)),
        Err(error) => {
            let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
            let words = error.to_string();
            let words = words.split(" at line ").next().unwrap_or_default().trim_end_matches('.').replace('"', "`");
            let words = words.lines().next().unwrap_or_default();
            out.at(line, column, &format!("this is no YAML: {words}"));
            if let (Some(last), Some(name)) = (out.errors.last_mut(), unquoted(text, line)) {
                last.help = Some(format!("within braces, write a name with an index in quotes: `\"{name}\"`"));
            }
            None
        }
    }
}

/// A name such as `tcu[2].mode` that stands within braces without quotes: what YAML makes of it helps nobody.
fn unquoted(text: &str, line: u64) -> Option<&str> {
    let line = text.lines().nth(usize::try_from(line.checked_sub(1)?).ok()?)?;
    let words = line.split_once('{')?.1.split([' ', ',', '{', '}']);
    words.into_iter().find(|word| {
        let index = word.split_once('[').and_then(|(name, rest)| rest.split_once(']').filter(|_| !name.is_empty()));
        index.is_some_and(|(index, _)| index.parse::<i64>().is_ok()) && !word.starts_with(['"', '\''])
    })
}

/// Where errors are gathered.
pub(super) struct Complaints<'a> {
    pub(super) file: &'a str,
    pub(super) errors: Vec<ScenarioError>,
}

impl Complaints<'_> {
    /// A message is one line, whatever of the file stands in it.
    fn at(&mut self, line: u64, column: u64, message: &str) {
        let lines: Vec<&str> = message.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect();
        let message = lines.join(" ");
        self.errors.push(ScenarioError { file: self.file.to_owned(), line, column, message, help: None });
    }

    pub(super) fn say(&mut self, node: &Node, message: impl Into<String>) {
        self.at(node.line, node.column, &message.into());
    }

    /// Says that a name is not known, with the nearest that is.
    pub(super) fn unknown<'n>(
        &mut self,
        node: &Node,
        message: impl Into<String>,
        name: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) {
        self.say(node, message);
        if let Some(last) = self.errors.last_mut() {
            last.help = nearest(name, known).map(|near| format!("is it `{near}`?"));
        }
    }
}

/// The nearest of some names, where it is near enough to be a slip of the pen.
fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    const LONGEST: usize = 128;
    let length = name.chars().count();
    if length > LONGEST {
        return None;
    }
    let best = known.into_iter().map(|known| (strsim::osa_distance(name, known), known)).min_by_key(|(far, _)| *far)?;
    (best.0 <= length.div_ceil(3)).then_some(best.1)
}

impl Node {
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What it is, in words.
    pub(super) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    /// The entries of a mapping; of anything else none, which is said.
    pub(super) fn entries(&self, what: &str, out: &mut Complaints<'_>) -> &[(Node, Node)] {
        match &self.value {
            Value::Map(entries) => entries,
            Value::Null => &[],
            _ => {
                out.say(self, format!("{what} is a mapping, not {}", self.kind()));
                &[]
            }
        }
    }

    /// The items of a list; of anything else none, which is said.
    pub(super) fn items(&self, what: &str, out: &mut Complaints<'_>) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            Value::Null => &[],
            _ => {
                out.say(self, format!("{what} is a list, not {}", self.kind()));
                &[]
            }
        }
    }

    /// The entries of a mapping whose keys are known; what is unknown or doubled is said.
    pub(super) fn fields<'n>(&'n self, what: &str, known: &[&str], out: &mut Complaints<'_>) -> Fields<'n> {
        let mut fields: Vec<(&str, &Node)> = Vec::new();
        for (key, value) in self.entries(what, out) {
            let Some(name) = key.text() else {
                out.say(key, format!("a key of {what} is a text, not {}", key.kind()));
                continue;
            };
            if !known.contains(&name) {
                out.unknown(key, format!("{what} has no key `{name}`"), name, known.iter().copied());
            } else if fields.iter().any(|(other, _)| *other == name) {
                out.say(key, format!("`{name}` stands here twice"));
            } else {
                fields.push((name, value));
            }
        }
        Fields(fields)
    }
}

/// The known entries of a mapping.
pub(super) struct Fields<'n>(Vec<(&'n str, &'n Node)>);

impl<'n> Fields<'n> {
    pub(super) fn get(&self, key: &str) -> Option<&'n Node> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, node)| *node)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The keys that are there, of some.
    pub(super) fn present<'k>(&self, keys: &[&'k str]) -> Vec<&'k str> {
        keys.iter().copied().filter(|key| self.has(key)).collect()
    }
}

/// A node as serde gives it.
enum Raw {
    Null,
    /// A plain scalar that reads as a number or truth value: its text is taken from the file.
    Literal,
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<Raw>, Spanned<Raw>)>),
}

/// The depth is bounded by the parser's budget.
fn node(raw: Spanned<Raw>, file: &str) -> Node {
    let at = &raw.defined;
    let value = match raw.value {
        Raw::Null => Value::Null,
        Raw::Literal => {
            let count = |bytes: Option<u64>| bytes.and_then(|bytes| usize::try_from(bytes).ok());
            let start = count(at.span().byte_offset()).unwrap_or_default();
            let end = start.saturating_add(count(at.span().byte_len()).unwrap_or_default());
            Value::Text(file.get(start..end).unwrap_or_default().to_owned())
        }
        Raw::Text(text) => Value::Text(text),
        Raw::List(items) => Value::List(items.into_iter().map(|item| node(item, file)).collect()),
        Raw::Map(entries) => {
            Value::Map(entries.into_iter().map(|(key, value)| (node(key, file), node(value, file))).collect())
        }
    };
    Node { line: at.line(), column: at.column(), value }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Raw, E> {
        Ok(Raw::Literal)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Raw, E> {
        Ok(Raw::Literal)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Raw, E> {
        Ok(Raw::Literal)
    }

    fn visit_i128<E>(self, _: i128) -> Result<Raw, E> {
        Ok(Raw::Literal)
    }

    fn visit_u128<E>(self, _: u128) -> Result<Raw, E> {
        Ok(Raw::Literal)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Raw, E> {
        Ok(Raw::Literal)
    }

    fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        Raw::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Raw, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Raw::Map(entries))
    }
}
