//! The `stellar` command: puts compiler, runtime and standard library together.
//!
//! One file per subcommand in `commands`; `mission` finds the configuration and the sources and compiles them, `output`
//! decides how things are printed. Nothing here judges, bounds or sends: that is the crates' work. A library, so that
//! the tests of the whole system build the very binary that they drive.

mod args;
mod beside;
mod commands;
mod exit;
mod follow;
mod input;
mod live;
mod look;
mod mission;
mod node;
mod operator;
mod output;
mod program;
mod render;
mod state;
mod typed;

use std::process::ExitCode;

use clap::Parser;

use crate::{args::Arguments, exit::Exit};

/// Runs the command that this process was called with.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match commands::dispatch(arguments) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.print();
            Exit::from(&failure).into()
        }
    }
}
