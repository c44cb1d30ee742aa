//! A second opinion: another agent looks at finished work before it is brought together.

use heirloom_core::event::IssueRunReviewed;
use heirloom_core::session::Session;
use heirloom_core::work::{self as rules, Opinion};
use heirloom_repo::own_tree;
use heirloom_repo::worktree::GitError;

use super::answer::{Answer, answer};
use super::job::End;
use super::launch;
use super::on_issue::{OnIssue, TOO_LONG};
use super::options::Reviewer;
use super::trees::{Ready, Tree};
use crate::events::{Phase, WorkEvent, clean};
use crate::session::SessionEnded;
use crate::turn::Cause;

/// How much of the findings a person is shown, in characters.
const SHOWN: usize = 1000;

impl OnIssue<'_, '_> {
    /// What the agent is told of a review, if there is one and it found something. `None` means that
    /// nothing stands in the way.
    pub(super) fn second_opinion(&mut self, ready: Option<&Ready>) -> Result<Option<String>, End> {
        let Some(reviewer) = self.context.options.review.as_ref() else { return Ok(None) };
        if self.so_far.approved {
            // Only others' work came in between.
            return Ok(None);
        }
        self.phase(Phase::Reviewing);
        let ended = self.ask(reviewer, ready)?;
        let opinion = ended.turn.text().and_then(Opinion::read);
        self.record(reviewer, &ended.session, opinion.as_ref())?;
        self.undo(reviewer, ready)?;
        match opinion {
            Some(Opinion::Approved) => {
                self.so_far.approved = true;
                Ok(None)
            }
            Some(Opinion::Changes(findings)) => self.send_back(reviewer, &findings).map(Some),
            None => {
                let words = ended.turn.text().map(clean).unwrap_or_default();
                let words: String = words.trim().chars().take(SHOWN).collect();
                let agent = &reviewer.agent;
                Err(End::NeedsReview(format!("{agent} reviewed it without a verdict: “{words}”")))
            }
        }
    }

    /// Launches the reviewer, again after limits and faults that pass.
    fn ask(&mut self, reviewer: &Reviewer, ready: Option<&Ready>) -> Result<SessionEnded, End> {
        let changes = match ready {
            Some(ready) => {
                let trees = &self.context.trees;
                let base = trees.together().map(str::to_owned);
                let base = base.or_else(|| own_tree::head(trees.root()).ok()).unwrap_or_default();
                format!("`git diff {base}...{}`", ready.commit)
            }
            None => "`git status`, `git diff HEAD` and `git log`".to_owned(),
        };
        let prompt = rules::review(&self.job.issue, &changes);
        loop {
            self.context.limiter.wait(|| self.must_stop().is_some() || !self.context.may_go_on());
            if let Some(end) = self.must_stop() {
                return Err(end);
            }
            if !self.context.may_go_on() {
                return Err(End::Stopped(self.why_stopped()));
            }
            self.share = self.wait_for_money()?;
            let ended = launch::review(self, reviewer, prompt.clone())?;
            if self.is_over(reviewer, &ended)? {
                return Ok(ended);
            }
            // What did not come to an opinion was paid for all the same.
            self.record(reviewer, &ended.session, None)?;
        }
    }

    /// Whether the reviewer came to its end; otherwise it is asked once more.
    fn is_over(&mut self, reviewer: &Reviewer, ended: &SessionEnded) -> Result<bool, End> {
        let why = ended.session.reason.clone().unwrap_or_else(|| "it ended".to_owned());
        let failed = || End::NeedsReview(format!("the review by {} failed: {why}", reviewer.agent));
        let Some(outcome) = ended.turn.outcome() else { return Err(failed()) };
        match (answer(outcome, self.here.clock.now()), ended.turn.cause) {
            (Answer::Check, _) => {
                self.context.limiter.ease();
                self.tries.retried = 0;
                Ok(true)
            }
            (_, Some(Cause::Asked | Cause::TimeUp)) => Err(End::Stopped(self.why_stopped())),
            (_, Some(Cause::TooLong)) => Err(End::TimedOut(TOO_LONG.to_owned())),
            (_, Some(Cause::Spent)) | (Answer::Spent, None) if !self.context.has_money() => {
                Err(End::Stopped("the cost limit is reached".to_owned()))
            }
            (Answer::Wait { until }, None) => self.hold(until).map(|()| false),
            (Answer::Retry, None) => self.pause(&why).map(|()| false),
            (Answer::StopRun, None) => {
                self.context.give_up(&why);
                Err(End::Failed(why))
            }
            (Answer::Stopped, None) => Err(End::Stopped(why)),
            _ => Err(failed()),
        }
    }

    fn record(
        &mut self,
        reviewer: &Reviewer,
        session: &Session,
        opinion: Option<&Opinion>,
    ) -> Result<(), End> {
        let (approved, findings) = match opinion {
            None => (None, String::new()),
            Some(Opinion::Approved) => (Some(true), String::new()),
            Some(Opinion::Changes(findings)) => (Some(false), findings.clone()),
        };
        let record = IssueRunReviewed {
            issue_run: self.job.issue_run,
            session: session.id,
            approved,
            findings: findings.clone(),
            // A reviewer that did not get as far as saying who it is has cost nothing.
            cost_usd: session.cost.whole().or((!session.announced).then_some(0.0)),
        };
        self.ledger.append(self.here.clock.now(), self.context.scope(), &record)?;
        self.context.tell(WorkEvent::Reviewed {
            issue: self.job.issue.id.to_string(),
            agent: reviewer.agent.clone(),
            approved,
            findings: clean(&findings),
        });
        Ok(())
    }

    /// A reviewer looks; what it changes all the same is nobody's work.
    fn undo(&self, reviewer: &Reviewer, ready: Option<&Ready>) -> Result<(), End> {
        let Some(ready) = ready else { return Ok(()) };
        if put_back(&self.tree, ready).map_err(|error| End::Failed(error.to_string()))? {
            let agent = &reviewer.agent;
            self.warn(format!("{agent} changed something while it reviewed; that was undone"));
        }
        Ok(())
    }

    fn send_back(&mut self, reviewer: &Reviewer, findings: &str) -> Result<String, End> {
        self.tries.reviews += 1;
        self.tries.fixes += 1;
        let Reviewer { agent, max, .. } = reviewer;
        if self.tries.reviews > *max {
            let findings: String = clean(findings).chars().take(SHOWN).collect();
            return Err(End::NeedsReview(format!("{agent} still finds: {findings}")));
        }
        Ok(rules::reviewed(&self.job.issue, agent, findings, self.tries.reviews, *max))
    }
}

/// Puts the tree back to the commit that was reviewed. Returns whether the reviewer had changed
/// something.
fn put_back(tree: &Tree, ready: &Ready) -> Result<bool, GitError> {
    let own = tree.branch.as_deref().unwrap_or_default();
    own_tree::free_index(&tree.path);
    let is_same = own_tree::head(&tree.path).is_ok_and(|head| head == ready.commit)
        && own_tree::left(&tree.path, own)
            .is_ok_and(|left| left.problem.is_none() && !left.is_dirty);
    if !is_same {
        own_tree::put_back(&tree.path, own, &ready.commit)?;
    }
    Ok(!is_same)
}
