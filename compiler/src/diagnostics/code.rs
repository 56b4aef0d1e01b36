//! Codes: the stable names of what can be wrong, and the register of all of them.

use stellar_grammar::SYNTAX_CODES;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is compiled.
    Error,
    /// Compiled, but likely not what was meant. Can be allowed or denied by code.
    Warning,
}

impl Severity {
    /// As it is written in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// A code: one rule that a text can break.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// `namespace::name`, the same over all versions.
    pub name: &'static str,
    /// How bad it is unless the user says otherwise.
    pub severity: Severity,
    /// What it says, in one line.
    pub summary: &'static str,
}

impl Code {
    /// A code whose findings are errors.
    #[must_use]
    pub const fn error(name: &'static str, summary: &'static str) -> Self {
        Self { name, severity: Severity::Error, summary }
    }

    /// A code whose findings are warnings.
    #[must_use]
    pub const fn warning(name: &'static str, summary: &'static str) -> Self {
        Self { name, severity: Severity::Warning, summary }
    }

    /// Its page in the documentation: `docs/diagnostics/type/unit-mismatch.md`.
    #[must_use]
    pub fn page(&self) -> String {
        format!("docs/diagnostics/{}.md", self.name.replace("::", "/"))
    }
}

const SYNTAX_COUNT: usize = SYNTAX_CODES.len();

/// The codes of the grammar.
#[expect(clippy::indexing_slicing, reason = "evaluated while compiling, where a wrong index is an error")]
static SYNTAX: [Code; SYNTAX_COUNT] = {
    let mut codes = [const { Code::error("", "") }; SYNTAX_COUNT];
    let mut at = 0;
    while at < SYNTAX_COUNT {
        let (name, summary) = SYNTAX_CODES[at];
        codes[at] = Code::error(name, summary);
        at += 1;
    }
    codes
};

/// A file or a condition that the grammar refused under a code it does not list; a test says that there is none.
static UNLISTED: Code = Code::error("syntax::unlisted", "the text has not the shape of the language");

/// The code of a [`stellar_grammar::SyntaxError`].
pub(super) fn syntax(name: &str) -> &'static Code {
    SYNTAX.iter().find(|code| code.name == name).unwrap_or(&UNLISTED)
}

/// Every code there is, sorted by name.
#[must_use]
pub fn codes() -> Vec<&'static Code> {
    let mut all: Vec<&'static Code> = SYNTAX.iter().collect();
    all.extend(crate::CODES.iter().flat_map(|codes| codes.iter().copied()));
    all.sort_by_key(|code| code.name);
    all
}

/// The code of that name.
#[must_use]
pub fn code(name: &str) -> Option<&'static Code> {
    codes().into_iter().find(|code| code.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_well_formed() {
        let all = codes();
        for pair in all.windows(2) {
            assert_ne!(pair[0].name, pair[1].name);
        }
        let namespaces =
            ["syntax", "name", "type", "call", "procedure", "catalogue", "config", "artifact", "run", "tc"];
        for code in all {
            let (namespace, name) = code.name.split_once("::").unwrap();
            assert!(namespaces.contains(&namespace), "{}", code.name);
            assert!(!name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
            assert!(!code.summary.is_empty() && !code.summary.ends_with('.'));
        }
    }

    #[test]
    fn a_page_is_named_after_its_code() {
        assert_eq!(code("syntax::use-is").unwrap().page(), "docs/diagnostics/syntax/use-is.md");
    }
}
