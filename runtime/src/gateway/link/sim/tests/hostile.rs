//! Scenarios that are wrong: each is told with file, line and column, and none is a panic.

use proptest::prelude::*;

use super::{
    super::{Scenario, scenario::Control},
    platform,
};

fn errors(text: &str) -> Vec<String> {
    let read = Scenario::read("sim/sim-1.yaml", text, &platform());
    read.map(|_| Vec::new()).unwrap_or_else(|errors| errors.iter().map(ToString::to_string).collect())
}

#[test]
fn everything_wrong_is_said_at_once_in_order_with_its_place_and_the_nearest_name() {
    let text = "\
telemetri: {}
telemetry:
  tcu.responding: {inital: false}
  tcu.mode: {initial: OPERATIONA}
  tcu[9].mode: SAFE
  tcx.mode: SAFE
  eps[1].volts: 12
  eps.volts: {initial: 31, period: 0ms}
  eps.count: 2.5
telecommands:
  tcu.pign: {}
  tcu.ping: {reports: {accepted: 2s, started: 1s}, after: 1s}
  tcu.set_mode: {sets: {responding: $mode, mode: $mod, volts: 3}}
faults:
  - {telecommand: tcu.ping}
  - {link: down, until: 0s, freeze: true}
";
    assert_eq!(
        errors(text),
        [
            "sim/sim-1.yaml:1:1: a scenario has no key `telemetri`; is it `telemetry`?",
            "sim/sim-1.yaml:3:20: a parameter has no key `inital`; is it `initial`?",
            "sim/sim-1.yaml:4:23: `OPERATIONA` is no value: one of STANDBY, OPERATIONAL, SAFE is due here; is it `OPERATIONAL`?",
            "sim/sim-1.yaml:5:3: the index of `tcu` goes from 1 to 4",
            "sim/sim-1.yaml:6:3: `platform-v3` has no component `tcx`; is it `tcu`?",
            "sim/sim-1.yaml:7:3: `eps` has no index",
            "sim/sim-1.yaml:8:24: `31` is out of range: a number from 10 to 30 is due here",
            "sim/sim-1.yaml:8:36: a duration from 1 ms to 365 d is due here, not `0ms`",
            "sim/sim-1.yaml:9:14: `2.5` is no value: a whole number from 3 to 9223372036854775807 is due here",
            "sim/sim-1.yaml:11:3: `tcu` has no telecommand `pign`; is it `ping`?",
            "sim/sim-1.yaml:12:47: `started` comes before the stage before it",
            "sim/sim-1.yaml:12:59: `after` says when `sets` and `tells` come, and there is neither",
            "sim/sim-1.yaml:13:37: the argument `mode` is of another type: `true` or `false` is due here",
            "sim/sim-1.yaml:13:50: `set_mode` has no argument `mod`; is it `mode`?",
            "sim/sim-1.yaml:13:56: the component of `set_mode` has no parameter `volts`",
            "sim/sim-1.yaml:15:5: this fault has one of the keys `lose`, `unreported`, `fail`, `delay`, `refuse`",
            "sim/sim-1.yaml:16:25: `until` is not after `from`",
            "sim/sim-1.yaml:16:37: a fault of `link` has no key `freeze`",
        ]
    );
}

#[test]
fn each_value_of_the_wrong_kind_is_told() {
    for (text, why) in [
        ("[]", "a scenario is a mapping, not a list"),
        ("telemetry: [1]", "this section is a mapping, not a list"),
        ("faults: {link: down}", "`faults` is a list, not a mapping"),
        ("telemetry: {[1]: 2}", "a parameter such as `tcu.name`"),
        ("telemetry: {tcu[x.mode: SAFE}", ""),
        ("telemetry: {tcu.mode: SAFE, tcu.mode: SAFE}", "`tcu.mode` stands here twice"),
        ("telemetry: {tcu.mode: {initial: SAFE, initial: SAFE}}", "`initial` stands here twice"),
        ("telemetry: {tcu.mode: {initial: [SAFE]}}", "is due here, not a list"),
        ("telemetry: {tcu.mode: {noise: 1}}", "only a number has `noise`"),
        ("telemetry: {eps.volts: {noise: -1}}", "0 or more"),
        ("telemetry: {eps.volts: {noise: 1e999}}", "a number is due here, not"),
        ("telemetry: {eps.volts: {on_change: true, period: 1s}}", "`period` says nothing"),
        ("telemetry: {eps.volts: {initial: 12, profile: {ramp: {from: 1, to: 2, over: 1s}}}}", "leave `initial` out"),
        ("telemetry: {eps.volts: {profile: {}}}", "a profile is one of"),
        ("telemetry: {eps.volts: {profile: {sine: {mean: 1, period: 1s}}}}", "`amplitude` is missing"),
        ("telemetry: {tcu.mode: {profile: {sine: {mean: 1, amplitude: 1, period: 1s}}}}", "write `steps`"),
        ("telemetry: {tcu.mode: {profile: {steps: {values: [], every: 1s}}}}", "at least one value"),
        ("telemetry: {eps.volts: {period: 366 d}}", "365 d"),
        ("telemetry: {eps.volts: {period: 1.0000000001s}}", "a duration such as `2s`"),
        ("telecommands: {tcu.ping: {reports: {acepted: 1s}}}", "is it `accepted`?"),
        ("telecommands: {tcu.ping: {delay: soon}}", "a duration such as `2s` is due here, not `soon`"),
        ("telecommands: {eps.reset: {sets: {count: $index}}}", "`$index` is no value here"),
        ("faults: [{}]", "a fault has one of the keys"),
        ("faults: [{link: down, telemetry: eps.volts}]", "a fault has one of the keys"),
        ("faults: [{telecommand: tcu.ping, lose: false}]", "leave the fault out"),
        ("faults: [{telecommand: tcu.ping, nth: 0, lose: true}]", "a whole number from 1"),
        ("faults: [{telecommand: tcu.ping, nth: 1, first: 1, lose: true}]", "`nth`, `first` and `probability`"),
        ("faults: [{telecommand: tcu.ping, probability: 1.5, lose: true}]", "from 0 to 1"),
        ("faults: [{telecommand: tcu.ping, fail: {stage: complete, code: 1}}]", "is it `completed`?"),
        ("faults: [{telecommand: tcu.ping, fail: {stage: completed}}]", "`fail` has a `code`"),
        ("faults: [{telecommand: tcu.ping, refuse: ''}]", "`refuse` has the reason"),
        ("faults: [{telemetry: tcu.mode, nan: true}]", "can be `nan`"),
        ("faults: [{telemetry: tcu.mode, value: 3}]", "is no value"),
        ("faults: [{replay: 1000001}]", "a whole number from 1 to 1,000,000"),
        ("faults: [{telemetry: tcu[2].mode, silent: true}]", "write a name with an index in quotes: `\"tcu[2].mode\"`"),
        ("{\"tele\\n\\nmetri\": {}}", "no key `tele metri`; is it `telemetry`?"),
        ("a: &x [*x]", "no YAML"),
        ("a: b: c", "no YAML"),
        ("\u{0}", ""),
    ] {
        let errors = errors(text);
        assert!(errors.iter().any(|error| error.contains(why)), "{text}: {errors:?}");
    }
}

#[test]
fn depth_and_aliases_are_bounded() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(errors(&deep)[0].contains("no YAML"));
    let mut bomb = "a: &a0 [x]\n".to_owned();
    for level in 1..40 {
        bomb.push_str(&format!("b{level}: &a{level} [*a{0}, *a{0}, *a{0}]\n", level - 1));
    }
    assert!(!errors(&bomb).is_empty());
}

const GOOD: &str = "
telemetry:
  tcu.responding: {initial: true, period: 1s}
  tcu[2].temperature: {profile: {sine: {mean: 20, amplitude: 5, period: 90s, phase: 3s}}, noise: 0.1}
  eps.volts: {profile: {steps: {values: [11, 12.5, .nan], every: 1 min, repeat: true}}}
telecommands:
  tcu.set_mode: {delay: 200ms, reports: {accepted: 100ms, started: none, completed: 1s}, sets: {mode: $mode}, after: 2s}
faults:
  - {telecommand: tcu.ping, nth: 1, fail: {stage: accepted, code: 3}}
  - {telemetry: 'tcu[2].responding', from: 5s, until: 20s, freeze: true}
  - {link: down, from: 10s}
  - {replay: 200}
";

/// The blocks of the reference that are fenced as this.
fn blocks(kind: &str) -> Vec<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/simulator.md");
    let page = std::fs::read_to_string(page).unwrap();
    let fence = format!("```yaml {kind}\n");
    page.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn every_example_of_the_reference_is_read() {
    let scenarios = blocks("scenario");
    assert_eq!(scenarios.len(), 4);
    for scenario in scenarios {
        assert_eq!(errors(&scenario), <[String; 0]>::default(), "{scenario}");
    }
    let requests = blocks("request");
    assert_eq!(requests.len(), 3);
    for request in requests {
        assert!(Control::read(&request, &platform()).is_ok(), "{request}");
    }
}

#[test]
fn what_is_right_is_read() {
    assert_eq!(errors(GOOD), <[String; 0]>::default());
    assert_eq!(errors(&format!("\u{feff}{}", GOOD.replace('\n', "\r\n"))), <[String; 0]>::default());
}

proptest! {
    #[test]
    fn no_mutation_of_a_scenario_is_a_panic_and_every_error_has_a_place(
        cuts in prop::collection::vec((0_usize..GOOD.len(), 0_usize..8, "[\\PC\\n]{0,3}"), 1..4),
    ) {
        let mut text: Vec<char> = GOOD.chars().collect();
        for (at, length, with) in cuts {
            let at = at.min(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, with.chars());
        }
        let text: String = text.into_iter().collect();
        if let Err(errors) = Scenario::read("s.yaml", &text, &platform()) {
            prop_assert!(!errors.is_empty());
            for error in errors {
                prop_assert!(error.line >= 1 && error.column >= 1, "{error}");
            }
        }
    }
}
