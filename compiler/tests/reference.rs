//! The examples of the catalogue's reference compile as they stand.

use stellar_compiler::{
    catalogue::{Options, compile},
    source::{Origin, Sources},
};

#[test]
fn the_examples_compile() {
    let page = include_str!("../../docs/reference/catalogue.md");
    let examples: Vec<&str> = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 3);
    for example in examples {
        let mut sources = Sources::default();
        let file = sources.add("example.yaml", example.as_bytes(), Origin::Project);
        let (catalogue, diagnostics) = compile(&[file], &sources, &Options::default());
        assert_eq!(diagnostics, [], "{example}");
        assert_eq!(catalogue.platforms.len(), 1);
    }
}
