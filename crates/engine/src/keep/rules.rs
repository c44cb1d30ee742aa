//! The person's rules: what is kept, and what waits for their word.

use heirloom_core::event::RuleDecided;
use heirloom_core::ground::digest;
use heirloom_core::settings::Settings;
use heirloom_core::trust::person::{Action, NotAPerson};
use heirloom_ledger::{Error, Ledger, Scope};
use jiff::Timestamp;

use super::recover::Gatherer;
use crate::here::Here;
use crate::identity::{self, Look};
use crate::person;

/// So many decisions about rules are looked at.
const MOST: usize = 1000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The address of its words.
    pub id: String,
    pub text: String,
    /// Whether a person keeps it; otherwise it was only said.
    pub kept: bool,
    /// When it was kept, or said.
    pub at: Timestamp,
}

/// Why a rule could not be kept or dropped.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// It says nothing.
    #[error("the rule is empty")]
    Empty,
    /// There is no such rule.
    #[error("there is no rule {id}")]
    None {
        /// What was asked for.
        id: String,
    },
    /// There is more than one such rule.
    #[error("{id} matches {count} rules")]
    Many {
        /// What was asked for.
        id: String,
        /// How many begin with it.
        count: usize,
    },
    /// Only a person may.
    #[error(transparent)]
    NotAPerson(#[from] NotAPerson),
    #[error(transparent)]
    Ledger(#[from] Error),
}

/// The address of a rule's words.
pub fn address(text: &str) -> String {
    digest(text.trim())[..12].to_owned()
}

/// The rules of this repository, those that a person keeps first, then what was only said.
pub fn list(here: &Here, ledger: &Ledger, settings: &Settings) -> Result<Vec<Rule>, Error> {
    let mut rules = kept(here, ledger)?;
    let gather = Gatherer::new(here, ledger, settings);
    let said = gather.stood(gather.begun(&[], None)?)?.standing.said;
    let said = said.into_iter().map(|(text, at)| {
        let id = address(&text);
        Rule { id, text, kept: false, at }
    });
    rules.extend(said);
    Ok(rules)
}

fn kept(here: &Here, ledger: &Ledger) -> Result<Vec<Rule>, Error> {
    let decided = ledger.newest_kept::<RuleDecided>(&here.place.repo, MOST)?;
    let kept = decided.into_iter().filter(|decided| decided.body.kept);
    let rule = |kept: heirloom_ledger::Keeping<RuleDecided>| {
        let RuleDecided { id, text, kept: is_kept } = kept.body;
        Some(Rule { id, text: text?, kept: is_kept, at: kept.at })
    };
    Ok(kept.filter_map(rule).collect())
}

/// Keeps a rule: one that was said, by its id, or any other in its words.
pub fn keep(
    here: &Here,
    ledger: &mut Ledger,
    settings: &Settings,
    what: &str,
) -> Result<Rule, RuleError> {
    person::allow(here, ledger, Action::KeepRule)?;
    let what = what.trim();
    if what.is_empty() {
        return Err(RuleError::Empty);
    }
    let known = named(&list(here, ledger, settings)?, what)?;
    let text = known.map_or_else(|| what.to_owned(), |rule| rule.text);
    decide(here, ledger, &text, true)
}

/// Drops a rule by its id, or the beginning of it.
pub fn drop(
    here: &Here,
    ledger: &mut Ledger,
    settings: &Settings,
    id: &str,
) -> Result<Rule, RuleError> {
    person::allow(here, ledger, Action::KeepRule)?;
    let known = named(&list(here, ledger, settings)?, id.trim())?;
    let rule = known.ok_or_else(|| RuleError::None { id: id.to_owned() })?;
    decide(here, ledger, &rule.text, false)
}

fn named(rules: &[Rule], id: &str) -> Result<Option<Rule>, RuleError> {
    let is_meant = |rule: &&Rule| id.len() >= 4 && rule.id.starts_with(id) || rule.text == id;
    let found: Vec<&Rule> = rules.iter().filter(is_meant).collect();
    match found[..] {
        [] => Ok(None),
        [rule] => Ok(Some(rule.clone())),
        _ => Err(RuleError::Many { id: id.to_owned(), count: found.len() }),
    }
}

fn decide(here: &Here, ledger: &mut Ledger, text: &str, kept: bool) -> Result<Rule, RuleError> {
    let at = here.clock.now();
    let id = address(text);
    let body = RuleDecided { id: id.clone(), text: kept.then(|| text.to_owned()), kept };
    ledger.append(at, Scope { session: None, repo: Some(&here.place.repo) }, &body)?;
    identity::settle(here, ledger, Look::AtWork)?;
    Ok(Rule { id, text: text.to_owned(), kept, at })
}
