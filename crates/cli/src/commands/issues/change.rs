use std::process::ExitCode;

use heirloom_api::Commented;
use heirloom_core::issue::{Change, Issue, IssueStatus};
use heirloom_core::settings::Period;
use heirloom_engine::issues::{self, Claiming, Tracker, TrackerError, Update};

use super::super::{App, Done};
use super::{actor, answer, priority, status};
use crate::failure::{Code, Failure};
use crate::ui::{BOLD, GOOD};

/// Change issues, or claim them
///
/// --claim makes an issue yours and in progress, if nobody else who is alive has it: of any number
/// who try at once, one wins. --release gives it back.
#[derive(Debug, clap::Args)]
pub(super) struct UpdateArgs {
    /// The issues: ids, or beginnings of them
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// What is to be done, in a line
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    title: Option<String>,
    /// What is to be done; empty removes it, as with every text
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,
    /// How it is to be done
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    design: Option<String>,
    /// What must be true for it to be done
    #[arg(
        long,
        value_name = "TEXT",
        visible_alias = "acceptance-criteria",
        allow_hyphen_values = true
    )]
    acceptance: Option<String>,
    /// What was found out; replaces what was there
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    notes: Option<String>,
    /// `open`, `in_progress`, `blocked`, `deferred` or `closed`
    #[arg(long, short, value_name = "STATUS", value_parser = status)]
    status: Option<String>,
    /// From 0, the most urgent, to 4
    #[arg(long, short, value_name = "P0-P4", value_parser = priority)]
    priority: Option<u8>,
    /// task, bug, feature, epic, chore, …
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    issue_type: Option<String>,
    /// Who does it; empty is nobody
    #[arg(long, short, value_name = "NAME")]
    assignee: Option<String>,
    /// A label it gets; may be said more than once
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    add_label: Vec<String>,
    /// A label it loses; may be said more than once
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    remove_label: Vec<String>,
    /// Make it yours and in progress, if nobody has it
    #[arg(long, conflicts_with_all = ["status", "assignee"])]
    claim: bool,
    /// Who you are; `HEIRLOOM_ACTOR` or `USER` if it is not said
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// After this time somebody else may claim it (90s, 10m, 1h30m)
    #[arg(long, value_name = "TIME", requires = "claim")]
    lease: Option<Period>,
    /// Give it back: open, and nobody's
    #[arg(long, conflicts_with_all = ["claim", "status", "assignee"])]
    release: bool,
}

/// Close issues
#[derive(Debug, clap::Args)]
pub(super) struct CloseArgs {
    /// The issues: ids, or beginnings of them
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Why: what was done, or why nothing will be
    #[arg(long, short, value_name = "TEXT", default_value = "", allow_hyphen_values = true)]
    reason: String,
    /// The session that did it
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

/// Say something about an issue
#[derive(Debug, clap::Args)]
pub(super) struct CommentArgs {
    /// The issue: its id, or a beginning of it
    id: String,
    /// What
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// Who says it; `HEIRLOOM_ACTOR` or `USER` if it is not said
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
        return Err(Failure::new(Code::Usage, "there is nothing to change").usage().hint(
            "say what is to be different, for example --status or --priority; --help shows all",
        ));
    }
    let mut ledger = app.here.ledger()?;
    let found = found(tracker, &args.ids)?;
    let mut done = Vec::with_capacity(found.len());
    for issue in found {
        let updated = issues::update(&app.here, &mut ledger, tracker, issue, &update);
        done.push(updated.map_err(|error| after(error.into(), &done))?);
    }
    let word = match () {
        () if args.claim => "claimed",
        () if args.release => "released",
        () => "updated",
    };
    answer(app, &done, || told(word, &done))
}

pub(super) fn close(app: &App, tracker: &mut dyn Tracker, args: &CloseArgs) -> Done {
    let mut ledger = app.here.ledger()?;
    let mut done = Vec::with_capacity(args.ids.len());
    for issue in found(tracker, &args.ids)? {
        let change = Change::close(args.reason.clone(), args.session.clone());
        let closed = issues::close(&app.here, &mut ledger, tracker, &issue, &change);
        done.push(closed.map_err(|error| after(error.into(), &done))?);
    }
    answer(app, &done, || told("closed", &done))
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
        return Err(Failure::new(Code::Usage, "there is nothing to say").usage());
    }
    let issue = tracker.find(&args.id)?;
    let author = actor(app, args.author.as_deref());
    tracker.comment(&issue.id, &author, &args.text)?;
    let answer = Commented { issue_id: issue.id.to_string(), author, text: args.text.clone() };
    app.ui.answer(&answer, || told("commented on", std::slice::from_ref(&issue)));
    Ok(ExitCode::SUCCESS)
}
