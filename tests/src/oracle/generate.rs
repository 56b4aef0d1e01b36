//! Random programs: library steps that only look and ones that act, procedures over them, and one that is run.

use std::collections::BTreeMap;

use super::{
    catalogue::{self, EPS, TCU},
    conditions::{Scope, literal_of},
    model::*,
    rng::Rng,
    statements::{Body, Callable},
};

/// What a definition may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Power {
    /// Only telecommands that change nothing.
    Looks,
    /// Any.
    Acts,
}

/// A random program.
pub(super) fn program(rng: &mut Rng) -> Program {
    let catalogue = catalogue::random(rng);
    let mut made = Making { rng, catalogue, defs: Vec::new(), callable: Vec::new() };
    let looks = 1 + made.rng.below(2);
    for n in 0..looks {
        made.step(format!("Look {n}"), Power::Looks);
    }
    for n in 0..1 + made.rng.below(2) {
        made.step(format!("Act {n}"), Power::Acts);
    }
    made.procedure("Watch".to_owned(), Power::Looks);
    if made.rng.chance(50) {
        made.procedure("Work".to_owned(), Power::Acts);
    }
    made.procedure("Main".to_owned(), Power::Acts);
    let Making { rng, catalogue, defs, .. } = made;
    let entry = defs.len() - 1;
    let main: &Def = &defs[entry];
    let mut inputs = BTreeMap::new();
    for input in &main.inputs {
        let (name, ty) = &main.names[input.name];
        let given = match &input.default {
            Some((value, _)) if rng.chance(50) => value.clone(),
            _ => match literal_of(&catalogue, rng, ty) {
                Expr::Literal(value, _) => value,
                _ => continue,
            },
        };
        inputs.insert(name.clone(), given);
    }
    let default_retry = match rng.below(4) {
        0 => None,
        1 => Some(Policy { times: Some(1), every: None, total: None }),
        _ => Some(Policy { times: Some(1), every: Some(2 * S), total: None }),
    };
    Program { catalogue, defs, entry, default_retry, inputs }
}

struct Making<'a> {
    rng: &'a mut Rng,
    catalogue: Catalogue,
    defs: Vec<Def>,
    callable: Vec<Callable>,
}

impl Making<'_> {
    fn empty(&mut self, title: String, is_step: bool) -> Def {
        let both = !is_step || self.rng.chance(30);
        let targets = if both { vec!["sat", "aux"] } else { vec!["sat"] };
        let mut def = Def {
            is_step,
            title,
            targets,
            inputs: vec![],
            names: vec![],
            policy: None,
            body: vec![],
            on_failure: None,
        };
        let kinds = [
            ("tcu", Ty::Int(Some((1, 3)))),
            ("n", Ty::Int(None)),
            ("v", Ty::Float(None, None)),
            ("go", Ty::Bool),
            ("m", Ty::Enum(0)),
            ("d", Ty::Duration),
            ("t", Ty::Time),
            ("s", Ty::Str),
        ];
        for (name, ty) in kinds {
            if !self.rng.chance(if name == "tcu" { 60 } else { 12 }) {
                continue;
            }
            let default = self.rng.chance(30).then(|| match literal_of(&self.catalogue, self.rng, &ty) {
                Expr::Literal(value, text) => (value, text),
                _ => unreachable!("a literal is a literal"),
            });
            def.names.push((name.to_owned(), ty));
            def.inputs.push(Input { name: def.names.len() - 1, default });
        }
        def
    }

    fn step(&mut self, title: String, power: Power) {
        let mut def = self.empty(title, true);
        if power == Power::Looks && self.rng.chance(70) {
            def.policy = Some(policy(self.rng));
        } else if self.rng.chance(10) {
            def.policy = Some(Policy { times: Some(0), every: None, total: None });
        }
        let names: Vec<_> = def.inputs.iter().map(|input| (input.name, def.names[input.name].1.clone())).collect();
        let targets = def.targets.len();
        let allowed = vec![power == Power::Acts; targets];
        let mut body = Body::new(self.rng, &self.catalogue, &[], &mut def.names, targets, allowed);
        def.body = body.block(&names, true, 2, power == Power::Acts);
        self.finish(def);
    }

    fn procedure(&mut self, title: String, power: Power) {
        let mut def = self.empty(title, false);
        let names: Vec<_> = def.inputs.iter().map(|input| (input.name, def.names[input.name].1.clone())).collect();
        let targets = def.targets.len();
        let allowed = vec![power == Power::Acts; targets];
        let callable: Vec<_> =
            self.callable.iter().filter(|it| power == Power::Acts || it.eligible()).cloned().collect();
        let mut body = Body::new(self.rng, &self.catalogue, &callable, &mut def.names, targets, allowed);
        def.body = body.block(&names, false, 3, false);
        def.on_failure = body.rng.chance(45).then(|| body.block(&names, false, 1, false));
        self.finish(def);
    }

    fn finish(&mut self, def: Def) {
        self.defs.push(def);
        let at = self.defs.len() - 1;
        let def = &self.defs[at];
        let commands = (0..def.targets.len())
            .map(|target| {
                def.body.iter().chain(def.on_failure.iter().flatten()).any(|stmt| self.commands(stmt, target))
            })
            .collect();
        let inputs = def.inputs.iter().map(|it| (def.names[it.name].1.clone(), it.default.is_some())).collect();
        self.callable.push(Callable { def: at, is_step: def.is_step, commands, inputs });
    }

    /// Whether a statement changes the state of a target.
    fn commands(&self, stmt: &Stmt, of: usize) -> bool {
        let any = |block: &[Stmt]| block.iter().any(|stmt| self.commands(stmt, of));
        match &stmt.kind {
            Kind::Send(send) => send.target == of && self.catalogue.telecommands[send.telecommand].changes,
            Kind::Transfer { target, .. } => *target == of,
            Kind::If { then, other, .. } => any(then) || any(other),
            Kind::Repeat { body, .. } | Kind::ForEach { body, .. } | Kind::Step { body, .. } => any(body),
            Kind::Together(branches) => branches.iter().any(|branch| any(branch)),
            Kind::Do(call) | Kind::Run(call) => {
                let callee = self.callable.iter().find(|it| it.def == call.def);
                let place = call.targets.iter().position(|target| *target == of);
                place.is_some_and(|place| callee.is_some_and(|callee| callee.commands[place]))
            }
            _ => false,
        }
    }
}

/// A policy with a limit.
pub(super) fn policy(rng: &mut Rng) -> Policy {
    let every = rng.chance(60).then(|| rng.pick(&[100 * MS, 500 * MS, S, 2 * S, 6 * S]));
    let total = rng.pick(&[500 * MS, 3 * S, 6 * S, 10 * S, 20 * S]);
    match rng.below(8) {
        0..=1 => Policy { times: Some(u32::try_from(1 + rng.below(3)).unwrap()), every, total: None },
        2..=5 => Policy { times: None, every, total: Some(total) },
        6 => Policy { times: Some(u32::try_from(1 + rng.below(3)).unwrap()), every, total: Some(total) },
        _ => Policy { times: Some(0), every: None, total: None },
    }
}

/// The telecommands that may be sent to a component.
pub(super) fn telecommands(catalogue: &Catalogue, changes: bool) -> Vec<usize> {
    let fits = |at: &usize| changes || !catalogue.telecommands[*at].changes;
    (0..catalogue.telecommands.len()).filter(fits).collect()
}

/// A component of the platform.
pub(super) fn component(rng: &mut Rng) -> usize {
    if rng.chance(70) { TCU } else { EPS }
}

/// The names in scope with their types.
pub(super) fn scope<'a>(catalogue: &'a Catalogue, names: &[(usize, Ty)], targets: usize) -> Scope<'a> {
    Scope { catalogue, names: names.to_vec(), targets }
}
