//! The rules of the language, one file each: the file to read first.
//!
//! [`SHAPE`] rules need the syntax tree alone and look at everything that was read, [`MEANING`] rules need the typed tree
//! and its figures. A rule reports and changes nothing; what another stage has reported it passes over in silence.

use std::collections::BTreeSet;

use stellar_grammar::ast;
use stellar_vm::catalogue::Telecommand;

use crate::{
    bounds::Figures,
    catalogue::Catalogue,
    diagnostics::{Code, Diagnostic},
    resolve::Circle,
    source::FileId,
    tree::{Definition, DefinitionId, TargetId},
};

mod answer_without_choices;
mod branches_share_target;
mod count_out_of_range;
mod duplicate_choice;
mod duration_out_of_range;
mod held_too_long;
mod recursive_call;
mod retry_never;
mod retry_not_allowed;
mod retry_spin;
mod statement_outside_step;
mod syntax;
mod too_many_statements;
mod unbounded_retry;
mod unguarded_hazard;
mod unreachable;
mod unused;
mod unverified_send;
mod window_below_period;

/// Rules over the syntax tree of one definition.
const SHAPE: &[fn(&Shape<'_>, &mut Vec<Diagnostic>)] = &[
    answer_without_choices::check,
    count_out_of_range::check,
    duplicate_choice::check,
    held_too_long::check,
    statement_outside_step::check,
    unbounded_retry::check,
];

/// Rules over one definition of the typed tree.
const MEANING: &[fn(&Subject<'_>, &mut Vec<Diagnostic>)] = &[
    branches_share_target::check,
    duration_out_of_range::check,
    retry_never::check,
    retry_not_allowed::check,
    retry_spin::check,
    too_many_statements::check,
    unguarded_hazard::check,
    unreachable::check,
    unused::check,
    unverified_send::check,
    window_below_period::check,
];

/// The code of each rule.
pub(crate) static CODES: &[&Code] = &[
    &answer_without_choices::CODE,
    &branches_share_target::CODE,
    &count_out_of_range::CODE,
    &duplicate_choice::CODE,
    &duration_out_of_range::CODE,
    &held_too_long::CODE,
    &recursive_call::CODE,
    &retry_never::CODE,
    &retry_not_allowed::CODE,
    &retry_spin::CODE,
    &statement_outside_step::CODE,
    &too_many_statements::CODE,
    &unbounded_retry::CODE,
    &unguarded_hazard::CODE,
    &unreachable::CODE,
    &unused::CODE,
    &unverified_send::CODE,
    &window_below_period::CODE,
];

pub(crate) use statement_outside_step::is_misplaced;

/// A definition as it was read.
pub(crate) struct Shape<'a> {
    /// Its file.
    pub(crate) file: FileId,
    /// The definition.
    pub(crate) definition: &'a ast::Definition,
}

/// All that a rule over the typed tree may look at.
pub(crate) struct World<'a> {
    /// All definitions.
    pub(crate) definitions: &'a [Definition],
    /// Their figures, one for one.
    pub(crate) figures: &'a [Figures],
    /// The catalogue.
    pub(crate) catalogue: &'a Catalogue,
    /// For each definition its targets that get state-changing telecommands.
    commanded: Vec<BTreeSet<TargetId>>,
    /// For each definition how an attempt of it begins.
    beginnings: Vec<retry_spin::Beginning>,
}

/// A definition with its figures.
pub(crate) struct Subject<'a> {
    /// The world it is part of.
    pub(crate) world: &'a World<'a>,
    /// The definition.
    pub(crate) definition: &'a Definition,
    /// Its figures.
    pub(crate) figures: &'a Figures,
}

impl<'a> World<'a> {
    /// What the rules need; `order` names callees before their callers.
    pub(crate) fn new(
        definitions: &'a [Definition],
        figures: &'a [Figures],
        catalogue: &'a Catalogue,
        order: &[DefinitionId],
    ) -> Self {
        let commanded = vec![BTreeSet::new(); definitions.len()];
        let beginnings = vec![retry_spin::Beginning::default(); definitions.len()];
        let mut world = Self { definitions, figures, catalogue, commanded, beginnings };
        for id in order {
            let Some(definition) = definitions.get(*id) else { continue };
            let commanded = branches_share_target::commanded(&world, definition);
            let beginning = retry_spin::beginning(&world, &definition.body);
            if let Some(slot) = world.commanded.get_mut(*id) {
                *slot = commanded;
            }
            if let Some(slot) = world.beginnings.get_mut(*id) {
                *slot = beginning;
            }
        }
        world
    }

    /// The telecommand that a `send` names.
    pub(crate) fn telecommand(&self, send: &crate::tree::Send) -> Option<&'a Telecommand> {
        crate::bounds::telecommand(self.catalogue, send.telecommand)
    }
}

/// Applies the rules over the syntax tree to a definition.
pub(crate) fn check_shape(shape: &Shape<'_>, out: &mut Vec<Diagnostic>) {
    for rule in SHAPE {
        rule(shape, out);
    }
}

/// Applies the rules over the typed tree to the definitions that are asked for, and to the calls among all.
pub(crate) fn check_meaning(world: &World<'_>, circles: &[Circle], out: &mut Vec<Diagnostic>) {
    recursive_call::check(world, circles, out);
    for (definition, figures) in world.definitions.iter().zip(world.figures) {
        let subject = Subject { world, definition, figures };
        for rule in MEANING {
            rule(&subject, out);
        }
    }
}
