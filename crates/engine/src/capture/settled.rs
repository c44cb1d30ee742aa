//! Transcripts that nobody wrote to since they were read to their end. There may be thousands, and a sync should cost
//! what is new: what the file system says of them is all that is looked at.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use heirloom_core::id::SessionId;
use heirloom_ledger::facts::Seen;
use heirloom_ledger::{Error, Facts, Ledger};

use super::archive::{Archive, info_of};
use super::origin::{Found, Head};
use super::sync::To;
use super::take::Taken;
use crate::here::Here;

/// What is noted of the ledger that knew their sessions.
const LEDGER: &str = "ledger";

/// Knows the transcripts that were read to their end, and takes note of more.
pub(super) struct Settling {
    archive: Archive,
    known: HashMap<String, Seen>,
    /// The ledger's host; another one if it is another ledger, or lost something.
    host: String,
    is_other: bool,
    new: Vec<Seen>,
    /// How much larger transcripts are than when they were last looked at.
    pub(super) grown: u64,
}

impl Settling {
    pub(super) fn new(here: &Here, ledger: &Ledger, facts: &Facts) -> Result<Self, Error> {
        let host = ledger.host()?.to_string();
        let is_other = facts.noted(LEDGER)?.as_deref() != Some(host.as_str());
        let known = if is_other { HashMap::new() } else { facts.seen()? };
        let archive = Archive::new(&here.home);
        Ok(Self { archive, known, host, is_other, new: Vec::new(), grown: 0 })
    }

    /// What is known of a transcript, if it is as it was and what was kept of it is still there.
    pub(super) fn known(&self, found: &Found) -> Option<&Seen> {
        let stamp = found.stamp.map(|stamp| stamp.to_string()).or_else(|| found.state.clone())?;
        let seen = self.known.get(&found.key()?)?;
        (seen.stamp == stamp && self.archive.has(&seen.kept)).then_some(seen)
    }

    /// Where a transcript began that is known. When it did is only asked for new ones.
    pub(super) fn head(seen: &Seen) -> Head {
        Head { cwd: seen.cwd.as_ref().map(PathBuf::from), began: None }
    }

    /// Takes note of a transcript that was looked at.
    pub(super) fn take(&mut self, to: To<'_>, session: SessionId, taken: &Taken) {
        let Some(path) = to.found.key() else { return };
        let before = self.known.get(&path).map_or(0, |seen| seen.size);
        let size = to.found.stamp.map_or(before + taken.bytes, |stamp| stamp.size);
        self.grown += size.saturating_sub(before);
        // What is printed from a database is always printed whole, and never another generation.
        let (stamp, size, generation) = match (taken.settled, &to.found.state) {
            (Some(settled), _) => {
                (settled.stamp.to_string(), settled.stamp.size, settled.generation)
            }
            (None, Some(state)) if taken.left == 0 => (state.clone(), size, 1),
            _ => return,
        };
        self.new.push(Seen {
            path,
            session,
            repo: to.repo.to_owned(),
            cwd: to.head.cwd.as_deref().and_then(Path::to_str).map(str::to_owned),
            stamp,
            size,
            kept: info_of(session, to.found.subagent.as_deref(), generation),
        });
    }

    /// Writes down what was taken note of.
    pub(super) fn remember(self, facts: &Facts) -> Result<(), Error> {
        if self.is_other {
            facts.forget_seen()?;
            facts.note(LEDGER, &self.host)?;
        }
        facts.put_seen(&self.new)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::PATIENCE;
    use super::*;

    fn in_database(id: &str, state: &str) -> Found {
        Found {
            agent: "opencode",
            agent_session_id: id.to_owned(),
            subagent: None,
            path: "/u/opencode.db".into(),
            stamp: None,
            state: Some(state.to_owned()),
            modified: None,
            head: None,
        }
    }

    #[test]
    fn a_conversation_in_a_database_is_known_for_as_long_as_nothing_of_it_changes() {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().as_os_str().to_owned();
        let here = Here::look(directory.path(), [("HEIRLOOM_HOME".into(), home)].into()).unwrap();
        let (ledger, facts) = (here.ledger().unwrap(), Facts::open(&here.home, PATIENCE).unwrap());
        let session: SessionId = "0b554780-986f-49f2-9a58-edfafd0188dd".parse().unwrap();
        let kept = here.home.join("archive").join(info_of(session, None, 1));
        fs::create_dir_all(kept.parent().unwrap()).unwrap();
        fs::write(&kept, "{}").unwrap();

        let mut settling = Settling::new(&here, &ledger, &facts).unwrap();
        let (found, head) = (in_database("one", "1"), Head::default());
        assert_eq!(settling.known(&found), None);
        let taken = Taken { bytes: 5, ..Taken::default() };
        settling.take(To { found: &found, head: &head, repo: "r" }, session, &taken);
        settling.remember(&facts).unwrap();

        let settling = Settling::new(&here, &ledger, &facts).unwrap();
        assert_eq!(settling.known(&found).map(|seen| seen.repo.as_str()), Some("r"));
        assert_eq!(settling.known(&in_database("one", "2")), None);
        assert_eq!(settling.known(&in_database("two", "1")), None);
    }
}
