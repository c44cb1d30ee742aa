//! Why something is as it is: which session, prompt and decision a line comes from.
//!
//! A line that is committed comes from the session in which git said it made that commit, or from the one that
//! worked on the issue that `work` named in it. Which prompt it was, and where a line that is not committed comes from, the edits say that transcripts recorded. What
//! is only known of the file, and not of the line, says so.

use std::path::{Component, Path, PathBuf};

use heirloom_core::facts::{CommitFacts, TurnFacts};
use heirloom_core::id::SessionId;
use heirloom_core::note::{Kind, Note};
use heirloom_core::redact::redact;
use heirloom_core::session::Session;
use heirloom_ledger::facts::{Did, Touched};
use heirloom_ledger::{Error, Facts, IssueRun, Ledger, NoteFilter};
use heirloom_repo::FileError;
use heirloom_repo::blame::{Blamed, blame, history};
use jiff::Timestamp;

use super::edits::{Edited, bringing};
use crate::capture;
use crate::here::Here;
use crate::sessions;

/// So many sessions that changed a file are looked through for a line.
const SESSIONS: usize = 20;
/// So many commits of a file are looked up.
const COMMITS: usize = 200;
/// So many origins and decisions are given.
const MOST: usize = 10;
const MOST_DECISIONS: usize = 3;
/// So many of the newest notes are looked through for ones that rest on the place.
const NOTES: usize = 2000;

/// Why a line or a file is as it is.
#[derive(Debug, Clone)]
pub struct Why {
    /// The file, from the repository's root.
    pub path: String,
    pub line: Option<u32>,
    /// What the line says, without secrets.
    pub text: Option<String>,
    /// What git says about the line.
    pub blamed: Option<Blamed>,
    /// Where it comes from, the surest first.
    pub origins: Vec<Origin>,
    /// Notes that rest on this place, with the names of their sessions.
    pub notes: Vec<(Note, String)>,
}

/// A session that a line or a file comes from.
#[derive(Debug, Clone)]
pub struct Origin {
    pub session: Session,
    /// What the conversation is called.
    pub title: Option<String>,
    /// The issue it worked on in a run through the issues.
    pub issue: Option<String>,
    /// How it is known.
    pub proof: Proof,
    /// The commit it made of it, where one is known.
    pub commit: Option<CommitFacts>,
    /// The prompt that led to it.
    pub prompt: Option<TurnFacts>,
    /// What the agent said before it did it.
    pub said: Option<String>,
    pub at: Option<Timestamp>,
    /// What was decided in that session, what is nearest first.
    pub decisions: Vec<Note>,
}

/// How it is known that something comes from a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// An edit that was recorded in it wrote the line.
    Edit,
    /// It made the commit that the line is of.
    Commit,
    /// It made a commit with the same subject, which was rebased or amended since.
    Subject,
    /// It changed the file; which session wrote the line is unknown.
    File,
}

impl Proof {
    /// The word for it in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Edit => "edit",
            Self::Commit => "commit",
            Self::Subject => "subject",
            Self::File => "file",
        }
    }
}

/// Why it cannot be said.
#[derive(Debug, thiserror::Error)]
pub enum WhyError {
    /// Another repository's, or nobody's.
    #[error("{} is not in this repository", .0.display())]
    Outside(PathBuf),
    /// Neither on disk nor known from before.
    #[error("there is no file {0}, and no session changed it")]
    NoFile(String),
    /// The file is shorter.
    #[error("{path} has no line {line}: it has {lines} line{}", if *.lines == 1 { "" } else { "s" })]
    NoLine {
        path: String,
        line: u32,
        /// How many it has.
        lines: usize,
    },
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The ledger or the facts failed.
    #[error(transparent)]
    Ledger(#[from] Error),
}

/// Why `target`, which is `PATH` or `PATH:LINE` as seen from `directory`, is as it is.
pub fn why(here: &Here, ledger: &Ledger, directory: &Path, target: &str) -> Result<Why, WhyError> {
    let (path, line) = place(here, directory, target)?;
    let text = match line {
        Some(line) => Some(line_of(here, &path, line)?),
        None => None,
    };
    let facts = capture::facts(&here.home)?;
    let repo = ledger.repository(&here.place.repo)?;
    let asking = Asking { here, ledger, facts: facts.as_ref(), repo: &repo, path: &path };
    let blamed = line.and_then(|line| blame(&here.place, &path, line));
    let origins = match &text {
        Some(text) => asking.of_line(text, blamed.as_ref())?,
        None => asking.of_file()?,
    };
    let notes = asking.notes(line)?;
    if line.is_none() && origins.is_empty() && !here.place.root.join(&path).exists() {
        return Err(WhyError::NoFile(path));
    }
    let text = text.map(|text| redact(&text).text.into_owned());
    Ok(Why { path, line, text, blamed, origins, notes })
}

/// The file, from the repository's root, and the line.
fn place(here: &Here, directory: &Path, target: &str) -> Result<(String, Option<u32>), WhyError> {
    let (path, line) = match target.rsplit_once(':') {
        Some((path, line)) if !directory.join(target).exists() => match line.parse::<u32>() {
            Ok(line) if line > 0 => (path, Some(line)),
            _ => (target, None),
        },
        _ => (target, None),
    };
    let whole = plain(&directory.join(path));
    let root = &here.place.root;
    let below = whole.strip_prefix(root).map(Path::to_owned).ok().or_else(|| {
        let real = std::fs::canonicalize(&whole).ok()?;
        real.strip_prefix(std::fs::canonicalize(root).ok()?).map(Path::to_owned).ok()
    });
    let below = below.filter(|below| !below.as_os_str().is_empty());
    let below = below.ok_or(WhyError::Outside(whole))?;
    Ok((below.to_string_lossy().into_owned(), line))
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

fn line_of(here: &Here, path: &str, line: u32) -> Result<String, WhyError> {
    let root = &here.place.root;
    let text = heirloom_repo::read_within(root, &root.join(path))?;
    let text = text.ok_or_else(|| WhyError::NoFile(path.to_owned()))?;
    let found = text.lines().nth(line as usize - 1).map(str::to_owned);
    let lines = text.lines().count();
    found.ok_or_else(|| WhyError::NoLine { path: path.to_owned(), line, lines })
}

struct Asking<'a> {
    here: &'a Here,
    ledger: &'a Ledger,
    facts: Option<&'a Facts>,
    repo: &'a str,
    path: &'a str,
}

impl Asking<'_> {
    fn of_line(&self, text: &str, blamed: Option<&Blamed>) -> Result<Vec<Origin>, Error> {
        let (commits, proof) = self.commits(blamed)?;
        let worked = match blamed.and_then(|all| Some((all.commit.as_deref()?, all))) {
            Some((hash, blamed)) if commits.is_empty() => self.worked(hash, &blamed.subject)?,
            _ => None,
        };
        let mut sessions: Vec<SessionId> = commits.iter().map(|did| did.session).collect();
        sessions.extend(worked.map(|(session, _)| session));
        for touched in self.touched()? {
            if touched.file.edited && !sessions.contains(&touched.session) {
                sessions.push(touched.session);
            }
        }
        sessions.truncate(SESSIONS);
        let until = blamed.filter(|blamed| blamed.commit.is_some()).map(|blamed| blamed.at);
        let edit = bringing(self.here, &sessions, self.path, text, until);
        let mut origins = Vec::new();
        if let Some((session, edit)) = edit {
            let commit = commits.iter().find(|did| did.session == session).map(|did| &did.what);
            origins.extend(self.origin(session, Proof::Edit, commit, Some(&edit), None)?);
        }
        for did in &commits {
            if !origins.iter().any(|origin| origin.session.id == did.session) {
                origins.extend(self.origin(did.session, proof, Some(&did.what), None, None)?);
            }
        }
        if let Some((session, proof)) = worked
            && !origins.iter().any(|origin| origin.session.id == session)
        {
            origins.extend(self.origin(session, proof, None, None, None)?);
        }
        if origins.is_empty() {
            return Ok(self.of_file()?.into_iter().take(3).collect());
        }
        Ok(origins)
    }

    /// The sessions that made the commit of a line, and how that is known.
    fn commits(&self, blamed: Option<&Blamed>) -> Result<(Vec<Did<CommitFacts>>, Proof), Error> {
        let blamed = blamed.and_then(|all| Some((all.commit.as_deref()?, all)));
        let (Some(facts), Some((hash, blamed))) = (self.facts, blamed) else {
            return Ok((Vec::new(), Proof::Commit));
        };
        let commits = facts.committed(self.repo, hash)?;
        if !commits.is_empty() {
            return Ok((commits, Proof::Commit));
        }
        let mut commits = facts.committed_as(self.repo, &blamed.subject)?;
        commits.truncate(1);
        Ok((commits, Proof::Subject))
    }

    /// The session whose work `work` committed, which names the issue in what it commits, and how that is known.
    fn worked(&self, hash: &str, subject: &str) -> Result<Option<(SessionId, Proof)>, Error> {
        let Some((issue, _)) = subject.split_once(": ") else { return Ok(None) };
        let runs = self.ledger.issue_runs(self.repo, issue)?;
        let is_it = |run: &&IssueRun| run.commit.as_deref() == Some(hash);
        let exact = runs.iter().find(is_it).map(|run| (run, Proof::Commit));
        // It was rebased or squashed since. A person may name the issue too, but not in the same words.
        let is_alike =
            |run: &&IssueRun| run.commit.is_some() && subject == format!("{issue}: {}", run.title);
        let mut alike = runs.iter().filter(is_alike);
        let only = alike.next().filter(|_| alike.next().is_none());
        let found = exact.or_else(|| Some((only?, Proof::Subject)));
        Ok(found.and_then(|(run, proof)| Some((run.session?, proof))))
    }

    /// The sessions that had to do with the file.
    fn touched(&self) -> Result<Vec<Touched>, Error> {
        self.facts.map_or(Ok(Vec::new()), |facts| facts.touched(self.repo, self.path))
    }

    fn of_file(&self) -> Result<Vec<Origin>, Error> {
        let (mut commits, mut worked) = (Vec::new(), Vec::new());
        for (hash, subject) in history(&self.here.place, self.path, COMMITS) {
            let known = self.facts.map(|facts| facts.committed(self.repo, &hash)).transpose()?;
            let known = known.unwrap_or_default();
            if known.is_empty() {
                worked.extend(self.worked(&hash, &subject)?);
            }
            commits.extend(known);
        }
        let mut origins: Vec<Origin> = Vec::new();
        for touched in self.touched()? {
            let known = origins.iter().any(|origin| origin.session.id == touched.session);
            if !touched.file.edited || known || origins.len() >= MOST {
                continue;
            }
            let commit = commits.iter().find(|did| did.session == touched.session);
            let commit = commit.map(|did| &did.what);
            let turn = Some(touched.file.turn);
            origins.extend(self.origin(touched.session, Proof::File, commit, None, turn)?);
        }
        for did in commits {
            let known = origins.iter().any(|origin| origin.session.id == did.session);
            if !known && origins.len() < MOST {
                let commit = Some(&did.what);
                origins.extend(self.origin(did.session, Proof::Commit, commit, None, None)?);
            }
        }
        for (session, proof) in worked {
            let known = origins.iter().any(|origin| origin.session.id == session);
            if !known && origins.len() < MOST {
                origins.extend(self.origin(session, proof, None, None, None)?);
            }
        }
        origins.sort_by_key(|origin| std::cmp::Reverse(origin.at));
        Ok(origins)
    }

    /// What is known of a session as an origin; nothing where it was forgotten.
    fn origin(
        &self,
        session: SessionId,
        proof: Proof,
        commit: Option<&CommitFacts>,
        edit: Option<&Edited>,
        turn: Option<u64>,
    ) -> Result<Option<Origin>, Error> {
        let known = self.ledger.session(session)?;
        let is_forgotten = capture::is_forgotten(&self.here.home, session);
        let Some(known) = known.filter(|_| !is_forgotten) else { return Ok(None) };
        let turns = self.facts.map_or(Ok(Vec::new()), |facts| facts.turns(session))?;
        let told = self.facts.map(|facts| facts.session(session)).transpose()?.flatten();
        let number = turn.or_else(|| commit.map(|commit| commit.turn));
        let by_number = || turns.iter().find(|turn| Some(turn.number) == number);
        let prompt = match edit {
            Some(edit) => edit.prompt(&turns).or_else(by_number),
            None => by_number(),
        };
        let at = edit.and_then(|edit| edit.at).or_else(|| commit.and_then(|commit| commit.at));
        let at = at.or_else(|| prompt.and_then(|prompt| prompt.at)).or(known.completed_at);
        Ok(Some(Origin {
            title: sessions::title(&known, told.and_then(|told| told.title)),
            issue: self.ledger.issue_run_of(session)?.map(|run| run.issue),
            session: known,
            proof,
            commit: commit.cloned(),
            prompt: prompt.cloned(),
            said: edit.and_then(|edit| edit.said.clone()),
            at,
            decisions: self.decisions(session, at)?,
        }))
    }

    /// What was decided in a session: what rests on the file first, then what was decided nearest in time.
    fn decisions(&self, session: SessionId, at: Option<Timestamp>) -> Result<Vec<Note>, Error> {
        let filter = NoteFilter {
            session: Some(session),
            kind: Some(Kind::Decision),
            superseded: true,
            limit: Some(50),
            ..NoteFilter::default()
        };
        let mut notes = self.ledger.notes(&filter)?;
        notes.sort_by_key(|note| {
            let is_here = note.evidence.iter().any(|evidence| evidence.path == self.path);
            let distance = at.map_or(0, |at| at.duration_since(note.at).as_secs().abs());
            (!is_here, note.superseded_by.is_some(), distance)
        });
        notes.truncate(MOST_DECISIONS);
        Ok(notes)
    }

    /// The notes that rest on this place.
    fn notes(&self, line: Option<u32>) -> Result<Vec<(Note, String)>, Error> {
        let filter =
            NoteFilter { repo: Some(self.repo), limit: Some(NOTES), ..NoteFilter::default() };
        let rests = |note: &Note| {
            note.evidence.iter().any(|evidence| {
                let last = evidence.end_line.unwrap_or(evidence.line);
                evidence.path == self.path
                    && line.is_none_or(|line| (evidence.line..=last).contains(&line))
            })
        };
        let notes = self.ledger.notes(&filter)?.into_iter().rev().filter(rests).take(MOST);
        let named = |note: Note| {
            let name = self.ledger.session_label(note.session)?.map(|(name, _)| name);
            Ok((note, name.unwrap_or_default()))
        };
        notes.map(named).collect()
    }
}
