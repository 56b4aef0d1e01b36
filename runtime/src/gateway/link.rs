//! Links to targets.

pub mod ccsds;
