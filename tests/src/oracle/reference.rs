//! The reference interpreter: slow and plain, from the text alone. Strands are futures over one kernel that knows what
//! each waits for; polled whenever one of them was told something.

use std::{
    cell::RefCell,
    future::Future,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use serde_json::{Value as Json, json};

use self::{
    judge::Env,
    kernel::{Doing, Ending, Kernel, Leasing, Slot, Wake, What},
    run::{Here, Interpreter, Stop},
};
use super::{
    driver::{Emitted, Fact, Side, Wanted},
    figures::Figures,
    model::*,
    text::instant,
    world::{Sample, TARGETS, TransferEnd},
};

mod facts;
mod judge;
mod kernel;
mod run;
mod send;
mod statements;
mod waits;

/// The end of the run's own procedure.
type Running = Pin<Box<dyn Future<Output = Result<(), Stop>>>>;

pub(super) struct Reference {
    kernel: Rc<RefCell<Kernel>>,
    program: Rc<Program>,
    figures: Rc<Figures>,
    running: Option<Running>,
}

impl Reference {
    pub(super) fn new(program: &Rc<Program>, figures: &Rc<Figures>) -> Self {
        let kernel = Rc::new(RefCell::new(Kernel::new(program)));
        Self { kernel, program: Rc::clone(program), figures: Rc::clone(figures), running: None }
    }

    pub(super) fn log(&self) -> Vec<Json> {
        self.kernel.borrow().log.clone()
    }

    pub(super) fn tally(&self) -> std::collections::BTreeMap<String, u64> {
        self.kernel.borrow().tally.clone()
    }

    /// What was added to the bound.
    pub(super) fn added(&self) -> Ns {
        let kernel = self.kernel.borrow();
        kernel.added + kernel.quiet_since.map_or(0, |since| kernel.now - since)
    }

    /// Lets every strand go on as far as it can.
    fn poll(&mut self) {
        loop {
            {
                let kernel = self.kernel.borrow();
                if kernel.ending.is_some() || kernel.ended {
                    return;
                }
            }
            let Some(running) = &mut self.running else { return };
            let mut context = Context::from_waker(Waker::noop());
            if let Poll::Ready(result) = running.as_mut().poll(&mut context) {
                self.running = None;
                let mut kernel = self.kernel.borrow_mut();
                kernel.ending = Some(match result {
                    Err(Stop::Failed(failure)) => {
                        Ending { outcome: "failed", reason: Some(failure.told()), failure: Some(failure) }
                    }
                    _ => Ending { outcome: "passed", reason: None, failure: None },
                });
                return;
            }
            let told = self.kernel.borrow().slots.iter().any(|slot| slot.wake.is_some());
            if !told {
                return;
            }
        }
    }

    /// Attempts whose time has come and that no longer fit end first.
    fn settle(&mut self, now: Ns) {
        while self.kernel.borrow_mut().misfit(now) {
            self.poll();
        }
    }

    /// The first strand begins.
    fn start(&mut self) {
        let entry = self.program.entry;
        let def = &self.program.defs[entry];
        let mut names = vec![None; def.names.len()];
        for input in &def.inputs {
            names[input.name] = self.program.inputs.get(&def.names[input.name].0).cloned();
        }
        let env = Env { names: Rc::new(RefCell::new(names)), targets: Rc::new(TARGETS.to_vec()) };
        let here = Here::root(entry, env, &def.title);
        let (kernel, program, figures) = (Rc::clone(&self.kernel), Rc::clone(&self.program), Rc::clone(&self.figures));
        let slot = Slot { id: 0, parent: None, doing: Doing::Running, wake: None, attempt: None, in_step: false };
        self.kernel.borrow_mut().slots.push(slot);
        self.running = Some(Box::pin(async move { Interpreter { kernel, program, figures }.run(here).await }));
    }

    /// The leases are there after a takeover or a resumption: each strand goes by what the log holds.
    fn take_up(&mut self, leasing: Leasing) {
        let strands: Vec<u32> = self.kernel.borrow().slots.iter().map(|slot| slot.id).collect();
        for strand in &strands {
            self.kernel.borrow_mut().verify(*strand);
        }
        self.poll();
        let strands: Vec<u32> = self.kernel.borrow().slots.iter().map(|slot| slot.id).collect();
        let mut kernel = self.kernel.borrow_mut();
        for strand in strands {
            let slot = kernel.slot(strand).clone();
            kernel.go_on(&slot, leasing);
        }
    }

    fn enter_fact(&mut self, fact: &Fact) -> bool {
        let mut kernel = self.kernel.borrow_mut();
        match fact {
            Fact::Started => kernel.run_started(),
            Fact::Leases { refused } => {
                let Some(leasing) = kernel.leases.take() else { return false };
                kernel.seq += 1;
                kernel.log_leases(*refused);
                let starting = kernel.slots.is_empty();
                drop(kernel);
                match (refused, starting) {
                    (true, true) => {
                        let reason = Some("`sim-1` is held by run 01K6B".to_owned());
                        let ending = Ending { outcome: "failed", reason, failure: None };
                        self.kernel.borrow_mut().ending = Some(ending);
                    }
                    (true, false) => self.kernel.borrow_mut().suspend(),
                    (false, true) => self.start(),
                    (false, false) => self.take_up(leasing),
                }
            }
            Fact::Status { id, status, order, reason, code, received_at } => {
                return kernel.status(id, *status, *order, reason.as_ref().or(code.as_ref()), *received_at, fact);
            }
            Fact::Transfer { id, status, reason } => {
                let is = |slot: &&Slot| matches!(&slot.doing, Doing::Wait { what: What::Transfer { id: open, .. }, .. } if open == id);
                let Some(strand) = kernel.slots.iter().find(is).map(|slot| slot.id) else { return false };
                kernel.seq += 1;
                let word = match status {
                    TransferEnd::NotCreated => "not_created",
                    TransferEnd::Completed => "completed",
                    TransferEnd::Failed => "failed",
                    TransferEnd::Cancelled => "cancelled",
                };
                kernel.write("transfer_status", json!({"id": id, "status": word, "reason": reason}));
                kernel.transfer_end(strand, *status, reason.clone());
            }
            Fact::Answered { question, value, ctl } => return kernel.answered(question, value, *ctl),
            Fact::Decided { decision, option, ctl } => return kernel.decided(decision, *option, *ctl),
            Fact::Suspended { ctl } => {
                kernel.seq += 1;
                kernel.write("suspended", json!({"why": "operator", "by": "ann", "ctl": ctl}));
                kernel.suspend();
            }
            Fact::Resumed { known, ctl } => return kernel.resumed(known, *ctl),
            Fact::AbortRequested { ctl } => {
                if kernel.ending.as_ref().is_some_and(|ending| ending.outcome == "aborted") {
                    return false;
                }
                kernel.seq += 1;
                kernel.write("abort_requested", json!({"by": "ann", "ctl": ctl}));
                kernel.abort();
            }
            Fact::TakenOver { known } => kernel.taken_over(known),
            Fact::Declined { ctl } => {
                kernel.seq += 1;
                kernel.write("declined", json!({"ctl": ctl, "why": "refused"}));
            }
        }
        true
    }
}

impl Side for Reference {
    fn emit(&mut self, now: Ns) -> Option<Emitted> {
        let now = now.max(self.kernel.borrow().now);
        self.settle(now);
        let mut kernel = self.kernel.borrow_mut();
        if kernel.ended {
            return None;
        }
        if kernel.finish(now) {
            kernel.count_quiet();
            return Some(Emitted::Other);
        }
        if kernel.held() {
            return None;
        }
        let strand = kernel.slots.iter().find(|slot| matches!(slot.doing, Doing::Due(_)))?.id;
        kernel.seq += 1;
        kernel.now = now;
        kernel.emitted = Emitted::Other;
        kernel.wake(strand, Wake::Granted);
        drop(kernel);
        self.poll();
        let mut kernel = self.kernel.borrow_mut();
        kernel.count_quiet();
        Some(kernel.emitted.clone())
    }

    fn ended(&self) -> bool {
        self.kernel.borrow().ended
    }

    fn seq(&self) -> u64 {
        self.kernel.borrow().seq
    }

    fn deadline(&self) -> Option<(Ns, u64)> {
        self.kernel.borrow().deadline()
    }

    fn wanted(&mut self, _now: Ns) -> Option<Wanted> {
        let kernel = self.kernel.borrow();
        if kernel.leases.is_some() && kernel.ending.is_none() {
            return Some(Wanted::Leases);
        }
        if let Some(pending) = kernel.settled() {
            return Some(Wanted::Observed(pending));
        }
        if let Some(pending) = kernel.reading() {
            return Some(Wanted::Reading(pending));
        }
        let held = kernel.held();
        kernel.slots.iter().find_map(|slot| match &slot.doing {
            Doing::Wait { id, what: What::Utc { first: true, .. }, .. } if !held => Some(Wanted::Utc(*id)),
            Doing::Wait { what: What::Transfer { id, cancel: Some(_), .. }, .. } => Some(Wanted::Cancel(id.clone())),
            _ => None,
        })
    }

    fn until(&self) -> Option<(Ns, u64)> {
        let kernel = self.kernel.borrow();
        if kernel.held() {
            return None;
        }
        let reached = kernel.slots.iter().filter_map(|slot| match slot.doing {
            Doing::Wait { id, what: What::Utc { until, first: false, .. }, .. } => Some((until, id)),
            _ => None,
        });
        reached.min()
    }

    fn enter(&mut self, fact: &Fact, now: Ns) -> bool {
        if self.kernel.borrow().ended {
            return false;
        }
        if self.kernel.borrow().started {
            self.settle(now);
        }
        let before = {
            let mut kernel = self.kernel.borrow_mut();
            std::mem::replace(&mut kernel.now, now)
        };
        if !self.enter_fact(fact) {
            self.kernel.borrow_mut().now = before;
            return false;
        }
        {
            let mut kernel = self.kernel.borrow_mut();
            if matches!(fact, Fact::TakenOver { .. }) && kernel.quiet_since.is_none() {
                kernel.added += now - before;
            }
        }
        self.poll();
        self.kernel.borrow_mut().count_quiet();
        true
    }

    fn observe(&mut self, pending: u64, utc: Option<Ns>, now: Ns) {
        self.settle(now);
        let samples = self.kernel.borrow().evidence(pending);
        {
            let mut kernel = self.kernel.borrow_mut();
            kernel.seq += 1;
            kernel.now = now;
            kernel.log_observed(pending, &samples, utc);
            kernel.observed(pending, samples, utc);
        }
        self.poll();
        self.kernel.borrow_mut().count_quiet();
    }

    fn elapse(&mut self, pending: u64, due: Ns, utc: Ns, now: Ns) {
        let takes = self.kernel.borrow().takes_samples(pending);
        if takes && !self.kernel.borrow().evidence(pending).is_empty() {
            self.observe(pending, None, now);
            if self.deadline() != Some((due, pending)) {
                return;
            }
        }
        self.settle(now);
        {
            let mut kernel = self.kernel.borrow_mut();
            let waits_for_utc = kernel.waits_for_utc(pending);
            kernel.seq += 1;
            kernel.now = now;
            let utc_told = waits_for_utc.then(|| instant(utc));
            kernel.write("elapsed", json!({"pending": pending, "due": instant(due), "utc": utc_told}));
            kernel.elapsed(pending, due, utc);
        }
        self.poll();
        self.kernel.borrow_mut().count_quiet();
    }

    fn store(&mut self, samples: &[Sample]) {
        let mut kernel = self.kernel.borrow_mut();
        for sample in samples {
            kernel.telemetry.insert((sample.target, sample.param, sample.index), sample.clone());
        }
    }

    fn change_owner(&mut self) {}
}
