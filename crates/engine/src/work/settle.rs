//! What becomes of an issue, and of the run: told to the tracker, recorded, and told to whoever
//! looks on.

use heirloom_core::cost::Cost;
use heirloom_core::event::{self, IssueRunEnded};
use heirloom_core::id::IssueRunId;
use heirloom_core::issue::{Change, IssueId};
use heirloom_core::work::{IssueRunStatus, WorkStatus};

use super::dispatch::Dispatcher;
use super::error::WorkError;
use super::job::{Job, Verdict};
use super::picks::{ACTOR, left_alone, tell_left_alone};
use crate::events::{WorkEnded, WorkEvent, clean};
use crate::turn;

impl Dispatcher<'_, '_> {
    /// What became of an issue, told to the tracker and recorded.
    pub(super) fn settle(&mut self, job: &Job, mut verdict: Verdict) -> Result<(), WorkError> {
        self.active -= 1;
        self.context.see_active(self.active);
        self.is_stale = true;
        if verdict.is_fault {
            // Its session is in nobody's hands any more, as after a crash.
            turn::close_crashed(self.context.here, &mut self.ledger)?;
        }
        let id = &job.issue.id;
        if self.is_closed_by_another(id) {
            let own = verdict.reason.take().unwrap_or_default();
            verdict.reason =
                Some(format!("somebody else closed it while an agent worked on it; {own}"));
            verdict.status = IssueRunStatus::Closed;
            self.conclude(id, &job.issue.title, job.issue_run, &verdict)?;
            return self.let_go(id, true);
        }
        self.keep_or_lose(id, &mut verdict);
        let reason = verdict.reason.clone().unwrap_or_default();
        let told = match verdict.status {
            IssueRunStatus::Closed => {
                let session = verdict.session.as_ref().map(|session| session.id.to_string());
                self.tracker.change(id, &Change::close(reason, session)).map(drop)
            }
            IssueRunStatus::Failed | IssueRunStatus::TimedOut => {
                let text = format!("heirloom: not done, {reason}");
                self.tracker.comment(id, ACTOR, &text)
            }
            IssueRunStatus::NeedsReview => {
                let text = format!("heirloom: needs review, {reason}");
                self.tracker.comment(id, ACTOR, &text)
            }
            IssueRunStatus::Interrupted | IssueRunStatus::Running => Ok(()),
        };
        if let Err(error) = told {
            let message = format!("cannot update the tracker: {error}");
            if verdict.status == IssueRunStatus::Closed {
                verdict.status = IssueRunStatus::Failed;
                verdict.reason = Some(format!("the work is done, but {message}"));
            }
            self.context.warn(Some(id.as_str()), message);
            if !error.is_about_an_issue() {
                self.broken.get_or_insert_with(|| error.to_string());
            }
        }
        self.conclude(id, &job.issue.title, job.issue_run, &verdict)?;
        self.let_go(id, verdict.status == IssueRunStatus::Closed)
    }

    /// Whether somebody closed the issue while an agent worked on it. Their word stands.
    fn is_closed_by_another(&mut self, id: &IssueId) -> bool {
        self.tracker.find(id.as_str()).is_ok_and(|issue| issue.status.is_closed())
    }

    pub(super) fn conclude(
        &mut self,
        issue: &IssueId,
        title: &str,
        issue_run: IssueRunId,
        verdict: &Verdict,
    ) -> Result<(), WorkError> {
        let status = verdict.status;
        self.tally.count(status);
        self.has_work |= status == IssueRunStatus::Closed && verdict.commit.is_some();
        let (reason, commit) = (verdict.reason.clone(), verdict.commit.clone());
        let ended = IssueRunEnded { issue_run, status, reason: reason.clone(), commit };
        self.ledger.append(self.context.here.clock.now(), self.context.scope(), &ended)?;
        self.context.tell(WorkEvent::IssueEnded {
            issue: issue.to_string(),
            title: title.to_owned(),
            status,
            reason: reason.as_deref().map(clean),
            cost_usd: self.ledger.issue_run_cost(&issue_run.to_string())?,
            duration_ms: u64::try_from(verdict.took.as_millis()).unwrap_or(u64::MAX),
            session: verdict.session.as_ref().map(|session| session.name.to_string()),
        });
        Ok(())
    }

    /// Names what was left alone, where nothing else was left to do.
    fn name_leftovers(&mut self) -> Result<(), WorkError> {
        let Ok(entries) = self.tracker.backlog() else { return Ok(()) };
        let wanted = &self.context.options.wanted;
        let left = left_alone(self.context.here, &self.ledger, &entries, wanted)?;
        let left: Vec<_> =
            left.into_iter().filter(|(entry, _)| !self.told.contains(&entry.id)).collect();
        for (issue, words) in tell_left_alone(&left) {
            self.context.warn(issue, words);
        }
        Ok(())
    }

    pub(super) fn end(&mut self) -> Result<WorkEnded, WorkError> {
        let hopeless = self.broken.take().or_else(|| self.context.hopeless());
        let (status, reason) = match hopeless {
            Some(why) => (WorkStatus::Failed, Some(why)),
            None if self.context.stopping.asked() > 0 => {
                (WorkStatus::Interrupted, Some("somebody stopped it".to_owned()))
            }
            None => (WorkStatus::Completed, self.context.limit().map(str::to_owned)),
        };
        if status == WorkStatus::Completed && reason.is_none() {
            self.name_leftovers()?;
            if !self.has_begun {
                return Ok(self.found_nothing());
            }
        }
        self.begin()?;
        self.context.trees.release_stashes();
        if let Some(files) = self.context.persons_tree.changed() {
            let message = format!(
                "while agents worked in their worktrees, your own changed: {files}; look at it with \
                 `git status` and `git diff` if that was not you"
            );
            self.context.warn(None, message);
        }
        let recorded = event::WorkEnded { run: self.context.run, status, reason: reason.clone() };
        self.ledger.append(self.context.here.clock.now(), self.context.scope(), &recorded)?;
        let costs = self.ledger.issue_runs_of(&self.context.run.to_string())?;
        let cost: Cost = costs.iter().map(|each| Cost::from(each.cost_usd)).sum();
        let ended = WorkEnded {
            run: Some(self.context.run),
            status,
            reason: reason.as_deref().map(clean),
            tally: self.tally,
            cost_usd: cost.told(),
            cost_partial: cost.is_partial(),
            gate: self.context.options.gate.clone(),
            branch: self.context.trees.together().filter(|_| self.has_work).map(str::to_owned),
            limited: status == WorkStatus::Completed && self.context.limit().is_some(),
        };
        self.context.tell(WorkEvent::Ended(ended.clone()));
        Ok(ended)
    }

    /// Nothing was taken up: that is no run, and nothing of one is kept.
    fn found_nothing(&self) -> WorkEnded {
        let ended = WorkEnded {
            run: None,
            status: WorkStatus::Completed,
            reason: Some("nothing to do".to_owned()),
            tally: self.tally,
            cost_usd: Some(0.0),
            cost_partial: false,
            gate: self.context.options.gate.clone(),
            branch: None,
            limited: false,
        };
        self.context.tell(WorkEvent::Ended(ended.clone()));
        self.context.keep_no_events();
        ended
    }
}
