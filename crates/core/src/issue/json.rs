//! Issues as JSON, in the shape of a line of beads' `issues.jsonl`.

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::id::IssueId;
use super::model::{Comment, Dependency, Issue};
use super::status::IssueStatus;

/// Why a JSON value is not an issue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadIssue {
    #[error("it is not JSON: {why}")]
    NotJson {
        /// What is wrong with it.
        why: String,
    },
    /// It is not an object.
    #[error("it is not an object")]
    NotAnObject,
    /// It has a field twice, so nobody can say which one counts.
    #[error("it has `{field}` twice")]
    Twice { field: String },
    /// A field that every issue has is not there.
    #[error("it has no `{field}`")]
    Missing { field: &'static str },
    /// A field is not what it should be.
    #[error("its `{field}` cannot be read: {why}")]
    Field {
        field: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

impl From<serde_json::Error> for BadIssue {
    fn from(error: serde_json::Error) -> Self {
        if error.is_data() { Self::NotAnObject } else { Self::NotJson { why: error.to_string() } }
    }
}

/// Reads an issue from its text.
pub fn read_text(text: &str) -> Result<Issue, BadIssue> {
    read(serde_json::from_str(text)?)
}

/// Reads an issue. Fields that are not known are kept, not judged.
pub fn read(value: Value) -> Result<Issue, BadIssue> {
    let Value::Object(mut fields) = value else { return Err(BadIssue::NotAnObject) };
    let fields = &mut fields;
    let created_at = time(fields, "created_at")?.unwrap_or(Timestamp::UNIX_EPOCH);
    Ok(Issue {
        id: needed(fields, "id")?,
        title: needed(fields, "title")?,
        description: text(fields, "description")?,
        design: text(fields, "design")?,
        acceptance_criteria: text(fields, "acceptance_criteria")?,
        notes: text(fields, "notes")?,
        status: take(fields, "status")?.unwrap_or(IssueStatus::Open),
        priority: take(fields, "priority")?.unwrap_or(2),
        issue_type: text(fields, "issue_type")?.unwrap_or_else(|| "task".to_owned()),
        assignee: text(fields, "assignee")?,
        created_by: text(fields, "created_by")?,
        updated_at: time(fields, "updated_at")?.unwrap_or(created_at),
        closed_at: time(fields, "closed_at")?,
        close_reason: text(fields, "close_reason")?,
        closed_by_session: text(fields, "closed_by_session")?,
        defer_until: time(fields, "defer_until")?,
        labels: take(fields, "labels")?.unwrap_or_default(),
        dependencies: dependencies(fields)?,
        comments: take::<Vec<Comment>>(fields, "comments")?.unwrap_or_default(),
        created_at,
        extra: std::mem::take(fields),
    })
}

fn take<T: DeserializeOwned>(
    fields: &mut Map<String, Value>,
    field: &'static str,
) -> Result<Option<T>, BadIssue> {
    match fields.shift_remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => serde_json::from_value(value)
            .map(Some)
            .map_err(|error| BadIssue::Field { field, why: error.to_string() }),
    }
}

/// A time. Some write an empty text where there is none.
fn time(
    fields: &mut Map<String, Value>,
    field: &'static str,
) -> Result<Option<Timestamp>, BadIssue> {
    if fields.get(field).and_then(Value::as_str) == Some("") {
        fields.shift_remove(field);
    }
    take(fields, field)
}

fn needed<T: DeserializeOwned>(
    fields: &mut Map<String, Value>,
    field: &'static str,
) -> Result<T, BadIssue> {
    take(fields, field)?.ok_or(BadIssue::Missing { field })
}

fn text(fields: &mut Map<String, Value>, field: &'static str) -> Result<Option<String>, BadIssue> {
    Ok(take::<String>(fields, field)?.filter(|text| !text.is_empty()))
}

fn dependencies(fields: &mut Map<String, Value>) -> Result<Vec<Dependency>, BadIssue> {
    let items = take::<Vec<Value>>(fields, "dependencies")?.unwrap_or_default();
    items.iter().map(read_dependency).collect()
}

/// Reads one dependency of a line.
pub(super) fn dependency(item: &RawValue) -> Result<Dependency, BadIssue> {
    read_dependency(&serde_json::from_str(item.get())?)
}

/// Dependencies come in two shapes: as lines of the file have them (`depends_on_id`, `type`), and as
/// `show` prints them (`id`, `dependency_type`).
fn read_dependency(item: &Value) -> Result<Dependency, BadIssue> {
    let word = |names: [&str; 2]| names.iter().find_map(|name| item.get(name)?.as_str());
    let bad = |why: String| BadIssue::Field { field: "dependencies", why };
    let id = word(["depends_on_id", "id"]).ok_or_else(|| bad("an entry has no id".to_owned()))?;
    let depends_on = id.parse::<IssueId>().map_err(|error| bad(error.to_string()))?;
    let kind = word(["type", "dependency_type"]).unwrap_or(Dependency::BLOCKS).to_owned();
    Ok(Dependency { depends_on, kind })
}

/// Writes an issue: known fields in the usual order, what is empty left out, the rest behind.
pub fn write(issue: &Issue) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| {
        let is_empty = match &value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            _ => false,
        };
        if !is_empty {
            fields.insert(name.to_owned(), value);
        }
    };
    put("id", json!(issue.id));
    put("title", json!(issue.title));
    put("description", json!(issue.description));
    put("design", json!(issue.design));
    put("acceptance_criteria", json!(issue.acceptance_criteria));
    put("notes", json!(issue.notes));
    put("status", json!(issue.status));
    put("priority", json!(issue.priority));
    put("issue_type", json!(issue.issue_type));
    put("assignee", json!(issue.assignee));
    put("created_at", json!(issue.created_at));
    put("created_by", json!(issue.created_by));
    put("updated_at", json!(issue.updated_at));
    put("closed_at", json!(issue.closed_at));
    put("close_reason", json!(issue.close_reason));
    put("closed_by_session", json!(issue.closed_by_session));
    put("defer_until", json!(issue.defer_until));
    for (name, value) in &issue.extra {
        put(name, value.clone());
    }
    put("labels", json!(issue.labels));
    put(
        "dependencies",
        Value::Array(issue.dependencies.iter().map(|on| edge(issue, on)).collect()),
    );
    put("comments", json!(issue.comments));
    Value::Object(fields)
}

fn edge(issue: &Issue, dependency: &Dependency) -> Value {
    json!({
        "issue_id": issue.id,
        "depends_on_id": dependency.depends_on,
        "type": dependency.kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issue_survives_being_read_and_written() {
        let line = json!({
            "id": "bd-a1", "title": "Fix", "description": "d", "status": "deferred", "priority": 1,
            "issue_type": "bug", "created_at": "2026-01-01T00:00:00.000000001Z",
            "updated_at": "2026-01-02T00:00:00Z", "source_repo": ".", "agent_context": {"a": [1]},
            "labels": ["x"],
            "dependencies": [{"issue_id": "bd-a1", "depends_on_id": "bd-b2", "type": "blocks"}],
            "comments": [{"author": "ada", "text": "hm", "created_at": "2026-01-01T00:00:00Z"}],
        });
        let issue = read(line.clone()).unwrap();
        assert_eq!(issue.status, IssueStatus::Other("deferred".to_owned()));
        assert_eq!(issue.extra.len(), 2);
        assert_eq!(write(&issue), line);
    }

    #[test]
    fn what_is_missing_has_its_usual_value() {
        let empty = json!({"id": "a", "title": "t", "assignee": null, "closed_at": ""});
        let issue = read(empty).unwrap();
        assert_eq!((issue.closed_at, issue.extra.len()), (None, 0));
        assert_eq!((issue.priority, issue.issue_type.as_str()), (2, "task"));
        assert_eq!(issue.status, IssueStatus::Open);
        let shown = json!({"id": "a", "title": "t",
            "dependencies": [{"id": "b", "title": "x", "dependency_type": "parent-child"}]});
        assert_eq!(read(shown).unwrap().parent().unwrap().as_str(), "b");
    }

    #[test]
    fn what_cannot_be_an_issue_says_why() {
        let said = |value| read(value).unwrap_err().to_string();
        assert_eq!(said(json!([])), "it is not an object");
        assert_eq!(said(json!({"title": "t"})), "it has no `id`");
        assert_eq!(
            said(json!({"id": "../x", "title": "t"})),
            "its `id` cannot be read: `../x` is not an issue id: \
             use letters, digits, `.`, `_` and `-`"
        );
        assert!(
            said(json!({"id": "a", "title": "t", "priority": "high"}))
                .starts_with("its `priority`")
        );
    }
}
