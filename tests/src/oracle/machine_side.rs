//! The machine, driven by facts of the oracle.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value as Json;
use stellar_vm::{
    condition::{SampleView, Snapshot},
    event::{
        Body, DecisionOption, Event, Fact as VmFact, Known as VmKnown, KnownStatus, LeaseRefusal, TelecommandStatus,
        TransferStatus, Transition,
    },
    machine::{Advance, Machine, PendingKind, replay},
    time::{Instant, Scale},
    value::Scalar,
    verify::Verified,
};

use super::{
    driver::{Emitted, Fact, Side, Wanted},
    model::{Catalogue, Ns, Program, Stage},
    text::scalar,
    world::{Known, Opt, RUN, Sample, Status, TARGETS, TransferEnd},
};

pub(super) fn at(ns: Ns) -> Instant {
    Instant { ns, scale: Scale::Utc }
}

pub(super) struct MachineSide<'a> {
    program: &'a Program,
    verified: Arc<Verified>,
    pub(super) machine: Machine,
    epoch: u64,
    telemetry: Telemetry,
    pub(super) lines: Vec<String>,
    /// What did not go as the machine's contract says.
    pub(super) complaints: Vec<String>,
}

/// Target, component, index, name.
type Key = (String, String, Option<i64>, String);

struct Telemetry {
    catalogue: Catalogue,
    latest: BTreeMap<Key, (Scalar, Sample)>,
}

impl Snapshot for Telemetry {
    fn latest(&self, target: &str, component: &str, index: Option<i64>, name: &str) -> Option<SampleView<'_>> {
        let key = (target.to_owned(), component.to_owned(), index, name.to_owned());
        let (value, sample) = self.latest.get(&key)?;
        Some(SampleView { value, received_at: at(sample.received_at), order: sample.order, valid: sample.valid })
    }
}

fn vm_scalar(json: &Json) -> Scalar {
    match json {
        Json::Bool(value) => Scalar::Bool(*value),
        Json::Number(number) if number.is_i64() => Scalar::Int(number.as_i64().unwrap()),
        Json::Number(number) => Scalar::Float(number.as_f64().unwrap()),
        Json::String(text) => Scalar::Str(text.clone()),
        other => panic!("{other} is no scalar"),
    }
}

impl<'a> MachineSide<'a> {
    pub(super) fn new(program: &'a Program, verified: &Arc<Verified>) -> Self {
        Self {
            program,
            verified: Arc::clone(verified),
            machine: Machine::new(Arc::clone(verified)),
            epoch: 1,
            telemetry: Telemetry { catalogue: program.catalogue.clone(), latest: BTreeMap::new() },
            lines: Vec::new(),
            complaints: Vec::new(),
        }
    }

    fn log(&mut self, body: Body) {
        let event = Event {
            seq: self.machine.seq(),
            at: self.machine.now(),
            epoch: self.epoch,
            nonce: None,
            fence: None,
            body,
        };
        self.lines.push(event.to_json().unwrap());
    }

    fn accept(&mut self, fact: VmFact, now: Ns) -> bool {
        match self.machine.accept(&fact, at(now)) {
            Ok(()) => {
                self.log(Body::Fact(fact));
                true
            }
            Err(_) => false,
        }
    }

    /// A fact that the machine has asked for.
    fn must(&mut self, fact: VmFact, now: Ns) {
        if let Err(refused) = self.machine.accept(&fact, at(now)) {
            self.complaints.push(format!("it refuses what it asked for, {fact:?}: {refused}"));
            return;
        }
        self.log(Body::Fact(fact));
    }

    fn fact(&self, fact: &Fact) -> VmFact {
        let by: Arc<str> = "ann".into();
        match fact.clone() {
            Fact::Started => self.started(),
            Fact::Leases { refused: false } => {
                VmFact::Leases { taken: TARGETS.iter().map(|it| (*it).into()).collect(), shared: false, refused: None }
            }
            Fact::Leases { refused: true } => {
                let reason = "`sim-1` is held by run 01K6B".to_owned();
                let refused = Some(LeaseRefusal { target: "sim-1".into(), holders: vec!["01K6B".into()], reason });
                VmFact::Leases { taken: vec![], shared: false, refused }
            }
            Fact::Status { id, status, order, reason, code, received_at } => {
                let (status, stage) = match status {
                    Status::Released => (TelecommandStatus::Released, None),
                    Status::NotReleased => (TelecommandStatus::NotReleased, None),
                    Status::EncodeFailed => (TelecommandStatus::EncodeFailed, None),
                    Status::Reported(Stage::Accepted) => (TelecommandStatus::Accepted, None),
                    Status::Reported(Stage::Started) => (TelecommandStatus::Started, None),
                    Status::Reported(Stage::Completed) => (TelecommandStatus::Completed, None),
                    Status::Failed(stage) => (TelecommandStatus::Failed, stage.map(vm_stage)),
                };
                let id = id.as_str().into();
                VmFact::TelecommandStatus { id, status, received_at: at(received_at), order, stage, code, reason }
            }
            Fact::Answered { question, value, ctl } => VmFact::Answered {
                question: question.as_str().into(),
                value: value.as_str().into(),
                by,
                ctl: Some(ctl),
            },
            Fact::Decided { decision, option, ctl } => {
                VmFact::Decided { decision: decision.as_str().into(), option: vm_option(option), by, ctl: Some(ctl) }
            }
            Fact::Suspended { ctl } => VmFact::Suspended { why: "operator".to_owned(), by, ctl: Some(ctl) },
            Fact::Resumed { known, ctl } => VmFact::Resumed { by, known: vm_known(&known), ctl: Some(ctl) },
            Fact::AbortRequested { ctl } => VmFact::AbortRequested { by, ctl: Some(ctl) },
            Fact::TakenOver { known } => VmFact::TakenOver { instance: "exec-b".into(), known: vm_known(&known) },
            Fact::Declined { ctl } => VmFact::Declined { ctl: Some(ctl), why: "refused".to_owned() },
            Fact::Transfer { id, status, reason } => {
                let status = match status {
                    TransferEnd::NotCreated => TransferStatus::NotCreated,
                    TransferEnd::Completed => TransferStatus::Completed,
                    TransferEnd::Failed => TransferStatus::Failed,
                    TransferEnd::Cancelled => TransferStatus::Cancelled,
                };
                VmFact::TransferStatus { id: id.as_str().into(), status, reason }
            }
        }
    }

    fn started(&self) -> VmFact {
        let catalogue = &self.program.catalogue;
        let inputs = self.program.inputs.iter();
        let def = &self.program.defs[self.program.entry];
        VmFact::RunStarted {
            schema: stellar_vm::event::Schema,
            run: RUN.into(),
            procedure: def.title.as_str().into(),
            targets: def.targets.iter().zip(TARGETS).map(|(name, target)| ((*name).into(), target.into())).collect(),
            inputs: inputs.map(|(name, value)| (name.as_str().into(), vm_scalar(&scalar(catalogue, value)))).collect(),
            artifact: "00".into(),
            scale: Scale::Utc,
            virtual_clock: true,
            links: TARGETS.iter().map(|target| ((*target).into(), "sim".into())).collect(),
            by: "os:test".into(),
        }
    }
}

pub(super) fn vm_stage(stage: Stage) -> stellar_vm::catalogue::Stage {
    match stage {
        Stage::Accepted => stellar_vm::catalogue::Stage::Accepted,
        Stage::Started => stellar_vm::catalogue::Stage::Started,
        Stage::Completed => stellar_vm::catalogue::Stage::Completed,
    }
}

fn vm_option(option: Opt) -> DecisionOption {
    match option {
        Opt::Replay => DecisionOption::Replay,
        Opt::Skip => DecisionOption::Skip,
        Opt::Fail => DecisionOption::Fail,
        Opt::Abort => DecisionOption::Abort,
        Opt::Recheck => DecisionOption::Recheck,
    }
}

fn own_option(option: DecisionOption) -> Opt {
    match option {
        DecisionOption::Replay => Opt::Replay,
        DecisionOption::Skip => Opt::Skip,
        DecisionOption::Fail => Opt::Fail,
        DecisionOption::Abort => Opt::Abort,
        DecisionOption::Recheck => Opt::Recheck,
    }
}

fn vm_known(known: &[(String, Known)]) -> Vec<KnownStatus> {
    let one = |known: Known| match known {
        Known::Left => VmKnown::Left,
        Known::NeverLeft => VmKnown::NeverLeft,
        Known::MayHaveLeft => VmKnown::MayHaveLeft,
    };
    known.iter().map(|(id, known)| KnownStatus { id: id.as_str().into(), known: one(*known) }).collect()
}

impl Side for MachineSide<'_> {
    fn emit(&mut self, now: Ns) -> Option<Emitted> {
        let Advance::Emit(transition) = self.machine.advance(at(now)) else { return None };
        self.log(Body::Transition(transition.clone()));
        Some(match transition {
            Transition::TelecommandSent { id, target, telecommand, component, .. } => {
                let (base, index) = match component.split_once('[') {
                    None => (&*component, None),
                    Some((base, rest)) => (base, rest.trim_end_matches(']').parse().ok()),
                };
                let catalogue = &self.program.catalogue;
                let is = |it: &super::model::Telecommand| {
                    *it.name == *telecommand && catalogue.components[it.component].name == base
                };
                let place = catalogue.telecommands.iter().position(is).unwrap();
                Emitted::Sent { id: id.to_string(), telecommand: place, target: target.to_string(), index }
            }
            Transition::QuestionAsked { id, choices, due, .. } => {
                let choices = choices.iter().map(ToString::to_string).collect();
                Emitted::Asked { id: id.to_string(), choices, due: due.ns }
            }
            Transition::DecisionRequired { id, options, .. } => {
                Emitted::Decision { id: id.to_string(), options: options.into_iter().map(own_option).collect() }
            }
            Transition::AttemptScheduled { due, .. } => Emitted::Scheduled { due: due.ns },
            Transition::TransferRequested { id, due, .. } => Emitted::Transfer { id: id.to_string(), due: due.ns },
            _ => Emitted::Other,
        })
    }

    fn ended(&self) -> bool {
        // Once it refuses what it has asked for there is nothing more to compare.
        self.machine.outcome().is_some() || !self.complaints.is_empty()
    }

    fn seq(&self) -> u64 {
        self.machine.seq()
    }

    fn deadline(&self) -> Option<(Ns, u64)> {
        self.machine.next_deadline().map(|(due, pending)| (due.ns, pending))
    }

    fn wanted(&mut self, _now: Ns) -> Option<Wanted> {
        let pending_kinds: Vec<_> = self.machine.pending().collect();
        if pending_kinds.iter().any(|one| one.kind == PendingKind::Leases) {
            return Some(Wanted::Leases);
        }
        if let Some(pending) = self.machine.settles(&self.telemetry) {
            let reads = pending_kinds.iter().any(|one| one.id == pending && one.kind == PendingKind::Reading);
            return Some(if reads { Wanted::Reading(pending) } else { Wanted::Observed(pending) });
        }
        pending_kinds.into_iter().find_map(|one| match one.kind {
            PendingKind::Utc { now: true, .. } => Some(Wanted::Utc(one.id)),
            PendingKind::Transfer { id, cancel: true } => Some(Wanted::Cancel(id.to_string())),
            _ => None,
        })
    }

    fn until(&self) -> Option<(Ns, u64)> {
        let reached = self.machine.pending().filter_map(|one| match one.kind {
            PendingKind::Utc { until, now: false } => Some((until, one.id)),
            _ => None,
        });
        reached.min()
    }

    fn enter(&mut self, fact: &Fact, now: Ns) -> bool {
        if let Fact::TakenOver { .. } = fact {
            self.epoch += 1;
        }
        let fact = self.fact(fact);
        self.accept(fact, now)
    }

    fn observe(&mut self, pending: u64, utc: Option<Ns>, now: Ns) {
        let samples = self.machine.evidence(pending, &self.telemetry);
        self.must(VmFact::Observed { pending, samples, utc: utc.map(at) }, now);
    }

    fn elapse(&mut self, pending: u64, due: Ns, utc: Ns, now: Ns) {
        let kind = self.machine.pending().find(|one| one.id == pending).map(|one| one.kind);
        if let Some(PendingKind::Condition | PendingKind::Telecommand { until: true, .. }) = kind {
            let samples = self.machine.evidence(pending, &self.telemetry);
            if !samples.is_empty()
                && self.accept(VmFact::Observed { pending, samples, utc: None }, now)
                && self.deadline() != Some((due, pending))
            {
                return;
            }
        }
        let utc = matches!(kind, Some(PendingKind::Utc { .. })).then(|| at(utc));
        self.must(VmFact::Elapsed { pending, due: at(due), utc }, now);
    }

    fn store(&mut self, samples: &[Sample]) {
        for sample in samples {
            let of = &self.telemetry.catalogue.params[sample.param];
            let component = self.telemetry.catalogue.components[of.component].name;
            let key = (sample.target.to_owned(), component.to_owned(), sample.index, of.name.to_owned());
            self.telemetry.latest.insert(key, (vm_scalar(&sample.value), sample.clone()));
        }
    }

    fn change_owner(&mut self) {
        match replay(Arc::clone(&self.verified), self.lines.iter().map(String::as_str)) {
            Ok(replayed) => {
                let anew = replayed.into_machine();
                if anew.view() != self.machine.view() {
                    self.complaints.push("the machine replayed from the log stands elsewhere".to_owned());
                }
                self.machine = anew;
            }
            Err(error) => self.complaints.push(format!("the log does not replay: {error}")),
        }
    }
}
