//! Walks the tree of a program: blocks, steps and calls attempt by attempt, branches side by side.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    future::{Future, poll_fn},
    pin::Pin,
    rc::Rc,
    task::Poll,
};

use serde_json::{Value as Json, json};

use super::{
    judge::{Closed, Env},
    kernel::{Attempt, Doing, Due, Failure, Fits, Kernel, Slot, Wake, What},
};
use crate::oracle::{driver::Emitted, figures::Figures, model::*, text::instant};

/// How a step's attempt, or anything outside of steps, ends early.
#[derive(Debug, Clone)]
pub(crate) enum Stop {
    /// It failed.
    Failed(Failure),
    /// Another attempt follows at once, whatever the policy says.
    Again(Option<Failure>),
    /// An operator skipped the step.
    Skip(Option<Failure>),
    /// An operator has the step fail.
    Fail(Failure),
}

pub(crate) type Done<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;
/// What was sent first at each place.
pub(crate) type Scope = Rc<RefCell<BTreeMap<Vec<u64>, String>>>;

/// The branches of a `together`: the first failure among them, and how many failures there were before.
#[derive(Default)]
pub(crate) struct Group {
    failure: RefCell<Option<(u64, Failure)>>,
}

/// Where a strand stands.
#[derive(Clone)]
pub(crate) struct Here {
    pub(crate) strand: u32,
    pub(crate) def: usize,
    pub(crate) env: Env,
    pub(crate) path: Vec<String>,
    pub(crate) attempt: Option<Rc<RefCell<Attempt>>>,
    /// Calls and turns of loops.
    pub(crate) place: Vec<u64>,
    pub(crate) scope: Option<Scope>,
    groups: Vec<Rc<Group>>,
}

impl Here {
    pub(crate) fn root(def: usize, env: Env, title: &str) -> Self {
        let path = vec![title.to_owned()];
        Self { strand: 0, def, env, path, attempt: None, place: vec![], scope: None, groups: vec![] }
    }

    /// The failure of another branch behind which nothing begins here any more.
    fn halted(&self) -> Option<Failure> {
        let failures = self.groups.iter().filter_map(|group| group.failure.borrow().clone());
        failures.min_by_key(|(order, _)| *order).map(|(_, failure)| failure)
    }

    pub(crate) fn closed(&self, expr: &Expr) -> Closed {
        Closed { expr: expr.clone(), env: self.env.clone(), own: None }
    }

    fn at(&self, place: u64) -> Self {
        let mut here = self.clone();
        here.place.push(place);
        here
    }
}

/// What is known of a step or call before it begins.
struct Site {
    path: Vec<String>,
    line: u32,
    is_call: bool,
    policy: Option<Policy>,
    eligible: bool,
    bound: Ns,
}

pub(crate) struct Interpreter {
    pub(crate) kernel: Rc<RefCell<Kernel>>,
    pub(crate) program: Rc<Program>,
    pub(crate) figures: Rc<Figures>,
}

/// Whether a failure is followed by a new attempt, where the policy has one.
fn is_retried(code: &str) -> bool {
    matches!(
        code,
        "EXPECT_FAILED"
            | "CHECK_FAILED"
            | "WAIT_FAILED"
            | "READ_FAILED"
            | "REJECTED"
            | "SEND_FAILED"
            | "VERIFY_TIMEOUT"
            | "TRANSFER_FAILED"
    )
}

/// Least distance between the starts of attempts of a policy without a count.
const FLOOR: Ns = 100 * MS;

impl Interpreter {
    /// What a strand is told once what it registered is there.
    fn told(&self, strand: u32) -> impl Future<Output = Wake> + '_ {
        poll_fn(move |_| match self.kernel.borrow_mut().slot(strand).wake.take() {
            Some(wake) => Poll::Ready(wake),
            None => Poll::Pending,
        })
    }

    /// Waits for the turn to make a transition; anything but `Granted` says that it is not made.
    pub(crate) async fn due(&self, here: &Here, due: Due) -> Wake {
        self.kernel.borrow_mut().slot(here.strand).doing = Doing::Due(due);
        self.told(here.strand).await
    }

    pub(crate) async fn wait(&self, here: &Here, what: What, deadline: Option<Ns>) -> Wake {
        self.kernel.borrow_mut().begin(here.strand, what, deadline);
        self.told(here.strand).await
    }

    /// What was registered before.
    pub(crate) async fn registered(&self, here: &Here) -> Wake {
        self.told(here.strand).await
    }

    pub(crate) fn write(&self, kind: &str, fields: Json) {
        self.kernel.borrow_mut().write(kind, fields);
    }

    /// The whole run.
    pub(crate) async fn run(&self, here: Here) -> Result<(), Stop> {
        self.procedure(&here).await
    }

    /// The body of a procedure and, where it fails, its `on failure`.
    async fn procedure(&self, here: &Here) -> Result<(), Stop> {
        let def = &self.program.defs[here.def];
        let result = self.block(here, &def.body).await;
        if result.is_err()
            && here.halted().is_none()
            && let Some(block) = &def.on_failure
        {
            self.kernel.borrow_mut().count("on failure");
            // A failure in it ends it; the first one stands.
            drop(self.block(here, block).await);
        }
        result
    }

    pub(crate) fn block<'a>(&'a self, here: &'a Here, block: &'a [Stmt]) -> Done<'a, Result<(), Stop>> {
        Box::pin(async move {
            for stmt in block {
                self.goes_on(here)?;
                self.stmt(here, stmt).await?;
            }
            self.goes_on(here)
        })
    }

    /// Outside of a step's attempt nothing goes on behind the failure of another branch.
    fn goes_on(&self, here: &Here) -> Result<(), Stop> {
        match here.halted().filter(|_| here.attempt.is_none()) {
            Some(failure) => Err(Stop::Failed(failure)),
            None => Ok(()),
        }
    }

    async fn stmt(&self, here: &Here, stmt: &Stmt) -> Result<(), Stop> {
        let holds = match &stmt.kind {
            Kind::If { .. } => Some("statement if"),
            Kind::Repeat { .. } => Some("statement repeat"),
            Kind::ForEach { over: Over::Range(..), .. } => Some("statement for each in a range"),
            Kind::ForEach { .. } => Some("statement for each in a list"),
            Kind::Together(_) => Some("statement together"),
            Kind::Step { .. } => Some("statement step"),
            Kind::Do(_) => Some("statement do"),
            Kind::Run(_) => Some("statement run"),
            _ => None,
        };
        if let Some(what) = holds {
            self.kernel.borrow_mut().count(what);
        }
        match &stmt.kind {
            Kind::If { cond, then, other } => {
                let branch = if self.condition(here, stmt, cond).await? { then } else { other };
                self.block(here, branch).await
            }
            Kind::Repeat { times, body } => {
                for turn in 0..*times {
                    self.block(&here.at(u64::from(stmt.line)).at(u64::from(turn)), body).await?;
                }
                Ok(())
            }
            Kind::ForEach { name, over, body } => {
                let values: Vec<Value> = match over {
                    Over::Range(low, high) => (*low..=*high).map(Value::Int).collect(),
                    Over::List(all) => all.iter().map(|(value, _)| value.clone()).collect(),
                };
                for (turn, value) in values.into_iter().enumerate() {
                    here.env.names.borrow_mut()[*name] = Some(value);
                    self.block(&here.at(u64::from(stmt.line)).at(turn as u64), body).await?;
                }
                Ok(())
            }
            Kind::Together(branches) => self.together(here, stmt, branches).await,
            Kind::Step { name, policy, body } => self.inline(here, stmt, name, policy.as_ref(), body).await,
            Kind::Do(call) | Kind::Run(call) => self.call(here, stmt, call).await,
            _ if here.attempt.is_some() => self.in_step(here, stmt).await,
            _ if Figures::is_step_of_its_own(stmt) => self.step_of_its_own(here, stmt).await,
            _ => self.plain(here, stmt).await,
        }
    }

    /// The condition of an `if`.
    async fn condition(&self, here: &Here, stmt: &Stmt, cond: &Expr) -> Result<bool, Stop> {
        let judged = RefCell::new(false);
        if here.attempt.is_some() {
            self.judged_in_step(here, stmt, cond, &judged).await?;
        } else if cond.can_fail() {
            let site = self.unwritten(here, stmt);
            let body = |here: Here| -> Done<'_, Result<(), Stop>> {
                let judged = &judged;
                Box::pin(async move { self.judged_in_step(&here, stmt, cond, judged).await })
            };
            self.attempts(here, site, &body).await?;
            self.goes_on(here)?;
        } else {
            let catalogue = &self.program.catalogue;
            *judged.borrow_mut() = here.closed(cond).evaluate(catalogue, &|_, _, _| None, 0, None).is_true();
        }
        Ok(judged.into_inner())
    }

    /// A statement that stands directly in a procedure and can fail.
    fn unwritten(&self, here: &Here, stmt: &Stmt) -> Site {
        let mut path = here.path.clone();
        path.push(stmt.text.clone());
        let bound = self.figures.longest(&self.program, stmt);
        Site { path, line: stmt.line, is_call: false, policy: None, eligible: true, bound }
    }

    async fn step_of_its_own(&self, here: &Here, stmt: &Stmt) -> Result<(), Stop> {
        let body =
            |here: Here| -> Done<'_, Result<(), Stop>> { Box::pin(async move { self.in_step(&here, stmt).await }) };
        self.attempts(here, self.unwritten(here, stmt), &body).await
    }

    async fn inline(
        &self,
        here: &Here,
        stmt: &Stmt,
        name: &str,
        policy: Option<&Policy>,
        block: &[Stmt],
    ) -> Result<(), Stop> {
        let figures = self.figures.of_inline(&self.program, policy, block);
        let mut path = here.path.clone();
        path.push(name.to_owned());
        let (eligible, bound) = (figures.eligible, figures.attempt);
        let site = Site { path, line: stmt.line, is_call: false, policy: figures.policy, eligible, bound };
        let inner = here.at(u64::from(stmt.line));
        let body =
            |here: Here| -> Done<'_, Result<(), Stop>> { Box::pin(async move { self.block(&here, block).await }) };
        self.attempts(&inner, site, &body).await
    }

    async fn call(&self, here: &Here, stmt: &Stmt, call: &Call) -> Result<(), Stop> {
        let callee = &self.program.defs[call.def];
        let mut inputs = Vec::new();
        for (input, given) in callee.inputs.iter().zip(&call.inputs) {
            let value = match given {
                None => input.default.as_ref().map(|(value, _)| value.clone()),
                Some(given) => Some(self.input(here, stmt, given).await?),
            };
            inputs.push((input.name, value));
        }
        let figures = self.figures.of_call(&self.program, call);
        let mut path = here.path.clone();
        path.push(callee.title.clone());
        let site = Site {
            path: path.clone(),
            line: stmt.line,
            is_call: !callee.is_step,
            policy: figures.policy,
            eligible: figures.eligible,
            bound: figures.attempt,
        };
        let targets: Vec<_> = call.targets.iter().map(|at| here.env.targets[*at]).collect();
        let inner = here.at(u64::from(stmt.line));
        let body = |mut here: Here| -> Done<'_, Result<(), Stop>> {
            let mut names = vec![None; callee.names.len()];
            for (name, value) in &inputs {
                names[*name].clone_from(value);
            }
            here.env = Env { names: Rc::new(RefCell::new(names)), targets: Rc::new(targets.clone()) };
            here.def = call.def;
            here.path.clone_from(&path);
            Box::pin(async move {
                if callee.is_step { self.block(&here, &callee.body).await } else { self.procedure(&here).await }
            })
        };
        self.attempts(&inner, site, &body).await
    }

    /// The value of an input; one that can be without is read by a step of its own.
    async fn input(&self, here: &Here, stmt: &Stmt, given: &Expr) -> Result<Value, Stop> {
        let value = RefCell::new(None);
        if given.can_fail() {
            let mut site = self.unwritten(here, stmt);
            site.bound = 0;
            let body = |here: Here| -> Done<'_, Result<(), Stop>> {
                let value = &value;
                Box::pin(async move { self.read_in_step(&here, stmt, given, value).await })
            };
            self.attempts(here, site, &body).await?;
            self.goes_on(here)?;
        } else {
            let catalogue = &self.program.catalogue;
            *value.borrow_mut() = here.closed(given).evaluate(catalogue, &|_, _, _| None, 0, None).value;
        }
        Ok(value.into_inner().expect("a value"))
    }

    /// A step or call, attempt by attempt.
    async fn attempts<'f>(
        &self,
        here: &Here,
        site: Site,
        body: &(dyn Fn(Here) -> Done<'f, Result<(), Stop>> + 'f),
    ) -> Result<(), Stop> {
        let result = self.attempted(here, &site, body).await;
        if !site.is_call {
            self.kernel.borrow_mut().slot(here.strand).attempt = None;
        }
        result
    }

    async fn attempted<'f>(
        &self,
        here: &Here,
        site: &Site,
        body: &(dyn Fn(Here) -> Done<'f, Result<(), Stop>> + 'f),
    ) -> Result<(), Stop> {
        let (mut number, mut used, mut ordered) = (1_u32, 0, false);
        let mut failed: Option<Failure> = None;
        let mut fits: Option<Fits> = None;
        let mut inner = here.clone();
        loop {
            let due = Due { between: !ordered, fits: fits.filter(|_| !ordered && number > 1), ..Due::default() };
            if !matches!(self.due(here, due).await, Wake::Granted) {
                return Err(Stop::Failed(failed.or(here.halted()).expect("a failure")));
            }
            self.begin(here, &mut inner, site, number, &mut fits);
            let start = self.kernel.borrow().now;
            let result = body(inner.clone()).await;
            let (outcome, failure, again, retry) = match result {
                Ok(()) => ("passed", None, false, false),
                Err(Stop::Failed(failure)) => {
                    let left = site.policy.is_some_and(|it| it.times.is_none_or(|times| used < times));
                    let retry = left && is_retried(failure.code);
                    ("failed", Some(failure), false, retry)
                }
                Err(Stop::Again(None)) => ("interrupted", None, true, false),
                Err(Stop::Again(failure)) => ("failed", failure, true, false),
                Err(Stop::Skip(failure)) => ("skipped", failure, false, false),
                Err(Stop::Fail(failure)) => ("failed", Some(failure), false, false),
            };
            self.due(here, Due::default()).await;
            self.finish(here, site, number, outcome, failure.as_ref());
            ordered = again;
            if !again {
                if matches!(outcome, "passed" | "skipped") {
                    return Ok(());
                }
                let due = self.next_start(site, start, fits).filter(|_| retry && here.halted().is_none());
                let Some(due) = due else { return Err(Stop::Failed(failure.expect("a failure"))) };
                number += 1;
                used += 1;
                self.schedule(here, site, number, due, failure.as_ref()).await?;
            } else {
                number += 1;
            }
            failed = failure;
        }
    }

    /// The start of an attempt is logged.
    fn begin(&self, here: &Here, inner: &mut Here, site: &Site, number: u32, fits: &mut Option<Fits>) {
        let mut kernel = self.kernel.borrow_mut();
        if number == 1 {
            let begin = kernel.active(kernel.now);
            let total = site.policy.and_then(|policy| policy.total);
            *fits = total.map(|total| Fits { begin, bound: site.bound, total });
        }
        let kind = if site.is_call { "call_started" } else { "step_started" };
        kernel.write(kind, json!({"step": site.path, "attempt": number, "file": FILE, "line": site.line}));
        if here.scope.is_none() && inner.scope.is_none() && (!site.is_call || site.policy.is_some()) {
            inner.scope = Some(Scope::default());
        }
        if !site.is_call {
            let attempt = Rc::new(RefCell::new(Attempt {
                path: site.path.clone(),
                number,
                start: kernel.now,
                start_order: kernel.max_order,
                bound: site.bound,
                eligible: site.eligible,
                sent: Vec::new(),
                transferred: false,
            }));
            inner.attempt = Some(Rc::clone(&attempt));
            let slot = kernel.slot(here.strand);
            slot.attempt = Some(attempt);
            slot.in_step = true;
        }
    }

    fn finish(&self, here: &Here, site: &Site, number: u32, outcome: &str, failure: Option<&Failure>) {
        let mut kernel = self.kernel.borrow_mut();
        kernel.slot(here.strand).in_step = false;
        let kind = if site.is_call { "call_finished" } else { "step_finished" };
        let failure = failure.map(Failure::json);
        kernel.write(kind, json!({"step": site.path, "attempt": number, "outcome": outcome, "failure": failure}));
        kernel.count(&format!("{kind}: {outcome}"));
    }

    /// When the next attempt starts by the policy, the one before ending now; none where it does not fit any more.
    fn next_start(&self, site: &Site, start: Ns, fits: Option<Fits>) -> Option<Ns> {
        let kernel = self.kernel.borrow();
        let policy = site.policy?;
        let every = policy.every.unwrap_or(0);
        let interval = if policy.times.is_none() { every.max(FLOOR) } else { every };
        let due = (start + interval).max(kernel.now);
        kernel.fits(fits, due).then_some(due)
    }

    async fn schedule(
        &self,
        here: &Here,
        site: &Site,
        number: u32,
        due: Ns,
        failed: Option<&Failure>,
    ) -> Result<(), Stop> {
        let gone = || Err(Stop::Failed(failed.cloned().expect("a failure")));
        if !matches!(self.due(here, Due { between: true, ..Due::default() }).await, Wake::Granted) {
            return gone();
        }
        self.write("attempt_scheduled", json!({"step": site.path, "attempt": number, "due": instant(due)}));
        self.kernel.borrow_mut().emitted = Emitted::Scheduled { due };
        if due <= self.kernel.borrow().now {
            return Ok(());
        }
        match self.wait(here, What::Interval, Some(due)).await {
            Wake::Done => Ok(()),
            _ => gone(),
        }
    }

    /// The branches side by side; ends when all have.
    async fn together(&self, here: &Here, stmt: &Stmt, branches: &[Vec<Stmt>]) -> Result<(), Stop> {
        let group = Rc::new(Group::default());
        let mut heres = Vec::new();
        for (at, _) in branches.iter().enumerate() {
            let mut branch = here.at(u64::from(stmt.line)).at(at as u64);
            branch.groups.push(Rc::clone(&group));
            branch.strand = self.fork(here.strand, at);
            heres.push(branch);
        }
        self.kernel.borrow_mut().slot(here.strand).doing = Doing::Branches;
        let mut open: Vec<_> =
            heres.iter().zip(branches).map(|(here, block)| Some((here, self.block(here, block)))).collect();
        poll_fn(|cx| {
            loop {
                for branch in &mut open {
                    let Some((of, running)) = branch else { continue };
                    let Poll::Ready(result) = running.as_mut().poll(cx) else { continue };
                    let strand = of.strand;
                    *branch = None;
                    self.branch_ended(here.strand, strand, &group, result.err());
                }
                if open.iter().all(Option::is_none) {
                    return Poll::Ready(());
                }
                let told = heres.iter().any(|branch| self.is_told(branch.strand));
                if !told {
                    return Poll::Pending;
                }
            }
        })
        .await;
        {
            let mut kernel = self.kernel.borrow_mut();
            kernel.slots.retain(|slot| slot.parent != Some(here.strand));
            kernel.slot(here.strand).doing = Doing::Running;
        }
        match group.failure.borrow().clone() {
            Some((_, failure)) => Err(Stop::Failed(failure)),
            None => Ok(()),
        }
    }

    /// Whether a strand, or one below it, was told something that it has not taken.
    fn is_told(&self, strand: u32) -> bool {
        let kernel = self.kernel.borrow();
        let mut below = vec![strand];
        let mut told = false;
        for slot in &kernel.slots {
            if slot.id == strand || slot.parent.is_some_and(|parent| below.contains(&parent)) {
                below.push(slot.id);
                told |= slot.wake.is_some();
            }
        }
        told
    }

    /// A new strand behind its parent and the branches before it.
    fn fork(&self, parent: u32, at: usize) -> u32 {
        let mut kernel = self.kernel.borrow_mut();
        kernel.last_strand += 1;
        let id = kernel.last_strand;
        let above = kernel.slots.iter().position(|slot| slot.id == parent).expect("a strand");
        let slot = Slot { id, parent: Some(parent), doing: Doing::Running, wake: None, attempt: None, in_step: false };
        kernel.slots.insert(above + 1 + at, slot);
        id
    }

    fn branch_ended(&self, parent: u32, strand: u32, group: &Group, stop: Option<Stop>) {
        let mut kernel = self.kernel.borrow_mut();
        kernel.slot(strand).doing = Doing::Ended;
        let Some(Stop::Failed(failure)) = stop else { return };
        if group.failure.borrow().is_none() {
            kernel.count("together: a branch fails");
            let order = kernel.tally.values().sum();
            *group.failure.borrow_mut() = Some((order, failure));
            kernel.halt(parent);
        }
    }
}
