//! A target that nobody here wrote: the on-board PUS services of the crate `satrs` behind a UDP socket on loopback.
//!
//! Telecommands flow `server` (satrs' UDP server) → `distributor` (acceptance, choice of the service) → satrs' handler of
//! service 17 → `funnel` (sequence and message counters) → the sender of the last telecommand. Everything that decides the
//! bytes of a report is satrs' own; nothing of ours is imitated here, and nothing of the `ccsds` link is used.
//! `process` is how a test starts the program and ends it.

pub mod distributor;
pub mod funnel;
pub mod process;
pub mod server;

/// The APID of the target, for telecommands and telemetry alike.
pub const APID: u16 = 2;
/// The failure code of a start report for a service that the target does not have.
pub const INVALID_SERVICE: u16 = 0x0201;
/// The failure code of a start report for a subtype that a service of the target does not have.
pub const INVALID_SUBTYPE: u16 = 0x0202;
/// The longest datagram that the target takes.
pub const MAX_PACKET: usize = 2048;
