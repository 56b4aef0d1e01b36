//! An independent oracle for the machine: random programs in adversarial worlds, run by the machine and by a reference
//! interpreter that shares no code with it; their logs are the same, event by event, field by field.
//!
//! A seed makes a program (`generate`) of the oracle's own `model`, which is printed for the compiler (`print`) and
//! interpreted by the `reference`, and a `world` with telemetry, reports, operators and interruptions. One
//! `driver`, which does what the runtime's executor does, drives the `machine_side` and the reference through worlds
//! that are the same as long as the logs are. `property` compares logs, bounds and the artifact's claims (`figures`),
//! and `tally` tells what a campaign of seeds reached.
//!
//! Where the text leaves it open, this is what was taken:
//!
//! - A condition is judged as of the latest reception among the samples that it reads, an index that is telemetry
//!   followed by its latest sample, be that stale by then or not; a stale index then leads to no value.
//! - `X is known` is true of a valid, fresh sample that is no number or no value of its type, and false of an index that
//!   is unknown or out of range.
//! - A report without a release before it tells that the telecommand left: at its reception, behind everything that the
//!   log had told by then.
//! - A branch halted by the failure of another: what is due when that failure is logged (a `note` whose turn has come, the
//!   end of a step) is still logged; a `wait` that is under way runs to its end; a call ends failed with the failure that
//!   halted it, even if its last statement was under way; a `together` inside likewise. An attempt that an operator or a
//!   resumption ordered counts as begun.
//! - Two takeovers before the leases are there count as one, from the later on; one between a resumption and its leases
//!   is a resumption.
//! - A takeover or suspension before the transition of a statement counts as one in that statement.
//! - A telecommand about to leave that was judged on telemetry is judged again after a takeover, on samples of then.
//! - A status that repeats what the log says of a telecommand of an attempt that is not over is refused; of an attempt
//!   that is over nothing is kept, so there every status is logged.
//! - An input of a call that can be without a value is read by a step of its own, named by the call's text, and counts
//!   one statement.
//! - A duration divided is rounded to the nearest nanosecond, halves away from zero.
//!
//! Not covered: facts that make no sense where they come (the machine's own tests enter those), scales other than UTC, a
//! step of UTC in a run, units that convert at run time, shared leases, lateness of a driver.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a harness fails its test at once"
)]

mod catalogue;
mod conditions;
mod driver;
mod figures;
mod generate;
mod machine_side;
mod model;
mod print;
mod property;
mod reference;
mod rng;
mod statements;
mod tally;
mod text;
mod world;

pub use property::{Report, check};
pub use tally::{Tally, campaign};
