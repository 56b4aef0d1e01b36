//! Gateways: the one place from which telecommands leave and at which telemetry arrives.
//!
//! A gateway owns the link of one target. It takes the telecommands of the target in order, encodes each, makes a claim
//! durable, hands it to the [`link`] at most once, and makes the result durable. What happens then, and everything else
//! that the link receives, it publishes as one ordered sequence of [`TargetItem`](crate::ports::TargetItem)s, and keeps the latest samples. What
//! is deliberately not here: who may send (leases), what a condition says (the machine), how bytes look (the links).
//!
//! **Invariant**: an identifier is handed over at most once, and only after its claim is durable.
//! **Invariant**: what the ground received before a telecommand left stands before its release in the order, what it
//! received after stands behind.

pub mod latest;
pub mod link;
pub mod order;

pub use latest::Latest;
pub use order::TelecommandOrder;
