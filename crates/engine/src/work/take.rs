//! Taking an issue up: nobody else has it, its agent session can be resumed, and it is ours.

use std::time::Duration;

use heirloom_core::event::IssueRunStarted;
use heirloom_core::id::IssueRunId;
use heirloom_core::issue::{Entry, Issue, IssueId, IssueStatus};
use heirloom_core::work::IssueRunStatus;
use heirloom_ledger::Claimed;
use jiff::SignedDuration;
use uuid::Uuid;

use super::after::lose;
use super::crashed;
use super::dispatch::Dispatcher;
use super::error::WorkError;
use super::fleet::{LOST, Wants};
use super::job::{Job, Verdict};
use super::picks::{self, ACTOR, Begun, NO_SESSION};
use super::prior::Resumes;
use super::trees::Tree;
use crate::events::WorkEvent;
use crate::issues::{BuiltIn, TrackerError};

/// How long after another machine had an issue it is asked for again.
const ASK_AGAIN: Duration = Duration::from_mins(5);
/// How often, and how long after one another, a hub that does not answer is asked.
const ATTEMPTS: u32 = 6;
const ATTEMPT: Duration = Duration::from_secs(5);

/// How long a claim holds without a heartbeat, for those who cannot see our process.
pub(super) const LEASE: SignedDuration = SignedDuration::from_mins(10);

/// What becomes of the agent session that an issue would go on with.
enum Usable {
    /// It is resumed, or there is none and a new one begins.
    As(Option<Box<Resumes>>),
    /// The issue is left alone, for this reason.
    Refused(String),
}

impl Dispatcher<'_, '_> {
    /// Takes an issue up, if it is nobody else's.
    pub(super) fn try_take(&mut self, entry: &Entry) -> Result<Option<Job>, WorkError> {
        let context = self.context;
        if self.is_elsewhere(&entry.id) {
            return Ok(None);
        }
        let begun = picks::may_resume(context.here, &self.ledger, entry, &context.options.wanted)?;
        let resumes = match begun {
            Begun::Ours(resumes) => resumes.filter(|_| !context.options.fresh),
            // There may be many: they are named when nothing else is left to do.
            Begun::Theirs | Begun::ToReview => {
                self.tried.insert(entry.id.clone());
                return Ok(None);
            }
        };
        if entry.status == IssueStatus::InProgress && self.is_with_another_run(&entry.id)? {
            return Ok(None);
        }
        if entry.status == IssueStatus::InProgress && !context.options.wanted.resume {
            // Another machine began it. What this one began waits for --resume, as without a team.
            if !self.ledger.issue_runs(&context.here.place.repo, entry.id.as_str())?.is_empty() {
                return Ok(None);
            }
        }
        let resumes = match self.usable(entry, resumes.map(|resumes| *resumes))? {
            Usable::As(resumes) => resumes.map(|resumes| *resumes),
            Usable::Refused(why) => {
                self.refuse(entry, &why)?;
                return Ok(None);
            }
        };
        let tree = context.trees.of(&entry.id);
        let is_resumed = entry.status == IssueStatus::InProgress;
        if tree.branch.is_none() && is_resumed && context.trees.is_dirty() {
            let why = "there are uncommitted changes here, and an agent that goes on would mix its own \
                       with them: commit them, or leave out --in-place";
            self.leave(entry, why.to_owned());
            return Ok(None);
        }
        self.get_ready()?;
        if !self.claim(&entry.id)? {
            return Ok(None);
        }
        if !self.borrow(entry)? {
            self.release(&entry.id)?;
            return Ok(None);
        }
        let Some(issue) = self.make_ours(entry)? else {
            self.release(&entry.id)?;
            self.tried.insert(entry.id.clone());
            return Ok(None);
        };
        self.take_up(issue, resumes, tree).map(Some)
    }

    /// The agent session to resume, if it can be. Strict looks before anything is touched.
    fn usable(&mut self, entry: &Entry, resumes: Option<Resumes>) -> Result<Usable, WorkError> {
        let options = self.context.options;
        let strict = options.strict && options.wanted.resume;
        let why = resumes.as_ref().and_then(|resumes| resumes.why_gone(&self.context.here.env));
        match (resumes, why) {
            (None, _) if strict => {
                Ok(Usable::Refused(format!("Session resumption failed: {NO_SESSION}")))
            }
            (Some(resumes), Some(why)) => {
                let id = resumes.agent_session_id.clone();
                lose(self.context, &mut self.ledger, &entry.id, Some(resumes.agent.into()), id)?;
                if strict {
                    return Ok(Usable::Refused(format!("Session resumption failed: {why}")));
                }
                let message =
                    format!("the agent session cannot be resumed ({why}); a new one takes over");
                self.context.warn(Some(entry.id.as_str()), message);
                Ok(Usable::As(None))
            }
            (resumes, _) => Ok(Usable::As(resumes.map(Box::new))),
        }
    }

    /// Whether a run that is alive has worked on the issue last.
    fn is_with_another_run(&self, issue: &IssueId) -> Result<bool, WorkError> {
        let repo = &self.context.here.place.repo;
        let Some(last) = self.ledger.issue_runs(repo, issue.as_str())?.into_iter().next() else {
            return Ok(false);
        };
        let open = self.ledger.open_work_runs(repo)?;
        let own = self.context.run.to_string();
        let alive = |run: &heirloom_ledger::WorkRun| run.id != own && crashed::is_alive(run);
        Ok(open.iter().filter(|run| alive(run)).any(|run| run.id == last.run))
    }

    fn claim(&mut self, issue: &IssueId) -> Result<bool, WorkError> {
        let (owner, repo) = (&self.owner, &self.context.here.place.repo);
        let now = self.context.here.clock.now();
        let until = now.checked_add(LEASE).ok();
        let claimed = self.ledger.write::<_, WorkError>(now, |writer| {
            Ok(writer.claim_issue(repo, issue, owner, until, picks::is_alive)?)
        })?;
        Ok(matches!(claimed, Claimed::Won { .. }))
    }

    /// Whether another machine had the issue a moment ago. The backlog is looked at every few seconds, and a
    /// claim lasts minutes.
    fn is_elsewhere(&self, issue: &IssueId) -> bool {
        let asked = self.elsewhere.get(issue);
        let now = self.context.system.now();
        asked.is_some_and(|asked| now.saturating_duration_since(*asked) < ASK_AGAIN)
    }

    /// Takes the issue from those who share the backlog, if they have it to give.
    fn borrow(&mut self, entry: &Entry) -> Result<bool, WorkError> {
        let Some(fleet) = self.context.fleet else { return Ok(true) };
        let repo = &self.context.here.place.repo;
        let is_adopted =
            entry.status == IssueStatus::InProgress && !self.context.options.wanted.resume;
        let wants = if is_adopted {
            Wants::Abandoned
        } else if self.tracker.name() == BuiltIn::NAME
            && self.ledger.was_closed_once(repo, &entry.id)?
        {
            Wants::Reopened
        } else {
            Wants::Open
        };
        let mut taken = fleet.take(&entry.id, wants);
        // A hub that is started anew is back in seconds, and the night is long.
        for _ in 0..ATTEMPTS {
            if taken.is_ok() || !self.context.may_go_on() {
                break;
            }
            self.context.system.sleep(ATTEMPT);
            taken = fleet.take(&entry.id, wants);
        }
        match taken {
            Ok(true) => Ok(true),
            Ok(false) => {
                let now = self.context.system.now();
                if self.elsewhere.insert(entry.id.clone(), now).is_none() {
                    self.told.insert(entry.id.clone());
                    let why = "another machine has it, finished it, or gave it back";
                    self.context.warn(Some(entry.id.as_str()), why);
                }
                Ok(false)
            }
            Err(why) => {
                // Without the others' word nothing new is begun; what was begun goes on.
                self.broken.get_or_insert(format!("{why}; --local works without the team"));
                Ok(false)
            }
        }
    }

    /// What has to be true before the issue is closed: no other machine has it by now.
    pub(super) fn keep_or_lose(&self, issue: &IssueId, verdict: &mut Verdict) {
        if verdict.status == IssueRunStatus::Closed && !self.context.confirm(issue) {
            verdict.status = IssueRunStatus::Interrupted;
            verdict.reason = Some(LOST.to_owned());
        }
    }

    pub(super) fn release(&mut self, issue: &IssueId) -> Result<(), WorkError> {
        self.let_go(issue, false)
    }

    /// Nobody here works on it any more.
    pub(super) fn let_go(&mut self, issue: &IssueId, finished: bool) -> Result<(), WorkError> {
        if let Some(fleet) = self.context.fleet
            && let Err(why) = fleet.give_back(issue, finished)
        {
            self.context.warn(Some(issue.as_str()), why);
        }
        let (owner, repo) = (&self.owner, &self.context.here.place.repo);
        self.ledger.write(self.context.here.clock.now(), |writer| {
            writer.release_claim(repo, issue, owner).map(drop)
        })?;
        Ok(())
    }

    /// Makes the issue ours in the tracker too. It may have changed since the backlog was read.
    fn make_ours(&mut self, entry: &Entry) -> Result<Option<Issue>, WorkError> {
        if entry.status == IssueStatus::Open {
            return match self.tracker.claim(&entry.id, ACTOR) {
                Ok(_) => Ok(Some(self.tracker.find(entry.id.as_str())?)),
                Err(TrackerError::Taken { .. } | TrackerError::NotOpen { .. }) => Ok(None),
                Err(error) => Err(error.into()),
            };
        }
        let issue = self.tracker.find(entry.id.as_str())?;
        Ok(Some(issue).filter(|issue| issue.status == IssueStatus::InProgress))
    }

    fn take_up(
        &mut self,
        issue: Issue,
        resumes: Option<Resumes>,
        tree: Tree,
    ) -> Result<Job, WorkError> {
        self.begin()?;
        let issue_run = IssueRunId::new(Uuid::new_v4());
        let agent = resumes.as_ref().map_or(&self.context.options.agent, |resumes| &resumes.agent);
        let started = IssueRunStarted {
            issue_run,
            run: self.context.run,
            issue: issue.id.clone(),
            title: issue.title.clone(),
            agent: agent.as_str().into(),
            worktree: Some(tree.path.to_string_lossy().into_owned()),
            branch: tree.branch.clone(),
        };
        self.ledger.append(self.context.here.clock.now(), self.context.scope(), &started)?;
        self.context.tell(WorkEvent::IssueStarted {
            issue: issue.id.to_string(),
            title: issue.title.clone(),
            worktree: started.worktree,
            branch: started.branch,
            number: self.taken_up + 1,
            of: self.in_sight(),
        });
        Ok(Job { issue, issue_run, resumes, tree })
    }

    /// An issue that is left as it is.
    fn leave(&mut self, entry: &Entry, why: String) {
        self.tried.insert(entry.id.clone());
        self.told.insert(entry.id.clone());
        self.context.warn(Some(entry.id.as_str()), why);
    }

    /// An issue that fails before it was touched: the tracker does not even notice.
    fn refuse(&mut self, entry: &Entry, why: &str) -> Result<(), WorkError> {
        self.begin()?;
        let issue_run = IssueRunId::new(Uuid::new_v4());
        let started = IssueRunStarted {
            issue_run,
            run: self.context.run,
            issue: entry.id.clone(),
            title: entry.title.clone(),
            agent: self.context.options.agent.as_str().into(),
            worktree: None,
            branch: None,
        };
        self.ledger.append(self.context.here.clock.now(), self.context.scope(), &started)?;
        self.taken_up += 1;
        self.tried.insert(entry.id.clone());
        self.told.insert(entry.id.clone());
        let verdict = Verdict::refused(why);
        self.conclude(&entry.id, &entry.title, issue_run, &verdict)
    }
}
