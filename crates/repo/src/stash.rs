//! What an agent does to the list of stashes from a worktree of ours.
//!
//! All worktrees of a repository share one list of stashes, and it is the person's. What an agent
//! put on it is taken off under git's own lock, so that nothing of the person's can be meant; and what
//! an agent took off it, with a `git stash pop` that was meant for its own, can be put back.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::discover::{common_dir, discover};
use crate::file;
use crate::worktree::{GitError, git, git_with_input};

/// Where the list is.
const LOG: &str = "logs/refs/stash";
/// Where what was taken off it is kept.
const KEPT: &str = "refs/heirloom/stash";
/// What keeps the commits of the person's list while agents work: without it their log alone does, and a `git gc` may
/// take away what is off it for a moment.
const HELD: &str = "refs/heirloom/held";
/// Below which, of what is kept, stands what went missing while nobody looked.
const MISSING: &str = "missing";
/// What the names of our own branches begin with.
const OURS: &str = "heirloom/";
/// How often somebody else's lock is waited for, a little each time.
const TRIES: u32 = 100;

/// What is on the list, for [`take`] to tell what came later.
pub fn list(root: &Path) -> String {
    let Some(git_dir) = discover(root).git_dir else { return String::new() };
    file::read_to_string(common_dir(&git_dir).join(LOG)).unwrap_or_default()
}

/// Takes what was stashed in the worktree at `path` since the list was `before` off the person's list,
/// and keeps it under `refs/heirloom/stash/` and `name`. Returns the commits, oldest first.
///
/// A stash says which branch it was made on. That is the agent's if its worktree had the branch checked
/// out: no two worktrees can have the same one.
pub fn take(path: &Path, before: &str, name: &str) -> Result<Vec<String>, GitError> {
    let now = list(path);
    if now == before {
        return Ok(Vec::new());
    }
    let branches = visited(path);
    let known: HashSet<&str> = before.lines().map(commit_of_line).collect();
    let is_theirs = |line: &str| {
        !known.contains(commit_of_line(line))
            && branches.iter().any(|branch| branch_of(line) == branch)
    };
    let Some(git_dir) = discover(path).git_dir else { return Ok(Vec::new()) };
    let common = common_dir(&git_dir);
    let theirs: Vec<&str> =
        now.lines().filter(|line| is_theirs(line)).map(commit_of_line).collect();
    if theirs.is_empty() {
        return Ok(Vec::new());
    }
    // Before it is off the list: whoever misses it there meanwhile must not take it for the person's.
    keep(path, name, &theirs)?;
    let failed = |error: io::Error| GitError { doing: "stash".to_owned(), why: error.to_string() };
    take_off(&common, &|line| theirs.contains(&commit_of_line(line))).map_err(failed)
}

/// The same for a worktree whose agent is gone, and nobody knows the list from before: what was stashed there since that
/// time, in seconds.
///
/// Only on branches of ours: the person may have stashed something since, on another one that the agent visited.
pub fn take_since(path: &Path, since: i64, name: &str) -> Result<Vec<String>, GitError> {
    let now = list(path);
    let may_be_theirs = |line: &str| {
        branch_of(line).starts_with(OURS) && time_of(line).is_some_and(|time| time >= since)
    };
    let before = now.lines().filter(|line| !may_be_theirs(line));
    take(path, &before.fold(String::new(), |before, line| before + line + "\n"), name)
}

/// Keeps the commits of these lines of the list for `holder`, whatever becomes of it.
pub fn hold(root: &Path, holder: &str, lines: &[&str]) -> Result<(), GitError> {
    let mut updates = String::new();
    for commit in lines.iter().map(|line| commit_of_line(line)) {
        let _ = writeln!(updates, "update {HELD}/{holder}/{commit} {commit}");
    }
    git_with_input(root, &["update-ref", "--stdin"], &updates).map(drop)
}

/// Lets go of what [`hold`] keeps for `holder`.
pub fn release(root: &Path, holder: &str) -> Result<(), GitError> {
    let below = format!("{HELD}/{holder}/");
    let held = git(root, None, &["for-each-ref", "--format=delete %(refname)", &below])?;
    delete(root, &held)
}

/// Lets go of what is kept for holders that are gone. What of it is not on the list any more may be the last that is left of
/// it: that is kept under `refs/heirloom/stash/missing`. Returns those commits.
pub fn release_gone(root: &Path, is_gone: impl Fn(&str) -> bool) -> Result<Vec<String>, GitError> {
    let Some(git_dir) = discover(root).git_dir else { return Ok(Vec::new()) };
    if !may_hold(&common_dir(&git_dir)) {
        return Ok(Vec::new());
    }
    let held = git(root, None, &["for-each-ref", "--format=%(refname) %(objectname)", HELD])?;
    let is_left = |name: &str| {
        let below = name.strip_prefix(HELD).unwrap_or_default().trim_start_matches('/');
        // Versions before this one named no holder.
        is_gone(below.split_once('/').map_or("", |(holder, _)| holder))
    };
    let left: Vec<(&str, &str)> = held
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(name, _)| is_left(name))
        .collect();
    if left.is_empty() {
        return Ok(Vec::new());
    }
    let now = list(root);
    let kept = git(root, None, &["for-each-ref", "--format=%(objectname)", KEPT])?;
    let known: HashSet<&str> = now.lines().map(commit_of_line).chain(kept.lines()).collect();
    let missing: BTreeSet<&str> =
        left.iter().map(|(_, commit)| *commit).filter(|commit| !known.contains(commit)).collect();
    let missing: Vec<&str> = missing.into_iter().collect();
    if !missing.is_empty() {
        keep(root, MISSING, &missing)?;
    }
    let deletes: Vec<String> = left.iter().map(|(name, _)| format!("delete {name}")).collect();
    delete(root, &deletes.join("\n"))?;
    Ok(missing.into_iter().map(str::to_owned).collect())
}

/// Whether anything may be held there, as far as that can be told without git.
fn may_hold(common: &Path) -> bool {
    let is_packed = || {
        file::read(common.join("packed-refs")).is_ok_and(|refs| {
            let name = HELD.as_bytes();
            refs.windows(name.len()).any(|part| part == name)
        })
    };
    common.join(HELD).is_dir() || common.join("reftable").is_dir() || is_packed()
}

fn delete(root: &Path, deletes: &str) -> Result<(), GitError> {
    if deletes.is_empty() {
        return Ok(());
    }
    git_with_input(root, &["update-ref", "--stdin"], &format!("{deletes}\n")).map(drop)
}

/// Keeps commits under `refs/heirloom/stash/` and `name`, behind those that are there.
fn keep(path: &Path, name: &str, commits: &[&str]) -> Result<(), GitError> {
    let below = format!("{KEPT}/{name}/");
    let kept = git(path, None, &["for-each-ref", "--format=%(refname) %(objectname)", &below])?;
    let kept: Vec<(&str, &str)> = kept.lines().filter_map(|line| line.split_once(' ')).collect();
    let number = |(name, _): &(&str, &str)| name.rsplit('/').next()?.parse::<usize>().ok();
    let last = kept.iter().filter_map(number).max().unwrap_or(0);
    let new = commits.iter().filter(|commit| kept.iter().all(|(_, other)| other != *commit));
    for (number, commit) in (last + 1..).zip(new) {
        git(path, None, &["update-ref", &format!("{below}{number}"), commit])?;
    }
    Ok(())
}

/// The lines of the list `before` that are not on it any more and were the person's: none that was made
/// on a branch of ours, or that [`take`] took off.
pub fn missing(path: &Path, before: &str) -> Vec<String> {
    let now = list(path);
    if now == before {
        return Vec::new();
    }
    let there: HashSet<&str> = now.lines().map(commit_of_line).collect();
    let is_gone =
        |line: &&str| !there.contains(commit_of_line(line)) && !branch_of(line).starts_with(OURS);
    let gone: Vec<&str> = before.lines().filter(is_gone).collect();
    if gone.is_empty() {
        return Vec::new();
    }
    let kept = git(path, None, &["for-each-ref", "--format=%(objectname)", KEPT]);
    let kept = kept.unwrap_or_default();
    let taken: HashSet<&str> = kept.lines().collect();
    let is_lost = |line: &&str| !taken.contains(commit_of_line(line));
    gone.into_iter().filter(is_lost).map(str::to_owned).collect()
}

/// Puts lines of the list `before` back where they were, and returns how many: one whose commit is gone would break the
/// list.
pub fn put_back(path: &Path, before: &str, lost: &[String]) -> Result<usize, GitError> {
    let failed = |error: io::Error| GitError { doing: "stash".to_owned(), why: error.to_string() };
    let Some(git_dir) = discover(path).git_dir else { return Ok(0) };
    let is_there =
        |line: &&String| git(path, None, &["cat-file", "-e", commit_of_line(line)]).is_ok();
    let lost: Vec<&String> = lost.iter().filter(is_there).collect();
    if lost.is_empty() {
        return Ok(0);
    }
    let common = common_dir(&git_dir);
    under_lock(&common, || {
        let now = file::read_to_string(common.join(LOG)).unwrap_or_default();
        let is_wanted = |line: &&str| {
            let is_it = |other: &str| commit_of_line(other) == commit_of_line(line);
            lost.iter().any(|lost| is_it(lost)) || now.lines().any(is_it)
        };
        let known: HashSet<&str> = before.lines().map(commit_of_line).collect();
        let later = now.lines().filter(|line| !known.contains(commit_of_line(line)));
        write_list(&common, &before.lines().filter(is_wanted).chain(later).collect::<Vec<_>>())
    })
    .map_err(failed)?;
    Ok(lost.len())
}

/// The branches that the worktree at `path` had checked out, by its own log.
fn visited(path: &Path) -> Vec<String> {
    let place = discover(path);
    let log =
        place.git_dir.map(|dir| file::read_to_string(dir.join("logs/HEAD")).unwrap_or_default());
    let moves = |line: &str| {
        let (from, to) = line.split_once("checkout: moving from ")?.1.split_once(" to ")?;
        Some([from.to_owned(), to.to_owned()])
    };
    let mut branches: Vec<String> =
        log.unwrap_or_default().lines().filter_map(moves).flatten().collect();
    branches.extend(place.head.branch().map(str::to_owned));
    branches
}

/// The commit of a line of the list.
pub fn commit_of_line(line: &str) -> &str {
    line.split(' ').nth(1).unwrap_or_default()
}

/// When a line of the list was written, in seconds.
fn time_of(line: &str) -> Option<i64> {
    let who = line.split_once('\t').map_or(line, |(who, _)| who);
    who.rsplit(' ').nth(1)?.parse().ok()
}

/// The branch that a stash was made on; nothing where its line does not say. No branch has a colon in
/// its name.
fn branch_of(line: &str) -> &str {
    let what = line.split_once('\t').map_or("", |(_, what)| what);
    let on = what.strip_prefix("WIP on ").or_else(|| what.strip_prefix("On "));
    on.and_then(|on| on.split_once(':')).map_or("", |(branch, _)| branch)
}

fn take_off(common: &Path, is_theirs: &dyn Fn(&str) -> bool) -> io::Result<Vec<String>> {
    under_lock(common, || {
        let text = file::read_to_string(common.join(LOG))?;
        let (theirs, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| is_theirs(line));
        write_list(common, &rest)?;
        Ok(theirs.into_iter().map(|line| commit_of_line(line).to_owned()).collect())
    })
}

fn under_lock<T>(common: &Path, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let lock = common.join("refs/stash.lock");
    locked(&lock)?;
    let result = work();
    let _ = file::remove_file(&lock);
    result
}

fn locked(lock: &Path) -> io::Result<()> {
    for _ in 0..TRIES {
        match file::open_with(OpenOptions::new().write(true).create_new(true), lock) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                thread::sleep(Duration::from_millis(20));
            }
            made => return Ok(made.map(drop)?),
        }
    }
    Err(io::ErrorKind::WouldBlock.into())
}

/// Makes these lines the list.
fn write_list(common: &Path, lines: &[&str]) -> io::Result<()> {
    let (log, reference) = (common.join(LOG), common.join("refs/stash"));
    let Some(newest) = lines.last() else {
        file::remove_file(reference)?;
        return Ok(file::remove_file(log)?);
    };
    // Each line begins with what the one before it ends with.
    let mut before = "0".repeat(newest.split(' ').next().unwrap_or_default().len());
    let mut kept = String::new();
    for line in lines {
        let (_, end) = line.split_once(' ').unwrap_or_default();
        let _ = writeln!(kept, "{before} {end}");
        commit_of_line(line).clone_into(&mut before);
    }
    write_over(&log, &kept)?;
    write_over(&reference, &format!("{before}\n"))
}

fn write_over(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension("heirloom");
    file::write(&beside, text)?;
    Ok(file::rename(beside, path)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    #[test]
    fn what_an_agent_stashed_leaves_the_list_as_it_was() {
        let dir = TempDir::new().unwrap();
        let root = dir.path().join("repo");
        fs::create_dir(&root).unwrap();
        let git = |at: &Path, arguments: &[&str]| git(at, None, arguments).unwrap();
        git(&root, &["init", "-q", "-b", "main"]);
        fs::write(root.join("a.txt"), "one\n").unwrap();
        git(&root, &["add", "."]);
        git(&root, &["commit", "-q", "-m", "first"]);
        git(&root, &["branch", "feature"]);
        let tree = dir.path().join("tree");
        git(&root, &["worktree", "add", "-q", "-b", "ours/x", tree.to_str().unwrap()]);
        let stash = |at: &Path, text: &str| {
            fs::write(at.join("a.txt"), text).unwrap();
            git(at, &["stash", "push", "-q"]);
        };
        let look = || {
            let read = |name: &str| fs::read(root.join(".git").join(name)).ok();
            (read("refs/stash"), read(LOG))
        };
        let none = look();
        stash(&tree, "agent\n");
        assert_eq!(take(&tree, "", "x").unwrap().len(), 1);
        assert_eq!(look(), none);
        assert_eq!(git(&root, &["show", "refs/heirloom/stash/x/1:a.txt"]), "agent");
        // One of the person's own on a branch that the agent visits later is left alone.
        git(&root, &["checkout", "-q", "feature"]);
        stash(&root, "mine\n");
        git(&root, &["checkout", "-q", "main"]);
        let before = list(&root);
        stash(&tree, "agent 1\n");
        stash(&root, "mine too\n");
        git(&tree, &["checkout", "-q", "feature"]);
        stash(&tree, "agent 2\n");
        // Somebody who has the list keeps it from being changed, but not what is on it from being kept.
        let held = root.join(".git/refs/stash.lock");
        fs::write(&held, "").unwrap();
        assert!(take(&tree, &before, "x").is_err());
        let kept =
            |number: u32| git(&root, &["show", &format!("refs/heirloom/stash/x/{number}:a.txt")]);
        assert_eq!([kept(1), kept(2), kept(3)], ["agent", "agent 1", "agent 2"]);
        fs::remove_file(&held).unwrap();
        assert_eq!(take(&tree, &before, "x").unwrap().len(), 2);
        assert_eq!(take(&tree, &before, "x").unwrap().len(), 0);
        assert_eq!(git(&root, &["for-each-ref", "refs/heirloom/stash"]).lines().count(), 3);
        assert_eq!(git(&root, &["stash", "list"]).lines().count(), 2);
        assert_eq!(git(&root, &["show", "stash@{0}:a.txt"]), "mine too");
        assert_eq!(git(&root, &["show", "stash@{1}:a.txt"]), "mine");
        git(&root, &["stash", "pop", "-q"]);
        git(&root, &["fsck"]);
    }

    #[test]
    fn what_an_agent_takes_off_the_list_can_be_put_back_to_the_byte() {
        let dir = TempDir::new().unwrap();
        let root = dir.path().join("repo");
        fs::create_dir(&root).unwrap();
        let git = |at: &Path, arguments: &[&str]| git(at, None, arguments).unwrap();
        git(&root, &["init", "-q", "-b", "main"]);
        fs::write(root.join("a.txt"), "one\n").unwrap();
        git(&root, &["add", "."]);
        git(&root, &["commit", "-q", "-m", "first"]);
        let tree = dir.path().join("tree");
        git(&root, &["worktree", "add", "-q", "-b", "heirloom/issue/x", tree.to_str().unwrap()]);
        let stash = |at: &Path, text: &str| {
            fs::write(at.join("a.txt"), text).unwrap();
            git(at, &["stash", "push", "-q"]);
        };
        let look = || {
            let read = |name: &str| fs::read(root.join(".git").join(name)).ok();
            (read("refs/stash"), read(LOG))
        };
        stash(&root, "mine 1\n");
        stash(&root, "mine 2\n");
        let (before, bytes) = (list(&root), look());
        for does in [
            &["stash", "pop", "-q"][..],
            &["stash", "drop", "-q", "stash@{1}"],
            &["stash", "clear"],
        ] {
            git(&tree, does);
            let lost = missing(&tree, &before);
            assert!(!lost.is_empty(), "{does:?}");
            assert_eq!(put_back(&tree, &before, &lost).unwrap(), lost.len());
            assert_eq!(look(), bytes, "{does:?}");
            git(&tree, &["checkout", "-q", "--", "."]);
        }
        // What is collected while it is off the list would be lost for good.
        let gone = || {
            git(&tree, &["stash", "clear"]);
            git(&tree, &["reflog", "expire", "--expire=now", "--all"]);
            git(&tree, &["gc", "-q", "--prune=now"]);
            put_back(&tree, &before, &missing(&tree, &before)).unwrap()
        };
        hold(&root, "me", &before.lines().collect::<Vec<_>>()).unwrap();
        assert_eq!((gone(), look() == bytes), (2, true));
        release(&root, "me").unwrap();
        assert_eq!(git(&root, &["for-each-ref", HELD]), "");
        git(&root, &["fsck"]);
        // Its own stashes are not missed, and what came meanwhile stays on top.
        stash(&tree, "agent\n");
        let with_agents = list(&root);
        assert_eq!(take(&tree, &before, "x").unwrap().len(), 1);
        assert_eq!(missing(&tree, &with_agents), [""; 0]);
        git(&tree, &["stash", "drop", "-q", "stash@{1}"]);
        stash(&root, "mine 3\n");
        put_back(&tree, &before, &missing(&tree, &before)).unwrap();
        let texts = ["mine 3", "mine 2", "mine 1"];
        for (number, text) in texts.iter().enumerate() {
            assert_eq!(git(&root, &["show", &format!("stash@{{{number}}}:a.txt")]), *text);
        }
        git(&root, &["fsck"]);
        let before = list(&root);
        git(&tree, &["stash", "clear"]);
        git(&tree, &["reflog", "expire", "--expire=now", "--all"]);
        git(&tree, &["gc", "-q", "--prune=now"]);
        assert_eq!(put_back(&tree, &before, &missing(&tree, &before)).unwrap(), 0);
        assert_eq!(list(&root), "", "no stash is better than one that cannot be read");
    }

    #[test]
    fn what_was_held_for_those_who_are_gone_is_let_go_but_nothing_that_is_nowhere_else() {
        let dir = TempDir::new().unwrap();
        let root = dir.path();
        let git = |arguments: &[&str]| git(root, None, arguments).unwrap();
        git(&["init", "-q", "-b", "main"]);
        fs::write(root.join("a.txt"), "one\n").unwrap();
        git(&["add", "."]);
        git(&["commit", "-q", "-m", "first"]);
        for text in ["mine 1\n", "mine 2\n"] {
            fs::write(root.join("a.txt"), text).unwrap();
            git(&["stash", "push", "-q"]);
        }
        assert_eq!(release_gone(root, |_| true).unwrap(), [""; 0], "nothing is held");
        let before = list(root);
        let lines: Vec<&str> = before.lines().collect();
        for holder in ["alive", "dead"] {
            hold(root, holder, &lines).unwrap();
        }
        // As versions before this one did it.
        let commit = commit_of_line(lines[0]);
        git(&["update-ref", &format!("{HELD}/{commit}"), commit]);
        git(&["stash", "drop", "-q"]);
        git(&["pack-refs", "--all"]);
        let gone = commit_of_line(lines[1]);
        assert_eq!(release_gone(root, |holder| holder != "alive").unwrap(), [gone]);
        let held = git(&["for-each-ref", "--format=%(refname)", HELD]);
        assert_eq!(held.lines().count(), 2, "{held}");
        assert!(held.lines().all(|name| name.starts_with("refs/heirloom/held/alive/")), "{held}");
        assert_eq!(git(&["rev-parse", "refs/heirloom/stash/missing/1"]), gone);
        // It is said once.
        hold(root, "dead", &lines).unwrap();
        assert_eq!(release_gone(root, |holder| holder != "alive").unwrap(), [""; 0]);
        release(root, "alive").unwrap();
        assert_eq!(git(&["for-each-ref", HELD]), "");
    }

    #[test]
    fn what_was_stashed_since_a_time_is_taken_without_the_list_from_before() {
        let dir = TempDir::new().unwrap();
        let root = dir.path().join("repo");
        fs::create_dir(&root).unwrap();
        let git = |at: &Path, arguments: &[&str]| git(at, None, arguments).unwrap();
        git(&root, &["init", "-q", "-b", "main"]);
        fs::write(root.join("a.txt"), "one\n").unwrap();
        git(&root, &["add", "."]);
        git(&root, &["commit", "-q", "-m", "first"]);
        let tree = dir.path().join("tree");
        git(&root, &["worktree", "add", "-q", "-b", "heirloom/issue/x", tree.to_str().unwrap()]);
        for (at, text) in [(&tree, "old\n"), (&tree, "new\n"), (&root, "mine\n")] {
            fs::write(at.join("a.txt"), text).unwrap();
            git(at, &["stash", "push", "-q"]);
        }
        let [old, new, mine] = [0, 1, 2].map(|n| list(&root).lines().nth(n).unwrap().to_owned());
        // The first one is from long ago.
        let aged = format!("{} <a@b> 1000 +0000\tWIP", old.split_once(" <").unwrap().0);
        let end = old.split_once("\tWIP").unwrap().1;
        let log = root.join(".git").join(LOG);
        fs::write(log, format!("{aged}{end}\n{new}\n{mine}\n")).unwrap();
        assert_eq!(take_since(&tree, 2000, "x").unwrap(), [commit_of_line(&new)]);
        let left: Vec<String> = list(&root).lines().map(|l| commit_of_line(l).to_owned()).collect();
        assert_eq!(left, [commit_of_line(&old), commit_of_line(&mine)]);
        // One of the person's own on a branch that the agent had visited is theirs.
        git(&tree, &["checkout", "-q", "-b", "feature"]);
        git(&tree, &["checkout", "-q", "heirloom/issue/x"]);
        git(&root, &["checkout", "-q", "feature"]);
        fs::write(root.join("a.txt"), "mine too\n").unwrap();
        git(&root, &["stash", "push", "-q"]);
        assert_eq!(take_since(&tree, 2000, "x").unwrap(), [""; 0]);
        assert_eq!(git(&root, &["show", "stash@{0}:a.txt"]), "mine too");
    }
}
