//! Whether an issue is done: committed, brought together with what others finished, and checked.

use heirloom_core::event::IssueRunGated;
use heirloom_core::work::{self as rules, Evidence};
use heirloom_repo::worktree::GitError;

use super::event::Phase;
use super::gate;
use super::job::End;
use super::on_issue::OnIssue;
use super::trees::{Prepared, Ready, Trouble};

/// How often finished work is checked again because others were faster.
const MOST_RACES: u32 = 20;

/// An issue that is done.
pub(super) struct Done {
    /// What shows it.
    pub(super) evidence: String,
    /// The commit that holds the work.
    pub(super) commit: Option<String>,
}

/// What a look at the work of an agent comes to.
pub(super) enum Checkup {
    Done(Done),
    /// The agent is told this, and goes on.
    Back(String),
}

impl OnIssue<'_, '_> {
    /// Whether the issue is done: the work is committed, brought together and checked. If not, what
    /// the agent is to be told.
    pub(super) fn check(&mut self) -> Result<Checkup, End> {
        for _ in 0..MOST_RACES {
            self.phase(Phase::Merging);
            let message = format!("{}: {}", self.job.issue.id, self.job.issue.title);
            let prepared = self.context.trees.prepare(&self.tree, &message);
            let ready = match prepared.map_err(|error| self.broken(&error))? {
                Prepared::Ready(ready) => ready,
                Prepared::Trouble(trouble) => {
                    return self.put_right(&trouble).map(Checkup::Back);
                }
            };
            if !self.gate()? {
                return self.mend().map(Checkup::Back);
            }
            let Some(ready) = ready else { return Ok(Checkup::Done(self.done(None, None))) };
            if let Some(branch) = self.context.trees.bring_together(&self.tree, &ready) {
                return Ok(Checkup::Done(self.done(Some(&ready), Some(&branch))));
            }
        }
        Err(End::Failed("others were faster each time the work was to be brought together".into()))
    }

    fn gate(&mut self) -> Result<bool, End> {
        self.phase(Phase::Checking);
        self.so_far.findings = gate::check(self);
        let gated =
            IssueRunGated { issue_run: self.job.issue_run, gate: self.so_far.findings.clone() };
        self.ledger.append(self.here.clock.now(), self.context.scope(), &gated)?;
        if let Some(end) = self.must_stop() {
            return Err(end);
        }
        Ok(self.so_far.findings.iter().all(|checked| checked.passed))
    }

    /// What the agent is told about what the gate found, if it may still be sent back.
    fn mend(&mut self) -> Result<String, End> {
        let failed = self.so_far.findings.iter().find(|checked| !checked.passed);
        let what = failed.map(|failed| format!("`{}` fails", failed.command)).unwrap_or_default();
        self.count_fix(&what)?;
        let most = self.context.options.max_fixes;
        Ok(rules::fix(&self.job.issue, &self.so_far.findings, self.tries.fixes, most))
    }

    /// What the agent is told about work that cannot be committed or merged as it is.
    fn put_right(&mut self, trouble: &Trouble) -> Result<String, End> {
        let together = self.context.trees.together().unwrap_or_default();
        match trouble {
            Trouble::Conflict(files) => {
                self.count_fix(&format!("the work conflicts with {together}"))?;
                Ok(rules::merge_first(&self.job.issue, together, files))
            }
            Trouble::Unfinished(what) => {
                self.count_fix(what)?;
                Ok(rules::put_right(&self.job.issue, what))
            }
        }
    }

    fn count_fix(&mut self, what: &str) -> Result<(), End> {
        self.tries.fixes += 1;
        let most = self.context.options.max_fixes;
        if self.tries.fixes <= most {
            return Ok(());
        }
        let fixes = if most == 1 { "1 fix".to_owned() } else { format!("{most} fixes") };
        Err(End::Failed(format!("it is not done after {fixes}: {what}")))
    }

    fn broken(&self, error: &GitError) -> End {
        self.must_stop().unwrap_or_else(|| End::Failed(error.to_string()))
    }

    fn done(&self, ready: Option<&Ready>, branch: Option<&str>) -> Done {
        let evidence = Evidence {
            gate: &self.so_far.findings,
            commit: ready.map(|ready| ready.commit.as_str()),
            branch,
            unchanged: ready.is_some_and(|ready| ready.unchanged),
        };
        if evidence.unchanged {
            self.warn("the agent changed nothing".to_owned());
        }
        let changed = ready.filter(|ready| !ready.unchanged);
        Done { evidence: evidence.text(), commit: changed.map(|ready| ready.commit.clone()) }
    }
}
