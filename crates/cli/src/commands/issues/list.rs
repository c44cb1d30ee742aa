use std::collections::HashSet;
use std::process::ExitCode;

use heirloom_api::{IssueList, ListedIssue};
use heirloom_core::issue::{Entry, IssueStatus, by_age, ready as ready_of};
use heirloom_core::words::in_words;
use heirloom_engine::issues::Tracker;

use super::super::{App, Done};
use super::status;
use crate::failure::Failure;
use crate::ui::{Columns, counted, one_line};

/// List open issues, most urgent first
#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Only issues with this status; repeat for more
    #[arg(long, short, value_name = "STATUS", value_parser = status)]
    status: Vec<String>,
    /// Include closed issues
    #[arg(long, short)]
    all: bool,
    #[command(flatten)]
    filter: Filter,
}

/// List issues that can be worked on now, most urgent first
#[derive(Debug, clap::Args)]
pub(super) struct ReadyArgs {
    #[command(flatten)]
    filter: Filter,
}

/// What a list is cut down to.
#[derive(Debug, clap::Args)]
struct Filter {
    /// Only issues of this type
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    issue_type: Option<String>,
    /// Only issues with this label; repeat for more
    #[arg(long, short, value_name = "LABEL")]
    label: Vec<String>,
    /// Only issues assigned to this person
    #[arg(long, value_name = "NAME")]
    assignee: Option<String>,
    /// List at most this many; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    limit: usize,
}

impl Filter {
    fn apply(&self, entries: &mut Vec<Entry>) {
        entries.retain(|entry| {
            self.issue_type.as_ref().is_none_or(|word| entry.issue_type == *word)
                && self.label.iter().all(|label| entry.labels.contains(label))
                && (self.assignee.is_none() || entry.assignee == self.assignee)
        });
        if self.limit > 0 {
            entries.truncate(self.limit);
        }
    }
}

pub(super) fn list(app: &App, tracker: &mut dyn Tracker, args: &ListArgs) -> Done {
    let statuses: Vec<IssueStatus> = args.status.iter().map(|word| IssueStatus::of(word)).collect();
    let closed = args.all || statuses.contains(&IssueStatus::Closed);
    let mut entries = entries(tracker, closed)?;
    let is_none = entries.is_empty();
    entries.retain(|entry| statuses.is_empty() || statuses.contains(&entry.status));
    args.filter.apply(&mut entries);
    app.ui.answer(&answer(&entries), || table(&entries));
    if entries.is_empty() && !app.ui.is_json() {
        app.ui.hint(if is_none {
            "no issues; `heirloom issues create \"…\"` creates one"
        } else {
            "no issue matches; `heirloom issues list` shows those that are open"
        });
    }
    Ok(ExitCode::SUCCESS)
}

/// The issues that are to be done, in the order of work; the closed ones behind them.
fn entries(tracker: &mut dyn Tracker, closed: bool) -> Result<Vec<Entry>, Failure> {
    let mut entries = tracker.backlog()?;
    if closed {
        let known: HashSet<String> = entries.iter().map(|entry| entry.id.to_string()).collect();
        let all = tracker.all()?;
        let rest = all.iter().filter(|issue| !known.contains(issue.id.as_str()));
        entries.extend(rest.map(Entry::of));
    }
    entries
        .sort_by(|a, b| a.status.is_closed().cmp(&b.status.is_closed()).then_with(|| by_age(a, b)));
    Ok(entries)
}

pub(super) fn ready(app: &App, tracker: &mut dyn Tracker, args: &ReadyArgs) -> Done {
    let backlog = tracker.backlog()?;
    let now = app.here.clock.now();
    let mut entries: Vec<Entry> = ready_of(&backlog, now).into_iter().cloned().collect();
    args.filter.apply(&mut entries);
    app.ui.answer(&answer(&entries), || table(&entries));
    if entries.is_empty() && !app.ui.is_json() {
        app.ui.hint(&idle(&backlog));
    }
    Ok(ExitCode::SUCCESS)
}

fn answer(entries: &[Entry]) -> IssueList {
    IssueList { issues: entries.iter().map(ListedIssue::from).collect() }
}

/// Why nothing is ready.
fn idle(backlog: &[Entry]) -> String {
    let count = |test: fn(&&Entry) -> bool| backlog.iter().filter(test).count() as u64;
    let waiting = count(|entry| entry.status == IssueStatus::Open && !entry.blocked_by.is_empty());
    let begun = count(|entry| entry.status == IssueStatus::InProgress);
    if backlog.is_empty() {
        return "nothing is ready: there are no open issues".to_owned();
    }
    format!(
        "nothing is ready: of {}, {begun} in progress and {waiting} waiting for others",
        counted(backlog.len() as u64, "issue")
    )
}

/// A list for people. Columns that would be empty are left out.
fn table(entries: &[Entry]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let ids = |entry: &Entry| {
        entry.blocked_by.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let mut headings = vec!["id", "pri", "status", "type", "title"];
    let (mut assigned, mut blocked) = (false, false);
    for entry in entries {
        assigned |= entry.assignee.is_some();
        blocked |= !entry.blocked_by.is_empty();
    }
    headings.extend(assigned.then_some("assignee"));
    headings.extend(blocked.then_some("blocked by"));
    let mut columns = Columns::new(&headings).yielding(4).dispensable(&[3]);
    for entry in entries {
        let mut cells = vec![
            entry.id.to_string(),
            format!("P{}", entry.priority),
            in_words(entry.status.as_str()).into_owned(),
            entry.issue_type.clone(),
            one_line(&entry.title),
        ];
        cells.extend(assigned.then(|| entry.assignee.clone().unwrap_or_default()));
        cells.extend(blocked.then(|| ids(entry)));
        columns.row(cells);
    }
    columns.render()
}
