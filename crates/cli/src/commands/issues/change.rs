use std::process::ExitCode;

use heirloom_api::Commented;
use heirloom_core::issue::{Change, Issue, IssueStatus};
use heirloom_core::settings::Period;
use heirloom_engine::issues::{self, Claiming, Tracker, TrackerError, Update};
use heirloom_engine::work::{Unmerged, unmerged};
use heirloom_ledger::Ledger;

use super::super::{App, Done, given};
use super::{actor, answer, priority, status};
use crate::failure::{Code, Failure};
use crate::ui::{BOLD, GOOD};

/// Change issues, or claim them
///
/// --claim assigns an issue to you and marks it in progress, unless somebody else is working on it.
/// --release gives it back.
#[derive(Debug, clap::Args)]
pub(super) struct UpdateArgs {
    /// The issues' ids or id prefixes
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// The title
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    title: Option<String>,
    /// The description; empty removes it, as with every text
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,
    /// The design
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    design: Option<String>,
    /// The acceptance criteria
    #[arg(
        long,
        value_name = "TEXT",
        visible_alias = "acceptance-criteria",
        allow_hyphen_values = true
    )]
    acceptance: Option<String>,
    /// The notes; replaces existing ones
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    notes: Option<String>,
    /// The status: `open`, `in_progress`, `blocked`, `deferred` or `closed`
    #[arg(long, short, value_name = "STATUS", value_parser = status)]
    status: Option<String>,
    /// The priority, from 0 (most urgent) to 4
    #[arg(long, short, value_name = "P0-P4", value_parser = priority)]
    priority: Option<u8>,
    /// task, bug, feature, epic, chore, …
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    issue_type: Option<String>,
    /// The assignee; empty for nobody
    #[arg(long, short, value_name = "NAME")]
    assignee: Option<String>,
    /// A label to add; repeat for more
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    add_label: Vec<String>,
    /// A label to remove; repeat for more
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    remove_label: Vec<String>,
    /// Claim it: assign it to you and mark it in progress
    #[arg(long, conflicts_with_all = ["status", "assignee"])]
    claim: bool,
    /// Your name [default: `HEIRLOOM_ACTOR` or `USER`]
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// Let somebody else claim it after this time (90s, 10m, 1h30m)
    #[arg(long, value_name = "TIME", requires = "claim")]
    lease: Option<Period>,
    /// Release it: open, and assigned to nobody
    #[arg(long, conflicts_with_all = ["claim", "status", "assignee"])]
    release: bool,
}

/// Close issues
#[derive(Debug, clap::Args)]
pub(super) struct CloseArgs {
    /// The issues' ids or id prefixes
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Why it is closed
    #[arg(
        long,
        short,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    reason: String,
    /// The session that did it
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

/// Comment on an issue
#[derive(Debug, clap::Args)]
pub(super) struct CommentArgs {
    /// The issue's id or id prefix
    id: String,
    /// The comment
    #[arg(allow_hyphen_values = true, value_parser = given::text)]
    text: String,
    /// The author [default: `HEIRLOOM_ACTOR` or `USER`]
    #[arg(long, visible_alias = "actor", value_name = "NAME")]
    author: Option<String>,
}

impl UpdateArgs {
    fn update(&self, app: &App) -> Update {
        let lease = self.lease.map(Period::duration);
        let claiming = match (self.claim, self.release) {
            (true, _) => Some(Claiming::Claim { lease }),
            (_, true) => Some(Claiming::Release),
            _ => None,
        };
        Update { actor: actor(app, self.actor.as_deref()), claiming, change: self.change() }
    }

    fn change(&self) -> Change {
        Change {
            title: self.title.as_ref().map(|title| title.trim().to_owned()),
            description: self.description.clone(),
            design: self.design.clone(),
            acceptance_criteria: self.acceptance.clone(),
            notes: self.notes.clone(),
            status: self.status.as_deref().map(IssueStatus::of),
            priority: self.priority,
            issue_type: self.issue_type.clone(),
            assignee: self.assignee.clone(),
            close_reason: None,
            closed_by_session: None,
            add_labels: self.add_label.clone(),
            remove_labels: self.remove_label.clone(),
        }
    }
}

pub(super) fn update(app: &App, tracker: &mut dyn Tracker, args: &UpdateArgs) -> Done {
    let update = args.update(app);
    if update.change.is_empty() && update.claiming.is_none() {
        return Err(Failure::new(Code::Usage, "nothing to change")
            .usage()
            .hint("give a field to change, for example --status or --priority; --help lists all"));
    }
    let mut ledger = app.here.ledger()?;
    let found = found(tracker, &args.ids)?;
    let mut done = Vec::with_capacity(found.len());
    let mut lies = Vec::new();
    for issue in found {
        if update.change.status == Some(IssueStatus::Closed) {
            warn_untested(app, &ledger, &issue)?;
            lies.extend(where_it_lies(app, &ledger, &issue)?);
        }
        let updated = issues::update(&app.here, &mut ledger, tracker, issue, &update);
        done.push(updated.map_err(|error| after(error.into(), &done))?);
    }
    let word = match () {
        () if args.claim => "claimed",
        () if args.release => "released",
        () => "updated",
    };
    let answered = answer(app, &done, || told(word, &done));
    lies.iter().filter(|_| !app.ui.is_json()).for_each(|words| app.ui.hint(words));
    answered
}

pub(super) fn close(app: &App, tracker: &mut dyn Tracker, args: &CloseArgs) -> Done {
    let mut ledger = app.here.ledger()?;
    let mut done = Vec::with_capacity(args.ids.len());
    let mut lies = Vec::new();
    for issue in found(tracker, &args.ids)? {
        let change = Change::close(args.reason.clone(), args.session.clone());
        warn_untested(app, &ledger, &issue)?;
        lies.extend(where_it_lies(app, &ledger, &issue)?);
        let closed = issues::close(&app.here, &mut ledger, tracker, &issue, &change);
        done.push(closed.map_err(|error| after(error.into(), &done))?);
    }
    let answered = answer(app, &done, || told("closed", &done));
    lies.iter().filter(|_| !app.ui.is_json()).for_each(|words| app.ui.hint(words));
    answered
}

/// Where the work is that a person closes an issue for, if it was never brought together.
fn where_it_lies(app: &App, ledger: &Ledger, issue: &Issue) -> Result<Option<String>, Failure> {
    let work = unmerged(&app.here, ledger, issue)?;
    Ok(work.map(|Unmerged { branch, commit }| {
        let short: String = commit.chars().take(12).collect();
        format!("the work on {} is on {branch} ({short}): git merge {branch}", issue.id)
    }))
}

/// What an issue lacks is said where that does not keep it from being closed.
fn warn_untested(app: &App, ledger: &Ledger, issue: &Issue) -> Result<(), Failure> {
    let untested = issues::untested(&app.here, ledger, &issue.id)?;
    if let Some(untested) = untested.filter(|untested| !untested.refuses) {
        app.ui.warn(&untested.to_string());
    }
    Ok(())
}

/// All of them are found before anything is done to the first.
fn found(tracker: &mut dyn Tracker, ids: &[String]) -> Result<Vec<Issue>, TrackerError> {
    ids.iter().map(|id| tracker.find(id)).collect()
}

/// A failure that came after something was done says what that was.
fn after(failure: Failure, done: &[Issue]) -> Failure {
    if done.is_empty() {
        return failure;
    }
    let ids: Vec<&str> = done.iter().map(|issue| issue.id.as_str()).collect();
    failure.hint(format!("done before that: {}", ids.join(", ")))
}

fn told(word: &str, issues: &[Issue]) -> String {
    let line = |issue: &Issue| {
        format!("{GOOD}✔{GOOD:#} {word} {BOLD}{}{BOLD:#} {}\n", issue.id, issue.title)
    };
    issues.iter().map(line).collect()
}

pub(super) fn comment(app: &App, tracker: &mut dyn Tracker, args: &CommentArgs) -> Done {
    if args.text.trim().is_empty() {
        return Err(Failure::new(Code::Usage, "the comment is empty").usage());
    }
    let issue = tracker.find(&args.id)?;
    let author = actor(app, args.author.as_deref());
    tracker.comment(&issue.id, &author, &args.text)?;
    let answer = Commented { issue_id: issue.id.to_string(), author, text: args.text.clone() };
    app.ui.answer(&answer, || told("commented on", std::slice::from_ref(&issue)));
    Ok(ExitCode::SUCCESS)
}
