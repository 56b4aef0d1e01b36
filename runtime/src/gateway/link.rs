//! Links to targets.

pub mod ccsds;
pub mod record;
