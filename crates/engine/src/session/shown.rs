//! What there is to see of a session: its config with where it comes from, and what it cost.

use heirloom_core::config::{Config, Generation, Origin, mask, provenance};
use heirloom_core::lineage;
use heirloom_core::session::Session;
use heirloom_ledger::{Error, Ledger};

use super::error::SessionError;
use crate::sessions::WHOLE_LINEAGE;

/// What sessions add up to.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Total {
    /// How many sessions.
    pub sessions: u64,
    /// In USD, of those whose agent said.
    pub cost_usd: f64,
    /// How many of them have a cost that nobody told.
    pub unknown_sessions: u64,
    /// Tokens that went into the model, cached ones included.
    pub input_tokens: u64,
    /// Tokens that came out of it.
    pub output_tokens: u64,
}

impl Total {
    /// What they cost, for people. What nobody told is not nothing, and a sum in which a part is
    /// missing says so.
    pub fn cost_in_words(&self) -> String {
        let told = format!("${:.2}", self.cost_usd);
        match self.unknown_sessions {
            0 => told,
            all if all == self.sessions => "unknown".to_owned(),
            _ => format!("at least {told}"),
        }
    }
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
    let add = |total: Total, session: &Session| Total {
        sessions: total.sessions + 1,
        cost_usd: total.cost_usd + session.cost_usd,
        unknown_sessions: total.unknown_sessions + u64::from(session.cost_usd <= 0.0),
        input_tokens: total.input_tokens + session.input_tokens,
        output_tokens: total.output_tokens + session.output_tokens,
    };
    Ok(generations(ledger, session)?.iter().fold(Total::default(), add))
}

/// What the conversation that `session` goes on with had cost before it. Of a run only its last
/// iteration was in it.
pub(super) fn conversation_cost(ledger: &Ledger, session: &Session) -> Result<f64, Error> {
    let mut cost = 0.0;
    for before in generations(ledger, session)?.iter().skip(1) {
        let iterations = ledger.iterations(before.id)?;
        if let Some(last) = iterations.iter().max_by_key(|iteration| iteration.started_at) {
            return Ok(cost + last.cost_usd);
        }
        cost += before.cost_usd;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_that_holds_an_unknown_cost_says_so() {
        let words = |cost_usd: f64, unknown_sessions: u64| {
            Total { sessions: 2, cost_usd, unknown_sessions, ..Total::default() }.cost_in_words()
        };
        assert_eq!(words(1.2, 0), "$1.20");
        assert_eq!(words(1.2, 1), "at least $1.20");
        assert_eq!(words(0.0, 2), "unknown");
    }
}
