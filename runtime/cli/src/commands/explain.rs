//! `stellar explain CODE`.

use stellar_compiler::{
    diagnostics::{code, codes},
    explain as pages,
    suggest::did_you_mean,
};

use crate::{
    args::Explain,
    exit::{Exit, Failure},
    output,
};

/// Prints the page of a diagnostic, or lists all of them.
pub(super) fn explain(args: &Explain) -> Result<Exit, Failure> {
    let Some(wanted) = &args.code else {
        let width = codes().iter().map(|code| code.name.len()).max().unwrap_or_default();
        let lines = codes().into_iter().map(|code| format!("{:width$}  {}\n", code.name, code.summary));
        output::print(&lines.collect::<String>())?;
        return Ok(Exit::Done);
    };
    if let Some(page) = pages::explain(wanted) {
        output::print(page)?;
        return Ok(Exit::Done);
    }
    let known = code(wanted).map(|code| code.summary);
    if let Some(summary) = known {
        return Err(Failure::failed(format!("`{wanted}` has no page: {summary}")));
    }
    let near = did_you_mean(wanted, codes().into_iter().map(|code| code.name));
    Err(Failure::wrong_call(format!("there is no diagnostic `{wanted}`"))
        .help(near.unwrap_or_else(|| "`stellar explain` lists them all".to_owned())))
}
