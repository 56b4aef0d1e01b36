//! Everything that touches the world: stores, executor, gateways, links, the local API.
//!
//! [`ports`] say what is asked of a store, [`embedded`] is one on a folder of this machine, [`conformance`] the suite
//! that every store passes. The [`executor`] runs procedures: each event of a run is durable by its [`journal`] before
//! anything acts on it, its targets are held by [`leases`], its telecommands go by [`commanding`] to the [`gateway`] of
//! their target. The [`api`] lets others look and send. An [`instance`] is all of it, put together.

pub mod api;
pub mod clock;
pub mod commanding;
pub mod conformance;
pub mod crash;
pub mod embedded;
pub mod executor;
pub mod gateway;
pub mod ident;
pub mod instance;
pub mod journal;
pub mod leases;
pub mod ports;
