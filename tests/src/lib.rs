//! What the end-to-end, fault and conformance tests share.

pub mod hex;
pub mod proxy;
pub mod satrs_target;
