//! The daemon itself.

use heirloom_core::record::Record;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Answer;

/// Where the daemon is, and what lets somebody in.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Serving {
    /// Where it answers.
    pub url: String,
    /// What programs send as `Authorization: Bearer TOKEN`.
    pub token: String,
    /// What a person opens in a browser to sign in, once; `null` where nobody is known to be a person.
    pub link: Option<String>,
    /// Its process.
    pub pid: u32,
    /// The Unix socket on which it answers as well.
    pub socket: String,
    /// The SHA-256 of its certificate, where it answers over TLS, for a person to compare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

impl Serving {
    /// Whether there is a page to open.
    pub fn has_page(&self) -> bool {
        self.url.starts_with("http")
    }
}

impl Answer for Serving {}

/// A link with which a person signs in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SignInLink {
    /// The link, good for one sign-in.
    pub link: String,
}

impl Answer for SignInLink {}

/// The service that runs the daemon.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ServiceFile {
    /// Its file; `null` where there was none to remove.
    pub path: Option<String>,
    /// What a person types next.
    pub next: String,
}

impl Answer for ServiceFile {}

/// Whether the daemon is there.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Health {
    /// `ok`.
    pub status: &'static str,
}

impl Answer for Health {}

/// That something changed: what a stream of events is made of.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LedgerEvent {
    /// The number of the record in the order of arrival, by which a stream goes on; `null` for what is in no
    /// record.
    pub id: Option<i64>,
    /// What part of heirloom it is about: the first word of the record's kind, `output` where an agent
    /// printed something, or `settings` where a settings file changed.
    #[serde(rename = "type")]
    pub part: String,
    /// The record's kind.
    pub kind: Option<String>,
    /// The record.
    pub record: Option<String>,
    /// The session it is about.
    pub session: Option<String>,
    /// The repository it is about.
    pub repo: Option<String>,
    /// When.
    pub at: Option<Timestamp>,
}

impl Answer for LedgerEvent {}

impl LedgerEvent {
    /// That a record arrived.
    pub fn new(arrival: i64, record: &Record) -> Self {
        let part = record.kind.split(['.', '_']).next().unwrap_or_default();
        Self {
            id: Some(arrival),
            part: part.to_owned(),
            kind: Some(record.kind.clone()),
            record: Some(record.id.to_string()),
            session: record.session.map(|session| session.to_string()),
            repo: record.repo.as_deref().map(str::to_owned),
            at: Some(record.at),
        }
    }

    /// That an agent printed something.
    pub fn output(session: String) -> Self {
        Self { session: Some(session), ..Self::unrecorded("output") }
    }

    /// That a settings file changed.
    pub fn settings() -> Self {
        Self::unrecorded("settings")
    }

    fn unrecorded(part: &str) -> Self {
        Self {
            id: None,
            part: part.to_owned(),
            kind: None,
            record: None,
            session: None,
            repo: None,
            at: None,
        }
    }
}
