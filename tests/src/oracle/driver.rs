//! The driver of a run, as the runtime's executor drives one: the same for the machine and for the reference.

use std::collections::BTreeMap;

use super::{
    model::Ns,
    world::{Act, Known, Opt, START, Sample, Status, TransferEnd, World},
};

/// A fact that enters a run.
#[derive(Debug, Clone)]
pub(super) enum Fact {
    Started,
    Leases {
        refused: bool,
    },
    Status {
        id: String,
        status: Status,
        order: Option<u64>,
        reason: Option<String>,
        code: Option<String>,
        received_at: Ns,
    },
    Answered {
        question: String,
        value: String,
        ctl: u64,
    },
    Decided {
        decision: String,
        option: Opt,
        ctl: u64,
    },
    Suspended {
        ctl: u64,
    },
    Resumed {
        known: Vec<(String, Known)>,
        ctl: u64,
    },
    AbortRequested {
        ctl: u64,
    },
    TakenOver {
        known: Vec<(String, Known)>,
    },
    Declined {
        ctl: u64,
    },
    Transfer {
        id: String,
        status: TransferEnd,
        reason: Option<String>,
    },
}

/// What a run did, as far as the world answers to it.
#[derive(Debug, Clone)]
pub(super) enum Emitted {
    Sent { id: String, telecommand: usize, target: String, index: Option<i64> },
    Asked { id: String, choices: Vec<String>, due: Ns },
    Decision { id: String, options: Vec<Opt> },
    Transfer { id: String, due: Ns },
    Scheduled { due: Ns },
    Other,
}

/// What a run wants at once.
#[derive(Debug, Clone)]
pub(super) enum Wanted {
    Leases,
    /// Samples decide something.
    Observed(u64),
    /// Samples are read once all that has come is taken in.
    Reading(u64),
    Utc(u64),
    Cancel(String),
}

/// One of the two that are compared.
pub(super) trait Side {
    /// Does what is due, if something is, and logs it.
    fn emit(&mut self, now: Ns) -> Option<Emitted>;
    fn ended(&self) -> bool;
    fn seq(&self) -> u64;
    fn deadline(&self) -> Option<(Ns, u64)>;
    fn wanted(&mut self, now: Ns) -> Option<Wanted>;
    /// The instant of UTC that is waited for next.
    fn until(&self) -> Option<(Ns, u64)>;
    /// Whether the fact is accepted; then it is logged.
    fn enter(&mut self, fact: &Fact, now: Ns) -> bool;
    /// Enters the samples that a pending thing is judged by, or UTC.
    fn observe(&mut self, pending: u64, utc: Option<Ns>, now: Ns);
    /// Enters the last samples, where any decide, and that the deadline passed.
    fn elapse(&mut self, pending: u64, due: Ns, utc: Ns, now: Ns);
    fn store(&mut self, samples: &[Sample]);
    /// Another owner goes on from the log.
    fn change_owner(&mut self);
}

/// Drives a run to its end, or to so many events.
pub(super) fn drive(side: &mut impl Side, world: World, limit: u64) {
    let mut driver = Driver { side, world, now: START, ctl: 0, open: BTreeMap::new(), last: 0 };
    let before = driver.world.before();
    driver.side.store(&before);
    driver.side.enter(&Fact::Started, START);
    driver.behind();
    while driver.side.seq() < limit && !driver.side.ended() {
        if !driver.turn() {
            break;
        }
    }
}

struct Driver<'a, S> {
    side: &'a mut S,
    world: World,
    now: Ns,
    ctl: u64,
    /// Telecommands whose result the log does not have, with their place in it.
    open: BTreeMap<String, u64>,
    /// The event behind which controls were looked for last.
    last: u64,
}

impl<S: Side> Driver<'_, S> {
    fn turn(&mut self) -> bool {
        if let Some(emitted) = self.side.emit(self.now) {
            self.react(emitted);
            self.behind();
            return true;
        }
        if self.side.ended() {
            return false;
        }
        let wanted = self.side.wanted(self.now);
        // The leases come before everything; what has passed comes before what is read now.
        if matches!(wanted, Some(Wanted::Leases)) {
            self.lease();
            return true;
        }
        let deadline = self.side.deadline();
        let next = self.world.next();
        let past = next.filter(|(at, by_operator)| !by_operator && *at < self.now).map(|(at, _)| at);
        if let Some(at) = past
            && deadline.is_none_or(|(due, _)| at <= due)
        {
            return self.happen();
        }
        if let Some((due, pending)) = deadline.filter(|(due, _)| *due < self.now) {
            self.elapse(pending, due);
            return true;
        }
        let has_come = next.is_some_and(|(at, by_operator)| !by_operator && at <= self.now);
        match wanted {
            Some(Wanted::Reading(_)) if has_come => return self.happen(),
            Some(Wanted::Reading(pending)) => self.side.observe(pending, None, self.now),
            Some(Wanted::Observed(pending)) => {
                self.side.observe(pending, None, self.now);
                self.world.observed(self.side.seq(), self.now);
            }
            Some(Wanted::Utc(pending)) => self.side.observe(pending, Some(self.utc()), self.now),
            Some(Wanted::Cancel(id)) => {
                let status = self.world.cancelled(self.side.seq());
                self.side.enter(&Fact::Transfer { id, status, reason: None }, self.now);
            }
            Some(Wanted::Leases) | None => return self.later(deadline),
        }
        self.behind();
        true
    }

    /// Goes on to what comes first; at a deadline itself the fact wins.
    fn later(&mut self, deadline: Option<(Ns, u64)>) -> bool {
        let until = self.side.until().map(|(at, pending)| ((at + self.world.utc_behind).max(self.now), pending));
        let due = deadline.map_or(Ns::MAX, |(due, _)| due);
        let next = self.world.next().map_or(Ns::MAX, |(at, _)| at.max(self.now));
        if let Some((at, pending)) = until
            && at <= due
            && at < next
        {
            self.now = at;
            self.side.observe(pending, Some(self.utc()), self.now);
            self.behind();
            return true;
        }
        if next <= due {
            return next != Ns::MAX && self.happen();
        }
        let Some((due, pending)) = deadline else { return false };
        self.now = due.max(self.now);
        self.elapse(pending, due);
        true
    }

    fn utc(&self) -> Ns {
        self.now - self.world.utc_behind
    }

    fn elapse(&mut self, pending: u64, due: Ns) {
        let utc = self.utc();
        self.side.elapse(pending, due, utc, self.now);
        self.behind();
    }

    fn lease(&mut self) {
        let refused = self.world.refuses(self.side.seq());
        self.side.enter(&Fact::Leases { refused }, self.now);
        if refused {
            self.world.suspended(self.side.seq(), self.now);
        }
        self.behind();
    }

    fn react(&mut self, emitted: Emitted) {
        let (seq, now) = (self.side.seq(), self.now);
        match emitted {
            Emitted::Sent { id, telecommand, target, index } => {
                self.world.sent(seq, now, &id, telecommand, &target, index);
                self.open.insert(id, seq);
            }
            Emitted::Asked { id, choices, due } => {
                let choices: Vec<&str> = choices.iter().map(String::as_str).collect();
                self.world.asked(seq, now, &id, &choices, due);
            }
            Emitted::Decision { id, options } => self.world.decision(seq, now, &id, &options),
            Emitted::Transfer { id, due } => self.world.transfer(seq, now, &id, due),
            Emitted::Scheduled { due } => self.world.scheduled(seq, now, due),
            Emitted::Other => {}
        }
    }

    /// What comes right behind the events that were logged.
    fn behind(&mut self) {
        while self.last < self.side.seq() {
            self.last += 1;
            if let Some(act) = self.world.control(self.last) {
                self.act(act, self.now);
            }
        }
    }

    /// The next thing of the world happens.
    fn happen(&mut self) -> bool {
        let Some((at, act)) = self.world.pop() else { return false };
        self.now = self.now.max(at);
        self.act(act, at);
        self.behind();
        true
    }

    fn act(&mut self, act: Act, at: Ns) {
        if self.side.ended() {
            return;
        }
        self.ctl += 1;
        let ctl = self.ctl;
        let known = || self.open.iter().map(|(id, sent)| (id.clone(), self.world.known(*sent))).collect();
        let fact = match act {
            Act::Tick(_) => return,
            Act::Samples(samples) => return self.side.store(&samples),
            Act::Status { id, status, reason, code } => {
                let order = (status == Status::Released).then(|| self.world.next_order());
                let settles = matches!(status, Status::Released | Status::NotReleased | Status::EncodeFailed);
                let fact = Fact::Status { id: id.clone(), status, order, reason, code, received_at: at };
                if self.side.enter(&fact, self.now) && settles {
                    self.open.remove(&id);
                }
                return;
            }
            Act::Transfer { id, status, reason } => {
                self.side.enter(&Fact::Transfer { id, status, reason }, self.now);
                return;
            }
            Act::TakeOver(outage) => {
                let fact = Fact::TakenOver { known: known() };
                self.now += outage;
                self.side.change_owner();
                self.side.enter(&fact, self.now);
                return;
            }
            Act::Answer { question, value } => Fact::Answered { question, value, ctl },
            Act::Decide { decision, option } => Fact::Decided { decision, option, ctl },
            Act::Suspend => Fact::Suspended { ctl },
            Act::Resume => Fact::Resumed { known: known(), ctl },
            Act::Abort => Fact::AbortRequested { ctl },
        };
        let suspends = matches!(fact, Fact::Suspended { .. });
        if !self.side.enter(&fact, self.now) {
            self.side.enter(&Fact::Declined { ctl }, self.now);
        } else if suspends {
            self.world.suspended(self.side.seq(), self.now);
        }
    }
}
