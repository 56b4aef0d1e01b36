//! Whatever becomes of a catalogue's text: it is compiled or refused, every report can be drawn, nothing panics.

use proptest::prelude::*;
use stellar_compiler::{
    catalogue::{Options, compile},
    diagnostics::{Look, human, json},
    source::{Origin, Sources},
};

const TEXTS: [&str; 5] = [
    include_str!("fixtures/catalogue/reference.yaml"),
    include_str!("fixtures/catalogue/pus.yaml"),
    include_str!("fixtures/catalogue/arguments.yaml"),
    include_str!("fixtures/catalogue/conditions.yaml"),
    include_str!("fixtures/catalogue/faults-commands.yaml"),
];

/// What is put into a text.
const PIECES: [&str; 24] = [
    "", " ", "\n", ":", "{", "}", "[", "]", "\"", "'", "|\n", "&a ", "*a", "0", "-1", "..", "é", "\u{feff}", "\t",
    "is ", "degC", "null", "index", "\r\n",
];

/// A change of a text: where, how much goes, what comes.
type Change = (prop::sample::Index, usize, &'static str);

fn changed(text: &str, changes: &[Change]) -> String {
    let mut text = text.to_owned();
    for (place, gone, piece) in changes {
        let from = text.floor_char_boundary(place.index(text.len().max(1)));
        let to = text.floor_char_boundary(from.saturating_add(*gone));
        text.replace_range(from..to.max(from), piece);
    }
    text
}

/// Compiles a text and draws what is said of it.
fn drawn(bytes: &[u8]) -> Result<(), TestCaseError> {
    let mut sources = Sources::default();
    let file = sources.add("a.yaml", bytes, Origin::Project);
    let (catalogue, diagnostics) = compile(&[file], &sources, &Options::default());
    for diagnostic in &diagnostics {
        prop_assert!(human(diagnostic, &sources, Look::default()).contains(diagnostic.code.name));
        let message = &diagnostic.message;
        prop_assert!(!message.is_empty() && !message.contains('\n') && !message.ends_with('.'), "{}", message);
    }
    prop_assert_eq!(json(&diagnostics, &sources).len(), diagnostics.len());
    for platform in &catalogue.platforms {
        let compiled = &platform.compiled;
        prop_assert_eq!(compiled.parameters.len(), platform.parameters.len());
        prop_assert_eq!(compiled.telecommands.len(), platform.telecommands.len());
        prop_assert!(compiled.parameters.is_sorted_by_key(|it| (it.component, it.name.clone())));
        prop_assert!(compiled.telecommands.is_sorted_by_key(|it| (it.component, it.name.clone())));
        prop_assert!(compiled.parameters.iter().all(|it| (it.component as usize) < compiled.components.len()));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_catalogue_is_read_or_refused(
        text in prop::sample::select(TEXTS.to_vec()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..12, prop::sample::select(PIECES.to_vec())), 1..6),
    ) {
        drawn(changed(text, &changes).as_bytes())?;
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        drawn(&bytes)?;
    }
}
