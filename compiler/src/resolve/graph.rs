//! Who calls whom: callees before callers, and the circles.
//!
//! Depth-first without recursion: a chain of calls may be as long as there are definitions.

use crate::{
    source::Place,
    tree::{Definition, DefinitionId, StmtKind, walk},
};

/// A call from one definition to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// Who calls.
    pub caller: DefinitionId,
    /// Where the name of what is called stands.
    pub place: Place,
}

/// Calls that form a circle: each calls the caller of the next, the last that of the first.
pub type Circle = Vec<CallSite>;

/// The order of the call graph.
#[derive(Debug, Default)]
pub struct Order {
    /// Callees before their callers; without those that are in a circle or call into one.
    pub order: Vec<DefinitionId>,
    /// The circles: without one call of each, there is none left.
    pub circles: Vec<Circle>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    /// Done, and whether it is or reaches a circle.
    Done(bool),
}

struct Frame {
    id: DefinitionId,
    /// The next of its calls.
    next: usize,
    /// Whether it is in a circle or calls into one.
    round: bool,
    /// The call by which it was reached.
    by: Option<CallSite>,
}

/// Orders the definitions by their calls.
#[must_use]
pub fn order(definitions: &[Definition]) -> Order {
    let calls: Vec<Vec<(DefinitionId, Place)>> = definitions.iter().map(calls_of).collect();
    let mut search =
        Search { calls: &calls, states: vec![State::New; calls.len()], stack: Vec::new(), found: Order::default() };
    for id in 0..calls.len() {
        search.from(id);
    }
    search.found
}

fn calls_of(definition: &Definition) -> Vec<(DefinitionId, Place)> {
    let mut calls = Vec::new();
    for block in definition.blocks() {
        walk(block, &mut |stmt| {
            if let StmtKind::Call(call) = &stmt.kind
                && let Some(callee) = call.callee
            {
                calls.push((callee, definition.place(call.name_span)));
            }
        });
    }
    // A circle is told once, by the first of several calls of the same definition.
    calls.sort();
    calls.dedup_by_key(|(callee, _)| *callee);
    calls
}

struct Search<'a> {
    calls: &'a [Vec<(DefinitionId, Place)>],
    states: Vec<State>,
    stack: Vec<Frame>,
    found: Order,
}

impl Search<'_> {
    fn state(&self, id: DefinitionId) -> State {
        self.states.get(id).copied().unwrap_or(State::Done(true))
    }

    fn set(&mut self, id: DefinitionId, state: State) {
        if let Some(slot) = self.states.get_mut(id) {
            *slot = state;
        }
    }

    fn open(&mut self, id: DefinitionId, by: Option<CallSite>) {
        self.set(id, State::Open);
        self.stack.push(Frame { id, next: 0, round: false, by });
    }

    fn from(&mut self, id: DefinitionId) {
        if self.state(id) == State::New {
            self.open(id, None);
        }
        while let Some(frame) = self.stack.last_mut() {
            let call = self.calls.get(frame.id).and_then(|calls| calls.get(frame.next)).copied();
            frame.next = frame.next.saturating_add(1);
            let caller = frame.id;
            match call {
                Some((callee, place)) => self.follow(callee, CallSite { caller, place }),
                None => self.close(),
            }
        }
    }

    fn follow(&mut self, callee: DefinitionId, site: CallSite) {
        match self.state(callee) {
            State::New => self.open(callee, Some(site)),
            State::Open => {
                let from = self.stack.iter().position(|frame| frame.id == callee).unwrap_or(0);
                let mut circle: Circle =
                    self.stack.iter().skip(from.saturating_add(1)).filter_map(|frame| frame.by).collect();
                circle.push(site);
                self.found.circles.push(circle);
                self.mark();
            }
            State::Done(true) => self.mark(),
            State::Done(false) => {}
        }
    }

    /// The one on top is in a circle or calls into one.
    fn mark(&mut self) {
        if let Some(frame) = self.stack.last_mut() {
            frame.round = true;
        }
    }

    fn close(&mut self) {
        let Some(frame) = self.stack.pop() else { return };
        self.set(frame.id, State::Done(frame.round));
        if frame.round {
            self.mark();
        } else {
            self.found.order.push(frame.id);
        }
    }
}
