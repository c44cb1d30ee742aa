use std::collections::HashMap;
use std::process::ExitCode;

use clap::ValueEnum;
use heirloom_api::Usage;
use heirloom_core::usage::{By, Sum};
use heirloom_engine::usage::{self, Query};

use super::search::moment;
use super::{App, Done};
use crate::ui::{Columns, counted, grouped, priced_cell};

/// Show what agents cost and how many tokens they used
///
/// Costs are what the agents report. A session whose agent reports none is counted as unknown and never as 0. A
/// session counts on the day it started.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Group by day, repository, agent, model or issue
    #[arg(long, value_name = "WHAT", default_value = "day")]
    by: Group,
    /// Only sessions that started since: a date, a time, an age such as 7d, or words such as "late October"
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Sessions of all repositories
    #[arg(long)]
    all_repos: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Group {
    Day,
    Repo,
    Agent,
    Model,
    Issue,
}

impl Group {
    const fn by(self) -> By {
        match self {
            Self::Day => By::Day,
            Self::Repo => By::Repo,
            Self::Agent => By::Agent,
            Self::Model => By::Model,
            Self::Issue => By::Issue,
        }
    }

    const fn heading(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Repo => "repository",
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Issue => "issue",
        }
    }
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let now = app.here.clock.now();
    let since = args.since.as_deref().map(|when| moment(when, now)).transpose()?;
    let ledger = app.here.ledger()?;
    let all = args.all_repos || args.by == Group::Repo;
    let repo = (!all).then_some(app.here.place.repo.as_str());
    let by = args.by.by();
    let used = usage::usage(&app.here, &ledger, &Query { by, repo, since })?;
    let names = if by == By::Repo { usage::names(&ledger)? } else { HashMap::new() };
    app.ui.answer(&Usage::new(&used, by), || {
        if used.rows.is_empty() {
            return String::new();
        }
        let mut table =
            Columns::new(&[args.by.heading(), "sessions", "input", "output", "cost", ""])
                .right(1)
                .right(2)
                .right(3)
                .right(4)
                .yielding(0)
                .dispensable(&[2, 3]);
        for (key, sum) in &used.rows {
            let none = if by == By::Issue { "no issue" } else { "unknown" };
            let key = key.as_ref().map(|key| names.get(key).unwrap_or(key).clone());
            table.row(row(key.unwrap_or_else(|| none.to_owned()), sum));
        }
        if used.rows.len() > 1 {
            table.row(row("total".to_owned(), &used.total));
        }
        table.render()
    });
    if !app.ui.is_json() && used.rows.is_empty() {
        let since = args.since.as_ref().map(|since| format!(" since {since}")).unwrap_or_default();
        let place = match (all, args.since.is_some()) {
            (true, true) => "",
            (true, false) => " yet",
            (false, _) => " here",
        };
        app.ui.hint(&format!("no agent has worked{place}{since}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn row(key: String, sum: &Sum) -> Vec<String> {
    let tokens = |count: Option<u64>| count.map_or_else(|| "-".to_owned(), grouped);
    let unknown = match sum.unknown_sessions {
        0 => String::new(),
        all if all == sum.sessions => "cost unknown".to_owned(),
        some => format!("without {} of unknown cost", counted(some, "session")),
    };
    vec![
        key,
        grouped(sum.sessions),
        tokens(sum.tokens.map(|tokens| tokens.input)),
        tokens(sum.tokens.map(|tokens| tokens.output)),
        priced_cell(sum.cost_usd),
        unknown,
    ]
}
