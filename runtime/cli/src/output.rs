//! How things are printed: colours, widths, reports.

use std::{
    env,
    io::{self, IsTerminal, Write},
};

use serde::Serialize;
use stellar_compiler::{
    diagnostics::{Diagnostic, Look, human},
    source::Sources,
};

use crate::{
    args::{Color, Global},
    exit::Failure,
};

/// Width of what is no terminal.
const PLAIN_WIDTH: usize = 80;

/// Whether a stream is coloured.
pub(crate) fn colored(color: Color, stream: &impl IsTerminal) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => stream.is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    }
}

/// Writes to standard output. A reader that went away is no failure: nobody is there to be told.
///
/// # Errors
/// Where what stands behind standard output does not take it (a full disk).
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error. Where that is gone there is no place left to say so.
pub(crate) fn tell(line: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(line.as_bytes()).and_then(|()| err.write_all(b"\n"));
}

/// Writes a value as JSON, on one line.
///
/// # Errors
/// As [`print`].
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string(value).map_err(|e| Failure::failed(format!("no JSON can be made: {e}")))?;
    text.push('\n');
    print(&text)
}

/// Shows findings on standard error, and how many there are.
pub(crate) fn report(findings: &[(Diagnostic, &Sources)], global: &Global) {
    let err = io::stderr();
    let width = if err.is_terminal() { terminal_width() } else { PLAIN_WIDTH };
    let look = Look { color: colored(global.color, &err), width };
    let mut text = String::new();
    for (finding, sources) in findings {
        text.push_str(&human(finding, sources, look));
        text.push('\n');
    }
    let errors = findings.iter().filter(|(one, _)| one.is_error()).count();
    let warnings = findings.len().saturating_sub(errors);
    if !findings.is_empty() {
        text.push_str(&format!("{}\n", counted(errors, warnings)));
    }
    // Where standard error is gone there is no place left to say so.
    let _ = err.lock().write_all(text.as_bytes());
}

fn counted(errors: usize, warnings: usize) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    match (errors, warnings) {
        (_, 0) => count(errors, "error"),
        (0, _) => count(warnings, "warning"),
        _ => format!("{}, {}", count(errors, "error"), count(warnings, "warning")),
    }
}

/// Columns of the terminal.
pub(crate) fn terminal_width() -> usize {
    let columns = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok().map(|size| usize::from(size.ws_col));
    columns.or(size).filter(|width| *width >= 20).unwrap_or(PLAIN_WIDTH)
}
