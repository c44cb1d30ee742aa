//! An issue as a line of JSON that is changed in place.
//!
//! Other programs keep things in their lines that are none of ours. Whatever a change does not name
//! stays to the letter and where it is: fields nobody here knows, numbers as they were written, the
//! order of everything.

use std::fmt;

use jiff::Timestamp;
use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::id::IssueId;
use super::json::{self, BadIssue};
use super::model::{Comment, Dependency, Issue};

const DEPENDENCIES: &str = "dependencies";
const COMMENTS: &str = "comments";

/// The order in which beads writes its fields: a new one goes where it would have been.
const ORDER: [&str; 37] = [
    "id",
    "title",
    "description",
    "design",
    "acceptance_criteria",
    "prerequisites",
    "notes",
    "status",
    "priority",
    "issue_type",
    "assignee",
    "owner",
    "estimated_minutes",
    "created_at",
    "created_by",
    "updated_at",
    "closed_at",
    "close_reason",
    "closed_by_session",
    "due_at",
    "defer_until",
    "external_ref",
    "source_system",
    "source_repo",
    "deleted_at",
    "deleted_by",
    "delete_reason",
    "original_type",
    "compaction_level",
    "original_size",
    "sender",
    "ephemeral",
    "pinned",
    "is_template",
    "labels",
    DEPENDENCIES,
    COMMENTS,
];

/// A line of JSON that holds an issue.
#[derive(Debug, Clone)]
pub struct Line {
    fields: Vec<(String, Box<RawValue>)>,
}

impl Line {
    /// Reads a line. Only its outermost shape is looked at; [`Line::issue`] reads the rest.
    pub fn parse(text: &str) -> Result<Self, BadIssue> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let fields = reader.deserialize_map(Fields)?;
        reader.end()?;
        let mut names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(BadIssue::Twice { field: pair[0].to_owned() }),
            None => Ok(Self { fields }),
        }
    }

    /// A line for a new issue.
    pub fn of(issue: &Issue) -> Self {
        let mut line = Self { fields: Vec::new() };
        let bare = Issue { dependencies: Vec::new(), comments: Vec::new(), ..issue.clone() };
        if let Value::Object(fields) = json::write(&bare) {
            line.fields = fields.into_iter().map(|(name, value)| (name, raw(&value))).collect();
        }
        for dependency in &issue.dependencies {
            line.link(&issue.id, dependency, issue.created_by.as_deref(), issue.created_at);
        }
        for (number, comment) in (1..).zip(&issue.comments) {
            line.comment(&issue.id, number, comment);
        }
        line
    }

    pub fn issue(&self) -> Result<Issue, BadIssue> {
        json::read_text(&self.to_string())
    }

    /// Makes the line say what `after` says, where it differs from `before`. Dependencies and
    /// comments have ways of their own.
    pub fn update(&mut self, before: &Issue, after: &Issue) {
        let (Value::Object(before), Value::Object(after)) =
            (json::write(before), json::write(after))
        else {
            return;
        };
        for name in ORDER.into_iter().filter(|name| ![DEPENDENCIES, COMMENTS].contains(name)) {
            match (before.get(name), after.get(name)) {
                (before, after) if before == after => {}
                (_, Some(value)) => self.set(name, raw(value)),
                (_, None) => self.fields.retain(|(field, _)| field != name),
            }
        }
    }

    /// Adds what somebody said, under a number that no other comment has.
    pub fn comment(&mut self, id: &IssueId, number: u64, comment: &Comment) {
        let item = serde_json::json!({
            "id": number,
            "issue_id": id,
            "author": comment.author,
            "text": comment.text,
            "created_at": comment.created_at,
        });
        self.push(COMMENTS, &item);
    }

    /// The highest number of a comment; 0 where there is none.
    pub fn highest_comment(&self) -> u64 {
        self.comment_numbers().max().unwrap_or(0)
    }

    /// Whether a comment has that number.
    pub fn has_comment(&self, number: u64) -> bool {
        self.comment_numbers().any(|known| known == number)
    }

    fn comment_numbers(&self) -> impl Iterator<Item = u64> {
        let number = |item: Box<RawValue>| {
            let value: Value = serde_json::from_str(item.get()).ok()?;
            value.get("id")?.as_u64()
        };
        self.items(COMMENTS).into_iter().filter_map(number)
    }

    /// Adds a dependency, unless it is there.
    pub fn link(&mut self, id: &IssueId, on: &Dependency, by: Option<&str>, at: Timestamp) {
        let is_same =
            |item: &RawValue| json::dependency(item).is_ok_and(|dependency| dependency == *on);
        if self.items(DEPENDENCIES).iter().any(|item| is_same(item)) {
            return;
        }
        let item = serde_json::json!({
            "issue_id": id,
            "depends_on_id": on.depends_on,
            "type": on.kind,
            "created_at": at,
            "created_by": by.unwrap_or_default(),
            "metadata": "{}",
            "thread_id": "",
        });
        self.push(DEPENDENCIES, &item);
    }

    /// Removes every dependency on an issue. Says whether there was one.
    pub fn unlink(&mut self, on: &IssueId) -> bool {
        let items = self.items(DEPENDENCIES);
        let is_on = |item: &RawValue| {
            json::dependency(item).is_ok_and(|dependency| dependency.depends_on == *on)
        };
        let kept: Vec<&RawValue> =
            items.iter().map(|item| &**item).filter(|item| !is_on(item)).collect();
        if kept.len() == items.len() {
            return false;
        }
        if kept.is_empty() {
            self.fields.retain(|(field, _)| field != DEPENDENCIES);
        } else {
            let array = array(kept.iter().map(|item| item.get()));
            self.set(DEPENDENCIES, array);
        }
        true
    }

    fn push(&mut self, name: &'static str, item: &Value) {
        let items = self.items(name);
        let text = item.to_string();
        let all = items.iter().map(|item| item.get()).chain([text.as_str()]);
        let array = array(all);
        self.set(name, array);
    }

    fn items(&self, name: &str) -> Vec<Box<RawValue>> {
        let field = self.fields.iter().find(|(field, _)| field == name);
        field.and_then(|(_, value)| serde_json::from_str(value.get()).ok()).unwrap_or_default()
    }

    fn set(&mut self, name: &'static str, value: Box<RawValue>) {
        if let Some((_, old)) = self.fields.iter_mut().find(|(field, _)| field == name) {
            *old = value;
            return;
        }
        let rank = |name: &str| ORDER.iter().position(|known| *known == name);
        let own = rank(name);
        let later =
            |(field, _): &(String, Box<RawValue>)| rank(field).is_some_and(|at| Some(at) > own);
        let at = self.fields.iter().position(later).unwrap_or(self.fields.len());
        self.fields.insert(at, (name.to_owned(), value));
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (at, (name, value)) in self.fields.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{}:{}", Value::String(name.clone()), value.get())?;
        }
        f.write_str("}")
    }
}

/// A value of ours as it is written. Texts, numbers and lists of them always can be.
fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn array<'a>(items: impl Iterator<Item = &'a str>) -> Box<RawValue> {
    let items: Vec<&str> = items.collect();
    let text = format!("[{}]", items.join(","));
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// The fields of an object, in their order.
struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Vec<(String, Box<RawValue>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::with_capacity(map.size_hint().unwrap_or(16));
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issue::{Change, apply};

    const TEXT: &str = r#"{"zeta":{"b":1.50,"a":[ 1 ]},"id":"bd-1","title":"t\u0041","status":"open","big":123456789012345678901234567890,"priority":2,"issue_type":"task","created_at":"2026-01-01T00:00:00+00:00","updated_at":"2026-01-01T00:00:00+00:00","comments":[{"id":7,"issue_id":"bd-1","author":"ada","text":"hm","created_at":"2026-01-01T00:00:00+00:00","mood":1e3}]}"#;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn what_a_change_does_not_name_stays_to_the_letter() {
        let mut line = Line::parse(TEXT).unwrap();
        assert_eq!(line.to_string(), TEXT);
        let before = line.issue().unwrap();
        let mut after = before.clone();
        let change = Change {
            notes: Some("n".to_owned()),
            priority: Some(0),
            add_labels: vec!["x".to_owned()],
            ..Change::default()
        };
        apply(&mut after, &change, at(1_800_000_000));
        line.update(&before, &after);
        let expected = TEXT
            .replace(r#""status":"open""#, r#""notes":"n","status":"open""#)
            .replace(r#""priority":2"#, r#""priority":0"#)
            .replace(
                r#""updated_at":"2026-01-01T00:00:00+00:00","comments""#,
                r#""updated_at":"2027-01-15T08:00:00Z","labels":["x"],"comments""#,
            );
        assert_eq!(line.to_string(), expected);
        assert_eq!(line.issue().unwrap(), after);
    }

    #[test]
    fn what_was_said_before_stays_to_the_letter() {
        let mut line = Line::parse(TEXT).unwrap();
        assert_eq!(line.highest_comment(), 7);
        let said = Comment { author: "bob".into(), text: "aha".into(), created_at: at(0) };
        line.comment(&"bd-1".parse().unwrap(), 8, &said);
        let new = r#","mood":1e3},{"id":8,"issue_id":"bd-1","author":"bob","text":"aha","created_at":"1970-01-01T00:00:00Z"}]}"#;
        assert_eq!(line.to_string(), TEXT.replace(r#","mood":1e3}]}"#, new));
        assert_eq!(line.highest_comment(), 8);
    }

    #[test]
    fn a_dependency_comes_and_goes_without_a_trace() {
        let mut line = Line::parse(TEXT).unwrap();
        let id: IssueId = "bd-1".parse().unwrap();
        let on = Dependency { depends_on: "bd-2".parse().unwrap(), kind: "blocks".to_owned() };
        line.link(&id, &on, Some("ada"), at(0));
        let linked = line.to_string();
        line.link(&id, &on, Some("ada"), at(9));
        assert_eq!(line.to_string(), linked);
        assert_eq!(line.issue().unwrap().dependencies, std::slice::from_ref(&on));
        assert!(line.unlink(&on.depends_on));
        assert!(!line.unlink(&on.depends_on));
        assert_eq!(line.to_string(), TEXT);
    }

    #[test]
    fn what_is_no_line_says_why() {
        let said = |text: &str| Line::parse(text).unwrap_err().to_string();
        assert_eq!(said("[]"), "it is not an object");
        assert_eq!(said(r#"{"id":"a","id":"b"}"#), "it has `id` twice");
        assert!(said("{").starts_with("it is not JSON"), "{}", said("{"));
        assert!(said("{} {}").starts_with("it is not JSON"));
    }
}
