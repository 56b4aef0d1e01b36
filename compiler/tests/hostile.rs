//! Catalogues that mean harm: refused with a diagnostic, in time and memory that their size justifies.

use std::fmt::Write;

use stellar_compiler::{
    catalogue::{Options, compile},
    diagnostics::{Look, human},
    source::{Origin, Sources},
};

/// The codes of what is said of a text; every report is drawn, since that could fail too.
fn codes(text: &str) -> Vec<&'static str> {
    let mut sources = Sources::default();
    let file = sources.add("hostile.yaml", text.as_bytes(), Origin::Project);
    let (_, diagnostics) = compile(&[file], &sources, &Options::default());
    for diagnostic in &diagnostics {
        assert!(!human(diagnostic, &sources, Look::default()).is_empty());
    }
    diagnostics.iter().map(|diagnostic| diagnostic.code.name).collect()
}

#[test]
fn deep_nesting_is_refused() {
    for open in ["[", "{a: ", "- ", "a:\n "] {
        assert_eq!(
            codes(&format!("platform: x\ncomponents: {}", open.repeat(100_000))),
            ["catalogue::bad-yaml"],
            "{open}"
        );
    }
}

#[test]
fn nesting_ends_at_its_bound() {
    let nested = |depth: usize| format!("platform: x\nc: {}1{}\n", "[".repeat(depth), "]".repeat(depth));
    // The document itself is the first of 20 levels.
    assert_eq!(codes(&nested(19)), ["catalogue::unknown-key"]);
    assert_eq!(codes(&nested(20)), ["catalogue::bad-yaml"]);
}

#[test]
fn aliases_do_not_grow_without_end() {
    let mut bomb = String::from("platform: x\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..20 {
        let row = vec![format!("*a{}", level - 1); 10].join(",");
        writeln!(bomb, "a{level}: &a{level} [{row}]").unwrap();
    }
    assert_eq!(codes(&bomb), ["catalogue::bad-yaml"]);
    assert_eq!(codes("platform: x\na: &a [*a]\n"), ["catalogue::bad-yaml"]);
}

#[test]
fn huge_numbers_and_names_are_values_that_do_not_fit() {
    let digits = "9".repeat(100_000);
    let name = "n".repeat(1_000);
    let text = format!("platform: x\ntypes: {{a: {{int: 0..{digits}}}, b: {{enum: {{A: {digits}}}}}}}\n{name}: 1\n");
    let found = codes(&text);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.contains(&"catalogue::unknown-key") && found.contains(&"catalogue::bad-value"), "{found:?}");
}

#[test]
fn a_condition_as_long_as_it_likes_is_read_in_time() {
    let sum = vec!["x"; 30_000].join(" + ");
    let brackets = format!("{}x{}", "(".repeat(400), ")".repeat(400));
    let text = |condition: &str| {
        format!(
            "platform: p\ncomponents: {{c: {{telemetry: {{x: {{type: int}}}}, telecommands: {{t: {{requires: \"{condition} > 0\"}}}}}}}}\n"
        )
    };
    assert_eq!(codes(&text(&sum)), Vec::<&str>::new());
    assert_eq!(codes(&text(&brackets)), ["procedure::nesting-too-deep"]);
}

#[test]
fn many_entries_are_read_in_time() {
    let mut text = String::from("platform: p\ncomponents:\n  c:\n    telemetry:\n");
    for number in 0..20_000 {
        writeln!(text, "      x{number}: {{type: float, unit: V, valid_when: \"x0 > 1 V\"}}").unwrap();
    }
    assert_eq!(codes(&text), Vec::<&str>::new());
}
