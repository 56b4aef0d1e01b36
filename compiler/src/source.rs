//! The texts that are compiled, and places in them.
//!
//! A place is a file and a range of bytes. Lines and columns are made from it here and nowhere else: lines from 1,
//! columns from 1 by characters, so that a reader's editor agrees. A byte order mark is no character of the first line;
//! `\n` and `\r\n` end a line. Reading files is the caller's.

use std::sync::Arc;

use stellar_grammar::Span;

/// A file of [`Sources`], by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

impl FileId {
    /// Its number, in the order in which the files were added.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// Whose a file is. What the project itself defines wins over a standard definition of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The mission's own.
    Project,
    /// From the standard library.
    Standard,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// The bytes of its text.
    pub span: Span,
}

impl Place {
    /// The place of `span` in `file`.
    #[must_use]
    pub const fn new(file: FileId, span: Span) -> Self {
        Self { file, span }
    }
}

/// Where a byte stands, as a reader counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column by characters, from 1.
    pub column: u32,
    /// Byte of the file, from 0.
    pub offset: usize,
}

/// A file: its name and its text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: Arc<str>,
    text: Arc<str>,
    origin: Origin,
    line_starts: Vec<usize>,
    longest_line: usize,
    /// How many characters of the text, ends of lines by CR apart, begin before each [`STRIDE`] bytes.
    characters: Vec<usize>,
    has_controls: bool,
    invalid_utf8: Option<usize>,
}

/// How far apart characters are counted, so that a column costs the same in a line of any length.
const STRIDE: usize = 1024;

const BYTE_ORDER_MARK: &str = "\u{feff}";

impl SourceFile {
    fn new(name: &str, bytes: &[u8], origin: Origin) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let invalid_utf8 = std::str::from_utf8(bytes).err().map(|error| error.valid_up_to());
        let line_starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at.saturating_add(1))).collect();
        let longest_line = text.split('\n').map(str::len).max().unwrap_or(0);
        let has_controls = text.contains(is_control) || text.split('\r').skip(1).any(|rest| !rest.starts_with('\n'));
        let characters = characters(&text);
        let (name, text) = (name.into(), text.into());
        Self { name, text, origin, line_starts, longest_line, characters, has_controls, invalid_utf8 }
    }

    /// Its name: the path relative to the mission folder, with `/`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its whole text, a byte order mark included. Where the bytes were no UTF-8, replacement characters stand in it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whose it is.
    #[must_use]
    pub const fn origin(&self) -> Origin {
        self.origin
    }

    /// Offset of the first byte that is no UTF-8. The text up to it is as in the file; nothing is to be read from what
    /// follows.
    #[must_use]
    pub const fn invalid_utf8(&self) -> Option<usize> {
        self.invalid_utf8
    }

    /// How many bytes of the text are a byte order mark: 0 or 3.
    #[must_use]
    pub fn mark_len(&self) -> usize {
        if self.text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
    }

    /// The bytes of its longest line.
    pub(crate) const fn longest_line(&self) -> usize {
        self.longest_line
    }

    /// Whether it holds control characters beside tabs and ends of lines.
    pub(crate) const fn has_controls(&self) -> bool {
        self.has_controls
    }

    /// The line of a byte, from 0.
    pub(crate) fn line_at(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// Where a line begins, counted from 0; the end of the text where there is none.
    pub(crate) fn line_start(&self, line: usize) -> usize {
        self.line_starts.get(line).copied().unwrap_or(self.text.len())
    }

    /// The nearest place of the text at or before `offset` where a character begins, or the end of the text.
    pub(crate) fn clamp(&self, offset: usize) -> usize {
        self.text.floor_char_boundary(offset)
    }

    /// Line and column of a byte. One past the end is the end.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.clamp(offset);
        let line = self.line_starts.partition_point(|start| *start <= offset).max(1);
        let start = self.line_starts.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let start = start.max(self.mark_len());
        let column = self.characters_before(offset).saturating_sub(self.characters_before(start)).saturating_add(1);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Position { line: count(line), column: count(column), offset }
    }

    /// How many characters, those of CR apart, begin before a byte where one begins.
    fn characters_before(&self, offset: usize) -> usize {
        let block = offset / STRIDE;
        let from = block.saturating_mul(STRIDE);
        let known = self.characters.get(block).copied().unwrap_or_default();
        let rest = self.text.as_bytes().get(from..offset).unwrap_or_default();
        known.saturating_add(rest.iter().filter(|byte| begins_character(**byte)).count())
    }

    /// The byte at a line and a column, both from 1 as a reader counts; the end of the text where there is none.
    #[must_use]
    pub fn offset(&self, line: u64, column: u64) -> usize {
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        let Some(start) = line.checked_sub(1).and_then(|line| self.line_starts.get(line)) else {
            return self.text.len();
        };
        let start = (*start).max(self.mark_len());
        let column = usize::try_from(column).unwrap_or(usize::MAX).saturating_sub(1);
        let rest = self.text.get(start..).unwrap_or_default();
        rest.char_indices().nth(column).map_or(self.text.len(), |(at, _)| start.saturating_add(at))
    }
}

/// Whether a character other than CR begins with this byte of UTF-8.
const fn begins_character(byte: u8) -> bool {
    byte & 0xC0 != 0x80 && byte != b'\r'
}

fn characters(text: &str) -> Vec<usize> {
    let blocks =
        text.as_bytes().chunks(STRIDE).map(|block| block.iter().filter(|byte| begins_character(**byte)).count());
    let sums = blocks.scan(0_usize, |sum, count| {
        *sum = sum.saturating_add(count);
        Some(*sum)
    });
    std::iter::once(0).chain(sums).collect()
}

/// A control character that is neither a tab nor part of a line's end.
pub(crate) fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t')
}

/// All files of a compilation, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// Adds a file with the bytes that were read from it.
    pub fn add(&mut self, name: &str, bytes: &[u8], origin: Origin) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(SourceFile::new(name, bytes, origin));
        id
    }

    /// The file of that number; `None` for a number of other [`Sources`].
    #[must_use]
    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(usize::try_from(id.0).ok()?)
    }

    /// The text of a file; the empty string for a number of other [`Sources`].
    #[must_use]
    pub fn text(&self, id: FileId) -> &str {
        self.get(id).map_or("", SourceFile::text)
    }

    /// The text of a place.
    #[must_use]
    pub fn text_of(&self, place: Place) -> &str {
        place.span.of(self.text(place.file))
    }

    /// Where a place begins, as a reader counts.
    #[must_use]
    pub fn position(&self, place: Place) -> Position {
        let start = Position { line: 1, column: 1, offset: 0 };
        self.get(place.file).map_or(start, |file| file.position(place.span.start))
    }

    /// `file:line:column` of where a place begins.
    #[must_use]
    pub fn location(&self, place: Place) -> String {
        let Position { line, column, .. } = self.position(place);
        let name = self.get(place.file).map_or("", SourceFile::name);
        format!("{name}:{line}:{column}")
    }

    /// The files with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        (0..).map(FileId).zip(&self.files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, offset: usize) -> (u32, u32) {
        let mut sources = Sources::default();
        let file = sources.add("a.proc", text.as_bytes(), Origin::Project);
        let position = sources.position(Place::new(file, Span::at(offset)));
        (position.line, position.column)
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(at("", 0), (1, 1));
        assert_eq!(at("é\nab", 2), (1, 2));
        assert_eq!(at("é\nab", 4), (2, 2));
        assert_eq!(at("é\nab", 1), (1, 1), "inside a character is its beginning");
    }

    #[test]
    fn both_ends_of_line_count_the_same() {
        assert_eq!(at("a\r\nb", 3), (2, 1));
        assert_eq!(at("a\nb", 2), (2, 1));
        assert_eq!(at("a\r\nb", 99), (2, 2), "one past the end is the end");
    }

    #[test]
    fn a_line_and_a_column_are_a_byte() {
        let file = SourceFile::new("a", "\u{feff}é\nab".as_bytes(), Origin::Project);
        assert_eq!((file.offset(1, 1), file.offset(1, 2), file.offset(2, 2)), (3, 5, 7));
        assert_eq!((file.offset(0, 1), file.offset(9, 1), file.offset(2, 9)), (8, 8, 8));
    }

    #[test]
    fn a_mark_is_no_column() {
        assert_eq!(at("\u{feff}ab", 3), (1, 1));
        assert_eq!(at("\u{feff}ab", 4), (1, 2));
        assert_eq!(at("\u{feff}ab", 0), (1, 1));
    }

    #[test]
    fn bytes_that_are_no_text_are_told() {
        let mut sources = Sources::default();
        let file = sources.add("a.proc", b"ab\xffcd", Origin::Project);
        assert_eq!(sources.get(file).and_then(SourceFile::invalid_utf8), Some(2));
    }
}
