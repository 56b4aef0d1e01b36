//! A platform, a store that tells what was asked of it, and a link that does as it is told, for the tests of this folder.

use std::{
    collections::{BTreeMap, VecDeque},
    future::ready,
    sync::{Arc, Mutex},
};

use stellar_vm::{
    catalogue::{Argument, Component, Freshness, Parameter, Platform, Route, Stage, Telecommand, Verification},
    condition::{Expr, ExprOp, Read},
    time::{Instant, Scale},
    value::{EnumDef, Scalar, Type, Value},
};

use super::{
    GatewayOptions, TelecommandOrder,
    link::{Boxed, Command, EncodeError, Frame, HandOver, HandOverError, Inbox, Link, Past, Start},
};
use crate::{
    clock::Clock,
    ports::{Archive, Claim, Look, Reply, Sample, StoreError, TargetItem, TelecommandResult, Telecommands},
};

pub(crate) const SECOND: i64 = 1_000_000_000;
pub(crate) const START: Instant = Instant { ns: 1_790_000_000 * SECOND, scale: Scale::Utc };
pub(crate) const TARGET: &str = "sim-1";

/// Parameters of [`platform`], by their place in it.
pub(crate) mod parameter {
    pub(crate) const COUNT: u32 = 0;

    pub(crate) const MODE: u32 = 2;
    pub(crate) const RESPONDING: u32 = 3;
    pub(crate) const TEMPERATURE: u32 = 4;
}

fn parameter(component: u32, name: &str, ty: Type, valid_when: Option<Expr>) -> Parameter {
    Parameter {
        component,
        name: name.into(),
        ty,
        period: None,
        freshness: Freshness::Within(10 * SECOND),
        valid_when,
        ccsds: None,
    }
}

fn telecommand(component: u32, name: &str, changes_state: bool, args: Vec<Argument>) -> Telecommand {
    Telecommand {
        component,
        name: name.into(),
        description: None,
        changes_state,
        hazardous: None,
        args,
        requires: None,
        verify: Verification {
            window: 5 * SECOND,
            default_window: false,
            stages: vec![(Stage::Completed, 5 * SECOND)],
            until: None,
        },
        ccsds: None,
    }
}

/// `eps` (count, volts) and `tcu[1..4]` (mode, responding, temperature); `tcu.temperature` is valid where it responds.
pub(crate) fn platform() -> Arc<Platform> {
    let responding = Expr {
        code: vec![ExprOp::Local(0), ExprOp::Read(0)],
        constants: Vec::new(),
        reads: vec![Read { target: 0, parameter: parameter::RESPONDING }],
    };
    let float = |min, max| Type::Float { unit: Some("V".into()), min: Some(min), max: Some(max) };
    let power = Argument { name: "power".into(), ty: float(0.0, 20.0), default: None, fixed: None };
    let mode = Argument { name: "mode".into(), ty: Type::Enum(0), default: None, fixed: None };
    Arc::new(Platform {
        name: "platform-v3".into(),
        enums: vec![EnumDef {
            name: "tcu_mode".into(),
            labels: vec![("STANDBY".into(), 0), ("OPERATIONAL".into(), 1), ("SAFE".into(), 7)],
        }],
        routes: vec![Route { name: "direct".into(), default: true }],
        components: vec![
            Component { name: "eps".into(), index: None },
            Component { name: "tcu".into(), index: Some((1, 4)) },
        ],
        parameters: vec![
            parameter(0, "count", Type::Int { min: 3, max: i64::MAX }, None),
            parameter(0, "volts", float(10.0, 30.0), None),
            parameter(1, "mode", Type::Enum(0), None),
            parameter(1, "responding", Type::Bool, None),
            parameter(1, "temperature", float(-40.0, 125.0), Some(responding)),
        ],
        telecommands: vec![
            telecommand(0, "reset", true, Vec::new()),
            telecommand(1, "ping", false, Vec::new()),
            telecommand(1, "set_heater", true, vec![power]),
            telecommand(1, "set_mode", true, vec![mode]),
            telecommand(1, "standby", true, Vec::new()),
        ],
        alarms: Vec::new(),
        ccsds: None,
    })
}

/// A ping of `tcu[2]` whose window ends 5 s after `at`.
pub(crate) fn ping(id: &str, at: Instant) -> TelecommandOrder {
    order(id, at, "tcu[2]", "ping", &[])
}

pub(crate) fn order(
    id: &str,
    at: Instant,
    component: &str,
    telecommand: &str,
    args: &[(&str, Scalar)],
) -> TelecommandOrder {
    TelecommandOrder {
        id: id.into(),
        run: Some("run-1".into()),
        telecommand: telecommand.into(),
        component: component.into(),
        args: args.iter().map(|(name, value)| (Arc::from(*name), value.clone())).collect(),
        route: "direct".into(),
        deadline: at.after(5 * SECOND),
    }
}

/// What happened, in order: at the store, at the link.
pub(crate) type Log = Arc<Mutex<Vec<String>>>;

pub(crate) fn lines(log: &Log) -> Vec<String> {
    log.lock().unwrap().clone()
}

/// A store in memory.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) log: Log,
    pub(crate) claims: Mutex<BTreeMap<String, Claim>>,
    pub(crate) results: Mutex<BTreeMap<String, TelecommandResult>>,
    pub(crate) items: Mutex<Vec<TargetItem>>,
    pub(crate) order: Mutex<u64>,
    /// The next claim fails.
    pub(crate) broken: Mutex<bool>,
    /// Time that a claim takes.
    pub(crate) slow: Mutex<Option<(Clock, i64)>>,
}

impl Memory {
    fn note(&self, what: String) {
        self.log.lock().unwrap().push(what);
    }
}

impl Telecommands for Memory {
    fn claim(&self, claim: Claim) -> Reply<'_, ()> {
        Box::pin(async move {
            let slow = self.slow.lock().unwrap().clone();
            if let Some((clock, ns)) = slow {
                clock.sleep_until(clock.now().after(ns), crate::clock::Phase::Link).await;
            }
            if std::mem::take(&mut *self.broken.lock().unwrap()) {
                return Err(StoreError::Unavailable("no space left".to_owned()));
            }
            let id = claim.id.clone();
            if self.claims.lock().unwrap().contains_key(&id) || self.results.lock().unwrap().contains_key(&id) {
                return Err(StoreError::Conflict(id));
            }
            self.note(format!("claim {id}"));
            self.claims.lock().unwrap().insert(id, claim);
            Ok(())
        })
    }

    fn result<'a>(&'a self, id: &'a str, result: TelecommandResult) -> Reply<'a, ()> {
        let kind = match &result {
            TelecommandResult::Released { .. } => "released",
            TelecommandResult::NotReleased { .. } => "not released",
            TelecommandResult::EncodeFailed { .. } => "encode failed",
        };
        self.note(format!("{kind} {id}"));
        self.results.lock().unwrap().insert(id.to_owned(), result);
        Box::pin(ready(Ok(())))
    }

    fn cut<'a>(&'a self, id: &'a str, reason: &'a str, at: Instant) -> Reply<'a, Look> {
        Box::pin(async move {
            let stands = self.look(id).await?;
            if stands != Look::NotClaimed {
                return Ok(stands);
            }
            let result = TelecommandResult::NotReleased { reason: reason.to_owned(), at };
            self.note(format!("cut {id}"));
            self.results.lock().unwrap().insert(id.to_owned(), result.clone());
            Ok(Look::Result(result))
        })
    }

    fn look<'a>(&'a self, id: &'a str) -> Reply<'a, Look> {
        let look = match (self.results.lock().unwrap().get(id), self.claims.lock().unwrap().get(id)) {
            (Some(result), _) => Look::Result(result.clone()),
            (None, Some(claim)) => Look::Claimed(claim.clone()),
            (None, None) => Look::NotClaimed,
        };
        Box::pin(ready(Ok(look)))
    }

    fn open<'a>(&'a self, target: &'a str) -> Reply<'a, Vec<Claim>> {
        let results = self.results.lock().unwrap();
        let claims = self.claims.lock().unwrap();
        let open = claims.values().filter(|claim| claim.target == target && !results.contains_key(&claim.id));
        Box::pin(ready(Ok(open.cloned().collect())))
    }
}

impl Archive for Memory {
    fn next_order(&self) -> u64 {
        let mut order = self.order.lock().unwrap();
        *order += 1;
        *order
    }

    fn append(&self, _: &Arc<str>, items: Vec<TargetItem>) {
        self.items.lock().unwrap().extend(items);
    }

    fn flush(&self) -> Reply<'_, ()> {
        Box::pin(ready(Ok(())))
    }

    fn since<'a>(&'a self, _: &'a str, after: u64, limit: usize) -> Reply<'a, Vec<TargetItem>> {
        let items = self.items.lock().unwrap();
        let found = items.iter().filter(|item| item.order() > after).take(limit).cloned().collect();
        Box::pin(ready(Ok(found)))
    }

    fn latest<'a>(&'a self, target: &'a str) -> Reply<'a, Vec<Sample>> {
        let mut latest = BTreeMap::new();
        for item in self.items.lock().unwrap().iter() {
            let TargetItem::Samples { samples } = item else { continue };
            for sample in samples.iter().filter(|sample| !sample.replayed && &*sample.target == target) {
                latest.insert((sample.component.clone(), sample.index, sample.name.clone()), sample.clone());
            }
        }
        Box::pin(ready(Ok(latest.into_values().collect())))
    }
}

/// A link that does as it is told.
#[derive(Default)]
pub(crate) struct Scripted {
    pub(crate) log: Log,
    pub(crate) inbox: Arc<Mutex<Option<Inbox>>>,
    /// What the next hand-overs answer; `Ok` where nothing is told.
    pub(crate) answers: VecDeque<Result<(), HandOverError>>,
    /// Names are those of the telecommand: two of one cannot be told apart.
    pub(crate) opcode: bool,
    pub(crate) past: Vec<Past>,
    /// A hand-over never ends.
    pub(crate) hangs: bool,
    /// Delivered while a hand-over is under way: what, and how long before it was received.
    pub(crate) meanwhile: Vec<(super::link::Received, i64)>,
}

impl Link for Scripted {
    fn kind(&self) -> &'static str {
        "scripted"
    }

    fn start(&mut self, start: Start) -> Result<Vec<Past>, String> {
        *self.inbox.lock().unwrap() = Some(start.inbox);
        Ok(self.past.clone())
    }

    fn encode(&mut self, command: &Command) -> Result<Frame, EncodeError> {
        if command.args.first() == Some(&Value::Float(13.0)) {
            return Err(EncodeError("13 does not go into its field".to_owned()));
        }
        let name = if self.opcode { format!("op{}", command.telecommand) } else { format!("n-{}", command.id) };
        Ok(Frame { id: Arc::clone(&command.id), name: name.into(), exclusive: self.opcode, bytes: Vec::new() })
    }

    fn hand_over<'a>(&'a mut self, hand_over: HandOver<'a>) -> Boxed<'a, Result<(), HandOverError>> {
        Box::pin(async move {
            self.log.lock().unwrap().push(format!("hand over {}", hand_over.order.id));
            for (received, before) in std::mem::take(&mut self.meanwhile) {
                let inbox = self.inbox.lock().unwrap().clone().unwrap();
                inbox.deliver(received, hand_over.at.after(-before)).await.unwrap();
            }
            if self.hangs {
                std::future::pending::<()>().await;
            }
            self.answers.pop_front().unwrap_or(Ok(()))
        })
    }
}

pub(crate) fn options(memory: &Arc<Memory>, clock: &Clock) -> GatewayOptions {
    GatewayOptions {
        target: TARGET.into(),
        platform: platform(),
        clock: clock.clone(),
        telecommands: Arc::clone(memory) as Arc<dyn Telecommands>,
        archive: Arc::clone(memory) as Arc<dyn Archive>,
        nonce: "nonce-1".into(),
    }
}
