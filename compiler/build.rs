//! Embeds the pages of the diagnostics, for `stellar explain`: one table of code and text, sorted by code.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    let root = PathBuf::from("../docs/diagnostics");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut pages = Vec::new();
    for namespace in folders(&root)? {
        println!("cargo::rerun-if-changed={}", namespace.display());
        for entry in fs::read_dir(&namespace)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                println!("cargo::rerun-if-changed={}", path.display());
                let code = format!("{}::{}", name(&namespace), name(&path));
                pages.push((code, fs::read_to_string(&path)?));
            }
        }
    }
    pages.sort();
    let mut table = String::from("[\n");
    for (code, page) in pages {
        table.push_str(&format!("    ({code:?}, {page:?}),\n"));
    }
    table.push_str("]\n");
    let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    fs::write(out.join("pages.rs"), table)
}

fn folders(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root)? {
        let path = entry?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    Ok(found)
}

fn name(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
