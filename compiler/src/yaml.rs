//! YAML with places, read so that everything wrong with it is said at once.
//!
//! [`read`] makes a tree of [`Node`]s of a file, one a document; a [`Reader`] takes values out of it, and reports what
//! does not fit under the codes of a [`Vocabulary`]: the catalogue's, or the configuration's. A key that nobody asks
//! for is an error, with the nearest known one. Plain scalars keep their text as written: `1..4`, `2s` and `0x1F` are
//! read by whoever knows what is due. Depth, size and the expansion of aliases are bounded.

use stellar_grammar::Span;

use crate::{
    diagnostics::{Code, Diagnostic},
    source::{FileId, Place},
};

mod document;
mod reader;

pub use document::read;
pub use reader::{Fields, Reader};
pub(crate) use reader::{parse_float, parse_int, shortened};

/// The codes under which faults of a kind of document are reported.
#[derive(Debug)]
pub struct Vocabulary {
    /// The text is no YAML.
    pub bad_yaml: &'static Code,
    /// A key has no meaning where it stands.
    pub unknown_key: &'static Code,
    /// A key stands twice in one mapping.
    pub duplicate_key: &'static Code,
    /// A key that has to be there is not.
    pub missing_key: &'static Code,
    /// A value is not of the kind that is due.
    pub bad_value: &'static Code,
}

/// A node of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where; of a mapping or a list its beginning.
    pub place: Place,
    /// What.
    pub value: Value,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing, or `null`.
    Null,
    /// A text.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the text.
    Map(Vec<(Key, Node)>),
}

/// A scalar.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// What it says: as written where it is plain, escapes resolved where it is quoted.
    pub text: String,
    /// Whether it stands without quotes, so that it may be a number or a truth value.
    pub plain: bool,
    /// Where each piece of `text` stands in the file: its offset in the text and in the file; empty where that is not
    /// known.
    pieces: Vec<(usize, usize)>,
}

/// A key of a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// As written.
    pub text: String,
    /// Where.
    pub place: Place,
}

impl Node {
    /// The text of a scalar.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(scalar) => Some(&scalar.text),
            _ => None,
        }
    }

    /// The text of a scalar without quotes.
    #[must_use]
    pub fn as_plain(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(scalar) if scalar.plain => Some(&scalar.text),
            _ => None,
        }
    }

    /// The place in the file of a piece of a scalar's text; the whole scalar where that cannot be told.
    #[must_use]
    pub fn place_of(&self, span: Span) -> Place {
        let Value::Scalar(scalar) = &self.value else { return self.place };
        let last = scalar.text.get(span.start..span.end).and_then(|text| text.char_indices().next_back());
        let start = scalar.offset(span.start);
        match (start, last) {
            (Some(start), None) => Place::new(self.place.file, Span::at(start)),
            (Some(start), Some((at, last))) => {
                let end = scalar.offset(span.start.saturating_add(at)).unwrap_or(start);
                Place::new(self.place.file, Span::new(start, end.saturating_add(last.len_utf8())))
            }
            _ => self.place,
        }
    }

    /// What it is, in words.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Scalar(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}

impl Scalar {
    /// The offset in the file of an offset in the text.
    fn offset(&self, at: usize) -> Option<usize> {
        let piece = self.pieces.partition_point(|(text, _)| *text <= at).checked_sub(1)?;
        let (text, file) = self.pieces.get(piece)?;
        file.checked_add(at.checked_sub(*text)?)
    }
}

/// What a document is read for.
pub(crate) fn complaint(code: &'static Code, file: FileId, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(code, Place::new(file, span), message)
}
