//! What came of a turn, and what of it is recorded whoever asked for it.

use heirloom_agents::process::Finished;
use heirloom_agents::{Outcome, Tally};
use heirloom_core::event::{LiveGone, SessionAnnounced, SessionSpent};
use heirloom_core::session::Session;
use heirloom_ledger::{Error, Scope, Writer};

use super::Part;
use super::supervise::Cause;

/// What came of a turn.
#[derive(Debug)]
pub struct Ended {
    /// How the agent ended; why it did not start, if it did not.
    pub(crate) finished: Result<Finished, String>,
    /// Why it was stopped, if it was.
    pub(crate) cause: Option<Cause>,
    pub(super) part: Part,
    pub(super) has_asked: bool,
    /// The id and model that are still to be announced.
    pub(super) unannounced: Option<SessionAnnounced>,
}

impl Ended {
    pub(super) fn unstarted(why: String) -> Self {
        Self {
            finished: Err(why),
            cause: None,
            part: Part::Aside,
            has_asked: false,
            unannounced: None,
        }
    }

    /// How the agent ended; `None` if it never started.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.finished.as_ref().ok().map(|finished| &finished.outcome)
    }

    /// The agent's last words.
    pub fn text(&self) -> Option<&str> {
        let tally = &self.finished.as_ref().ok()?.tally;
        let result = || tally.result.as_ref()?.text.as_deref();
        tally.text.as_deref().or_else(result)
    }

    /// Records that the agent is gone: what it called its conversation, what it `spent`, and that
    /// nobody waits for an answer any more.
    pub(crate) fn close(
        &self,
        writer: &mut Writer<'_>,
        session: &Session,
        spent: &SessionSpent,
    ) -> Result<(), Error> {
        let scope = Scope::session(session.id, &session.repo);
        if let Some(announced) = &self.unannounced {
            writer.append(scope, announced)?;
        }
        charge(writer, session, spent)?;
        if self.has_asked {
            writer.close_approvals(session.id, "the session ended before this was decided")?;
        }
        if self.part != Part::Aside {
            writer.append(scope, &LiveGone { reason: None })?;
        }
        Ok(())
    }
}

/// Records what was spent, where something was.
pub(crate) fn charge(
    writer: &mut Writer<'_>,
    session: &Session,
    spent: &SessionSpent,
) -> Result<(), Error> {
    if spent.cost_usd.is_some() || spent.input_tokens + spent.output_tokens > 0 {
        writer.append(Scope::session(session.id, &session.repo), spent)?;
    }
    Ok(())
}

/// What a stream says that it cost.
pub(crate) fn spent(tally: &Tally) -> SessionSpent {
    let tokens = tally.tokens;
    SessionSpent {
        cost_usd: tally.cost_usd,
        input_tokens: tokens.input + tokens.cache_read + tokens.cache_write,
        output_tokens: tokens.output,
    }
}
