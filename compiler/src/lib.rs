//! Syntax trees and catalogue text to a checked program: no input or output.

pub mod catalogue;
pub mod diagnostics;
pub mod expr;
pub mod source;
pub mod suggest;
pub mod types;
pub mod yaml;

/// The codes that this crate's own rules report, list by list; [`diagnostics::codes`] adds those of the grammar.
const CODES: &[&[&diagnostics::Code]] = &[types::CODES, expr::CODES, catalogue::CODES];
