use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::issue::{Claim, IssueId, Owner};

/// An issue of the record's repository was claimed, or taken over from an owner that is dead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimTaken {
    pub issue: IssueId,
    pub claim: Claim,
}

/// The heartbeat of an owner: it is still there, and keeps everything it claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimRenewed {
    pub owner: Owner,
    /// Until when its claims hold now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// An owner let go of an issue of the record's repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimReleased {
    pub issue: IssueId,
    /// Who had it.
    pub owner: Owner,
}
