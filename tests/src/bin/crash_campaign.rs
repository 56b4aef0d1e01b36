//! `crash-campaign`: kills runs on the embedded store at every point and judges what is left; see `docs/testing.md`.

use std::{env, io::Write, process::ExitCode, thread};

use clap::Parser;
use stellar_tests::campaign::{
    processes::{self, Options},
    virtual_time,
};

/// Kills `stellar` at every crash point, resumes every run to its end, and judges logs and link records.
#[derive(Parser)]
struct Arguments {
    /// Kills at each point, of each phase: `run`, `resume`, two `resume`s in a row.
    #[arg(long, default_value_t = 20)]
    kills_per_point: u64,
    /// Decides everything that is drawn; of the campaign in virtual time the first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only the case of this number.
    #[arg(long)]
    case: Option<usize>,
    /// So many seeds in virtual time within this process, instead of real processes.
    #[arg(long = "virtual")]
    seeds: Option<u64>,
    /// Cases at once.
    #[arg(long, default_value_t = thread::available_parallelism().map_or(2, usize::from))]
    workers: usize,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let said = match arguments.seeds {
        Some(seeds) => {
            let report = virtual_time::campaign(arguments.seed, seeds, arguments.workers);
            Ok((report.to_string(), report.found.is_empty()))
        }
        None => processes(&arguments),
    };
    let Ok((said, good)) = said else { return ExitCode::from(2) };
    let told = write!(std::io::stdout(), "{said}").is_ok();
    if good && told { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn processes(arguments: &Arguments) -> std::io::Result<(String, bool)> {
    let stellar = env::current_exe()?.with_file_name("stellar-under-test");
    let report = processes::campaign(&Options {
        stellar: stellar.to_string_lossy().into_owned(),
        kills: arguments.kills_per_point,
        seed: arguments.seed,
        workers: arguments.workers,
        case: arguments.case,
        cases: None,
    });
    Ok((report.to_string(), report.found.is_empty()))
}
