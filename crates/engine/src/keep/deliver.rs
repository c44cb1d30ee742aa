//! Delivery: a fresh context is given its recovery, once.
//!
//! Called by hooks, so it must be quick and may fail without harm: what could not be delivered at
//! the start is still owed, and the next prompt delivers it.

use heirloom_core::event::{ForkDetected, RecoveryDelivered};
use heirloom_core::id::SessionId;
use heirloom_core::recover::{Brief, Failure, wrap};
use heirloom_core::session::Session;
use heirloom_core::settings::Settings;
use heirloom_core::tokens::estimate;
use heirloom_ledger::{Error, Ledger, Scope};

use super::page::Keeper;
use super::recover::Gatherer;
use super::standing::Begun;
use crate::here::Here;

/// Fewer tokens than this say nothing.
const LEAST: usize = 40;

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
    /// A copy of a conversation goes another way.
    Fork,
}

impl Fresh {
    /// The word for it in the ledger, and in most agents' hooks.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Clear => "clear",
            Self::Compact => "compact",
            Self::Resume => "resume",
            Self::Fork => "fork",
        }
    }

    /// Whether the conversation may hold what it was given before.
    const fn goes_on(self) -> bool {
        matches!(self, Self::Resume | Self::Fork | Self::Compact)
    }

    /// Reads the word; what is not known counts as a new conversation.
    pub fn parse(word: &str) -> Self {
        match word {
            "clear" => Self::Clear,
            "compact" => Self::Compact,
            "resume" => Self::Resume,
            "fork" => Self::Fork,
            _ => Self::Startup,
        }
    }
}

/// A context that begins.
#[derive(Debug, Clone, Copy)]
pub struct Beginning {
    /// How it became fresh.
    pub fresh: Fresh,
    /// The most UTF-16 units its agent takes.
    pub cap: usize,
}

/// The text a fresh context is given at its start; nothing if there is nothing to say, or if the
/// conversation still holds exactly that text.
pub fn session_start_context(
    here: &Here,
    ledger: &mut Ledger,
    settings: &Settings,
    session: &Session,
    beginning: Beginning,
) -> Result<Start, Error> {
    let fresh = beginning.fresh;
    let (notices, is_withheld) = compare_page(here, ledger, settings, session);
    let gather = Gatherer::new(here, ledger, settings).knowing(is_withheld);
    let lineage = gather.lineage(Some(session))?;
    let begun = gather.begun(&lineage, holder(session, fresh))?;
    let mut noted = gather.noted(&lineage)?;
    noted.notices.splice(0..0, notices);
    let lasting = match fresh {
        Fresh::Compact => Some(lasting(&gather, session, &noted, &begun)?),
        _ => None,
    };
    let stood = gather.stood(begun)?;
    let failures = stood.failures.clone();
    let mut brief = gather.brief_of(Some(session), noted, stood)?;
    if brief.is_empty() {
        return Ok(Start { text: None, failures });
    }
    brought_back(&mut brief, settings, fresh);
    let text = give(here, ledger, settings, session, beginning, Draft { brief, lasting })?;
    Ok(Start { text, failures })
}

/// What a context begins with.
#[derive(Debug, Default)]
pub struct Start {
    pub text: Option<String>,
    /// What earlier contexts tried in vain.
    pub failures: Vec<Failure>,
}

/// The session whose conversation goes on: it has what it was given before, unless it was compacted
/// since, and what was said and done in it.
fn holder(session: &Session, fresh: Fresh) -> Option<SessionId> {
    match fresh {
        Fresh::Resume => Some(session.id),
        Fresh::Fork => session.parent,
        _ => None,
    }
}

/// A brief that may be given, and what tells it from others where that is not what it says itself.
struct Draft {
    brief: Brief,
    lasting: Option<String>,
}

/// The text that is given, unless the conversation holds it.
fn give(
    here: &Here,
    ledger: &mut Ledger,
    settings: &Settings,
    session: &Session,
    Beginning { fresh, cap }: Beginning,
    Draft { mut brief, lasting }: Draft,
) -> Result<Option<String>, Error> {
    let (hash, rendered) = if let Some(hash) = lasting {
        (hash, None)
    } else {
        let rendered = brief.render(budget(settings)).text;
        (Brief::mark(&rendered), Some(rendered))
    };
    let held = holder(session, fresh)
        .map(|id| ledger.kept::<RecoveryDelivered>(&session.repo, &id.to_string()));
    let held = held.transpose()?.flatten();
    let has_it = held
        .as_ref()
        .is_some_and(|held| held.body.delivered && held.body.hash == Some(hash.clone()));
    if has_it {
        return Ok(None);
    }
    if brief.is_empty() {
        // Nothing is to be brought back, so nothing is owed either.
        record(here, ledger, session, fresh.as_str(), Some(hash))?;
        return Ok(None);
    }
    brief.replaces = fresh.goes_on();
    let rendered = rendered.filter(|_| !brief.replaces);
    let Some(text) = text(&brief, settings, rendered, cap) else { return Ok(None) };
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
    let gather = Gatherer::new(here, ledger, settings);
    let lineage = gather.lineage(Some(session))?;
    let (begun, noted) = (gather.begun(&lineage, None)?, gather.noted(&lineage)?);
    let hash = lasting(&gather, session, &noted, &begun)?;
    let mut brief = gather.brief_of(Some(session), noted, gather.stood(begun)?)?;
    record(here, ledger, session, &owed.body.cause, Some(hash))?;
    let fresh = Fresh::parse(&owed.body.cause);
    brought_back(&mut brief, settings, fresh);
    if brief.is_empty() {
        return Ok(None);
    }
    brief.replaces = fresh.goes_on();
    Ok(text(&brief, settings, None, cap))
}

/// What the agent's own summary of a context lost that the brief has no room for, at most `most` tokens of it.
pub fn lost(
    here: &Here,
    ledger: &Ledger,
    settings: &Settings,
    session: &Session,
    summary: &str,
    most: usize,
) -> Result<Vec<String>, Error> {
    let gather = Gatherer::new(here, ledger, settings);
    let mut left = most;
    let mut brief = gather.brief(Some(session))?;
    brought_back(&mut brief, settings, Fresh::Compact);
    let mut lost = brief.lost(summary, budget(settings));
    lost.retain(|line| match left.checked_sub(estimate(line) + 1) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    });
    Ok(lost)
}

/// By what it is known later which brief a conversation holds, where it is told of its own past: that is
/// in it from then on, and a resume does not tell of it again.
fn lasting(
    gather: &Gatherer<'_>,
    session: &Session,
    noted: &Brief,
    begun: &Begun,
) -> Result<String, Error> {
    let stood = gather.stood(begun.without(session.id))?;
    let lasting = gather.brief_of(Some(session), noted.clone(), stood)?;
    Ok(Brief::mark(&lasting.render(budget(gather.settings)).text))
}

/// A brief as the agent is given it, unless that is more than `cap`. It may be `rendered` already.
fn text(
    brief: &Brief,
    settings: &Settings,
    rendered: Option<String>,
    cap: usize,
) -> Option<String> {
    let mut budget = budget(settings);
    let mut rendered = rendered.unwrap_or_else(|| brief.render(budget).text);
    while budget >= LEAST {
        let text = wrap(&rendered);
        if text.encode_utf16().count() <= cap {
            return Some(text);
        }
        budget = budget * 3 / 4;
        rendered = brief.render(budget).text;
    }
    None
}

/// After a compaction, what the settings name; otherwise all of it.
fn brought_back(brief: &mut Brief, settings: &Settings, fresh: Fresh) {
    if fresh == Fresh::Compact {
        brief.preserve(&settings.recovery.preservation);
    }
}

fn budget(settings: &Settings) -> usize {
    settings.recovery.brief_tokens.get() as usize
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

/// What the page of notes claims against the ledger, in words, and whether it is withheld, if that was found out. Only where heirloom keeps the page,
/// and never in the way of the start: what goes wrong here is found at the next checkpoint.
fn compare_page(
    here: &Here,
    ledger: &mut Ledger,
    settings: &Settings,
    session: &Session,
) -> (Vec<String>, Option<bool>) {
    let keeper = Keeper { here, settings, session, checkpoint: None };
    let synced = keeper.sync_at_start(ledger).unwrap_or_default();
    let told = |fork: &ForkDetected| {
        format!(
            "{} says \"{}\", but the ledger wins: \"{}\"",
            fork.source, fork.claimed, fork.ledger
        )
    };
    (synced.forks.iter().map(told).collect(), synced.is_withheld)
}
