//! Files and folders, and the names under which their texts are known.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// How deep folders are looked through.
const DEEPEST: usize = 32;

/// The file itself, or the files of these kinds in a folder and the folders below it, sorted.
///
/// # Errors
/// In words, where the path is neither or cannot be read.
pub(super) fn under(path: &Path, kinds: &[&str]) -> Result<Vec<PathBuf>, String> {
    let wrong = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => format!("there is no file or folder `{}`", path.display()),
        _ => format!("`{}` cannot be read: {e}", path.display()),
    };
    let kind = fs::metadata(path).map_err(wrong)?;
    if !kind.is_dir() {
        return regular(path.to_owned(), &kind).map(|path| vec![path]);
    }
    let mut found = Vec::new();
    let mut folders = vec![(path.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(wrong)? {
            let path = entry.map_err(wrong)?.path();
            if path.is_dir() {
                let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
                if depth < DEEPEST && !hidden {
                    folders.push((path, depth + 1));
                }
            } else if path.extension().is_some_and(|kind| kinds.iter().any(|wanted| kind == *wanted)) {
                let kind = fs::metadata(&path).map_err(|e| format!("`{}` cannot be read: {e}", path.display()))?;
                found.push(regular(path, &kind)?);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The path of a file that ends: reading a pipe or a device can take for ever.
fn regular(path: PathBuf, kind: &fs::Metadata) -> Result<PathBuf, String> {
    if kind.is_file() { Ok(path) } else { Err(format!("`{}` is neither a file nor a folder", path.display())) }
}

/// The path from the root, with links resolved where it exists.
pub(super) fn absolute(path: &Path) -> PathBuf {
    fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

/// The name of a file: its path from the mission folder, with `/`. A file that is not in it goes by its own name, so
/// that no path of a machine gets into an artifact.
pub(super) fn name(root: &Path, path: &Path) -> String {
    let path = absolute(path);
    let relative = path.strip_prefix(absolute(root)).map(Path::to_owned);
    let relative = relative.unwrap_or_else(|_| path.file_name().map(PathBuf::from).unwrap_or_default());
    let parts = relative.components().filter_map(|part| match part {
        Component::Normal(part) => Some(part.to_string_lossy().into_owned()),
        _ => None,
    });
    parts.collect::<Vec<_>>().join("/")
}

/// The deepest folder that holds everything named; none where nothing is.
pub(super) fn common_folder(here: &Path, named: &[PathBuf]) -> Option<PathBuf> {
    let folders = named.iter().map(|path| {
        let path = absolute(&here.join(path));
        if path.is_dir() { path } else { path.parent().map(Path::to_owned).unwrap_or_default() }
    });
    folders.reduce(|common, folder| {
        common.components().zip(folder.components()).take_while(|(a, b)| a == b).map(|(part, _)| part).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_relative_and_never_tell_of_the_machine() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("mission");
        fs::create_dir_all(root.join("procedures")).unwrap();
        let inside = root.join("procedures/a.proc");
        let outside = folder.path().join("b.proc");
        fs::write(&inside, "").unwrap();
        fs::write(&outside, "").unwrap();
        assert_eq!(name(&root, &inside), "procedures/a.proc");
        assert_eq!(name(&root, &root.join("procedures/../procedures/./a.proc")), "procedures/a.proc");
        assert_eq!(name(&root, &outside), "b.proc");
    }

    #[test]
    fn the_common_folder_does_not_depend_on_the_order() {
        let folder = tempfile::tempdir().unwrap();
        let root = absolute(folder.path());
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/x.proc"), "").unwrap();
        fs::write(root.join("a/y.proc"), "").unwrap();
        let (x, y) = (PathBuf::from("a/b/x.proc"), PathBuf::from("a/y.proc"));
        assert_eq!(common_folder(&root, &[x.clone(), y.clone()]), Some(root.join("a")));
        assert_eq!(common_folder(&root, &[y, x.clone()]), Some(root.join("a")));
        assert_eq!(common_folder(&root, &[x]), Some(root.join("a/b")));
        assert_eq!(common_folder(&root, &[]), None);
    }

    #[test]
    fn a_pipe_is_no_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.proc");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let told = Err(format!("`{}` is neither a file nor a folder", path.display()));
        assert_eq!((under(&path, &["proc"]), under(folder.path(), &["proc"])), (told.clone(), told));
    }

    #[test]
    fn what_is_not_there_is_told() {
        assert_eq!(under(Path::new("no/such"), &["proc"]), Err("there is no file or folder `no/such`".to_owned()));
    }
}
