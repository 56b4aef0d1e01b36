//! Paths as they stand in the configuration.

use crate::{
    source::Place,
    yaml::{Node, Reader},
};

/// A file or folder that the configuration names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// As written.
    pub path: String,
    /// Where.
    pub place: Place,
}

/// A list of paths, and whether something of it could not be read.
pub(super) fn read(node: &Node, reader: &mut Reader<'_>) -> (Vec<Named>, bool) {
    let Some(items) = reader.list(node) else { return (Vec::new(), true) };
    let paths: Vec<Named> =
        items.iter().filter_map(|item| Some(Named { path: one(item, reader)?, place: item.place })).collect();
    let unread = paths.len() < items.len();
    (paths, unread)
}

/// A path.
pub(super) fn one(node: &Node, reader: &mut Reader<'_>) -> Option<String> {
    let text = reader.text(node)?;
    if text.is_empty() || text.contains('\0') {
        reader.bad(node, "this is no path");
        return None;
    }
    Some(text.to_owned())
}
