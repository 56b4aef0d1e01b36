//! Syntax trees and catalogue text to a checked program: no input or output.
//!
//! The flow is [`pipeline`]: texts are parsed, names and types [`resolve`]d into a [`tree`], [`bounds`] computed, the
//! `rules` applied, the tree lowered to the machine's program and encoded. Values and conditions are [`expr`]'s, in
//! [`types`] and the [`catalogue`]; what is wrong is a diagnostic of [`diagnostics`] with a page in [`explain`].

pub mod bounds;
pub mod catalogue;
pub mod config;
pub mod diagnostics;
pub mod explain;
pub mod expr;
pub mod format;
mod lower;
pub mod pipeline;
pub mod policy;
pub mod resolve;
mod rules;
pub mod source;
pub mod suggest;
mod sure;
pub mod tree;
pub mod types;
pub mod yaml;

/// The codes that this crate's own rules report, list by list; [`diagnostics::codes`] adds those of the grammar.
const CODES: &[&[&diagnostics::Code]] =
    &[types::CODES, expr::CODES, catalogue::CODES, config::CODES, resolve::CODES, rules::CODES];
