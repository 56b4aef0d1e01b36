//! `stellar completions SHELL`.

use clap::CommandFactory;

use crate::{
    args::{Arguments, Completions},
    exit::{Exit, Failure},
    output,
};

/// Prints the completions of a shell, made from the command line itself.
pub(super) fn completions(args: &Completions) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "stellar", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
