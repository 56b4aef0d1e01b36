//! How a command ends: its exit code, and the failure that is printed before.

use std::{fmt::Display, process::ExitCode};

use crate::output;

/// The exit codes of every command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: done.
    Done,
    /// 1: the work failed.
    Failed,
    /// 2: a wrong call.
    WrongCall,
    /// 3: the run waits for an operator.
    Waiting,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::WrongCall => 2,
            Exit::Waiting => 3,
        })
    }
}

/// Why a command could not do its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
    help: Option<String>,
}

impl Failure {
    /// The work failed (exit code 1): what happened, in one line.
    pub(crate) fn failed(message: impl Display) -> Self {
        Self { exit: Exit::Failed, message: message.to_string(), help: None }
    }

    /// The call is wrong (exit code 2): what about it, in one line.
    pub(crate) fn wrong_call(message: impl Display) -> Self {
        Self { exit: Exit::WrongCall, message: message.to_string(), help: None }
    }

    /// The work failed (exit code 1), and a report has said why.
    pub(crate) const fn silent() -> Self {
        Self { exit: Exit::Failed, message: String::new(), help: None }
    }

    /// Adds what to do about it.
    pub(crate) fn help(mut self, help: impl Display) -> Self {
        self.help = Some(help.to_string());
        self
    }

    /// Prints it to standard error; a failure whose report was printed already has an empty message.
    pub(crate) fn print(&self) {
        if !self.message.is_empty() {
            output::tell(&format!("stellar: {}", self.message));
        }
        if let Some(help) = &self.help {
            output::tell(&format!("  help: {help}"));
        }
    }
}

impl From<&Failure> for Exit {
    fn from(failure: &Failure) -> Self {
        failure.exit
    }
}
