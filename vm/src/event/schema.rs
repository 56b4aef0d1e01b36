//! The version of the JSON of a log, which its first event carries.

use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The one version that this program writes and reads: what carries another number is no event of a log to it. A log
/// without the number is of this version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Schema;

impl Schema {
    /// Its number.
    pub const VERSION: u32 = 1;
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(Self::VERSION)
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let version = u32::deserialize(deserializer)?;
        if version == Self::VERSION { Ok(Self) } else { Err(de::Error::custom(Other(version))) }
    }
}

/// A version that this program does not know.
struct Other(u32);

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the log is of schema {}, and this program reads schema {}", self.0, Schema::VERSION)
    }
}
