//! A file to nodes, by serde-saphyr.

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_saphyr::{DuplicateKeyPolicy, Error, Location, MergeKeyPolicy, Spanned};
use stellar_grammar::Span;

use super::{Key, Node, Scalar, Value, Vocabulary, complaint};
use crate::{
    diagnostics::Diagnostic,
    source::{FileId, Place, SourceFile, Sources},
};

/// How deep mappings and lists can stand inside one another: a catalogue needs nine. Each level takes a good part of the
/// stack while it is read.
const DEPTH_MAX: usize = 20;

/// The documents of a file, empty ones left out. `None` where it is no YAML, which is in `out`.
pub fn read(file: FileId, sources: &Sources, vocabulary: &Vocabulary, out: &mut Vec<Diagnostic>) -> Option<Vec<Node>> {
    let source = sources.get(file)?;
    if let Some(at) = source.invalid_utf8() {
        let span = Span::new(at, at.saturating_add(char::REPLACEMENT_CHARACTER.len_utf8()));
        let message = format!("byte {at} is not UTF-8");
        out.push(complaint(vocabulary.bad_yaml, file, span, message).help("save the file as UTF-8"));
        return None;
    }
    let mark = source.mark_len();
    let text = source.text().get(mark..).unwrap_or_default();
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        merge_keys: MergeKeyPolicy::Error,
        non_finite_float_policy: serde_saphyr::options::NonFiniteFloatPolicy::AsString,
        with_snippet: false,
        budget: serde_saphyr::budget! { max_depth: DEPTH_MAX },
    };
    match serde_saphyr::from_multiple_with_options::<Spanned<Raw>>(text, options) {
        Ok(documents) => {
            let maker = Maker { file, text, mark };
            let nodes = documents.into_iter().map(|raw| maker.node(raw));
            Some(nodes.filter(|node| node.value != Value::Null).collect())
        }
        Err(error) => {
            out.push(fault(&error, file, source, vocabulary));
            None
        }
    }
}

fn fault(error: &Error, file: FileId, source: &SourceFile, vocabulary: &Vocabulary) -> Diagnostic {
    let mark = source.mark_len();
    let offset = error.location().map_or(mark, |location| {
        let by_bytes = location.span().byte_offset().and_then(|at| usize::try_from(at).ok());
        by_bytes.map_or_else(|| source.offset(location.line(), location.column()), |at| at.saturating_add(mark))
    });
    let rest = source.text().get(offset..).unwrap_or_default();
    let width = rest.chars().next().filter(|c| *c != '\n' && *c != '\r').map_or(0, char::len_utf8);
    let span = Span::new(offset, offset.saturating_add(width));
    let text = error.to_string();
    // The place is shown beside it.
    let text = text.split(" at line ").next().unwrap_or_default().trim_end_matches('.');
    let text = text.lines().next().unwrap_or_default().replace('"', "`");
    let message = format!("this is no YAML: {text}");
    let help = match error {
        Error::MergeKeyNotAllowed { .. } => Some("write the entries out, or give the whole value by an alias"),
        _ => None,
    };
    complaint(vocabulary.bad_yaml, file, span, message).maybe_help(help.map(str::to_owned))
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

    fn visit_string<E>(self, text: String) -> Result<Raw, E> {
        Ok(Raw::Text(text))
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

/// Makes nodes of what serde gives. The depth is bounded by the parser's budget.
struct Maker<'a> {
    file: FileId,
    /// The text without byte order mark.
    text: &'a str,
    mark: usize,
}

impl Maker<'_> {
    fn span(&self, location: &Location) -> Span {
        let bytes = |count: Option<u64>| count.and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
        let start = bytes(location.span().byte_offset());
        Span::new(start, start.saturating_add(bytes(location.span().byte_len())))
    }

    /// The character at an offset; nothing at the end of the text.
    fn character(&self, offset: usize) -> Span {
        let rest = self.text.get(offset..).unwrap_or_default();
        let width = rest.chars().next().map_or(0, char::len_utf8);
        Span::new(offset, offset.saturating_add(width))
    }

    fn place(&self, span: Span) -> Place {
        Place::new(self.file, span.shifted(self.mark))
    }

    fn node(&self, raw: Spanned<Raw>) -> Node {
        let span = self.span(&raw.defined);
        let written = span.of(self.text);
        let value = match raw.value {
            Raw::Null => Value::Null,
            Raw::Literal => Value::Scalar(self.scalar(written.to_owned(), span)),
            Raw::Text(text) => Value::Scalar(self.scalar(text, span)),
            Raw::List(items) => Value::List(items.into_iter().map(|item| self.node(item)).collect()),
            Raw::Map(entries) => {
                Value::Map(entries.into_iter().map(|(key, value)| (self.key(key), self.node(value))).collect())
            }
        };
        let span = if matches!(value, Value::Scalar(_)) { span } else { self.character(span.start) };
        Node { place: self.place(span), value }
    }

    fn key(&self, raw: Spanned<Raw>) -> Key {
        let span = self.span(&raw.defined);
        let written = span.of(self.text);
        let text = match raw.value {
            Raw::Text(text) => text,
            Raw::Literal | Raw::Null | Raw::List(_) | Raw::Map(_) => written.to_owned(),
        };
        Key { text, place: self.place(span) }
    }

    fn scalar(&self, text: String, span: Span) -> Scalar {
        let written = span.of(self.text);
        let before = self.text.get(..span.start).unwrap_or_default();
        // The span of a block scalar is that of its content; the mark stands before it on the line of its key.
        let block = before.ends_with(['\n', ' '])
            && matches!(before.trim_end().rsplit([' ', '\n']).next(), Some(head) if is_block_mark(head))
            && text != written;
        let plain = !block && !written.starts_with(['"', '\'']);
        let pieces = pieces(&text, written, span.start.saturating_add(self.mark));
        Scalar { text, plain, pieces }
    }
}

fn is_block_mark(word: &str) -> bool {
    word.starts_with(['|', '>']) && word.chars().skip(1).all(|c| c.is_ascii_digit() || c == '+' || c == '-')
}

/// Where each piece of a scalar's text stands in the file. `written` is how it stands there, from offset `from`. Empty
/// where one cannot be laid over the other.
fn pieces(text: &str, written: &str, from: usize) -> Vec<(usize, usize)> {
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    let mut at = usize::from(written.starts_with(['"', '\'']));
    let quote = written.chars().next().filter(|c| matches!(c, '"' | '\''));
    for (offset, c) in text.char_indices() {
        let Some(place) = align(written, at, c, quote) else { return Vec::new() };
        let file = from.saturating_add(place);
        let goes_on =
            pieces.last().is_some_and(|(start, begins)| file.checked_sub(*begins) == offset.checked_sub(*start));
        if !goes_on {
            pieces.push((offset, file));
        }
        at = place.saturating_add(c.len_utf8());
    }
    pieces
}

/// Where the character stands in `written`, from `at` on: there, behind an escape, or behind the white space of a line's
/// end.
fn align(written: &str, at: usize, c: char, quote: Option<char>) -> Option<usize> {
    let rest = written.get(at..)?;
    let mut characters = rest.chars();
    let first = characters.next()?;
    if quote == Some('"') && first == '\\' {
        return (characters.next()? == c && matches!(c, '"' | '\\' | '/')).then(|| at.saturating_add(1));
    }
    if quote == Some('\'') && first == '\'' {
        return (c == '\'' && characters.next()? == '\'').then(|| at.saturating_add(1));
    }
    if first == c {
        // A folded line's end is one space: the white space behind it belongs to it.
        return Some(at);
    }
    if c.is_whitespace() && first.is_whitespace() {
        return Some(at);
    }
    let blank = rest.len().saturating_sub(rest.trim_start().len());
    (blank > 0 && rest.trim_start().starts_with(c)).then(|| at.saturating_add(blank))
}
