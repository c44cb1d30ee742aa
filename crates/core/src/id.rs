//! Ids: newtypes over UUIDs, so that a note's id is never mistaken for a session's.
//!
//! Records carry UUIDv7 (time-ordered). Sessions carry random UUIDs on purpose: the first eight
//! characters of a UUIDv7 are its clock, and all sessions of the same minute would share them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a UUID")]
pub struct NotAnId {
    pub text: String,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID that was made elsewhere.
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The UUID inside.
            pub const fn uuid(self) -> Uuid {
                self.0
            }

            /// The first eight characters: the form people see and type.
            pub fn short(self) -> String {
                let mut text = self.to_string();
                text.truncate(8);
                text
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                match Uuid::try_parse(text) {
                    Ok(uuid) => Ok(Self(uuid)),
                    Err(_) => Err(NotAnId { text: text.to_owned() }),
                }
            }
        }
    };
}

id!(
    /// The id of a session.
    SessionId
);
id!(
    /// The id of a note.
    NoteId
);
id!(
    /// The id of a record in the ledger (UUIDv7).
    RecordId
);

id!(
    /// The id of a question whether a tool may be used.
    ApprovalId
);
id!(
    /// The id of a run through the issues.
    WorkRunId
);
id!(
    /// The id of what one run does for one issue.
    IssueRunId
);

/// A ledger that writes: one per person and machine, chosen at random when its ledger is made.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HostId(String);

impl HostId {
    /// A host id from eight random bytes.
    pub fn from_random(bytes: [u8; 8]) -> Self {
        Self(format!("{:016x}", u64::from_be_bytes(bytes)))
    }

    /// Reads a host id as it is stored.
    pub fn parse(text: &str) -> Result<Self, NotAHost> {
        let fits = text.len() == 16
            && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if fits { Ok(Self(text.to_owned())) } else { Err(NotAHost { text: text.to_owned() }) }
    }

    /// The sixteen hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is not a host id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a host id (16 hexadecimal digits)")]
pub struct NotAHost {
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_id_and_its_short_form_start_alike() {
        let id: SessionId = "cad0ac4d-3933-45ad-9a1c-14aec05bb940".parse().unwrap();
        assert_eq!(id.short(), "cad0ac4d");
        assert!(id.to_string().starts_with(&id.short()));
    }

    #[test]
    fn what_is_no_uuid_is_refused_with_the_text() {
        let error = "cad0ac4d".parse::<SessionId>().unwrap_err();
        assert_eq!(error.to_string(), "`cad0ac4d` is not a UUID");
    }

    #[test]
    fn a_host_id_is_sixteen_lower_case_hex_digits() {
        let host = HostId::from_random([0, 1, 2, 0xff, 16, 17, 18, 19]);
        assert_eq!(host.as_str(), "000102ff10111213");
        assert_eq!(HostId::parse(host.as_str()), Ok(host));
        for bad in ["", "000102FF10111213", "000102ff1011121", "000102ff101112133", "zzz"] {
            assert!(HostId::parse(bad).is_err(), "{bad}");
        }
    }
}
