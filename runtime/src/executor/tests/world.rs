//! A process on a folder: embedded store, gateways with links that do as they are told, an executor, virtual time.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex},
};

use stellar_vm::{
    catalogue::Stage,
    event::{Body, Event, Fact, Transition},
    machine,
    time::{Instant, Scale},
    value::Value,
    verify,
};

use super::{
    super::{Executor, RunHandle, Setup, StartRequest, Target},
    programs::{S, catalogue},
};
use crate::{
    clock::{self, Clock, Phase},
    commanding::TargetGateway,
    embedded::{Embedded, Hold},
    gateway::{
        Gateway, GatewayOptions,
        link::{
            Boxed, Command, EncodeError, Frame, HandOver, HandOverError, Inbox, Link, Past, RawSample, Received, Start,
        },
    },
    ident,
    journal::read_all,
    leases::Owner,
};

pub(super) const START: Instant = Instant { ns: 1_790_000_000 * S, scale: Scale::Utc };

/// What a target does about a telecommand, each after a delay from the hand-over.
#[derive(Clone)]
pub(super) enum Reply {
    Completed,
    Failed,
    Responding(bool),
}

/// What targets do about each telecommand, by name.
pub(super) type Script = BTreeMap<&'static str, Vec<(i64, Reply)>>;

/// A target that completes and answers `ping` after 1 s and 2 s, and completes `standby` after 1 s.
pub(super) fn willing() -> Script {
    Script::from([
        ("ping", vec![(S, Reply::Completed), (2 * S, Reply::Responding(true))]),
        ("standby", vec![(S, Reply::Completed)]),
    ])
}

struct ScriptedLink {
    clock: Clock,
    script: Script,
    inbox: Option<Inbox>,
    handed_over: Arc<Mutex<Vec<String>>>,
}

impl Link for ScriptedLink {
    fn kind(&self) -> &'static str {
        "scripted"
    }

    fn start(&mut self, start: Start) -> Result<Vec<Past>, String> {
        self.inbox = Some(start.inbox);
        Ok(vec![])
    }

    fn encode(&mut self, command: &Command) -> Result<Frame, EncodeError> {
        Ok(Frame { id: command.id.clone(), name: command.id.clone(), exclusive: false, bytes: vec![] })
    }

    fn hand_over<'a>(&'a mut self, hand_over: HandOver<'a>) -> Boxed<'a, Result<(), HandOverError>> {
        self.handed_over.lock().unwrap().push(hand_over.order.id.to_string());
        let replies = self.script.get(hand_over.order.telecommand.as_ref()).cloned().unwrap_or_default();
        for (delay, reply) in replies {
            let (clock, inbox) = (self.clock.clone(), self.inbox.clone().unwrap());
            let (at, name) = (hand_over.at.after(delay), hand_over.frame.name.clone());
            let report = |failure| Received::Report { name: name.clone(), stage: Stage::Completed, failure };
            let received = match reply {
                Reply::Completed => report(None),
                Reply::Failed => report(Some(String::from("3 (bad)"))),
                Reply::Responding(value) => Received::Samples {
                    samples: vec![RawSample { parameter: 0, index: None, value: Some(Value::Bool(value)) }],
                    replayed: false,
                },
            };
            tokio::spawn(async move {
                clock.sleep_until(at, Phase::Link).await;
                let _ = inbox.deliver(received, clock.now()).await;
            });
        }
        Box::pin(std::future::ready(Ok(())))
    }
}

pub(super) struct World {
    pub(super) clock: Clock,
    pub(super) executor: Executor,
    pub(super) handed_over: Arc<Mutex<Vec<String>>>,
    pub(super) store: Embedded,
}

/// How the gateways of a process are wrapped.
pub(super) type Wrap = fn(Gateway) -> Arc<dyn TargetGateway>;

pub(super) fn plain(gateway: Gateway) -> Arc<dyn TargetGateway> {
    Arc::new(gateway)
}

impl World {
    async fn open(folder: &Path, start: Instant, script: Script, wrap: Wrap) -> Self {
        let clock = Clock::virtual_from(start);
        Self::on(folder, clock, script, wrap).await
    }

    pub(super) async fn on(folder: &Path, clock: Clock, script: Script, wrap: Wrap) -> Self {
        let holder = clock.clone();
        let hold: Hold = Arc::new(move || Box::new(holder.busy()));
        let store = Embedded::open(folder, "exec-a", hold).unwrap();
        let owner = Owner { instance: Arc::from("exec-a"), nonce: ident::ulid(clock.now()).into() };
        let handed_over = Arc::new(Mutex::new(vec![]));
        let catalogue = catalogue();
        let mut targets = BTreeMap::new();
        for (name, platform) in [("sim-1", "platform-v3"), ("lander-1", "lander")] {
            let options = GatewayOptions {
                target: Arc::from(name),
                platform: Arc::new(catalogue.platforms.iter().find(|one| *one.name == *platform).unwrap().clone()),
                clock: clock.clone(),
                telecommands: store.store().telecommands,
                archive: store.store().archive,
                nonce: owner.nonce.clone(),
            };
            let link = ScriptedLink {
                clock: clock.clone(),
                script: script.clone(),
                inbox: None,
                handed_over: handed_over.clone(),
            };
            let gateway = Gateway::open(options, Box::new(link)).await.unwrap();
            targets.insert(Arc::from(name), Target { platform: Arc::from(platform), gateway: Some(wrap(gateway)) });
        }
        targets.insert(Arc::from("bench-1"), Target { platform: Arc::from("lander"), gateway: None });
        let setup = Setup {
            store: store.store(),
            clock: clock.clone(),
            catalogue: Arc::new(catalogue),
            targets,
            owner,
            max_runs: 100,
        };
        Self { clock, executor: Executor::new(setup), handed_over, store }
    }

    pub(super) async fn start(&self, artifact: Vec<u8>) -> RunHandle {
        self.executor.start(request(artifact)).await.unwrap()
    }

    pub(super) fn handed_over(&self) -> Vec<String> {
        self.handed_over.lock().unwrap().clone()
    }

    /// The log of a run, which must hold when it is replayed.
    pub(super) async fn log(&self, run: &str) -> Vec<Event> {
        let lines = read_all(self.store.store().log.as_ref(), run).await.unwrap();
        let record = self.executor.handle(run).await.unwrap().unwrap().record().await.unwrap().unwrap();
        let bytes = self.store.store().artifacts.get(&record.artifact).await.unwrap().unwrap();
        let program = Arc::new(verify::verify(stellar_vm::artifact::decode(&bytes).unwrap()).unwrap());
        machine::replay(program, lines.iter().map(|line| line.text.as_ref())).unwrap();
        lines.iter().map(|line| Event::from_json(&line.text).unwrap()).collect()
    }
}

/// A start of the only procedure of an artifact.
pub(super) fn request(artifact: Vec<u8>) -> StartRequest {
    let program = stellar_vm::artifact::decode(&artifact).unwrap();
    StartRequest {
        artifact,
        procedure: program.units[0].name.to_string(),
        targets: BTreeMap::new(),
        inputs: BTreeMap::new(),
        by: String::from("os:ada"),
    }
}

/// One process on a folder, from its start to its sudden end: what it leaves undone stays undone.
pub(super) fn process<T>(folder: &Path, start: Instant, script: Script, body: impl AsyncFnOnce(&World) -> T) -> T {
    process_with(folder, start, script, plain, body)
}

pub(super) fn process_with<T>(
    folder: &Path,
    start: Instant,
    script: Script,
    wrap: Wrap,
    body: impl AsyncFnOnce(&World) -> T,
) -> T {
    let runtime = clock::virtual_runtime().unwrap();
    runtime.block_on(async {
        let world = World::open(folder, start, script, wrap).await;
        body(&world).await
    })
}

/// Waits for an event of a run and gives it.
pub(super) async fn wait_for(handle: &RunHandle, wanted: impl Fn(&Body) -> bool) -> Event {
    let mut events = handle.events(1);
    while let Some(line) = events.next().await.unwrap() {
        let event = Event::from_json(&line.text).unwrap();
        if wanted(&event.body) {
            return event;
        }
    }
    panic!("the run ended without it");
}

/// The identifier of the question that a run asks.
pub(super) async fn question_of(handle: &RunHandle) -> String {
    let event = wait_for(handle, |body| matches!(body, Body::Transition(Transition::QuestionAsked { .. }))).await;
    let Body::Transition(Transition::QuestionAsked { id, .. }) = event.body else { unreachable!() };
    id.to_string()
}

/// The identifier of the last decision that a run requires from event `from` on.
pub(super) async fn decision_of(handle: &RunHandle, from: u64) -> (u64, String, Transition) {
    let mut events = handle.events(from);
    while let Some(line) = events.next().await.unwrap() {
        let event = Event::from_json(&line.text).unwrap();
        if let Body::Transition(transition @ Transition::DecisionRequired { .. }) = event.body {
            let Transition::DecisionRequired { id, .. } = &transition else { unreachable!() };
            return (event.seq, id.to_string(), transition);
        }
    }
    panic!("the run ended without a decision");
}

/// What a log is, in short: seconds from [`START`], then the type.
pub(super) fn short(log: &[Event]) -> Vec<String> {
    log.iter().map(|event| format!("{} {}", seconds(event.at), kind(&event.body))).collect()
}

fn seconds(at: Instant) -> String {
    let ns = at.since(START);
    if ns % S == 0 { (ns / S).to_string() } else { format!("{}.{:09}", ns / S, ns % S) }
}

pub(super) fn kind(body: &Body) -> String {
    let json: serde_json::Value = serde_json::to_value(body).unwrap();
    let of = |name: &str| json.get(name).and_then(|value| value.as_str()).map(|value| format!(" {value}"));
    let name = json["type"].as_str().unwrap().to_owned();
    let more = match body {
        Body::Fact(Fact::TelecommandStatus { .. }) => of("status"),
        Body::Transition(Transition::StepFinished { .. } | Transition::RunFinished { .. }) => of("outcome"),
        Body::Fact(Fact::Suspended { .. } | Fact::Declined { .. }) => of("why"),
        Body::Fact(Fact::Leases { refused: Some(_), .. }) => Some(String::from(" refused")),
        _ => None,
    };
    name + &more.unwrap_or_default()
}
