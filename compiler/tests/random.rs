//! Random programs: the compiler's figures are those that the verifier computes from the code.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "each test takes what it needs")]
mod support;

use std::fmt::Write as _;

use stellar_compiler::diagnostics::Diagnostic;
use stellar_vm::verify;
use support::{check, shown};

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let sides = u64::try_from(words.len()).unwrap();
        words.get(usize::try_from(self.roll(sides)).unwrap()).unwrap()
    }
}

struct Writer {
    dice: Dice,
    text: String,
    names: u64,
}

impl Writer {
    fn line(&mut self, depth: usize, line: &str) {
        writeln!(self.text, "{}{line}", "  ".repeat(depth)).unwrap();
    }

    fn retry(&mut self) -> String {
        let times = format!(" {} times", self.dice.roll(4));
        let every = format!(" every {} ms", self.dice.roll(3000));
        let total = format!(" for {} s", self.dice.roll(40));
        match self.dice.roll(9) {
            0 => format!(" retry{times}"),
            1 => format!(" retry{times}{every}"),
            2 => format!(" retry{every}{total}"),
            3 => format!(" retry{times}{every}{total}"),
            4 => format!(" retry{total}"),
            _ => String::new(),
        }
    }

    fn statements(&mut self, depth: usize, in_step: bool) {
        for _ in 0..=self.dice.roll(3) {
            self.statement(depth, in_step);
        }
    }

    fn statement(&mut self, depth: usize, in_step: bool) {
        let kind = self.dice.roll(if depth > 5 { 7 } else { 13 });
        self.names += 1;
        let name = self.names;
        let seconds = self.dice.roll(20);
        let condition = self.dice.one_of(&[
            "sat.tcu[tcu].mode is SAFE",
            "sat.eps.voltage > 5 V and not sat.tcu[1].responding is true",
            "sat.tcu[tcu].mode is known",
            "tcu is 2",
            "tcu + 1 > 2",
        ]);
        match kind {
            0 => self.line(depth, &format!("wait {seconds} s")),
            1 => self.line(depth, &format!("wait until {condition} within {seconds} s")),
            2 => self.line(depth, &format!("check {condition}")),
            3 => self.line(depth, &format!("let n{name} = sat.tcu[tcu].gain")),
            4 => self.line(depth, &format!("let n{name} = tcu * 2")),
            5 => self.line(depth, &format!("ask \"go?\" within {seconds} s")),
            6 if in_step => {
                let sent = self.dice.one_of(&["ping", "ping", "ping", "standby", "set_gain with gain = 5"]);
                self.line(depth, &format!("send {sent} to sat.tcu[tcu]"));
                self.line(depth, &format!("expect {condition} within {seconds} s"));
            }
            6 => self.call(depth),
            7 => {
                self.line(depth, &format!("if {condition}"));
                self.statements(depth + 1, in_step);
                if self.dice.roll(2) == 0 {
                    self.line(depth, "else");
                    self.statements(depth + 1, in_step);
                }
            }
            8 => {
                let times = self.dice.roll(4) + 1;
                self.line(depth, &format!("repeat {times} times"));
                self.statements(depth + 1, in_step);
            }
            9 => {
                let over = self.dice.one_of(&["1..3", "[STANDBY, SAFE]", "[1.5, 2]"]);
                self.line(depth, &format!("for each n{name} in {over}"));
                self.statements(depth + 1, in_step);
            }
            _ if in_step => self.line(depth, "note \"{tcu}\""),
            10 => {
                self.line(depth, "together");
                for _ in 0..=self.dice.roll(2) {
                    self.line(depth + 1, "branch");
                    self.statements(depth + 2, false);
                }
            }
            11 => {
                let retry = self.retry();
                self.line(depth, &format!("step \"Inline {name}\"{retry}"));
                self.statements(depth + 1, true);
            }
            _ => self.call(depth),
        }
    }

    fn call(&mut self, depth: usize) {
        let retry = self.retry();
        let tcu = self.dice.one_of(&["tcu", "3", "5 - tcu"]);
        let called = self.dice.one_of(&["do \"S0\"", "do \"S1\"", "run \"P0\"", "run \"P1\""]);
        self.line(depth, &format!("{called} with sat, {tcu}{retry}"));
    }

    /// Steps S0 and S1, procedures P0 to P2; a procedure's calls of itself and of later ones become calls of a step.
    fn program(seed: u64) -> String {
        let mut writer = Self { dice: Dice(seed), text: String::new(), names: 0 };
        let mut whole = String::new();
        for (kind, number) in [("step", 0), ("step", 1), ("procedure", 0), ("procedure", 1), ("procedure", 2)] {
            let is_step = kind == "step";
            let retry = if is_step { writer.retry() } else { String::new() };
            let initial = if is_step { "S" } else { "P" };
            writer.line(0, &format!("{kind} \"{initial}{number}\"{retry}"));
            writer.line(1, "uses sat: platform-v3");
            writer.line(1, "input tcu: tcu_id");
            writer.statements(1, is_step);
            if !is_step && writer.dice.roll(3) == 0 {
                writer.line(1, "on failure");
                writer.statements(2, false);
            }
            let mut text = std::mem::take(&mut writer.text);
            for later in number..2 {
                text = text.replace(&format!("run \"P{later}\""), "do \"S0\"");
            }
            whole.push_str(&text);
        }
        whole
    }
}

#[test]
fn the_verifier_comes_to_the_same_figures() {
    const PROGRAMS: u64 = 600;
    let mut compiled = 0;
    for seed in 0..PROGRAMS {
        let text = Writer::program(seed);
        let checked = check(&text);
        let errors: Vec<&Diagnostic> = checked.diagnostics().iter().filter(|it| it.is_error()).collect();
        let expected = [
            "procedure::branches-share-target",
            "procedure::duration-out-of-range",
            "procedure::retry-not-allowed",
            "procedure::too-many-statements",
        ];
        let strange = errors.iter().find(|it| !expected.contains(&it.code.name));
        assert!(strange.is_none(), "{text}\n{}", shown(&checked));
        if !errors.is_empty() {
            continue;
        }
        let lowered = checked.lower().unwrap_or_else(|| panic!("no error and no program\n{text}"));
        if let Err(error) = verify::verify(lowered.program().clone()) {
            panic!("{error}\n{text}");
        }
        compiled += 1;
    }
    assert!(compiled > PROGRAMS / 5, "only {compiled} of {PROGRAMS} compile");
}
