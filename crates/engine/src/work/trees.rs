//! Where issues are worked on: a worktree and a branch each, away from the person's own.
//!
//! Finished work comes together on a branch of ours, from which later issues begin. The person's
//! branches are read, never moved: they take the work over when they want it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use heirloom_agents::process::orphan::Identity;
use heirloom_core::issue::IssueId;
use heirloom_core::settings::MergePolicy;
use heirloom_repo::branch::{self, Joined, Merged};
use heirloom_repo::fingerprint::{self, Fingerprint};
use heirloom_repo::own_tree::{self, How};
use heirloom_repo::stash;
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
    /// What the person has checked out, in words.
    head: String,
    /// Whether the person's worktree had changes when the run began.
    dirty: bool,
    /// The hooks that our commits do not run.
    hooks: Vec<String>,
    /// Under which name stashes are held: of this run, by which it can be told later whether it still goes on.
    holder: String,
    seen: Mutex<Seen>,
}

/// What agents must not take away.
#[derive(Debug, Default)]
struct Seen {
    /// The last commit to which finished work was brought together, or where the run began.
    tip: Option<String>,
    /// The person's stashes that are held.
    stashes: HashSet<String>,
}

impl Drop for Trees {
    /// A run that ends for a reason of its own lets go as well.
    fn drop(&mut self) {
        self.release_stashes();
    }
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
            let dirty = fingerprint::is_dirty(&root);
            let (head, hooks) = (String::new(), Vec::new());
            return Ok(Self {
                root,
                own: None,
                together: None,
                head,
                dirty,
                hooks,
                holder: holder(),
                seen: Mutex::default(),
            });
        }
        let place = || root.display().to_string();
        if here.place.git_dir.is_none() {
            return Err(WorkError::NoGit { place: place() });
        }
        if own_tree::head(&root).is_err() {
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
        let head = match here.place.head.branch() {
            Some(branch) => branch.to_owned(),
            None => "HEAD".to_owned(),
        };
        let hooks = own_tree::commit_hooks(&root);
        Ok(Self {
            root,
            own,
            together,
            head,
            dirty: false,
            hooks,
            holder: holder(),
            seen: Mutex::default(),
        })
    }

    /// Lets the branch that holds finished work hold what the person did since, too. Returns what
    /// somebody should know.
    pub(super) fn catch_up(&self) -> Result<Option<String>, WorkError> {
        let Some(together) = &self.together else { return Ok(None) };
        let root = &self.root;
        if branch::is_checked_out(root, together) {
            return Err(WorkError::CheckedOut { branch: together.clone() });
        }
        let Ok(head) = own_tree::head(root) else { return Ok(None) };
        let tip = self.tip();
        let mut news = None;
        let next = match &tip {
            None => head,
            Some(tip) if *tip == head || branch::is_ancestor(root, &head, tip) => {
                self.seen().tip = Some(tip.clone());
                return Ok(None);
            }
            Some(tip) if branch::is_ancestor(root, tip, &head) => head,
            Some(tip) => match branch::join(root, tip, &head, "Take over what was done since") {
                Joined::Commit(merged) => merged,
                Joined::Contained => {
                    news = Some(format!(
                        "everything on {together} is already in {}, in other commits; starting over from there",
                        self.head
                    ));
                    head
                }
                Joined::Conflict => {
                    return Err(WorkError::Apart {
                        branch: together.clone(),
                        head: self.head.clone(),
                        commits: branch::ahead(root, tip, &head),
                    });
                }
            },
        };
        branch::advance(root, together, &next, tip.as_deref())?;
        match self.tip() {
            Some(tip) => {
                self.seen().tip = Some(tip);
                Ok(news)
            }
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

    /// Makes the place, or goes on with it as it was left. Returns how that went, unless it is the
    /// person's own.
    pub(super) fn make(&self, tree: &mut Tree) -> Result<Option<How>, GitError> {
        let Some(name) = &tree.branch else { return Ok(None) };
        // Not by the name of the branch, which another agent may delete at any moment.
        let base = self.tip().unwrap_or_else(|| "HEAD".to_owned());
        let made = own_tree::make(&self.root, &tree.path, name, &base)?;
        tree.path = made.path;
        Ok(Some(made.how))
    }

    /// How the place where the person works is now.
    pub(super) fn fingerprint(&self) -> Option<Fingerprint> {
        fingerprint::of(&self.root)
    }

    /// Commits what is in the tree and brings in what others finished.
    pub(super) fn prepare(&self, tree: &Tree, message: &str) -> Result<Prepared, GitError> {
        let Some(own) = &tree.branch else { return Ok(Prepared::Ready(None)) };
        own_tree::free_index(&tree.path);
        let left = own_tree::left(&tree.path, own)?;
        if let Some(what) = left.problem {
            return Ok(Prepared::Trouble(Trouble::Unfinished(what)));
        }
        if left.is_dirty {
            own_tree::commit_all(&tree.path, message)?;
        }
        let mut commit = own_tree::head(&tree.path)?;
        let tip = self.tip();
        let base = match &tip {
            Some(tip) => tip.clone(),
            None => own_tree::head(&self.root)?,
        };
        let parted = branch::merge_base(&self.root, &commit, &base);
        let mut unchanged = parted.as_ref() == Some(&commit);
        if tip.is_some() && parted.as_ref() != Some(&base) {
            let merged = branch::bring_in(&tree.path, &base, "Take over what others finished")?;
            if let Merged::Conflict(files) = merged {
                return Ok(Prepared::Trouble(Trouble::Conflict(files.join("\n"))));
            }
            commit = own_tree::head(&tree.path)?;
            unchanged = commit == base;
        }
        Ok(Prepared::Ready(Some(Ready { commit, unchanged, tip })))
    }

    /// Takes what an agent stashed since the list was `before` off it: it is the person's. Returns the
    /// commits that hold it.
    pub(super) fn take_stashes(
        tree: &Tree,
        issue: &IssueId,
        before: &str,
    ) -> Result<Vec<String>, GitError> {
        match &tree.branch {
            Some(_) => stash::take(&tree.path, before, issue.as_str()),
            None => Ok(Vec::new()),
        }
    }

    /// What is not on the person's list of stashes any more since that was `before`.
    pub(super) fn missing_stashes(&self, before: &str) -> Vec<String> {
        if self.own.is_some() { stash::missing(&self.root, before) } else { Vec::new() }
    }

    /// Puts what is missing there back.
    pub(super) fn put_stashes_back(
        &self,
        before: &str,
        lost: &[String],
    ) -> Result<usize, GitError> {
        stash::put_back(&self.root, before, lost)
    }

    /// Holds the person's stashes for as long as agents work, and lets go of them when none does.
    pub(super) fn hold_stashes(&self, list: &str) {
        let mut seen = self.seen();
        let stashes = &mut seen.stashes;
        let is_new = |line: &&str| !stashes.contains(stash::commit_of_line(line));
        let new: Vec<&str> = list.lines().filter(is_new).collect();
        if self.own.is_some()
            && !new.is_empty()
            && stash::hold(&self.root, &self.holder, &new).is_ok()
        {
            stashes.extend(new.iter().map(|line| stash::commit_of_line(line).to_owned()));
        }
    }

    pub(super) fn release_stashes(&self) {
        if !std::mem::take(&mut self.seen().stashes).is_empty() {
            // What stays held is only kept longer than it has to be: the next run lets go of it.
            let _ = stash::release(&self.root, &self.holder);
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The list of stashes, which all worktrees share.
    pub(super) fn stashes(&self) -> String {
        stash::list(&self.root)
    }

    /// Whether the person's worktree had changes when the run began.
    pub(super) fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// Whether something was committed on the issue's own branch.
    pub(super) fn has_own_commits(&self, tree: &Tree) -> bool {
        tree.branch.as_ref().is_some_and(|own| own_tree::has_own_commits(&self.root, own))
    }

    /// The hooks that do not run for commits that are made here.
    pub(super) fn skipped_hooks(&self) -> &[String] {
        &self.hooks
    }

    /// The main worktree.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Brings finished work together. Returns the branch that holds it, or `None` if somebody was
    /// faster.
    pub(super) fn bring_together(
        &self,
        tree: &Tree,
        ready: &Ready,
    ) -> Result<Option<String>, GitError> {
        let own = tree.branch.clone().unwrap_or_default();
        Ok(match &self.together {
            None => Some(own),
            Some(together) if ready.unchanged => Some(together.clone()),
            // Under somebody's feet: it stays on its own branch.
            Some(together) if branch::is_checked_out(&self.root, together) => Some(own),
            Some(together) => {
                let mut seen = self.seen();
                let is_moved =
                    branch::advance(&self.root, together, &ready.commit, ready.tip.as_deref())?;
                if is_moved {
                    seen.tip = Some(ready.commit.clone());
                }
                is_moved.then(|| together.clone())
            }
        })
    }

    /// The branch on which finished work comes together.
    pub(super) fn together(&self) -> Option<&str> {
        self.together.as_deref()
    }

    /// The commit to which finished work was brought together. An agent that deleted the branch or put it back does not
    /// take away what others finished.
    fn tip(&self) -> Option<String> {
        let (root, together) = (&self.root, self.together.as_ref()?);
        let tip = branch::tip_of(root, together);
        let last = self.seen().tip.clone();
        let is_lost = |last: &String| match &tip {
            None => true,
            Some(tip) => tip != last && branch::is_ancestor(root, tip, last),
        };
        match last.filter(is_lost) {
            Some(last)
                if branch::advance(root, together, &last, tip.as_deref())
                    .is_ok_and(|is_moved| is_moved) =>
            {
                Some(last)
            }
            _ => tip,
        }
    }
}
/// A name for one run of this process.
fn holder() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let Identity { pid, began } = Identity::of(std::process::id());
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    began.map_or_else(|| format!("{pid}--{number}"), |began| format!("{pid}-{began}-{number}"))
}

/// Whether the process is gone that gave itself that name.
fn is_gone(holder: &str) -> bool {
    let mut parts = holder.split('-');
    let pid = parts.next().and_then(|pid| pid.parse().ok());
    let began = parts.next().and_then(|began| began.parse().ok());
    pid.is_none_or(|pid| Identity { pid, began }.is_gone())
}

/// Lets go of the stashes that runs held which were killed. Returns what the person should know.
pub(super) fn release_gone(root: &Path) -> Option<String> {
    let missing = stash::release_gone(root, is_gone).ok().filter(|missing| !missing.is_empty())?;
    let (count, them) = (missing.len(), them(missing.len()));
    Some(format!(
        "{count} of your stashes disappeared during a run that was killed; if you did not remove {them}, restore {them} with {}",
        stash_commands("store", &missing)
    ))
}

/// What so many stashes are called in a sentence that named them.
pub(super) fn them(count: usize) -> &'static str {
    if count == 1 { "it" } else { "them" }
}

/// What does something with stashes that are on no list. Git takes one at a time.
pub(super) fn stash_commands(does: &str, commits: &[impl AsRef<str>]) -> String {
    let one = |commit: &str| format!("`git stash {does} {commit}`");
    commits.iter().map(|commit| one(commit.as_ref())).collect::<Vec<_>>().join(", ")
}
