use serde::{Deserialize, Serialize};

/// A person decided whether what the record's repository brings may count on this host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustDecided {
    /// The hash of what may count; nothing where trust was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// How many commands were among it.
    #[serde(default)]
    pub commands: u64,
}
