//! Lineage: a session's ancestors, nearest first.
//!
//! A chain of parents comes from outside and may be wrong. Walking it always ends: at the root, at
//! the depth that was asked for, at a parent nobody knows, or where the chain bites its own tail.
//! None of these is an error; each is told to the caller, who warns.

use std::collections::HashSet;
use std::hash::Hash;

/// How deep inheritance walks unless told otherwise.
pub const INHERITANCE_DEPTH: usize = 3;

/// The ancestors that were found, and why the walk ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lineage<T, K> {
    /// Nearest first.
    pub ancestors: Vec<T>,
    /// Why there are no more.
    pub end: End<K>,
}

/// Why a walk ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End<K> {
    /// The last ancestor has no parent.
    Root,
    /// There are more ancestors, from this one on.
    Depth(K),
    /// The last ancestor names itself or an earlier one as its parent.
    Cycle(K),
    /// The last ancestor names a parent that is not known.
    Missing(K),
}

/// Walks up from `start`, whose parent is `parent`, through at most `depth` ancestors.
///
/// `look_up` returns an ancestor and its own parent, or nothing if it is not known.
pub fn walk<T, K, E>(
    start: K,
    parent: Option<K>,
    depth: usize,
    mut look_up: impl FnMut(&K) -> Result<Option<(T, Option<K>)>, E>,
) -> Result<Lineage<T, K>, E>
where
    K: Clone + Eq + Hash,
{
    let mut seen = HashSet::from([start]);
    let mut ancestors = Vec::new();
    let mut next = parent;
    let end = loop {
        let Some(key) = next else { break End::Root };
        if seen.contains(&key) {
            break End::Cycle(key);
        }
        if ancestors.len() >= depth {
            break End::Depth(key);
        }
        let Some((ancestor, parent)) = look_up(&key)? else { break End::Missing(key) };
        ancestors.push(ancestor);
        seen.insert(key);
        next = parent;
    };
    Ok(Lineage { ancestors, end })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;
    use std::convert::Infallible;

    type Parents = HashMap<u8, Option<u8>>;

    fn lineage(parents: &Parents, start: u8, depth: usize) -> Lineage<u8, u8> {
        let parent = parents.get(&start).copied().flatten();
        let Ok(lineage) = walk(start, parent, depth, |key| {
            Ok::<_, Infallible>(parents.get(key).map(|parent| (*key, *parent)))
        });
        lineage
    }

    #[test]
    fn ancestors_come_nearest_first() {
        let parents = Parents::from([(3, Some(2)), (2, Some(1)), (1, None)]);
        let found = lineage(&parents, 3, 10);
        assert_eq!(found, Lineage { ancestors: vec![2, 1], end: End::Root });
    }

    #[test]
    fn a_walk_stops_at_the_depth_it_was_given() {
        let parents = Parents::from([(4, Some(3)), (3, Some(2)), (2, Some(1)), (1, None)]);
        assert_eq!(lineage(&parents, 4, 2), Lineage { ancestors: vec![3, 2], end: End::Depth(1) });
        assert_eq!(lineage(&parents, 4, 3), Lineage { ancestors: vec![3, 2, 1], end: End::Root });
    }

    #[test]
    fn a_chain_that_bites_its_tail_ends_with_each_session_once() {
        let parents = Parents::from([(1, Some(2)), (2, Some(1))]);
        assert_eq!(lineage(&parents, 1, 9), Lineage { ancestors: vec![2], end: End::Cycle(1) });
        let own = Parents::from([(1, Some(1))]);
        assert_eq!(lineage(&own, 1, 9), Lineage { ancestors: vec![], end: End::Cycle(1) });
    }

    #[test]
    fn an_unknown_parent_ends_the_walk_and_is_named() {
        let parents = Parents::from([(2, Some(1))]);
        assert_eq!(lineage(&parents, 2, 9), Lineage { ancestors: vec![], end: End::Missing(1) });
    }

    proptest! {
        #[test]
        fn every_walk_ends_with_no_session_twice(
            parents in prop::collection::hash_map(0u8..12, prop::option::of(0u8..14), 0..12),
            start in 0u8..12,
            depth in 0usize..15,
        ) {
            let found = lineage(&parents, start, depth);
            let distinct: HashSet<_> = found.ancestors.iter().collect();
            prop_assert_eq!(distinct.len(), found.ancestors.len());
            prop_assert!(!distinct.contains(&start));
            prop_assert!(found.ancestors.len() <= depth);
        }
    }
}
