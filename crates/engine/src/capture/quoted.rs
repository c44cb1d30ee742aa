//! What other sessions have of a session that is forgotten: later ones inherited its notes and its progress, and wrote
//! them into the files of their runs, their records and their agents' transcripts.
//!
//! They keep everything of their own. What another session noted or asked in the same words is its own, too.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use heirloom_core::event::{
    Body, ForkDetected, IterationEnded, IterationStarted, RunInherited, SessionPrompted,
};
use heirloom_core::facts::FileFacts;
use heirloom_core::id::{NoteId, SessionId};
use heirloom_core::inherit::Inherited;
use heirloom_core::mask::{MASK, TELLING, Words, item};
use heirloom_core::record::Record;
use heirloom_core::recover;
use heirloom_core::session::Session;
use heirloom_ledger::{Error, Facts, Ledger, NoteFilter, Scope, SessionFilter, Writer};
use heirloom_repo::{FileError, file};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Archive;
use crate::here::Here;
use crate::keep;
use crate::turn::stream;

/// Records that hold what another session said. A note is its session's own, whatever it says, as are a plan and the
/// words of people.
const QUOTING: [&str; 4] =
    ["run.inherited", "session.prompted", "iteration.ended", "keep.fork_detected"];

/// Of how many sessions it is known what was asked in them.
const MOST: usize = 10_000;

/// How many records are read at a time.
const PAGE: usize = 500;

/// Where the home keeps what was said to agents and by them. Nowhere else: a worktree holds people's code.
const SAID: [&str; 4] = ["streams", "scratch", "work", "sim"];

/// What was said in a session and may have been taken over from it, or told to others of it and of those that went on with
/// its conversation. To be asked before its records are erased and its facts are gone.
pub(super) fn words(
    ledger: &Ledger,
    facts: &Facts,
    session: &Session,
    continued: &[Session],
    checkouts: &[PathBuf],
) -> Result<Words, Error> {
    let own = NoteFilter { session: Some(session.id), superseded: true, ..NoteFilter::default() };
    let mut said: Vec<String> = Vec::new();
    for note in ledger.notes(&own)? {
        said.push(note.text);
        said.extend(note.rationale);
    }
    let iterations = ledger.iterations(session.id)?;
    let is_composed = is_composed(ledger, session.id)?;
    said.extend(iterations.into_iter().filter_map(|iteration| iteration.summary));
    let records = if is_composed { Vec::new() } else { ledger.trajectory(session.id)? };
    let prompts = records.iter().filter_map(body::<SessionPrompted>).map(|prompted| prompted.text);
    said.extend(prompts.filter(|text| text.len() >= TELLING));
    let mut lines = lines_of_pages(checkouts, |run| run == session.name.as_str());
    for heir in ledger.children(session.id)? {
        let block = ledger.kept::<RunInherited>(&heir.repo, &heir.id.to_string())?;
        let block = block.map(|kept| kept.body.inherited);
        let block = block.filter(|block| block.from_session == session.name.as_str());
        let summary = block.iter().flat_map(|block| block.progress_summary.lines());
        lines.extend(summary.map(str::to_owned));
    }
    let others = others(ledger, session)?;
    let said_by_line = said.clone();
    said.extend(lines.iter().filter(|line| line.len() >= TELLING && !is_heading(line)).cloned());
    said.retain(|text| !others.contains(text.trim()));
    // A line is somebody's own wherever they say it.
    let pages = lines_of_pages(checkouts, |run| run != session.name.as_str());
    let others =
        others.iter().flat_map(|text| text.lines()).chain(pages.iter().map(String::as_str));
    let others: BTreeSet<&str> = others.map(item).collect();
    lines.retain(|line| !others.contains(item(line)));
    said.extend(lines.iter().filter(|line| line.len() >= TELLING && is_heading(line)).cloned());
    let short = said_by_line.iter().flat_map(|text| text.lines());
    lines.extend(short.filter(|line| !others.contains(item(line))).map(str::to_owned));
    let mut told = Vec::new();
    for each in continued.iter().chain([session]) {
        told.extend(told_of(ledger, facts, each.id, checkouts)?);
    }
    Ok(Words::new(said, told).with_lines(lines))
}

/// Whether heirloom itself wrote what the session was asked: what a loop or an issue is worked on with says the same in
/// every session.
fn is_composed(ledger: &Ledger, session: SessionId) -> Result<bool, Error> {
    Ok(!ledger.iterations(session)?.is_empty() || ledger.issue_run_of(session)?.is_some())
}

/// What later contexts may have been told of what a session did.
fn told_of(
    ledger: &Ledger,
    facts: &Facts,
    session: SessionId,
    checkouts: &[PathBuf],
) -> Result<Vec<String>, Error> {
    let Some(own) = facts.own_source(session)? else { return Ok(Vec::new()) };
    let mut told = keep::told(facts, &own)?;
    // Files are told of as they are called in a checkout, also one that is gone since, as worktrees of issues are.
    let mut roots = checkouts.to_vec();
    roots.extend(ledger.places()?.into_iter().map(|place| PathBuf::from(place.named.path)));
    roots.extend(own.told.cwd.as_deref().map(PathBuf::from));
    let config = ledger.session(session)?.and_then(|session| session.config.ok());
    roots.extend(config.and_then(|config| config.working_dir).map(PathBuf::from));
    // The innermost tells most: a worktree may lie within another checkout.
    roots.sort_by_key(|root| std::cmp::Reverse(root.as_os_str().len()));
    let within = |file: &FileFacts| {
        let path = roots.iter().find_map(|root| Path::new(&file.path).strip_prefix(root).ok());
        Some(FileFacts { path: path?.to_str()?.to_owned(), ..file.clone() })
    };
    let relative: Vec<FileFacts> = told.files.iter().filter_map(within).collect();
    told.files.extend(relative);
    if is_composed(ledger, session)? {
        told.turns.clear();
    }
    Ok(recover::quoted(&told, own.told.title.as_deref()))
}

/// Where a checkout has the files of runs.
pub(super) fn runs(root: &Path) -> PathBuf {
    root.join(".heirloom").join("runs")
}

/// What the progress pages of some runs say, line by line.
fn lines_of_pages(checkouts: &[PathBuf], is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let runs = checkouts.iter().flat_map(|root| fs::read_dir(runs(root)).into_iter().flatten());
    let wanted = runs.flatten().filter(|run| run.file_name().to_str().is_some_and(&is_wanted));
    let pages = wanted.flat_map(|run| files(&run.path())).filter(|path| is_page(path));
    let texts = pages.map(|page| file::read_to_string(&page).unwrap_or_default());
    texts
        .flat_map(|text| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>())
        .collect()
}

/// Many pages have the same ones.
fn is_heading(line: &str) -> bool {
    line.starts_with('#')
}

fn is_page(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with("progress") && path.extension().is_some_and(|ending| ending == "md")
}

/// What other sessions of the repository noted and asked themselves.
fn others(ledger: &Ledger, session: &Session) -> Result<BTreeSet<String>, Error> {
    let repo = Some(session.repo.as_str());
    let notes = ledger.notes(&NoteFilter { repo, superseded: true, ..NoteFilter::default() })?;
    let notes = notes.into_iter().filter(|note| note.session != session.id);
    let mut own: BTreeSet<String> = BTreeSet::new();
    for note in notes {
        own.insert(note.text.trim().to_owned());
        own.extend(note.rationale.map(|why| why.trim().to_owned()));
    }
    let filter = SessionFilter { repo, limit: MOST, ..SessionFilter::default() };
    let all = ledger.sessions(&filter)?.sessions;
    let prompts = all.into_iter().filter(|other| other.id != session.id);
    own.extend(prompts.filter_map(|other| Some(other.prompt?.trim().to_owned())));
    Ok(own)
}

/// A record of another session that quotes what is forgotten, and what takes its place.
pub(super) struct Quoting {
    pub(super) seq: u64,
    instead: Option<Instead>,
}

struct Instead {
    /// When it happened.
    at: Timestamp,
    session: Option<SessionId>,
    repo: Option<String>,
    body: Either,
}

/// What a session began with and how its iterations ended is part of it: it is recorded again, without the words.
enum Either {
    Inherited(Box<RunInherited>),
    Prompted(SessionPrompted),
    Started(Box<IterationStarted>),
    Ended(Box<IterationEnded>),
}

/// Kinds of which the last one counts: what a second attempt says is not what the first one said.
fn sequence(kind: &str) -> Option<&'static str> {
    match kind {
        IterationStarted::KIND | IterationEnded::KIND => Some("iteration"),
        RunInherited::KIND => Some(RunInherited::KIND),
        SessionPrompted::KIND => Some(SessionPrompted::KIND),
        _ => None,
    }
}

/// The records of other sessions that quote the words, and those that came after one of them and have to stay after it
/// where it is recorded again.
pub(super) fn records(listeners: &Listeners<'_>, words: &Words) -> Result<Vec<Quoting>, Error> {
    let ledger = listeners.ledger;
    let own = ledger.host()?;
    let mut found = Vec::new();
    if words.is_empty() {
        return Ok(found);
    }
    let said = Some(listeners.said.id);
    let notes = NoteFilter { session: said, superseded: true, ..NoteFilter::default() };
    let notes: BTreeSet<NoteId> = ledger.notes(&notes)?.iter().map(|note| note.id).collect();
    let mut moved = BTreeSet::new();
    let mut after = 0;
    loop {
        let page = ledger.records_after(after, PAGE)?;
        let Some(last) = page.last() else { return Ok(found) };
        after = last.arrival;
        for record in page.into_iter().map(|arrived| arrived.record) {
            let sequence = sequence(&record.kind).map(|of| (record.session, of));
            let is_after = record.host == own && sequence.is_some_and(|of| moved.contains(&of));
            let may_quote = record.host == own
                && QUOTING.contains(&record.kind.as_str())
                && record.session.map_or(Ok(true), |id| listeners.may_quote(id))?;
            // However short it is, this one says whose words they are.
            let fork = body::<ForkDetected>(&record).and_then(|fork| fork.note);
            let is_of_note = fork.is_some_and(|note| notes.contains(&note));
            let has_words = || is_of_note || !words.places(record.body.as_bytes()).is_empty();
            if is_after || may_quote && has_words() {
                let instead = instead(&record, words);
                moved.extend(sequence.filter(|_| instead.is_some()));
                found.push(Quoting { seq: record.seq, instead });
            }
        }
    }
}

/// The record without the words. Only what was said is masked: a name, a path or a verdict that reads the same stays, and so
/// nothing becomes a record that cannot be read.
fn instead(record: &Record, words: &Words) -> Option<Instead> {
    let mut bytes = record.body.clone().into_bytes();
    words.mask(&mut bytes);
    let masked: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let masked = |field: &str| masked[field].as_str().map(str::to_owned);
    let inherited = || {
        let mut kept: RunInherited = body(record)?;
        leave_out(&mut kept.inherited, words);
        Some(Either::Inherited(Box::new(kept)))
    };
    let prompted = || {
        let _: SessionPrompted = body(record)?;
        Some(Either::Prompted(SessionPrompted { text: masked("text").unwrap_or_default() }))
    };
    let started = || Some(Either::Started(Box::new(body(record)?)));
    let ended = || {
        let kept: IterationEnded = body(record)?;
        let (summary, why) = (masked("summary"), masked("why"));
        Some(Either::Ended(Box::new(IterationEnded { summary, why, ..kept })))
    };
    let body = inherited().or_else(prompted).or_else(started).or_else(ended)?;
    let repo = record.repo.as_ref().map(|repo| repo.as_str().to_owned());
    Some(Instead { at: record.at, session: record.session, repo, body })
}

/// Leaves out what has the words: a mask tells the next one nothing.
fn leave_out(block: &mut Inherited, words: &Words) {
    let has_any = |text: &String| {
        let alone = Inherited { learnings: vec![text.clone()], ..Inherited::default() };
        !words.places(alone.to_json().as_bytes()).is_empty()
    };
    let Inherited { learnings, patterns, warnings, decisions, warnings_raised, .. } = block;
    for list in [learnings, patterns, warnings, decisions, warnings_raised] {
        list.retain(|text| !has_any(text));
    }
    block.notes.retain(|note| !has_any(&note.text));
    for note in &mut block.notes {
        note.rationale.take_if(|why| has_any(why));
        for place in &mut note.evidence {
            place.quote.take_if(|quote| has_any(quote));
            place.reason.take_if(|reason| has_any(reason));
        }
    }
    if has_any(&block.progress_summary) {
        block.progress_summary.clear();
    }
}

fn body<B: Body + DeserializeOwned>(record: &Record) -> Option<B> {
    (record.kind == B::KIND).then(|| serde_json::from_str(&record.body).ok()).flatten()
}

/// Records again what sessions began with, without the words, as of when it was.
pub(super) fn record_again(writer: &mut Writer<'_>, quoting: Vec<Quoting>) -> Result<(), Error> {
    for Instead { at, session, repo, body } in quoting.into_iter().filter_map(|one| one.instead) {
        let scope = Scope { session, repo: repo.as_deref() };
        match body {
            Either::Inherited(body) => writer.append_of(at, scope, &*body)?,
            Either::Prompted(body) => writer.append_of(at, scope, &body)?,
            Either::Started(body) => writer.append_of(at, scope, &*body)?,
            Either::Ended(body) => writer.append_of(at, scope, &*body)?,
        };
    }
    Ok(())
}

/// What was masked of the words that other sessions have.
#[derive(Default)]
pub(super) struct Masked {
    /// The sessions whose transcripts had some.
    pub(super) sessions: Vec<SessionId>,
    /// In how many files there were any.
    pub(super) files: usize,
    /// Why something could not be masked: one file must not keep the others from it.
    pub(super) failed: Option<super::CaptureError>,
}

/// Masks the words in files, archives and facts of the sessions that may have them.
pub(super) fn mask(
    here: &Here,
    facts: &mut Facts,
    listeners: &Listeners<'_>,
    words: &Words,
    checkouts: &[PathBuf],
) -> Result<Masked, super::CaptureError> {
    let mut masked = Masked::default();
    if words.is_empty() {
        return Ok(masked);
    }
    let archive = Archive::new(&here.home);
    for id in listeners.of(archive.sessions())? {
        masked.note(archive.mask(id, words), Some(id));
    }
    let said = SAID.map(|name| here.home.join(name)).into_iter();
    let said = said.chain(checkouts.iter().map(|root| runs(root)));
    for path in said.flat_map(|path| files(&path)) {
        let id = session_of(&path);
        if id.map_or(Ok(true), |id| listeners.may_quote(id))? {
            masked.note(mask_file(&path, words), id);
        }
    }
    facts.mask(&listeners.of(facts.sessions()?)?, words)?;
    masked.sessions.sort_unstable();
    masked.sessions.dedup();
    Ok(masked)
}

/// Who may have been told what was said in a session. Everybody who looks for its words asks here.
pub(super) struct Listeners<'a> {
    ledger: &'a Ledger,
    said: &'a Session,
    /// Those whose own goes as well: nothing has to be masked in what is deleted.
    going: &'a [Session],
    /// The repository, as the ledger knows it now.
    repo: String,
    known: RefCell<HashMap<SessionId, bool>>,
}

impl<'a> Listeners<'a> {
    pub(super) fn new(
        ledger: &'a Ledger,
        said: &'a Session,
        going: &'a [Session],
    ) -> Result<Self, Error> {
        let repo = ledger.repository(&said.repo)?;
        Ok(Self { ledger, said, going, repo, known: RefCell::default() })
    }

    /// Whether a session may have been told: it is another one of the same repository, and was at work since. Of one
    /// that nobody knows, who can tell?
    pub(super) fn may_quote(&self, id: SessionId) -> Result<bool, Error> {
        if let Some(known) = self.known.borrow().get(&id) {
            return Ok(*known);
        }
        let other = self.ledger.session(id)?;
        let may_quote = id != self.said.id
            && other.is_none_or(|other| {
                let is_here = other.repo == self.said.repo || other.repo.as_str() == self.repo;
                let ended = other.completed_at.filter(|_| other.status.is_ended());
                is_here && ended.is_none_or(|ended| ended >= self.said.created_at)
            });
        self.known.borrow_mut().insert(id, may_quote);
        Ok(may_quote)
    }

    /// Those of these sessions in whose transcripts something has to be masked.
    pub(super) fn of(
        &self,
        sessions: impl IntoIterator<Item = SessionId>,
    ) -> Result<Vec<SessionId>, Error> {
        let mut all = Vec::new();
        for id in sessions {
            let is_going = self.going.iter().any(|session| session.id == id);
            if !is_going && self.may_quote(id)? {
                all.push(id);
            }
        }
        Ok(all)
    }
}

impl Masked {
    fn note(&mut self, done: Result<bool, FileError>, session: Option<SessionId>) {
        match done {
            Ok(true) => {
                self.files += 1;
                self.sessions.extend(session);
            }
            Ok(false) => {}
            Err(error) => self.failed = Some(error.into()),
        }
    }
}

/// The session that a stream is of: it, or the directory it is in, is called by its id.
fn session_of(path: &Path) -> Option<SessionId> {
    let mut names = path.iter().rev().take(2).filter_map(|name| name.to_str());
    names.find_map(|name| name.get(..36)?.parse().ok())
}

/// In place, byte for byte: somebody may be adding to it. What is compressed is finished, and is written anew.
fn mask_file(path: &Path, words: &Words) -> Result<bool, FileError> {
    // What cannot be read is somebody else's, or gone.
    let Ok(bytes) = file::read(path) else { return Ok(false) };
    if path.extension().is_some_and(|ending| ending == "zst") {
        // Of one that is torn, what can be read is masked, and the rest is of no use to anybody.
        let mut text = Vec::new();
        let _ = zstd::Decoder::new(&bytes[..]).and_then(|mut open| open.read_to_end(&mut text));
        let is_masked = words.mask(&mut text);
        if is_masked {
            let failed = |source| FileError { doing: "write", path: path.to_owned(), source };
            stream::write(path, &text[..]).map_err(failed)?;
        }
        return Ok(is_masked);
    }
    let places = words.places(&bytes);
    if places.is_empty() {
        return Ok(false);
    }
    let open = file::open_with(OpenOptions::new().write(true), path)?;
    for place in places {
        let mask = vec![MASK; place.len()];
        let failed = |source| FileError { doing: "write", path: path.to_owned(), source };
        open.write_all_at(&mask, place.start as u64).map_err(failed)?;
    }
    Ok(true)
}

/// The files at and below a path. Links are not followed.
fn files(path: &Path) -> Vec<PathBuf> {
    let Ok(found) = fs::symlink_metadata(path) else { return Vec::new() };
    if found.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        return entries.flat_map(|entry| files(&entry.path())).collect();
    }
    if found.is_file() { vec![path.to_owned()] } else { Vec::new() }
}
