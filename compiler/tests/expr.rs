//! Expressions to their types and code, or to their diagnostics, one snapshot a fixture.
//!
//! A fixture holds one expression a line; `#` begins a comment. It is read in the scope of a procedure with the targets
//! `sat` (`platform-v3`) and `relay` (`platform-v4`) and the names below, on the catalogue of the diagnostics' pages.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{fmt::Write, path::Path, sync::Arc};

use stellar_compiler::{
    catalogue::{Catalogue, Options, Platform, compile},
    diagnostics::{Look, human},
    expr::{Root, Scope, Slots, Typed, condition, value},
    source::{FileId, Origin, Place, Sources},
    types::{
        Enumeration, Enumerations, Measure, Type,
        interval::{Floats, Ints},
    },
};
use stellar_grammar::{Span, parse_condition, parse_value};

struct Procedure<'a> {
    catalogue: &'a Catalogue,
    file: FileId,
}

fn locals(catalogue: &Catalogue) -> Vec<(&'static str, Type)> {
    let mode = catalogue.platforms[0].types["tcu_mode"].clone().unwrap();
    vec![
        ("tcu", Type::Int(Ints { min: 1, max: 4 })),
        ("n", Type::INT),
        ("ratio", Type::FLOAT),
        ("power", Type::Float(Measure::parse("W").unwrap(), Floats { min: Some(0.0), max: Some(10.0) })),
        ("limit", Type::Float(Measure::parse("mV").unwrap(), Floats::ALL)),
        ("pause", Type::Duration),
        ("chill", Type::Float(Measure::parse("K").unwrap(), Floats::ALL)),
        ("start", Type::Time),
        ("flag", Type::Bool),
        ("text", Type::Str),
        ("wanted", mode),
    ]
}

impl Scope for Procedure<'_> {
    fn place(&self, span: Span) -> Place {
        Place::new(self.file, span)
    }

    fn root(&self, name: &str, _: bool) -> Root {
        match name {
            "sat" => Root::Target { target: 0, platform: self.catalogue.find("platform-v3") },
            "relay" => Root::Target { target: 1, platform: self.catalogue.find("platform-v4") },
            _ => match (0..).zip(locals(self.catalogue)).find(|(_, (local, _))| *local == name) {
                Some((local, (_, ty))) => Root::Local { local, ty: Some(ty) },
                None => Root::Unknown,
            },
        }
    }

    fn names(&self) -> Vec<Arc<str>> {
        let locals = locals(self.catalogue).into_iter().map(|(name, _)| Arc::from(name));
        ["sat", "relay"].into_iter().map(Arc::from).chain(locals).collect()
    }

    fn platform(&self, number: u32) -> Option<&Platform> {
        self.catalogue.get(number)
    }
}

/// Numbers as the catalogue gives them.
struct Plain;

impl Enumerations for Plain {
    fn enumeration(&mut self, which: &Enumeration) -> u32 {
        which.index
    }
}

impl Slots for Plain {
    fn parameter(&mut self, platform: u32, parameter: u32) -> u32 {
        platform * 100 + parameter
    }
}

fn one(line: &str, conditions: bool) -> String {
    let yaml = include_str!("../../docs/diagnostics/catalogue.yaml");
    let mut sources = Sources::default();
    let pages = sources.add("catalogue.yaml", yaml.as_bytes(), Origin::Project);
    let (catalogue, mut out) = compile(&[pages], &sources, &Options::default());
    assert!(out.is_empty(), "{out:?}");
    let file = sources.add("line", line.as_bytes(), Origin::Project);
    let scope = Procedure { catalogue: &catalogue, file };
    let (expr, errors) = if conditions { parse_condition(line) } else { parse_value(line) };
    assert!(errors.is_empty(), "{line}: {errors:?}");
    let typed = if conditions { condition(&expr, &scope, &mut out) } else { value(&expr, &scope, &mut out) };
    let mut shown = format!("{line}\n");
    for diagnostic in &out {
        write!(shown, "{}", human(diagnostic, &sources, Look::default())).unwrap();
    }
    if let Some(typed) = typed {
        write!(shown, "{}", lowered(&typed)).unwrap();
    } else {
        assert!(out.iter().any(|diagnostic| diagnostic.is_error()), "{line}: refused in silence");
    }
    shown
}

fn lowered(typed: &Typed) -> String {
    let code = typed.lower(&mut Plain);
    let reads: Vec<_> = code.reads.iter().map(|read| (read.target, read.parameter)).collect();
    format!("  {}: {:?} constants {:?} reads {reads:?}\n", typed.ty, code.code, code.constants)
}

fn fixture(path: &Path) -> datatest_stable::Result<()> {
    let name = path.file_name().and_then(|name| name.to_str()).ok_or("a fixture has a name")?;
    let text = std::fs::read_to_string(path)?;
    let conditions = !name.starts_with("value");
    let lines = text.lines().filter(|line| !line.is_empty());
    let shown: Vec<String> =
        lines.map(|line| if line.starts_with('#') { format!("{line}\n") } else { one(line, conditions) }).collect();
    let folder = path.parent().ok_or("a fixture stands in a folder")?;
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(std::path::absolute(folder)?);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, shown.join("\n")));
    Ok(())
}

datatest_stable::harness! {
    { test = fixture, root = "tests/fixtures/expr", pattern = r"\.txt$" },
}
