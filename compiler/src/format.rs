//! What is told of the definitions: the part `definitions` of `stellar check --format json`, and the table for a reader.

use crate::{pipeline::Checked, tree::DefinitionId};

mod json;
mod table;

pub use json::{JsonCall, JsonDefinition, JsonInput, JsonPolicy, JsonTarget, definitions};
pub use table::{critical_path, table};

/// The definitions of the files that were named, whose figures are known, by file and line.
fn listed(checked: &Checked) -> Vec<DefinitionId> {
    let figures = checked.definitions().iter().zip(checked.figures()).enumerate();
    let known = figures.filter(|(_, (definition, figures))| checked.is_named(definition) && figures.claims.is_some());
    let mut ids: Vec<_> = known.map(|(id, (definition, _))| (definition.name_place, id)).collect();
    ids.sort();
    ids.into_iter().map(|(_, id)| id).collect()
}
