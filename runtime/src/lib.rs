//! Everything that touches the world: stores, executor, gateways, links, the local API.
//!
//! [`ports`] say what is asked of a store, [`embedded`] is one on a folder of this machine, [`conformance`] the suite
//! that every store passes. What is acted on is durable first.

pub mod clock;
pub mod conformance;
pub mod embedded;
pub mod gateway;
pub mod ports;
