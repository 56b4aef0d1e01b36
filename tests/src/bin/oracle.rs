//! Long campaigns of the machine against its reference interpreter: `oracle --seeds 0..100000`, and one seed in full:
//! `oracle --seed 17 --show`.

use std::process::ExitCode;

use clap::Parser;
use stellar_tests::oracle::{campaign, check};

/// Runs random programs in adversarial worlds on the machine and on a reference interpreter, and compares their logs.
#[derive(Debug, Parser)]
struct Arguments {
    /// The seeds, the last one not included: `0..100000`.
    #[arg(long, value_parser = range, default_value = "0..1000")]
    seeds: (u64, u64),
    /// One seed alone.
    #[arg(long)]
    seed: Option<u64>,
    /// With `--seed`: prints program, catalogue and log even where nothing is wrong.
    #[arg(long, requires = "seed")]
    show: bool,
    /// Threads.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Ends once so many seeds have faults.
    #[arg(long, default_value_t = 20)]
    faults: usize,
}

fn range(text: &str) -> Result<(u64, u64), String> {
    let (from, to) = text.split_once("..").ok_or("a range is written `A..B`")?;
    let number = |text: &str| text.parse::<u64>().map_err(|error| error.to_string());
    Ok((number(from)?, number(to)?))
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match arguments.seed {
        Some(seed) => one(seed, arguments.show),
        None => many(&arguments),
    }
}

fn one(seed: u64, show: bool) -> ExitCode {
    let report = check(seed, show);
    if !report.story.is_empty() {
        println!("{}", report.story);
    }
    if report.faults.is_empty() {
        println!("seed {seed}: {} events, the same in both", report.events);
        return ExitCode::SUCCESS;
    }
    println!("seed {seed}: {}", report.faults.join("\n"));
    ExitCode::FAILURE
}

fn many(arguments: &Arguments) -> ExitCode {
    let (from, to) = arguments.seeds;
    let tally = campaign(from..to, arguments.threads, arguments.faults);
    for (name, count) in &tally.reached {
        println!("{count:>10} {name}");
    }
    println!("{} seeds, {} events, {} with faults", tally.seeds, tally.events, tally.faults.len());
    let missing = tally.missing();
    for (name, count) in &missing {
        println!("too seldom, less than {}: {name}, {count}", tally.least());
    }
    for (seed, fault) in &tally.faults {
        println!("seed {seed}: {fault}");
    }
    if let Some(seed) = tally.faults.keys().next() {
        one(*seed, true);
    }
    if tally.faults.is_empty() && missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
