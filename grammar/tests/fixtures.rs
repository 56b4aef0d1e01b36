//! Each `fixtures/*.proc` has a snapshot beside it: what was reported, and the tree. The snapshot holds its input.

use std::{fmt::Write as _, fs, path::Path};

use stellar_grammar::{SYNTAX_CODES, Span, parse};

datatest_stable::harness! { { test = fixture, root = "tests/fixtures", pattern = r"\.proc$" } }

fn fixture(path: &Path) -> datatest_stable::Result<()> {
    let text = fs::read_to_string(path)?;
    let stem = path.file_stem().and_then(|stem| stem.to_str()).ok_or("a fixture has a name")?.to_owned();
    let folder = fs::canonicalize(path.parent().ok_or("a fixture lies in a folder")?)?;
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let shown = rendered(&text);
    settings.bind(|| insta::assert_snapshot!(stem, shown));
    without_a_line(&text);
    Ok(())
}

fn rendered(text: &str) -> String {
    let mut out = String::new();
    for (number, line) in text.lines().enumerate() {
        let _ = writeln!(out, "{:>3} | {line}", number + 1);
    }
    let (ast, errors) = parse(text);
    out.push_str("\n--- errors\n");
    for error in &errors {
        assert!(SYNTAX_CODES.iter().any(|(code, _)| *code == error.code), "{} is in the table", error.code);
        let (line, column) = place(text, error.span);
        let _ = writeln!(out, "{line}:{column} {} {}", error.code, error.message);
        let _ = writeln!(out, "    at `{}`", error.span.of(text).escape_debug());
        if let Some(help) = &error.help {
            let _ = writeln!(out, "    help: {help}");
        }
    }
    out.push_str("\n--- tree\n");
    for definition in &ast.definitions {
        relaid(&format!("{definition:?}"), &mut out);
    }
    for broken in &ast.broken {
        relaid(&format!("{broken:?}"), &mut out);
    }
    out.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Line and column, both from 1.
fn place(text: &str, span: Span) -> (usize, usize) {
    let before = &text[..span.start];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// Breaks the lines of a `Debug` text where it has brackets that do not fit on a line.
fn relaid(debug: &str, out: &mut String) {
    const WIDTH: usize = 110;
    let mut indent = 0;
    let mut rest = debug;
    out.push_str("  ");
    while let Some(first) = rest.chars().next() {
        let end = group_end(rest);
        match first {
            '{' | '[' | '(' if end > WIDTH => {
                indent += 1;
                let _ = write!(out, "{first}\n  {}", "  ".repeat(indent));
                rest = rest[1..].trim_start();
                continue;
            }
            '}' | ']' | ')' => {
                indent -= 1;
                let _ = write!(out, "\n  {}{first}", "  ".repeat(indent));
                rest = &rest[1..];
                continue;
            }
            ',' => {
                let _ = write!(out, ",\n  {}", "  ".repeat(indent));
                rest = rest[1..].trim_start();
                continue;
            }
            _ => {}
        }
        out.push_str(&rest[..end]);
        rest = rest[end..].trim_start_matches(' ');
        if rest.starts_with(['{', '[', '(']) || out.ends_with(':') {
            out.push(' ');
        }
    }
    out.push('\n');
}

/// How much of `text` belongs together: a bracket to its partner, a string to its quote, else one character.
fn group_end(text: &str) -> usize {
    let mut depth = 0;
    let mut quoted = false;
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '{' | '[' | '(' if !quoted => depth += 1,
            '}' | ']' | ')' if !quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 && !quoted {
            return at + character.len_utf8();
        }
    }
    text.len()
}

/// A fixture without any one of its lines is read too: whatever is reported has its place in the text.
fn without_a_line(text: &str) {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for left_out in 0..lines.len() {
        let rest: String = lines.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, line)| *line).collect();
        for error in parse(&rest).1 {
            assert!(rest.get(error.span.start..error.span.end).is_some(), "line {left_out}: {error:?}");
        }
    }
}
