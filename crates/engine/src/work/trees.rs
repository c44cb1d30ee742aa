//! Where issues are worked on: a worktree and a branch each, away from the person's own.
//!
//! Finished work comes together on a branch of ours, from which later issues begin. The person's
//! branches are read, never moved: they take the work over when they want it.

use std::fs;
use std::path::{Path, PathBuf};

use heirloom_core::issue::IssueId;
use heirloom_core::settings::MergePolicy;
use heirloom_repo::branch::{self, Merged};
use heirloom_repo::fingerprint::{self, Fingerprint};
use heirloom_repo::worktree::GitError;

use super::error::WorkError;
use super::options::Options;
use crate::here::Here;

/// The worktrees of a run.
#[derive(Debug)]
pub(super) struct Trees {
    root: PathBuf,
    /// Where worktrees are made; none where agents work in place.
    own: Option<PathBuf>,
    /// The branch on which finished work comes together, if it does: one for each branch that the
    /// person works on, so that what is on one of theirs never gets onto another.
    together: Option<String>,
}

/// Why work cannot be brought together yet; the agent has to put it right.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Others changed the same places of these files.
    Conflict(String),
    /// The worktree is in no state to be committed.
    Unfinished(String),
}

/// Whether work can be brought together.
#[derive(Debug)]
pub(super) enum Prepared {
    /// It can; in place there is nothing to bring together.
    Ready(Option<Ready>),
    /// Not yet.
    Trouble(Trouble),
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
            return Ok(Self { root, own: None, together: None });
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
        let together = match options.merge {
            MergePolicy::Together => {
                Some(format!("heirloom/work/{}", here.place.head.branch().unwrap_or("detached")))
            }
            MergePolicy::Leave => None,
        };
        Ok(Self { root, own, together })
    }

    /// Lets the branch that holds finished work hold what the person did since, too. Returns what
    /// somebody should know.
    pub(super) fn catch_up(&self) -> Result<Option<String>, WorkError> {
        let Some(together) = &self.together else { return Ok(None) };
        let root = &self.root;
        if branch::is_checked_out(root, together) {
            return Err(WorkError::CheckedOut { branch: together.clone() });
        }
        let Some(head) = branch::commit_of(root, "HEAD") else { return Ok(None) };
        let tip = self.tip();
        let next = match &tip {
            None => head,
            Some(tip) if branch::is_ancestor(root, &head, tip) => return Ok(None),
            Some(tip) if branch::is_ancestor(root, tip, &head) => head,
            Some(tip) => match branch::merged(root, tip, &head, "Take over what was done since") {
                Some(merged) => merged,
                None => {
                    return Ok(Some(format!(
                        "{together} and what is checked out here do not go together by themselves; \
                         issues begin from {together} as it is"
                    )));
                }
            },
        };
        branch::advance(root, together, &next, tip.as_deref());
        match self.tip() {
            Some(_) => Ok(None),
            None => Err(WorkError::NoBranch { branch: together.clone() }),
        }
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
        let base = self.together.as_deref().unwrap_or("HEAD");
        tree.path = branch::work_on(&self.root, &tree.path, name, base)?;
        Ok(())
    }

    /// How the place where the person works is now.
    pub(super) fn fingerprint(&self) -> Option<Fingerprint> {
        fingerprint::of(&self.root)
    }

    /// Commits what is in the tree and brings in what others finished.
    pub(super) fn prepare(&self, tree: &Tree, message: &str) -> Result<Prepared, GitError> {
        let Some(own) = &tree.branch else { return Ok(Prepared::Ready(None)) };
        if let Some(what) = branch::unfinished(&tree.path, own) {
            return Ok(Prepared::Trouble(Trouble::Unfinished(what)));
        }
        branch::commit_all(&tree.path, message)?;
        let tip = self.tip();
        if let Some(tip) = &tip
            && let Merged::Conflict(files) =
                branch::bring_in(&tree.path, tip, "Take over what others finished")?
        {
            return Ok(Prepared::Trouble(Trouble::Conflict(files.join("\n"))));
        }
        let commit = branch::commit_all(&tree.path, message)?;
        let base = tip.clone().or_else(|| branch::commit_of(&self.root, "HEAD"));
        let unchanged = base.is_some_and(|base| branch::is_ancestor(&self.root, &commit, &base));
        Ok(Prepared::Ready(Some(Ready { commit, unchanged, tip })))
    }

    /// Brings finished work together. Returns the branch that holds it, or `None` if somebody was
    /// faster.
    pub(super) fn bring_together(&self, tree: &Tree, ready: &Ready) -> Option<String> {
        let own = tree.branch.clone().unwrap_or_default();
        match &self.together {
            None => Some(own),
            Some(together) if ready.unchanged => Some(together.clone()),
            // Under somebody's feet: it stays on its own branch.
            Some(together) if branch::is_checked_out(&self.root, together) => Some(own),
            Some(together) => {
                branch::advance(&self.root, together, &ready.commit, ready.tip.as_deref())
                    .then(|| together.clone())
            }
        }
    }

    /// The branch on which finished work comes together.
    pub(super) fn together(&self) -> Option<&str> {
        self.together.as_deref()
    }

    fn tip(&self) -> Option<String> {
        branch::commit_of(&self.root, &format!("refs/heads/{}", self.together.as_ref()?))
    }
}

impl Tree {
    /// Whether `path` is the same place.
    pub(super) fn is_at(&self, path: &str) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        real(&self.path) == real(Path::new(path))
    }
}
