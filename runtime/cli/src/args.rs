//! The command line, as clap reads it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Test and operate spacecraft by written procedures.
#[derive(Debug, Parser)]
#[command(name = "stellar", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Example:\n  stellar init mission && cd mission && stellar run \"AOS acquisition\" -i tcu=2")]
pub(crate) struct Arguments {
    /// What holds for every command.
    #[command(flatten)]
    pub(crate) global: Global,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// The configuration; else `stellar.yaml`, looked for upwards from the current folder
    #[arg(long, global = true, env = "STELLAR_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// When to colour what is printed
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Which clock a run lives by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Clock {
    /// The machine's.
    Real,
    /// Simulated: hours in milliseconds; only where every target is simulated.
    Virtual,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run "AOS acquisition" against a simulated target, nothing installed
    #[command(after_help = "Example:\n  stellar demo")]
    Demo(Demo),
    /// Write a new mission folder that works as it is
    #[command(after_help = "Example:\n  stellar init mission")]
    Init(Init),
    /// Check procedures: diagnostics, then each definition with its maximum duration
    #[command(after_help = "Example:\n  stellar check procedures/pass.proc --format json")]
    Check(Check),
    /// Compile procedures to an artifact
    #[command(after_help = "Example:\n  stellar compile procedures/ -o pass.stc")]
    Compile(Compile),
    /// Print an artifact readably
    #[command(after_help = "Example:\n  stellar disasm pass.stc")]
    Disasm(Disasm),
    /// Print the page of a diagnostic
    #[command(after_help = "Example:\n  stellar explain procedure::retry-not-allowed")]
    Explain(Explain),
    /// Start a run of a procedure and follow it
    #[command(after_help = "Example:\n  stellar run \"AOS acquisition\" -t sat=sim-1 -i tcu=2")]
    Run(Run),
    /// List the runs
    #[command(after_help = "Example:\n  stellar runs")]
    Runs(Runs),
    /// Show one run
    #[command(after_help = "Example:\n  stellar show 01K6A3D3Y4Q8K1P9W2N6R5T7XZ")]
    Show(Show),
    /// Print the events of a run
    #[command(after_help = "Example:\n  stellar log 01K6A3D3Y4Q8K1P9W2N6R5T7XZ --follow")]
    Log(Log),
    /// Run the machine again over a log, and say whether it holds
    #[command(after_help = "Example:\n  stellar replay 01K6A3D3Y4Q8K1P9W2N6R5T7XZ --to 12")]
    Replay(Replay),
    /// Take over a run that nobody owns, or resume a suspended one, and follow it
    #[command(after_help = "Example:\n  stellar resume 01K6A3D3Y4Q8K1P9W2N6R5T7XZ")]
    Resume(Resume),
    /// Print the completions of a shell
    #[command(after_help = "Example:\n  stellar completions bash > /etc/bash_completion.d/stellar")]
    Completions(Completions),
}

/// `stellar demo`.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where to write the mission folder; else a new temporary folder
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// `stellar init`.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The folder; must not exist, or be empty
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
}

/// What to compile, and how strictly.
#[derive(Debug, Clone, Args)]
pub(crate) struct Sources {
    /// Files or folders; without any, the folders under `procedures:` of the configuration
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Do not report warnings of this code
    #[arg(long, value_name = "CODE")]
    pub(crate) allow: Vec<String>,
    /// Report warnings of this code as errors
    #[arg(long, value_name = "CODE")]
    pub(crate) deny: Vec<String>,
}

/// `stellar check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) sources: Sources,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Show for each definition the statements that make up its maximum duration
    #[arg(long)]
    pub(crate) critical_path: bool,
}

/// `stellar compile`.
#[derive(Debug, Args)]
pub(crate) struct Compile {
    #[command(flatten)]
    pub(crate) sources: Sources,
    /// The artifact to write
    #[arg(short, long, value_name = "FILE.stc")]
    pub(crate) output: PathBuf,
}

/// `stellar disasm`.
#[derive(Debug, Args)]
pub(crate) struct Disasm {
    /// The artifact
    #[arg(value_name = "FILE.stc")]
    pub(crate) artifact: PathBuf,
}

/// `stellar explain`.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The code, as `type::unit-mismatch`; without it, all codes are listed
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
}

/// What operators would say, given beforehand.
#[derive(Debug, Clone, Args)]
pub(crate) struct Operator {
    /// Answer to a question, by its text: `--answer "deploy now?=yes"`
    #[arg(long, value_name = "TEXT=VALUE")]
    pub(crate) answer: Vec<String>,
    /// Decision for a step, by its name: `--decide "Standby=replay"`
    #[arg(long, value_name = "STEP=OPTION")]
    pub(crate) decide: Vec<String>,
    /// How to print: for people, or one event of the log a line
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

/// `stellar run`.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The procedure
    #[arg(value_name = "NAME")]
    pub(crate) procedure: String,
    #[command(flatten)]
    pub(crate) sources: Sources,
    /// Run this artifact instead of compiling the sources
    #[arg(long, value_name = "FILE.stc", conflicts_with_all = ["paths", "allow", "deny"])]
    pub(crate) artifact: Option<PathBuf>,
    /// The target of a `uses` name; may be left out where only one target has its platform
    #[arg(short, long, value_name = "NAME=TARGET")]
    pub(crate) target: Vec<String>,
    /// The value of an input
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub(crate) input: Vec<String>,
    /// The clock
    #[arg(long, value_enum, default_value_t = Clock::Real)]
    pub(crate) clock: Clock,
    #[command(flatten)]
    pub(crate) operator: Operator,
}

/// `stellar runs`.
#[derive(Debug, Args)]
pub(crate) struct Runs {
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

/// `stellar show`.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The run, or the beginning of its identifier
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

/// `stellar log`.
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// The run, or the beginning of its identifier
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Go on with what comes, to the end of the run
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

/// `stellar replay`.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The run (or the beginning of its identifier), or a file with a log as `log --format json` prints it
    #[arg(value_name = "RUN or LOG")]
    pub(crate) run: String,
    /// Stop behind this event and show the state
    #[arg(long, value_name = "SEQ")]
    pub(crate) to: Option<u64>,
    /// The artifact of the run, for a log whose run is not in the store
    #[arg(long, value_name = "FILE.stc")]
    pub(crate) artifact: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

/// `stellar resume`.
#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The run, or the beginning of its identifier
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) operator: Operator,
}

/// `stellar completions`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}
