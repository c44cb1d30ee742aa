//! Whether a directory is given the history of the keys it claims.
//!
//! The key file is text that a stranger may have written: who puts the key of somebody's private
//! repository into a public one must not be shown what was learned in the private one. So what is
//! recorded under a key here is opened only to a directory that this host knows already, or that
//! comes from where the key's repository is known to come from. Everything else is a person's
//! decision.

use super::{RepoId, RepoKey};

/// What this host knows of a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirectoryHistory {
    /// The repository that was in this very directory, whatever its path was.
    pub by_inode: Option<RepoId>,
    /// The repository that was at this path.
    pub by_path: Option<RepoId>,
    /// Whether that one is at another path now, and so is not what is here, unless that says so itself.
    pub has_moved: bool,
}

/// A key that a directory claims, and what this host knows about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub key: RepoKey,
    /// The repository it means here: another one where the key was linked to that.
    pub id: RepoId,
    /// Whether anything is recorded under it.
    pub has_history: bool,
    /// Whether the directory comes from where the key's repository is known to come from.
    pub is_vouched_for: bool,
}

/// What a directory is from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    /// The repository.
    pub id: RepoId,
    /// What else was recorded of the same directory or under its other keys, and belongs to it.
    pub links: Vec<RepoId>,
    /// The keys whose history it is not given.
    pub refused: Vec<RepoKey>,
}

/// Decides what the directory at `path` is. `own` makes the id of one that is given no other.
pub fn join(
    path: &str,
    known: &DirectoryHistory,
    claims: &[Claim],
    own: impl FnOnce() -> RepoKey,
) -> Joined {
    let is_known =
        |id: &RepoId| [&known.by_inode, &known.by_path].into_iter().flatten().any(|k| k == id);
    let is_open =
        |claim: &&Claim| is_known(&claim.id) || claim.is_vouched_for || !claim.has_history;
    let refused: Vec<RepoKey> =
        claims.iter().filter(|claim| !is_open(claim)).map(|claim| claim.key.clone()).collect();
    let mut open: Vec<&Claim> = claims.iter().filter(is_open).collect();
    open.sort_by(|one, other| one.key.cmp(&other.key));
    let Some(current) = open.first().map(|claim| claim.id.clone()) else {
        return Joined { id: without_a_key(path, known, claims, own), links: Vec::new(), refused };
    };
    // Another directory at the same path is another repository. Where nothing but the path was ever
    // known, the path is all there is to go by.
    let by_path = known.by_path.clone().filter(|id| id.key().is_none() && !known.has_moved);
    let mut links: Vec<RepoId> = open.iter().map(|claim| claim.id.clone()).collect();
    links.extend(known.by_inode.clone());
    links.extend(by_path);
    links.sort_unstable();
    links.dedup();
    links.retain(|id| *id != current);
    Joined { id: current, links, refused }
}

fn without_a_key(
    path: &str,
    known: &DirectoryHistory,
    claims: &[Claim],
    own: impl FnOnce() -> RepoKey,
) -> RepoId {
    let goes_by_path = claims.is_empty() && !known.has_moved;
    let by_path = known.by_path.clone().filter(|_| goes_by_path);
    match known.by_inode.clone().or(by_path) {
        Some(known) => known,
        None if goes_by_path => RepoId::new(path),
        None => own().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "/src/pay";

    fn key(n: u8) -> RepoKey {
        RepoKey::from_random([n; 16])
    }

    fn id(n: u8) -> RepoId {
        key(n).into()
    }

    fn claim(n: u8) -> Claim {
        Claim { key: key(n), id: id(n), has_history: true, is_vouched_for: false }
    }

    fn decide(known: &DirectoryHistory, claims: &[Claim]) -> Joined {
        join(PATH, known, claims, || key(99))
    }

    fn by_inode(n: u8) -> DirectoryHistory {
        DirectoryHistory { by_inode: Some(id(n)), ..DirectoryHistory::default() }
    }

    fn by_path(id: RepoId) -> DirectoryHistory {
        DirectoryHistory { by_path: Some(id), ..DirectoryHistory::default() }
    }

    fn joined(n: u8, links: &[RepoId]) -> Joined {
        Joined { id: id(n), links: links.to_vec(), refused: Vec::new() }
    }

    #[test]
    fn what_nobody_set_up_goes_by_its_path_and_follows_its_directory() {
        let nothing = DirectoryHistory::default();
        assert_eq!(decide(&nothing, &[]).id, RepoId::new(PATH));
        let moved = DirectoryHistory { by_inode: Some(RepoId::new("/old/pay")), ..nothing };
        assert_eq!(decide(&moved, &[]).id, RepoId::new("/old/pay"));
    }

    #[test]
    fn a_key_without_history_here_is_taken_as_it_is() {
        let fresh = Claim { has_history: false, ..claim(1) };
        assert_eq!(decide(&DirectoryHistory::default(), &[fresh]), joined(1, &[]));
    }

    #[test]
    fn a_stranger_is_not_given_the_history_of_the_key_it_claims() {
        let decided = decide(&DirectoryHistory::default(), &[claim(1)]);
        assert_eq!(decided, Joined { id: id(99), links: vec![], refused: vec![key(1)] });
        // Not even at the path where another repository was.
        let there = by_path(id(2));
        assert_eq!(decide(&there, &[claim(1)]).id, id(99));
    }

    #[test]
    fn who_is_known_by_path_or_directory_or_comes_from_the_same_place_joins() {
        let at_path = by_path(id(1));
        let vouched = Claim { is_vouched_for: true, ..claim(1) };
        assert_eq!(decide(&at_path, &[claim(1)]), joined(1, &[]));
        assert_eq!(decide(&by_inode(1), &[claim(1)]), joined(1, &[]));
        assert_eq!(decide(&DirectoryHistory::default(), &[vouched]), joined(1, &[]));
    }

    #[test]
    fn history_from_before_the_key_comes_along() {
        let before = by_path(RepoId::new(PATH));
        let fresh = Claim { has_history: false, ..claim(1) };
        assert_eq!(decide(&before, &[fresh]), joined(1, &[RepoId::new(PATH)]));
    }

    #[test]
    fn of_two_keys_in_one_file_the_smaller_is_current_and_the_other_its_alias() {
        let theirs = Claim { has_history: false, ..claim(1) };
        assert_eq!(decide(&by_inode(2), &[claim(2), theirs]), joined(1, &[id(2)]));
    }

    #[test]
    fn a_repository_does_not_get_hold_of_another_by_adding_its_key() {
        let decided = decide(&by_inode(2), &[claim(1), claim(2)]);
        assert_eq!(decided, Joined { id: id(2), links: vec![], refused: vec![key(1)] });
    }

    #[test]
    fn another_repository_at_the_same_path_takes_nothing_over() {
        let there = by_path(id(2));
        let fresh = Claim { has_history: false, ..claim(1) };
        assert_eq!(decide(&there, &[fresh]), joined(1, &[]));
    }

    #[test]
    fn what_is_where_a_repository_was_moved_away_from_is_another_unless_it_has_its_key() {
        for (moved, fresh) in [(id(2), 1), (RepoId::new(PATH), 1)] {
            let there = DirectoryHistory { has_moved: true, ..by_path(moved) };
            assert_eq!(decide(&there, &[]), joined(99, &[]));
            let fresh = Claim { has_history: false, ..claim(fresh) };
            assert_eq!(decide(&there, &[fresh]), joined(1, &[]));
        }
        let there = DirectoryHistory { has_moved: true, ..by_path(id(2)) };
        assert_eq!(decide(&there, &[claim(2)]), joined(2, &[]));
    }

    #[test]
    fn what_a_person_linked_stays_linked() {
        let linked = Claim { id: id(3), ..claim(1) };
        assert_eq!(decide(&by_inode(3), &[linked]), joined(3, &[]));
    }
}
