//! The names of one definition: its targets, inputs, and what `let`, `for each` and `ask … as` give.
//!
//! A name is given once and never hidden: where it is visible, no other may be called so. Behind the block in which it
//! was given it is free again.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use stellar_grammar::Span;

use crate::tree::{Local, LocalId, Target, TargetId};

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// A target.
    Target(TargetId),
    /// A value.
    Local(LocalId),
}

/// The names of a definition.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) targets: Vec<Target>,
    pub(crate) locals: Vec<Local>,
    visible: BTreeMap<Arc<str>, Named>,
    blocks: Vec<Vec<Arc<str>>>,
    pub(crate) unread: BTreeSet<Arc<str>>,
    used_locals: RefCell<BTreeSet<LocalId>>,
    used_targets: RefCell<BTreeSet<TargetId>>,
}

impl Names {
    /// None yet; `unread` are words in lines that could not be read.
    pub(crate) fn new(unread: BTreeSet<Arc<str>>) -> Self {
        Self { unread, ..Self::default() }
    }

    /// Opens a block.
    pub(crate) fn open(&mut self) {
        self.blocks.push(Vec::new());
    }

    /// Closes the innermost block: its names end.
    pub(crate) fn close(&mut self) {
        for name in self.blocks.pop().unwrap_or_default() {
            self.visible.remove(&name);
        }
    }

    /// Gives a name to a target; the place where the name is taken already, if it is.
    pub(crate) fn give_target(&mut self, target: Target) -> Result<TargetId, Span> {
        let id = self.targets.len();
        let taken = self.give(&target.name, Named::Target(id)).err();
        let platform = target.platform;
        self.targets.push(target);
        match taken {
            None => Ok(id),
            Some(before) => Err(self.blur(before, |it| it.platform == platform, |_| false)),
        }
    }

    /// Gives a name to a value; the place where the name is taken already, if it is.
    pub(crate) fn give_local(&mut self, local: Local) -> (LocalId, Option<Span>) {
        let id = self.locals.len();
        let taken = self.give(&local.name, Named::Local(id)).err();
        let ty = local.ty.clone();
        self.locals.push(local);
        (id, taken.map(|before| self.blur(before, |_| false, |it| it.ty == ty)))
    }

    /// Gives a name, unless it stands for something already.
    fn give(&mut self, name: &Arc<str>, named: Named) -> Result<(), Named> {
        if let Some(before) = self.visible.get(name).copied() {
            // Whoever uses the name may mean either.
            self.mark(before);
            self.mark(named);
            return Err(before);
        }
        self.visible.insert(name.clone(), named);
        if let Some(block) = self.blocks.last_mut() {
            block.push(name.clone());
        }
        Ok(())
    }

    /// Where a name is given that another was to take. Unless both are alike, what is meant by it is not known any more.
    fn blur(&mut self, before: Named, target: impl Fn(&Target) -> bool, local: impl Fn(&Local) -> bool) -> Span {
        let span = match before {
            Named::Target(id) => self.targets.get_mut(id).map(|it| {
                if !target(it) {
                    it.platform = None;
                }
                it.span
            }),
            Named::Local(id) => self.locals.get_mut(id).map(|it| {
                if !local(it) {
                    it.ty = None;
                }
                it.span
            }),
        };
        span.unwrap_or_default()
    }

    /// What a name stands for here; it counts as used.
    pub(crate) fn get(&self, name: &str) -> Option<Named> {
        let named = self.visible.get(name).copied()?;
        self.mark(named);
        Some(named)
    }

    fn mark(&self, named: Named) {
        match named {
            Named::Target(id) => self.used_targets.borrow_mut().insert(id),
            Named::Local(id) => self.used_locals.borrow_mut().insert(id),
        };
    }

    /// The names that are visible here.
    pub(crate) fn visible(&self) -> impl Iterator<Item = (&str, Named)> {
        self.visible.iter().map(|(name, named)| (&**name, *named))
    }

    /// The tables, when all is resolved.
    pub(crate) fn used(self) -> Used {
        Used {
            targets: self.targets,
            locals: self.locals,
            used_locals: self.used_locals.into_inner(),
            used_targets: self.used_targets.into_inner(),
            unread: self.unread,
        }
    }
}

/// The names of a definition, when all is resolved.
pub(crate) struct Used {
    pub(crate) targets: Vec<Target>,
    pub(crate) locals: Vec<Local>,
    pub(crate) used_locals: BTreeSet<LocalId>,
    pub(crate) used_targets: BTreeSet<TargetId>,
    pub(crate) unread: BTreeSet<Arc<str>>,
}
