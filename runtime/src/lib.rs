//! Everything that touches the world: stores, executor, gateways, links, the local API.
//!
//! [`ports`] say what is asked of a store. What is acted on is durable first.

pub mod gateway;
pub mod ports;
