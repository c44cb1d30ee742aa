//! The shapes in which the programs answer.
//!
//! They drift: a bare list in one version is an object around it in the next. What is around it may
//! change, but there has to be a list of issues. Anything else is an error, and never "none".

use heirloom_core::issue::{Issue, IssueId, read};
use serde_json::Value;

/// What has been seen around a list of issues, or an issue.
const AROUND: [&str; 12] = [
    "issues",
    "data",
    "result",
    "results",
    "items",
    "ready",
    "blocked",
    "blocked_issues",
    "updated",
    "created",
    "closed",
    "issue",
];

/// How deep lists have been seen inside of each other.
const DEEPEST: usize = 3;

/// A part of what a program has, or all of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// The issues, each as it came.
    pub(super) items: Vec<Value>,
    /// Whether there are more.
    pub(super) more: bool,
}

/// The issues of an answer, and whether they are all.
pub(super) fn page(answer: Value) -> Result<Page, String> {
    let more = is_part(&answer, DEEPEST);
    let items = list(answer, DEEPEST).ok_or_else(|| "there is no list of issues in it".to_owned());
    Ok(Page { items: items?, more })
}

/// Whether it says, wherever it says such things, that it is not all.
fn is_part(value: &Value, depth: usize) -> bool {
    let Value::Object(fields) = value else { return false };
    let says = |mark: &&str| fields.get(*mark) == Some(&Value::Bool(true));
    ["has_more", "truncated"].iter().any(says)
        || (depth > 0
            && AROUND.iter().filter_map(|name| fields.get(*name)).any(|it| is_part(it, depth - 1)))
}

/// The issues of an answer that is all there is.
fn items(answer: Value) -> Result<Vec<Value>, String> {
    match page(answer)? {
        Page { items, more: false } => Ok(items),
        Page { .. } => Err("it answered only a part of what it has".to_owned()),
    }
}

fn list(value: Value, depth: usize) -> Option<Vec<Value>> {
    match value {
        Value::Array(items) => Some(items),
        Value::Object(fields) if fields.contains_key("id") => Some(vec![Value::Object(fields)]),
        Value::Object(mut fields) if depth > 0 => {
            let inner = AROUND.iter().find_map(|name| fields.remove(*name))?;
            list(inner, depth - 1)
        }
        _ => None,
    }
}

/// The issues of an answer.
pub(super) fn issues(answer: Value) -> Result<Vec<Issue>, String> {
    read_all(items(answer)?)
}

/// Issues, each as it came.
pub(super) fn read_all(items: Vec<Value>) -> Result<Vec<Issue>, String> {
    let one = |item| read(item).map_err(|why| format!("an issue of it: {why}"));
    items.into_iter().map(one).collect()
}

/// The id of an item of a list, by which it is known whether it was there before.
pub(super) fn id(item: &Value) -> Option<&str> {
    item.get("issue").unwrap_or(item).get("id")?.as_str()
}

/// The issue that another one is a part of: among its dependencies, or in a field of its own.
pub(super) fn parent(issue: &Issue) -> Option<IssueId> {
    let said = || issue.extra.get("parent")?.as_str()?.parse().ok();
    issue.parent().cloned().or_else(said)
}

/// How many issues one depends on, as far as a list says it.
pub(super) fn dependency_count(issue: &Issue) -> u64 {
    issue.extra.get("dependency_count").and_then(Value::as_u64).unwrap_or(0)
}

/// The issue of an item of `blocked`, and what blocks it.
///
/// What blocks it is an id, an id and its status (`bd-1:open`), or an object with an id.
pub(super) fn blocked(item: &Value) -> Result<(IssueId, Vec<IssueId>), String> {
    let issue = item.get("issue").unwrap_or(item);
    let id = issue.get("id").and_then(Value::as_str).ok_or("an item of it has no id")?;
    let blockers = item.get("blocked_by").and_then(Value::as_array);
    let blockers = blockers.ok_or_else(|| format!("{id} has no `blocked_by`"))?;
    let blocker = |blocker: &Value| {
        let text = blocker.as_str().or_else(|| blocker.get("id")?.as_str());
        let text = text.ok_or_else(|| format!("what blocks {id} has no id"))?;
        parse(text.split(':').next().unwrap_or_default())
    };
    Ok((parse(id)?, blockers.iter().map(blocker).collect::<Result<_, _>>()?))
}

fn parse(id: &str) -> Result<IssueId, String> {
    id.parse::<IssueId>().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_list_is_found_whatever_is_around_it() {
        let one = json!({"id": "bd-1", "title": "t"});
        for answer in [
            json!([one]),
            json!({"issues": [one], "total": 1, "has_more": false}),
            json!({"schema_version": 1, "data": [one]}),
            json!({"schema_version": 2, "data": {"issues": [one]}}),
            json!({"updated": [one], "warnings": []}),
            json!({"created": one, "warnings": []}),
            json!({"issue": one}),
            one.clone(),
        ] {
            assert_eq!(items(answer.clone()), Ok(vec![one.clone()]), "{answer}");
        }
        assert_eq!(items(json!([])), Ok(vec![]));
        assert_eq!(items(json!({"issues": []})), Ok(vec![]));
    }

    #[test]
    fn anything_else_is_not_taken_for_an_empty_list() {
        for answer in [
            json!(null),
            json!({}),
            json!("none"),
            json!(0),
            json!({"count": 0}),
            json!({"issues": null}),
            json!({"issues": "none"}),
            json!({"issues": [], "has_more": true}),
            json!({"data": {"issues": [], "truncated": true}}),
        ] {
            assert!(items(answer.clone()).is_err(), "{answer}");
        }
        assert!(issues(json!([{"id": "bd-1"}])).unwrap_err().contains("it has no `title`"));
        assert!(issues(json!([1])).is_err());
    }

    #[test]
    fn what_blocks_comes_in_three_shapes() {
        let ids = |item| {
            let (id, blockers) = blocked(&item).unwrap();
            format!("{id}: {}", blockers.iter().map(IssueId::as_str).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(ids(json!({"id": "a", "blocked_by": ["b", "c:open"]})), "a: b c");
        let whole = json!({"issue": {"id": "a"}, "blocked_by": [{"id": "b", "status": "open"}]});
        assert_eq!(ids(whole), "a: b");
        assert!(blocked(&json!({"id": "a"})).is_err());
        assert!(blocked(&json!({"id": "a", "blocked_by": [7]})).is_err());
    }
}
