//! What ended runs left: worktrees and branches of issues, taken away where nothing is lost by it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use heirloom_agents::program::quote;
use heirloom_core::issue::IssueId;
use heirloom_core::settings::Settings;
use heirloom_ledger::Ledger;
use heirloom_repo::file;
use heirloom_repo::{branch, own_tree};

use super::crashed;
use super::error::WorkError;
use super::options::Options;
use super::picks::Claims;
use super::trees::Trees;
use crate::here::Here;

/// What the names of the branches of issues begin with.
const OF_ISSUES: &str = "heirloom/issue/";
/// What the names of the branches of finished work begin with.
const OF_WORK: &str = "heirloom/work/";

/// What is left over, and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// What it is called: the issue's id, or the branch.
    pub name: String,
    pub worktree: Option<PathBuf>,
    pub branch: Option<String>,
    /// What would be lost with it, in words.
    pub holds: Option<String>,
    /// Why it is left alone, if it is.
    pub kept: Option<Kept>,
}

/// Why something that is left over is left alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Kept {
    /// Only what would be lost with it keeps it.
    #[error("{0}")]
    Holds(String),
    /// A branch of finished work that waits to be merged.
    #[error("not merged yet: git merge {0}")]
    Unmerged(String),
    /// A run that goes on.
    #[error("a run is using it")]
    InUse,
    /// Somebody has the branch in a worktree.
    #[error("it is checked out")]
    CheckedOut,
    /// It could not be taken away.
    #[error("{0}")]
    Failed(String),
}

impl Leftover {
    /// Whether only what it holds keeps it, so that force removes it.
    pub fn yields_to_force(&self) -> bool {
        matches!(self.kept, Some(Kept::Holds(_)))
    }

    /// The branch of finished work that waits to be merged. Force does not remove it.
    pub fn unmerged(&self) -> Option<&str> {
        match &self.kept {
            Some(Kept::Unmerged(branch)) => Some(branch),
            _ => None,
        }
    }
}

/// How it is cleaned up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clean {
    /// Nothing is changed.
    pub dry_run: bool,
    /// Work that is nowhere else goes, too.
    pub force: bool,
}

/// Takes away what runs that ended left behind. What holds work that is nowhere else is kept, unless
/// that is wanted. What the person should know is told to `warn`.
pub fn clean(
    here: &Here,
    ledger: &mut Ledger,
    settings: &Settings,
    how: Clean,
    warn: &dyn Fn(&str),
) -> Result<Vec<Leftover>, WorkError> {
    let root = here.place.root.as_path();
    let directory = directory(&Trees::new(here, &Options::of(settings))?);
    if !how.dry_run {
        for news in crashed::close_all(here, ledger)? {
            warn(&news);
        }
    }
    let claims = Claims::read(here, ledger)?;
    let runs = ledger.open_work_runs(&here.place.repo)?;
    let is_running = runs.iter().any(crashed::is_alive);
    let mut found = Vec::new();
    for name in names(&directory, root) {
        let mut left = look(&directory, root, &name);
        let is_taken = name.parse::<IssueId>().is_ok_and(|id| claims.is_taken(&id));
        left.kept = if is_taken {
            Some(Kept::InUse)
        } else {
            left.holds.clone().filter(|_| !how.force).map(Kept::Holds)
        };
        found.push(left);
    }
    found.extend(brought_together(root, is_running));
    if !how.dry_run {
        for left in found.iter_mut().filter(|left| left.kept.is_none()) {
            left.kept = take_away(root, &directory, left).err().map(Kept::Failed);
        }
    }
    Ok(found)
}

/// Where the worktrees of issues are.
fn directory(trees: &Trees) -> PathBuf {
    let any: IssueId = "any".parse().expect("a word is an id");
    let mut path = trees.of(&any).path;
    path.pop();
    path
}

/// The issues that something is left of, and what was set aside.
fn names(directory: &Path, root: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.path().is_dir());
    let mut names: BTreeSet<String> =
        directories.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let branches = branch::below(root, OF_ISSUES).into_iter();
    names.extend(branches.filter_map(|name| Some(name.strip_prefix(OF_ISSUES)?.to_owned())));
    names
}

/// What is left of one issue, and what of it is nowhere else.
fn look(directory: &Path, root: &Path, name: &str) -> Leftover {
    let path = directory.join(name);
    let branch = format!("{OF_ISSUES}{name}");
    let tip = branch::tip_of(root, &branch);
    let worktree = path.is_dir().then(|| path.clone());
    let mut holds = Vec::new();
    if worktree.is_some() {
        match own_tree::left(&path, &branch) {
            Ok(left) if left.problem.is_some() => holds.extend(left.problem),
            Ok(left) if left.is_dirty => holds.push("uncommitted changes".to_owned()),
            Ok(_) => {}
            Err(_) => holds.push("git does not know it as a worktree".to_owned()),
        }
    }
    if let Some(tip) = &tip {
        let elsewhere = branch::holders(root, tip);
        let is_of_issue = |name: &String| {
            name.strip_prefix("refs/heads/").is_some_and(|name| name.starts_with(OF_ISSUES))
        };
        if elsewhere.iter().all(is_of_issue) {
            holds.push(format!("commits that are only on {branch}"));
        }
    }
    Leftover {
        name: name.to_owned(),
        worktree,
        branch: tip.map(|_| branch),
        holds: (!holds.is_empty()).then(|| holds.join("; ")),
        kept: None,
    }
}

/// Branches of finished work, of which those go that somebody merged.
fn brought_together(root: &Path, is_running: bool) -> Vec<Leftover> {
    let branches = branch::below(root, OF_WORK).into_iter();
    let leftover = |name: String| {
        let tip = branch::tip_of(root, &name)?;
        let is_merged = is_merged(root, &name, &tip);
        let kept = match () {
            () if branch::is_checked_out(root, &name) => Some(Kept::CheckedOut),
            () if is_running => Some(Kept::InUse),
            () if !is_merged => Some(Kept::Unmerged(name.clone())),
            () => None,
        };
        let holds = (!is_merged).then(|| "finished work".to_owned());
        Some(Leftover { name: name.clone(), worktree: None, branch: Some(name), holds, kept })
    };
    branches.filter_map(leftover).collect()
}

/// Whether finished work is on a branch of the person's: merged there, or squashed or picked onto the one it is for.
fn is_merged(root: &Path, name: &str, tip: &str) -> bool {
    is_plainly_merged(root, name, tip)
        || meant(root, name).is_some_and(|onto| branch::is_contained(root, tip, onto))
}

/// The same as far as it can be told at once: the patches of a long history are not compared.
fn is_plainly_merged(root: &Path, name: &str, tip: &str) -> bool {
    branch::holders(root, tip).iter().any(|holder| is_persons(holder))
        || meant(root, name).is_some_and(|onto| branch::has_same_files(root, tip, onto))
}

/// Whether a branch, by its full name, is the person's. One of ours that was pushed is still ours: a pull request is not
/// merged yet. Where the name of a remote ends is not to be seen, as it may hold slashes; whoever is in doubt keeps work.
fn is_persons(branch: &str) -> bool {
    match branch.strip_prefix("refs/remotes/").and_then(|name| name.split_once('/')) {
        Some((_, name)) => ![OF_WORK, OF_ISSUES].iter().any(|ours| {
            name.match_indices(ours).any(|(at, _)| at == 0 || name[..at].ends_with('/'))
        }),
        None => !branch.strip_prefix("refs/heads/").unwrap_or_default().starts_with("heirloom/"),
    }
}

/// The branch that finished work is for, while there is one of that name.
fn meant<'a>(root: &Path, name: &'a str) -> Option<&'a str> {
    let onto = name.strip_prefix(OF_WORK)?;
    branch::tip_of(root, onto).map(|_| onto)
}

/// A branch of finished work that waits to be merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub branch: String,
    /// How many commits it brings.
    pub commits: usize,
    /// What takes it over, for a shell.
    pub command: String,
}

/// The finished work that waits to be merged, that for the branch of this checkout first. It is asked for often: work that
/// only its patches would show to be merged is left to [`clean`].
pub fn waiting(here: &Here) -> Vec<Waiting> {
    let root = here.place.root.as_path();
    if here.place.git_dir.is_none() {
        return Vec::new();
    }
    let unmerged = |name: &String| {
        branch::tip_of(root, name).is_some_and(|tip| !is_plainly_merged(root, name, &tip))
    };
    let own = here.place.head.branch();
    let mut found: Vec<String> =
        branch::below(root, OF_WORK).into_iter().filter(unmerged).collect();
    found.sort_by_key(|name| meant(root, name) != own);
    let waiting = |name: String| {
        let onto = meant(root, &name).filter(|onto| Some(*onto) != own);
        let commits = branch::ahead(root, &name, onto.unwrap_or("HEAD")).len();
        let switch = onto.map(|onto| format!("git switch {} && ", quote(onto))).unwrap_or_default();
        Waiting { command: format!("{switch}git merge {}", quote(&name)), commits, branch: name }
    };
    found.into_iter().map(waiting).collect()
}

fn take_away(root: &Path, directory: &Path, left: &Leftover) -> Result<(), String> {
    let words = |error: heirloom_repo::worktree::GitError| error.to_string();
    // Git may remember a worktree that somebody deleted, and would not let go of its branch.
    let forgotten = own_tree::forget(root, &directory.join(&left.name));
    if let (Some(path), Err(_)) = (&left.worktree, forgotten) {
        // Set aside, or from a repository that is gone: only the directory is left, and it is ours.
        file::remove_dir_all(path)
            .map_err(|error| format!("{}: {}", path.display(), error.source))?;
    }
    match &left.branch {
        Some(name) => branch::delete(root, name).map_err(words),
        None => Ok(()),
    }
}
