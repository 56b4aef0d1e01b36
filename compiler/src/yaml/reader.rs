//! Values out of nodes. What does not fit is reported, and the reading goes on.

use stellar_grammar::{SyntaxError, parse_duration};

use super::{Key, Node, Value, Vocabulary};
use crate::{
    diagnostics::{Code, Diagnostic},
    source::Place,
    suggest::did_you_mean,
};

/// Takes values out of nodes and reports what does not fit.
#[derive(Debug)]
pub struct Reader<'a> {
    /// The codes of this kind of document.
    pub vocabulary: &'static Vocabulary,
    /// What was found.
    pub out: &'a mut Vec<Diagnostic>,
}

/// The entries of a mapping whose keys are known.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'n> {
    entries: &'n [(Key, Node)],
    /// Where the mapping is: what is missing in it is reported here.
    pub place: Place,
}

impl<'n> Fields<'n> {
    /// The value of a key; the first one where it stands twice.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'n Node> {
        self.entry(key).map(|(_, node)| node)
    }

    /// A key with its value.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<(&'n Key, &'n Node)> {
        self.entries.iter().find(|(it, _)| it.text == key).map(|(key, node)| (key, node))
    }
}

impl Reader<'_> {
    /// Reports a finding.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.out.push(diagnostic);
    }

    /// Reports a finding that needs no more words.
    pub fn say(&mut self, code: &'static Code, place: Place, message: impl Into<String>) {
        self.report(Diagnostic::new(code, place, message));
    }

    /// Reports a value that is not what is due.
    pub fn bad(&mut self, node: &Node, message: impl Into<String>) {
        self.say(self.vocabulary.bad_value, node.place, message);
    }

    /// Reports a value of the wrong kind.
    fn expected(&mut self, node: &Node, what: &str) {
        let message = match node.as_text() {
            Some(text) => format!("`{}` stands where {what} is due", shortened(text)),
            None => format!("{} stands where {what} is due", node.kind()),
        };
        self.bad(node, message);
    }

    /// The entries of a mapping with its keys unique: those of one that the user names. Nothing is an empty mapping.
    pub fn entries<'n>(&mut self, node: &'n Node) -> Option<&'n [(Key, Node)]> {
        match &node.value {
            Value::Null => Some(&[]),
            Value::Map(entries) => {
                self.unique(entries);
                Some(entries)
            }
            _ => {
                self.expected(node, "a mapping");
                None
            }
        }
    }

    fn unique(&mut self, entries: &[(Key, Node)]) {
        let mut seen: std::collections::BTreeMap<&str, Place> = std::collections::BTreeMap::new();
        for (key, _) in entries {
            match seen.get(key.text.as_str()) {
                Some(first) => {
                    let message = format!("`{}` stands here twice", shortened(&key.text));
                    let diagnostic = Diagnostic::new(self.vocabulary.duplicate_key, key.place, message);
                    self.report(diagnostic.label(*first, "first here"));
                }
                None => {
                    seen.insert(&key.text, key.place);
                }
            }
        }
    }

    /// The entries of a mapping with a meaning of its own: a key that is not `known` is reported. `place` is where what
    /// is missing is reported, that of the mapping's key.
    pub fn fields<'n>(&mut self, node: &'n Node, place: Place, known: &[&str]) -> Option<Fields<'n>> {
        let entries = self.entries(node)?;
        for (key, _) in entries {
            if known.contains(&key.text.as_str()) {
                continue;
            }
            let message = format!("the key `{}` has no meaning here", shortened(&key.text));
            let help = did_you_mean(&key.text, known.iter().copied()).unwrap_or_else(|| {
                let known: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
                format!("what can stand here: {}", known.join(", "))
            });
            self.report(Diagnostic::new(self.vocabulary.unknown_key, key.place, message).help(help));
        }
        Some(Fields { entries, place })
    }

    /// The value of a key that has to be there.
    pub fn required<'n>(&mut self, fields: &Fields<'n>, key: &str) -> Option<&'n Node> {
        let node = fields.get(key);
        if node.is_none() {
            self.say(self.vocabulary.missing_key, fields.place, format!("the key `{key}` is missing here"));
        }
        node
    }

    /// The items of a list.
    pub fn list<'n>(&mut self, node: &'n Node) -> Option<&'n [Node]> {
        match &node.value {
            Value::List(items) => Some(items),
            _ => {
                self.expected(node, "a list");
                None
            }
        }
    }

    /// A text, quoted or not.
    pub fn text<'n>(&mut self, node: &'n Node) -> Option<&'n str> {
        let text = node.as_text();
        if text.is_none() {
            self.expected(node, "a text");
        }
        text
    }

    /// `true` or `false`.
    pub fn bool(&mut self, node: &Node) -> Option<bool> {
        match node.as_plain() {
            Some("true") => Some(true),
            Some("false") => Some(false),
            _ => {
                self.expected(node, "`true` or `false`");
                None
            }
        }
    }

    /// A whole number: decimal, `0x…` or `0b…`, with `_` between digits.
    pub fn int(&mut self, node: &Node) -> Option<i64> {
        let value = node.as_plain().and_then(parse_int);
        if value.is_none() {
            self.expected(node, "a whole number");
        }
        value
    }

    /// A whole number from `min` to `max`.
    pub fn int_in(&mut self, node: &Node, min: i64, max: i64) -> Option<i64> {
        let value = self.int(node)?;
        if value < min || value > max {
            self.bad(node, format!("`{value}` stands where a number from {min} to {max} is due"));
            return None;
        }
        Some(value)
    }

    /// A finite number.
    pub fn float(&mut self, node: &Node) -> Option<f64> {
        let value = node.as_plain().and_then(parse_float);
        if value.is_none() {
            self.expected(node, "a number");
        }
        value
    }

    /// A duration in nanoseconds, as the language writes it: `2s`, `1 min`.
    pub fn duration(&mut self, node: &Node) -> Option<i64> {
        let Some(text) = node.as_text() else {
            self.expected(node, "a duration");
            return None;
        };
        let (duration, errors) = parse_duration(text);
        self.syntax(node, errors);
        duration.nanos
    }

    /// Reports what the grammar says of a scalar.
    pub fn syntax(&mut self, node: &Node, errors: Vec<SyntaxError>) {
        for error in errors {
            let mut diagnostic = Diagnostic::syntax(error, node.place.file);
            for label in &mut diagnostic.labels {
                label.place = node.place_of(label.place.span);
            }
            self.report(diagnostic);
        }
    }

    /// One of a few words.
    pub fn word<T: Copy>(&mut self, node: &Node, words: &[(&str, T)]) -> Option<T> {
        let text = node.as_text().unwrap_or_default();
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let known: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        let due = match known.as_slice() {
            [one] => one.clone(),
            [more @ .., last] => format!("{} or {last}", more.join(", ")),
            [] => String::new(),
        };
        let help = did_you_mean(text, words.iter().map(|(word, _)| *word));
        let message = match node.as_text() {
            Some(text) => format!("`{}` stands where {due} is due", shortened(text)),
            None => format!("{} stands where {due} is due", node.kind()),
        };
        self.report(Diagnostic::new(self.vocabulary.bad_value, node.place, message).maybe_help(help));
        None
    }
}

/// A text that fits a message of one line.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text.split(['\n', '\r']).next().unwrap_or_default();
    if line.chars().count() <= LONGEST && line.len() == text.len() {
        return line.to_owned();
    }
    let head: String = line.chars().take(LONGEST).collect();
    format!("{head}…")
}

/// A whole number as the language and YAML both write it.
pub(crate) fn parse_int(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = if let Some(digits) = digits.strip_prefix("0x") {
        (16, digits)
    } else if let Some(digits) = digits.strip_prefix("0b") {
        (2, digits)
    } else {
        (10, digits)
    };
    if !digits.starts_with(|c: char| c.is_ascii_hexdigit()) || digits.ends_with('_') {
        return None;
    }
    let digits = digits.replace('_', "");
    i64::from_str_radix(&format!("{sign}{digits}"), radix).ok()
}

/// A finite number.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    if let Some(int) = parse_int(text) {
        #[expect(clippy::cast_precision_loss, reason = "a number is due, the nearest float is it")]
        return Some(int as f64);
    }
    let digits = text.replace('_', "");
    if !digits.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) {
        return None;
    }
    digits.parse::<f64>().ok().filter(|value| value.is_finite())
}
