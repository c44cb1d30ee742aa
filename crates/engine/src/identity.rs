//! Which repository a directory is.
//!
//! The ledger is asked by path and answers for the repository that is there, whatever it is called.
//! Here is where it learns that: when a directory is met for the first time, or says something else
//! than before. What it says is a claim; [`heirloom_core::repo::join`] decides what it is given.

mod settling;

use std::path::{Component, Path, PathBuf};

use heirloom_core::event::{RepoLinked, RepoNamed};
use heirloom_core::guard::state::BY_PERSON;
use heirloom_core::repo::{self, Marks, RepoId, RepoKey};
use heirloom_ledger::{Error, Ledger, RepoPlace, Scope};
use heirloom_repo::Place;
use uuid::Uuid;

use crate::capture;
use crate::guard::subject::actor;
use crate::here::Here;
use settling::Settling;

/// How closely a directory is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Only whether it is known: for hooks, of which there are many.
    Glance,
    /// Whether it is still what it was.
    Closely,
    /// The same, and one that nobody set up is remembered, because something was just recorded there:
    /// it is known again when it was moved.
    AtWork,
}

impl Look {
    /// Whether a person reads what comes of it.
    fn is_for_a_person(self) -> bool {
        self == Self::Closely
    }
}

/// What a person may want to decide about a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The key or path whose history could be linked.
    pub link: String,
    /// Why it was not.
    pub why: String,
}

/// What is known of the repository here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// What the ledger knows it by.
    pub id: RepoId,
    /// What people call it.
    pub name: String,
    /// Other keys, and paths it was recorded under before it had one.
    pub aliases: Vec<String>,
    /// The directories it is in, newest first.
    pub paths: Vec<String>,
    /// Its root commits.
    pub roots: Vec<String>,
    /// Where it is pushed to and pulled from.
    pub remotes: Vec<String>,
    /// The keys that the directory claims and was not given.
    pub refused: Vec<RepoKey>,
}

/// Why a history could not be linked.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// Only a person decides it.
    #[error("agents may not link a repository to other history")]
    NotAPerson,
    /// There is no such history.
    #[error("nothing is recorded under {name}")]
    Nothing { name: String },
    #[error("{name} is already this repository")]
    Same { name: String },
    #[error(transparent)]
    Ledger(#[from] Error),
}

/// Makes sure that the ledger knows which repository is here. Returns what a person should hear of
/// it, the first time.
pub fn settle(here: &Here, ledger: &mut Ledger, look: Look) -> Result<Option<Offer>, Error> {
    let path = here.place.repo.as_str();
    if look == Look::Glance && ledger.is_named(path)? {
        return Ok(None);
    }
    let keys = claimed(&here.place);
    if look == Look::Glance && keys.is_empty() {
        return Ok(None);
    }
    Settling { here, path, keys, marks: marks(&here.place), places: ledger.places()? }
        .settle(ledger, look)
}

/// The keys that a directory claims.
pub fn claimed(place: &Place) -> Vec<RepoKey> {
    let [committed, cached] = place.key_texts();
    let mut text = committed.unwrap_or_default();
    text.push('\n');
    text.push_str(&cached.unwrap_or_default());
    repo::keys_in(&text)
}

/// A key that nobody has.
pub fn mint() -> RepoKey {
    // A random UUID has six fixed bits; crossed with another they are random, too.
    let (one, other) = (Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes());
    RepoKey::from_random(std::array::from_fn(|at| one[at] ^ other[15 - at]))
}

fn marks(place: &Place) -> Marks {
    let remotes = place.remotes();
    let mut remotes: Vec<String> =
        remotes.iter().filter_map(|remote| repo::normalised(remote)).collect();
    remotes.sort_unstable();
    remotes.dedup();
    let inode = place.inode().map(|inode| repo::Inode {
        device: inode.device,
        inode: inode.inode,
        born_ms: inode.born_ms,
    });
    Marks { remotes, roots: Vec::new(), inode }
}

fn scope(id: &RepoId) -> Scope<'_> {
    Scope { session: None, repo: Some(id.as_str()) }
}

/// A path as it is recorded: relative to the repository, where it is in it.
pub fn relative(here: &Here, path: &Path) -> String {
    match path.strip_prefix(&here.place.repo) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.to_string_lossy().into_owned(),
        Err(_) => path.to_string_lossy().into_owned(),
    }
}

/// Where a recorded path is now. One from before paths were relative is looked for below where the
/// repository is now, if it was below where it has been.
pub fn where_now(here: &Here, ledger: &Ledger, recorded: &str) -> Result<PathBuf, Error> {
    let (root, path) = (Path::new(&here.place.repo), Path::new(recorded));
    if path.is_relative() {
        return Ok(root
            .components()
            .chain(path.components().filter(|part| *part != Component::CurDir))
            .collect());
    }
    if path.exists() {
        return Ok(path.to_owned());
    }
    let names = ledger.names_of(&here.place.repo)?;
    let below = names.iter().filter_map(|name| path.strip_prefix(name).ok());
    Ok(below
        .map(|below| root.join(below))
        .find(|moved| moved.exists())
        .unwrap_or_else(|| path.to_owned()))
}

/// What is known of the repository here, git asked for what it alone knows.
pub fn show(here: &Here, ledger: &mut Ledger) -> Result<Shown, Error> {
    let id = RepoId::new(ledger.repository(&here.place.repo)?);
    let places: Vec<RepoPlace> =
        ledger.places()?.into_iter().filter(|place| place.repo == id).collect();
    let own = places.iter().find(|place| place.is_own && place.named.path == here.place.repo);
    let roots = here.place.roots();
    if let Some(own) = own.filter(|own| own.named.marks.roots != roots) {
        let marks = Marks { roots: roots.clone(), ..own.named.marks.clone() };
        let named = RepoNamed { marks, ..own.named.clone() };
        ledger.append(here.clock.now(), scope(&id), &named)?;
    }
    let mut paths: Vec<String> = vec![here.place.repo.clone()];
    let mut remotes = marks(&here.place).remotes;
    for place in places.iter().filter(|place| place.is_own) {
        paths.push(place.named.path.clone());
        remotes.extend(place.named.marks.remotes.iter().cloned());
    }
    let refused = own.map(|own| own.named.refused.clone()).unwrap_or_default();
    let aliases = ledger.names_of(id.as_str())?;
    let mut shown = Shown {
        name: here.place.label().to_owned(),
        aliases: aliases.into_iter().filter(|name| *name != id.as_str()).collect(),
        paths,
        roots,
        remotes,
        refused,
        id,
    };
    let mut seen = Vec::new();
    shown.paths.retain(|path| (!seen.contains(path)).then(|| seen.push(path.clone())).is_some());
    shown.aliases.retain(|alias| !shown.paths.contains(alias));
    shown.remotes.sort_unstable();
    shown.remotes.dedup();
    Ok(shown)
}

/// Gives the repository here the history that is recorded under another key or path.
pub fn link(here: &Here, ledger: &mut Ledger, name: &str) -> Result<Shown, LinkError> {
    if actor(here, ledger) != BY_PERSON {
        return Err(LinkError::NotAPerson);
    }
    let name = full(name);
    if !ledger.has_recorded(&name)? {
        return Err(LinkError::Nothing { name });
    }
    let (own, other) = (ledger.repository(&here.place.repo)?, ledger.repository(&name)?);
    if own == other {
        return Err(LinkError::Same { name });
    }
    let keys = claimed(&here.place);
    let (stays, goes) = which_stays(&keys, RepoId::new(own), RepoId::new(other));
    let named = RepoNamed {
        path: here.place.repo.clone(),
        keys,
        marks: Marks { roots: here.place.roots(), ..marks(&here.place) },
        refused: Vec::new(),
        offered: true,
    };
    ledger.append_all(here.clock.now(), |appender| {
        let linked = RepoLinked { from: goes.clone(), by: BY_PERSON.to_owned() };
        appender.append(scope(&stays), &linked)?;
        appender.append(scope(&stays), &named).map(drop)
    })?;
    capture::rename(&here.home, goes.as_str(), stays.as_str());
    Ok(show(here, ledger)?)
}

/// A key as it is; anything else is a path from here, whether or not something is there still.
fn full(name: &str) -> String {
    if name.parse::<RepoKey>().is_ok() {
        return name.to_owned();
    }
    let path = std::fs::canonicalize(name).or_else(|_| std::path::absolute(name));
    path.map_or_else(|_| name.to_owned(), |path| path.to_string_lossy().into_owned())
}

/// The key that the directory claims is what others have too, and a key outlives a path.
fn which_stays(keys: &[RepoKey], own: RepoId, other: RepoId) -> (RepoId, RepoId) {
    let rank = |id: &RepoId| match id.key() {
        Some(key) if keys.contains(&key) => 2,
        Some(_) => 1,
        None => 0,
    };
    let is_smaller = other.key() < own.key();
    if rank(&other) > rank(&own) || (rank(&other) == 2 && rank(&own) == 2 && is_smaller) {
        (other, own)
    } else {
        (own, other)
    }
}
