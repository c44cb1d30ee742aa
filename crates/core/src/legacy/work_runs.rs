//! The run files of the original orchestrator: one JSON file a run, all issues in it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::agent::AgentName;
use crate::event::{ImportedIssueRun, WorkImported};
use crate::issue::IssueId;
use crate::work::IssueRunStatus;

/// Why a file is not a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRunFile {
    /// It cannot be read.
    #[error("it is not a run file: {why}")]
    Shape { why: String },
    /// It is of another repository.
    #[error("it belongs to {repo}")]
    Elsewhere {
        /// The repository.
        repo: String,
    },
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "I: Deserialize<'de>"))]
struct File<'a, I> {
    run_id: String,
    #[serde(borrow)]
    started_at: Cow<'a, str>,
    #[serde(default, borrow)]
    completed_at: Option<Text<'a>>,
    #[serde(default, borrow)]
    repo_path: Option<Text<'a>>,
    #[serde(default, borrow = "'a")]
    issues: Option<BTreeMap<Text<'a>, I>>,
}

/// A text that stands in the file as it is: inside of another type, serde would copy a bare one.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
struct Issue<'a> {
    #[serde(default, borrow)]
    status: Option<Text<'a>>,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    log_path: Option<String>,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    gate_attempts: Option<u32>,
}

impl<'a> File<'a, &'a RawValue> {
    /// The file with those of its issues that can be read.
    fn readable(self) -> File<'a, Issue<'a>> {
        let Self { run_id, started_at, completed_at, repo_path, issues } = self;
        let read = |(id, issue): (Text<'a>, &'a RawValue)| {
            serde_json::from_str(issue.get()).ok().map(|issue| (id, issue))
        };
        let issues = issues.map(|issues| issues.into_iter().filter_map(read).collect());
        File { run_id, started_at, completed_at, repo_path, issues }
    }
}

/// Reads the run file `name`. `is_here` says of a path whether it is this repository's.
///
/// A time that cannot be read is taken from the file's name, which begins with it. Of the issues,
/// those that cannot be read are left out.
pub fn parse(
    name: &str,
    content: &str,
    is_here: impl Fn(&str) -> bool,
) -> Result<WorkImported, BadRunFile> {
    let shape = |why: String| BadRunFile::Shape { why };
    // All at once, for there are many; where an issue cannot be read, each by itself.
    let file: File<'_, Issue<'_>> = match serde_json::from_str(content) {
        Ok(file) => file,
        Err(_) => serde_json::from_str(content)
            .map(File::readable)
            .map_err(|error| shape(error.to_string()))?,
    };
    if let Some(Text(repo)) = file.repo_path.filter(|repo| !is_here(&repo.0)) {
        return Err(BadRunFile::Elsewhere { repo: repo.into_owned() });
    }
    let started_at = moment(&file.started_at)
        .or_else(|| time_of_name(name))
        .ok_or_else(|| shape(format!("`{}` is not a time", file.started_at)))?;
    let issue = |(Text(id), issue): (Text<'_>, Issue<'_>)| imported(id.parse().ok()?, issue);
    Ok(WorkImported {
        file: name.to_owned(),
        run: file.run_id,
        started_at,
        ended_at: file.completed_at.as_ref().and_then(|text| moment(&text.0)),
        issues: file.issues.unwrap_or_default().into_iter().filter_map(issue).collect(),
    })
}

fn imported(id: IssueId, issue: Issue<'_>) -> Option<ImportedIssueRun> {
    let agent_session_id = issue.session_id.filter(|id| !id.is_empty());
    let agent = agent_session_id.as_deref().and_then(|id| agent_of(id, issue.log_path.as_deref()));
    let status = match issue.status.as_ref().map(|status| &*status.0) {
        Some("success") => IssueRunStatus::Closed,
        _ => IssueRunStatus::Failed,
    };
    Some(ImportedIssueRun {
        issue: id,
        agent: agent.map(AgentName::from),
        agent_session_id,
        status,
        reason: issue.error,
        transcript: issue.log_path,
        attempts: issue.gate_attempts.unwrap_or(0),
    })
}

/// Whose id it is. The original does not say, and an id must never be handed to another agent: its
/// transcript tells, or else the kind of UUID it is (Codex counts time in its ids, Claude Code does
/// not).
fn agent_of(id: &str, transcript: Option<&str>) -> Option<&'static str> {
    if let Some(path) = transcript {
        if path.contains("/.codex/") || path.contains("/rollout-") {
            return Some("codex");
        }
        if path.contains("/projects/") {
            return Some("claude");
        }
    }
    match uuid::Uuid::parse_str(id).ok()?.get_version_num() {
        7 => Some("codex"),
        4 => Some("claude"),
        _ => None,
    }
}

/// A time with or without its zone; without, it is UTC.
fn moment(text: &str) -> Option<Timestamp> {
    text.parse().ok().or_else(|| format!("{text}Z").parse().ok())
}

/// The time at the beginning of `2026-01-12T15-30-00_0123abcd.json`.
fn time_of_name(name: &str) -> Option<Timestamp> {
    let (date, rest) = name.split_once('T')?;
    let time = rest.split('_').next()?.replace('-', ":");
    moment(&format!("{date}T{time}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const ID: &str = "8272974a-8223-4415-954c-99d01904a037";

    fn parsed(value: &Value) -> Result<WorkImported, BadRunFile> {
        parse("2026-01-12T15-30-00_0123abcd.json", &value.to_string(), |repo| repo == "/src/pay")
    }

    fn run(issues: &Value) -> Value {
        json!({"run_id": "r1", "started_at": "2026-01-12T15:30:00.123456+00:00",
               "repo_path": "/src/pay", "issues": issues, "version": "1.2"})
    }

    #[test]
    fn a_run_is_read_with_its_issues() {
        let issues = json!({
            "pay-1": {"issue_id": "pay-1", "status": "success", "session_id": ID, "gate_attempts": 2},
            "pay-2": {"status": "failed", "session_id": null, "error": "gate"},
            "pay-3": {"status": "failed", "session_id": "T-1234", "log_path": "/x/T-1234.json"},
            "../x": {"status": "failed"},
            "pay-4": 7,
        });
        let run = parsed(&run(&issues)).unwrap();
        assert_eq!(run.started_at.to_string(), "2026-01-12T15:30:00.123456Z");
        let seen: Vec<(&str, Option<&str>, bool)> = run
            .issues
            .iter()
            .map(|each| {
                (each.issue.as_str(), each.agent.as_deref(), each.agent_session_id.is_some())
            })
            .collect();
        let expected =
            [("pay-1", Some("claude"), true), ("pay-2", None, false), ("pay-3", None, true)];
        assert_eq!(seen, expected);
    }

    #[test]
    fn an_id_is_only_ever_the_agents_whose_it_is() {
        let codex = "019f4a6b-1c2d-7e3f-8a4b-5c6d7e8f9a0b";
        let cases = [
            (ID, None, Some("claude")),
            (codex, None, Some("codex")),
            (ID, Some("/home/u/.codex/sessions/rollout-x.jsonl"), Some("codex")),
            (codex, Some("/home/u/.claude/projects/-src/x.jsonl"), Some("claude")),
            ("not-a-uuid", None, None),
        ];
        for (id, path, agent) in cases {
            assert_eq!(agent_of(id, path), agent, "{id} {path:?}");
        }
    }

    #[test]
    fn a_bad_time_falls_back_to_the_name_and_a_bad_file_says_why() {
        let mut value = run(&json!({}));
        value["started_at"] = json!("yesterday");
        assert_eq!(parsed(&value).unwrap().started_at.to_string(), "2026-01-12T15:30:00Z");
        assert!(parse("x.json", &value.to_string(), |_| true).is_err());
        assert!(parse("x.json", "{\"run_id\":", |_| true).is_err());
        value["repo_path"] = json!("/src/other");
        let elsewhere = BadRunFile::Elsewhere { repo: "/src/other".to_owned() };
        assert_eq!(parsed(&value), Err(elsewhere));
    }
}
