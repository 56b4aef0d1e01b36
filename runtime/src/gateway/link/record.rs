//! The link's own record of what left: a file of JSON lines outside of the store, by which tests and operators judge it.
//!
//! A line is written by one `write` to a file opened for appending, as the hand-over itself: what is not in the record
//! did not leave. A line that was torn by a full disk or a power failure is a hand-over that did not happen.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Serialize, de::DeserializeOwned};

/// A record, open for appending.
#[derive(Debug)]
pub struct Record {
    file: File,
    /// The last line has no end: what comes next must begin a new one.
    torn: bool,
}

impl Record {
    /// Opens the record at `path`, and makes it, but not its folder, where there is none.
    ///
    /// # Errors
    /// Where the system does not let it be made, written or read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().create(true).append(true).read(true).open(path)?;
        let mut torn = false;
        if file.seek(SeekFrom::End(0))? > 0 {
            let mut last = [0];
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
            torn = last != *b"\n";
        }
        Ok(Self { file, torn })
    }

    /// Appends one entry as one line.
    ///
    /// # Errors
    /// Where it cannot be written whole: then what it tells of must not be done.
    pub fn append(&mut self, entry: &impl Serialize) -> io::Result<()> {
        let mut line = if self.torn { vec![b'\n'] } else { Vec::new() };
        serde_json::to_writer(&mut line, entry)?;
        line.push(b'\n');
        let written = self.file.write(&line);
        self.torn = !matches!(written, Ok(length) if length == line.len());
        match written {
            Ok(length) if length == line.len() => Ok(()),
            Ok(length) => Err(io::Error::new(
                io::ErrorKind::WriteZero,
                format!("only {length} of {} bytes of the link's record were written", line.len()),
            )),
            Err(error) => Err(error),
        }
    }

    /// The entries of the record at `path`, in order; none where there is no record.
    ///
    /// # Errors
    /// Where it cannot be read, or a line that is not torn is no entry.
    pub fn read<T: DeserializeOwned>(path: &Path) -> io::Result<Vec<T>> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut entries = Vec::new();
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(entry) => entries.push(entry),
                Err(error) if error.is_eof() => {}
                Err(error) => {
                    let place = format!("{}:{}: {error}", path.display(), number + 1);
                    return Err(io::Error::new(io::ErrorKind::InvalidData, place));
                }
            }
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_in_order_across_reopening_and_a_torn_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("link.jsonl");
        assert_eq!(Record::read::<[u8; 2]>(&path).unwrap(), <[[u8; 2]; 0]>::default());
        Record::open(&path).unwrap().append(&[1, 2]).unwrap();
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"[3,").unwrap();
        let mut record = Record::open(&path).unwrap();
        record.append(&[5, 6]).unwrap();
        record.append(&[7, 8]).unwrap();
        assert_eq!(Record::read::<[u8; 2]>(&path).unwrap(), [[1, 2], [5, 6], [7, 8]]);
    }

    #[test]
    fn a_line_that_is_no_entry_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("link.jsonl");
        std::fs::write(&path, "[1,2]\nx\n").unwrap();
        let error = Record::read::<[u8; 2]>(&path).unwrap_err().to_string();
        assert!(error.contains("link.jsonl:2:"), "{error}");
    }

    #[test]
    fn what_cannot_be_written_is_an_error() {
        let full = Path::new("/dev/full");
        if full.exists() {
            let file = OpenOptions::new().append(true).open(full).unwrap();
            assert!(Record { file, torn: false }.append(&[1, 2]).is_err());
        }
    }
}
