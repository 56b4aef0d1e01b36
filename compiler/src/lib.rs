//! Syntax trees and catalogue text to a checked program: no input or output.

pub mod diagnostics;
pub mod source;
pub mod suggest;

/// The codes that this crate's own rules report, list by list; [`diagnostics::codes`] adds those of the grammar.
const CODES: &[&[&diagnostics::Code]] = &[];
