//! `sessions forget`: what was said in a session goes, wherever it is kept.
//!
//! The records stay in the chain without their bodies, as does the list of what was forgotten, so that
//! the agent's own file, which is not ours to delete, does not bring it back. A copy that heirloom made for an
//! agent is ours. Sessions that went on with the conversation have it in their transcripts: what was kept of
//! those goes as well. What later sessions inherited of it is masked where they have it.

use std::collections::BTreeSet;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use heirloom_core::event::RecordErased;
use heirloom_core::id::SessionId;
use heirloom_core::name::SessionName;
use heirloom_core::note::Note;
use heirloom_core::session::{Link, Session};
use heirloom_core::settings::OnOff;
use heirloom_core::trust::person::Action;
use heirloom_ledger::{Error, Facts, Ledger, NoteFilter, forget_note};
use heirloom_repo::discover;
use heirloom_repo::file;
use serde_json::Value;

use super::marks::{self, Before, conversations};
use super::quoted::{self, Listeners, Quoting};
use super::sync::{Request, sync};
use super::{Archive, CaptureError, PATIENCE, copies, masked};
use crate::here::Here;
use crate::person;
use crate::session;
use crate::turn::dir;
use crate::work::events_of;

/// What went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Files of the archive.
    pub archived: usize,
    /// Whether facts were known.
    pub facts: bool,
    /// Records whose content was erased.
    pub records: usize,
    /// Files of its runs and streams.
    pub files: usize,
    /// Rotated backups of the ledger that held it.
    pub backups: usize,
    /// Copies that were made for agents.
    pub copies: usize,
    /// Sessions that went on with the conversation: what was kept of their transcripts went as well.
    pub continued: Vec<SessionName>,
    /// Files and records of other sessions in which what they had of it was masked or erased.
    pub quotes: usize,
    /// The pages of checkouts that showed its notes, and show them no more.
    pub pages: Vec<PathBuf>,
    /// Where agents themselves still keep the conversation.
    pub native: Vec<PathBuf>,
    /// Whether it was forgotten before, and nothing was left to go.
    pub already: bool,
}

impl Forgotten {
    /// Whether nothing went but what is made anew anyway.
    fn is_nothing(&self) -> bool {
        let Self { archived, facts, records, copies, quotes, pages, .. } = self;
        archived + records + copies + quotes + pages.len() == 0 && !facts
    }
}

/// Remembers that the notes of a session were forgotten, and takes them off the pages of the repository's checkouts.
fn forget_notes(
    here: &Here,
    ledger: &Ledger,
    session: &Session,
    checkouts: &[PathBuf],
) -> Result<Vec<PathBuf>, CaptureError> {
    let own = NoteFilter { session: Some(session.id), superseded: true, ..NoteFilter::default() };
    let notes = ledger.notes(&own)?;
    for note in &notes {
        forget_note(&here.home, note.id)?;
    }
    let mut pages = Vec::new();
    if notes.is_empty() {
        return Ok(pages);
    }
    for root in checkouts {
        let mut there = here.clone();
        there.place = discover(root);
        pages.extend(take_off_page(&there, &notes)?);
    }
    Ok(pages)
}

/// Takes the notes off the page of a checkout. Returns where that is, if it had some.
fn take_off_page(here: &Here, notes: &[Note]) -> Result<Option<PathBuf>, CaptureError> {
    let Ok(settings) = crate::keep::settings(here) else { return Ok(None) };
    let (root, path) = (&here.place.root, crate::keep::page::file(here, &settings));
    // A page that cannot be read shows nothing.
    let Ok(Some(before)) = heirloom_repo::read_within(root, &path) else { return Ok(None) };
    let after = heirloom_core::page::without(&before, notes);
    if after == before {
        return Ok(None);
    }
    heirloom_repo::write_within(root, &path, after.as_bytes())?;
    Ok(Some(root.join(path)))
}

/// The checkouts of a session's repository that are still there: every directory it is known to be in, and their
/// worktrees.
fn checkouts(here: &Here, ledger: &Ledger, session: &Session) -> Result<Vec<PathBuf>, Error> {
    let repo = ledger.repository(&session.repo)?;
    let is_here = ledger.repository(&here.place.repo)? == repo;
    let mut roots: BTreeSet<PathBuf> =
        is_here.then(|| here.place.root.clone()).into_iter().collect();
    for place in ledger.places()?.into_iter().filter(|place| place.is_own) {
        let root = PathBuf::from(&place.named.path);
        // Another repository may have taken its place since.
        if place.repo.as_str() == repo && root.is_dir() {
            let there = discover(&root);
            let is_it = ledger.repository(&there.repo)? == repo;
            roots.extend(is_it.then(|| there.worktrees()).into_iter().flatten());
        }
    }
    if is_here {
        roots.extend(here.place.worktrees());
    }
    Ok(roots.into_iter().collect())
}

/// Kinds of records that hold no word that was said: who worked where, and when.
const WORDLESS: [&str; 8] = [
    "session.announced",
    "session.changed",
    "session.continued",
    "session.linked",
    "session.spent",
    "session.withheld",
    "live.seen",
    "live.gone",
];

/// Removes what was said in a session.
pub fn forget(
    here: &Here,
    ledger: &mut Ledger,
    session: &Session,
) -> Result<Forgotten, CaptureError> {
    person::allow(here, ledger, Action::Forget)?;
    forget_telling(here, ledger, session, &mut |_| Ok(()))
}

/// The same, for whoever wants to know after each step. Whoever is ended after any of them leaves what the next one who
/// forgets the session finishes: what tells which words they are goes last, and records are replaced at once.
pub(crate) fn forget_telling(
    here: &Here,
    ledger: &mut Ledger,
    session: &Session,
    then: &mut dyn FnMut(&'static str) -> Result<(), CaptureError>,
) -> Result<Forgotten, CaptureError> {
    let mut gone = Forgotten::default();
    // They come to this home with the next launch, of which no byte may be left then.
    heirloom_agents::sim::settle(&here.env);
    let continued = continued(ledger, session)?;
    let watched = watched(here, ledger, session, &continued)?;
    let before = marks::begin(&here.home, ledger, session, &continued)?;
    then("begin")?;
    // What was not taken in yet cannot be masked, and would come in as it is.
    take_in(here, ledger, session)?;
    then("take in")?;
    let mut facts = Facts::open(&here.home, PATIENCE)?;
    let checkouts = checkouts(here, ledger, session)?;
    let words = quoted::words(ledger, &facts, session, &continued, &checkouts)?;
    // Before anything is masked: whoever reads an agent's file meanwhile must know the words.
    let repo = ledger.repository(&session.repo)?;
    masked::remember(&here.home, &repo, &words, here.clock.now())?;
    then("remember")?;
    let (masked, quoting) = {
        let listeners = Listeners::new(ledger, session, &continued)?;
        let mut masked = quoted::mask(here, &mut facts, &listeners, &words, &checkouts)?;
        if before == Before::Begun {
            // In which of them something was masked then nobody knows now, and the index must not know more.
            masked.sessions = listeners.of(Archive::new(&here.home).sessions())?;
        }
        (masked, quoted::records(&listeners, &words)?)
    };
    // Before anything goes that tells which words they are: else the next attempt would find none to look for, and the
    // file that could not be written would keep them.
    if let Some(failed) = masked.failed {
        return Err(failed);
    }
    then("mask")?;
    for each in iter::once(session).chain(&continued) {
        let archived = Archive::new(&here.home).of_session(each.id);
        gone.native.extend(archived.into_iter().map(|kept| kept.path));
        gone.native.extend(kept_by_agents(here, ledger, each)?);
    }
    // The built-in agent keeps its conversations in this home, of which no byte may be left.
    let in_home = |path: &PathBuf| path.starts_with(&here.home) && path.exists();
    for path in gone.native.extract_if(.., |path| in_home(path)) {
        heirloom_repo::file::remove_file(&path)?;
    }
    then("conversations")?;
    gone.pages = forget_notes(here, ledger, session, &checkouts)?;
    then("notes")?;
    gone.quotes = quoting.len() + masked.files;
    gone.records = erase(here, ledger, session.id, quoting)?;
    then("records")?;
    for each in iter::once(session).chain(&continued) {
        captured(here, &mut facts, each, &mut gone)?;
        then("captured")?;
    }
    gone.native.retain(|path| path.exists());
    gone.native.sort();
    gone.native.dedup();
    gone.files = files(here, session, &checkouts) + drop_quotes(&here.home);
    gone.files += watched.iter().map(|(log, issue)| drop_events(log, issue)).sum::<usize>();
    then("files")?;
    gone.backups = backups(here)?;
    then("backups")?;
    let mut ids: Vec<SessionId> = continued.iter().map(|each| each.id).collect();
    ids.extend(masked.sessions);
    ids.sort_unstable();
    ids.dedup();
    let indexed = ledger.with_index(|index| index.forget(session.id, &ids));
    // Last, because it fails where somebody reads or the disk is full, and nothing else may wait for it.
    let scrubbed = [facts.scrub(), ledger.scrub()];
    indexed?;
    scrubbed.into_iter().collect::<Result<(), _>>()?;
    then("scrub")?;
    marks::end(&here.home, session.id)?;
    gone.already = before == Before::Everything && gone.is_nothing();
    gone.continued = continued.into_iter().map(|each| each.name).collect();
    Ok(gone)
}

/// Takes in what is not taken in yet of the sessions that may have been told what was said in one.
fn take_in(here: &Here, ledger: &mut Ledger, session: &Session) -> Result<(), CaptureError> {
    let settings = here.settings(&[]).ok().map(|loaded| loaded.settings.capture.archive);
    // Settings that cannot be read may have said no.
    let archive = settings == Some(OnOff::On);
    let all_repos = ledger.repository(&session.repo)? != ledger.repository(&here.place.repo)?;
    let request = Request { all_repos, archive, ..Request::default() };
    sync(here, ledger, &request, &mut |_| {}).map(drop)
}

/// The sessions that went on with its conversation, and with theirs.
fn continued(ledger: &Ledger, session: &Session) -> Result<Vec<Session>, Error> {
    let mut all: Vec<Session> = Vec::new();
    let mut looked_at = 0;
    let mut next = session.id;
    loop {
        for child in ledger.children(next)? {
            let is_new = child.id != session.id && all.iter().all(|known| known.id != child.id);
            if is_new && has_words_of(&child, next) {
                all.push(child);
            }
        }
        let Some(child) = all.get(looked_at) else { return Ok(all) };
        next = child.id;
        looked_at += 1;
    }
}

/// Whether a session has in its transcript what was said in another: a summary is made of its words.
fn has_words_of(session: &Session, parent: SessionId) -> bool {
    let is_summary = session.link == Some(Link::Compacted) && session.parent == Some(parent);
    is_summary || session.continues() == Some(parent)
}

/// Removes what was taken in of a session and what was made of that, for good.
fn captured(
    here: &Here,
    facts: &mut Facts,
    session: &Session,
    gone: &mut Forgotten,
) -> Result<(), CaptureError> {
    gone.archived += Archive::new(&here.home).remove(session.id)?;
    gone.facts |= facts.forget(session.id)?;
    gone.copies += copies::remove(here, session.id, &mut gone.native);
    Ok(())
}

/// Where agents keep the conversations of a session: its own, and that of each iteration of a run.
fn kept_by_agents(here: &Here, ledger: &Ledger, session: &Session) -> Result<Vec<PathBuf>, Error> {
    let ids = conversations(ledger, session)?;
    // A pipeline may have had several agents.
    let agents = heirloom_agents::ALL.iter().filter_map(|agent| agent.transcripts());
    let found = agents.flat_map(|kept| ids.iter().filter_map(|id| kept.find(&here.env, id)));
    Ok(found.map(|found| found.path).collect())
}

/// Streams, scratch files and the run directory.
fn files(here: &Here, session: &Session, checkouts: &[PathBuf]) -> usize {
    let id = session.id.to_string();
    let mut gone = 0;
    let streams = dir::streams(&here.home);
    for entry in fs::read_dir(&streams).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&id) {
            gone += remove(&entry.path());
        }
    }
    gone += remove(&dir::scratch(&here.home, session.id));
    gone += remove(&session::kept::path(&here.home, session.id));
    let runs = checkouts.iter().map(|root| quoted::runs(root).join(session.name.as_str()));
    gone + runs.map(|run| remove(&run)).sum::<usize>()
}

/// Where runs through the issues wrote down, for whoever watches, what these sessions did for which issue.
fn watched(
    here: &Here,
    ledger: &Ledger,
    session: &Session,
    continued: &[Session],
) -> Result<Vec<(PathBuf, String)>, Error> {
    let mut logs = Vec::new();
    for each in iter::once(session).chain(continued) {
        let run = ledger.issue_run_of(each.id)?;
        logs.extend(
            run.and_then(|run| Some((events_of(&here.home, run.run.parse().ok()?), run.issue))),
        );
    }
    Ok(logs)
}

/// Takes what an agent did and said for an issue out of what a run wrote down. Returns how many files that changed.
fn drop_events(log: &Path, issue: &str) -> usize {
    let Some(text) = file::read(log).ok().and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return 0;
    };
    let mut kept = String::new();
    for line in text.lines() {
        let mut event: Value = serde_json::from_str(line).unwrap_or_default();
        let is_its = event["issue"] == issue;
        if is_its && event["event"] == "activity" {
            continue;
        }
        match event.get_mut("reason").filter(|reason| is_its && reason.is_string()) {
            Some(reason) => {
                *reason = Value::Null;
                kept.push_str(&event.to_string());
            }
            None => kept.push_str(line),
        }
        kept.push('\n');
    }
    usize::from(kept != text && heirloom_repo::replace_private(log, kept.as_bytes()).is_ok())
}

/// What hooks keep for the next prompt or tool use may quote any session, and is made anew.
pub fn drop_quotes(home: &Path) -> usize {
    let is_quote = |name: &str| ["failures-", "lost-"].iter().any(|kind| name.starts_with(kind));
    let entries = fs::read_dir(home.join("cache")).into_iter().flatten().flatten();
    let quotes = entries.filter(|entry| is_quote(&entry.file_name().to_string_lossy()));
    quotes.map(|entry| remove(&entry.path())).sum()
}

fn remove(path: &Path) -> usize {
    let Ok(found) = fs::symlink_metadata(path) else { return 0 };
    if !found.is_dir() {
        return usize::from(file::remove_file(path).is_ok());
    }
    let inner: usize =
        fs::read_dir(path).into_iter().flatten().flatten().map(|entry| remove(&entry.path())).sum();
    let _ = fs::remove_dir(path);
    inner
}

fn erase(
    here: &Here,
    ledger: &mut Ledger,
    id: SessionId,
    quoting: Vec<Quoting>,
) -> Result<usize, CaptureError> {
    let own = ledger.host()?;
    let records = ledger.trajectory(id)?;
    let with_words = records.iter().filter(|record| {
        record.host == own
            && record.kind != "session.created"
            && !WORDLESS.contains(&record.kind.as_str())
    });
    let mut seqs: Vec<u64> = with_words.map(|record| record.seq).collect();
    let count = seqs.len();
    seqs.extend(quoting.iter().map(|one| one.seq));
    if !seqs.is_empty() {
        let reason = Some("the session was forgotten".to_owned());
        let erased = RecordErased { host: own, seqs, reason };
        ledger.erase_replacing(here.clock.now(), &erased, |writer| {
            quoted::record_again(writer, quoting)
        })?;
    }
    Ok(count)
}

/// A rotated backup has the session as it was. It is made anew from what is left.
fn backups(here: &Here) -> Result<usize, CaptureError> {
    let all = Ledger::backups_in(&here.home);
    let mut gone = 0;
    for path in &all {
        file::remove_file(path)?;
        gone += 1;
    }
    Ok(gone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_wrote_down_of_an_issue_goes_and_the_rest_stays() {
        let home = tempfile::tempdir().unwrap();
        let log = home.path().join("run.jsonl");
        let of = |issue: &str| {
            let common = format!(r#""issue":"{issue}","#);
            format!(
                r#"{{"event":"phase",{common}"phase":"working"}}
{{"event":"activity",{common}"text":"echo pangolin"}}
{{"event":"issue_ended",{common}"reason":"it said pangolin","status":"failed"}}
"#
            )
        };
        fs::write(&log, of("a-1") + &of("a-2")).unwrap();
        assert_eq!(drop_events(&log, "a-1"), 1);
        let left = fs::read_to_string(&log).unwrap();
        assert!(left.ends_with(&of("a-2")), "{left}");
        let of_it: Vec<&str> = left.lines().filter(|line| line.contains("a-1")).collect();
        assert_eq!(of_it.len(), 2, "{left}");
        assert!(!of_it.concat().contains("pangolin"), "{left}");
        assert_eq!(drop_events(&log, "a-1"), 0);
    }
}
