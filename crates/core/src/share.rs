//! What of a ledger may leave for a team's hub, and what of a colleague's may come in.
//!
//! A list of kinds that may, not of those that may not: what is added later stays here until somebody
//! decides otherwise. The same list is asked again for what arrives, so that nothing a colleague's
//! ledger says can approve, satisfy, configure or launch anything here.

use serde::{Deserialize, Serialize};

use crate::event::{
    Body, HandoffShared, IssueChanged, IssueCommented, IssueCreated, IssueImported, IssueLinked,
    IssueUnlinked, NoteAdded, RecordErased, SessionShared,
};
use crate::record::{Hash, Record};
use crate::redact::has_secret;

/// The kinds that travel. Prompts, configs, handoffs with what they quote, approvals, requirements
/// and everything that only means something on one machine are not among them.
pub const KINDS: &[&str] = &[
    HandoffShared::KIND,
    IssueChanged::KIND,
    IssueCommented::KIND,
    IssueCreated::KIND,
    IssueImported::KIND,
    IssueLinked::KIND,
    IssueUnlinked::KIND,
    NoteAdded::KIND,
    RecordErased::KIND,
    SessionShared::KIND,
];

/// Whether records of that kind travel.
pub fn travels(kind: &str) -> bool {
    KINDS.contains(&kind)
}

/// Why a record that could have left did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Its session, or one that it comes from, is private.
    Private,
    /// It holds what today's rules take for a secret. It cannot be mended: the hash covers it.
    Secret,
    /// It is larger than what the hub takes.
    TooLarge,
}

impl Why {
    /// In words, after "withheld because".
    pub const fn words(self) -> &'static str {
        match self {
            Self::Private => "its session is private",
            Self::Secret => "it looks like it holds a secret",
            Self::TooLarge => "it is too large for the hub",
        }
    }
}

/// What becomes of a record at a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Sent,
    /// It is of no kind that travels, or of another repository.
    Stays,
    /// It would have been sent, and is not.
    Withheld(Why),
}

/// What becomes of `record` when the repository `key` is pushed to a hub that takes bodies of
/// `largest` bytes.
pub fn fate(record: &Record, key: &str, is_private: bool, largest: usize) -> Fate {
    let is_here = match record.kind.as_str() {
        // It names no repository; whether it concerns this one is known where the erased ones are.
        RecordErased::KIND => true,
        _ => record.repo.as_deref() == Some(key),
    };
    if !travels(&record.kind) || !is_here || quotes_output(record) {
        return Fate::Stays;
    }
    if is_private {
        return Fate::Withheld(Why::Private);
    }
    if record.body.len() > largest {
        return Fate::Withheld(Why::TooLarge);
    }
    if holds_a_secret(&record.body) {
        return Fate::Withheld(Why::Secret);
    }
    Fate::Sent
}

/// Whether it is a comment of heirloom's own, which says why work on an issue failed, in the words of
/// whatever command failed.
fn quotes_output(record: &Record) -> bool {
    record.kind == IssueCommented::KIND
        && serde_json::from_str::<IssueCommented>(&record.body)
            .is_ok_and(|said| said.comment.author == "heirloom")
}

/// Whether today's rules take something in it for a secret.
pub fn holds_a_secret(body: &str) -> bool {
    has_secret(body).unwrap_or(true)
}

/// What stands for all records of a host that were sent of a repository, in their order. Signed, it
/// lets nobody in between leave one out, add one or change their order.
pub fn link(before: &Hash, sent: &Hash) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before.as_bytes());
    hasher.update(sent.as_bytes());
    Hash::from_bytes(*hasher.finalize().as_bytes())
}

/// The words that a host signs: that these are the first `count` records it sent of a repository.
pub fn signed(host: &str, key: &str, count: u64, link: &Hash) -> Vec<u8> {
    format!("heirloom hub batch 1\n{host}\n{key}\n{count}\n{link}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::HostId;
    use crate::repo::RepoId;

    const KEY: &str = "hr_00000000000000000000000000";

    fn record(kind: &str, body: &str) -> Record {
        Record {
            host: HostId::parse("00000000000000aa").unwrap(),
            seq: 7,
            id: "0192f0c1-2345-7000-8000-000000000001".parse().unwrap(),
            at: jiff::Timestamp::UNIX_EPOCH,
            kind: kind.to_owned(),
            session: None,
            repo: Some(RepoId::new(KEY)),
            body: body.to_owned(),
            hash: Hash::GENESIS,
            prev: None,
        }
    }

    #[test]
    fn only_what_is_on_the_list_leaves() {
        for kind in crate::event::KINDS {
            let sent = fate(&record(kind, "{}"), KEY, false, 100) == Fate::Sent;
            assert_eq!(sent, KINDS.contains(kind), "{kind}");
        }
        for kind in ["session.prompted", "session.created", "session.configured", "keep.handoff"] {
            assert_eq!(fate(&record(kind, "{}"), KEY, false, 100), Fate::Stays, "{kind}");
        }
        let nothing_acts = |kind: &&str| {
            ["approval.", "requirement", "trust.", "template.", "live.", "claim.", "run."]
                .iter()
                .any(|begin| kind.starts_with(begin))
        };
        assert_eq!(KINDS.iter().find(|kind| nothing_acts(kind)), None);
    }

    #[test]
    fn what_is_private_large_secret_or_of_another_repository_stays() {
        let note = record("note.added", r#"{"text":"plain"}"#);
        assert_eq!(fate(&note, KEY, false, 100), Fate::Sent);
        assert_eq!(fate(&note, KEY, true, 100), Fate::Withheld(Why::Private));
        assert_eq!(fate(&note, KEY, false, 3), Fate::Withheld(Why::TooLarge));
        assert_eq!(fate(&note, "hr_1", false, 100), Fate::Stays);
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let secret = record("note.added", &format!(r#"{{"text":"use {token}"}}"#));
        assert_eq!(fate(&secret, KEY, false, 100), Fate::Withheld(Why::Secret));
        assert_eq!(
            fate(&record("note.added", "torn"), KEY, false, 100),
            Fate::Withheld(Why::Secret)
        );
    }

    #[test]
    fn what_heirloom_says_of_a_failed_command_stays_and_what_people_say_leaves() {
        let comment = |author: &str| {
            let comment = format!(
                r#"{{"author":"{author}","text":"not done, make: *** [all] Error 2","created_at":"2026-01-12T15:30:00Z"}}"#
            );
            record(
                "issue.commented",
                &format!(r#"{{"id":"hl-abc","number":1,"comment":{comment}}}"#),
            )
        };
        assert_eq!(fate(&comment("ada"), KEY, false, 1000), Fate::Sent);
        assert_eq!(fate(&comment("heirloom"), KEY, false, 1000), Fate::Stays);
    }

    #[test]
    fn a_link_stands_for_what_was_sent_and_for_its_order() {
        let [a, b] = [1, 2].map(|byte| Hash::from_bytes([byte; 32]));
        let after =
            |hashes: &[Hash]| hashes.iter().fold(Hash::GENESIS, |so_far, hash| link(&so_far, hash));
        assert_ne!(after(&[a, b]), after(&[b, a]));
        assert_ne!(after(&[a, b]), after(&[a]));
        assert_ne!(signed("h", KEY, 1, &a), signed("h", KEY, 2, &a));
    }
}
