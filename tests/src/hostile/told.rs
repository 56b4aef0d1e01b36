//! What holds for everything that is said of a text.

use std::collections::BTreeSet;

use stellar_compiler::{
    diagnostics::{Diagnostic, Look, codes, human, json},
    source::Sources,
};

/// Each finding has a code of the registry, words, and places inside of the texts; they stand in the order of the
/// texts, each once; and every one can be drawn and written.
pub(super) fn holds(diagnostics: &[Diagnostic], sources: &Sources) {
    let known: BTreeSet<&str> = codes().into_iter().map(|code| code.name).collect();
    for diagnostic in diagnostics {
        let Diagnostic { code, message, labels, help, .. } = diagnostic;
        assert!(known.contains(code.name), "{} is in no list", code.name);
        assert!(!message.is_empty() && !message.contains('\n') && !message.ends_with('.'), "{message:?}");
        assert!(help.as_ref().is_none_or(|help| !help.is_empty()), "{message}: an empty help");
        assert!(!labels.is_empty(), "{message}: no place");
        for label in labels {
            let span = label.place.span;
            let text = sources.get(label.place.file).expect("a file of the compilation").text();
            assert!(text.get(span.start..span.end).is_some(), "{message}: {span:?} of {} bytes", text.len());
        }
        // Drawing takes long where a text is long: a look at some is enough.
        if diagnostics.len() < 40 {
            assert!(human(diagnostic, sources, Look::default()).contains(code.name), "{message}: not drawn");
        }
    }
    let order = |one: &Diagnostic| (one.place(), one.code.name, one.message.clone());
    assert!(
        diagnostics.windows(2).all(|two| order(&two[0]) < order(&two[1])),
        "out of order, or twice: {diagnostics:?}"
    );
    assert_eq!(json(diagnostics, sources).len(), diagnostics.len());
}
