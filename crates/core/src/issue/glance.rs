//! A quick look at a line: what choosing needs of it, and nothing else.
//!
//! A backlog of ten thousand lines is looked at for a few fields of each. Whatever a quick look
//! cannot make out is read properly, so that both always agree.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Deserialize;

use super::backlog::{Edge, Entry};
use super::json::{BadIssue, read_text};
use super::model::Dependency;
use super::status::IssueStatus;

#[derive(Deserialize)]
struct Quick<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    title: Cow<'a, str>,
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    priority: Option<u8>,
    #[serde(borrow)]
    issue_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    assignee: Option<Cow<'a, str>>,
    created_at: Option<Timestamp>,
    defer_until: Option<Timestamp>,
    labels: Option<Vec<String>>,
    #[serde(borrow)]
    dependencies: Option<Vec<On<'a>>>,
}

#[derive(Deserialize)]
struct On<'a> {
    #[serde(borrow)]
    depends_on_id: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
}

/// What choosing needs of the issue that a line holds, and what it depends on.
pub fn glance(text: &str) -> Result<(Entry, Vec<Edge>), BadIssue> {
    let quick = serde_json::from_str::<Quick<'_>>(text).ok().and_then(Quick::entry);
    quick.map_or_else(
        || read_text(text).map(|issue| (Entry::of(&issue), Edge::of(&issue).collect())),
        Ok,
    )
}

impl Quick<'_> {
    fn entry(self) -> Option<(Entry, Vec<Edge>)> {
        let text =
            |text: Option<Cow<'_, str>>| text.map(Cow::into_owned).filter(|text| !text.is_empty());
        let id: super::IssueId = self.id.parse().ok()?;
        let edge = |on: On<'_>| {
            let depends_on = on.depends_on_id.parse().ok()?;
            Some(Edge { issue: id.clone(), depends_on, kind: on.kind.into_owned() })
        };
        let edges: Vec<Edge> =
            self.dependencies.unwrap_or_default().into_iter().map(edge).collect::<Option<_>>()?;
        let parent = edges.iter().find(|edge| edge.kind == Dependency::PARENT);
        let entry = Entry {
            title: self.title.into_owned(),
            status: self.status.map_or(IssueStatus::Open, |word| IssueStatus::of(&word)),
            priority: self.priority.unwrap_or(2),
            issue_type: text(self.issue_type).unwrap_or_else(|| "task".to_owned()),
            assignee: text(self.assignee),
            created_at: self.created_at.unwrap_or(Timestamp::UNIX_EPOCH),
            defer_until: self.defer_until,
            parent: parent.map(|edge| edge.depends_on.clone()),
            blocked_by: Vec::new(),
            labels: self.labels.unwrap_or_default(),
            held: false,
            id,
        };
        Some((entry, edges))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_look_sees_what_reading_sees() {
        for text in [
            r#"{"id":"a","title":"t"}"#,
            r#"{"id":"a","title":"\u00e4","status":"deferred","priority":0,"issue_type":"","assignee":"","labels":null,"x":{"y":[1,{}]}}"#,
            r#"{"id":"a","title":"t","assignee":"ada","created_at":"2026-01-01T00:00:00+01:00","defer_until":"2026-02-01T00:00:00Z","labels":["x","y"]}"#,
            r#"{"id":"a","title":"t","dependencies":[{"issue_id":"a","depends_on_id":"b","type":"blocks"},{"depends_on_id":"c","type":"parent-child"}]}"#,
            // As `show` prints them; and without a kind.
            r#"{"id":"a","title":"t","dependencies":[{"id":"b","dependency_type":"related"},{"depends_on_id":"c"}]}"#,
        ] {
            let issue = read_text(text).unwrap();
            let edges: Vec<Edge> = Edge::of(&issue).collect();
            assert_eq!(glance(text).unwrap(), (Entry::of(&issue), edges), "{text}");
        }
        for text in ["", "[]", "{}", r#"{"id":"../x","title":"t"}"#, r#"{"id":"a","title":7}"#] {
            assert_eq!(glance(text).unwrap_err(), read_text(text).unwrap_err(), "{text}");
        }
    }
}
