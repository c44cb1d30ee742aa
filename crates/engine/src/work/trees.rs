//! Where issues are worked on: a worktree and a branch each, away from the person's own.
//!
//! Finished work comes together on a branch of ours, from which later issues begin. The person's
//! branches are read, never moved: they take the work over when they want it.

use std::fs;
use std::path::{Path, PathBuf};

use heirloom_core::issue::IssueId;
use heirloom_core::settings::MergePolicy;
use heirloom_repo::branch::{self, Merged};
use heirloom_repo::worktree::GitError;

use super::error::WorkError;
use super::options::Options;
use crate::here::Here;

/// The branch on which finished work comes together.
pub(super) const TOGETHER: &str = "heirloom/work";

/// The worktrees of a run.
#[derive(Debug)]
pub(super) struct Trees {
    root: PathBuf,
    /// Where worktrees are made; none where agents work in place.
    own: Option<PathBuf>,
    /// Whether finished work is brought together.
    together: bool,
}

/// Where one issue is worked on.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub(super) path: PathBuf,
    /// Its own branch; none in place.
    pub(super) branch: Option<String>,
}

/// Work that can be brought together, if nobody was faster.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) commit: String,
    /// Whether it holds nothing that is not there already.
    pub(super) unchanged: bool,
    tip: Option<String>,
}

impl Trees {
    pub(super) fn new(here: &Here, options: &Options) -> Result<Self, WorkError> {
        let root = here.place.root.clone();
        if options.in_place {
            if options.max_agents > 1 {
                return Err(WorkError::Crowded { agents: options.max_agents });
            }
            return Ok(Self { root, own: None, together: false });
        }
        let place = || root.display().to_string();
        if here.place.git_dir.is_none() {
            return Err(WorkError::NoGit { place: place() });
        }
        if branch::commit_of(&root, "HEAD").is_none() {
            return Err(WorkError::NoCommit { place: place() });
        }
        let mark = blake3::hash(here.place.repo.as_bytes()).to_hex();
        let name = format!("{}-{}", here.place.label(), &mark[..8]);
        let own = Some(here.home.join("worktrees").join(name));
        let together = options.merge == MergePolicy::Together;
        Ok(Self { root, own, together })
    }

    /// Lets the branch that holds finished work hold what the person did since, too. Says what is
    /// in the way, if something is.
    pub(super) fn catch_up(&self) -> Option<String> {
        if self.own.is_none() || !self.together {
            return None;
        }
        let root = &self.root;
        let head = branch::commit_of(root, "HEAD")?;
        let tip = branch::commit_of(root, &format!("refs/heads/{TOGETHER}"));
        let next = match &tip {
            None => head,
            Some(tip) if branch::is_ancestor(root, &head, tip) => return None,
            Some(tip) if branch::is_ancestor(root, tip, &head) => head,
            Some(tip) => match branch::merged(root, tip, &head, "Take over what was done since") {
                Some(merged) => merged,
                None => {
                    return Some(format!(
                        "{TOGETHER} and what is checked out here do not go together by themselves; \
                         issues begin from {TOGETHER} as it is"
                    ));
                }
            },
        };
        if branch::is_checked_out(root, TOGETHER) {
            return Some(format!("{TOGETHER} is checked out somewhere, so it is left as it is"));
        }
        branch::advance(root, TOGETHER, &next, tip.as_deref());
        None
    }

    /// The place where `issue` is worked on. Nothing is made yet.
    pub(super) fn of(&self, issue: &IssueId) -> Tree {
        match &self.own {
            None => Tree { path: self.root.clone(), branch: None },
            Some(own) => Tree {
                path: own.join(issue.as_str()),
                branch: Some(format!("heirloom/issue/{issue}")),
            },
        }
    }

    /// Makes the place, or goes on with it as it was left.
    pub(super) fn make(&self, tree: &mut Tree) -> Result<(), GitError> {
        let Some(name) = &tree.branch else { return Ok(()) };
        let parent = tree.path.parent().unwrap_or(&self.root);
        fs::create_dir_all(parent).map_err(|error| GitError {
            doing: "worktree".to_owned(),
            why: format!("{}: {error}", parent.display()),
        })?;
        let base = if self.together { TOGETHER } else { "HEAD" };
        tree.path = branch::work_on(&self.root, &tree.path, name, base)?;
        Ok(())
    }

    /// Commits what is in the tree and brings in what others finished. The files that do not go
    /// together are the error of the inner result.
    pub(super) fn prepare(
        &self,
        tree: &Tree,
        message: &str,
    ) -> Result<Result<Option<Ready>, Vec<String>>, GitError> {
        if tree.branch.is_none() {
            return Ok(Ok(None));
        }
        branch::commit_all(&tree.path, message)?;
        let tip = if self.together { self.tip() } else { None };
        if let Some(tip) = &tip
            && let Merged::Conflict(files) =
                branch::bring_in(&tree.path, tip, "Take over what others finished")?
        {
            return Ok(Err(files));
        }
        let commit = branch::commit_all(&tree.path, message)?;
        let base = tip.clone().or_else(|| branch::commit_of(&self.root, "HEAD"));
        let unchanged = base.is_some_and(|base| branch::is_ancestor(&self.root, &commit, &base));
        Ok(Ok(Some(Ready { commit, unchanged, tip })))
    }

    /// Brings finished work together. Returns whether nobody was faster.
    pub(super) fn bring_together(&self, ready: &Ready) -> bool {
        if !self.together || ready.unchanged {
            return true;
        }
        // Under somebody's feet: it stays on its own branch.
        if branch::is_checked_out(&self.root, TOGETHER) {
            return true;
        }
        branch::advance(&self.root, TOGETHER, &ready.commit, ready.tip.as_deref())
    }

    /// Where finished work is.
    pub(super) fn home_of<'t>(&self, tree: &'t Tree) -> Option<&'t str> {
        if self.together { Some(TOGETHER) } else { tree.branch.as_deref() }
    }

    fn tip(&self) -> Option<String> {
        branch::commit_of(&self.root, &format!("refs/heads/{TOGETHER}"))
    }
}

impl Tree {
    /// Whether `path` is the same place.
    pub(super) fn is_at(&self, path: &str) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        real(&self.path) == real(Path::new(path))
    }
}
