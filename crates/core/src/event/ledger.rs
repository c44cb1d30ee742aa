use serde::{Deserialize, Serialize};

/// Records of a host are gone: damage took them, and nothing that was at hand had them.
///
/// Verifying takes a hole that is written down for a known loss. An export that has the records fills
/// it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordsLost {
    pub host: String,
    /// The first of them.
    pub from: u64,
    /// The last of them.
    pub to: u64,
}

/// The host that writes this goes on where another one ended, whose chain it may not continue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSucceeded {
    /// The other one.
    pub host: String,
    /// Its last record that is here.
    pub seq: u64,
}
