//! Whether an issue is done: committed, brought together with what others finished, and checked.

use heirloom_core::event::IssueRunGated;
use heirloom_core::work::{self as rules, Evidence, IssueRunStatus, Nothing};
use heirloom_repo::own_tree;
use heirloom_repo::worktree::GitError;

use super::fleet::LOST;
use super::gate;
use super::job::End;
use super::on_issue::OnIssue;
use super::trees::{Prepared, Ready, Trouble};
use crate::events::{Phase, clean};
use crate::{evidence, issues};

/// How often finished work is checked again because others were faster.
const MOST_RACES: u32 = 20;
/// How much of an agent's last words a person is shown, in characters.
const WORDS: usize = 1000;

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
            let Some(ready) = ready else {
                let done = self.in_place()?;
                return self.approved(None, done);
            };
            if ready.unchanged && !self.was_brought_together()? {
                return self.nothing().map(Checkup::Done);
            }
            if let Some(back) = self.objection(Some(&ready))? {
                return Ok(Checkup::Back(back));
            }
            // Whoever has the issue by now begins with what is there: work of ours must not come under it.
            if !self.context.confirm(&self.job.issue.id) {
                return Err(End::Stopped(LOST.to_owned()));
            }
            let together = self.context.trees.bring_together(&self.tree, &ready);
            if let Some(branch) = together.map_err(|error| self.broken(&error))? {
                return Ok(Checkup::Done(self.done(&ready, &branch)));
            }
        }
        Err(End::Failed("the merge lost a race with other work every time".into()))
    }

    /// What is done, unless a reviewer thinks otherwise.
    fn approved(&mut self, ready: Option<&Ready>, done: Done) -> Result<Checkup, End> {
        Ok(match self.objection(ready)? {
            Some(back) => Checkup::Back(back),
            None => Checkup::Done(done),
        })
    }

    /// What still stands in the way of work that passed the gate.
    fn objection(&mut self, ready: Option<&Ready>) -> Result<Option<String>, End> {
        let rule = &self.context.settings.checkpoint;
        let id = &self.job.issue.id;
        match issues::lacks(&self.here, &self.ledger, rule, id)? {
            Some(untested) if untested.refuses => {
                let what = untested.to_string();
                self.count_fix(&what)?;
                return Ok(Some(rules::note_scenarios(&self.job.issue, untested.scenarios)));
            }
            Some(untested) => self.warn(untested.to_string()),
            None => {}
        }
        self.second_opinion(ready)
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
        let (round, most) = (self.tries.of_gate(), self.context.options.max_fixes);
        Ok(rules::fix(&self.job.issue, &self.so_far.findings, round, most))
    }

    /// What the agent is told about work that cannot be committed or merged as it is.
    fn put_right(&mut self, trouble: &Trouble) -> Result<String, End> {
        let together = self.context.trees.together().unwrap_or_default();
        match trouble {
            Trouble::Conflict(files) => {
                self.count_fix(&format!("the work conflicts with {together}"))?;
                Ok(rules::resolve(&self.job.issue, together, files))
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
        if self.tries.of_gate() <= most {
            return Ok(());
        }
        let tries = if most == 1 { "1 attempt".to_owned() } else { format!("{most} attempts") };
        Err(End::Failed(match most {
            0 => what.to_owned(),
            _ => format!("gave up after {tries} to fix it: {what}"),
        }))
    }

    fn broken(&self, error: &GitError) -> End {
        let path = &self.tree.path;
        let what = if !path.is_dir() {
            Some("its worktree is gone")
        } else if own_tree::head(path).is_err() {
            Some("its worktree is damaged")
        } else {
            None
        };
        let why = match what {
            None => error.to_string(),
            Some(what) => format!(
                "{what}: {}; `heirloom work --resume` makes it again from its branch",
                path.display()
            ),
        };
        self.must_stop().unwrap_or(End::Failed(why))
    }

    fn done(&self, ready: &Ready, branch: &str) -> Done {
        let evidence = Evidence {
            gate: &self.so_far.findings,
            commit: Some(&ready.commit),
            branch: Some(branch),
            approved_by: self.approver(),
            skipped: self.context.trees.skipped_hooks(),
            ..Evidence::default()
        };
        Done { evidence: evidence.text(), commit: Some(ready.commit.clone()) }
    }

    /// The agent that is asked before work is done, and so has approved what is.
    fn approver(&self) -> Option<&str> {
        self.context.options.review.as_ref().map(|reviewer| reviewer.agent.as_str())
    }

    /// Whether what was done where the person works shows that the issue is done. Nothing is
    /// committed there for the agent.
    fn in_place(&self) -> Result<Done, End> {
        let (before, now) = (self.before.as_ref(), self.context.trees.fingerprint());
        let gate = &self.so_far.findings;
        let Some((before, now)) = before.zip(now.as_ref()) else {
            // Without git nobody knows what was changed.
            if gate.is_empty() {
                return Err(
                    self.review("no gate is set, and without git nothing shows what it did")
                );
            }
            let evidence = Evidence { gate, approved_by: self.approver(), ..Evidence::default() };
            return Ok(Done { evidence: evidence.text(), commit: None });
        };
        if before == now {
            return self.nothing();
        }
        let commit = now.head.as_deref().filter(|_| now.head != before.head);
        if commit.is_none() && gate.is_empty() {
            return Err(self.review("no gate is set, and what it changed here is not committed"));
        }
        let approved_by = self.approver();
        let evidence = Evidence { gate, commit, approved_by, ..Evidence::default() };
        Ok(Done { evidence: evidence.text(), commit: commit.map(str::to_owned) })
    }

    /// Whether a run that died brought the work together and did not get to close the issue any more.
    fn was_brought_together(&self) -> Result<bool, End> {
        let runs = self.ledger.issue_runs(&self.here.place.repo, self.job.issue.id.as_str())?;
        let own = self.job.issue_run.to_string();
        let before = runs.iter().find(|run| run.id != own);
        let died = before.is_some_and(|run| run.status == IssueRunStatus::Interrupted);
        Ok(died && self.context.trees.has_own_commits(&self.tree))
    }

    /// Nothing was changed. That is done only if the agent says so, and shows why.
    fn nothing(&self) -> Result<Done, End> {
        let Some(nothing) = self.so_far.words.as_deref().and_then(Nothing::read) else {
            return Err(self.review("nothing was changed"));
        };
        if nothing.evidence.is_empty() {
            return Err(self.review("nothing was changed, and the agent showed no evidence"));
        }
        let root = &self.tree.path;
        for place in &nothing.evidence {
            if let Err(error) = evidence::attach(root, root, place.clone()) {
                let why =
                    format!("nothing was changed, and the agent's evidence is wrong: {error}");
                return Err(self.review(&why));
            }
        }
        let gate = &self.so_far.findings;
        let evidence = Evidence { gate, nothing: Some(&nothing), ..Evidence::default() };
        Ok(Done { evidence: evidence.text(), commit: None })
    }

    /// A person has to look; the agent's own words tell them what at.
    pub(super) fn review(&self, why: &str) -> End {
        let words = self.so_far.words.as_deref().map(str::trim).unwrap_or_default();
        let words: String = clean(words).chars().take(WORDS).collect();
        let said = if words.is_empty() { "nothing".to_owned() } else { format!("“{words}”") };
        End::NeedsReview(format!("{why}; the agent said: {said}"))
    }
}
