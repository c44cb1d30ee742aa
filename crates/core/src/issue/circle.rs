//! Circles: issues that would wait for each other for ever.

use std::collections::{HashMap, VecDeque};

use super::backlog::Edge;
use super::id::IssueId;
use super::model::Dependency;

/// The way from `issue` round to itself, if it came to depend on `on` as `kind` says.
///
/// Only what stands in the way can close a circle, and so can wholes and parts among each other;
/// two issues may be related as often as they like.
pub fn circle(edges: &[Edge], issue: &IssueId, on: &IssueId, kind: &str) -> Option<Vec<IssueId>> {
    let counts: fn(&str) -> bool = if kind == Dependency::PARENT {
        |kind| kind == Dependency::PARENT
    } else if Dependency::blocks(kind) {
        Dependency::blocks
    } else {
        return None;
    };
    if issue == on {
        return Some(vec![issue.clone(), on.clone()]);
    }
    let mut next: HashMap<&IssueId, Vec<&IssueId>> = HashMap::new();
    for edge in edges.iter().filter(|edge| counts(&edge.kind)) {
        next.entry(&edge.issue).or_default().push(&edge.depends_on);
    }
    let mut way = path(&next, on, issue)?;
    way.insert(0, issue.clone());
    Some(way)
}

/// The shortest way from one issue to another.
fn path(
    next: &HashMap<&IssueId, Vec<&IssueId>>,
    from: &IssueId,
    to: &IssueId,
) -> Option<Vec<IssueId>> {
    let mut before: HashMap<&IssueId, &IssueId> = HashMap::new();
    let mut open = VecDeque::from([from]);
    while let Some(at) = open.pop_front() {
        for step in next.get(at).into_iter().flatten().copied() {
            if step != from && !before.contains_key(step) {
                before.insert(step, at);
                open.push_back(step);
            }
        }
    }
    before.get(to)?;
    let mut way: Vec<IssueId> =
        std::iter::successors(Some(to), |at| before.get(*at).copied()).cloned().collect();
    way.reverse();
    Some(way)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(text: &str) -> Vec<Edge> {
        let edge = |line: &str| {
            let mut words = line.split_whitespace();
            let mut id = || words.next().unwrap().parse().unwrap();
            let (issue, depends_on) = (id(), id());
            Edge { issue, depends_on, kind: words.next().unwrap_or("blocks").to_owned() }
        };
        text.split(',').filter(|line| !line.trim().is_empty()).map(edge).collect()
    }

    fn round(known: &str, new: &str) -> Option<String> {
        let new = edges(new).remove(0);
        let way = circle(&edges(known), &new.issue, &new.depends_on, &new.kind)?;
        Some(way.iter().map(IssueId::as_str).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn the_way_round_is_the_shortest() {
        let known = "b c, c d, d a, b d waits-for";
        assert_eq!(round(known, "a b").as_deref(), Some("a b d a"));
        assert_eq!(round(known, "a e"), None);
        assert_eq!(round("", "a a").as_deref(), Some("a a"));
        // A circle that is there already is nobody's way to itself.
        assert_eq!(round("x y, y x", "a x"), None);
    }

    #[test]
    fn only_what_stands_in_the_way_closes_a_circle() {
        assert_eq!(round("b a related", "a b"), None);
        assert_eq!(round("b a", "a b related"), None);
        // A whole may wait for its part.
        assert_eq!(round("part epic parent-child", "epic part"), None);
        let parents = round("b a parent-child", "a b parent-child");
        assert_eq!(parents.as_deref(), Some("a b a"));
    }
}
