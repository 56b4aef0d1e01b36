//! The statements that hold no others: what each does, and what an operator can decide of it.

use std::cell::RefCell;

use serde_json::json;

use super::{
    judge::Closed,
    kernel::{Attempt, Due, Failure, Kernel, Requires, Wake, What, Window},
    run::{Done, Here, Interpreter, Stop},
};
use crate::oracle::{
    driver::Emitted,
    model::*,
    text::{instant, scalar, words},
    world::{Known, Opt, Sample},
};

/// How a statement of a step did not end well.
pub(super) enum Trouble {
    Failed(Failure),
    Interrupted { taken_over: bool, recheck: Option<Recheck> },
}

/// How a statement is taken up again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recheck {
    Statement,
    Verification,
    Timer(Ns),
}

/// A statement, run once: from its beginning or as a `recheck` takes it up.
type Leaf<'a> = &'a dyn Fn(Option<Recheck>) -> Done<'a, Result<(), Trouble>>;

fn recheck_after(code: &str) -> Option<Recheck> {
    match code {
        "EXPECT_FAILED" | "CHECK_FAILED" | "WAIT_FAILED" | "READ_FAILED" => Some(Recheck::Statement),
        "VERIFY_TIMEOUT" => Some(Recheck::Verification),
        _ => None,
    }
}

fn option_word(option: Opt) -> &'static str {
    match option {
        Opt::Replay => "replay",
        Opt::Skip => "skip",
        Opt::Fail => "fail",
        Opt::Abort => "abort",
        Opt::Recheck => "recheck",
    }
}

impl Interpreter {
    fn failure(&self, stmt: &Stmt, code: &'static str, message: String) -> Failure {
        Failure { code, message, line: stmt.line, statement: stmt.text.clone(), telecommand: None }
    }

    pub(super) fn failed(&self, stmt: &Stmt, code: &'static str, message: String) -> Trouble {
        self.kernel.borrow_mut().count(&format!("failure {code}"));
        Trouble::Failed(self.failure(stmt, code, message))
    }

    /// A statement of a step.
    pub(crate) async fn in_step(&self, here: &Here, stmt: &Stmt) -> Result<(), Stop> {
        self.decided(here, stmt, &|recheck| Box::pin(self.leaf(here, stmt, recheck))).await
    }

    /// The condition of an `if`, in a step.
    pub(crate) async fn judged_in_step(
        &self,
        here: &Here,
        stmt: &Stmt,
        cond: &Expr,
        into: &RefCell<bool>,
    ) -> Result<(), Stop> {
        let leaf = |_| -> Done<'_, Result<(), Trouble>> {
            Box::pin(async move {
                let (truth, told) = self.judge(here, stmt, cond).await?;
                match truth {
                    Some(truth) => *into.borrow_mut() = truth,
                    None => return Err(self.failed(stmt, "CHECK_FAILED", format!("not satisfied, {told}"))),
                }
                Ok(())
            })
        };
        self.decided(here, stmt, &leaf).await
    }

    /// A value for an input of a call, read by a step of its own.
    pub(crate) async fn read_in_step(
        &self,
        here: &Here,
        stmt: &Stmt,
        value: &Expr,
        into: &RefCell<Option<Value>>,
    ) -> Result<(), Stop> {
        let leaf = |_| -> Done<'_, Result<(), Trouble>> {
            Box::pin(async move {
                *into.borrow_mut() = Some(self.value(here, stmt, value).await?);
                Ok(())
            })
        };
        self.decided(here, stmt, &leaf).await
    }

    /// A statement of a step with what its failure or interruption comes to.
    async fn decided(&self, here: &Here, stmt: &Stmt, leaf: Leaf<'_>) -> Result<(), Stop> {
        let attempt = here.attempt.as_ref().expect("an attempt");
        let mut mode = None;
        loop {
            let (reason, failure, recheck, interrupted) = match leaf(mode).await {
                Ok(()) => return Ok(()),
                Err(Trouble::Failed(failure)) => {
                    if attempt.borrow().eligible {
                        return Err(Stop::Failed(failure));
                    }
                    let recheck = recheck_after(failure.code);
                    (failure.told(), Some(failure), recheck, false)
                }
                Err(Trouble::Interrupted { taken_over, recheck }) => {
                    let attempt = attempt.borrow();
                    if !attempt.changed_state(&self.program.catalogue) && !attempt.transferred {
                        let mut kernel = self.kernel.borrow_mut();
                        kernel.added += attempt.bound;
                        kernel.count("interrupted: a new attempt");
                        return Err(Stop::Again(None));
                    }
                    let never_left = attempt.sent.last().is_some_and(|sent| sent.knowledge() == Known::NeverLeft);
                    let recheck = recheck.filter(|how| *how != Recheck::Verification || !never_left);
                    let what = if taken_over { "a restart" } else { "a suspension" };
                    let reason = format!("interrupted by {what} after a telecommand changing the on-board state");
                    (reason, None, recheck, true)
                }
            };
            mode = Some(self.decision(here, stmt, reason, failure, recheck, interrupted).await?);
        }
    }

    /// An operator decides; gives how the statement is taken up again where that is it.
    async fn decision(
        &self,
        here: &Here,
        stmt: &Stmt,
        reason: String,
        failure: Option<Failure>,
        recheck: Option<Recheck>,
        interrupted: bool,
    ) -> Result<Recheck, Stop> {
        let attempt = here.attempt.as_ref().expect("an attempt");
        let mut options = vec![Opt::Replay, Opt::Skip, Opt::Fail, Opt::Abort];
        options.extend(recheck.map(|_| Opt::Recheck));
        self.due(here, Due::default()).await;
        let id = {
            let mut kernel = self.kernel.borrow_mut();
            let id = kernel.identifier();
            let attempt = attempt.borrow();
            let known = if interrupted { self.known(&attempt) } else { json!(null) };
            kernel.write(
                "decision_required",
                json!({
                    "id": id, "step": attempt.path, "attempt": attempt.number, "reason": reason,
                    "options": options.iter().map(|it| option_word(*it)).collect::<Vec<_>>(),
                    "failure": failure.as_ref().map(Failure::json), "telecommands": known,
                }),
            );
            kernel.emitted = Emitted::Decision { id: id.clone(), options: options.clone() };
            kernel.count(if interrupted { "decision after an interruption" } else { "decision after a failure" });
            id
        };
        let Wake::Decided(option) = self.wait(here, What::Decision { id, options }, None).await else {
            unreachable!("a decision is decided")
        };
        let mut kernel = self.kernel.borrow_mut();
        kernel.count(&format!("decided {}", option_word(option)));
        match option {
            Opt::Replay => {
                kernel.added += attempt.borrow().bound;
                Err(Stop::Again(failure))
            }
            Opt::Skip => Err(Stop::Skip(failure)),
            Opt::Fail => Err(Stop::Fail(
                failure.unwrap_or_else(|| self.failure(stmt, "FAILED", format!("{reason}; ann decided `fail`"))),
            )),
            Opt::Recheck => {
                kernel.added += within(&self.program, stmt);
                Ok(recheck.expect("a way to judge it again"))
            }
            Opt::Abort => unreachable!("an abort ends the run"),
        }
    }

    /// What is known of each telecommand of an attempt.
    fn known(&self, attempt: &Attempt) -> serde_json::Value {
        let mut all = Vec::new();
        for sent in &attempt.sent {
            let of = &self.program.catalogue.telecommands[sent.telecommand];
            let known = match sent.knowledge() {
                Known::Left => "left",
                Known::NeverLeft => "never left",
                Known::MayHaveLeft => "may have left",
            };
            let component = self.component(of.component, sent.index);
            all.push(json!({"id": sent.id, "telecommand": of.name, "component": component, "known": known}));
        }
        if all.is_empty() { json!(null) } else { json!(all) }
    }

    pub(super) fn component(&self, component: usize, index: Option<i64>) -> String {
        let name = self.program.catalogue.components[component].name;
        index.map_or_else(|| name.to_owned(), |index| format!("{name}[{index}]"))
    }

    async fn leaf(&self, here: &Here, stmt: &Stmt, recheck: Option<Recheck>) -> Result<(), Trouble> {
        if let (Some(Recheck::Verification), Kind::Send(send)) = (recheck, &stmt.kind) {
            return self.verification(here, stmt, send).await;
        }
        match &stmt.kind {
            Kind::Send(send) => self.send(here, stmt, send).await,
            Kind::Expect { cond, held, within } => self.window(here, stmt, cond, *held, *within, true).await,
            Kind::WaitUntil { cond, within } => self.window(here, stmt, cond, None, *within, false).await,
            Kind::Check(cond) => {
                self.kernel.borrow_mut().count("statement check");
                let (truth, told) = self.judge(here, stmt, cond).await?;
                if truth == Some(true) {
                    return Ok(());
                }
                Err(self.failed(stmt, "CHECK_FAILED", format!("not satisfied, {told}")))
            }
            Kind::Wait(ns) => {
                self.kernel.borrow_mut().count("statement wait");
                let due = match recheck {
                    Some(Recheck::Timer(due)) => due,
                    _ if *ns == 0 => return Ok(()),
                    _ => self.kernel.borrow().now + ns,
                };
                let wake = self.wait(here, What::Timer, Some(due)).await;
                self.ended(stmt, wake, Some(Recheck::Timer(due)))
            }
            Kind::WaitTime { time, within } => self.wait_time(here, stmt, time, *within).await,
            Kind::Ask(ask) => self.ask(here, stmt, ask).await,
            Kind::Transfer { .. } => self.transfer(here, stmt).await,
            Kind::Let { name, value } => {
                self.kernel.borrow_mut().count("statement let");
                let value = self.value(here, stmt, value).await?;
                here.env.names.borrow_mut()[*name] = Some(value);
                Ok(())
            }
            Kind::Note(parts) => {
                let text = self.text(here, parts);
                let due = Due { of_statement: true, ..Due::default() };
                self.granted(here, due).await?;
                self.note(here, &text);
                Ok(())
            }
            Kind::Fail(text) => {
                self.kernel.borrow_mut().count("statement fail");
                Err(self.failed(stmt, "FAILED", text.clone()))
            }
            _ => unreachable!("it holds others"),
        }
    }

    /// A statement outside of steps that cannot fail.
    pub(crate) async fn plain(&self, here: &Here, stmt: &Stmt) -> Result<(), Stop> {
        match &stmt.kind {
            Kind::Wait(ns) => {
                self.kernel.borrow_mut().count("statement wait");
                if *ns > 0 {
                    let due = self.kernel.borrow().now + ns;
                    self.wait(here, What::Timer, Some(due)).await;
                }
            }
            Kind::Note(parts) => {
                let text = self.text(here, parts);
                self.due(here, Due::default()).await;
                self.note(here, &text);
            }
            Kind::Let { name, value } => {
                self.kernel.borrow_mut().count("statement let");
                let value = here.closed(value).evaluate(&self.program.catalogue, &|_, _, _| None, 0, None).value;
                here.env.names.borrow_mut()[*name] = value;
            }
            _ => unreachable!("it can fail"),
        }
        Ok(())
    }

    fn note(&self, here: &Here, text: &str) {
        let path = here.attempt.as_ref().map_or_else(|| here.path.clone(), |attempt| attempt.borrow().path.clone());
        self.write("noted", json!({"step": path, "text": text}));
        self.kernel.borrow_mut().count("statement note");
    }

    fn text(&self, here: &Here, parts: &[Part]) -> String {
        let def = &self.program.defs[here.def];
        let names = here.env.names.borrow();
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Name(name) => {
                    let value = names[*name].as_ref().expect("a name in scope has a value");
                    text.push_str(&words(&scalar(&self.program.catalogue, value), &def.names[*name].1));
                }
            }
        }
        text
    }

    /// Waits for the turn to make the transition of a statement.
    async fn granted(&self, here: &Here, due: Due) -> Result<(), Trouble> {
        match self.due(here, due).await {
            Wake::Granted => Ok(()),
            Wake::Interrupted { taken_over } => {
                Err(Trouble::Interrupted { taken_over, recheck: Some(Recheck::Statement) })
            }
            other => unreachable!("{other:?} for a transition"),
        }
    }

    pub(super) fn ended(&self, stmt: &Stmt, wake: Wake, recheck: Option<Recheck>) -> Result<(), Trouble> {
        match wake {
            Wake::Done => Ok(()),
            Wake::Failed(code, message) => Err(self.failed(stmt, code, message)),
            Wake::Interrupted { taken_over } => Err(Trouble::Interrupted { taken_over, recheck }),
            other => unreachable!("{other:?} for a statement"),
        }
    }

    /// The samples of now for expressions, where they read any.
    pub(super) async fn samples(
        &self,
        here: &Here,
        all: Vec<Closed>,
        requires: Option<Requires>,
    ) -> Result<Vec<Sample>, Trouble> {
        if requires.is_none() && !all.iter().any(|one| one.expr.reads_telemetry()) {
            return Ok(Vec::new());
        }
        match self.wait(here, What::Reading(all, requires), None).await {
            Wake::Samples(samples) => Ok(samples),
            Wake::Interrupted { taken_over } => {
                Err(Trouble::Interrupted { taken_over, recheck: Some(Recheck::Statement) })
            }
            other => unreachable!("{other:?} for a reading"),
        }
    }

    /// A condition of now: its truth, and in words.
    async fn judge(&self, here: &Here, _stmt: &Stmt, cond: &Expr) -> Result<(Option<bool>, String), Trouble> {
        let closed = here.closed(cond);
        let samples = self.samples(here, vec![closed.clone()], None).await?;
        let now = self.kernel.borrow().now;
        let catalogue = &self.program.catalogue;
        let outcome = closed.evaluate(catalogue, &super::waits::listed(&samples), now, None);
        let truth = match outcome.value {
            Some(Value::Bool(truth)) => Some(truth),
            _ => None,
        };
        Ok((truth, outcome.told(catalogue)))
    }

    async fn value(&self, here: &Here, stmt: &Stmt, value: &Expr) -> Result<Value, Trouble> {
        let closed = here.closed(value);
        let samples = self.samples(here, vec![closed.clone()], None).await?;
        let now = self.kernel.borrow().now;
        let catalogue = &self.program.catalogue;
        let outcome = closed.evaluate(catalogue, &super::waits::listed(&samples), now, None);
        match outcome.value {
            Some(ref value) => Ok(value.clone()),
            None => {
                let told = outcome.told(catalogue);
                let why = told.strip_prefix("unknown: ").unwrap_or("arithmetic gives none").to_owned();
                Err(self.failed(stmt, "READ_FAILED", format!("the value is not known: {why}")))
            }
        }
    }

    async fn window(
        &self,
        here: &Here,
        stmt: &Stmt,
        cond: &Expr,
        held: Option<Ns>,
        within: Ns,
        expect: bool,
    ) -> Result<(), Trouble> {
        let what = if expect { "statement expect" } else { "statement wait until" };
        let now = {
            let mut kernel = self.kernel.borrow_mut();
            kernel.count(if held.is_some() { "statement expect held for" } else { what });
            kernel.now
        };
        let (cond, limit) = (here.closed(cond), now + within);
        let window = Window { cond, expect, held, within, limit, from: now, held_since: None, last: Vec::new() };
        let wake = self.wait(here, What::Window(Box::new(window)), Some(limit)).await;
        self.ended(stmt, wake, Some(Recheck::Statement))
    }

    async fn wait_time(&self, here: &Here, stmt: &Stmt, time: &Expr, within: Ns) -> Result<(), Trouble> {
        self.kernel.borrow_mut().count("statement wait until time");
        let closed = here.closed(time);
        let samples = self.samples(here, vec![closed.clone()], None).await?;
        let now = self.kernel.borrow().now;
        let catalogue = &self.program.catalogue;
        let outcome = closed.evaluate(catalogue, &super::waits::listed(&samples), now, None);
        let Some(Value::Time(until)) = outcome.value else {
            return Err(self.failed(stmt, "WAIT_FAILED", format!("not satisfied, {}", outcome.told(catalogue))));
        };
        let wake = self.wait(here, What::Utc { until, first: true, within }, Some(now + within)).await;
        self.ended(stmt, wake, Some(Recheck::Statement))
    }

    async fn ask(&self, here: &Here, stmt: &Stmt, ask: &Ask) -> Result<(), Trouble> {
        self.granted(here, Due { of_statement: true, ..Due::default() }).await?;
        let mut choices: Vec<String> = ask.choices.iter().map(|choice| (*choice).to_owned()).collect();
        if choices.is_empty() {
            choices = vec!["yes".to_owned(), "no".to_owned()];
        }
        let (id, due) = {
            let mut kernel = self.kernel.borrow_mut();
            let (id, due) = (kernel.identifier(), kernel.now + ask.within);
            let attempt = here.attempt.as_ref().expect("an attempt").borrow();
            kernel.write(
                "question_asked",
                json!({
                    "id": id, "step": attempt.path, "attempt": attempt.number, "text": ask.text, "choices": choices,
                    "due": instant(due),
                }),
            );
            kernel.emitted = Emitted::Asked { id: id.clone(), choices: choices.clone(), due };
            kernel.count(if ask.choices.is_empty() { "statement ask" } else { "statement ask of" });
            (id, due)
        };
        let what = What::Answer { id, choices, within: ask.within };
        let value = match self.wait(here, what, Some(due)).await {
            Wake::Answered(value) => value,
            wake => return self.ended(stmt, wake, Some(Recheck::Statement)),
        };
        if ask.choices.is_empty() && value == "no" {
            return Err(self.failed(stmt, "ASK_REFUSED", "answered `no` by ann".to_owned()));
        }
        if let Some(name) = ask.name {
            here.env.names.borrow_mut()[name] = Some(Value::Str(value));
        }
        Ok(())
    }

    async fn transfer(&self, here: &Here, stmt: &Stmt) -> Result<(), Trouble> {
        let Kind::Transfer { file, target, component, index, within } = &stmt.kind else { return Ok(()) };
        let catalogue = &self.program.catalogue;
        let mut at = None;
        if let Some(index) = index {
            let closed = here.closed(index);
            let samples = self.samples(here, vec![closed.clone()], None).await?;
            let now = self.kernel.borrow().now;
            let value = closed.evaluate(catalogue, &super::waits::listed(&samples), now, None).value;
            let (low, high) = catalogue.components[*component].index.expect("an array");
            match value {
                Some(Value::Int(value)) if (low..=high).contains(&value) => at = Some(value),
                _ => {
                    let name = catalogue.components[*component].name;
                    let message = format!("the index of `{name}` is not known");
                    return Err(self.failed(stmt, "TRANSFER_NOT_CREATED", message));
                }
            }
        }
        self.granted(here, Due { of_statement: true, ..Due::default() }).await?;
        let (id, due) = {
            let mut kernel = self.kernel.borrow_mut();
            let (id, due) = (kernel.identifier(), kernel.now + within);
            let mut attempt = here.attempt.as_ref().expect("an attempt").borrow_mut();
            attempt.transferred = true;
            kernel.write(
                "transfer_requested",
                json!({
                    "id": id, "step": attempt.path, "attempt": attempt.number, "transfer": file,
                    "target": here.env.targets[*target], "component": self.component(*component, at),
                    "due": instant(due),
                }),
            );
            kernel.emitted = Emitted::Transfer { id: id.clone(), due };
            kernel.count("statement transfer");
            (id, due)
        };
        let what = What::Transfer { id, within: *within, cancel: None };
        let wake = self.wait(here, what, Some(due)).await;
        self.ended(stmt, wake, None)
    }
}

/// What a statement that is judged again adds to the bound.
pub(crate) fn within(program: &Program, stmt: &Stmt) -> Ns {
    match &stmt.kind {
        Kind::Send(send) => program.catalogue.telecommands[send.telecommand].window,
        Kind::Ask(ask) => ask.within,
        Kind::Expect { within, .. } | Kind::WaitUntil { within, .. } | Kind::WaitTime { within, .. } => *within,
        _ => 0,
    }
}

impl Kernel {
    /// What a statement that goes on after a takeover adds to the bound: what it waits for counts anew.
    pub(crate) fn anew(&mut self, strand: u32, at: Ns) {
        let program = std::rc::Rc::clone(&self.program);
        let slot = self.slot(strand);
        let sent = slot.attempt.as_ref().and_then(|attempt| attempt.borrow().sent.last().map(|sent| sent.telecommand));
        let super::kernel::Doing::Wait { deadline, what, .. } = &mut slot.doing else { return };
        let within = match what {
            What::Window(window) => {
                window.limit = at + window.within;
                if window.held_since.is_none() {
                    *deadline = Some(window.limit);
                }
                window.within
            }
            What::Answer { within, .. } => {
                *deadline = Some(at + *within);
                *within
            }
            What::Verification { from, .. } => {
                *from = at;
                program.catalogue.telecommands[sent.expect("a telecommand")].window
            }
            _ => return,
        };
        self.added += within;
        self.verify(strand);
    }
}
