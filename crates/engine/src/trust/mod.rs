//! Trust: a person's word that what a repository brings may count.
//!
//! The decision is a record of this host, bound to the repository and to a hash of what it covers, as
//! direnv and mise do it: something that changed has to be seen again. What is covered, and what
//! is left out until then, is [`heirloom_core::trust`].
//!
//! Invariant: whatever cannot be found out counts as not trusted.

mod page;
mod survey;

pub(crate) use page::{
    is_in_git as page_is_in_git, is_withheld as page_is_withheld, tells as tells_page,
};
pub use survey::{Survey, survey};

use std::path::{Path, PathBuf};

use heirloom_core::event::TrustDecided;
use heirloom_core::trust::person::Action;
use heirloom_core::trust::{Covered, State};
use heirloom_ledger::{Error, Ledger, Options, Scope};
use jiff::Timestamp;

use crate::here::Here;
use crate::identity::{self, Look};
use crate::person::{self, PersonError};
use crate::settings::{self, Environment, Request, Say};

/// Something a command needs is brought by the repository, and nobody has said yes to it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this repository comes with {}, which you have not trusted", .what.join(", "))]
pub struct Untrusted {
    /// What: `work.gate`, `stages.review`.
    pub what: Vec<String>,
}

impl Untrusted {
    /// What to do about it.
    pub const HINT: &'static str =
        "`heirloom trust` shows what it would run on your machine, and lets you allow it";
}

/// Refuses to go on where what a section of the settings needs was left out: without its gate `work`
/// would be another program.
pub fn needs(loaded: &settings::Loaded, sections: &[&str]) -> Result<(), Untrusted> {
    let is_of =
        |key: &&String| sections.iter().any(|section| key.split('.').next() == Some(section));
    let what: Vec<String> = loaded.withheld.iter().filter(is_of).cloned().collect();
    if what.is_empty() { Ok(()) } else { Err(Untrusted { what }) }
}

/// How a repository stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Whether what it brings counts.
    pub state: State,
    /// What it brings.
    pub survey: Survey,
    /// When a person said so.
    pub since: Option<Timestamp>,
    /// The directory of the person's `trust.paths` that it lies in.
    pub below: Option<PathBuf>,
}

/// How the repository here stands, by this ledger.
pub fn standing(here: &Here, ledger: &Ledger) -> Result<Standing, Error> {
    standing_with(here, ledger, page::brought(here, ledger)?)
}

/// The same, where it is known whether its page of notes came with the code.
fn standing_with(here: &Here, ledger: &Ledger, page: Option<Covered>) -> Result<Standing, Error> {
    let mut survey = survey(&here.home, &here.place.root);
    let decided = decided(here, ledger)?;
    let below = allowed(here);
    let trusted = decided.as_ref().and_then(|(_, decided)| decided.hash.as_deref());
    let mut state = match below {
        Some(_) => State::Trusted,
        None => State::of(&survey.covered, &survey.hash, trusted),
    };
    if let Some(page) = page {
        // What is on it changes with every day's work, so it is no part of the hash.
        if state == State::Trusted && trusted.is_none() && below.is_none() {
            state = State::Untrusted;
        }
        survey.covered.push(page);
    }
    let since = decided.filter(|_| state == State::Trusted).map(|(at, _)| at);
    Ok(Standing { state, survey, since, below })
}

/// What of the repository's settings counts, for whoever is about to read them.
pub(crate) fn say(here: &Here) -> Say {
    let survey = survey(&here.home, &here.place.root);
    // Most repositories bring nothing: then nobody has to be asked.
    if survey.covered.is_empty() || allowed(here).is_some() {
        return Say::Everything;
    }
    let decided = Ledger::open(&here.home, Options::HOOK).and_then(|mut ledger| {
        // What was decided for a repository holds where it is now.
        let _ = identity::settle(here, &mut ledger, Look::Glance);
        decided(here, &ledger)
    });
    let trusted = decided.ok().flatten().and_then(|(_, decided)| decided.hash);
    if trusted.as_deref() == Some(survey.hash.as_str()) { Say::Everything } else { Say::Untrusted }
}

/// Only this host's word counts: a ledger that was merged in brings other people's decisions along.
fn decided(here: &Here, ledger: &Ledger) -> Result<Option<(Timestamp, TrustDecided)>, Error> {
    let host = ledger.host()?.to_string();
    let kept = ledger.kept::<TrustDecided>(&here.place.repo, &host)?;
    Ok(kept.map(|kept| (kept.at, kept.body)))
}

/// Trusts what there is now. `seen` is what was shown to the person: what changed meanwhile is not
/// trusted.
pub fn trust(here: &Here, ledger: &mut Ledger, seen: &Survey) -> Result<(), PersonError> {
    person::allow(here, ledger, Action::Trust)?;
    let commands = seen.commands().count() as u64;
    Ok(decide(here, ledger, &TrustDecided { hash: Some(seen.hash.clone()), commands })?)
}

/// Takes it back.
pub fn revoke(here: &Here, ledger: &mut Ledger) -> Result<(), PersonError> {
    person::allow(here, ledger, Action::Trust)?;
    Ok(decide(here, ledger, &TrustDecided { hash: None, commands: 0 })?)
}

fn decide(here: &Here, ledger: &mut Ledger, decided: &TrustDecided) -> Result<(), Error> {
    let scope = Scope { session: None, repo: Some(&here.place.repo) };
    ledger.append(here.clock.now(), scope, decided)?;
    renew(&here.home, &here.clock.now().to_string());
    Ok(())
}

/// Hooks keep the rules they read. What they watch includes this file, which `now` makes another.
pub(crate) fn renew(home: &Path, now: &str) {
    let _ = heirloom_repo::make_private_dir(home)
        .and_then(|()| heirloom_repo::replace_private(&stamp(home), now.as_bytes()));
}

/// The file that is written whenever what somebody may say changes.
pub(crate) fn stamp(home: &Path) -> PathBuf {
    home.join("trust")
}

/// The directory of the person's own `trust.paths` that the repository lies in.
fn allowed(here: &Here) -> Option<PathBuf> {
    let environment = Environment::of(here);
    let repo = Some(here.place.root.as_path());
    let request = Request { environment: &environment, repo, flags: &[], say: Say::Nothing };
    let paths = settings::load(&request).ok()?.settings.trust.paths;
    let home = here.var("HOME").map(PathBuf::from);
    let expanded = paths.iter().filter_map(|path| match path.strip_prefix("~/") {
        Some(rest) => home.as_ref().map(|home| home.join(rest)),
        None => Some(PathBuf::from(path)),
    });
    let real = |path: PathBuf| std::fs::canonicalize(&path).unwrap_or(path);
    expanded
        .filter(|path| path.is_absolute())
        .map(real)
        .find(|path| here.place.root.starts_with(path))
}
