//! One case, run in this process and in virtual time, with an operator who answers as the case says.
#![expect(clippy::expect_used, clippy::panic, reason = "a harness fails its test at once")]

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use stellar_compiler::{
    config::{self, Config, LinkSettings},
    pipeline::{Came, Checked, File, Input},
    source::{Origin, Sources},
};
use stellar_runtime::{
    clock::{Clock, Phase, virtual_runtime},
    executor::{ControlReply, RunHandle, StartRequest},
    gateway::link::{
        Link,
        sim::{SimLink, SimOptions},
    },
    instance::{ClockMode, Instance, LinkContext, OpenLink, RuntimeConfig, TargetConfig},
};
use stellar_vm::{event::DecisionOption, time::Instant, value::Scalar};
use tokio::task::JoinSet;

use super::{Case, Suite};
use crate::mission::{Mission, Ran, instant};

/// When virtual time begins.
const BEGINS: &str = "2026-10-02T10:00:00Z";

/// The configuration of a mission.
///
/// # Panics
/// Where it is not sound.
#[must_use]
pub fn configuration(mission: &Mission) -> Config {
    let (mut sources, mut found) = (Sources::default(), Vec::new());
    let file = sources.add("stellar.yaml", mission.read("stellar.yaml").as_bytes(), Origin::Project);
    let config = config::read(file, &sources, &mut found);
    assert!(found.is_empty(), "stellar.yaml: {found:?}");
    config
}

/// Runs a case over a fresh copy of its mission; `artifact` is what `stellar compile` made of it.
#[must_use]
pub fn run(mission: &Mission, suite: &Suite, case: &Case, artifact: &[u8]) -> Ran {
    let config = configuration(mission);
    for (name, target) in &config.targets {
        if let Some(LinkSettings::Sim(sim)) = &target.link
            && let Some(behaviours) = &sim.behaviours
        {
            case.lay_over(mission, name, &behaviours.path);
        }
    }
    let inputs = suite.inputs.iter().chain(&case.inputs).map(|(name, value)| (name.as_str().into(), scalar(value)));
    let targets = suite.targets.iter().map(|(name, target)| (name.as_str().into(), target.as_str().into()));
    let request = StartRequest {
        artifact: artifact.to_vec(),
        procedure: case.procedure.as_ref().unwrap_or(&suite.procedure).clone(),
        targets: targets.collect(),
        inputs: inputs.collect(),
        by: "os:test".to_owned(),
    };
    let runtime = virtual_runtime().expect("a runtime");
    runtime.block_on(async {
        let instance = open(mission, &config).await;
        let handle = instance.start(request).await.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let operator = Operator { case, handle, clock: instance.clock().clone(), answers: 0, decisions: 0 };
        let events = operator.follow().await;
        instance.close().await;
        let passed = events.last().is_some_and(|event| event["outcome"] == "passed");
        Ran { code: i32::from(!passed), events, err: String::new() }
    })
}

fn scalar(value: &Value) -> Scalar {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("an input {value}: {error}"))
}

async fn open(mission: &Mission, config: &Config) -> Instance {
    let mut targets = BTreeMap::new();
    for (name, target) in &config.targets {
        let Some(LinkSettings::Sim(sim)) = target.link.clone() else { panic!("{name} is no simulated target") };
        let behaviours = sim.behaviours.map(|named| mission.path().join(named.path));
        let link: OpenLink = Box::new(move |context: LinkContext| {
            let LinkContext { platform, clock, record, .. } = context;
            let options = SimOptions { platform, clock, behaviours, seed: sim.seed, record };
            SimLink::open(options).map(|link| Box::new(link) as Box<dyn Link>).map_err(|error| error.to_string())
        });
        targets
            .insert(name.as_str().into(), TargetConfig { platform: target.platform.as_str().into(), link: Some(link) });
    }
    let settings = RuntimeConfig {
        store: mission.path().join(&config.store),
        instance: "test".into(),
        scale: config.scale,
        targets,
        max_runs: config.executor.max_runs,
    };
    let begins: Instant = BEGINS.parse().expect("an instant");
    let mode = ClockMode::Virtual(Some(begins));
    Instance::open(settings, catalogue(mission, config), mode).await.unwrap_or_else(|error| panic!("{error}"))
}

fn catalogue(mission: &Mission, config: &Config) -> stellar_vm::catalogue::Catalogue {
    let mut input = Input { defaults: config.defaults(), ..Input::default() };
    for folder in &config.catalogue {
        for entry in std::fs::read_dir(mission.path().join(&folder.path)).expect("the catalogue is there") {
            let path = entry.expect("the folder can be read").path();
            let bytes = std::fs::read(&path).expect("the file can be read");
            input.catalogue.push(File { path: path.to_string_lossy().into_owned(), bytes, came: Came::Project });
        }
    }
    let standard = stellar_stdlib_procs::CATALOGUES.iter();
    input.catalogue.extend(standard.map(|file| File {
        path: file.path.to_owned(),
        bytes: file.text.as_bytes().to_vec(),
        came: Came::Standard,
    }));
    Checked::new(&input).catalogue().compiled()
}

/// Follows a run, and says what the case has its operator say.
struct Operator<'a> {
    case: &'a Case,
    handle: RunHandle,
    clock: Clock,
    answers: usize,
    decisions: usize,
}

impl Operator<'_> {
    async fn follow(mut self) -> Vec<Value> {
        let mut lines = self.handle.events(1);
        let mut events = Vec::new();
        let mut later = JoinSet::new();
        while let Some(line) = lines.next().await.expect("the log reads") {
            let event: Value = serde_json::from_str(&line.text).expect("an event");
            match event["type"].as_str() {
                Some("question_asked") => self.question(&event, &mut later).await,
                Some("decision_required") => self.decision(&event).await,
                _ => {}
            }
            events.push(event);
        }
        while let Some(done) = later.join_next().await {
            done.expect("the answer came in time");
        }
        let Self { case, answers, decisions, .. } = self;
        assert_eq!((answers, decisions), (case.answers.len(), case.decide.len()), "{}: what was asked", case.name);
        // The record is written when the task has ended.
        let ended = self.handle.ended().await;
        assert!(ended.is_some(), "{}: the run has ended", case.name);
        events
    }

    async fn question(&mut self, event: &Value, later: &mut JoinSet<()>) {
        let Some(answer) = self.case.answers.get(self.answers).cloned() else {
            panic!("{}: nobody answers {event}", self.case.name)
        };
        self.answers += 1;
        if answer == "never" {
            return;
        }
        let question: Arc<str> = event["id"].as_str().expect("a question has an identifier").into();
        let (handle, name) = (self.handle.clone(), self.case.name.clone());
        let Some(choice) = answer.strip_suffix(" at the end") else {
            return applied(&name, handle.answer("os:test", None, &question, &answer).await);
        };
        let (choice, clock, due) = (choice.to_owned(), self.clock.clone(), instant(&event["due"]));
        later.spawn(async move {
            clock.sleep_until(due, Phase::Link).await;
            applied(&name, handle.answer("os:test", None, &question, &choice).await);
        });
    }

    async fn decision(&mut self, event: &Value) {
        let Some(option) = self.case.decide.get(self.decisions) else {
            panic!("{}: nobody decides {event}", self.case.name)
        };
        self.decisions += 1;
        let option: DecisionOption = serde_json::from_value(option.as_str().into()).expect("an option");
        let decision = event["id"].as_str().expect("a decision has an identifier");
        applied(&self.case.name, self.handle.decide("os:test", None, decision, option).await);
    }
}

fn applied<E: std::fmt::Debug>(name: &str, reply: Result<ControlReply, E>) {
    assert!(matches!(reply, Ok(ControlReply::Applied { .. })), "{name}: {reply:?}");
}
