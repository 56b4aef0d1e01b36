//! The subcommands, one file each.

mod check;
mod compile;
mod completions;
mod demo;
mod disasm;
mod explain;
mod init;
mod log;
mod replay;
mod resume;
mod run;
mod runs;
mod show;

use stellar_vm::event::Event;

use crate::{
    args::{Arguments, Command},
    exit::{Exit, Failure},
};

/// Runs the command that was called.
pub(crate) fn dispatch(arguments: Arguments) -> Result<Exit, Failure> {
    let global = &arguments.global;
    match &arguments.command {
        Command::Demo(args) => demo::demo(args, global),
        Command::Init(args) => init::init(args),
        Command::Check(args) => check::check(args, global),
        Command::Compile(args) => compile::compile(args, global),
        Command::Disasm(args) => disasm::disasm(args),
        Command::Explain(args) => explain::explain(args),
        Command::Run(args) => run::run(args, global),
        Command::Runs(args) => runs::runs(args, global),
        Command::Show(args) => show::show(args, global),
        Command::Log(args) => log::log(args, global),
        Command::Replay(args) => replay::replay(args, global),
        Command::Resume(args) => resume::resume(args, global),
        Command::Completions(args) => completions::completions(args),
    }
}

/// An event as it stands in a line of a log.
pub(crate) fn event_of(line: &str) -> Result<Event, Failure> {
    Event::from_json(line).map_err(|e| Failure::failed(format!("run::log-garbage: {e}")))
}
