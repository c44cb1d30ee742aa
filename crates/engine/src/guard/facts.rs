//! What the rules may ask, answered from the ledger, the files and the processes of a repository.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use heirloom_core::causes;
use heirloom_core::guard::branch::BranchKey;
use heirloom_core::guard::check::{Facts, Fault, FileFact};
use heirloom_core::guard::glob;
use heirloom_core::guard::requirement::{Measure, Requirement};
use heirloom_core::guard::state::{Held, has_short_form, short_session};
use heirloom_ledger::{Error, Ledger, Notice, Options, Seen, SessionKeys};
use heirloom_repo::changes;
use jiff::Timestamp;

use super::{branches, live, measure};
use crate::here::Here;
use crate::identity::{self, Look};

/// The most of a file that is looked through for a marker.
const MOST_BYTES: u64 = 1024 * 1024;
/// The most files that are looked at for one piece of evidence.
const MOST_FILES: usize = 5_000;

/// How long a command of the settings may take at the end of a turn, and otherwise: less than agents
/// wait for a hook, which is 30 and 10 seconds, or nobody would hear of it.
const MOST_SECONDS: u64 = 25;
const MOST_SECONDS_HURRIED: u64 = 7;

/// Every name under which the ledger may know an agent's session.
pub(super) fn keys(agent_session_id: &str) -> SessionKeys {
    let mut names = vec![agent_session_id.to_lowercase()];
    if has_short_form(&names[0]) {
        names.push(short_session(&names[0]));
    }
    SessionKeys { names, agent_session_id: Some(agent_session_id.to_owned()) }
}

/// The ledger, opened when it is first needed: most tool uses need none.
#[derive(Debug)]
pub struct Book<'h> {
    here: &'h Here,
    options: Options,
    open: Lent,
}

/// Where a ledger waits between two who use it. Opening one is most of what a hook costs, so that all of one
/// call use the same.
pub(super) type Shelf = Rc<RefCell<Option<Open>>>;

/// A ledger in use. It goes back to its shelf, where it has one.
#[derive(Debug, Default)]
struct Lent {
    open: Option<Open>,
    shelf: Option<Shelf>,
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let (Some(open), Some(shelf)) = (self.open.take(), &self.shelf) {
            *shelf.borrow_mut() = Some(open);
        }
    }
}

#[derive(Debug)]
pub(super) enum Open {
    /// Closed when nobody needs it any more.
    Closing(Ledger),
    /// Never closed: a process that leaves even the log as it is ends right away, and then the kernel
    /// closes its files for nothing.
    Left(ManuallyDrop<Ledger>),
}

impl Open {
    fn new(ledger: Ledger, options: Options) -> Self {
        if options.no_checkpoint_on_close {
            Self::Left(ManuallyDrop::new(ledger))
        } else {
            Self::Closing(ledger)
        }
    }
}

impl<'h> Book<'h> {
    /// The ledger that is used here.
    pub fn new(here: &'h Here, options: Options) -> Self {
        Self { here, options, open: Lent::default() }
    }

    pub fn ledger(&mut self) -> Result<&mut Ledger, Error> {
        if self.open.open.is_none() {
            self.open.open = self.open.shelf.as_ref().and_then(|shelf| shelf.borrow_mut().take());
        }
        let open = match self.open.open.take() {
            Some(open) => open,
            None => self.settled(Ledger::open(&self.here.home, self.options)?),
        };
        Ok(match self.open.open.insert(open) {
            Open::Closing(ledger) => ledger,
            Open::Left(ledger) => ledger,
        })
    }

    /// Notices what happened to the ledger while nobody looked: the first thing that is asked of it.
    pub(super) fn attend(&mut self, at: Timestamp) -> Result<Vec<Notice>, Error> {
        let home = &self.here.home;
        let mut notices = Ledger::noticed_beside(home, at);
        if Ledger::exists_in(home) {
            let mut ledger = Ledger::open(home, self.options)?;
            notices.extend(ledger.look_back(at)?);
            self.open.open = Some(self.settled(ledger));
        }
        Ok(notices)
    }

    fn settled(&self, mut ledger: Ledger) -> Open {
        // A directory that cannot be told apart now goes by its path.
        let _ = identity::settle(self.here, &mut ledger, Look::Glance);
        Open::new(ledger, self.options)
    }
}

/// What is known where a session works.
#[derive(Debug)]
pub struct GuardFacts<'h> {
    here: &'h Here,
    /// The ledger.
    pub book: Book<'h>,
    session: SessionKeys,
    seen: BTreeMap<BranchKey, Seen>,
    /// How long commands may take, all together, and since when.
    patience: u64,
    began: Instant,
}

impl<'h> GuardFacts<'h> {
    /// What is known to a session.
    pub fn new(here: &'h Here, session: SessionKeys, options: Options) -> Self {
        let book = Book::new(here, options);
        let (seen, began) = (BTreeMap::new(), Instant::now());
        Self { here, book, session, seen, patience: MOST_SECONDS, began }
    }

    /// The ledger comes from this shelf, and goes back there.
    pub(super) fn sharing(mut self, place: &Shelf) -> Self {
        self.book.open.shelf = Some(Rc::clone(place));
        self
    }

    /// An agent waits for the answer, and not for long.
    pub fn hurried(mut self) -> Self {
        self.patience = MOST_SECONDS_HURRIED;
        self
    }

    /// How many seconds commands may still take.
    fn left(&self) -> u64 {
        self.patience.saturating_sub(self.began.elapsed().as_secs())
    }

    /// Whether the ledger was asked yet.
    pub fn was_asked(&self) -> bool {
        !self.seen.is_empty()
    }

    /// What the session sees on a branch.
    pub fn seen(&mut self, branch: &BranchKey) -> Result<&Seen, Error> {
        if !self.seen.contains_key(branch) {
            let ledger = self.book.ledger()?;
            let seen = branches::requirements(self.here, ledger, branch, &self.session)?;
            self.seen.insert(branch.clone(), seen);
        }
        Ok(&self.seen[branch])
    }

    /// What was measured last, however long ago, and when.
    pub(super) fn measured(&self, measure: &Measure) -> Option<(f64, Timestamp)> {
        measure::kept(self.here, measure).map(|(at, value)| (value, at))
    }

    /// Forgets what was read: it was changed.
    pub fn forget(&mut self) {
        self.seen.clear();
    }
}

impl Facts for GuardFacts<'_> {
    fn held(&mut self, requirement: &Requirement, branch: &BranchKey) -> Result<Held, Fault> {
        self.seen(branch)
            .map(|seen| seen.held(&requirement.name, branch))
            .map_err(|error| Fault { what: causes::told(&error) })
    }

    fn files(&mut self, paths: &[String]) -> Result<Vec<FileFact>, Fault> {
        let mut names = Vec::new();
        for pattern in paths {
            find(&self.here.place.root, pattern, &mut names);
        }
        names.sort();
        names.dedup();
        let mut files: Vec<FileFact> =
            names.iter().filter_map(|name| fact(&self.here.place.root, name)).collect();
        files.sort_by_key(|file| std::cmp::Reverse(file.modified));
        Ok(files)
    }

    fn succeeds(&mut self, command: &str, timeout: u64) -> Result<bool, Fault> {
        measure::succeeds(&self.here.place.root, command, timeout.min(self.left()))
    }

    fn diff(&mut self, paths: &[String]) -> Result<String, Fault> {
        diff(self.here, paths)
    }

    fn measure(&mut self, measure: &Measure, cache: u64) -> Result<(f64, Timestamp), Fault> {
        measure::measure(self.here, measure, cache, self.left())
    }

    fn other_sessions(&mut self) -> Result<Vec<String>, Fault> {
        let root = self.here.place.root.to_string_lossy().into_owned();
        let repo = self.here.place.repo.clone();
        let own = self.session.clone();
        let branch = BranchKey::stored(self.here.place.head.key());
        let failed = |error: Error| Fault { what: causes::told(&error) };
        let id = self.seen(&branch).map_err(failed)?.session.map(|id| id.to_string());
        let live = self.book.ledger().and_then(|ledger| ledger.live(&repo)).map_err(failed)?;
        let is_own = |session: &str| own.names.iter().chain(&id).any(|name| name == session);
        let others = live.iter().filter(|live| {
            live.worktree.as_deref() == Some(root.as_str())
                && !is_own(&live.session.to_string())
                && live::is_alive(live)
        });
        Ok(others.map(|live| live.session.to_string()).collect())
    }
}

/// The hash of what a branch changes.
pub(super) fn diff(here: &Here, paths: &[String]) -> Result<String, Fault> {
    let changed = changes::changed(&here.place, paths)
        .ok_or_else(|| Fault { what: "git cannot tell what was changed".to_owned() })?;
    let mut hasher = blake3::Hasher::new();
    for (name, content) in changed {
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        match content {
            Some(content) => hasher.update(&(content.len() as u64).to_le_bytes()).update(&content),
            None => hasher.update(&u64::MAX.to_le_bytes()),
        };
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// The files at a place below `root`: one file, all of a directory, or those that fit a glob.
fn find(root: &Path, pattern: &str, names: &mut Vec<String>) {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    // What leads out of the repository is no evidence of it.
    if Path::new(pattern).is_absolute() || pattern.split('/').any(|part| part == "..") {
        return;
    }
    let is_wild = |part: &str| part.contains(['*', '?', '[', '{']);
    if !pattern.split('/').any(is_wild) {
        let path = root.join(pattern);
        if path.is_file() {
            names.push(pattern.to_owned());
        } else if path.is_dir() {
            walk(&path, pattern, &mut |name| names.push(name));
        }
        return;
    }
    let fixed: Vec<&str> = pattern.split('/').take_while(|part| !is_wild(part)).collect();
    let start = fixed.join("/");
    walk(&root.join(&start), &start, &mut |name| {
        if glob::path(pattern, &name) {
            names.push(name);
        }
    });
}

fn walk(directory: &Path, prefix: &str, found: &mut dyn FnMut(String)) {
    let mut open = vec![(directory.to_owned(), prefix.to_owned())];
    let mut count = 0;
    while let Some((directory, prefix)) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let name = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            count += 1;
            match entry.file_type() {
                _ if count > MOST_FILES => return,
                Ok(kind) if kind.is_dir() && entry.file_name() != ".git" => {
                    open.push((entry.path(), name));
                }
                Ok(kind) if kind.is_file() => found(name),
                _ => {}
            }
        }
    }
}

fn fact(root: &Path, name: &str) -> Option<FileFact> {
    let path = root.join(name);
    let metadata = fs::metadata(&path).ok()?;
    let modified = Timestamp::try_from(metadata.modified().ok()?).ok()?;
    let is_small = metadata.len() <= MOST_BYTES;
    let bytes =
        if is_small { heirloom_repo::read_at_most(&path, MOST_BYTES).ok()? } else { Vec::new() };
    Some(FileFact {
        path: name.to_owned(),
        modified,
        text: String::from_utf8_lossy(&bytes).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_agents::hook::Hooks;
    use serde_json::Value;

    /// How many seconds an agent waits for each of the hooks that are installed in it.
    fn waits(hooks: &dyn Hooks, name: &str) -> Vec<(String, u64)> {
        let file = hooks.files(Path::new(""), &[("HOME".into(), "/u".into())].into());
        let texts = file.iter().map(|file| hooks.install(file, None, "/bin/heirloom").unwrap());
        let text = texts.max_by_key(String::len).unwrap();
        if let Some((_, rest)) = text.split_once("TIMEOUT_MS = ") {
            let ms: u64 = rest.split_whitespace().next().unwrap().parse().unwrap();
            return vec![("PreToolUse".to_owned(), ms / 1000)];
        }
        let settings: Value = serde_json::from_str(&text).unwrap();
        let per_second = if name == "gemini" { 1000 } else { 1 };
        let events = settings["hooks"].as_object().unwrap().iter();
        let limit = |value: &Value| value[0]["hooks"][0]["timeout"].as_u64().unwrap() / per_second;
        events.map(|(event, value)| (event.clone(), limit(value))).collect()
    }

    #[test]
    fn commands_end_before_any_agent_stops_waiting_for_the_hook() {
        let mut checked = 0;
        for agent in heirloom_agents::ALL {
            let Some(hooks) = agent.hooks() else { continue };
            for (event, waits) in waits(hooks, agent.name()) {
                // With time left to say that they were too slow.
                let is_end = matches!(event.as_str(), "Stop" | "AfterAgent");
                let most = if is_end { MOST_SECONDS } else { MOST_SECONDS_HURRIED };
                assert!(most + 2 < waits, "{} {event}: {most} of {waits}", agent.name());
                checked += 1;
            }
        }
        assert!(checked > 20, "{checked}");
    }
}
