//! A team's hub.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Answer;

/// That a database has the schema of a hub.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HubMigrated {
    /// The hub, without the password.
    pub hub: String,
    /// The schema it had; 0 where there was none.
    pub from: i32,
    /// The schema it has.
    pub to: i32,
}

impl Answer for HubMigrated {}

/// What of a repository would be sent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HubPreview {
    /// The hub, without the password.
    pub hub: String,
    /// The repository's key.
    pub key: String,
    /// By kind.
    pub kinds: Vec<HubKind>,
    /// What would not be sent although its kind is, by why.
    pub withheld: BTreeMap<String, u64>,
}

/// Records of one kind.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HubKind {
    /// The kind.
    pub kind: String,
    /// How many there are.
    pub count: u64,
    /// One of them, as it would leave.
    pub example: String,
}

/// That a repository joined a hub.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HubJoined {
    /// The hub, without the password.
    pub hub: String,
    /// The repository's key.
    pub key: String,
    /// Who you are there.
    pub member: String,
    /// Whether the hub did not know the repository.
    pub is_new: bool,
    /// How many other hosts joined with it.
    pub others: u64,
    /// Whether what was there before is sent too.
    pub history: bool,
}

impl Answer for HubJoined {}

/// That a repository left its hub.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HubLeft {
    /// The hub, without the password.
    pub hub: String,
    /// The repository's key.
    pub key: String,
}

impl Answer for HubLeft {}

/// What was sent.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct HubPushed {
    /// The hub, without the password.
    pub hub: String,
    /// The number of records.
    pub sent: u64,
    /// What was withheld of what was looked at.
    pub withheld: Vec<HubWithheld>,
    /// The place in this ledger's chain up to which the hub has everything that travels.
    pub seq: u64,
    /// How long to wait before the rest is taken, where the hub said so.
    pub later_ms: Option<u64>,
}

impl Answer for HubPushed {}

/// A record that could have left and did not.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HubWithheld {
    /// Its place in this ledger's chain.
    pub seq: u64,
    /// Its kind.
    pub kind: String,
    /// Why.
    pub why: String,
}

/// What was taken in.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct HubPulled {
    /// The hub, without the password.
    pub hub: String,
    /// The number of records.
    pub taken: u64,
    /// How many of a kind that is not taken from others, or with a secret in them.
    pub refused: u64,
    /// How many the hub had dropped before they were read here.
    pub skipped: u64,
    /// Hosts that are no longer followed.
    pub problems: Vec<HubProblem>,
}

impl Answer for HubPulled {}

/// A host that is not followed any further.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HubProblem {
    /// The host.
    pub host: String,
    /// Who writes there.
    pub author: String,
    /// Its last record that fitted.
    pub seq: u64,
    /// What did not.
    pub problem: String,
}

/// How a repository stands with its hub.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HubStatus {
    /// The hub, without the password.
    pub hub: String,
    /// The repository's key.
    pub key: String,
    /// This ledger's host.
    pub host: String,
    /// Who you are there; unknown without the hub.
    pub member: Option<String>,
    /// Why the hub could not be asked.
    pub unreachable: Option<String>,
    /// Records of this ledger that the hub has not been through; unknown without the hub.
    pub unsent: Option<u64>,
    /// When the oldest of them was written.
    pub unsent_since: Option<Timestamp>,
    /// Records of others that are not here yet, counted up to 5,000; unknown without the hub.
    pub unread: Option<u64>,
    /// When the oldest of them came to the hub.
    pub unread_since: Option<Timestamp>,
    /// When something was last sent.
    pub pushed_at: Option<Timestamp>,
    /// When something was last taken in.
    pub pulled_at: Option<Timestamp>,
    /// The newest records that were withheld.
    pub withheld: Vec<HubWithheld>,
    /// How many were withheld in all.
    pub withheld_count: u64,
    /// Why the daemon could not send or take in what is new, the last time it tried.
    pub trouble: Option<String>,
    /// Hosts that are no longer followed.
    pub problems: Vec<HubProblem>,
    /// All hosts of the repository.
    pub hosts: Vec<HubHost>,
    /// How much is there; unknown without the hub.
    pub size: Option<HubSize>,
}

impl Answer for HubStatus {}

/// A host of a repository.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HubHost {
    /// The host.
    pub host: String,
    /// Who writes there.
    pub member: String,
    /// How far the hub has been through its chain.
    pub seq: u64,
    /// When it last sent something.
    pub seen_at: Option<Timestamp>,
    /// Whether the member was removed.
    pub is_gone: bool,
}

/// How much a hub has.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct HubSize {
    /// Records of this repository.
    pub records: u64,
    /// Those of them that are in packed months.
    pub sealed: u64,
    /// Those of them that were erased.
    pub erased: u64,
    /// Bytes on disk, of all repositories.
    pub bytes: u64,
    /// Those of them that packed months take.
    pub sealed_bytes: u64,
    /// When the oldest record of this repository came.
    pub oldest_at: Option<Timestamp>,
    /// After how many days a month is dropped; nothing stands for never.
    pub keep_days: Option<f64>,
}

/// That somebody may use this repository at the hub.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HubInvited {
    /// Their name.
    pub name: String,
    /// The address for them to join with, with their password; nothing for somebody who has one.
    pub url: Option<String>,
}

impl Answer for HubInvited {}

/// That somebody may not use this repository at the hub any more.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HubRevoked {
    /// Their name.
    pub name: String,
    /// Whether they had no other repository, and so cannot sign in any more.
    pub login_off: bool,
}

impl Answer for HubRevoked {}
