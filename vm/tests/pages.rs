//! Every code of the contract has its page, and every page its code.

use std::{collections::BTreeSet, fs, path::Path};

#[test]
fn every_code_has_its_page() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/diagnostics/artifact");
    let pages: BTreeSet<String> = fs::read_dir(folder)
        .expect("the folder of the pages")
        .map(|page| page.expect("a page").path())
        .map(|path| {
            let code = format!("artifact::{}", path.file_stem().expect("a name").to_string_lossy());
            let text = fs::read_to_string(&path).expect("a text");
            assert!(text.starts_with(&format!("# `{code}`\n\n*Error.* ")), "{}", path.display());
            code
        })
        .collect();
    let tables = [stellar_vm::artifact::CODES, stellar_vm::verify::CODES, stellar_vm::compare::CODES];
    let codes: BTreeSet<String> = tables.into_iter().flatten().map(|(code, _)| String::from(*code)).collect();
    assert_eq!(pages, codes);
}
