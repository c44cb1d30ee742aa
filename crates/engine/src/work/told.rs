//! What an issue's agent is told next, and in which conversation.

use heirloom_agents::{Feature, Support, by_name};
use heirloom_core::inherit::Select;
use heirloom_core::session::Session;
use heirloom_core::work::{self as rules, Brief};
use heirloom_ledger::NoteFilter;

use super::job::End;
use super::launch::Turn;
use super::on_issue::OnIssue;
use crate::events::WorkEvent;
use crate::run::inherit;

impl OnIssue<'_, '_> {
    /// What the agent is told first, and where.
    pub(super) fn first_turn(&mut self) -> Result<Turn, End> {
        let Some(resumes) = &self.job.resumes else { return self.fresh(None) };
        let news = std::mem::take(&mut self.so_far.news);
        let (agent, agent_session_id) = (resumes.agent.clone(), resumes.agent_session_id.clone());
        self.context.tell(WorkEvent::Resuming {
            issue: self.job.issue.id.to_string(),
            agent: agent.clone(),
            agent_session_id: agent_session_id.clone(),
        });
        let prompt = rules::carry_on(&self.job.issue, &news, &resumes.findings);
        Ok(match &resumes.session {
            Some(session) => Turn::GoOn { prompt, session: Box::new(session.clone()) },
            None => Turn::Foreign { prompt, agent, agent_session_id },
        })
    }

    /// The same conversation once more; a new one, if none came about.
    pub(super) fn again(&mut self) -> Result<Turn, End> {
        let prompt = rules::carry_on(&self.job.issue, &[], &self.so_far.findings);
        self.go_on(prompt)
    }

    /// The next word in the same conversation, or in a new one where there is none to go on with.
    pub(super) fn go_on(&mut self, prompt: String) -> Result<Turn, End> {
        let news = std::mem::take(&mut self.so_far.news);
        let prompt = rules::with_news(&news, prompt);
        let session = self.so_far.session.as_ref().filter(|session| {
            let agent = session.agent.as_deref().and_then(by_name);
            let resumes = |agent: &dyn heirloom_agents::Agent| {
                !matches!(agent.supports(Feature::Resume), Support::No(_))
            };
            session.announced && agent.is_some_and(resumes)
        });
        match session {
            Some(session) => Ok(Turn::GoOn { prompt, session: Box::new(session.clone()) }),
            None => match self.fresh(self.so_far.session.clone())? {
                Turn::Fresh { prompt: task, inherits } => {
                    let prompt =
                        if self.tries.fixes > 0 { format!("{task}\n{prompt}") } else { task };
                    Ok(Turn::Fresh { prompt, inherits })
                }
                turn => Ok(turn),
            },
        }
    }

    /// The whole task, in a new conversation.
    pub(super) fn fresh(&self, inherits: Option<Session>) -> Result<Turn, End> {
        let issue = &self.job.issue;
        let inherits = match inherits {
            Some(session) => Some(session),
            None => self.earlier_session()?,
        };
        let limits = inherit::Limits::of(self.context.settings);
        let block = inherits.as_ref().and_then(|session| {
            let address = session.id.to_string();
            inherit::resolve(&self.here, &self.ledger, &[&address], Select::default(), limits).ok()
        });
        let repo = Some(self.here.place.repo.as_str());
        let about = Some(issue.id.as_str());
        let filter = NoteFilter { repo, issue: about, ..NoteFilter::default() };
        let from = &self.context.settings.team.notes_from;
        let mut notes = self.ledger.notes(&filter)?;
        notes.retain(|note| note.author.as_ref().is_none_or(|author| from.includes(author)));
        let brief = Brief {
            issue,
            notes: &notes,
            inherited: block.as_ref().map(|resolved| &resolved.block),
            gate: &self.context.options.gate,
            branch: self.tree.branch.as_deref(),
        };
        Ok(Turn::Fresh { prompt: rules::first(&brief), inherits: inherits.map(Box::new) })
    }

    /// The newest session that worked on the issue before, whatever became of it.
    fn earlier_session(&self) -> Result<Option<Session>, End> {
        let runs = self.ledger.issue_runs(&self.here.place.repo, self.job.issue.id.as_str())?;
        match runs.into_iter().find_map(|run| run.session) {
            Some(id) => Ok(self.ledger.session(id)?),
            None => Ok(None),
        }
    }
}
