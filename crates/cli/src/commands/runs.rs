use std::process::ExitCode;

use heirloom_api as api;
use heirloom_core::cost::Cost;
use heirloom_core::words::in_words;
use heirloom_core::work::IssueRunStatus;
use heirloom_engine::work;
use heirloom_ledger::{IssueRun, WorkRun};

use super::{App, Done, given};
use crate::failure::{Code, Failure};
use crate::moment::{ago, lasted};
use crate::ui::{BOLD, Columns, DIM, first_line, priced};

/// Show what past runs of `work` did
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List runs, newest first
    List {
        /// List at most this many
        #[arg(long, default_value_t = 20, value_name = "N", value_parser = given::count)]
        limit: usize,
    },
    /// Show one run, issue by issue
    Show {
        /// The run's id or id prefix [default: the newest]
        run: Option<String>,
    },
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    match &args.command {
        Command::List { limit } => list(app, *limit),
        Command::Show { run } => show(app, run.as_deref()),
    }
}

fn list(app: &App, limit: usize) -> Done {
    let ledger = app.here.ledger()?;
    let mut rows = Vec::new();
    for run in ledger.work_runs(&app.here.place.repo, limit)? {
        let issues = work::issue_runs(&ledger, &run)?;
        rows.push((run, issues));
    }
    let runs = rows.iter().map(|(run, issues)| api::WorkRun::new(run, issues, work::standing(run)));
    app.ui.answer(&api::WorkRunList { runs: runs.collect() }, || {
        if rows.is_empty() {
            return String::new();
        }
        let now = app.here.clock.now();
        let mut table = Columns::new(&["run", "status", "started", "closed", "of", "cost"])
            .right(3)
            .right(4)
            .right(5)
            .dispensable(&[2]);
        for (run, issues) in &rows {
            table.row(vec![
                run.id.chars().take(8).collect(),
                work::standing(run).as_str().to_owned(),
                ago(run.started_at, now),
                count(issues, IssueRunStatus::Closed).to_string(),
                issues.len().to_string(),
                priced(cost(issues)),
            ]);
        }
        table.render()
    });
    if rows.is_empty() && !app.ui.is_json() {
        app.ui.hint(
            "no runs of `heirloom work` yet; loops started with `heirloom run` are sessions: \
             `heirloom sessions`",
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn show(app: &App, id: Option<&str>) -> Done {
    let ledger = app.here.ledger()?;
    let repo = &app.here.place.repo;
    let mut found = match id {
        Some(id) => ledger.find_work_runs(repo, id)?,
        None => ledger.work_runs(repo, 1)?,
    };
    if found.len() > 1 {
        let ids: Vec<&str> = found.iter().map(|run| run.id.as_str()).collect();
        let failure = Failure::new(
            Code::RunAmbiguous,
            format!("{} matches {} runs", id.unwrap_or_default(), ids.len()),
        );
        return Err(failure.hint(ids.join(", ")));
    }
    let Some(run) = found.pop() else {
        let (what, hint) = match id {
            Some(id) => (format!("there is no run {id}"), "`heirloom runs list` shows them"),
            None => (
                "there are no runs of `heirloom work` yet".to_owned(),
                "`heirloom work` works through the ready issues",
            ),
        };
        return Err(Failure::new(Code::RunNotFound, what).hint(hint));
    };
    let issues = work::issue_runs(&ledger, &run)?;
    let answer = api::WorkRunDetail {
        run: api::WorkRun::new(&run, &issues, work::standing(&run)),
        issues: issues.iter().map(Into::into).collect(),
    };
    app.ui.answer(&answer, || text(app, &run, &issues));
    Ok(ExitCode::SUCCESS)
}

fn text(app: &App, run: &WorkRun, issues: &[IssueRun]) -> String {
    let now = app.here.clock.now();
    let mut lines = vec![format!(
        "{BOLD}{}{BOLD:#}  {} · started {} · {}",
        run.id.chars().take(8).collect::<String>(),
        work::standing(run).as_str(),
        ago(run.started_at, now),
        priced(cost(issues))
    )];
    lines.extend(run.reason.as_ref().map(|reason| format!("  {reason}")));
    for issue in issues {
        let took =
            issue.ended_at.map(|end| end.as_millisecond() - issue.started_at.as_millisecond());
        let took = took.and_then(|took| u64::try_from(took).ok()).map(lasted).unwrap_or_default();
        lines.push(format!(
            "  {}  {}  {took}  {}  {}",
            issue.issue,
            in_words(issue.status.as_str()),
            priced(issue.cost_usd),
            first_line(&issue.title, 60)
        ));
        let session = issue.agent_session_id.as_ref().map(|id| {
            let id: String = id.chars().take(8).collect();
            let lost = if issue.is_lost { ", no longer there" } else { "" };
            format!("{} {id}{lost}", issue.agent.as_deref().unwrap_or("agent"))
        });
        let facts = [session, issue.branch.clone(), issue.reason.clone()];
        let facts: Vec<String> =
            facts.into_iter().flatten().map(|fact| first_line(&fact, 120)).collect();
        if !facts.is_empty() {
            lines.push(format!("    {DIM}{}{DIM:#}", facts.join(" · ")));
        }
    }
    lines.join("\n")
}

fn count(issues: &[IssueRun], status: IssueRunStatus) -> usize {
    issues.iter().filter(|issue| issue.status == status).count()
}

/// What all of them cost, as far as that is known.
fn cost(issues: &[IssueRun]) -> Cost {
    issues.iter().map(|issue| Cost::from(issue.cost_usd)).sum()
}
