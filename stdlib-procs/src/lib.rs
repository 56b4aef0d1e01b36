//! The standard library: procedures and the catalogues that they are written against, embedded, without logic.
//!
//! One folder a topic. A program of a mission is its own files, then these; what the mission defines under a name that
//! stands here as well, wins. Text is kept byte for byte as it is in the repository.

/// A file of the standard library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File {
    /// Path within the library, with `/`: `acquisition/acquisition.proc`.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! files {
    ($($path:literal),+ $(,)?) => {
        &[$(File { path: $path, text: include_str!(concat!("../", $path)) }),+]
    };
}

/// The procedures, sorted by path.
pub static PROCEDURES: &[File] = files!["acquisition/acquisition.proc", "pus/pus.proc", "tcu/tcu.proc"];

/// The catalogues, sorted by path.
pub static CATALOGUES: &[File] = files!["pus/pus-c.yaml", "tcu/platform-v3.yaml"];

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    fn walk(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).expect("the crate's folder is readable") {
            let path = entry.expect("the entry is readable").path();
            if path.is_dir() && !path.ends_with("src") {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "proc" || e == "yaml") {
                let root = Path::new(env!("CARGO_MANIFEST_DIR"));
                let relative = path.strip_prefix(root).expect("below the crate");
                found.insert(relative.to_string_lossy().replace('\\', "/"));
            }
        }
    }

    #[test]
    fn every_file_of_the_folder_is_embedded_and_sorted() {
        let mut on_disk = BTreeSet::new();
        walk(Path::new(env!("CARGO_MANIFEST_DIR")), &mut on_disk);
        let embedded: Vec<&str> = PROCEDURES.iter().chain(CATALOGUES).map(|file| file.path).collect();
        assert_eq!(on_disk, embedded.iter().map(ToString::to_string).collect());
        assert!(PROCEDURES.is_sorted_by_key(|file| file.path) && CATALOGUES.is_sorted_by_key(|file| file.path));
    }
}
