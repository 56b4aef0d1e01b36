//! `warnings:` which are allowed and which denied.

use crate::{
    diagnostics::{Levels, WrongLevel},
    yaml::{Fields, Node, Reader},
};

/// Reads `{allow: [code], deny: [code]}`.
pub(super) fn read(node: &Node, reader: &mut Reader<'_>) -> Levels {
    let mut levels = Levels::default();
    if let Some(fields) = reader.fields(node, node.place, &["allow", "deny"]) {
        each(&fields, "allow", reader, |code| levels.allow(code));
        each(&fields, "deny", reader, |code| levels.deny(code));
    }
    levels
}

fn each(fields: &Fields<'_>, key: &str, reader: &mut Reader<'_>, mut set: impl FnMut(&str) -> Result<(), WrongLevel>) {
    let Some(node) = fields.get(key) else { return };
    for item in reader.list(node).unwrap_or_default() {
        if let Some(code) = reader.text(item)
            && let Err(wrong) = set(code)
        {
            reader.bad(item, wrong.to_string());
        }
    }
}
