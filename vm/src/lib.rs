//! Stellar's contract between compiler and runtime: artifact, verifier, deterministic machine.
//!
//! The flow: an [`artifact`] is decoded to a [`program::Program`], [`verify`] proves its claims again and gives a
//! `Verified`, a [`machine`] is made of it and run on the facts of the world; [`event`] is what its log is made of.
//! Pure: no clock, no randomness, no input or output, no unsafe code; replay is running it again.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[cfg(any(test, feature = "adversary"))]
pub mod adversary;
pub mod artifact;
pub mod bounds;
pub mod catalogue;
pub mod command;
pub mod compare;
pub mod condition;
pub mod disasm;
pub mod event;
pub mod machine;
pub mod op;
pub mod program;
#[cfg(test)]
mod promise;
#[cfg(test)]
mod sample;
pub mod seeded;
pub mod time;
pub mod value;
pub mod verify;
