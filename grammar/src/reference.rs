//! The language reference: the prose and the rules of `stellar.lalrpop`, and the table of units, as one page.
//!
//! The page is committed, and a test says when it is stale.

use core::fmt::Write as _;

use crate::{
    NESTING_LIMIT,
    token::Keyword,
    units::{BINARY_PREFIXES, DECIMAL_PREFIXES, Dimension, Prefix, Prefixes, UNITS, UnitDef},
};

const GRAMMAR: &str = include_str!("../stellar.lalrpop");

const INTRODUCTION: &str = "\
# The procedure language

<!-- Made from grammar/stellar.lalrpop; edit that, then see grammar/tests/reference.rs. -->

A `.proc` file is UTF-8; a byte order mark is accepted, and a line ends with LF or CRLF.

The rules below are those of the parser. `?` marks what may be left out, `*` what may stand any number of times, `+` once
at least; `|` separates alternatives. What stands between quotes is written as it is. `NEWLINE` is the end of a line,
`INDENT` and `DEDENT` the beginning and the end of a block. `WORD`, `NUMBER`, `QUANTITY`, `DURATION`, `TIME` and `TEXT` are
described under [values](#values) and [words](#words).
";

/// The language reference in Markdown.
#[must_use]
pub fn reference_markdown() -> String {
    let mut page = String::from(INTRODUCTION);
    let mut reader = Reader::default();
    for line in GRAMMAR.lines() {
        reader.line(line, &mut page);
    }
    reader.flush(&mut page);
    limits(&mut page);
    keywords(&mut page);
    units(&mut page);
    page
}

/// Reads the grammar line by line. A rule without prose is shown with the one before it.
#[derive(Default)]
struct Reader {
    prose: String,
    /// The rules of the piece that is being read, in the manual's notation.
    rules: String,
    /// The name of the rule whose alternatives follow, and how many have been seen.
    inside: Option<(String, usize)>,
    left_out: bool,
}

impl Reader {
    fn line(&mut self, line: &str, page: &mut String) {
        if let Some(heading) = line.strip_prefix("//// # ") {
            self.flush(page);
            let _ = write!(page, "\n## {heading}\n");
        } else if let Some(prose) = line.strip_prefix("///") {
            self.prose.push_str(prose.strip_prefix(' ').unwrap_or(prose));
            self.prose.push('\n');
        } else if line.starts_with("//-") {
            self.left_out = true;
        } else if line == "};" {
            self.inside = None;
            self.left_out = false;
        } else if let Some((name, count)) = &mut self.inside {
            if let Some(alternative) = notation(line) {
                let (before, separator) = if *count == 0 { (name.as_str(), '=') } else { ("", '|') };
                let _ = writeln!(self.rules, "{before:<width$} {separator} {alternative}", width = name.len());
                *count += 1;
            }
        } else if let Some(name) = rule_name(line) {
            if self.left_out {
                self.inside = None;
                return;
            }
            if !self.prose.is_empty() {
                let prose = core::mem::take(&mut self.prose);
                self.flush(page);
                let _ = write!(page, "\n### {}\n\n{prose}", title(name));
            }
            self.inside = Some((name.to_owned(), 0));
        }
    }

    /// Writes the rules read so far.
    fn flush(&mut self, page: &mut String) {
        let rules = core::mem::take(&mut self.rules);
        if !rules.is_empty() {
            let _ = write!(page, "\n```text\n{rules}```\n");
        }
    }
}

/// The name of the rule that a line begins, `Name: Type = {`.
fn rule_name(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(": ")?;
    (rest.ends_with(" = {") && name.chars().all(char::is_alphanumeric)).then_some(name)
}

/// `OnFailure` as a heading: `On failure`.
fn title(name: &str) -> String {
    let mut title = String::new();
    for (at, character) in name.char_indices() {
        if at > 0 && character.is_uppercase() {
            title.push(' ');
            title.extend(character.to_lowercase());
        } else {
            title.push(character);
        }
    }
    title
}

/// An alternative of the grammar in the manual's notation; `None` for recovery.
fn notation(line: &str) -> Option<String> {
    let line = line.trim();
    if line.is_empty() || line.contains("!>") || line.ends_with("// !") {
        return None;
    }
    let symbols = line.split_once(" => ").map_or(line.trim_end_matches(','), |(symbols, _)| symbols);
    let mut words = String::new();
    let mut rest = symbols;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => rest.get(1..)?.find('"')? + 2,
            '<' => {
                // A binding, `<name: Symbol>` or `<Symbol>`; places of the text are no symbols.
                let inner = rest.get(1..)?;
                let name = inner.find(|character: char| !character.is_alphanumeric() && character != '_')?;
                let (_, behind) = inner.split_at_checked(name)?;
                rest = behind.strip_prefix(": ").unwrap_or(inner);
                if rest.starts_with('@') {
                    rest = rest.get(rest.find('>')? + 1..)?.trim_start();
                }
                continue;
            }
            '>' => {
                rest = rest.get(1..)?;
                continue;
            }
            _ => first.len_utf8(),
        };
        if let Some(behind) = rest.strip_prefix("Separated<") {
            let (item, behind) = behind.split_once('>')?;
            let _ = write!(words, "{item} (\",\" {item})*");
            rest = behind;
            continue;
        }
        let (symbol, behind) = rest.split_at_checked(length)?;
        words.push_str(symbol);
        rest = behind;
    }
    // A name is a word, in the manual: that a keyword may be one too is said in prose.
    Some(words.trim_end().replace("Plain", "WORD"))
}

fn limits(page: &mut String) {
    let _ = write!(
        page,
        "\n## Limits\n\nAt most {NESTING_LIMIT} blocks stand inside one another, that of the definition counted, and at most \
         {NESTING_LIMIT} brackets.\nA whole number has 64 bits; a duration is 365 d at most.\n"
    );
}

fn keywords(page: &mut String) {
    page.push_str("\n## Keywords\n\n");
    let words: Vec<String> = Keyword::ALL.iter().map(|keyword| format!("`{}`", keyword.text())).collect();
    for line in words.chunks(12) {
        let _ = writeln!(page, "{}", line.join(" "));
    }
}

fn units(page: &mut String) {
    page.push_str(
        "\n## Units\n\nA unit stands behind its number, on the same line; a word that is no unit is not taken for one. Products, \
         quotients\nand powers are written without spaces: `deg/s`, `N*m`, `m/s^2`. Quantities of like dimension are converted into \
         each\nother. Angles, information and levels are dimensions of their own.\n\n\
         | unit | name | dimension | prefixes |\n|---|---|---|---|\n",
    );
    for def in UNITS {
        let _ = writeln!(page, "| `{}` | {} | {} | {} |", def.symbol, def.name, dimension(def), prefixes(def.prefixes));
    }
    page.push_str("\n| prefix | name | factor |\n|---|---|---|\n");
    for prefix in DECIMAL_PREFIXES {
        let _ = writeln!(page, "| `{}` | {} | 10^{} |", prefix.symbol, prefix.name, prefix.scale.ten);
    }
    for prefix in BINARY_PREFIXES {
        let _ = writeln!(page, "| `{}` | {} | {} |", prefix.symbol, prefix.name, prefix.scale.numerator);
    }
}

fn dimension(def: &UnitDef) -> String {
    if def.dimension == Dimension::NONE { "plain number".to_owned() } else { format!("`{}`", def.dimension) }
}

fn prefixes(prefixes: Prefixes) -> String {
    let symbols: Vec<&str> = prefixes.decimal().chain(prefixes.binary()).map(|prefix: &Prefix| prefix.symbol).collect();
    match prefixes {
        Prefixes::No => "none".to_owned(),
        Prefixes::All => "all decimal".to_owned(),
        Prefixes::Small | Prefixes::Large => format!("`{}`", symbols.join(" ")),
    }
}
