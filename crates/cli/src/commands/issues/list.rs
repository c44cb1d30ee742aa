use std::collections::HashSet;
use std::process::ExitCode;

use heirloom_api::{IssueList, ListedIssue};
use heirloom_core::issue::{Entry, IssueStatus, by_age, ready as ready_of};
use heirloom_engine::issues::Tracker;
use heirloom_engine::work::Reviews;

use super::super::{App, Done};
use super::{state, status, tried};
use crate::failure::Failure;
use crate::ui::{Columns, counted, first_line, one_line};

/// How much of what has to be reviewed a list says.
const WORDS: usize = 72;

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
    let reviews = &reviews(app)?.with_last_runs(&app.here, &app.here.ledger()?, &entries)?;
    app.ui.answer(&answer(&entries, reviews), || table(&entries, reviews));
    if app.ui.is_json() {
        return Ok(ExitCode::SUCCESS);
    }
    if entries.is_empty() {
        app.ui.hint(if is_none {
            "no issues; `heirloom issues create \"…\"` creates one"
        } else {
            "no issue matches; `heirloom issues list` shows those that are open"
        });
    } else if let Some(first) = entries.iter().find(|entry| reviews.of(entry).is_some()) {
        app.ui.hint(&format!(
            "review before an agent is sent again: `heirloom issues show {}` says how",
            first.id
        ));
    } else if let Some(hint) =
        entries.iter().find_map(|entry| Some(tried(&entry.id, reviews.unfinished(entry)?)))
    {
        app.ui.hint(&hint);
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
    let reviews = &reviews(app)?;
    app.ui.answer(&answer(&entries, reviews), || table(&entries, reviews));
    if entries.is_empty() && !app.ui.is_json() {
        app.ui.hint(&idle(&backlog, reviews));
    }
    Ok(ExitCode::SUCCESS)
}

fn reviews(app: &App) -> Result<Reviews, Failure> {
    Ok(Reviews::read(&app.here, &app.here.ledger()?)?)
}

fn answer(entries: &[Entry], reviews: &Reviews) -> IssueList {
    IssueList { issues: entries.iter().map(|entry| ListedIssue::new(entry, reviews)).collect() }
}

/// Why nothing is ready.
fn idle(backlog: &[Entry], reviews: &Reviews) -> String {
    let count =
        |test: &dyn Fn(&Entry) -> bool| backlog.iter().filter(|entry| test(entry)).count() as u64;
    let waiting = count(&|entry| entry.status == IssueStatus::Open && !entry.blocked_by.is_empty());
    let to_review = count(&|entry| reviews.of(entry).is_some());
    let begun = count(&|entry| entry.status == IssueStatus::InProgress) - to_review;
    let to_review = match to_review {
        0 => String::new(),
        count => format!("{count} to be reviewed, "),
    };
    if backlog.is_empty() {
        return "nothing is ready: there are no open issues".to_owned();
    }
    format!(
        "nothing is ready: of {}, {to_review}{begun} in progress and {waiting} waiting for others",
        counted(backlog.len() as u64, "issue")
    )
}

/// A list for people. Columns that would be empty are left out.
fn table(entries: &[Entry], reviews: &Reviews) -> String {
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
    let reviewed = entries.iter().any(|entry| reviews.of(entry).is_some());
    headings.extend(reviewed.then_some("review"));
    let dispensable: &[usize] = if reviewed { &[3, headings.len() - 1] } else { &[3] };
    let mut columns = Columns::new(&headings).yielding(4).dispensable(dispensable);
    for entry in entries {
        let mut cells = vec![
            entry.id.to_string(),
            format!("P{}", entry.priority),
            state(&entry.status, reviews.of(entry), reviews.unfinished(entry)),
            entry.issue_type.clone(),
            one_line(&entry.title),
        ];
        cells.extend(assigned.then(|| entry.assignee.clone().unwrap_or_default()));
        cells.extend(blocked.then(|| ids(entry)));
        cells.extend(reviewed.then(|| first_line(reviews.of(entry).unwrap_or_default(), WORDS)));
        columns.row(cells);
    }
    columns.render()
}
