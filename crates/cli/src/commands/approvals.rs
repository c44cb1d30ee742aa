use std::fmt::Write;
use std::process::ExitCode;

use clap::Subcommand;
use heirloom_api as api;
use heirloom_core::approval::{Approval, Rule};
use heirloom_core::visible::visible;
use heirloom_engine::person;
use heirloom_engine::session::{self as engine, Choice};
use heirloom_ledger::Ledger;

use super::session::question;
use super::session::report::subject;
use super::{App, Done, session};
use crate::failure::{Code, Failure};
use crate::moment::ago;
use crate::ui::{BAD, Columns, GOOD};

/// Approve or deny what agents ask for
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List pending approvals
    List {
        /// Approvals of all repositories
        #[arg(long)]
        all_repos: bool,
    },
    /// Show one approval in full
    Show {
        /// The approval's id or id prefix
        id: String,
    },
    /// Approve a tool use
    Approve {
        /// The approval's id or id prefix
        id: String,
        /// Approve it with this input instead
        #[arg(long, value_name = "JSON", conflicts_with_all = ["for_session", "rule"])]
        input: Option<String>,
        /// Also approve every later use of the tool in this session
        #[arg(long)]
        for_session: bool,
        /// Also approve later uses in this session that match, for example `Bash(git *)`
        #[arg(long, value_name = "RULE")]
        rule: Option<Rule>,
    },
    /// Deny a tool use
    Deny {
        /// The approval's id or id prefix
        id: String,
        /// Why; the agent is told
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

pub(super) fn run(app: &App, args: Args) -> Done {
    let mut ledger = session::open(app)?;
    match args.what {
        What::List { all_repos } => list(app, &ledger, all_repos),
        What::Show { id } => show(app, &ledger, &id),
        What::Approve { id, input, for_session, rule } => {
            let choice = match (input, rule) {
                (Some(input), _) => {
                    Choice::Edit(serde_json::from_str(&input).map_err(|error| {
                        Failure::new(Code::Usage, format!("--input is not JSON: {error}")).usage()
                    })?)
                }
                (None, Some(rule)) => Choice::ForSession(Some(rule)),
                (None, None) if for_session => Choice::ForSession(None),
                (None, None) => Choice::Approve,
            };
            decide(app, &mut ledger, &id, choice)
        }
        What::Deny { id, reason } => {
            let reason = reason.filter(|reason| !reason.trim().is_empty());
            let reason = reason.unwrap_or_else(|| Choice::NO_REASON.to_owned());
            decide(app, &mut ledger, &id, Choice::Deny(reason))
        }
    }
}

fn list(app: &App, ledger: &Ledger, all_repos: bool) -> Done {
    let pending = engine::pending(&app.here, ledger, all_repos)?;
    let approvals =
        pending.iter().map(|approval| answer(ledger, approval)).collect::<Result<Vec<_>, _>>()?;
    let list = api::ApprovalList { approvals };
    app.ui.answer(&list, || {
        let mut columns = Columns::new(&["id", "session", "asked", "tool", "for"]);
        let now = app.here.clock.now();
        for (approval, row) in pending.iter().zip(&list.approvals) {
            columns.row(vec![
                approval.id.short(),
                row.session.clone().unwrap_or_default(),
                ago(approval.requested_at, now),
                approval.tool.clone(),
                subject(&approval.input),
            ]);
        }
        if pending.is_empty() { String::new() } else { columns.render() }
    });
    if pending.is_empty() && !app.ui.is_json() {
        app.ui.hint("no approvals are pending");
    }
    Ok(ExitCode::SUCCESS)
}

fn show(app: &App, ledger: &Ledger, id: &str) -> Done {
    let approval = engine::approval(&app.here, ledger, id)?;
    let answer = answer(ledger, &approval)?;
    app.ui.answer(&answer, || {
        let (session, now) = (answer.session.as_deref().unwrap_or("-"), app.here.clock.now());
        let mut text = question::head(&approval);
        let _ = write!(text, "\n  session {session}, asked {}", ago(approval.requested_at, now));
        let _ = write!(text, "\n  input{}", question::input(&approval.input));
        if let Some(edited) = &approval.edited {
            let _ = write!(text, "\n  approved with this input instead{}", question::input(edited));
        }
        match approval.outcome() {
            Some(happened) => {
                let _ = write!(text, "\n  {}", visible(&happened));
            }
            None => text.push_str("\n  nobody has decided yet"),
        }
        if let Some(rule) = &approval.rule {
            let _ =
                write!(text, "\n  also approved for the rest of the session: {}", visible(rule));
        }
        text
    });
    Ok(ExitCode::SUCCESS)
}

fn decide(app: &App, ledger: &mut Ledger, id: &str, choice: Choice) -> Done {
    let who = person::who(&app.here, ledger);
    let approval = engine::decide(&app.here, ledger, id, choice, who)?;
    app.ui.answer(&answer(ledger, &approval)?, || {
        let denied = approval.state == heirloom_core::approval::State::Denied;
        let mark = if denied { format!("{BAD}✗{BAD:#}") } else { format!("{GOOD}✔{GOOD:#}") };
        let rule = approval.rule.as_deref();
        let rule = rule.map(|rule| format!(", and {rule} for the session")).unwrap_or_default();
        format!("{mark} {} {}{rule}", approval.tool, approval.state)
    });
    Ok(ExitCode::SUCCESS)
}

fn answer(ledger: &Ledger, approval: &Approval) -> Result<api::Approval, Failure> {
    let name = ledger.session(approval.session)?.map(|session| session.name.to_string());
    Ok(api::Approval::new(approval, name))
}
