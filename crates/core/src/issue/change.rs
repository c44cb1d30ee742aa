//! What can be changed about an issue, and what follows from it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::id::IssueId;
use super::model::{Dependency, Issue};
use super::status::IssueStatus;

/// An issue to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIssue {
    /// What is to be done, in a line.
    pub title: String,
    /// What is to be done.
    pub description: Option<String>,
    /// What must be true for it to be done.
    pub acceptance_criteria: Option<String>,
    /// 0 is the most urgent.
    pub priority: u8,
    /// `task`, `bug`, `epic`, …
    pub issue_type: String,
    /// Words to find it by.
    pub labels: Vec<String>,
    pub assignee: Option<String>,
    /// The issue it is a part of.
    pub parent: Option<IssueId>,
    /// What must be closed first.
    pub blocked_by: Vec<IssueId>,
    /// Who makes it.
    pub author: String,
}

impl Default for NewIssue {
    fn default() -> Self {
        Self {
            title: String::new(),
            description: None,
            acceptance_criteria: None,
            priority: 2,
            issue_type: "task".to_owned(),
            labels: Vec::new(),
            assignee: None,
            parent: None,
            blocked_by: Vec::new(),
            author: String::new(),
        }
    }
}

/// The longest title, in characters, that every tracker takes.
const LONGEST_TITLE: usize = 500;

fn check_title(title: &str) -> Result<(), String> {
    if title.trim().is_empty() {
        return Err("an issue needs a title".to_owned());
    }
    if title.contains(['\n', '\r']) {
        return Err("a title is one line; the rest belongs into the description".to_owned());
    }
    let length = title.chars().count();
    if length > LONGEST_TITLE {
        return Err(format!(
            "a title has at most {LONGEST_TITLE} characters, this one has {length}"
        ));
    }
    Ok(())
}

fn check_words(
    priority: Option<u8>,
    issue_type: Option<&str>,
    labels: &[String],
) -> Result<(), String> {
    if let Some(priority) = priority.filter(|priority| *priority > 4) {
        return Err(format!("a priority is a number from 0 to 4, not {priority}"));
    }
    if issue_type.is_some_and(|word| word.trim().is_empty()) {
        return Err("the type of an issue is a word".to_owned());
    }
    if labels.iter().any(|label| label.trim().is_empty()) {
        return Err("a label is a word".to_owned());
    }
    Ok(())
}

impl NewIssue {
    /// What is wrong with it, if something is.
    pub fn check(&self) -> Result<(), String> {
        check_title(&self.title)?;
        check_words(Some(self.priority), Some(&self.issue_type), &self.labels)
    }

    /// What makes it this one and no other, for its id.
    pub fn seed(&self, now: Timestamp) -> String {
        let description = self.description.as_deref().unwrap_or_default();
        format!("{}|{description}|{}|{}", self.title, self.author, now.as_nanosecond())
    }

    /// The issue, made at `now` under `id`.
    pub fn make(self, id: IssueId, now: Timestamp) -> Issue {
        let parent = self.parent.map(|depends_on| (depends_on, Dependency::PARENT));
        let blockers = self.blocked_by.into_iter().map(|on| (on, Dependency::BLOCKS));
        let dependency =
            |(depends_on, kind): (IssueId, &str)| Dependency { depends_on, kind: kind.to_owned() };
        Issue {
            id,
            title: self.title,
            description: self.description,
            design: None,
            acceptance_criteria: self.acceptance_criteria,
            notes: None,
            status: IssueStatus::Open,
            priority: self.priority,
            issue_type: self.issue_type,
            assignee: self.assignee,
            created_at: now,
            created_by: Some(self.author).filter(|author| !author.is_empty()),
            updated_at: now,
            closed_at: None,
            close_reason: None,
            closed_by_session: None,
            defer_until: None,
            labels: self.labels,
            dependencies: parent.into_iter().chain(blockers).map(dependency).collect(),
            comments: Vec::new(),
            extra: serde_json::Map::new(),
        }
    }
}

/// What is to be different about an issue; what is absent stays as it is. A text that is empty
/// removes what was there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Change {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How it is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub design: Option<String>,
    /// What must be true for it to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceptance_criteria: Option<String>,
    /// What was found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<IssueStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    /// Why it is closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub close_reason: Option<String>,
    /// The session that closes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_by_session: Option<String>,
    /// Labels it gets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub add_labels: Vec<String>,
    /// Labels it loses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remove_labels: Vec<String>,
}

impl Change {
    pub fn close(reason: impl Into<String>, session: Option<String>) -> Self {
        Self {
            status: Some(IssueStatus::Closed),
            close_reason: Some(reason.into()),
            closed_by_session: session,
            ..Self::default()
        }
    }

    /// What is wrong with it, if something is.
    pub fn check(&self) -> Result<(), String> {
        self.title.as_deref().map_or(Ok(()), check_title)?;
        check_words(self.priority, self.issue_type.as_deref(), &self.add_labels)
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Changes an issue at `now`.
pub fn apply(issue: &mut Issue, change: &Change, now: Timestamp) {
    let text = |field: &mut Option<String>, new: &Option<String>| {
        if let Some(new) = new {
            *field = Some(new.clone()).filter(|text| !text.is_empty());
        }
    };
    if let Some(title) = &change.title {
        issue.title.clone_from(title);
    }
    text(&mut issue.description, &change.description);
    text(&mut issue.design, &change.design);
    text(&mut issue.acceptance_criteria, &change.acceptance_criteria);
    text(&mut issue.notes, &change.notes);
    text(&mut issue.assignee, &change.assignee);
    issue.priority = change.priority.unwrap_or(issue.priority);
    if let Some(issue_type) = &change.issue_type {
        issue.issue_type.clone_from(issue_type);
    }
    if let Some(status) = &change.status {
        set_status(issue, status, now);
    }
    text(&mut issue.close_reason, &change.close_reason);
    text(&mut issue.closed_by_session, &change.closed_by_session);
    issue.labels.retain(|label| !change.remove_labels.contains(label));
    for label in &change.add_labels {
        if !issue.labels.contains(label) {
            issue.labels.push(label.clone());
        }
    }
    issue.updated_at = now.max(issue.created_at);
}

/// An issue has a time of closing if and only if it is closed.
fn set_status(issue: &mut Issue, status: &IssueStatus, now: Timestamp) {
    issue.status = status.clone();
    if *status == IssueStatus::Closed {
        issue.closed_at.get_or_insert(now);
    } else {
        issue.closed_at = None;
        issue.close_reason = None;
        issue.closed_by_session = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn issue() -> Issue {
        NewIssue { title: "t".to_owned(), ..NewIssue::default() }
            .make("hl-1".parse().unwrap(), at(0))
    }

    #[test]
    fn a_closed_issue_has_a_time_of_closing_and_an_open_one_has_not() {
        let mut issue = issue();
        apply(&mut issue, &Change::close("done", Some("s".to_owned())), at(5));
        assert_eq!((issue.closed_at, issue.close_reason.as_deref()), (Some(at(5)), Some("done")));
        apply(&mut issue, &Change::close("again", None), at(9));
        assert_eq!((issue.closed_at, issue.closed_by_session.as_deref()), (Some(at(5)), Some("s")));
        let open = Change { status: Some(IssueStatus::Open), ..Change::default() };
        apply(&mut issue, &open, at(10));
        assert_eq!((issue.closed_at, issue.close_reason, issue.updated_at), (None, None, at(10)));
    }

    #[test]
    fn what_a_change_does_not_name_stays_and_an_empty_text_removes() {
        let mut issue = issue();
        let change = Change {
            description: Some("d".to_owned()),
            add_labels: vec!["a".to_owned(), "b".to_owned(), "a".to_owned()],
            ..Change::default()
        };
        apply(&mut issue, &change, at(1));
        let change = Change {
            notes: Some("n".to_owned()),
            remove_labels: vec!["a".to_owned()],
            ..Change::default()
        };
        apply(&mut issue, &change, at(2));
        assert_eq!(issue.description.as_deref(), Some("d"));
        assert_eq!((issue.labels.join(","), issue.notes.as_deref()), ("b".to_owned(), Some("n")));
        apply(&mut issue, &Change { notes: Some(String::new()), ..Change::default() }, at(3));
        assert_eq!(issue.notes, None);
    }

    #[test]
    fn what_no_tracker_would_take_is_refused() {
        let new = |title: &str, priority| {
            NewIssue { title: title.to_owned(), priority, ..NewIssue::default() }.check()
        };
        assert_eq!(new("t", 4), Ok(()));
        assert_eq!(new(" ", 2).unwrap_err(), "an issue needs a title");
        assert_eq!(new("t", 5).unwrap_err(), "a priority is a number from 0 to 4, not 5");
        assert!(new("two\nlines", 2).unwrap_err().starts_with("a title is one line"));
        assert!(new(&"x".repeat(501), 2).unwrap_err().ends_with("this one has 501"));
        let change = |change: Change| change.check().is_err();
        assert!(change(Change { title: Some(String::new()), ..Change::default() }));
        assert!(change(Change { add_labels: vec![String::new()], ..Change::default() }));
        assert!(!change(Change { notes: Some(String::new()), ..Change::default() }));
    }

    #[test]
    fn a_change_is_written_as_what_it_changes() {
        let change = Change { priority: Some(1), ..Change::default() };
        let text = serde_json::to_string(&change).unwrap();
        assert_eq!(text, r#"{"priority":1}"#);
        assert_eq!(serde_json::from_str::<Change>(&text).unwrap(), change);
    }
}
