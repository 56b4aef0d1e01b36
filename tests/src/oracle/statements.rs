//! Random statements and blocks.

use super::{
    catalogue::{MODE, TCU},
    conditions::{Scope, literal_of},
    generate::{component, policy, scope, telecommands},
    model::*,
    print::time_literal,
    rng::Rng,
    world::START,
};

/// A definition that can be called.
#[derive(Debug, Clone)]
pub(super) struct Callable {
    pub(super) def: usize,
    pub(super) is_step: bool,
    /// For each of its targets whether it changes its state.
    pub(super) commands: Vec<bool>,
    /// Type of each input, and whether it has a default.
    pub(super) inputs: Vec<(Ty, bool)>,
}

impl Callable {
    pub(super) fn eligible(&self) -> bool {
        !self.commands.contains(&true)
    }
}

/// The body of a definition in the making.
pub(super) struct Body<'a> {
    pub(super) rng: &'a mut Rng,
    catalogue: &'a Catalogue,
    callable: &'a [Callable],
    names: &'a mut Vec<(String, Ty)>,
    targets: usize,
    /// For each target whether its state may be changed.
    allowed: Vec<bool>,
}

type InScope = Vec<(usize, Ty)>;

impl<'a> Body<'a> {
    pub(super) fn new(
        rng: &'a mut Rng,
        catalogue: &'a Catalogue,
        callable: &'a [Callable],
        names: &'a mut Vec<(String, Ty)>,
        targets: usize,
        allowed: Vec<bool>,
    ) -> Self {
        Self { rng, catalogue, callable, names, targets, allowed }
    }

    fn scope(&self, names: &[(usize, Ty)]) -> Scope<'a> {
        scope(self.catalogue, names, self.targets)
    }

    fn name(&mut self, stem: &str, ty: Ty) -> usize {
        self.names.push((format!("{stem}{}", self.names.len()), ty));
        self.names.len() - 1
    }

    fn within(&mut self) -> Ns {
        self.rng.pick(&[0, 100 * MS, 500 * MS, S, 2 * S, 2 * S, 3 * S, 5 * S, 8 * S])
    }

    /// A block of statements, one at least.
    pub(super) fn block(&mut self, names: &[(usize, Ty)], in_step: bool, depth: usize, must_send: bool) -> Vec<Stmt> {
        let outer = names;
        let mut names = names.to_vec();
        let mut block = Vec::new();
        let count = 1 + self.rng.below(match depth {
            0 | 1 => 2,
            2 => 4,
            _ => 6,
        });
        for _ in 0..count {
            let kind = if in_step { self.in_step(&mut names, depth) } else { self.in_procedure(&mut names, depth) };
            let ends = matches!(kind, Kind::Fail(_));
            self.push(&mut block, kind, &names);
            if ends {
                break;
            }
        }
        if must_send && !block.iter().any(|stmt| matches!(stmt.kind, Kind::Send(_))) {
            let kind = self.send(&outer.to_vec());
            block.insert(0, stmt(kind.clone()));
            if self.is_hazardous(&kind) {
                let ask = self.guard();
                block.insert(0, ask);
            }
        }
        block
    }

    fn push(&mut self, block: &mut Vec<Stmt>, kind: Kind, names: &InScope) {
        // What was sent before a transfer makes another case of an interruption in it.
        if matches!(kind, Kind::Transfer { .. }) && self.rng.chance(65) {
            let send = self.send(names);
            self.push(block, send, names);
        }
        if self.is_hazardous(&kind) {
            let ask = self.guard();
            block.push(ask);
        }
        block.push(stmt(kind));
    }

    fn is_hazardous(&self, kind: &Kind) -> bool {
        matches!(kind, Kind::Send(send) if self.catalogue.telecommands[send.telecommand].hazardous)
    }

    fn guard(&mut self) -> Stmt {
        let within = self.rng.pick(&[S, 3 * S, 5 * S]);
        stmt(Kind::Ask(Ask { text: "Arm it?".to_owned(), choices: vec![], within, name: None }))
    }

    fn in_step(&mut self, names: &mut InScope, depth: usize) -> Kind {
        let acts = self.allowed.contains(&true);
        match self.rng.below(100) {
            0..26 => self.send(names),
            26..44 => self.expect(names),
            44..47 => Kind::Fail(self.rng.pick(&["no good", "failed: \"x\"", "ungünstig"]).to_owned()),
            47..58 if acts => self.transfer(names),
            58..72 if depth > 0 => self.compound(names, true, depth),
            _ => self.plain(names, true),
        }
    }

    fn in_procedure(&mut self, names: &mut InScope, depth: usize) -> Kind {
        match self.rng.below(100) {
            0..42 => match self.call(names) {
                Some(call) => call,
                None => self.plain(names, false),
            },
            42..56 => self.inline(names),
            56..72 if depth > 0 => self.compound(names, false, depth),
            72..82 if depth > 0 => self.together(names, depth),
            _ => self.plain(names, false),
        }
    }

    /// What may stand anywhere and holds no other.
    fn plain(&mut self, names: &mut InScope, in_step: bool) -> Kind {
        let here = self.scope(names);
        match self.rng.below(100) {
            0..14 => Kind::Check(here.condition(self.rng, 1)),
            14..36 => {
                let cond = here.condition(self.rng, 2);
                Kind::WaitUntil { cond, within: self.within() }
            }
            36..50 => Kind::Wait(self.within()),
            50..62 => {
                let ahead = self.rng.pick(&[-1, 0, 1, 2, 4, 9]) * S;
                let time = match here.name(self.rng, &Ty::Time) {
                    Some(name) if self.rng.chance(50) => name,
                    _ if self.rng.chance(15) => here.value(self.rng, &Ty::Time, true),
                    _ => time_literal(START + ahead + self.rng.between(0, 6) * S),
                };
                Kind::WaitTime { time, within: self.within() }
            }
            62..71 => self.ask(names),
            71..84 => Kind::Note(self.template(names)),
            _ => self.give(names, in_step),
        }
    }

    fn give(&mut self, names: &mut InScope, _in_step: bool) -> Kind {
        let here = self.scope(names);
        let params = &self.catalogue.params;
        let (value, ty) = match self.rng.below(6) {
            0 => (here.condition(self.rng, 1), Ty::Bool),
            1 | 2 => {
                let param = self.rng.below(params.len());
                let ty = params[param].ty.clone();
                (Expr::Read(here.read(self.rng, param)), ty)
            }
            _ => {
                let ty = self.rng.pick(&[
                    Ty::Int(None),
                    Ty::Float(None, None),
                    Ty::Duration,
                    Ty::Time,
                    Ty::Enum(0),
                    Ty::Str,
                ]);
                // The type of a literal label is that of its enumeration only beside something of it.
                let value = match ty {
                    Ty::Enum(_) => Expr::Read(here.read(self.rng, MODE)),
                    _ => here.value(self.rng, &ty, true),
                };
                (value, ty)
            }
        };
        // A literal number has the narrowest range: what it is taken for later is the general type.
        let kept = match (&value, &ty) {
            (Expr::Literal(..), Ty::Int(_)) => Ty::Int(None),
            _ => ty,
        };
        let name = self.name("x", kept.clone());
        let usable = !matches!(value, Expr::Calc(..)) || !matches!(kept, Ty::Int(_));
        if usable {
            names.push((name, kept));
        }
        Kind::Let { name, value }
    }

    fn template(&mut self, names: &InScope) -> Vec<Part> {
        let mut parts = vec![Part::Text(self.rng.pick(&["now ", "a {b} \"c\" ", ""]).to_owned())];
        for (name, _) in names {
            if self.rng.chance(40) {
                parts.push(Part::Name(*name));
                parts.push(Part::Text(", ".to_owned()));
            }
        }
        parts.push(Part::Text("end".to_owned()));
        parts
    }

    fn ask(&mut self, names: &mut InScope) -> Kind {
        let text = self.rng.pick(&["Go on?", "a {b} \"c\"", "Wie weiter, \u{fc}berhaupt?"]).to_owned();
        let choices = if self.rng.chance(40) { vec!["Left", "Right", "no"] } else { vec![] };
        let within = self.within();
        let mut name = None;
        // A question without choices keeps no answer: it fails on no.
        if !choices.is_empty() && self.rng.chance(70) {
            let given = self.name("a", Ty::Str);
            names.push((given, Ty::Str));
            name = Some(given);
        }
        Kind::Ask(Ask { text, choices, within, name })
    }

    fn expect(&mut self, names: &InScope) -> Kind {
        let cond = self.scope(names).condition(self.rng, 2);
        let within = self.within();
        let held =
            self.rng.chance(50).then(|| self.rng.pick(&[0, 100 * MS, 500 * MS, S, 2 * S, 2 * S, 2 * S]).min(within));
        Kind::Expect { cond, held, within }
    }

    fn send(&mut self, names: &InScope) -> Kind {
        let target = self.rng.below(self.targets);
        let fit = telecommands(self.catalogue, self.allowed[target]);
        let telecommand = self.rng.pick(&fit);
        let of = &self.catalogue.telecommands[telecommand];
        let here = self.scope(names);
        let index = (of.component == TCU).then(|| here.index(self.rng, true));
        let mut args = Vec::new();
        for arg in &of.args {
            args.push(match (&arg.fixed, &arg.default) {
                (Some(_), _) => None,
                (None, Some(_)) if self.rng.chance(50) => None,
                _ => Some(here.value(self.rng, &arg.ty, true)),
            });
        }
        let route = self.rng.pick(&[None, None, Some("direct"), Some("relay")]);
        Kind::Send(Send { telecommand, target, index, args, route })
    }

    fn transfer(&mut self, names: &InScope) -> Kind {
        let some: Vec<_> = (0..self.targets).filter(|at| self.allowed[*at]).collect();
        let target = self.rng.pick(&some);
        let component = component(self.rng);
        let here = self.scope(names);
        let index = (component == TCU).then(|| here.index(self.rng, true));
        Kind::Transfer { file: "image.bin".to_owned(), target, component, index, within: self.within().max(S) }
    }

    fn compound(&mut self, names: &InScope, in_step: bool, depth: usize) -> Kind {
        let here = self.scope(names);
        match self.rng.below(10) {
            0..5 => {
                let sure = self.rng.chance(20).then(|| here.about_names(self.rng)).flatten();
                let cond = sure.unwrap_or_else(|| here.condition(self.rng, 1));
                let then = self.block(names, in_step, depth - 1, false);
                let other = if self.rng.chance(50) { self.block(names, in_step, depth - 1, false) } else { Vec::new() };
                Kind::If { cond, then, other }
            }
            5..8 => {
                let times = u32::try_from(1 + self.rng.below(3)).unwrap();
                Kind::Repeat { times, body: self.block(names, in_step, depth - 1, false) }
            }
            _ => {
                let (over, ty) = self.over();
                let name = self.name("i", ty.clone());
                let mut inner = names.clone();
                inner.push((name, ty));
                Kind::ForEach { name, over, body: self.block(&inner, in_step, depth - 1, false) }
            }
        }
    }

    fn over(&mut self) -> (Over, Ty) {
        let ty = self.rng.pick(&[
            Ty::Int(Some((1, 3))),
            Ty::Int(Some((1, 3))),
            Ty::Str,
            Ty::Duration,
            Ty::Float(None, None),
        ]);
        if ty == Ty::Int(Some((1, 3))) && self.rng.chance(70) {
            let low = self.rng.between(1, 3);
            return (Over::Range(low, self.rng.between(low, 3)), ty);
        }
        let count = 1 + self.rng.below(3);
        let mut all = Vec::new();
        for _ in 0..count {
            if let Expr::Literal(value, text) = literal_of(self.catalogue, self.rng, &ty) {
                all.push((value, text));
            }
        }
        (Over::List(all), ty)
    }

    fn inline(&mut self, names: &InScope) -> Kind {
        let acts = self.allowed.contains(&true) && self.rng.chance(60);
        let allowed = if acts { self.allowed.clone() } else { vec![false; self.targets] };
        let before = std::mem::replace(&mut self.allowed, allowed);
        let must_send = acts && self.rng.chance(60);
        let body = self.block(names, true, 1, must_send);
        self.allowed = before;
        let policy = (!acts && self.rng.chance(50)).then(|| policy(self.rng));
        let name = self.rng.pick(&["Inside", "Look inside", "Inside \"x\""]).to_owned();
        Kind::Step { name, policy, body }
    }

    fn together(&mut self, names: &InScope, depth: usize) -> Kind {
        let count = 2 + usize::from(self.rng.chance(35));
        let before = self.allowed.clone();
        let mut branches = Vec::new();
        // Each target's state is changed in one branch at most.
        let owner: Vec<usize> = (0..self.targets).map(|_| self.rng.below(count)).collect();
        for branch in 0..count {
            self.allowed = (0..self.targets).map(|target| before[target] && owner[target] == branch).collect();
            branches.push(self.block(names, false, depth - 1, false));
        }
        self.allowed = before;
        Kind::Together(branches)
    }

    fn call(&mut self, names: &InScope) -> Option<Kind> {
        let mut fit = Vec::new();
        for callee in self.callable {
            for targets in places(callee.commands.len(), self.targets) {
                let may = targets.iter().zip(&callee.commands).all(|(at, commands)| !commands || self.allowed[*at]);
                if may {
                    fit.push((callee, targets));
                }
            }
        }
        if fit.is_empty() {
            return None;
        }
        let (callee, targets) = self.rng.pick(&fit);
        let here = self.scope(names);
        let mut inputs = Vec::new();
        for (ty, has_default) in &callee.inputs {
            let left_out = *has_default && self.rng.chance(40);
            let telemetry = self.rng.chance(20);
            inputs.push((!left_out).then(|| here.value(self.rng, ty, telemetry)));
        }
        let by_name = inputs.iter().any(Option::is_none) || self.rng.chance(30);
        let policy = (callee.eligible() && self.rng.chance(45)).then(|| policy(self.rng));
        let call = Call { def: callee.def, targets, inputs, by_name, policy };
        Some(if callee.is_step { Kind::Do(call) } else { Kind::Run(call) })
    }
}

/// Every way to give `count` different targets out of `of`.
fn places(count: usize, of: usize) -> Vec<Vec<usize>> {
    match (count, of) {
        (1, _) => (0..of).map(|at| vec![at]).collect(),
        (2, 2) => vec![vec![0, 1], vec![1, 0]],
        _ => Vec::new(),
    }
}

/// A statement whose place the printer will tell.
pub(super) fn stmt(kind: Kind) -> Stmt {
    Stmt { line: 0, text: String::new(), kind }
}
