//! An operator at a terminal: what is asked is answered there, Ctrl-C suspends, and nothing waits for a key that nobody
//! has to press.

#![cfg(test)]

use stellar_tests::{mission::Mission, terminal::Terminal};

const STELLAR: &str = env!("CARGO_BIN_EXE_stellar-under-test");

const PROCEDURES: &str = r#"
procedure "Ask"
  uses sat: platform-v3
  step "Ping"
    send ping to sat.tcu[1]
  step "Go"
    ask "go on?" within 5 min

procedure "Wait"
  uses sat: platform-v3
  step "Ping"
    send ping to sat.tcu[1]
  wait 2 s
"#;

fn at_a_terminal(mission: &Mission, arguments: &[&str]) -> Terminal {
    Terminal::start(&mission.command(arguments))
}

fn mission() -> Mission {
    Mission::simulated(STELLAR, PROCEDURES, "{}")
}

#[test]
fn a_run_that_passes_ends_by_itself() {
    let mission = mission();
    for clock in ["real", "virtual"] {
        let mut terminal = at_a_terminal(&mission, &["run", "Wait", "--clock", clock]);
        terminal.shows("run passed");
        assert_eq!(terminal.ends(), 0, "{clock}");
    }
}

#[test]
fn the_demo_ends_by_itself() {
    let mission = Mission::empty(STELLAR);
    let mut terminal = at_a_terminal(&mission, &["demo", "--dir", "demo"]);
    terminal.shows("run passed");
    terminal.shows("look further");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn a_question_is_answered_on_the_terminal() {
    let mission = mission();
    for clock in ["real", "virtual"] {
        let mut terminal = at_a_terminal(&mission, &["run", "Ask", "--clock", clock]);
        terminal.shows("go on?");
        terminal.types("perhaps\n");
        terminal.shows("go on?");
        terminal.types("yes\n");
        terminal.shows("run passed");
        assert_eq!(terminal.ends(), 0, "{clock}");
    }
}

#[test]
fn a_terminal_that_closes_leaves_the_run_to_an_operator() {
    let mission = mission();
    let mut terminal = at_a_terminal(&mission, &["run", "Ask"]);
    terminal.shows("go on?");
    terminal.types("\u{4}");
    terminal.shows("the run waits for an operator");
    assert_eq!(terminal.ends(), 3);
    assert_eq!(mission.resume("last", &["--answer", "go on?=yes"]).code, 0);
}

#[test]
fn an_interrupt_suspends_and_resume_typed_goes_on() {
    let mission = mission();
    let mut terminal = at_a_terminal(&mission, &["run", "Ask"]);
    terminal.shows("go on?");
    terminal.types("\u{3}");
    terminal.shows("suspended by");
    terminal.types("yes\n");
    terminal.shows("`resume` or `abort`");
    terminal.types("resume\n");
    terminal.shows("resumed by");
    terminal.shows("go on?");
    terminal.types("yes\n");
    terminal.shows("run passed");
    assert_eq!(terminal.ends(), 0);
}

#[test]
fn a_second_interrupt_leaves_the_run_at_once() {
    let mission = mission();
    let mut terminal = at_a_terminal(&mission, &["run", "Ask"]);
    terminal.shows("go on?");
    terminal.types("\u{3}");
    terminal.shows("suspended by");
    terminal.types("\u{3}");
    terminal.shows("left as it is");
    assert_eq!(terminal.ends(), 3);
    // Its store is free, and a run that was suspended before is followed through every further resumption.
    for _ in 0..2 {
        let mut terminal = at_a_terminal(&mission, &["resume", "last"]);
        terminal.shows("resumed by");
        terminal.shows("go on?");
        terminal.types("\u{3}");
        terminal.shows("suspended by");
        terminal.types("\u{3}");
        assert_eq!(terminal.ends(), 3);
    }
    let resumed = mission.resume("last", &["--answer", "go on?=yes"]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
}
