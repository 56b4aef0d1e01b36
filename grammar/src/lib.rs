//! Text of a procedure to tokens to syntax tree: shape only, no meaning.
//!
//! ```text
//! text --lexer--> tokens --layout--> tokens with blocks --stellar.lalrpop + shape--> Ast
//! ```
//!
//! Parsing never fails: what cannot be read becomes an error node in the tree and a [`SyntaxError`] in the list, and the
//! rest is read as if it were right. Names, types, bounds and rules are the compiler's.

mod expected;
mod layout;
mod lexer;
mod literal;
mod parse;
#[cfg(test)]
mod properties;
mod shape;
mod token;

pub mod ast;
pub mod error;
pub mod reference;
pub mod span;
pub mod units;

pub use error::{Label, SYNTAX_CODES, SyntaxError};
pub use layout::NESTING_LIMIT;
pub use parse::{decode, parse, parse_bytes, parse_condition, parse_duration, parse_range, parse_value};
pub use span::Span;
