use std::process::ExitCode;

use heirloom_api as api;
use heirloom_core::issue::{IssueId, NewIssue};
use heirloom_engine::issues::{Tracker, TrackerError};

use super::super::{App, Done, given};
use super::{actor, blocked_by, priority};
use crate::ui::{BOLD, GOOD};

/// Create an issue
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The title
    #[arg(value_parser = given::text)]
    title: String,
    /// The description
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,
    /// The acceptance criteria
    #[arg(
        long,
        value_name = "TEXT",
        visible_alias = "acceptance-criteria",
        allow_hyphen_values = true
    )]
    acceptance: Option<String>,
    /// task, bug, feature, epic, chore, …
    #[arg(long = "type", short = 't', value_name = "TYPE", default_value = "task")]
    issue_type: String,
    /// The priority, from 0 (most urgent) to 4
    #[arg(long, short, value_name = "P0-P4", default_value = "2", value_parser = priority)]
    priority: u8,
    /// A label; repeat for more
    #[arg(long, short, value_name = "LABEL", visible_alias = "labels", value_delimiter = ',')]
    label: Vec<String>,
    /// The parent issue
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// An issue that must be closed first; repeat for more
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    blocked_by: Vec<String>,
    /// The assignee
    #[arg(long, short, value_name = "NAME")]
    assignee: Option<String>,
    /// Who creates it
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
}

pub(super) fn run(app: &App, tracker: &mut dyn Tracker, args: Args) -> Done {
    let mut find = |id: &String| -> Result<IssueId, TrackerError> { Ok(tracker.find(id)?.id) };
    let parent = args.parent.as_ref().map(&mut find).transpose()?;
    let blockers = args.blocked_by.iter().map(&mut find).collect::<Result<Vec<_>, _>>()?;
    let issue = tracker.create(NewIssue {
        title: args.title.trim().to_owned(),
        description: args.description,
        acceptance_criteria: args.acceptance,
        priority: args.priority,
        issue_type: args.issue_type,
        labels: args.label,
        assignee: args.assignee,
        parent,
        blocked_by: blockers,
        author: actor(app, args.actor.as_deref()),
    })?;
    let blocked_by = blocked_by(tracker, &issue.id)?;
    let answer = api::NewIssue { issue: (&issue).into(), blocked_by };
    app.ui
        .answer(&answer, || format!("{GOOD}✔{GOOD:#} {BOLD}{}{BOLD:#} {}", issue.id, issue.title));
    Ok(ExitCode::SUCCESS)
}
