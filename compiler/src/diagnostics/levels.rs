//! Which warnings the user allows (they are not shown) and which he denies (they are errors).

use std::{collections::BTreeSet, fmt};

use super::{Code, Diagnostic, Severity, code, codes};
use crate::suggest::nearest;

/// Warnings allowed and denied, by code. Denied wins over allowed.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    allow: BTreeSet<&'static str>,
    deny: BTreeSet<&'static str>,
}

/// A code that cannot be allowed or denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrongLevel {
    /// There is no such code; the nearest one, if any is near.
    Unknown {
        /// As given.
        name: String,
        /// The nearest code.
        nearest: Option<&'static str>,
    },
    /// It is an error: those are never allowed, and need no denying.
    NotAWarning(&'static str),
}

impl fmt::Display for WrongLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, nearest: Some(nearest) } => {
                write!(f, "`{name}` is no diagnostic; is it `{nearest}`?")
            }
            Self::Unknown { name, nearest: None } => write!(f, "`{name}` is no diagnostic"),
            Self::NotAWarning(name) => write!(f, "`{name}` is an error: only warnings are allowed or denied"),
        }
    }
}

impl std::error::Error for WrongLevel {}

impl Levels {
    /// Hides a warning.
    ///
    /// # Errors
    /// Where there is no such code, or where it is an error.
    pub fn allow(&mut self, name: &str) -> Result<(), WrongLevel> {
        self.allow.insert(warning(name)?.name);
        Ok(())
    }

    /// Makes a warning an error.
    ///
    /// # Errors
    /// Where there is no such code, or where it is an error.
    pub fn deny(&mut self, name: &str) -> Result<(), WrongLevel> {
        self.deny.insert(warning(name)?.name);
        Ok(())
    }

    /// The findings as the user wants them.
    pub fn apply(&self, diagnostics: &mut Vec<Diagnostic>) {
        diagnostics.retain_mut(|diagnostic| {
            let name = diagnostic.code.name;
            if self.deny.contains(name) {
                diagnostic.severity = Severity::Error;
            }
            diagnostic.is_error() || !self.allow.contains(name)
        });
    }
}

fn warning(name: &str) -> Result<&'static Code, WrongLevel> {
    match code(name) {
        Some(code) if code.severity == Severity::Warning => Ok(code),
        Some(code) => Err(WrongLevel::NotAWarning(code.name)),
        None => {
            let all = codes();
            let nearest = nearest(name, all.iter().map(|code| code.name));
            Err(WrongLevel::Unknown { name: name.to_owned(), nearest })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_unknown_codes_are_refused() {
        let mut levels = Levels::default();
        assert_eq!(levels.allow("syntax::use-is"), Err(WrongLevel::NotAWarning("syntax::use-is")));
        let wrong = levels.deny("syntax::use-si").unwrap_err();
        assert_eq!(wrong.to_string(), "`syntax::use-si` is no diagnostic; is it `syntax::use-is`?");
    }
}
