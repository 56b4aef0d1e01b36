//! What the end-to-end, fault and conformance tests share.

pub mod campaign;
pub mod checker;
pub mod everything;
pub mod field;
pub mod hex;
pub mod hostile;
pub mod instance;
pub mod kept;
pub mod mission;
pub mod oracle;
pub mod proof;
pub mod proxy;
pub mod satrs_target;
pub mod spec;
pub mod terminal;
