//! The crash campaign on the embedded store: runs are killed at every point, taken up again until they end, and then
//! everything that store and links hold is judged by the [checker](crate::checker).
//!
//! Two ways: [`processes`] kills real processes of `stellar` at the crash points of the runtime; [`virtual_time`] lets
//! processes live and die within this one, at each operation of store and link, thousands of times a minute. Both run the
//! procedures of [`missions`] and draw everything from a seed, so that a case can be tried again alone.

pub mod missions;
pub mod mortal;
pub mod open;
pub mod processes;
pub mod random;
pub mod virtual_time;
