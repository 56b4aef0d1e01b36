//! The types that write the documents, against the schemas: each with all that it can have, and with as little as it
//! can. What a schema lists is what is written at some time; what it requires is what is always written.

use std::{collections::BTreeSet, fmt::Debug};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use stellar_compiler::{
    diagnostics::{JsonDiagnostic, JsonLabel, JsonPosition},
    format::{JsonCall, JsonDefinition, JsonInput, JsonPolicy, JsonTarget},
};
use stellar_runtime::ports::{self, RunRecord};
use stellar_vm::{
    catalogue::Stage,
    event::{
        Body, DecisionOption, Event, Fact, Failure, FailureCode, Known, KnownStatus, LeaseRefusal, Path, RunOutcome,
        SampleRecord, Schema as LogSchema, StepOutcome, TelecommandKnown, TelecommandStatus, TransferStatus,
        Transition,
    },
    machine::{Doing, RunState, StrandView, View},
    time::{Instant, Scale},
    value::Scalar,
};

use crate::{schema::Schema, variants};

const ID: &str = "01K6A3D3Y4Q8K1P9W2N6R5T7XZ";
const HASH: &str = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
const AT: Instant = Instant { ns: 1_790_936_100_000_000_000, scale: Scale::Utc };

fn path() -> Path {
    ["P".into(), "S".into()].into()
}

fn failure(telecommand: bool) -> Failure {
    Failure {
        code: FailureCode::VerifyTimeout,
        message: "`ping` left, but was not reported".into(),
        file: "a.proc".into(),
        line: 3,
        statement: "send ping to sat.tcu[2]".into(),
        telecommand: telecommand.then(|| ID.into()),
    }
}

fn known() -> Vec<KnownStatus> {
    vec![KnownStatus { id: ID.into(), known: Known::MayHaveLeft }]
}

fn sample(valid: bool) -> SampleRecord {
    SampleRecord {
        target: "sim-1".into(),
        parameter: "tcu[2].mode".into(),
        value: Scalar::Str("SAFE".into()),
        received_at: AT,
        order: 4,
        valid,
    }
}

fn transitions() -> Vec<Transition> {
    use Transition as T;
    let (file, id) = (|| "a.proc".into(), || ID.into());
    let sent = |retry_of| T::TelecommandSent {
        id: id(),
        target: "sim-1".into(),
        telecommand: "ping".into(),
        component: "tcu[2]".into(),
        args: [("power".into(), Scalar::Float(5.0))].into(),
        route: "direct".into(),
        step: path(),
        attempt: 1,
        retry_of,
        changes_state: false,
        file: file(),
        line: 4,
    };
    let decision = |failure, telecommands| T::DecisionRequired {
        id: id(),
        step: path(),
        attempt: 1,
        reason: "why".into(),
        options: vec![DecisionOption::Replay, DecisionOption::Abort],
        failure,
        telecommands,
    };
    let status =
        TelecommandKnown { id: id(), telecommand: "ping".into(), component: "tcu[2]".into(), known: Known::Left };
    vec![
        T::StepStarted { step: path(), attempt: 1, file: file(), line: 2 },
        sent(None),
        sent(Some(id())),
        T::StepFinished { step: path(), attempt: 1, outcome: StepOutcome::Passed, failure: None },
        T::StepFinished { step: path(), attempt: 1, outcome: StepOutcome::Failed, failure: Some(failure(true)) },
        T::StepFinished { step: path(), attempt: 1, outcome: StepOutcome::Skipped, failure: Some(failure(false)) },
        T::StepFinished { step: path(), attempt: 1, outcome: StepOutcome::Skipped, failure: None },
        T::StepFinished { step: path(), attempt: 1, outcome: StepOutcome::Interrupted, failure: None },
        T::CallStarted { step: path(), attempt: 1, file: file(), line: 2 },
        T::CallFinished { step: path(), attempt: 1, outcome: StepOutcome::Passed, failure: None },
        T::CallFinished { step: path(), attempt: 1, outcome: StepOutcome::Failed, failure: Some(failure(false)) },
        T::QuestionAsked {
            id: id(),
            step: path(),
            attempt: 1,
            text: "?".into(),
            choices: vec!["yes".into(), "no".into()],
            due: AT,
        },
        decision(Some(failure(true)), Vec::new()),
        decision(None, vec![status]),
        T::AttemptScheduled { step: path(), attempt: 2, due: AT },
        T::Noted { step: path(), text: String::new() },
        T::TransferRequested {
            id: id(),
            step: path(),
            attempt: 1,
            transfer: "table.bin".into(),
            target: "sim-1".into(),
            component: "tcu[2]".into(),
            due: AT,
        },
        T::RunFinished { outcome: RunOutcome::Passed, reason: None, failure: None },
        T::RunFinished { outcome: RunOutcome::Failed, reason: Some("held".into()), failure: None },
        T::RunFinished { outcome: RunOutcome::Failed, reason: Some("why".into()), failure: Some(failure(false)) },
        T::RunFinished { outcome: RunOutcome::Aborted, reason: Some("aborted by os:ada".into()), failure: None },
    ]
}

fn started(virtual_clock: bool) -> Fact {
    Fact::RunStarted {
        schema: LogSchema,
        run: ID.into(),
        procedure: "P".into(),
        targets: [("sat".into(), "sim-1".into())].into(),
        inputs: [("tcu".into(), Scalar::Int(2)), ("on".into(), Scalar::Bool(true))].into(),
        artifact: HASH.into(),
        scale: Scale::Utc,
        virtual_clock,
        links: [("sim-1".into(), "sim".into())].into(),
        by: "os:ada".into(),
    }
}

fn statuses() -> impl Iterator<Item = Fact> {
    use TelecommandStatus as S;
    let status = |status, order, stage, code: Option<&str>, reason: Option<&str>| Fact::TelecommandStatus {
        id: ID.into(),
        status,
        received_at: AT,
        order,
        stage,
        code: code.map(Into::into),
        reason: reason.map(Into::into),
    };
    [
        status(S::Released, Some(3), None, None, None),
        status(S::NotReleased, None, None, None, Some("never left: the link is down")),
        status(S::Accepted, None, None, None, None),
        status(S::Started, None, None, None, None),
        status(S::Completed, None, None, None, None),
        status(S::Failed, None, Some(Stage::Completed), Some("3 (invalid length)"), None),
        status(S::Failed, None, Some(Stage::Started), None, None),
        status(S::EncodeFailed, None, None, None, Some("no packet")),
    ]
    .into_iter()
}

fn facts() -> Vec<Fact> {
    use Fact as F;
    let (by, id) = (|| "os:ada".into(), || ID.into());
    let refused = LeaseRefusal { target: "sim-1".into(), holders: vec![id()], reason: "held".into() };
    let mut all = vec![
        started(true),
        started(false),
        F::Leases { taken: vec!["sim-1".into()], shared: true, refused: None },
        F::Leases { taken: Vec::new(), shared: false, refused: None },
        F::Leases { taken: Vec::new(), shared: false, refused: Some(refused) },
        F::Observed { pending: 3, samples: vec![sample(true), sample(false)], utc: None },
        F::Observed { pending: 3, samples: Vec::new(), utc: Some(AT) },
        F::Elapsed { pending: 3, due: AT, utc: None },
        F::Elapsed { pending: 3, due: AT, utc: Some(AT) },
    ];
    for ctl in [None, Some(1)] {
        all.extend([
            F::Answered { question: id(), value: "yes".into(), by: by(), ctl },
            F::Decided { decision: id(), option: DecisionOption::Skip, by: by(), ctl },
            F::Suspended { why: "operator".into(), by: by(), ctl },
            F::Resumed { by: by(), known: ctl.map(|_| known()).unwrap_or_default(), ctl },
            F::AbortRequested { by: by(), ctl },
            F::TakenOver { instance: "exec-a".into(), known: ctl.map(|_| known()).unwrap_or_default() },
            F::Declined { ctl, why: "it is answered".into() },
            F::TransferStatus { id: id(), status: TransferStatus::Failed, reason: ctl.map(|_| "why".into()) },
        ]);
    }
    all.extend(statuses());
    all
}

fn events() -> Vec<Value> {
    let bodies = transitions().into_iter().map(Body::Transition).chain(facts().into_iter().map(Body::Fact));
    let event = |(body, seq)| {
        let fence = matches!(body, Body::Transition(Transition::TelecommandSent { .. })).then_some(1);
        Event { seq, at: AT, epoch: 1, nonce: Some(ID.into()), fence, body }
    };
    bodies.zip(1..).map(event).map(|event| serde_json::from_str(&event.to_json().unwrap()).unwrap()).collect()
}

fn json(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

/// Asserts that the fields of a definition are those that are written, and the required ones those that always are.
fn exact(schema: &Schema, definition: &str, samples: &[Value]) {
    samples.iter().for_each(|sample| schema.accepts_as(definition, sample));
    exact_fields(definition, &[schema.definition(definition)], samples);
}

fn exact_fields(what: &str, parts: &[&Value], samples: &[Value]) {
    let keys = |sample: &Value| sample.as_object().unwrap().keys().cloned().collect::<BTreeSet<String>>();
    let written: BTreeSet<String> = samples.iter().flat_map(keys).collect();
    let always = samples.iter().map(keys).reduce(|all, one| &all & &one).expect("a sample");
    let listed = parts.iter().flat_map(|part| part["properties"].as_object().unwrap().keys().cloned());
    let required = parts.iter().flat_map(|part| part["required"].as_array().unwrap());
    assert_eq!(listed.collect::<BTreeSet<_>>(), written, "the fields of {what}");
    let required: BTreeSet<String> = required.map(|name| name.as_str().unwrap().to_owned()).collect();
    assert_eq!(required, always, "the fields that {what} always has");
}

#[test]
fn the_types_of_events_are_those_of_the_machine() {
    let schema = Schema::read("event");
    let listed = Schema::alternatives(schema.document());
    let all: BTreeSet<&str> = &variants::tagged::<Transition>() | &variants::tagged::<Fact>();
    assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), all);
    assert_eq!(listed.len(), all.len(), "each once");
    for kind in listed {
        assert_eq!(schema.definition(kind)["properties"]["type"]["const"], kind);
    }
}

#[test]
fn the_fields_of_each_type_of_event_are_those_that_the_machine_writes() {
    let schema = Schema::read("event");
    let events = events();
    for kind in Schema::alternatives(schema.document()) {
        let samples: Vec<Value> = events.iter().filter(|event| event["type"] == kind).cloned().collect();
        samples.iter().for_each(|sample| schema.accepts(kind, sample));
        // `fence` stands in the envelope of a telecommand alone, so that the schema has it there.
        exact_fields(kind, &[schema.definition("envelope"), schema.definition(kind)], &samples);
    }
    exact(&schema, "failure", &[json(failure(true)), json(failure(false))]);
    exact(&schema, "sample", &[json(sample(true)), json(sample(false))]);
    exact(&schema, "known_status", &[json(&known()[0])]);
    let decision = events.iter().find_map(|event| event["telecommands"].get(0)).unwrap();
    exact(&schema, "telecommand_known", std::slice::from_ref(decision));
    let refused = events.iter().find_map(|event| event.get("refused")).unwrap();
    exact_fields("refused", &[&schema.definition("leases")["properties"]["refused"]], std::slice::from_ref(refused));
}

#[test]
fn what_is_one_of_a_few_words_is_listed_in_full() {
    let event = Schema::read("event");
    let runs = Schema::read("runs");
    let same = |part: &Value, known: BTreeSet<&str>| {
        let listed: BTreeSet<&str> = part["enum"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        assert_eq!(listed, known, "{part:#}");
    };
    fn of<T: Deserialize<'static> + Debug>() -> BTreeSet<&'static str> {
        variants::plain::<T>()
    }
    same(event.definition("run_outcome"), of::<RunOutcome>());
    same(event.definition("step_outcome"), of::<StepOutcome>());
    same(event.definition("decision_option"), of::<DecisionOption>());
    same(event.definition("failure_code"), of::<FailureCode>());
    same(event.definition("known"), of::<Known>());
    same(event.definition("telecommand_status_kind"), of::<TelecommandStatus>());
    same(event.definition("transfer_status_kind"), of::<TransferStatus>());
    same(&event.definition("telecommand_status")["properties"]["stage"], of::<Stage>());
    same(&event.definition("run_started")["properties"]["scale"], of::<Scale>());
    same(runs.definition("record_state"), of::<ports::RunState>());
    let states = [
        RunState::New,
        RunState::Leases,
        RunState::Running,
        RunState::Suspended,
        RunState::Aborting,
        RunState::Passed,
        RunState::Failed,
        RunState::Aborted,
    ];
    let names: Vec<String> = states.iter().map(|state| json(state).as_str().unwrap().to_owned()).collect();
    same(Schema::read("show").definition("machine_state"), names.iter().map(String::as_str).collect());
}

fn record(state: ports::RunState, outcome: Option<RunOutcome>, reason: Option<&str>) -> Value {
    let record = RunRecord {
        state,
        procedure: "P".into(),
        artifact: HASH.into(),
        targets: [("sat".into(), "sim-1".into())].into(),
        inputs: [("tcu".into(), Scalar::Int(2))].into(),
        by: "os:ada".into(),
        instance: "stellar".into(),
        nonce: ID.into(),
        epoch: 1,
        requested_at: AT,
        renewed_at: AT,
        outcome,
        reason: reason.map(Into::into),
    };
    let mut row = json(record);
    // What the list adds to the record.
    row["run"] = ID.into();
    row["under_way"] = false.into();
    row
}

fn doings() -> Vec<Doing> {
    vec![
        Doing::Transition,
        Doing::Branches,
        Doing::Ended,
        Doing::Reading,
        Doing::Condition { held_since: None },
        Doing::Condition { held_since: Some(AT) },
        Doing::Telecommand { id: ID.into(), awaits: vec!["release", "accepted", "started", "completed", "until"] },
        Doing::Timer,
        Doing::Interval,
        Doing::Utc,
        Doing::Answer { question: ID.into(), text: "?".into(), choices: vec!["yes".into()] },
        Doing::Decision { decision: ID.into(), reason: "why".into(), options: vec![DecisionOption::Abort] },
        Doing::Transfer { id: ID.into(), cancel: false },
    ]
}

/// Its name in the schema; a new kind does not compile until it is here, and in [`doings`].
fn definition_of(doing: &Doing) -> &'static str {
    match doing {
        Doing::Transition => "doing_transition",
        Doing::Branches => "doing_branches",
        Doing::Ended => "doing_ended",
        Doing::Reading => "doing_reading",
        Doing::Condition { .. } => "doing_condition",
        Doing::Telecommand { .. } => "doing_telecommand",
        Doing::Timer => "doing_timer",
        Doing::Interval => "doing_interval",
        Doing::Utc => "doing_utc",
        Doing::Answer { .. } => "doing_answer",
        Doing::Decision { .. } => "doing_decision",
        Doing::Transfer { .. } => "doing_transfer",
    }
}

#[test]
fn runs_are_described_as_their_records_are_written() {
    use ports::RunState as S;
    let samples = [
        record(S::Requested, None, None),
        record(S::Suspended, None, Some("suspended by os:ada: operator")),
        record(S::Halted, None, Some("run::log-gap")),
        record(S::Ended, Some(RunOutcome::Passed), None),
        record(S::Ended, Some(RunOutcome::Failed), Some("why")),
    ];
    exact(&Schema::read("runs"), "run", &samples);
    let (runs, show) = (Schema::read("runs"), Schema::read("show"));
    let rows = &runs.definition("run")["properties"];
    let shown = &show.document()["properties"];
    for (name, part) in rows.as_object().unwrap() {
        assert_eq!(&shown[name], part, "one run is described as in the list");
    }
}

#[test]
fn the_state_of_a_machine_is_described_as_it_is_written() {
    let schema = Schema::read("show");
    let all = doings();
    let listed = Schema::alternatives(schema.definition("doing"));
    assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), all.iter().map(definition_of).collect());
    let strand = |doing: &Doing, full: bool| StrandView {
        strand: u32::from(full),
        parent: full.then_some(0),
        path: path(),
        attempt: full.then_some(1),
        file: "a.proc".into(),
        line: 3,
        statement: "wait 5 s".into(),
        doing: doing.clone(),
        pending: full.then_some(2),
        deadline: full.then_some(AT),
    };
    for name in all.iter().map(definition_of) {
        let samples: Vec<Value> = all.iter().filter(|doing| definition_of(doing) == name).map(json).collect();
        exact(&schema, name, &samples);
    }
    exact(&schema, "strand", &[json(strand(&all[0], true)), json(strand(&all[0], false))]);
    let view = |full: bool| View {
        seq: 3,
        at: full.then_some(AT),
        run: full.then(|| ID.into()),
        procedure: full.then(|| "P".into()),
        state: RunState::New,
        reason: full.then(|| "why".into()),
        started_at: full.then_some(AT),
        bound_ns: i64::MAX,
        added_ns: 0,
        strands: all.iter().map(|doing| strand(doing, full)).collect(),
        failure: full.then(|| failure(true)),
    };
    exact(&schema, "view", &[json(view(true)), json(view(false))]);
}

#[test]
fn what_check_prints_is_described_as_it_is_written() {
    let schema = Schema::read("check");
    let position = JsonPosition { line: 1, column: 1, offset: 0 };
    let label = |text: Option<&str>| JsonLabel {
        file: "a.proc".into(),
        start: position,
        end: position,
        text: text.map(Into::into),
        primary: text.is_none(),
    };
    let diagnostic = |help: Option<&str>| JsonDiagnostic {
        code: "procedure::retry-not-allowed",
        severity: "error",
        message: "this step cannot be retried".into(),
        help: help.map(Into::into),
        url: "docs/diagnostics/procedure/retry-not-allowed.md".into(),
        labels: vec![label(None), label(Some("sent here"))],
    };
    let policy = |full: bool| JsonPolicy {
        times: full.then_some(3),
        every_ns: full.then_some(2_000_000_000),
        for_ns: full.then_some(31_536_000_000_000_000),
        from: "call",
    };
    let call = |policy| JsonCall { name: "S".into(), line: 4, policy, max_ns: 0, attempts_max: u64::MAX };
    let definition = JsonDefinition {
        kind: "procedure",
        name: "P".into(),
        file: "a.proc".into(),
        line: 1,
        targets: vec![JsonTarget { name: "sat".into(), platform: "platform-v3".into() }],
        inputs: vec![
            JsonInput { name: "tcu".into(), ty: "int".into(), default: None },
            JsonInput { name: "on".into(), ty: "bool".into(), default: Some("true".into()) },
        ],
        changes_state: false,
        eligible: true,
        attempt_ns: 31_536_000_000_000_000,
        on_failure_ns: 0,
        max_ns: 31_536_000_000_000_000,
        attempts_max: 1,
        statements: 1,
        calls: vec![call(None), call(Some(policy(true))), call(Some(policy(false)))],
    };
    exact(&schema, "diagnostic", &[json(diagnostic(None)), json(diagnostic(Some("leave it out")))]);
    exact(&schema, "label", &[json(label(None)), json(label(Some("here")))]);
    exact(&schema, "position", &[json(position)]);
    exact(&schema, "definition", &[json(&definition)]);
    exact(&schema, "target", &[json(&definition.targets[0])]);
    exact(&schema, "input", &definition.inputs.iter().map(json).collect::<Vec<_>>());
    exact(&schema, "call", &definition.calls.iter().map(json).collect::<Vec<_>>());
    exact(&schema, "policy", &[json(policy(true)), json(policy(false))]);
}
