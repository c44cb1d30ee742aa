//! Which conversation a continued session goes on with.

use heirloom_agents::{Agent, Conversation, Feature, Support, by_name};
use heirloom_core::name::SessionName;
use heirloom_core::session::Session;
use heirloom_ledger::Ledger;

use super::error::SessionError;
use super::{kept, shown};
use crate::here::Here;
use crate::recall::{back, carry};

/// The conversation that goes on, and what was said since that it never heard.
pub(super) struct Source {
    pub(super) id: Option<String>,
    unheard: Vec<(SessionName, String)>,
    /// The session whose conversation the agent has lost, and what came of that.
    lost: Option<(SessionName, Lost)>,
}

/// What goes on in place of a conversation that the agent has lost.
enum Lost {
    /// Itself, put back from the archive.
    Restored,
    /// A copy, made of the stream.
    Copied,
    /// Nothing of it.
    Gone,
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
                unheard.reverse();
                let (id, lost) = match found(here, ledger, &each, &id, times > 1) {
                    None => (Some(id), None),
                    Some((lost, copy)) => {
                        let id = if matches!(lost, Lost::Restored) { Some(id) } else { copy };
                        (id, Some((each.name.clone(), lost)))
                    }
                };
                return Ok(Self { id, unheard, lost });
            }
            refused.extend(each.reason.clone());
            let prompt = kept::kept(here, each.id).or(each.prompt);
            unheard.extend(prompt.map(|prompt| (each.name, prompt)));
        }
        unheard.reverse();
        Ok(Self { id: None, unheard, lost: None })
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
        if let Some((name, lost)) = &self.lost {
            let instead = match lost {
                Lost::Restored => "restored it from the archive",
                Lost::Copied => "continuing a copy of what was recorded",
                Lost::Gone => "starting a new one with what was kept",
            };
            return Some(format!("the agent no longer has the conversation of {name}; {instead}"));
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

/// What goes on where the agent keeps nothing under that id, and the id of a copy; `None` where it does.
/// A copy is made only for good: until then whoever moved the transcripts away can put them back.
fn found(
    here: &Here,
    ledger: &Ledger,
    session: &Session,
    id: &str,
    for_good: bool,
) -> Option<(Lost, Option<String>)> {
    if !back::is_missing(here, session, id) {
        return None;
    }
    // Only a person may put something back; for others it stays lost.
    if back::restored(here, ledger, session).is_ok_and(|path| path.is_some()) {
        return Some((Lost::Restored, None));
    }
    if !for_good {
        return None;
    }
    match carry::copy(here, ledger, session) {
        Some(copy) => Some((Lost::Copied, Some(copy))),
        None => Some((Lost::Gone, None)),
    }
}

/// Whether it can go on with a copy of a conversation.
pub(super) fn can_fork(agent: &'static dyn Agent) -> bool {
    matches!(agent.supports(Feature::Fork), Support::Yes | Support::Partly(_))
}

/// Whether it takes the id of a conversation from us.
pub(crate) fn chooses_ids(agent: &'static dyn Agent) -> bool {
    matches!(agent.supports(Feature::ChosenId), Support::Yes)
}
