//! Whether an issue is done: committed, brought together with what others finished, and checked.

use heirloom_core::event::IssueRunGated;
use heirloom_core::work::{self as rules, Evidence};

use super::gate;
use super::on_issue::{End, OnIssue};
use super::trees::{self, Ready};

/// How often finished work is checked again because others were faster.
const MOST_RACES: u32 = 20;

/// An issue that is done: what shows it, and the commit that holds the work.
pub(super) type Done = (String, Option<String>);

impl OnIssue<'_, '_> {
    /// Whether the issue is done: the work is committed, brought together and checked. If not, what
    /// the agent is to be told.
    pub(super) fn check(&mut self) -> Result<Result<Done, String>, End> {
        for _ in 0..MOST_RACES {
            self.phase("merging");
            let message = format!("{}: {}", self.job.issue.id, self.job.issue.title);
            let prepared = self.shop.trees.prepare(&self.tree, &message);
            let ready = match prepared.map_err(|error| End::Failed(error.to_string()))? {
                Ok(ready) => ready,
                Err(files) => return self.send_back(&files.join("\n"), true),
            };
            if !self.gate()? {
                return self.send_back("", false);
            }
            if ready.as_ref().is_none_or(|ready| self.shop.trees.bring_together(ready)) {
                return Ok(Ok(self.done(ready)));
            }
        }
        Err(End::Failed("others were faster each time the work was to be brought together".into()))
    }

    fn gate(&mut self) -> Result<bool, End> {
        self.phase("checking");
        let issue = self.job.issue.id.as_str();
        self.findings = gate::check(self.shop, issue, &self.tree.path, &self.here.env);
        let gated = IssueRunGated { issue_run: self.job.issue_run, gate: self.findings.clone() };
        self.ledger.append(self.here.clock.now(), self.shop.scope(), &gated)?;
        if self.shop.stopping.asked() > 1 {
            return Err(End::Stopped("stopped while the gate was tried".to_owned()));
        }
        Ok(self.findings.iter().all(|checked| checked.passed))
    }

    /// What the agent is told about what is wrong, if it may still be sent back.
    fn send_back(
        &mut self,
        conflict: &str,
        is_conflict: bool,
    ) -> Result<Result<Done, String>, End> {
        self.fixes += 1;
        let (issue, most) = (&self.job.issue, self.shop.options.max_fixes);
        if self.fixes > most {
            let failed = self.findings.iter().find(|checked| !checked.passed);
            let what = match failed {
                Some(failed) if !is_conflict => format!("`{}` fails", failed.command),
                _ => format!("the work conflicts with {}", trees::TOGETHER),
            };
            let fixes = if most == 1 { "1 fix".to_owned() } else { format!("{most} fixes") };
            return Err(End::Failed(format!("the gate does not pass after {fixes}: {what}")));
        }
        Ok(Err(if is_conflict {
            rules::merge_first(issue, trees::TOGETHER, conflict)
        } else {
            rules::fix(issue, &self.findings, self.fixes, most)
        }))
    }

    fn done(&self, ready: Option<Ready>) -> Done {
        let evidence = Evidence {
            gate: &self.findings,
            commit: ready.as_ref().map(|ready| ready.commit.as_str()),
            branch: self.shop.trees.home_of(&self.tree),
            unchanged: ready.as_ref().is_some_and(|ready| ready.unchanged),
        };
        if evidence.unchanged {
            self.warn("the agent changed nothing".to_owned());
        }
        (evidence.text(), ready.filter(|ready| !ready.unchanged).map(|ready| ready.commit))
    }
}
