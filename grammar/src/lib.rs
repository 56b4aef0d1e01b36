//! Text of a procedure to tokens to syntax tree: shape only, no meaning.

pub mod ast;
pub mod error;
pub mod span;
pub mod units;

pub use error::{Label, SYNTAX_CODES, SyntaxError};
pub use span::Span;
