//! Several files: whose platform wins, what is told of the others, and findings as JSON.

use stellar_compiler::{
    catalogue::{Options, compile},
    diagnostics::{Levels, json},
    source::{FileId, Origin, Sources},
};

fn added(sources: &mut Sources, files: &[(&str, Origin)]) -> Vec<FileId> {
    let name = |at: usize| format!("{at}.yaml");
    files.iter().enumerate().map(|(at, (text, origin))| sources.add(&name(at), text.as_bytes(), *origin)).collect()
}

const OWN: &str = "platform: a\nroutes: {own: {}}\n";
const STANDARD: &str = "platform: a\nroutes: {standard: {}}\nwrong: key\n";

#[test]
fn the_projects_platform_takes_the_place_of_a_standard_one() {
    for files in
        [[(STANDARD, Origin::Standard), (OWN, Origin::Project)], [(OWN, Origin::Project), (STANDARD, Origin::Standard)]]
    {
        let mut sources = Sources::default();
        let ids = added(&mut sources, &files);
        let (catalogue, diagnostics) = compile(&ids, &sources, &Options::default());
        assert_eq!(diagnostics, [], "what is not used is not looked at");
        let [platform] = catalogue.platforms.as_slice() else { panic!("one platform") };
        assert_eq!(&*platform.compiled.routes[0].name, "own");
        assert_eq!(catalogue.find("a"), Some(0));
    }
}

#[test]
fn two_of_one_origin_are_told_with_both_places() {
    let mut sources = Sources::default();
    let ids = added(&mut sources, &[(OWN, Origin::Project), ("# second\nplatform: a\n", Origin::Project)]);
    let (_, diagnostics) = compile(&ids, &sources, &Options::default());
    let told = serde_json::to_value(json(&diagnostics, &sources)).unwrap();
    let place =
        |line: u32, column: u32, offset: u32| serde_json::json!({"line": line, "column": column, "offset": offset});
    let wanted = serde_json::json!([{
        "code": "catalogue::duplicate-platform",
        "severity": "error",
        "message": "the platform `a` is defined twice",
        "help": null,
        "url": "docs/diagnostics/catalogue/duplicate-platform.md",
        "labels": [
            {"file": "1.yaml", "start": place(2, 11, 19), "end": place(2, 12, 20), "text": null, "primary": true},
            {"file": "0.yaml", "start": place(1, 11, 10), "end": place(1, 12, 11), "text": "first here", "primary": false},
        ],
    }]);
    assert_eq!(told, wanted);
}

#[test]
fn a_file_that_cannot_be_read_leaves_the_catalogue_incomplete() {
    let mut sources = Sources::default();
    let ids = added(&mut sources, &[("platform: [", Origin::Project), (OWN, Origin::Project)]);
    let (catalogue, diagnostics) = compile(&ids, &sources, &Options::default());
    assert!(catalogue.incomplete && catalogue.find("a").is_some());
    assert_eq!(diagnostics.len(), 1);
}

#[test]
fn warnings_are_allowed_and_denied_by_code() {
    let text = "platform: a\ncomponents: {c: {telecommands: {t: {requires: \"1 < 2\"}}}}\n";
    let mut sources = Sources::default();
    let ids = added(&mut sources, &[(text, Origin::Project)]);
    let (_, warned) = compile(&ids, &sources, &Options::default());
    assert!(!warned[0].is_error());
    let mut levels = Levels::default();
    levels.allow("procedure::constant-condition").unwrap();
    let mut allowed = warned.clone();
    levels.apply(&mut allowed);
    assert_eq!(allowed, []);
    levels.deny("procedure::constant-condition").unwrap();
    let mut denied = warned;
    levels.apply(&mut denied);
    assert!(denied[0].is_error(), "denied wins");
}
