use serde::{Deserialize, Serialize};

use crate::id::HostId;

/// The content of records was erased: their bodies and ids are gone, their hashes stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordErased {
    /// The host that wrote them.
    pub host: HostId,
    /// Their places in its chain.
    pub seqs: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
