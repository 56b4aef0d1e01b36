//! A harness for the machine: programs written as trees, and a scripted world in virtual time to run them in.
//!
//! [`World::run`] is the driver as the machine's contract asks for one. Every log is replayed at the end, from its lines,
//! and at every takeover: the new owner is a machine made from the log alone.

pub(crate) mod build;
pub(crate) mod story;
pub(crate) mod world;

pub(crate) use build::*;
pub(crate) use world::*;
