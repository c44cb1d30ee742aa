use std::fmt::Write;
use std::process::ExitCode;

use clap::Subcommand;
use heirloom_api::{Dependencies, DependencyChange, DependsOn, ListedIssue};
use heirloom_core::issue::{Dependency, Entry, Issue, IssueId};
use heirloom_core::words::in_words;
use heirloom_engine::issues::Tracker;
use heirloom_engine::work::Reviews;

use super::super::{App, Done};
use crate::failure::{Code, Failure};
use crate::ui::{BOLD, DIM, GOOD};

/// Manage dependencies between issues
///
/// `dep ID ON` is short for `dep add ID ON`: ID waits until ON is closed.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// The issue
    #[arg(requires = "on")]
    id: Option<String>,
    /// The issue it waits for
    on: Option<String>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make an issue depend on another one
    Add(Link),
    /// Remove a dependency
    #[command(visible_alias = "rm")]
    Remove(Ends),
    /// List what an issue depends on, and what depends on it
    List {
        /// The issue's id or id prefix
        id: String,
    },
}

#[derive(Debug, clap::Args)]
struct Ends {
    /// The issue
    id: String,
    /// The issue it depends on
    on: String,
}

#[derive(Debug, clap::Args)]
struct Link {
    #[command(flatten)]
    ends: Ends,
    /// The type: blocks, parent-child, or one that does not block, such as related
    #[arg(long = "type", short = 't', value_name = "TYPE", default_value = Dependency::BLOCKS)]
    kind: String,
}

pub(super) fn run(app: &App, tracker: &mut dyn Tracker, args: Args) -> Done {
    match (args.what, args.id.zip(args.on)) {
        (Some(What::Add(link)), _) => add(app, tracker, &link),
        (Some(What::Remove(ends)), _) => remove(app, tracker, &ends),
        (Some(What::List { id }), _) => list(app, tracker, &id),
        (None, Some((id, on))) => {
            let kind = Dependency::BLOCKS.to_owned();
            add(app, tracker, &Link { ends: Ends { id, on }, kind })
        }
        (None, None) => Err(Failure::new(Code::Usage, "which issue depends on which one?")
            .usage()
            .hint("`heirloom issues dep add ID ON` makes ID wait for ON")),
    }
}

fn ends(tracker: &mut dyn Tracker, ends: &Ends) -> Result<(IssueId, IssueId), Failure> {
    Ok((tracker.find(&ends.id)?.id, tracker.find(&ends.on)?.id))
}

fn add(app: &App, tracker: &mut dyn Tracker, link: &Link) -> Done {
    let (id, on) = ends(tracker, &link.ends)?;
    tracker.link(&id, &on, &link.kind)?;
    answer(app, &id, &on, &link.kind, "added")
}

fn remove(app: &App, tracker: &mut dyn Tracker, given: &Ends) -> Done {
    let (id, on) = ends(tracker, given)?;
    tracker.unlink(&id, &on)?;
    answer(app, &id, &on, "", "removed")
}

fn answer(app: &App, id: &IssueId, on: &IssueId, kind: &str, action: &str) -> Done {
    let change = DependencyChange {
        issue_id: id.to_string(),
        depends_on_id: on.to_string(),
        action: action.to_owned(),
        kind: (!kind.is_empty()).then(|| kind.to_owned()),
    };
    let words = match (action, kind) {
        ("removed", _) => "no longer depends on",
        (_, Dependency::PARENT) => "is now a part of",
        (_, kind) if Dependency::blocks(kind) => "now waits for",
        _ => "is now linked to",
    };
    app.ui.answer(&change, || format!("{GOOD}✔{GOOD:#} {id} {words} {on}"));
    Ok(ExitCode::SUCCESS)
}

fn list(app: &App, tracker: &mut dyn Tracker, id: &str) -> Done {
    let issue = tracker.find(id)?;
    let backlog = tracker.backlog()?;
    let waits_for_it = |entry: &&Entry| {
        entry.blocked_by.contains(&issue.id) || entry.parent.as_ref() == Some(&issue.id)
    };
    let dependents: Vec<&Entry> = backlog.iter().filter(waits_for_it).collect();
    let mut others = Vec::with_capacity(issue.dependencies.len());
    for on in &issue.dependencies {
        // What it depends on may be gone; that is no reason to show nothing.
        others.push((on, tracker.find(on.depends_on.as_str()).ok()));
    }
    let on = |(on, other): &On<'_>| DependsOn::new(on, other.as_ref());
    let reviews = Reviews::read(&app.here, &app.here.ledger()?)?;
    let answer = Dependencies {
        id: issue.id.to_string(),
        dependencies: others.iter().map(on).collect(),
        dependents: dependents.iter().map(|entry| ListedIssue::new(entry, &reviews)).collect(),
    };
    app.ui.answer(&answer, || text(&issue, &others, &dependents));
    Ok(ExitCode::SUCCESS)
}

type On<'a> = (&'a Dependency, Option<Issue>);

fn text(issue: &Issue, others: &[On<'_>], dependents: &[&Entry]) -> String {
    let mut text = format!("{BOLD}{}{BOLD:#}  {}\n", issue.id, issue.title);
    for (on, other) in others {
        let kind = match on.kind.as_str() {
            Dependency::PARENT => "part of",
            kind if Dependency::blocks(kind) => "waits for",
            kind => kind,
        };
        let _ = match other {
            Some(other) => {
                let status = in_words(other.status.as_str());
                writeln!(text, "  {kind:10} {}  {} {DIM}{status}{DIM:#}", other.id, other.title)
            }
            None => writeln!(text, "  {kind:10} {}  {DIM}not there{DIM:#}", on.depends_on),
        };
    }
    for entry in dependents {
        let kind = if entry.parent.as_ref() == Some(&issue.id) { "part" } else { "waits" };
        let _ = writeln!(text, "  {kind:10} {}  {}", entry.id, entry.title);
    }
    text
}
