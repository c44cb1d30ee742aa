//! Delivery: a fresh context is given its recovery, once.
//!
//! Called by hooks, so it must be quick and may fail without harm: what could not be delivered at
//! the start is still owed, and the next prompt delivers it.

use heirloom_core::event::{ForkDetected, RecoveryDelivered};
use heirloom_core::ground::digest;
use heirloom_core::recover::{State, wrap};
use heirloom_core::session::Session;
use heirloom_core::settings::Settings;
use heirloom_ledger::{Error, Ledger, Scope};

use super::page::Keeper;
use super::recover::Gatherer;
use crate::here::Here;

/// What made a context fresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fresh {
    /// A new conversation.
    Startup,
    /// The context was cleared.
    Clear,
    /// The context was compacted.
    Compact,
    /// A conversation goes on.
    Resume,
}

impl Fresh {
    /// The word for it in the ledger, and in most agents' hooks.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Clear => "clear",
            Self::Compact => "compact",
            Self::Resume => "resume",
        }
    }

    /// Reads the word; what is not known counts as a new conversation.
    pub fn parse(word: &str) -> Self {
        match word {
            "clear" => Self::Clear,
            "compact" => Self::Compact,
            "resume" => Self::Resume,
            _ => Self::Startup,
        }
    }
}

/// The text a fresh context is given at its start; nothing if there is nothing to say, or if the
/// conversation still holds exactly that text. `cap` is the most UTF-16 units the agent takes.
pub fn session_start_context(
    here: &Here,
    ledger: &mut Ledger,
    settings: &Settings,
    session: &Session,
    (fresh, cap): (Fresh, usize),
) -> Result<Option<String>, Error> {
    let notices = compare_page(here, ledger, settings, session);
    let text = text(here, ledger, settings, session, (cap, notices))?;
    let Some(text) = text else { return Ok(None) };
    let hash = digest(&text);
    let known = ledger.kept::<RecoveryDelivered>(&session.repo, &session.id.to_string())?;
    // A conversation that goes on has what it was given before, unless it was compacted since.
    let has_it = known.is_some_and(|known| {
        known.body.delivered && known.body.hash.as_deref() == Some(hash.as_str())
    });
    if fresh == Fresh::Resume && has_it {
        return Ok(None);
    }
    record(here, ledger, session, fresh.as_str(), Some(hash))?;
    Ok(Some(text))
}

/// Notes that a context is about to become fresh: if its start delivers nothing, the next prompt
/// does.
pub fn owe(here: &Here, ledger: &mut Ledger, session: &Session, fresh: Fresh) -> Result<(), Error> {
    record(here, ledger, session, fresh.as_str(), None)
}

/// The text that is still owed at a prompt, if any is.
pub fn prompt_context(
    here: &Here,
    ledger: &mut Ledger,
    settings: &Settings,
    session: &Session,
    cap: usize,
) -> Result<Option<String>, Error> {
    let known = ledger.kept::<RecoveryDelivered>(&session.repo, &session.id.to_string())?;
    let Some(owed) = known.filter(|known| !known.body.delivered) else { return Ok(None) };
    let text = text(here, ledger, settings, session, (cap, Vec::new()))?;
    let hash = digest(text.as_deref().unwrap_or_default());
    record(here, ledger, session, &owed.body.cause, Some(hash))?;
    Ok(text)
}

fn text(
    here: &Here,
    ledger: &Ledger,
    settings: &Settings,
    session: &Session,
    (cap, notices): (usize, Vec<String>),
) -> Result<Option<String>, Error> {
    let gather = Gatherer { here, ledger, settings };
    let state = State { notices, ..gather.state(Some(session), Some(3))? };
    if state.is_empty() {
        return Ok(None);
    }
    let budget = settings.recovery.level1_tokens.get() as usize;
    let text = wrap(&heirloom_core::recover::level1(&state, budget).text);
    Ok((text.encode_utf16().count() <= cap).then_some(text))
}

fn record(
    here: &Here,
    ledger: &mut Ledger,
    session: &Session,
    cause: &str,
    hash: Option<String>,
) -> Result<(), Error> {
    let delivered = RecoveryDelivered { cause: cause.to_owned(), delivered: hash.is_some(), hash };
    let scope = Scope::session(session.id, &session.repo);
    ledger.append(here.clock.now(), scope, &delivered).map(drop)
}

/// What the page of notes claims against the ledger, in words. Only where heirloom keeps the page,
/// and never in the way of the start: what goes wrong here is found at the next checkpoint.
fn compare_page(
    here: &Here,
    ledger: &mut Ledger,
    settings: &Settings,
    session: &Session,
) -> Vec<String> {
    let synced = Keeper { here, settings, session, checkpoint: None }.sync_at_start(ledger);
    let forks = synced.map(|synced| synced.forks).unwrap_or_default();
    let told = |fork: &ForkDetected| {
        format!(
            "{} says \"{}\", but the ledger wins: \"{}\"",
            fork.source, fork.claimed, fork.ledger
        )
    };
    forks.iter().map(told).collect()
}
