//! What facts do to the kernel: the log's event, and what it changes.

use std::rc::Rc;

use serde_json::{Value as Json, json};

use super::kernel::{self, Cancel, Doing, Due, Ending, Kernel, Leasing, Slot, Wake, What};
use crate::oracle::{
    driver::Fact,
    model::*,
    text::{instant, scalar},
    world::{Known, Opt, RUN, Sample, Status, TARGETS},
};

fn known_json(known: &[(String, Known)]) -> Json {
    let word = |known: Known| match known {
        Known::Left => "left",
        Known::NeverLeft => "never left",
        Known::MayHaveLeft => "may have left",
    };
    if known.is_empty() {
        return json!(null);
    }
    known.iter().map(|(id, known)| json!({"id": id, "known": word(*known)})).collect()
}

impl Kernel {
    pub(super) fn run_started(&mut self) {
        let program = Rc::clone(&self.program);
        let def = &program.defs[program.entry];
        let targets: serde_json::Map<_, _> =
            def.targets.iter().zip(TARGETS).map(|(name, target)| ((*name).to_owned(), target.into())).collect();
        let inputs: serde_json::Map<_, _> =
            program.inputs.iter().map(|(name, value)| (name.clone(), scalar(&program.catalogue, value))).collect();
        let links: serde_json::Map<_, _> = TARGETS.iter().map(|it| ((*it).to_owned(), "sim".into())).collect();
        self.seq = 1;
        self.started = true;
        self.leases = Some(Leasing::default());
        self.write(
            "run_started",
            json!({
                "run": RUN, "procedure": def.title, "targets": targets, "inputs": inputs, "artifact": "00",
                "schema": 1, "scale": "utc", "virtual_clock": true, "links": links, "by": "os:test",
            }),
        );
    }

    pub(super) fn log_leases(&mut self, refused: bool) {
        let fields = if refused {
            let reason = "`sim-1` is held by run 01K6B";
            json!({"refused": {"target": "sim-1", "holders": ["01K6B"], "reason": reason}})
        } else {
            json!({"taken": TARGETS})
        };
        self.write("leases", fields);
        self.count(if refused { "leases refused" } else { "leases taken" });
    }

    /// Nothing is emitted until `resumed`.
    pub(super) fn suspend(&mut self) {
        let doing: Vec<String> = self.slots.iter().map(doing).collect();
        for one in doing {
            self.count(&format!("suspended {one}"));
        }
        self.suspended = Some(self.suspended.unwrap_or(self.now));
        self.leases = None;
        self.cancel_transfers(Cancel::Interrupted { taken_over: false });
    }

    pub(super) fn told_known(&mut self, known: &[(String, Known)]) {
        for slot in &self.slots {
            let Some(attempt) = &slot.attempt else { continue };
            for sent in &mut attempt.borrow_mut().sent {
                if let Some((_, known)) = known.iter().find(|(id, _)| *id == sent.id) {
                    sent.known = Some(*known);
                }
            }
        }
    }

    pub(super) fn resumed(&mut self, known: &[(String, Known)], ctl: u64) -> bool {
        let Some(since) = self.suspended.take() else { return false };
        self.seq += 1;
        self.write("resumed", json!({"by": "ann", "known": known_json(known), "ctl": ctl}));
        self.stood_still += self.now - since;
        self.told_known(known);
        self.leases = self.ending.is_none().then_some(Leasing { taken_over: None, resumed: true });
        true
    }

    pub(super) fn taken_over(&mut self, known: &[(String, Known)]) {
        self.seq += 1;
        self.epoch += 1;
        self.write("taken_over", json!({"instance": "exec-b", "known": known_json(known)}));
        self.told_known(known);
        if self.ending.is_some() || self.suspended.is_some() {
            self.count("takeover rule 1");
        } else {
            let resumed = self.leases.is_some_and(|leasing| leasing.resumed);
            self.leases = Some(Leasing { taken_over: Some(self.now), resumed });
        }
    }

    pub(super) fn abort(&mut self) {
        self.ending = Some(Ending { outcome: "aborted", reason: Some("aborted by ann".to_owned()), failure: None });
        self.cancel_transfers(Cancel::Abort);
        self.count("aborted");
    }

    pub(super) fn answered(&mut self, question: &str, value: &str, ctl: u64) -> bool {
        if self.held() {
            return false;
        }
        let offers = |slot: &&Slot| match &slot.doing {
            Doing::Wait { what: What::Answer { id, choices, .. }, .. } => {
                id == question && choices.iter().any(|choice| choice == value)
            }
            _ => false,
        };
        let Some(strand) = self.slots.iter().find(offers).map(|slot| slot.id) else { return false };
        self.seq += 1;
        self.write("answered", json!({"question": question, "value": value, "by": "ann", "ctl": ctl}));
        self.wake(strand, Wake::Answered(value.to_owned()));
        true
    }

    pub(super) fn decided(&mut self, decision: &str, option: Opt, ctl: u64) -> bool {
        if self.held() {
            return false;
        }
        let offers = |slot: &&Slot| match &slot.doing {
            Doing::Wait { what: What::Decision { id, options }, .. } => id == decision && options.contains(&option),
            _ => false,
        };
        let Some(strand) = self.slots.iter().find(offers).map(|slot| slot.id) else { return false };
        let word = match option {
            Opt::Replay => "replay",
            Opt::Skip => "skip",
            Opt::Fail => "fail",
            Opt::Abort => "abort",
            Opt::Recheck => "recheck",
        };
        self.seq += 1;
        self.write("decided", json!({"decision": decision, "option": word, "by": "ann", "ctl": ctl}));
        if option == Opt::Abort {
            self.count("decided abort");
            self.slot(strand).doing = Doing::Running;
            self.abort();
        } else {
            self.wake(strand, Wake::Decided(option));
        }
        true
    }

    pub(super) fn status(
        &mut self,
        id: &str,
        status: Status,
        order: Option<u64>,
        why: Option<&String>,
        received_at: Ns,
        fact: &Fact,
    ) -> bool {
        if !self.ids.contains(id) {
            return false;
        }
        let sent_in = |slot: &Slot| {
            let attempt = slot.attempt.as_ref()?.borrow();
            Some((slot.id, attempt.sent.iter().position(|sent| sent.id == id)?))
        };
        let place = self.slots.iter().find_map(sent_in);
        if let Some((strand, at)) = place {
            let attempt = self.slot(strand).attempt.clone().expect("an attempt");
            let mut attempt = attempt.borrow_mut();
            if repeats(&attempt.sent[at], status) {
                return false;
            }
            let max_order = self.max_order.max(order);
            take_in(&mut attempt.sent[at], status, order, why, received_at, max_order);
            // Of a telecommand of an attempt that is over nothing is kept.
            self.max_order = max_order;
        }
        self.seq += 1;
        let Fact::Status { reason, code, .. } = fact else { return false };
        let stage = |stage: Stage| match stage {
            Stage::Accepted => "accepted",
            Stage::Started => "started",
            Stage::Completed => "completed",
        };
        let (word, of) = match status {
            Status::Released => ("released", None),
            Status::NotReleased => ("not_released", None),
            Status::EncodeFailed => ("encode_failed", None),
            Status::Reported(reported) => (stage(reported), None),
            Status::Failed(of) => ("failed", of.map(stage)),
        };
        self.write(
            "telecommand_status",
            json!({
                "id": id, "status": word, "received_at": instant(received_at), "order": order, "stage": of,
                "code": code, "reason": reason,
            }),
        );
        if let Some((strand, at)) = place {
            let last = self.slot(strand).attempt.as_ref().is_some_and(|it| it.borrow().sent.len() == at + 1);
            if last && !self.held() {
                self.verify(strand);
            }
        }
        true
    }

    /// How a strand goes on after a takeover or a resumption; the first rule that fits.
    pub(super) fn go_on(&mut self, slot: &Slot, leasing: Leasing) {
        let catalogue = &self.program.catalogue;
        let changed = slot.attempt.as_ref().is_some_and(|attempt| attempt.borrow().changed_state(catalogue));
        let rule = |kernel: &mut Self, rule: &str| {
            if leasing.taken_over.is_some() && !leasing.resumed {
                kernel.count(&format!("takeover rule {rule}"));
            }
        };
        let is_of_step = match &slot.doing {
            Doing::Running | Doing::Branches | Doing::Ended => return,
            Doing::Due(due) => due.of_statement,
            Doing::Wait { what: What::Decision { .. }, .. } => return rule(self, "2"),
            Doing::Wait { what: What::Interval, .. } => return rule(self, "6 (between attempts)"),
            Doing::Wait { .. } => slot.in_step,
        };
        if !is_of_step || !slot.in_step {
            return rule(self, if slot.in_step { "3" } else { "6 (outside of steps)" });
        }
        if let Doing::Wait { what: What::Transfer { cancel, .. }, .. } = &slot.doing {
            let interrupted = leasing.resumed || changed;
            if cancel.is_none() && interrupted {
                let taken_over = !leasing.resumed;
                if let Doing::Wait { what: What::Transfer { cancel, .. }, deadline, .. } = &mut self.slot(slot.id).doing
                {
                    *cancel = Some(Cancel::Interrupted { taken_over });
                    *deadline = None;
                }
            }
            return rule(self, if changed { "5 (transfer)" } else { "4" });
        }
        if leasing.resumed {
            return self.wake(slot.id, Wake::Interrupted { taken_over: false });
        }
        let Some(at) = leasing.taken_over else { return };
        if changed {
            rule(self, "5");
            return self.wake(slot.id, Wake::Interrupted { taken_over: true });
        }
        rule(self, "6");
        match &slot.doing {
            Doing::Due(Due { judged: true, .. }) => self.wake(slot.id, Wake::Again),
            _ => self.anew(slot.id, at),
        }
    }

    /// `run_finished`, where it is due and nothing holds it.
    pub(super) fn finish(&mut self, now: Ns) -> bool {
        let Some(ending) = &self.ending else { return false };
        let held = self.suspended.is_some() || self.leases.is_some();
        if held && ending.outcome != "aborted" {
            return false;
        }
        let transfers = |slot: &Slot| matches!(slot.doing, Doing::Wait { what: What::Transfer { .. }, .. });
        if self.slots.iter().any(transfers) {
            return false;
        }
        let failure = ending.failure.as_ref().map(kernel::Failure::json);
        let fields = json!({"outcome": ending.outcome, "reason": ending.reason, "failure": failure});
        let what = format!("run {}", ending.outcome);
        self.seq += 1;
        self.now = now;
        self.ended = true;
        self.write("run_finished", fields);
        self.count(&what);
        true
    }
}

fn repeats(sent: &kernel::Sent, status: Status) -> bool {
    match status {
        Status::Released => sent.told,
        Status::NotReleased | Status::EncodeFailed => sent.end.is_some(),
        Status::Reported(stage) => sent.reports.contains(&stage),
        Status::Failed(_) => sent.end.as_ref().is_some_and(|(end, _)| *end == status),
    }
}

fn take_in(
    sent: &mut kernel::Sent,
    status: Status,
    order: Option<u64>,
    why: Option<&String>,
    received_at: Ns,
    max_order: Option<u64>,
) {
    match status {
        Status::Released => {
            sent.released = Some((received_at, order));
            sent.told = true;
        }
        Status::NotReleased | Status::EncodeFailed => sent.end = Some((status, why.cloned())),
        Status::Reported(_) | Status::Failed(_) => {
            // What is reported has left.
            if sent.released.is_none() {
                sent.released = Some((received_at, max_order));
            }
            match status {
                Status::Reported(stage) => drop(sent.reports.insert(stage)),
                _ => sent.end = Some((status, why.cloned())),
            }
        }
    }
}

/// What a strand does, in a word.
fn doing(slot: &Slot) -> String {
    let what = match &slot.doing {
        Doing::Running => "running",
        Doing::Due(_) => "before a transition",
        Doing::Branches => "in branches",
        Doing::Ended => "ended",
        Doing::Wait { what, .. } => match what {
            What::Reading(..) => "reading",
            What::Window(window) if window.held_since.is_some() => "holding",
            What::Window(_) => "in a window",
            What::Verification { .. } => "verifying",
            What::Timer => "waiting",
            What::Interval => "between attempts",
            What::Utc { .. } => "waiting for a time",
            What::Answer { .. } => "asking",
            What::Decision { .. } => "deciding",
            What::Transfer { .. } => "transferring",
        },
    };
    what.to_owned()
}

impl Kernel {
    pub(super) fn log_observed(&mut self, pending: u64, samples: &[Sample], utc: Option<Ns>) {
        let program = Rc::clone(&self.program);
        let one = |sample: &Sample| {
            let of = &program.catalogue.params[sample.param];
            let component = program.catalogue.components[of.component].name;
            let index = sample.index.map_or(String::new(), |index| format!("[{index}]"));
            let mut json = json!({
                "target": sample.target, "parameter": format!("{component}{index}.{}", of.name),
                "value": sample.value, "received_at": instant(sample.received_at), "order": sample.order,
            });
            if !sample.valid {
                json["valid"] = false.into();
            }
            json
        };
        let samples: Vec<Json> = samples.iter().map(one).collect();
        self.write("observed", json!({"pending": pending, "samples": samples, "utc": utc.map(instant)}));
    }
}
