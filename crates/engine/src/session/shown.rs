//! What there is to see of a session: its config with where it comes from, and what it cost.

use heirloom_core::config::{Config, Generation, Origin, mask, provenance};
use heirloom_core::cost::Cost;
use heirloom_core::lineage;
use heirloom_core::session::Session;
use heirloom_core::usage::Tokens;
use heirloom_ledger::{Error, Ledger};

use super::error::SessionError;
use crate::sessions::WHOLE_LINEAGE;

/// What sessions add up to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Total {
    pub sessions: u64,
    /// How many of them have a cost that nobody knows, or not all of it.
    pub unknown_sessions: u64,
    /// What they cost, as far as anybody said.
    pub cost: Cost,
    /// Where anybody counted them.
    pub tokens: Option<Tokens>,
}

/// Where each field of a session's config comes from, secrets masked.
pub fn config_of(ledger: &Ledger, session: &Session) -> Result<Vec<Origin>, SessionError> {
    let sessions = generations(ledger, session)?;
    let config = session.config.as_ref();
    let config = config.map_err(|unreadable| {
        SessionError::unreadable(session.name.as_str())(unreadable.clone())
    })?;
    let this = generation(session, config);
    let mut rows = provenance(this, &readable(&sessions[1..]));
    for row in &mut rows {
        row.value = mask(&row.value);
    }
    Ok(rows)
}

/// What a session and all it continues cost together.
pub fn totals(ledger: &Ledger, session: &Session) -> Result<Total, Error> {
    let sessions = generations(ledger, session)?;
    let unknown = sessions.iter().filter(|session| session.cost.whole().is_none());
    let input: u64 = sessions.iter().map(|session| session.input_tokens).sum();
    let output: u64 = sessions.iter().map(|session| session.output_tokens).sum();
    Ok(Total {
        sessions: sessions.len() as u64,
        unknown_sessions: unknown.count() as u64,
        cost: sessions.iter().map(|session| session.cost).sum(),
        tokens: (input > 0 || output > 0).then_some(Tokens { input, output }),
    })
}

/// What the conversation that `session` goes on with had cost before it. Of a run only its last
/// iteration was in it.
pub(super) fn conversation_cost(ledger: &Ledger, session: &Session) -> Result<f64, Error> {
    let mut cost = 0.0;
    for before in generations(ledger, session)?.iter().skip(1) {
        let iterations = ledger.iterations(before.id)?;
        if let Some(last) = iterations.iter().max_by_key(|iteration| iteration.started_at) {
            return Ok(cost + last.cost_usd.unwrap_or(0.0));
        }
        cost += before.cost.told().unwrap_or(0.0);
    }
    Ok(cost)
}

/// A session and those it continues, itself first.
pub(super) fn generations(ledger: &Ledger, session: &Session) -> Result<Vec<Session>, Error> {
    let found = lineage::walk(session.id, session.continues(), WHOLE_LINEAGE, |id| {
        let ancestor = ledger.session(*id)?;
        Ok::<_, Error>(ancestor.map(|ancestor| {
            let parent = ancestor.continues();
            (ancestor, parent)
        }))
    })?;
    Ok(std::iter::once(session.clone()).chain(found.ancestors).collect())
}

/// The sessions as far as their configs can be read: where one cannot, nothing can be said about
/// what it took from its own ancestors.
pub(super) fn readable(sessions: &[Session]) -> Vec<Generation<'_>> {
    let configs =
        sessions.iter().map_while(|session| Some((session, session.config.as_ref().ok()?)));
    configs.map(|(session, config)| generation(session, config)).collect()
}

fn generation<'a>(session: &'a Session, config: &'a Config) -> Generation<'a> {
    Generation { name: session.name.as_str(), config, overridden: &session.overridden }
}
