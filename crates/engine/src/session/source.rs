//! Which conversation a continued session goes on with.

use heirloom_agents::{Agent, Conversation, Feature, Support, by_name};
use heirloom_core::name::SessionName;
use heirloom_core::session::Session;
use heirloom_ledger::Ledger;

use super::error::SessionError;
use super::{kept, shown};
use crate::here::Here;

/// The conversation that goes on, and what was said since that it never heard.
pub(super) struct Source {
    pub(super) id: Option<String>,
    unheard: Vec<(SessionName, String)>,
    /// The session whose conversation the agent has lost for good.
    gone: Option<SessionName>,
}

impl Source {
    /// Walks up to the nearest session whose conversation began. A session that failed before it
    /// could say anything has an id, but nothing behind it.
    pub(super) fn of(
        here: &Here,
        ledger: &Ledger,
        session: &Session,
    ) -> Result<Self, SessionError> {
        let (mut unheard, mut refused) = (Vec::new(), Vec::new());
        for each in shown::generations(ledger, session)? {
            if let Some(id) = begun(here, ledger, &each)? {
                // Once may be a mishap: whoever moved the transcripts away can put them back.
                let times = refused.iter().filter(|reason: &&String| reason.contains(&id)).count();
                let is_gone = times > 1 && is_missing(here, &each, &id);
                unheard.reverse();
                let gone = is_gone.then(|| each.name.clone());
                return Ok(Self { id: Some(id).filter(|_| !is_gone), unheard, gone });
            }
            refused.extend(each.reason.clone());
            let prompt = kept::kept(here, each.id).or(each.prompt);
            unheard.extend(prompt.map(|prompt| (each.name, prompt)));
        }
        unheard.reverse();
        Ok(Self { id: None, unheard, gone: None })
    }

    /// How the agent takes it up: in a copy, so that the original stays as it is, or in itself.
    pub(super) fn conversation<'a>(
        &'a self,
        copies: bool,
        chosen: Option<&'a str>,
    ) -> Conversation<'a> {
        match &self.id {
            None => Conversation::New(chosen),
            Some(from) if copies => Conversation::Fork { from, id: chosen },
            Some(id) => Conversation::Resume(id),
        }
    }

    /// The prompt, after the messages that were kept when the agent could not take them.
    pub(super) fn with_unheard(&self, prompt: &str) -> String {
        let unheard = self.unheard.iter().map(|(_, prompt)| prompt.as_str());
        unheard.chain([prompt]).collect::<Vec<_>>().join("\n\n")
    }

    /// What somebody should know who continues `session`.
    pub(super) fn warning(&self, session: &SessionName) -> Option<String> {
        if let Some(gone) = &self.gone {
            return Some(format!(
                "the agent no longer has the conversation of {gone}; starting a new one with what was kept"
            ));
        }
        let names: Vec<&str> = self.unheard.iter().map(|(name, _)| name.as_str()).collect();
        if !names.is_empty() {
            let names = names.join(", ");
            return Some(format!("the agent had not seen what {names} said; it does now"));
        }
        let is_new = self.id.is_none();
        is_new.then(|| format!("no conversation of {session} is known; starting a new one"))
    }
}

/// The conversation of a session, if it began. One whose agent was killed before it could say
/// anything began if the agent kept it: it did so under the id that we chose.
fn begun(here: &Here, ledger: &Ledger, session: &Session) -> Result<Option<String>, SessionError> {
    let own = session.agent_session_id.clone();
    // An id that came with a session we did not launch is the agent's own.
    if own.is_some() && (session.announced || session.prompt.is_none()) {
        return Ok(own);
    }
    let iterations = ledger.iterations(session.id)?;
    let last = iterations.into_iter().max_by_key(|iteration| iteration.started_at);
    let chosen = own.or_else(|| last?.agent_session_id);
    let transcripts = session.agent.as_deref().and_then(by_name).and_then(Agent::transcripts);
    Ok(chosen
        .zip(transcripts)
        .filter(|(id, kept)| kept.find(&here.env, id).is_some())
        .map(|(id, _)| id))
}

/// Whether the agent keeps nothing under that id, as far as can be seen from here.
fn is_missing(here: &Here, session: &Session, id: &str) -> bool {
    let transcripts = session.agent.as_deref().and_then(by_name).and_then(Agent::transcripts);
    transcripts.is_some_and(|kept| kept.find(&here.env, id).is_none())
}

/// Whether it can go on with a copy of a conversation.
pub(super) fn can_fork(agent: &'static dyn Agent) -> bool {
    matches!(agent.supports(Feature::Fork), Support::Yes | Support::Partly(_))
}

/// Whether it takes the id of a conversation from us.
pub(super) fn chooses_ids(agent: &'static dyn Agent) -> bool {
    matches!(agent.supports(Feature::ChosenId), Support::Yes)
}
