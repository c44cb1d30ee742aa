use serde::{Deserialize, Serialize};

/// A ledger was made. The first record of every host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCreated {
    /// The version of heirloom that made it.
    pub version: String,
}
