//! What a gateway is asked to send.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use stellar_vm::{time::Instant, value::Scalar};

/// A telecommand to be sent, as `telecommand_sent` has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TelecommandOrder {
    /// ULID.
    pub id: Arc<str>,
    /// The run that sends it; none for a direct telecommand.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<Arc<str>>,
    /// Name within its component.
    pub telecommand: Arc<str>,
    /// Component, with its index: `tcu[2]`.
    pub component: Arc<str>,
    /// Every argument, defaults and fixed values included.
    pub args: BTreeMap<Arc<str>, Scalar>,
    /// Route.
    pub route: Arc<str>,
    /// End of the verification window: what has not left before it never leaves.
    pub deadline: Instant,
}

impl TelecommandOrder {
    /// The telecommand in words: `tcu[2].ping`.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}.{}", self.component, self.telecommand)
    }
}
