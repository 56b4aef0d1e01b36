//! `stellar explain CODE`.

use stellar_compiler::{diagnostics::code as diagnostic, explain as pages, suggest::did_you_mean};

use crate::{
    args::Explain,
    exit::{Exit, Failure},
    output,
};

/// Prints the page of a diagnostic, or lists all of them.
pub(super) fn explain(args: &Explain) -> Result<Exit, Failure> {
    let Some(wanted) = &args.code else {
        let width = pages::explained().map(str::len).max().unwrap_or_default();
        let lines = pages::explained().map(|code| format!("{code:width$}  {}\n", summary(code)));
        output::print(&lines.collect::<String>())?;
        return Ok(Exit::Done);
    };
    if let Some(page) = pages::explain(wanted) {
        output::print(page)?;
        return Ok(Exit::Done);
    }
    let near = did_you_mean(wanted, pages::explained());
    Err(Failure::wrong_call(format!("there is no diagnostic `{wanted}`"))
        .help(near.unwrap_or_else(|| "`stellar explain` lists them all".to_owned())))
}

/// A diagnostic in one line: what the compiler says of it, else the first sentence of its page.
fn summary(code: &str) -> String {
    if let Some(known) = diagnostic(code) {
        return known.summary.to_owned();
    }
    let text = pages::explain(code).unwrap_or_default().lines().skip_while(|line| !line.starts_with('*'));
    let text = text.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let text = text.trim_start_matches("*Error.* ").trim_start_matches("*Warning.* ");
    let first = text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.');
    let mut letters = first.chars();
    letters.next().map(|letter| letter.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
