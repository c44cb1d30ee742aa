//! Writing changes to requirements into the ledger.

use heirloom_core::guard::branch::BranchKey;
use heirloom_core::guard::record::ChangeBody;
use heirloom_core::guard::state::{Change, ChangeKind};
use heirloom_core::id::SessionId;
use heirloom_ledger::{Appender, Error, Ledger, Scope};
use jiff::Timestamp;

use super::branches;
use crate::here::Here;

/// Whose changes they are, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whose<'a> {
    pub(crate) here: &'a Here,
    /// The session in the ledger.
    pub(crate) session: Option<SessionId>,
    /// The session's name in entries.
    pub(crate) key: Option<&'a str>,
}

impl Whose<'_> {
    pub(super) fn change(&self, name: &str, branch: &BranchKey, kind: ChangeKind) -> Change {
        let session = self.key.map(str::to_owned);
        Change { name: name.to_owned(), branch: branch.clone(), session, kind }
    }
}

/// Writes all of them or none.
pub(super) fn settle(
    ledger: &mut Ledger,
    now: Timestamp,
    whose: Whose<'_>,
    changes: &[Change],
) -> Result<(), Error> {
    if changes.is_empty() {
        return Ok(());
    }
    ledger.append_all(now, |appender| {
        let mut noted: Vec<&BranchKey> = Vec::new();
        for change in changes {
            if !noted.contains(&&change.branch) {
                branches::note(appender, whose.here, &change.branch)?;
                noted.push(&change.branch);
            }
            append(appender, whose, change)?;
        }
        Ok(())
    })
}

pub(crate) fn append(
    appender: &mut Appender<'_>,
    whose: Whose<'_>,
    change: &Change,
) -> Result<(), Error> {
    let scope = Scope { session: whose.session, repo: Some(&whose.here.place.repo) };
    match change.body(whose.session) {
        ChangeBody::Triggered(body) => appender.append(scope, &body),
        ChangeBody::Untriggered(body) => appender.append(scope, &body),
        ChangeBody::Warned(body) => appender.append(scope, &body),
        ChangeBody::Satisfied(body) => appender.append(scope, &body),
        ChangeBody::Cleared(body) => appender.append(scope, &body),
    }
    .map(drop)
}
