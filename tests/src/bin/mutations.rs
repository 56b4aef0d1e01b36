//! Campaigns of mutations: `mutations --count 1000000` changes every procedure and every YAML file of the repository at
//! random and asks what must hold; `mutations --programs --count 10000` changes its programs; `--every` makes each single
//! change of each program.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use clap::Parser;
use stellar_tests::hostile::{
    TARGETS, Target,
    artifact::{Fate, mended, of_bytes},
    mutate::{program, text},
    seeds, target,
};
use stellar_vm::{adversary::Dice, artifact, program::Program};

/// Changes the inputs of the repository at random, and asks what must hold for each.
#[derive(Debug, Parser)]
struct Arguments {
    /// How many changed inputs are tried.
    #[arg(long, default_value_t = 10_000)]
    count: u64,
    /// The first is made of this seed, the next one of the next.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads.
    #[arg(long, default_value_t = 2)]
    cores: u64,
    /// Texts of this target alone: sources, catalogue, configuration, scenario, log, api, link.
    #[arg(long)]
    target: Option<String>,
    /// Programs instead of texts, their hash repaired.
    #[arg(long)]
    programs: bool,
    /// With `--programs`: each single change of each program, instead of random ones.
    #[arg(long, requires = "programs")]
    every: bool,
    /// Where inputs are written that something does not hold for.
    #[arg(long, default_value = "mutations-found")]
    found: PathBuf,
    /// Changes nothing, and writes the inputs of this target from which mutating begins into `--found`.
    #[arg(long, value_name = "TARGET")]
    seeds: Option<String>,
    /// With `--seeds`: writes the words of the target here, as libFuzzer reads them.
    #[arg(long, requires = "seeds")]
    words: Option<PathBuf>,
}

/// What took longer than this is told.
const LONG: Duration = Duration::from_secs(2);

#[derive(Default)]
struct Tally {
    tried: AtomicU64,
    faults: AtomicU64,
    slow: AtomicU64,
    accepted: AtomicU64,
    events: AtomicU64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(name) = &arguments.seeds {
        return match written(name, &arguments) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    let tally = Tally::default();
    let began = Instant::now();
    if arguments.programs {
        programs(&arguments, &tally);
    } else {
        texts(&arguments, &tally);
    }
    let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
    println!(
        "{} tried in {:?}, {} with faults, {} slower than {LONG:?}; {} programs accepted, {} events",
        of(&tally.tried),
        began.elapsed(),
        of(&tally.faults),
        of(&tally.slow),
        of(&tally.accepted),
        of(&tally.events)
    );
    if of(&tally.faults) == 0 && of(&tally.slow) == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn written(name: &str, arguments: &Arguments) -> std::io::Result<()> {
    let Some(target) = target(name) else { return Err(std::io::Error::other(format!("there is no target `{name}`"))) };
    std::fs::create_dir_all(&arguments.found)?;
    for (number, (_, bytes)) in seeds::seeds(name).into_iter().enumerate() {
        std::fs::write(arguments.found.join(format!("seed-{number}")), bytes)?;
    }
    let Some(path) = &arguments.words else { return Ok(()) };
    let mut words = String::new();
    for word in target.words {
        let escaped: String = word.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
        words.push_str(&format!("\"{escaped}\"\n"));
    }
    std::fs::write(path, words)
}

/// Numbers from the first to the last, each tried by one of the threads.
fn each(arguments: &Arguments, attempt: impl Fn(u64) + Sync) {
    let cores = arguments.cores.max(1);
    std::thread::scope(|scope| {
        for core in 0..cores {
            let attempt = &attempt;
            let numbers = (arguments.seed..arguments.seed.saturating_add(arguments.count)).skip(core as usize);
            scope.spawn(move || numbers.step_by(cores as usize).for_each(attempt));
        }
    });
}

fn texts(arguments: &Arguments, tally: &Tally) {
    let chosen = ["sources", "catalogue", "configuration", "scenario"];
    let wanted = |target: &&Target| match &arguments.target {
        Some(name) => target.name == name,
        None => chosen.contains(&target.name),
    };
    let targets: Vec<(Target, Vec<seeds::Seed>)> =
        TARGETS.iter().filter(wanted).map(|target| (*target, seeds::seeds(target.name))).collect();
    // As many of each target as it has seeds, procedures twice.
    let all: Vec<(usize, usize)> = targets
        .iter()
        .enumerate()
        .flat_map(|(at, (target, seeds))| {
            let times = if target.name == "sources" { 2 } else { 1 };
            (0..seeds.len() * times).map(move |seed| (at, seed % seeds.len()))
        })
        .collect();
    each(arguments, |number| {
        let mut dice = Dice(number);
        let Some((target, seed)) = dice.choose(&all) else { return };
        let Some((target, seeds)) = targets.get(*target) else { return };
        let Some((_, bytes)) = seeds.get(*seed) else { return };
        let input = text::changed(bytes, seeds, target.words, &mut dice);
        tried(arguments, tally, target.name, number, &input, || (target.holds)(&input));
    });
}

fn tried(arguments: &Arguments, tally: &Tally, target: &str, number: u64, input: &[u8], attempt: impl FnOnce()) {
    let began = Instant::now();
    let held = catch_unwind(AssertUnwindSafe(attempt)).is_ok();
    tally.tried.fetch_add(1, Ordering::Relaxed);
    let slow = began.elapsed() > LONG;
    if held && !slow {
        return;
    }
    let (count, what) = if held { (&tally.slow, "slow") } else { (&tally.faults, "fault") };
    count.fetch_add(1, Ordering::Relaxed);
    let folder = arguments.found.join(target);
    let file = folder.join(format!("{what}-{number}"));
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, input));
    eprintln!("{what}: seed {number} of {target}, {:?}, in {} ({written:?})", began.elapsed(), file.display());
}

fn programs(arguments: &Arguments, tally: &Tally) {
    let programs = seeds::programs();
    let parts = program::Parts::of(programs.iter().map(|program| &***program));
    let judged = |number: u64, program: Program| {
        let Ok(bytes) = artifact::encode(&program) else { return };
        tried(
            arguments,
            tally,
            "artifact",
            number,
            bytes.get(stellar_tests::hostile::artifact::HEADER..).unwrap_or_default(),
            || {
                for fate in [of_bytes(&bytes), mended(program)] {
                    if let Fate::Ran(events) = fate {
                        tally.accepted.fetch_add(1, Ordering::Relaxed);
                        tally.events.fetch_add(events, Ordering::Relaxed);
                    }
                }
            },
        );
    };
    if arguments.every {
        for (number, program) in (0..).zip(&programs) {
            let mut dice = Dice(arguments.seed);
            let count = program::every(program, &parts, 4, &mut dice, |changed| judged(number, changed));
            println!("program {number}: {count} changes");
        }
        return;
    }
    each(arguments, |number| {
        let mut dice = Dice(number);
        let Some(program) = dice.choose(&programs) else { return };
        if let Some(changed) = program::changed(program, &parts, &mut dice) {
            judged(number, changed);
        }
    });
}
