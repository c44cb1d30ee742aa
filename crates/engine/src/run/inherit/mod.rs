//! What a new session inherits, from wherever it was kept.
//!
//! A source is a session of the ledger, however it was recorded, or a run directory that the ledger
//! does not know, this engine's or the original one's. The rule that puts them together is
//! [`heirloom_core::inherit`]'s. Read once, when a session begins.

mod directory;
mod recorded;

use std::cell::RefCell;
use std::fmt;
use std::hash::{Hash, Hasher};

use heirloom_core::evidence::Evidence;
use heirloom_core::id::SessionId;
use heirloom_core::inherit::{
    Category, Inherited, Item, Options, Select, Source, merge, warn_of_end,
};
use heirloom_core::lineage;
use heirloom_core::name::{NameError, SessionName};
use heirloom_core::session::Session;
use heirloom_core::settings::Settings;
use heirloom_core::status::Status;
use heirloom_core::suggest;
use heirloom_core::trust::person::NotAPerson;
use heirloom_ledger::{Error, Found, Ledger};

use jiff::Timestamp;

use crate::here::Here;
use crate::keep::ground;
use crate::reach;

/// What a session inherits and from whom.
#[derive(Debug, Clone)]
pub struct Resolved {
    pub block: Inherited,
    /// The session, where the ledger knows it.
    pub parent: Option<SessionId>,
}

/// Why nothing can be inherited from there.
#[derive(Debug, thiserror::Error)]
pub enum InheritError {
    /// No session can be called so.
    #[error("`{address}` cannot be a session to inherit from: {source}")]
    NoName {
        /// What was asked for.
        address: String,
        /// Why not.
        #[source]
        source: NameError,
    },
    /// There is no such session.
    #[error("there is no session {address} in this repository")]
    Missing {
        /// What was asked for.
        address: String,
        /// What was probably meant.
        nearest: Option<String>,
        /// What there is.
        candidates: Vec<String>,
    },
    /// There are several.
    #[error("{address} matches {} sessions", candidates.len())]
    Many {
        /// What was asked for.
        address: String,
        /// What it could mean.
        candidates: Vec<Session>,
    },
    /// Its directory cannot be used.
    #[error("session {name} cannot be inherited from: {why}")]
    Broken {
        /// The session.
        name: String,
        why: String,
    },
    /// It is of another repository, and an agent asks.
    #[error(transparent)]
    Elsewhere(#[from] NotAPerson),
    #[error(transparent)]
    Ledger(#[from] Error),
}

/// How many ancestors of a session are looked for that only a run directory knows.
const MOST_ANCESTORS: usize = 100;

/// How much is inherited.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The most tokens.
    pub max_tokens: usize,
    /// The most sessions of the lineage, the nearest included.
    pub max_depth: usize,
}

impl Limits {
    /// What the settings say.
    pub fn of(settings: &Settings) -> Self {
        let number = |number: std::num::NonZeroU32| number.get() as usize;
        let inherit = &settings.inherit;
        Self { max_tokens: number(inherit.max_tokens), max_depth: number(inherit.max_depth) }
    }
}

/// A session of a lineage: one of the ledger by its id, another by its name.
#[derive(Debug, Clone)]
struct Key {
    name: String,
    id: Option<SessionId>,
}

impl Key {
    fn identity(&self) -> (Option<SessionId>, &str) {
        (self.id, if self.id.is_some() { "" } else { &self.name })
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// What a session that inherits from `address` starts with.
///
/// Several addresses are as one lineage after the other; what one of them passes on that another one
/// did before is there once.
pub fn resolve(
    here: &Here,
    ledger: &Ledger,
    addresses: &[&str],
    select: Select,
    limits: Limits,
) -> Result<Resolved, InheritError> {
    let (mut parent, mut sources) = (None, Vec::<Source>::new());
    for address in addresses {
        let (key, walked) = walk(here, ledger, address, limits)?;
        parent = parent.or(key.id);
        let is_new = |source: &Source| !sources.iter().any(|known| known.name == source.name);
        let walked: Vec<Source> = walked.into_iter().filter(is_new).collect();
        sources.extend(walked);
    }
    let depth = sources.len().max(limits.max_depth);
    let mut sources = sources.into_iter();
    let Some(nearest) = sources.next() else {
        return Err(missing(here, ledger, addresses.first().copied().unwrap_or_default())?);
    };
    let options = Options { select, max_tokens: limits.max_tokens, depth, ..Options::default() };
    let judge = RefCell::new(ground::judge(here));
    let verify = |evidence: &Evidence| (judge.borrow_mut())(evidence);
    let block = merge(nearest, sources.collect(), &options, &verify);
    Ok(Resolved { block, parent })
}

/// The session at `address` and its ancestors, nearest first, with what each made.
fn walk(
    here: &Here,
    ledger: &Ledger,
    address: &str,
    limits: Limits,
) -> Result<(Key, Vec<Source>), InheritError> {
    let key = find(here, ledger, address)?;
    let depth = limits.max_depth.max(1);
    // Nobody is called so: the new session itself is not part of what is walked.
    let start = Key { name: String::new(), id: None };
    let walked = lineage::walk(start, Some(key.clone()), depth, |key| read(here, ledger, key))?;
    let warning = warn_of_end(&walked.end, depth);
    let mut sources = walked.ancestors;
    match sources.first_mut() {
        Some(nearest) => nearest.raised.extend(warning),
        None => return Err(missing(here, ledger, address)?),
    }
    Ok((key, sources))
}

/// A session of a run directory that the ledger does not know, the original engine's for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unrecorded {
    pub name: String,
    /// Its status, where its files say one we know.
    pub status: Option<Status>,
    /// When it ended, if it did.
    pub completed_at: Option<Timestamp>,
    /// How many learnings it made.
    pub learnings: usize,
    /// The session it comes from.
    pub parent: Option<String>,
}

/// What a run directory says of its session, which the ledger does not know.
#[derive(Debug, Clone, PartialEq)]
pub struct UnrecordedDetail {
    pub name: String,
    /// Its status, where its files say one we know.
    pub status: Option<Status>,
    /// When it ended, if it did.
    pub completed_at: Option<Timestamp>,
    /// What it passes on.
    pub items: Vec<Item>,
    /// The sessions it comes from, nearest first, as far as anybody knows them.
    pub ancestors: Vec<String>,
}

/// The session called `name`, where only a run directory knows it.
pub fn find_unrecorded(
    here: &Here,
    ledger: &Ledger,
    name: &str,
) -> Result<Option<UnrecordedDetail>, InheritError> {
    let Ok(parsed) = name.parse::<SessionName>() else { return Ok(None) };
    if directory::find(here, &parsed).is_none() {
        return Ok(None);
    }
    let key = Key { name: name.to_owned(), id: None };
    let Some((source, parent)) = read(here, ledger, &key)? else { return Ok(None) };
    let walked = lineage::walk(key, parent, MOST_ANCESTORS, |key| read(here, ledger, key))?;
    Ok(Some(UnrecordedDetail {
        name: source.name,
        status: source.status,
        completed_at: source.completed_at,
        items: source.items,
        ancestors: walked.ancestors.into_iter().map(|source| source.name).collect(),
    }))
}

/// The sessions that only run directories know, by name. What cannot be read is none.
pub fn unrecorded(here: &Here, ledger: &Ledger) -> Result<Vec<Unrecorded>, Error> {
    let mut found = Vec::new();
    for name in directory::names(here) {
        let Ok(name) = name.parse::<SessionName>() else { continue };
        if ledger.named(&here.place.repo, name.as_str())?.is_some() {
            continue;
        }
        let Some(path) = directory::find(here, &name) else { continue };
        let Ok((source, parent)) = directory::read(here, &path, &name) else { continue };
        let is_learning = |item: &&Item| item.category == Category::Learnings;
        found.push(Unrecorded {
            name: source.name.clone(),
            status: source.status,
            completed_at: source.completed_at,
            learnings: source.items.iter().filter(is_learning).count(),
            parent: parent.map(|parent| parent.to_string()),
        });
    }
    Ok(found)
}

fn find(here: &Here, ledger: &Ledger, address: &str) -> Result<Key, InheritError> {
    if let Err(source) = address.parse::<SessionName>() {
        return Err(InheritError::NoName { address: address.to_owned(), source });
    }
    match ledger.find(&here.place.repo, address)? {
        Found::One(session) => {
            if reach::is_elsewhere(here, ledger, &session)? {
                reach::everywhere(here, ledger)?;
            }
            Ok(of_session(&session))
        }
        Found::Many(candidates) => {
            Err(InheritError::Many { address: address.to_owned(), candidates })
        }
        Found::None => {
            let name = address.parse::<SessionName>().ok();
            match name.filter(|name| directory::find(here, name).is_some()) {
                Some(name) => Ok(Key { name: name.to_string(), id: None }),
                None => Err(missing(here, ledger, address)?),
            }
        }
    }
}

fn of_session(session: &Session) -> Key {
    Key { name: session.name.to_string(), id: Some(session.id) }
}

fn missing(here: &Here, ledger: &Ledger, address: &str) -> Result<InheritError, Error> {
    let mut candidates = ledger.recent_names(&here.place.repo, 200)?;
    for name in directory::names(here) {
        if !candidates.contains(&name) {
            candidates.push(name);
        }
    }
    let nearest = suggest::nearest(address, candidates.iter().map(String::as_str));
    let nearest = nearest.map(str::to_owned);
    candidates.truncate(10);
    Ok(InheritError::Missing { address: address.to_owned(), nearest, candidates })
}

/// A session of a lineage with what it made, and the one it comes from.
fn read(
    here: &Here,
    ledger: &Ledger,
    key: &Key,
) -> Result<Option<(Source, Option<Key>)>, InheritError> {
    if let Some(id) = key.id {
        let Some(session) = ledger.session(id)? else { return Ok(None) };
        let parent = session.parent.map(|id| {
            let known = ledger.session(id).ok().flatten();
            known.map_or_else(|| Key { name: id.short(), id: Some(id) }, |s| of_session(&s))
        });
        return Ok(Some((recorded::read(here, ledger, &session)?, parent)));
    }
    let Ok(name) = key.name.parse::<SessionName>() else { return Ok(None) };
    let Some(path) = directory::find(here, &name) else { return Ok(None) };
    let (source, parent) = directory::read(here, &path, &name)
        .map_err(|why| InheritError::Broken { name: name.to_string(), why })?;
    let parent = match parent {
        None => None,
        // A parent that the ledger knows by now is better known there.
        Some(parent) => {
            let known = ledger.named(&here.place.repo, parent.as_str())?;
            let key = || Key { name: parent.to_string(), id: None };
            Some(known.map_or_else(key, |session| of_session(&session)))
        }
    };
    Ok(Some((source, parent)))
}
