//! Gateways: each owns the link of its target.

pub mod link;
