//! The JSON that the commands print, against the schemas of `docs/schemas/`.
//!
//! `outputs` lets the binary print in every situation that it can be brought into, validates all of it, and then edits
//! it: what a schema does not say is refused. `shapes` holds the schemas against the types that are written, `pages`
//! against those who read them.

#![cfg(test)]

#[path = "schemas/outputs.rs"]
mod outputs;
#[path = "schemas/pages.rs"]
mod pages;
#[path = "schemas/schema.rs"]
mod schema;
#[path = "schemas/seen.rs"]
mod seen;
#[path = "schemas/shapes.rs"]
mod shapes;
#[path = "schemas/situations.rs"]
mod situations;
#[path = "schemas/variants.rs"]
mod variants;
