use std::process::ExitCode;

use clap::Subcommand;
use heirloom_api::{Rule, RuleList};
use heirloom_core::settings::Settings;
use heirloom_engine::keep::rules;
use heirloom_ledger::Ledger;

use super::{App, Done, given};
use crate::ui::DIM;

/// Manage the rules that every new context gets
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the rules of this repository
    List,
    /// Keep a rule
    ///
    /// Every new context gets it. Only a person can do this.
    Keep {
        /// The id of a rule found in a conversation, or a rule in your own words
        #[arg(value_name = "RULE", value_parser = given::text)]
        rule: String,
    },
    /// Drop a rule
    ///
    /// Only a person can do this.
    Drop {
        /// Its id or id prefix
        #[arg(value_name = "ID")]
        id: String,
    },
}

pub(super) fn run(app: &App, args: &Args) -> Done {
    let settings = &app.settings()?.settings;
    let mut ledger = app.here.ledger()?;
    let (rule, did) = match &args.what {
        What::List => return list(app, &ledger, settings),
        What::Keep { rule } => (rules::keep(&app.here, &mut ledger, settings, rule)?, "kept"),
        What::Drop { id } => (rules::drop(&app.here, &mut ledger, settings, id)?, "dropped"),
    };
    app.ui.answer(&Rule::from(&rule), || format!("{did} {DIM}{}{DIM:#} {}", rule.id, rule.text));
    Ok(ExitCode::SUCCESS)
}

fn list(app: &App, ledger: &Ledger, settings: &Settings) -> Done {
    let found = rules::list(&app.here, ledger, settings)?;
    let answer = RuleList { rules: found.iter().map(Rule::from).collect() };
    app.ui.answer(&answer, || {
        let line = |rule: &rules::Rule| {
            let said = if rule.kept { "" } else { " (said, not kept)" };
            format!("{DIM}{}{DIM:#} {}{DIM}{said}{DIM:#}\n", rule.id, rule.text)
        };
        found.iter().map(line).collect()
    });
    if found.is_empty() && !app.ui.is_json() {
        app.ui.hint("no rules yet; `heirloom rules keep \"…\"` adds one");
    }
    Ok(ExitCode::SUCCESS)
}
