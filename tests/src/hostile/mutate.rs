//! Changes of inputs: of texts by lines, words, characters, bytes and indentation, of programs part by part.

pub mod program;
pub mod text;
