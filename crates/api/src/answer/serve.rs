//! The daemon itself.

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
}

impl Answer for Serving {}

/// A link with which a person signs in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SignInLink {
    /// The link, good for one sign-in.
    pub link: String,
}

impl Answer for SignInLink {}

/// Whether the daemon is there.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Health {
    /// `ok`.
    pub status: &'static str,
}

impl Answer for Health {}
