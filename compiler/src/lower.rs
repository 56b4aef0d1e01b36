//! The typed tree to the machine's program.
//!
//! One file a construct. Which entries of the catalogue the code uses is only known when all of it is written, and their
//! order is to depend on their names alone: so everything is written twice, first to learn what is used, then with the
//! numbers that follow from it. A tree with holes gives `None`; it has been reported.

use std::sync::Arc;

use stellar_vm::program::{Defaults, Program};

use crate::{bounds::Figures, catalogue::Catalogue, source::Sources, tree::Definition};

mod ask;
mod call;
mod check;
mod code;
mod expect;
mod fail;
mod for_each;
mod if_else;
mod let_name;
mod note;
mod repeat;
mod send;
mod slice;
mod step;
mod tables;
mod text;
mod together;
mod transfer;
mod unit;
mod wait;

use tables::Tables;
pub(crate) use text::fold;

/// The program of some definitions, sorted by kind and name; `None` where something of them is missing.
pub(crate) fn program(
    sources: &Sources,
    catalogue: &Catalogue,
    defaults: &Defaults,
    definitions: &[Definition],
    figures: &[Figures],
) -> Option<Program> {
    let mut tables = Tables::new(sources, catalogue);
    let units = |tables: &mut Tables<'_>| {
        let each = definitions.iter().zip(figures);
        each.map(|(definition, figures)| unit::unit(tables, definition, figures)).collect::<Option<Vec<_>>>()
    };
    units(&mut tables)?;
    slice::note(&mut tables)?;
    tables.number();
    let units = units(&mut tables)?;
    Some(Program {
        compiler: Arc::from(env!("CARGO_PKG_VERSION")),
        parameters_of_compilation: defaults.clone(),
        platforms: slice::platforms(&tables)?,
        enums: slice::enums(&tables)?,
        parameters: slice::parameters(&mut tables)?,
        telecommands: slice::telecommands(&mut tables)?,
        routes: slice::routes(&mut tables)?,
        files: slice::files(&tables),
        units,
    })
}
