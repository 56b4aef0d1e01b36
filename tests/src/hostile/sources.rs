//! Procedures: texts that are compiled.
//!
//! What is free of errors becomes an artifact, which reads back as it was written, is accepted by the verifier (which
//! comes to the same claims), and keeps them in a hostile world. Several files are told apart by the control character
//! RS.

use std::sync::{Arc, LazyLock};

use stellar_compiler::{
    format,
    pipeline::{Came, Checked, File, Input},
};
use stellar_vm::{artifact, disasm, verify};

use super::{told, world};

/// What stands between two files of one input.
pub const BETWEEN: u8 = 0x1e;

/// Words of the language.
pub const WORDS: &[&str] = &[
    "step \"A\"\n  ",
    "procedure \"A\"\n  ",
    "uses sat: platform-v3\n",
    "input tcu: tcu_id",
    "send ",
    " to sat.tcu[tcu]",
    " via direct",
    " with power = 5 W",
    "expect ",
    " held for 1 s",
    " within 5 s",
    "check ",
    "wait until ",
    "wait 1 s",
    "ask \"x\"",
    " of \"A\", \"B\"",
    " as a",
    "transfer \"f\"",
    "note \"{a}\"",
    "let a = ",
    "fail \"x\"",
    "if ",
    "else",
    "repeat 3 times",
    "for each a in 1..3",
    "together",
    "branch",
    "do \"A\" with sat",
    "run \"A\" with sat",
    "on failure",
    " retry 2 times",
    " every 2 s",
    " for 3 min",
    " is ",
    " is not ",
    " is known",
    " between 1 and 2",
    " in [1, 2]",
    " +- ",
    " and ",
    " or ",
    "not ",
    "true",
    "false",
    "2026-10-02T10:15:00Z",
    "27.5 V",
    "60 degC",
    "\n    ",
    "\n  ",
    "\r\n",
    "\t",
    "#",
    "\\u{1F600}",
    "0x7fffffffffffffff",
    "1e308",
    "365 d",
    "\u{feff}",
    "é",
];

struct Catalogues(Vec<(String, File)>);

/// The catalogues that the repository's procedures are written for, with the platform of each.
static CATALOGUES: LazyLock<Catalogues> = LazyLock::new(|| {
    let standard = stellar_stdlib_procs::CATALOGUES.iter();
    let standard = standard.map(|file| (file.path.to_owned(), file.text.as_bytes().to_vec(), Came::Standard));
    let own = super::seeds::catalogues_of_missions().into_iter();
    let all = own.map(|(name, bytes)| (name, bytes, Came::Project)).chain(standard);
    let with_platform = all.map(|(path, bytes, came)| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let platform = text.lines().find_map(|line| line.strip_prefix("platform: ")).unwrap_or_default();
        (platform.trim().to_owned(), File { path, bytes, came })
    });
    Catalogues(with_platform.collect())
});

/// The procedures of the standard library.
#[must_use]
pub fn standard() -> Vec<File> {
    let file = |file: &stellar_stdlib_procs::File| File {
        path: file.path.to_owned(),
        bytes: file.text.as_bytes().to_vec(),
        came: Came::Standard,
    };
    stellar_stdlib_procs::PROCEDURES.iter().map(file).collect()
}

/// Compiles some files with the catalogues that they name, the standard library behind them.
#[must_use]
pub fn checked(mut files: Vec<File>) -> Checked {
    let names = |platform: &str| {
        let within = |file: &File| file.bytes.windows(platform.len().max(1)).any(|part| part == platform.as_bytes());
        files.iter().any(within)
    };
    let catalogue = CATALOGUES.0.iter().filter(|(platform, file)| file.came == Came::Standard || names(platform));
    let catalogue: Vec<File> = catalogue.map(|(_, file)| file.clone()).collect();
    files.extend(standard());
    Checked::new(&Input { files, catalogue, ..Input::default() })
}

/// Tries one input.
///
/// # Panics
/// Where something does not hold.
pub fn holds(data: &[u8]) {
    let files = data.split(|byte| *byte == BETWEEN).enumerate();
    let file =
        |(at, bytes): (usize, &[u8])| File { path: format!("{at}.proc"), bytes: bytes.to_vec(), came: Came::Named };
    let checked = checked(files.map(file).collect());
    compiled(&checked);
}

/// What holds for everything compiled.
pub(super) fn compiled(checked: &Checked) {
    told::holds(checked.diagnostics(), checked.sources());
    let listed = format::definitions(checked).len();
    let Some(lowered) = checked.lower() else {
        assert!(checked.diagnostics().iter().any(|it| it.is_error()), "no error and no program");
        return;
    };
    assert!(!checked.diagnostics().iter().any(|it| it.is_error()), "a program in spite of an error");
    assert!(!format::table(checked).is_empty() || listed == 0);
    (0..checked.definitions().len()).for_each(|id| drop(format::critical_path(checked, id)));
    let bytes = lowered.encode().expect("a program of so little text is not too large").into_bytes();
    let program = artifact::decode(&bytes).expect("what was written is read");
    assert_eq!(&program, lowered.program(), "read otherwise than written");
    assert!(!disasm::disassemble(&program).is_empty() || program.units.is_empty());
    let verified = verify::verify(program).unwrap_or_else(|error| panic!("{}: {error}", error.code()));
    world::keeps(&Arc::new(verified), world::seed(&bytes));
}
