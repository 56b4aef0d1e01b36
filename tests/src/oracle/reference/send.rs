//! `send`: judged, sent, verified.

use serde_json::json;

use super::{
    judge::{Closed, Env},
    kernel::{Due, Failure, Requires, Sent, Wake, What},
    run::{Here, Interpreter},
    statements::{Recheck, Trouble},
};
use crate::oracle::{
    driver::Emitted,
    model::*,
    text::{scalar, type_words, words},
};

impl Interpreter {
    pub(super) async fn send(&self, here: &Here, stmt: &Stmt, send: &Send) -> Result<(), Trouble> {
        let of = &self.program.catalogue.telecommands[send.telecommand];
        let target = here.env.targets[send.target];
        let (index, args) = loop {
            let judged = self.judged(here, stmt, send, of, target).await?;
            let reads = of.requires.is_some() || self.given(here, send).iter().any(|part| part.expr.reads_telemetry());
            let due = Due { of_statement: true, judged: reads, ..Due::default() };
            match self.due(here, due).await {
                Wake::Granted => break judged,
                Wake::Again => {}
                wake => return self.ended(stmt, wake, Some(Recheck::Statement)),
            }
        };
        {
            let mut kernel = self.kernel.borrow_mut();
            let id = kernel.identifier();
            let mut attempt = here.attempt.as_ref().expect("an attempt").borrow_mut();
            let mut place = here.place.clone();
            place.push(u64::from(stmt.line));
            let first = here.scope.as_ref().and_then(|scope| {
                let mut scope = scope.borrow_mut();
                let first = scope.get(&place).cloned();
                scope.entry(place).or_insert_with(|| id.clone());
                first
            });
            kernel.write(
                "telecommand_sent",
                json!({
                    "id": id, "target": target, "telecommand": of.name, "component": self.component(of.component, index),
                    "args": args, "route": send.route.unwrap_or("direct"), "step": attempt.path,
                    "attempt": attempt.number, "retry_of": first, "changes_state": of.changes, "file": FILE,
                    "line": stmt.line,
                }),
            );
            kernel.ids.insert(id.clone());
            let telecommand = send.telecommand;
            kernel.emitted = Emitted::Sent { id: id.clone(), telecommand, target: target.to_owned(), index };
            kernel.count(if of.changes { "statement send (acts)" } else { "statement send (looks)" });
            attempt.sent.push(Sent {
                id,
                telecommand,
                target,
                index,
                released: None,
                told: false,
                reports: std::collections::BTreeSet::new(),
                end: None,
                known: None,
            });
        }
        self.verification(here, stmt, send).await
    }

    /// Waits for the verification of the attempt's last telecommand, its window counted from now.
    pub(super) async fn verification(&self, here: &Here, stmt: &Stmt, send: &Send) -> Result<(), Trouble> {
        let of = &self.program.catalogue.telecommands[send.telecommand];
        let id = {
            let mut kernel = self.kernel.borrow_mut();
            let attempt = here.attempt.as_ref().expect("an attempt").borrow();
            let sent = attempt.sent.last().expect("a telecommand");
            let until = of.until.as_ref().map(|until| own(until, sent.target, sent.index));
            let what = What::Verification { from: kernel.now, met: until.is_none(), until, last: Vec::new() };
            let id = sent.id.clone();
            drop(attempt);
            kernel.begin(here.strand, what, None);
            kernel.verify(here.strand);
            id
        };
        let wake = self.registered(here).await;
        self.ended(stmt, wake, Some(Recheck::Verification)).map_err(|trouble| match trouble {
            Trouble::Failed(failure) => Trouble::Failed(Failure { telecommand: Some(id), ..failure }),
            other => other,
        })
    }

    /// Index and arguments of a telecommand as they are given.
    fn given(&self, here: &Here, send: &Send) -> Vec<Closed> {
        send.index.iter().chain(send.args.iter().flatten()).map(|expr| here.closed(expr)).collect()
    }

    /// Index and arguments of a telecommand that may leave.
    async fn judged(
        &self,
        here: &Here,
        stmt: &Stmt,
        send: &Send,
        of: &Telecommand,
        target: &'static str,
    ) -> Result<(Option<i64>, serde_json::Value), Trouble> {
        let catalogue = &self.program.catalogue;
        let index_of = |latest: super::judge::Latest<'_>, now: Ns| {
            let value = here.closed(send.index.as_ref()?).evaluate(catalogue, latest, now, None).value;
            match value {
                Some(Value::Int(index)) => Some(index),
                _ => None,
            }
        };
        let requires = of.requires.as_ref().map(|requires| Requires {
            condition: own(requires, target, None),
            index: send.index.as_ref().map(|index| here.closed(index)),
        });
        let samples = self.samples(here, self.given(here, send), requires).await?;
        let latest = super::waits::listed(&samples);
        let now = self.kernel.borrow().now;
        let encode = |message: String| self.failed(stmt, "ENCODE_FAILED", message);
        let component = &catalogue.components[of.component];
        let index = index_of(&latest, now);
        match (component.index, index) {
            (Some((low, high)), Some(index)) if !(low..=high).contains(&index) => {
                let message = format!("`{}` has no index {index}: it goes from {low} to {high}", component.name);
                return Err(encode(message));
            }
            (Some(_), None) => return Err(encode(format!("the index of `{}` is not known", component.name))),
            _ => {}
        }
        let mut args = serde_json::Map::new();
        for (arg, given) in of.args.iter().zip(&send.args) {
            let given = given.as_ref().map(|given| here.closed(given).evaluate(catalogue, &latest, now, None).value);
            let value = match (given, &arg.fixed, &arg.default) {
                (None, Some(value), _) | (None, None, Some(value)) => value.clone(),
                (None, None, None) => return Err(encode(format!("argument `{}` has no value", arg.name))),
                (Some(None), ..) => return Err(encode(format!("argument `{}` is not known", arg.name))),
                (Some(Some(value)), ..) => value,
            };
            let told = scalar(catalogue, &value);
            if !fits(&value, &arg.ty) {
                let what = words(&told, &arg.ty);
                let due = type_words(catalogue, &arg.ty);
                return Err(encode(format!("argument `{}` is {what}, which does not fit {due}", arg.name)));
            }
            args.insert(arg.name.to_owned(), told);
        }
        if let Some(requires) = &of.requires {
            let outcome = own(requires, target, index).evaluate(catalogue, &latest, now, None);
            if !outcome.is_true() {
                let message = format!("what `{}` requires is not met, {}", of.name, outcome.told(catalogue));
                return Err(self.failed(stmt, "REJECTED", message));
            }
        }
        Ok((index, args.into()))
    }
}

/// A condition of the catalogue for an instance of its component.
fn own(expr: &Expr, target: &'static str, index: Option<i64>) -> Closed {
    let env = Env { names: std::rc::Rc::default(), targets: std::rc::Rc::new(vec![target]) };
    Closed { expr: expr.clone(), env, own: Some(index) }
}

fn fits(value: &Value, ty: &Ty) -> bool {
    match (value, ty) {
        (Value::Int(value), Ty::Int(Some((low, high)))) => (low..=high).contains(&value),
        (Value::Float(value), Ty::Float(_, Some((low, high)))) => (low..=high).contains(&value),
        _ => true,
    }
}
