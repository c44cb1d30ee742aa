//! How full a session's context is, by the agent's own figures.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use heirloom_agents::Agent;
use heirloom_agents::event::Span;
use heirloom_agents::transcript::{self, What};
use heirloom_core::context::Zone;
use heirloom_core::event::{ContextUsed, DeltaSynced};
use heirloom_core::note::Kind;
use heirloom_core::session::Session;
use heirloom_core::settings::Settings;
use heirloom_ledger::{Facts, Ledger, NoteFilter, Scope};

use super::KeepError;
use super::page::Keeper;
use super::tracker::{self, Waits};
use crate::capture;
use crate::here::Here;

/// How full a context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Tokens in the context, as the agent counts them.
    pub tokens: u64,
    /// Tokens the window holds, where that is known.
    pub window: Option<u64>,
}

impl Usage {
    /// The part of the window that is used, where the window is known.
    #[expect(clippy::cast_precision_loss, reason = "no window has 2^52 tokens")]
    pub fn share(&self) -> Option<f64> {
        self.window.map(|window| self.tokens as f64 / window.max(1) as f64)
    }

    /// How full that is, where the window is known.
    pub fn zone(&self, settings: &Settings) -> Option<Zone> {
        self.window.map(|window| Zone::of(self.tokens, window, &settings.context))
    }
}

/// How much of a transcript's end is read: the last request is in it, however long the rest is.
const TAIL: u64 = 256 << 10;

/// How long is waited for somebody else who writes facts.
const PATIENCE: Duration = Duration::from_millis(50);

/// What the agent's own transcript says about a session's context, if it says anything.
pub fn usage(here: &Here, session: &Session) -> Option<Usage> {
    let agent = heirloom_agents::by_name(session.agent.as_deref()?)?;
    let found = agent.transcripts()?.find(&here.env, session.agent_session_id.as_deref()?)?;
    usage_in(here, agent, &found.path)
}

/// What the end of a transcript of `agent` says. Costs the same however long the transcript is.
pub fn usage_in(here: &Here, agent: &dyn Agent, path: &Path) -> Option<Usage> {
    let mut file = heirloom_repo::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let mut input = if length > TAIL {
        file.seek(SeekFrom::Start(length - TAIL)).ok()?;
        let mut input = BufReader::new(file);
        // The line that the cut went through.
        input.read_until(b'\n', &mut Vec::new()).ok()?;
        input
    } else {
        BufReader::new(file)
    };
    let (mut tokens, mut window, mut model) = (None, None, None);
    let mut end = Vec::new();
    input.read_to_end(&mut end).ok()?;
    for entry in transcript::entry::all(&mut *agent.transcripts()?.entries(), &end) {
        match entry.what {
            _ if entry.subagent.is_some() => {}
            What::Usage { tokens: used, span, window: said, .. } => {
                window = said.or(window);
                if span == Span::Request {
                    tokens = Some(used.total());
                }
            }
            What::Model { name } => model = Some(name),
            _ => {}
        }
    }
    let tokens = tokens?;
    let window = window
        .or_else(|| learned(here, model.as_deref()?))
        .or_else(|| agent.context_window(model.as_deref()));
    // A window that holds more than it can is another one.
    Some(Usage { tokens, window: window.filter(|window| tokens <= *window) })
}

/// The window of a model as an agent said it once: in a status line, or in the result of a run.
fn learned(here: &Here, model: &str) -> Option<u64> {
    capture::facts(&here.home).ok()??.window(model).ok()?
}

/// Remembers the window of a model that an agent told, unless it is known. What cannot be remembered is
/// told again.
pub fn learn(here: &Here, model: &str, window: u64) {
    if window == 0 || learned(here, model) == Some(window) {
        return;
    }
    if let Ok(facts) = Facts::open(&here.home, PATIENCE) {
        let _ = facts.put_window(model, window);
    }
}

/// What a change of zone led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crossed {
    /// The zone that was entered.
    pub zone: Zone,
    /// Whether what was new has been persisted because of it.
    pub synced: bool,
}

/// Takes note of how full a context is. Where that changes its zone, it is recorded; where it
/// becomes yellow or more, what is new is persisted, once.
pub fn observe(
    here: &Here,
    ledger: &mut Ledger,
    settings: &Settings,
    session: &Session,
    usage: Usage,
) -> Result<Option<Crossed>, KeepError> {
    let (Some(zone), Some(window)) = (usage.zone(settings), usage.window) else { return Ok(None) };
    let tokens = usage.tokens;
    let key = session.id.to_string();
    let before = ledger.kept::<ContextUsed>(&session.repo, &key)?;
    let before = before.map_or(Zone::Green, |kept| kept.body.zone);
    if before == zone {
        return Ok(None);
    }
    let scope = Scope::session(session.id, &session.repo);
    let used = ContextUsed { tokens, window, zone };
    ledger.append(here.clock.now(), scope, &used)?;
    let synced = before == Zone::Green && zone >= Zone::Yellow;
    if synced {
        delta_sync(here, ledger, settings, session, (tokens, window))?;
    }
    Ok(Some(Crossed { zone, synced }))
}

/// Persists what is new outside of the context.
fn delta_sync(
    here: &Here,
    ledger: &mut Ledger,
    settings: &Settings,
    session: &Session,
    (tokens, window): (u64, u64),
) -> Result<(), KeepError> {
    let page = Keeper { here, settings, session, checkpoint: None }.sync(ledger);
    let waits = Waits::Agent;
    let tracker_updated = match tracker::find(here, waits) {
        Some(Ok(mut tracker)) => {
            tracker::tell(here, ledger, tracker.as_mut(), (None, waits))?.failed.is_empty()
        }
        Some(Err(_)) | None => false,
    };
    let filter = NoteFilter {
        session: Some(session.id),
        kind: Some(Kind::Decision),
        ..NoteFilter::default()
    };
    let body = DeltaSynced {
        tokens,
        window,
        decisions_persisted: ledger.notes(&filter)?.len() as u64,
        notes_updated: page.is_ok(),
        tracker_updated,
    };
    ledger.append(here.clock.now(), Scope::session(session.id, &session.repo), &body)?;
    Ok(())
}
